//! Tests of quotations on text without models, so that they hold for every language.

use proptest::prelude::*;
use tidings_model::{Annotated, AnnotatedParagraph, Document, Paragraph, ParagraphKind, Token, TokenSpan};

use super::*;

/// Segments paragraphs by the rules of a language; a paragraph that begins with `# ` is a heading.
fn document(language: &str, paragraphs: &[&str]) -> Annotated {
    let paragraph = |text: &&str| match text.strip_prefix("# ") {
        Some(heading) => {
            Paragraph { kind: ParagraphKind::Heading { level: 2 }, text: heading.to_owned(), ..Paragraph::default() }
        }
        None => Paragraph { text: (*text).to_owned(), ..Paragraph::default() },
    };
    let mut document = Document { paragraphs: paragraphs.iter().map(paragraph).collect(), ..Document::default() };
    document.about.language = language.to_owned();
    crate::annotate(document, &[], |_, _| true)
}

fn spelled(document: &Annotated, span: &TokenSpan) -> String {
    let tokens: Vec<&Token> = document.tokens().collect();
    let words = tokens[span.start as usize..span.end as usize].iter();
    let text: String = words.map(|token| token.word.clone() + if token.space_after { " " } else { "" }).collect();
    text.trim().to_owned()
}

/// The quotations of paragraphs: text, kind, speaker.
fn found(language: &str, paragraphs: &[&str]) -> Vec<(String, String, String)> {
    let document = document(language, paragraphs);
    let spans = quotations(&document, language);
    let quotes = spans.iter().filter(|span| span.name == QUOTE);
    let value = |span: &TokenSpan, name: &str| span.attribute(name).unwrap_or_default().to_owned();
    quotes.map(|span| (spelled(&document, span), value(span, KIND), value(span, SPEAKER))).collect()
}

fn texts(language: &str, paragraphs: &[&str]) -> Vec<String> {
    found(language, paragraphs).into_iter().map(|(text, ..)| text).collect()
}

fn check(language: &str, text: &str, quote: &str, kind: &str, speaker: &str) {
    let found = found(language, &[text]);
    let expected = (quote.to_owned(), kind.to_owned(), speaker.to_owned());
    assert!(found.contains(&expected), "{language}: {text}\nexpected {expected:?}\nfound {found:?}");
}

#[test]
fn quotations_stand_between_the_marks_of_each_language() {
    for (language, text, quote) in [
        ("en", "“We go home,” said Ada.", "We go home,"),
        ("de", "„Wir gehen heim“, sagte Ada.", "Wir gehen heim"),
        ("de", "»Wir gehen heim«, sagte Ada.", "Wir gehen heim"),
        ("de", "«Wir gehen heim», sagte Ada.", "Wir gehen heim"),
        ("fr", "« Nous rentrons », dit Ada.", "Nous rentrons"),
        ("sv", "”Vi går hem”, sa Ada.", "Vi går hem"),
        ("fi", "”Me menemme kotiin”, sanoi Ada.", "Me menemme kotiin"),
        ("fi", "»Me menemme kotiin», sanoi Ada.", "Me menemme kotiin"),
        ("da", "»Vi går hjem«, siger Ada.", "Vi går hjem"),
        ("pl", "„Idziemy do domu” – powiedziała Ada.", "Idziemy do domu"),
        ("cs", "„Jdeme domů,“ řekla Ada.", "Jdeme domů,"),
        ("ru", "«Мы идём домой», — сказала Ада.", "Мы идём домой"),
        ("zh", "艾达说：“我们回家。”", "我们回家。"),
        ("ja", "エイダ氏は「家に帰る」と述べた。", "家に帰る"),
        ("ko", "에이다는 “집에 간다”고 말했다.", "집에 간다"),
        ("fa", "آدا گفت: «به خانه می‌رویم».", "به خانه می‌رویم"),
        ("hu", "„Hazamegyünk” – mondta Ada.", "Hazamegyünk"),
        ("en", "\"We go home,\" said Ada.", "We go home,"),
        ("xx", "\"Abc def ghi\", jkl Mno.", "Abc def ghi"),
    ] {
        assert_eq!(texts(language, &[text]), [quote], "{language}: {text}");
    }
}

