//! Names of persons, organisations and places: spans `ne` with the canonical form of the document.
//!
//! A name is a run of proper nouns, joined over particles and prepositions of names. Capitals decide where the script
//! has them, together with tags and with the document's other uses of a word; tags alone where it has none. Forms of
//! one name get one canonical form per document: case endings are removed, surnames stand for the full name if only one
//! person has them, and acronyms for the expansion that the text gives. The type is given only if words in or before
//! the name, or lists of `languages/CODE/names.tsv`, make it sure.

mod canonical;
mod cased;
mod doubt;
mod evidence;
mod kind;
mod standing;
mod uncased;
mod words;

use tidings_lang::{MaskRule, Script};
use tidings_model::{Annotated, TokenSpan};

use evidence::Text;
use words::{NameWords, Role};

pub use kind::NameKind;

/// Version of the layer: increased whenever the same annotated document gives different spans.
pub const VERSION: u32 = 2;

/// Name of the spans.
pub const SPAN: &str = "ne";
/// The attribute with the canonical form.
pub const NAME: &str = "name";
/// The attribute with the [kind](NameKind), if it is sure.
pub const TYPE: &str = "type";

/// Longest name in tokens; longer runs of capitalised words are lists or titles.
const MAX_TOKENS: usize = 12;

/// Head nouns of persons and organisations: titles, roles, and nouns of which names of organisations are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadNouns(&'static NameWords);

impl HeadNouns {
    /// The nouns of a language, if its folder has a table.
    pub(super) fn of(language: &str) -> Option<HeadNouns> {
        let words = NameWords::of(language);
        (!words.is_empty()).then_some(HeadNouns(words))
    }

    /// Returns true if a word in lower case is such a noun, or a compound of one.
    pub(super) fn contains(self, lower: &str) -> bool {
        self.0.roles_with_endings(lower).has_any(&[Role::Title, Role::Organisation])
    }

    /// Returns true if a text without spaces ends with such a noun of two characters or more.
    pub(super) fn ends(self, joined: &str) -> bool {
        joined.char_indices().rev().skip(1).take(4).any(|(at, _)| self.contains(&joined[at..]))
    }

    /// Returns true if a text without spaces begins with a family name of the table.
    pub(super) fn begins_with_surname(self, joined: &str) -> bool {
        let lengths = joined.char_indices().skip(1).take(2).map(|(at, _)| at);
        lengths.into_iter().any(|length| self.0.roles(&joined[..length]).has(Role::Surname))
    }
}

/// Returns true for a word of characters that transcribe foreign names in Chinese.
pub(super) fn is_transcription(word: &str) -> bool {
    word.chars().all(uncased::is_transcription)
}

/// An occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mention {
    start: usize,
    end: usize,
    kind: Option<NameKind>,
}

/// Finds the names of a document. Spans are in reading order and do not overlap; their attributes are `name`, the
/// canonical form, and `type` if it is sure (see [`NameKind`]).
pub fn names(document: &Annotated, language: &str) -> Vec<TokenSpan> {
    let words = NameWords::of(language);
    let mut text = Text::new(document, language, words);
    let mentions = match is_cased(language) {
        true => {
            // Full names of the first pass show which words are surnames.
            text.learn_surnames(&cased::mentions(&text));
            cased::mentions(&text)
        }
        false => uncased::mentions(&text),
    };
    let mentions: Vec<Mention> = mentions.into_iter().filter(|mention| !is_mask(&text, mention)).collect();
    canonical::spans(&text, &mentions)
}

/// Returns true for the placeholder of masked data, as in `[EMAIL]`.
fn is_mask(text: &Text<'_>, mention: &Mention) -> bool {
    let word = |at: usize| text.tokens.get(at).map(|word| word.token.word.as_str());
    let Some(before) = mention.start.checked_sub(1) else { return false };
    mention.end == mention.start + 1
        && word(before) == Some("[")
        && word(mention.end) == Some("]")
        && MaskRule::ALL.iter().any(|rule| Some(rule.token().trim_matches(['[', ']'])) == word(mention.start))
}

