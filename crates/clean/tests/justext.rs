//! jusText on whole pages: the paragraphs it keeps, and its running time.

use proptest::prelude::*;
use tidings_clean::justext::{Class, JustextOptions, JustextParagraph, paragraphs};
use tidings_clean::tree;

/// Running text of more than 200 characters, more than a third of its words stop words.
const LONG: &str = "When the ferry came back in the evening, most of the people who had been waiting for it were gone, \
                    and only the woman with the dog was still there; she had told us that she would not leave before \
                    it was dark, and she did not.";
/// Running text of about 100 characters.
const MIDDLE: &str =
    "It was one of those days on which no one who had a choice would have been out at all in that wind.";

fn classify(html: &str, lang: &str, options: &JustextOptions) -> Vec<JustextParagraph> {
    let stop_list = tidings_lang::stop_list(lang).expect("the language has a stop list");
    paragraphs(&tree::parse(html), stop_list, options)
}

/// Asserts the classes before and after context-sensitive classification, and how each text begins.
#[track_caller]
fn expect(html: &str, options: &JustextOptions, expected: &[(Class, Class, &str)]) {
    let found = classify(html, "en", options);
    let texts: Vec<&str> = found.iter().map(|paragraph| paragraph.text.as_str()).collect();
    assert_eq!(found.len(), expected.len(), "{texts:#?}");
    for (paragraph, (alone, class, start)) in found.iter().zip(expected) {
        assert!(paragraph.text.starts_with(start), "{} does not start with {start}", paragraph.text);
        assert_eq!((paragraph.alone, paragraph.class), (*alone, *class), "{}", paragraph.text);
    }
}

#[test]
fn an_article_among_menus_is_kept_with_its_short_paragraphs() {
    let html = format!(
        "<title>Ferry</title><ul><li><a href=/>Home</a><li><a href=/news>News</a></ul>\
         <h1>The last ferry</h1><p>{LONG}</p><p>She smiled.</p><p>{LONG}</p><p>{MIDDLE}</p>\
         <div>Follow us</div><p>© 2026 The Gazette. {LONG}</p>"
    );
    expect(
        &html,
        &JustextOptions::public(),
        &[
            (Class::Bad, Class::Bad, "Home"),
            (Class::Bad, Class::Bad, "News"),
            (Class::Short, Class::Good, "The last ferry"),
            (Class::Good, Class::Good, "When"),
            (Class::Short, Class::Good, "She smiled."),
            (Class::Good, Class::Good, "When"),
            (Class::NearGood, Class::Good, "It was"),
            (Class::Short, Class::Bad, "Follow us"),
            (Class::Bad, Class::Bad, "© 2026"),
        ],
    );
}

#[test]
fn links_and_lists_of_names_are_bad() {
    let names =
        "Aarhus Bergen Cuxhaven Dundee Esbjerg Fredericia Gdynia Hirtshals Immingham Jarlsberg Kiel Larvik Moss";
    let html = format!("<p><a href=1>{LONG}</a></p><p>{names} {names}</p><p>{LONG} <a href=2>more</a></p>");
    expect(
        &html,
        &JustextOptions::public(),
        &[(Class::Bad, Class::Bad, "When"), (Class::Bad, Class::Bad, "Aarhus"), (Class::Good, Class::Good, "When")],
    );
}

#[test]
fn a_heading_is_kept_when_text_follows_soon_enough() {
    let filler = "Skagen ".repeat(60);
    let html = format!("<h2>Near</h2><p>Short.</p><p>{LONG}</p><h2>Far</h2><p>{filler}</p><p>{LONG}</p>");
    let kept = |options: &JustextOptions| -> Vec<String> {
        let found = classify(&html, "en", options);
        found.into_iter().filter(|paragraph| paragraph.heading && paragraph.is_good()).map(|found| found.text).collect()
    };
    assert_eq!(kept(&JustextOptions::public()), ["Near"]);
    assert_eq!(kept(&JustextOptions::production()), ["Near", "Far"]);
    assert!(kept(&JustextOptions { no_headings: true, ..JustextOptions::public() }).is_empty());
}

