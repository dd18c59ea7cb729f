//! Random queries for tests.
//!
//! Each operator of CQL contributes the templates of its documentation, so that a new operator is tested
//! without a change here.

use fastrand::Rng;
use tidings_query::cql::{self, OperatorDoc, operator_docs};

/// A random query that the parser accepts, with its text.
pub fn random_query(random: &mut Rng) -> (String, cql::Query) {
    loop {
        let text = query(random);
        if let Ok(query) = cql::parse(&text) {
            return (text, query);
        }
    }
}

fn token_query(random: &mut Rng, depth: u32) -> String {
    let text = |random: &mut Rng| {
        let texts = [
            "a", "A", "ab", "a.*", ".*b", "[ab]+", "N", "V", "c", "", ".*", "(a|ca)", "é", "e", "zzz", "b|ba",
            "Case=N.*", "2", "A",
        ];
        texts[random.usize(..texts.len())]
    };
    let test = |random: &mut Rng| {
        let attributes = [
            "word",
            "lc",
            "lemma",
            "tag",
            "feats",
            "Case",
            "Number",
            "Number[psor]",
            "syllables",
            "sense",
            "Sem",
            "word",
            "lemma",
        ];
        if random.u8(..) < 12 {
            let sign = ["<", "<=", ">", ">=", "=", "!="][random.usize(..6)];
            return format!("syllables{sign}{}", ["1", "2", "2.0", "-1", "10"][random.usize(..5)]);
        }
        let attribute = attributes[random.usize(..attributes.len())];
        let sign = ["=", "!=", "==", "="][random.usize(..4)];
        let flags = ["", "", "%c", "%d", "%cd"][random.usize(..5)];
        format!("{attribute}{sign}\"{}\"{flags}", text(random))
    };
    let mut condition = test(random);
    for _ in 0..random.u32(0..=depth) {
        let sign = if random.bool() { "&" } else { "|" };
        let not = if random.u8(..) < 50 { "!" } else { "" };
        condition = format!("{condition} {sign} {not}({})", test(random));
    }
    match random.u8(0..5) {
        0 => "[]".to_owned(),
        1 => format!("\"{}\"", text(random)),
        _ => format!("[{condition}]"),
    }
}

/// A template of a random operator with its placeholders filled in.
fn from_template(random: &mut Rng, depth: u32) -> String {
    let docs: Vec<&OperatorDoc> = operator_docs().filter(|doc| !doc.templates.is_empty()).collect();
    let templates = docs[random.usize(..docs.len())].templates;
    let mut text = templates[random.usize(..templates.len())].to_owned();
    while text.contains("{pattern}") {
        text = text.replacen("{pattern}", &pattern(random, depth.saturating_sub(1)), 1);
    }
    while text.contains("{token}") {
        text = text.replacen("{token}", &token_query(random, 0), 1);
    }
    text
}

fn pattern(random: &mut Rng, depth: u32) -> String {
    if depth > 0 && random.u8(..) < 30 {
        return from_template(random, depth);
    }
    let atom = match random.u8(0..9) {
        0 if depth > 0 => format!("({} | {})", pattern(random, depth - 1), pattern(random, depth - 1)),
        1 if depth > 0 => format!("({})", pattern(random, depth - 1)),
        2 => match random.u8(0..3) {
            0 => "<s/>".to_owned(),
            _ => span(random),
        },
        _ => token_query(random, 1),
    };
    let quantity = ["", "", "", "?", "*", "+", "{2}", "{0,2}", "{1,3}", "{2,}"][random.usize(..10)];
    let mut pattern = format!("{atom}{quantity}");
    if depth > 0 && random.bool() {
        pattern = format!("{pattern} {}", self::pattern(random, depth - 1));
    }
    match random.u8(0..14) {
        0 => format!("<s> {pattern}"),
        1 => format!("{pattern} </s>"),
        2 => format!("<p> {pattern}"),
        3 => format!("{pattern} </doc>"),
        4 => format!("<{}> {pattern}", span_name(random)),
        5 => format!("{pattern} </{}>", span_name(random)),
        _ => pattern,
    }
}

fn span_name(random: &mut Rng) -> &'static str {
    if random.bool() { "ne" } else { "quote" }
}

/// A region of spans, with or without a condition.
fn span(random: &mut Rng) -> String {
    let conditions =
        ["", "", " type=\"A\"", " type!=\"B\" name=\".*b\"", " !(name=\"A\"%c) | type==\"\"", " name!==\"ab\""];
    format!("<{}{}/>", span_name(random), conditions[random.usize(..conditions.len())])
}

fn query(random: &mut Rng) -> String {
    if random.u8(..) < 50 {
        return from_template(random, 2);
    }
    if random.u8(..) < 20 {
        let attribute = ["word", "lemma", "lc", "feats", "Case", "sense"][random.usize(..6)];
        let sign = ["=", "!="][random.usize(..2)];
        return format!(
            "x:{} {} y:[] :: x.{attribute} {sign} y.{attribute}",
            token_query(random, 0),
            pattern(random, 1)
        );
    }
    let mut query = pattern(random, 2);
    for _ in 0..[0, 1, 1, 2][random.usize(..4)] {
        let relation = ["within", "!within", "containing", "!containing"][random.usize(..4)];
        let target = match random.u8(0..6) {
            0 => "<p/>".to_owned(),
            1 => "<doc/>".to_owned(),
            2 => "<doc genre=\"blog\"/>".to_owned(),
            3 => format!("({})", pattern(random, 1)),
            4 => span(random),
            _ => "<s/>".to_owned(),
        };
        query = format!("{query} {relation} {target}");
    }
    query
}