#[test]
fn speakers_and_verbs_stand_before_or_after_the_quotation() {
    for (language, text, quote, speaker) in [
        ("en", "“We go home,” said Ada Moore.", "We go home,", "Ada Moore"),
        ("en", "“We go home,” Ada Moore told reporters.", "We go home,", "Ada Moore"),
        ("en", "Ada Moore said: “We go home.”", "We go home.", "Ada Moore"),
        ("en", "According to Ada Moore, the plan “will never work”.", "will never work", "Ada Moore"),
        ("de", "„Wir gehen heim“, so Ada Moor.", "Wir gehen heim", "Ada Moor"),
        ("it", "«Torniamo a casa», ha detto Ada Neri.", "Torniamo a casa", "Ada Neri"),
        ("pl", "„Idziemy do domu” – powiedziała Ada Nowak.", "Idziemy do domu", "Ada Nowak"),
        ("ru", "«Мы идём, — сказала Ада Орлова. — Пора».", "Мы идём, — сказала Ада Орлова.— Пора", "Ада Орлова"),
        ("ja", "田中氏は「家に帰る」と述べた。", "家に帰る", "田中氏"),
    ] {
        check(language, text, quote, "direct", speaker);
    }
    let document = document("en", &["“We go home,” said Ada Moore."]);
    let spans = quotations(&document, "en");
    let quote = spans.iter().find(|span| span.name == QUOTE).unwrap();
    assert_eq!(quote.attribute(VERB), Some("said"), "the form stands for the lemma where there is none");
    let speaker = spans.iter().find(|span| span.name == SPEAKER).unwrap();
    assert_eq!((spelled(&document, speaker).as_str(), speaker.attributes.len()), ("Ada Moore", 0));
}

#[test]
fn a_second_quotation_of_the_same_speaker_has_the_speaker() {
    let found = found("en", &["“We go home,” said Ada. “It is late.”"]);
    assert_eq!(found[1], ("It is late.".to_owned(), "direct".to_owned(), "Ada".to_owned()));
}

