//! The CQL parser: canonical texts, rejected queries with the span of the error, and robustness against any input.

mod common;

use proptest::prelude::*;
use tidings_query::cql::ast::*;
use tidings_query::cql::{self, MAX_BYTES};
use tidings_query::filter::{Comparison, FieldPredicate, FieldTest, Filter};
use tidings_query::{Logic, Span, ValueMatcher};

/// The canonical text of a query.
fn canon(text: &str) -> String {
    cql::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text))).to_string()
}

/// The message of an error and the text that it points at.
fn rejection(text: &str) -> (String, String) {
    let error = cql::parse(text).expect_err(text);
    error.render(text);
    (error.message.clone(), text[error.span.range()].to_owned())
}

#[test]
fn queries_have_a_canonical_text() {
    for (text, expected) in [
        (r#""go""#, r#"[word="go"]"#),
        (r#"[ lemma = "go" ]"#, r#"[lemma="go"]"#),
        (r#"[pos="N.*" & (word!="a"|word=="b.") ]"#, r#"[tag="N.*" & (word!="a" | word=="b.")]"#),
        (r#"[!(lemma="be" | tag="AUX") & lc="x"%c %d]"#, r#"[!(lemma="be" | tag="AUX") & lc="x"%cd]"#),
        (r#"[word="a.b"%l]"#, r#"[word=="a.b"]"#),
        (r#"["go"]"#, r#"[word="go"]"#),
        (r#"[]{2,} []{,3} []{4} [] ? []* []+"#, "[]{2,} []{0,3} []{4} []? []* []+"),
        (r#"("a" "b"|"c")+ "d""#, r#"([word="a"] [word="b"] | [word="c"])+ [word="d"]"#),
        (r#"<s> [] </s>"#, "<s> [] </s>"),
        (r#""a" within s"#, r#"[word="a"] within <s/>"#),
        (r#""a" !within <p/> containing "b" | "c";"#, r#"[word="a"] !within <p/> containing [word="b"] | [word="c"]"#),
        (r#"<s/> !containing "x""#, r#"<s/> !containing [word="x"]"#),
        (r#""a" within <doc site="x.*" date>=2026-01/>"#, r#"[word="a"] within <doc site="x.*" & date>="2026-01"/>"#),
        (r#"[ Number[psor] = "Plur" & feats="" ]"#, r#"[Number[psor]="Plur" & feats=""]"#),
        (r#"a:[] b:[] :: a.Case = b.Case"#, r#"a:[] b:[] :: a.Case = b.Case"#),
        (
            r#"a:[] "and" b:[] :: a.word = b.word & a.pos != "X" & b.lemma == "y""#,
            r#"a:[] [word="and"] b:[] :: a.word = b.word & a.tag != "X" & b.lemma == "y""#,
        ),
    ] {
        assert_eq!(canon(text), expected, "{text}");
        assert_eq!(canon(expected), expected);
    }
}

#[test]
fn bare_words_ignore_case_unless_they_have_a_capital() {
    assert_eq!(canon("climate change"), r#"[word=="climate"%c] [word=="change"%c]"#);
    assert_eq!(canon("  Green  deal "), r#"[word=="Green"] [word=="deal"%c]"#);
}

#[test]
fn a_text_without_signs_of_cql_is_plain_words() {
    assert_eq!(canon("what ?"), r#"[word=="what"%c] [word=="?"%c]"#);
    assert_eq!(canon("within reach"), r#"[word=="within"%c] [word=="reach"%c]"#);
    assert_eq!(
        canon(r"C:\x a:b * 50% !"),
        r#"[word=="C:\\x"] [word=="a:b"%c] [word=="*"%c] [word=="50%"%c] [word=="!"%c]"#
    );
}

#[test]
fn a_phrase_in_quotes_is_its_words() {
    assert_eq!(canon(r#""prime minister""#), canon("prime minister"));
    assert_eq!(canon(r#""the best" [tag="NOUN"]"#), canon(r#"the best [tag="NOUN"]"#));
    assert_eq!(canon(r#"("a b")+"#), r#"([word=="a"%c] [word=="b"%c])+"#);
}

#[test]
fn errors_point_at_the_span() {
    for (text, message, at) in [
        ("", "the query is empty", ""),
        ("[", "expected an attribute such as word, lemma or tag, but the query ends here", ""),
        (r#"[Lemma="go"]"#, "unknown attribute Lemma", "Lemma"),
        (r#"[Number[PSOR]="Sing"]"#, "unknown attribute Number[PSOR]", "Number[PSOR]"),
        (r#"[Number[psor="Sing"]"#, "expected ] to close the layer, found =", "="),
        (r#"[word="go]"#, "unterminated string", r#""go]"#),
        (r#"[word="(go"]"#, "invalid regular expression (go: unclosed group", r#""(go""#),
        (r#"[word="go"%x]"#, "unknown flag %x", "%x"),
        (r#"[word>"go"]"#, "expected a number, found \"", "\""),
        ("[syllables>3-4]", "3-4 is not a number", "3-4"),
        (r#"<ne type>3/>"#, "expected =, !=, == or !==, found >", ">"),
        (r#""a" within <é/>"#, "unknown structure é", "é"),
        (r#""a" within <s n="1"/>"#, "<s> has no attributes", r#"n="1""#),
        (r#""a" within <doc date>="2026-13"/>"#, "invalid date 2026-13", r#"date>="2026-13""#),
        (r#""a"{3,2}"#, "the repetition ends before it begins", "{3,2}"),
        (r#""a"{9999}"#, "more than 1000 repetitions", "{9999}"),
        (r#""a"{99999999999}"#, "the number 99999999999 is too large", "99999999999"),
        (
            r#"("a"{1000}){1000}"#,
            "with all its repetitions the query has more than 2000 tokens",
            r#"("a"{1000}){1000}"#,
        ),
        (r#"("a" within <s/>"#, "expected ) to close the group, but the query ends here", ""),
        (r#"a:[] :: b.word = a.word"#, "no token has the label b", "b.word = a.word"),
        (r#"a:[]* :: a.word = "x""#, "the label a is repeated and would mean several tokens", "a:[]"),
        (r#"a:[] a:[]"#, "there is another token with the label a", "a:[]"),
        (r#"a:("x" "y")"#, "the label a applies to more than one token", r#"a:("x" "y")"#),
        ("<s>", "the query describes a boundary but no token", "<s>"),
        ("<s>* []", "only tokens can be repeated, not boundaries", "<s>*"),
        (r#""""#, "the string is empty", r#""""#),
        (r#""a" | "#, "expected a token such as [lemma=\"go\"], \"go\" or go, but the query ends here", ""),
        (r#""ä" §[Lemma="x"]"#, "unknown attribute Lemma", "Lemma"),
    ] {
        assert_eq!(rejection(text), (message.to_owned(), at.to_owned()), "{text}");
    }
}

#[test]
fn text_after_the_query_is_rejected_with_the_restrictions_that_may_follow() {
    let (message, at) = rejection(r#""a" ) "b""#);
    assert!(
        message.starts_with("expected a token, within, containing,") && message.ends_with(":: or the end, found )")
    );
    assert_eq!(at, ")");
}

#[test]
fn depth_and_length_are_limited() {
    let deep = "(".repeat(5000) + "\"a\"" + &")".repeat(5000);
    assert!(rejection(&deep).0.contains("nested"));
    let deep = format!("[{}word=\"a\"]", "!".repeat(5000));
    assert!(rejection(&deep).0.contains("nested"));
    let deep = format!("\"a\" within <doc {}site=a/>", "(".repeat(5000));
    assert!(rejection(&deep).0.contains("nested"));
    assert!(rejection(&"a ".repeat(MAX_BYTES)).0.contains("longer than"));
    assert!(rejection(&"[]".repeat(3000)).0.contains("more than 2000 tokens"));
    assert!(rejection(&r#""\w{50}" "#.repeat(300)).0.contains("more than 16 MB"));
    assert_eq!(rejection("[]{1}{1}").0, "expected no second repetition, found {");
}

#[test]
fn filters_have_a_canonical_text() {
    for (text, expected) in [
        ("site=a.example", r#"site=="a.example""#),
        (r#"site="a.*" topic!=sport%c"#, r#"site="a.*" & topic!=="sport"%c"#),
        ("date>=2026-01 & !(lang=de | lang==en)", r#"date>="2026-01" & !(lang=="de" | lang=="en")"#),
        ("a=1 b=2 | c=3", r#"a=="1" & b=="2" | c=="3""#),
        ("feed=https://a.example/x.xml", r#"feed=="https://a.example/x.xml""#),
    ] {
        let filter: Filter = text.parse().unwrap();
        assert_eq!(filter.to_string(), expected);
        assert_eq!(expected.parse::<Filter>().unwrap(), filter);
    }
}

#[test]
fn filters_choose_documents_by_their_fields() {
    let fields = |name: &str| match name {
        "date" => Some("2026-03-31T10:00:00Z"),
        "site" => Some("gazette.example"),
        "words" => Some("950"),
        _ => None,
    };
    for (text, expected) in [
        ("date=2026-03", true),
        ("date=2026-Q2", false),
        ("date!=2026-Q2", true),
        ("date>2026-03", false),
        ("date>=2026-03-31", true),
        ("date<2026-04 date>2025", true),
        ("date<=2026-W13", false),
        ("date=2025-12..2026-03", true),
        (r#"date="2026-0[1-3].*""#, true),
        ("words>=1000", false),
        ("words<1000", true),
        ("topic=sport", false),
        ("topic!=sport", true),
        ("topic>=a", false),
        (r#"site="g.*" & !topic="x""#, true),
    ] {
        let filter: Filter = text.parse().unwrap_or_else(|error: tidings_query::SyntaxError| panic!("{error}"));
        assert_eq!(filter.compile().unwrap().admits(&fields), expected, "{text}");
    }
}

// Random syntax trees and random texts.

fn value() -> impl Strategy<Value = ValueMatcher> {
    let exact = "[a-zA-Z\"\\\\ .é(]{1,4}".prop_map(ValueMatcher::exact);
    let regex = prop_oneof![
        Just("a.*"),
        Just("[ab]+"),
        Just(r"x\.y"),
        Just("(c|d)e?"),
        Just(r"\\"),
        Just("\""),
        Just(r#"\\""#),
        Just("ß")
    ]
    .prop_map(ValueMatcher::regex);
    (prop_oneof![exact, regex], any::<bool>(), any::<bool>()).prop_map(|(value, caseless, markless)| ValueMatcher {
        caseless,
        markless,
        ..value
    })
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let feature = "[A-Z][a-z]{3}(\\[[a-z]{2}\\])?";
    let feature = feature.prop_map(|name| Attribute::named(&name).unwrap_or(Attribute::Feats));
    prop_oneof![Just(Attribute::Word), Just(Attribute::Lc), Just(Attribute::Lemma), Just(Attribute::Tag), feature]
}

fn logic<T: Clone + std::fmt::Debug + 'static>(test: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Logic<T>> {
    test.prop_map(Logic::Test)
        .prop_recursive(3, 8, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|part| Logic::Not(Box::new(part))),
                prop::collection::vec(inner.clone(), 2..4).prop_map(Logic::All),
                prop::collection::vec(inner, 2..4).prop_map(Logic::Any),
            ]
        })
        .boxed()
}

fn token_test() -> impl Strategy<Value = TokenTest> {
    let text = (attribute(), any::<bool>(), value()).prop_map(|(attribute, negated, value)| TokenTest {
        attribute,
        quantity: Quantity::Value,
        negated,
        comparator: Comparator::Equal,
        value,
        span: Span::default(),
    });
    let comparator = prop_oneof![
        Just(Comparator::Less),
        Just(Comparator::AtMost),
        Just(Comparator::Greater),
        Just(Comparator::AtLeast)
    ];
    let number =
        ("[a-z]{4,9}", comparator, "-?[0-9]{1,3}(\\.[0-9])?").prop_map(|(name, comparator, number)| TokenTest {
            attribute: Attribute::named(&name).unwrap_or(Attribute::Word),
            quantity: Quantity::Value,
            negated: false,
            comparator,
            value: ValueMatcher::exact(number),
            span: Span::default(),
        });
    let frequency = (attribute(), any::<bool>(), "[0-9]{1,3}").prop_map(|(attribute, negated, number)| TokenTest {
        attribute,
        quantity: Quantity::Frequency,
        negated,
        comparator: Comparator::Equal,
        value: ValueMatcher::exact(number),
        span: Span::default(),
    });
    prop_oneof![4 => text, 1 => number, 1 => frequency]
}

fn span_test() -> impl Strategy<Value = SpanTest> {
    ("[a-zA-Z_0-9]{1,9}", any::<bool>(), value()).prop_map(|(name, negated, value)| SpanTest {
        attribute: Name::new(&name).expect("a name"),
        negated,
        value,
        span: Span::default(),
    })
}

fn field_test() -> impl Strategy<Value = FieldTest> {
    let text = (any::<bool>(), value()).prop_map(|(negated, value)| FieldPredicate::Text { negated, value });
    let comparison = prop_oneof![
        Just(Comparison::Below),
        Just(Comparison::AtMost),
        Just(Comparison::AtLeast),
        Just(Comparison::Above)
    ];
    let compared = (comparison, "[a-z0-9\"\\\\]{1,3}")
        .prop_map(|(comparison, bound)| FieldPredicate::Compared { comparison, bound });
    ("(site|topic|country)", prop_oneof![text, compared]).prop_map(|(field, predicate)| FieldTest {
        field,
        predicate,
        span: Span::default(),
    })
}

fn region() -> impl Strategy<Value = Region> {
    prop_oneof![
        Just(Region::of(Structure::Sentence)),
        Just(Region::of(Structure::Paragraph)),
        prop::option::of(logic(field_test())).prop_map(|condition| Region {
            filter: condition.map(|condition| Filter { condition }),
            ..Region::of(Structure::Document)
        }),
        ("[A-Z][a-z_0-9]{1,9}", prop::option::of(logic(span_test()))).prop_map(|(name, condition)| Region {
            condition,
            ..Region::of(Structure::Span(Name::new(&name).expect("a name")))
        }),
    ]
}

fn pattern_of(kind: impl Into<PatternKind>) -> Pattern {
    Pattern::new(kind, Span::default())
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let token = prop_oneof![
        1 => Just(pattern_of(AnyToken)),
        3 => logic(token_test()).prop_map(|condition| pattern_of(TokenPattern { condition })),
    ];
    let leaf = prop_oneof![
        5 => token,
        1 => region().prop_map(pattern_of),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let times = prop_oneof![
            Just((0, Some(1))),
            Just((0, None)),
            Just((1, None)),
            Just((2, None)),
            Just((1, Some(3))),
            Just((2, Some(2)))
        ];
        let anchored = (any::<bool>(), inner.clone()).prop_map(|(start, part)| {
            let parts = if start {
                vec![pattern_of(Boundary { side: Side::Start, of: Region::of(Structure::Sentence) }), part]
            } else {
                vec![
                    part,
                    pattern_of(Boundary {
                        side: Side::End,
                        of: Region::of(Structure::Span(Name::new("ne").expect("a name"))),
                    }),
                ]
            };
            pattern_of(Sequence { parts })
        });
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| pattern_of(Sequence { parts })),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| pattern_of(Alternatives { parts })),
            (inner, times).prop_map(|(of, (at_least, at_most))| pattern_of(Repeat {
                of: Box::new(of),
                at_least,
                at_most
            })),
            anchored,
        ]
    })
}

fn query() -> impl Strategy<Value = Query> {
    let target = prop_oneof![
        region().prop_map(Target::Region),
        pattern()
            .prop_filter("a structure alone is a region", |p| !matches!(p.kind, PatternKind::Region(_)))
            .prop_map(Target::Pattern),
    ];
    let target =
        prop_oneof![6 => target, 1 => (1u32..9).prop_map(|number| Target::AtMost(number, Some(Structure::Sentence)))];
    let kind = prop_oneof![Just(RestrictionKind::Within), Just(RestrictionKind::Containing)];
    let restriction = (kind, any::<bool>(), target).prop_map(|(kind, negated, target)| Restriction {
        kind: if matches!(target, Target::AtMost(..)) { RestrictionKind::Within } else { kind },
        negated,
        target,
        span: Span::default(),
    });
    let right = prop_oneof![
        value().prop_map(Comparand::Value),
        attribute().prop_map(|attribute| Comparand::Reference(Reference {
            label: "b1".into(),
            attribute,
            quantity: Quantity::Value
        })),
    ];
    let constraint = (attribute(), any::<bool>(), right).prop_map(|(attribute, negated, right)| Constraint {
        left: Reference { label: "a".into(), attribute, quantity: Quantity::Value },
        negated,
        comparator: Comparator::Equal,
        right,
        span: Span::default(),
    });
    (pattern(), prop::collection::vec(restriction, 0..3), prop::collection::vec(constraint, 0..3)).prop_map(
        |(pattern, restrictions, constraints)| {
            let labelled =
                |label: &str| pattern_of(Labelled { label: label.into(), token: Box::new(pattern_of(AnyToken)) });
            let pattern = match constraints.is_empty() {
                true => pattern,
                false => pattern_of(Sequence { parts: vec![labelled("a"), pattern, labelled("b1")] }),
            };
            Query { restrictions, constraints, ..Query::of(pattern) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_text_is_parsed_back_as_the_same_query(query in query()) {
        let text = query.to_string();
        match cql::parse(&text) {
            Ok(read) => prop_assert_eq!(read, query, "{}", text),
            Err(error) => prop_assert!(error.message.contains("more than 2000 tokens"), "{}", error.render(&text)),
        }
    }

    #[test]
    fn random_combinations_of_all_operators_are_parsed_back_as_the_same_query(seed: u64) {
        let (text, query) = common::random_query(&mut fastrand::Rng::with_seed(seed));
        let printed = query.to_string();
        prop_assert_eq!(cql::parse(&printed).map_err(|error| error.render(&printed)), Ok(query), "{}", text);
    }

    #[test]
    fn any_text_parses_or_is_rejected_without_a_panic(text in "\\PC{0,60}") {
        if let Err(error) = cql::parse(&text) {
            error.render(&text);
        }
        let _ = text.parse::<Filter>();
    }

    #[test]
    fn text_that_looks_like_cql_parses_or_is_rejected_without_a_panic(
        pieces in prop::collection::vec(prop_oneof![
            Just("["), Just("]"), Just("("), Just(")"), Just("\""), Just("word"), Just("="), Just("!"), Just("=="),
            Just("a"), Just(" "), Just("{"), Just("}"), Just(","), Just("3"), Just("*"), Just("?"), Just("+"), Just("|"),
            Just("&"), Just("within"), Just("containing"), Just("<s/>"), Just("<doc "), Just("/>"), Just("<"), Just(">"),
            Just("::"), Just(":"), Just("."), Just("%c"), Just("é"), Just("\\"), Just("date"), Just("2026"), Just("[]"),
        ], 0..30)
    ) {
        let text = pieces.concat();
        match cql::parse(&text) {
            Ok(query) => prop_assert_eq!(cql::parse(&query.to_string()).map_err(|e| e.to_string()), Ok(query)),
            Err(error) => drop(error.render(&text)),
        }
        if let Ok(filter) = text.parse::<Filter>() {
            prop_assert_eq!(filter.to_string().parse::<Filter>().map_err(|e| e.to_string()), Ok(filter));
        }
    }
}

#[test]
fn the_largest_queries_finish() {
    // Each takes milliseconds with the limits, and hours without.
    for expression in [r"\w{200}", r"(\w+\w+)+", "(a|b|c)*d{500}", r"[\p{L}\p{N}]{100}", "(.*)*(.*)*x"] {
        let query = format!(r#""{expression}" "#).repeat(200);
        if let Err(error) = cql::parse(&query) {
            assert!(error.message.contains("expression"), "{error}");
        }
    }
}
