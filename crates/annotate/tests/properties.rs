//! Properties of the segmentation of any text in any language.

use proptest::prelude::*;
use tidings_annotate::{Segmenter, Sentence};

const LANGUAGES: &[&str] = &["en", "de", "fr", "vi", "zh", "ja", "th", "he", "mt", "xx"];

/// Tokens and the white space between them reproduce the text exactly.
fn check(text: &str, sentences: &[Sentence]) {
    let mut rebuilt = String::new();
    let mut end = 0;
    for sentence in sentences {
        assert!(!sentence.tokens.is_empty());
        for token in &sentence.tokens {
            assert!(token.start >= end && token.end > token.start, "tokens are in order and not empty");
            let spacing = &text[end..token.start];
            assert!(spacing.chars().all(char::is_whitespace), "{spacing:?} is not in any token");
            let word = &text[token.clone()];
            assert_eq!(word.trim(), word, "tokens have no white space at their edges");
            assert!(!word.contains('\n'), "tokens do not cross lines");
            rebuilt.push_str(spacing);
            rebuilt.push_str(word);
            end = token.end;
        }
        let spaced: String = sentence.spaced(text).flat_map(|(word, spacing)| [word, spacing]).collect();
        assert_eq!(spaced, text[sentence.span()]);
    }
    assert!(text[end..].chars().all(char::is_whitespace), "{:?} is not in any token", &text[end..]);
    rebuilt.push_str(&text[end..]);
    assert_eq!(rebuilt, text);
}

fn check_all(text: &str) {
    for code in LANGUAGES {
        check(text, &Segmenter::for_language(code).segment(text));
        check(text, &Segmenter::by_rules(code).segment(text));
    }
}

/// Random concatenation of everything that rules look at.
fn noise() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a",
        "B",
        "Dr.",
        "etc.",
        "3.",
        "10",
        "000",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\u{a0}",
        ".",
        "...",
        "…",
        "!",
        "?",
        "。",
        "”",
        "“",
        "\"",
        "'",
        "’",
        "(",
        ")",
        "-",
        "--",
        "–",
        ",",
        ":",
        ";",
        "/",
        "http://",
        "www.",
        ".com",
        "@",
        "#",
        "_",
        "&",
        "l'",
        "n't",
        "ב",
        "\"ב",
        "字",
        "か",
        "カ",
        "ก",
        "ข้าว",
        "မြန်",
        "ខ្មែរ",
        "😀",
        "\u{200d}",
        "\u{fe0f}",
        "🇩",
        "🇪",
        "\u{301}",
        "\u{ad}",
        "\u{200b}",
        "\u{2028}",
        "\0",
        "\u{feff}",
        "€",
        "%",
        "Việt",
        "Nam",
        "։",
        "।",
        "؟",
        "ß",
        "İ",
    ]);
    prop::collection::vec(parts, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tokens_and_spacing_are_the_text(text in any::<String>()) {
        check_all(&text);
    }

    #[test]
    fn tokens_and_spacing_are_the_text_for_noise(text in noise()) {
        check_all(&text);
    }
}

#[test]
fn texts_longer_than_a_chunk_are_complete() {
    let sentence = "Am 3. Mai kam Dr. Weiß. ";
    for text in [
        sentence.repeat(6_000),
        "x".repeat(200_000),
        "x ".repeat(100_000),
        "字".repeat(70_000),
        ". ".repeat(80_000),
        " ".repeat(150_000),
        "a.".repeat(90_000),
        "http://a.".repeat(20_000),
        "\u{301}".repeat(80_000),
    ] {
        let found = Segmenter::for_language("de").segment(&text);
        check(&text, &found);
    }
    let text = sentence.repeat(6_000);
    let found = Segmenter::by_rules("de").segment(&text);
    assert_eq!(found.len(), 6_000, "no sentence is split at the end of a chunk");
    assert!(found.iter().all(|sentence| sentence.tokens.len() == 7));
}

#[test]
fn time_is_linear_in_the_length_of_the_text() {
    let shapes = ["'", "a'", "a.", "-a", "\"", "a@", "http://(", "www.)", "1,", "#", "((", "🇩", "字", ". ", "! \" "];
    for shape in shapes {
        let make = |bytes: usize| shape.repeat(bytes / shape.len());
        let segment = |text: &String| drop(std::hint::black_box(Segmenter::for_language("en").segment(text)));
        assert_eq!(tidings_testing::superlinear(make, 16_000, 8, segment), None, "{shape:?}");
    }
}

#[test]
fn a_number_before_a_quotation_mark_does_not_panic() {
    for code in ["de", "en", "cs", "xx"] {
        Segmenter::for_language(code).segment("3.\" 3.");
    }
}