/// The speakers of the quotations of a text, tagged and with names.
fn speakers(language: &str, text: &str) -> Vec<String> {
    let annotators = crate::Annotators::new(crate::models().clone());
    let sentences = crate::annotate_texts(&[text], language, &annotators).expect("no tool runs").remove(0);
    let paragraph = AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
    let mut document = Annotated { paragraphs: vec![paragraph], ..Annotated::default() };
    document.spans = names::names(&document, language);
    let spans = quotations(&document, language);
    let quotes = spans.iter().filter(|span| span.name == QUOTE);
    quotes.map(|span| span.attribute(SPEAKER).unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_speaker_is_a_name_or_the_noun_of_a_person_a_role_or_an_organisation() {
    for (language, text, speaker) in [
        ("en", "“We go home now,” said Anna Moore of the port office.", "Anna Moore"),
        ("en", "“We go home now,” said the minister.", "the minister"),
        ("en", "One of the residents said: “We go home now.” Anna Moore did not.", "One of the residents"),
        ("en", "The file says: “Go home now and stay there.” Anna Moore laughed.", ""),
        ("en", "Myth: “Nobody ever reads the manual.” Anna Moore does.", ""),
    ] {
        assert_eq!(speakers(language, text)[0], speaker, "{language}: {text}");
    }
}

#[test]
fn a_pronoun_stands_for_the_only_person_named_before_it() {
    let one = "Anna Moore came late. “We go home now,” she said.";
    assert_eq!(speakers("en", one), ["Anna Moore"]);
    let two = "Anna Moore met Robert Lee. “We go home now,” she said.";
    assert_eq!(speakers("en", two), ["she"]);
    assert_eq!(speakers("en", "“We’re going home now,” we said to Anna Moore."), ["we"]);
}

#[test]
fn terms_and_titles_are_apart_from_direct_speech() {
    check("en", "The so-called “swing counties” voted late.", "swing counties", "scare", "");
    check("en", "She wrote a song called “Home”.", "Home", "scare", "");
    check("de", "Das Wort „Revolution“ ist verbraucht.", "Revolution", "scare", "");
    check("zh", "所谓“六稳”是一项任务。", "六稳", "scare", "");
}

#[test]
fn quotations_in_headings_and_titles_are_headlines() {
    let found = found("en", &["# Mayor: “We go home”", "Text."]);
    assert_eq!(found[0].1, "headline");
    let mut document = document("en", &["Mayor: “We go home”", "Text."]);
    document.about.title = "Mayor: “We go home”".to_owned();
    let spans = quotations(&document, "en");
    let quote = spans.iter().find(|span| span.name == QUOTE).unwrap();
    assert_eq!(quote.attribute(KIND), Some("headline"));
}

#[test]
fn inner_quotations_are_spans_of_their_own() {
    assert_eq!(texts("en", &["“He said, ‘Go now,’ and left,” said Ada."]), ["He said, ‘Go now,’ and left,", "Go now,"]);
    assert_eq!(texts("de", &["„Er sagte: ‚Geh jetzt!‘ Dann ging er“, so Ada."]).len(), 2);
    assert_eq!(texts("ru", &["«Роман «Мать» вышел», — сказала Ада."]), ["Роман «Мать» вышел", "Мать"]);
    assert_eq!(texts("ru", &["Ада сказала: «Я читала роман «Мать»."]), ["Я читала роман «Мать", "Мать"]);
    assert_eq!(texts("zh", &["她说：“他问：‘走吗？’我走了。”"]), ["他问：‘走吗？’我走了。", "走吗？"]);
}

#[test]
fn a_quotation_goes_on_over_paragraphs() {
    let repeated = ["“I served for thirty years.", "“I will vote against it,” he wrote.", "Then “home” came."];
    assert_eq!(texts("en", &repeated), ["I served for thirty years.“I will vote against it,", "home"]);
    let spanish = ["«He servido treinta años.", "»Votaré en contra», escribió."];
    assert_eq!(texts("es", &spanish), ["He servido treinta años.»Votaré en contra"]);
    let once = ["\"I served for thirty years.", "I will vote against it.\"", "The end."];
    assert_eq!(texts("en", &once), ["I served for thirty years.I will vote against it."]);
}

#[test]
fn a_missing_mark_ends_with_its_paragraph() {
    let found = texts("en", &["“We served for thirty years.", "It rained.", "It rained “hard”."]);
    assert_eq!(found, ["We served for thirty years.", "hard"]);
    assert_eq!(texts("en", &["It rained hard,” he said.", "The “end” came."]), ["end"]);
    let long: Vec<&str> = std::iter::once("He said \"this").chain(std::iter::repeat_n("It rained.", 40)).collect();
    assert_eq!(texts("en", &long), Vec::<String>::new());
}

#[test]
fn apostrophes_and_inches_are_no_quotation_marks() {
    let text = "The workers’ rights and the ’90s don’t fit a 12\" board or 6'2\" men, 'tis said.";
    assert_eq!(texts("en", &[text]), Vec::<String>::new());
    let text = "‘The workers’ rights come first,’ said Ada.";
    assert_eq!(texts("en", &[text]), ["The workers’ rights come first,"]);
    assert_eq!(texts("en", &["\"We had a 12\" board and a rope,\" said Ada."]), ["We had a 12\" board and a rope,"]);
}

#[test]
fn a_dash_opens_direct_speech_and_a_list_does_not() {
    let dialogue = ["— Я люблю работу, — говорит Ада. — Но устала.", "— Почему?"];
    assert_eq!(texts("ru", &dialogue), ["Я люблю работу", "Но устала.", "Почему?"]);
    check("es", "—Nadie duerme —dijo Ada Ruiz—. Nadie.", "Nadie duerme", "direct", "Ada Ruiz");
    assert_eq!(texts("ru", &["— хлеб", "— молоко", "— масло"]), Vec::<String>::new());
    assert_eq!(texts("en", &["— Go home, — said Ada."]), Vec::<String>::new());
}

/// Words that make marks, dialogue, verbs and names likely.
const WORDS: [&str; 36] = [
    "“",
    "”",
    "„",
    "‟",
    "\"",
    "'",
    "‘",
    "’",
    "‚",
    "«",
    "»",
    "‹",
    "›",
    "「",
    "」",
    "『",
    "』",
    "—",
    "-",
    ",",
    ".",
    ":",
    "?",
    "(",
    "said",
    "sagte",
    "so",
    "说",
    "сказал",
    "Ada",
    "Moore",
    "the",
    "a",
    "9",
    "",
    "``",
];

fn arbitrary_document() -> impl Strategy<Value = Annotated> {
    let tag = prop::sample::select(vec!["", "NOUN", "PROPN", "VERB", "ADP", "PRON", "PUNCT", "DET+NOUN", "AUX", "X"]);
    let token = (prop::sample::select(WORDS.to_vec()), tag, any::<bool>());
    let token = token.prop_map(|(word, tag, space_after)| Token { space_after, ..Token::new(word, word, tag) });
    let sentences = prop::collection::vec(prop::collection::vec(token, 1..12), 0..4);
    let kind = prop::sample::select(vec!["p", "heading", ""]);
    let language = prop::sample::select(vec!["", "ja", "ru", "xx"]);
    let paragraph = (kind, language, sentences).prop_map(|(kind, language, sentences)| AnnotatedParagraph {
        kind: kind.to_owned(),
        language: language.to_owned(),
        sentences,
    });
    let paragraphs = prop::collection::vec(paragraph, 0..8);
    paragraphs.prop_map(|paragraphs| Annotated { paragraphs, ..Annotated::default() })
}

proptest! {
    #[test]
    fn spans_are_ordered_and_within_any_document(
        document in arbitrary_document(),
        language in prop::sample::select(vec!["en", "de", "sv", "ru", "zh", "ja", "ko", "", "xx"]),
    ) {
        let length = document.tokens().count() as u32;
        let spans = quotations(&document, language);
        for span in &spans {
            prop_assert!(span.start < span.end && span.end <= length, "{span:?}");
            prop_assert!(span.name == QUOTE || (span.name == SPEAKER && span.attributes.is_empty()));
            let declared = TokenSpan::declared_attributes(&span.name);
            prop_assert!(span.attributes.iter().all(|(name, _)| declared.contains(&name.as_str())), "{span:?}");
        }
        prop_assert!(spans.windows(2).all(|pair| pair[0].file_order(&pair[1]).is_lt()));
    }
}

/// A paragraph of marks without words, and one with a word after each mark.
fn mark_documents(marks: usize, glyphs: &[&str], word: Option<&str>) -> Annotated {
    let mark = |at: usize| Token { space_after: at.is_multiple_of(3), ..Token::new(glyphs[at % glyphs.len()], "", "") };
    let tokens = (0..marks).flat_map(|at| [Some(mark(at)), word.map(|word| Token::new(word, "", ""))]);
    let paragraph = AnnotatedParagraph { sentences: vec![tokens.flatten().collect()], ..Default::default() };
    Annotated { paragraphs: vec![paragraph], ..Annotated::default() }
}

#[test]
fn time_is_linear_in_the_number_of_marks() {
    for glyphs in [&["\""][..], &["“"], &["“", "”"], &["'", "\""], &["«"], &["„", "‚", "‘", "“"], &["—"]]
    {
        for word in [None, Some("said")] {
            let make = |marks: usize| mark_documents(marks, glyphs, word);
            let work = |document: &Annotated| {
                quotations(document, "ru");
            };
            assert_eq!(tidings_testing::superlinear(make, 2_000, 8, work), None, "{glyphs:?} {word:?}");
        }
    }
}