/// Returns true if the usual script of a language has capitals; so is an unknown language.
fn is_cased(language: &str) -> bool {
    let script = tidings_lang::language(language).and_then(|known| known.scripts.first().copied());
    script.is_none_or(|script| matches!(script, Script::Latin | Script::Cyrillic | Script::Greek | Script::Armenian))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidings_model::{AnnotatedParagraph, Token};

    use super::*;
    use crate::{Annotators, annotate_texts, models};

    fn document(texts: &[&str], language: &str, annotators: &Annotators) -> Annotated {
        let paragraphs = annotate_texts(texts, language, annotators).expect("no tool runs");
        let paragraph = |sentences| AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
        Annotated { paragraphs: paragraphs.into_iter().map(paragraph).collect(), ..Annotated::default() }
    }

    /// Names with canonical form and type, by the embedded model.
    fn found(text: &str, language: &str) -> Vec<(String, String, String)> {
        in_document(&document(&[text], language, &Annotators::new(models().clone())), language)
    }

    fn in_document(document: &Annotated, language: &str) -> Vec<(String, String, String)> {
        let tokens: Vec<&Token> = document.tokens().collect();
        let row = |span: TokenSpan| {
            let words = tokens[span.start as usize..span.end as usize].iter().map(|token| token.word.as_str());
            let attribute = |name: &str| span.attribute(name).unwrap_or_default().to_owned();
            (words.collect::<Vec<_>>().join(" "), attribute("name"), attribute("type"))
        };
        names(document, language).into_iter().map(row).collect()
    }

    fn forms(found: &[(String, String, String)]) -> Vec<(&str, &str)> {
        found.iter().map(|(_, name, kind)| (name.as_str(), kind.as_str())).collect()
    }

    #[test]
    fn placeholders_of_masked_data_are_no_names() {
        let text = "Write to [EMAIL] or call [PHONE] in Frankfurt.";
        assert_eq!(forms(&found(text, "en")), [("Frankfurt", "LOC")]);
    }

    #[test]
    fn surnames_and_acronyms_have_the_canonical_form_of_the_full_name() {
        let text = "The European Central Bank (ECB) cut rates. Its president, Marie Dubois, spoke in Frankfurt. \
                    Mrs. Dubois said the ECB would wait. Dubois's term ends on Tuesday.";
        let expected = [
            ("European Central Bank", "ORG"),
            ("European Central Bank", "ORG"),
            ("Marie Dubois", "PER"),
            ("Frankfurt", "LOC"),
            ("Marie Dubois", "PER"),
            ("European Central Bank", "ORG"),
            ("Marie Dubois", "PER"),
        ];
        assert_eq!(forms(&found(text, "en")), expected);
    }

    #[test]
    fn german_names_are_told_from_nouns_and_lose_their_genitive() {
        let text = "Angela Merkel besuchte die Europäische Zentralbank. Merkels Rede begann um zehn Uhr. Frau Merkel \
                    lobte die Arbeit der Europäischen Zentralbank.";
        let expected = [
            ("Angela Merkel", "PER"),
            ("Europäische Zentralbank", "ORG"),
            ("Angela Merkel", "PER"),
            ("Angela Merkel", "PER"),
            ("Europäische Zentralbank", "ORG"),
        ];
        assert_eq!(forms(&found(text, "de")), expected);
    }

    #[test]
    fn words_inside_a_title_are_no_names() {
        let text = "The agency has a Chief Information Officer. Its Chief Technology Officer, Anna Moore, came too.";
        assert_eq!(forms(&found(text, "en")), [("Anna Moore", "PER")]);
    }

    #[test]
    fn a_term_that_the_document_also_writes_small_is_no_name() {
        let text = "The office wants Open Standards for all. Such open standards help, and other standards do not. \
                    Lisbon agreed.";
        assert_eq!(forms(&found(text, "en")), [("Lisbon", "LOC")]);
    }

    #[test]
    fn a_full_name_is_apart_from_the_acronym_before_it() {
        let text = "Karsten Gerloff llegó tarde. El presidente de la FSFE Karsten Gerloff habló en Madrid.";
        let found = found(text, "es");
        let words: Vec<&str> = found.iter().map(|(words, _, _)| words.as_str()).collect();
        assert_eq!(words, ["Karsten Gerloff", "FSFE", "Karsten Gerloff", "Madrid"]);
    }

    #[test]
    fn german_compounds_of_organisations_and_woods_are_names() {
        let text = "Das Goethe-Institut lud ein. Im Grunewald traf sich am Abend ein kleiner Chor.";
        let found = found(text, "de");
        let words: Vec<&str> = found.iter().map(|(words, _, _)| words.as_str()).collect();
        assert_eq!(words, ["Goethe - Institut", "Grunewald"]);
    }

    #[test]
    fn particles_and_prepositions_join_names() {
        let text = "Charles de Gaulle met Osama bin Laden at the Bank of England.";
        let found = found(text, "en");
        let words: Vec<&str> = found.iter().map(|(words, _, _)| words.as_str()).collect();
        assert_eq!(words, ["Charles de Gaulle", "Osama bin Laden", "Bank of England"]);
    }

    #[test]
    fn two_persons_with_one_surname_are_not_merged() {
        let text = "Anna Keller and Paul Keller live in Boston. Keller works there.";
        assert_eq!(forms(&found(text, "en")).last(), Some(&("Keller", "")));
    }

    #[test]
    fn russian_case_forms_are_merged() {
        let text = "Владимир Петров приехал в Москву. Переговоры с Владимиром Петровым прошли в Москве.";
        let expected = [("Владимир Петров", "PER"), ("Москва", "LOC"), ("Владимир Петров", "PER"), ("Москва", "LOC")];
        assert_eq!(forms(&found(text, "ru")), expected);
    }

    #[test]
    fn chinese_names_are_found_by_surnames_and_endings() {
        let found = found("上海市市长王晓明说,武汉大学和阿里巴巴集团签署了协议。", "zh");
        let expected = [("上海市", "LOC"), ("王晓明", "PER"), ("武汉大学", "ORG"), ("阿里巴巴集团", "ORG")];
        assert_eq!(forms(&found), expected);
    }

    #[test]
    fn without_a_model_capitals_inside_sentences_decide() {
        let text = "Yesterday the talks in Lisbon ended. Lisbon was calm, said Ana Moura.";
        let document = document(&[text], "en", &Annotators::none());
        assert_eq!(forms(&in_document(&document, "en")), [("Lisbon", "LOC"), ("Lisbon", "LOC"), ("Ana Moura", "")]);
        let document = document_of_unknown_language();
        assert_eq!(forms(&in_document(&document, "xx")), [("Zarbon", "")]);
    }

    fn document_of_unknown_language() -> Annotated {
        let tokens = ["Ka", "lo", "Zarbon", "mi", "."].map(|word| Token { word: word.into(), ..Token::default() });
        let paragraph = AnnotatedParagraph { sentences: vec![tokens.to_vec()], ..AnnotatedParagraph::default() };
        Annotated { paragraphs: vec![paragraph], ..Annotated::default() }
    }

    #[test]
    fn a_headline_in_title_case_gives_only_names_of_the_body() {
        let texts = ["Storm Warning Issued as Ministers Meet Delgado", "The minister met Maria Delgado in Belfast."];
        let document = document(&texts, "en", &Annotators::new(models().clone()));
        assert_eq!(forms(&in_document(&document, "en"))[0], ("Maria Delgado", "PER"));
    }

    const WORDS: &str = "Angela Merkel Merkels von der van & and of - ' . “ Bank EU F. iPhone Москва Москве дума \
        Европейский банк 王 志 强 大学 · 银行 的 队 上海 Monday President der Deutsche and ( ) e\u{301} \u{0} İ ß ﬁ X's";

    fn any_document() -> impl Strategy<Value = Annotated> {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let word = prop_oneof![
            4 => proptest::sample::select(words).prop_map(str::to_owned),
            1 => "\\PC{0,6}",
        ];
        let tag = proptest::sample::select(vec!["PROPN", "NOUN", "ADJ", "VERB", "ADP", "PUNCT", "", "PROPN+PART"]);
        let feats = proptest::sample::select(vec!["", "Case=Nom", "Case=Gen|Number=Sing"]);
        let token = (word, tag, feats, any::<bool>()).prop_map(|(word, tag, feats, space_after)| Token {
            lemma: word.to_lowercase().into(),
            word: word.into(),
            tag: tag.into(),
            feats: feats.into(),
            space_after,
        });
        let sentences = proptest::collection::vec(proptest::collection::vec(token, 0..30), 0..6);
        sentences.prop_map(|sentences| Annotated {
            paragraphs: vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }],
            ..Annotated::default()
        })
    }

    proptest! {
        #[test]
        fn spans_of_any_tokens_are_ordered_and_inside_the_document(
            document in any_document(),
            language in proptest::sample::select(vec!["en", "de", "es", "ru", "zh", "ja", "ar", "fi", "xx", ""]),
        ) {
            let tokens = document.tokens().count() as u32;
            let mut spans = names(&document, language);
            let mut last = 0;
            for span in &spans {
                prop_assert!(span.start >= last && span.start < span.end && span.end <= tokens, "{span:?}");
                last = span.end;
            }
            spans = crate::layers::foreign::foreign(&document, language);
            last = 0;
            for span in &spans {
                prop_assert!(span.start >= last && span.start < span.end && span.end <= tokens, "{span:?}");
                last = span.end;
            }
        }
    }

    #[test]
    fn time_is_linear_in_the_number_of_names() {
        let make = |size: usize| {
            let word = |index: usize| Token {
                word: format!("Name{}", index % 5000).into(),
                tag: "PROPN".into(),
                space_after: true,
                ..Token::default()
            };
            let sentence = |number: usize| -> Vec<Token> {
                let mut tokens: Vec<Token> = (0..40).map(|index| word(number * 40 + index)).collect();
                tokens.iter_mut().skip(3).step_by(4).for_each(|token| *token = Token::new("walked", "walk", "VERB"));
                tokens.push(Token::new(".", ".", "PUNCT"));
                tokens
            };
            let sentences = (0..size / 40).map(sentence).collect();
            let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
            Annotated { paragraphs, ..Annotated::default() }
        };
        for language in ["en", "de", "ru"] {
            let growth = tidings_testing::superlinear(make, 4_000, 10, |document: &Annotated| {
                std::hint::black_box(names(document, language));
            });
            assert_eq!(growth, None, "{language}");
        }
    }
}