#[test]
fn production_limits_the_distance_to_a_good_paragraph() {
    let html = format!("<p>{LONG}</p>{}<p>{LONG}</p>", "<p>Well.</p>".repeat(12));
    let good = |options| classify(&html, "en", &options).iter().filter(|paragraph| paragraph.is_good()).count();
    assert_eq!(good(JustextOptions::public()), 14);
    assert_eq!(good(JustextOptions::production()), 2);
}

#[test]
fn chinese_is_classified_by_length_alone() {
    let sentence = "渡船傍晚回来的时候，大多数等船的人都已经离开了，只有那个带着狗的女人还在那里。";
    let html = format!("<p><a href=/>首页</a></p><p>{}</p><p>{sentence}</p>", sentence.repeat(6));
    let found = classify(&html, "zh-TW", &JustextOptions::public());
    let classes: Vec<Class> = found.iter().map(|paragraph| paragraph.alone).collect();
    assert_eq!(classes, [Class::Bad, Class::Good, Class::Short]);
    assert_eq!(found[1].stop_word_density, None);
}

#[test]
fn text_in_forms_counts_and_text_in_buttons_does_not() {
    let html = format!("<form><p>{LONG}<button>Send</button></p><select><option>One</select></form>");
    expect(&html, &JustextOptions::public(), &[(Class::Good, Class::Good, "When")]);
}

#[test]
fn text_after_an_empty_script_is_kept_wherever_its_tag_ends() {
    for padding in 8100..8200 {
        let html = format!("<script data-x='{}'></script><p>{LONG}<script></script>", "x".repeat(padding));
        assert_eq!(classify(&html, "en", &JustextOptions::public()).len(), 1, "with a tag of {padding} characters");
    }
}

#[test]
fn running_time_is_linear() {
    let english = tidings_lang::stop_list("en").expect("English has a stop list");
    let middle = format!("<p>{MIDDLE}");
    for (piece, times) in [
        ("<h1>a</h1><p><br></p>", 40_000),
        ("<p>a", 90_000),
        (middle.as_str(), 20_000),
        ("<div><h1>", 20_000),
        ("a<br>", 100_000),
    ] {
        for options in [JustextOptions::public(), JustextOptions::production()] {
            let classify = |tree: &tree::Tree| drop(std::hint::black_box(paragraphs(tree, english, &options)));
            let slow = tidings_testing::superlinear(|times| tree::parse(&piece.repeat(times)), times / 8, 8, classify);
            assert_eq!(slow, None, "{piece}");
        }
    }
    for options in [JustextOptions::public(), JustextOptions::production()] {
        paragraphs(&tree::parse(""), english, &options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn arbitrary_markup_gives_clean_paragraphs(
        tags in proptest::collection::vec("</?(p|div|a|b|br|h1|select|form|table|td|script|x-h2|svg)>|[ \\n\u{a0}\u{1f}]|[a-zé©]{1,9}", 0..80)
    ) {
        let english = tidings_lang::stop_list("en").expect("English has a stop list");
        for options in [JustextOptions::public(), JustextOptions::production()] {
            for paragraph in paragraphs(&tree::parse(&tags.concat()), english, &options) {
                prop_assert!(!paragraph.text.is_empty());
                prop_assert_eq!(paragraph.text.trim(), &paragraph.text);
                prop_assert!(matches!(paragraph.class, Class::Good | Class::Bad));
            }
        }
    }
}

#[test]
fn parameters_are_parsed_by_name() {
    let own: JustextOptions = "public,length_high=140,stopwords_low=0.2,max_good_distance=5".parse().unwrap();
    let expected =
        JustextOptions { length_high: 140, stopwords_low: 0.2, max_good_distance: Some(5), ..JustextOptions::public() };
    assert_eq!(own, expected);
    for wrong in ["", "private", "public,length_low", "public,length_low=x", "public,stopwords_low=2", "public,size=1"]
    {
        assert!(wrong.parse::<JustextOptions>().is_err(), "{wrong}");
    }
}
