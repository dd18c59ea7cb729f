//! Handwritten pages with the expected text.

use std::path::PathBuf;

use tidings_clean::{DropReason, HtmlInput, Options, Preset, extract};
use tidings_model::{Document, Mark, ParagraphKind};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pages").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(name: &str, options: &Options) -> Document {
    let html = fixture(&format!("{name}.html"));
    extract(
        &HtmlInput { html: &html, url: Some("https://gazette.example/2024/02/29/x"), ..HtmlInput::default() },
        options,
    )
    .unwrap()
}

fn check(name: &str) {
    assert_eq!(read(name, &Options::default()).text(), fixture(&format!("{name}.txt")).trim_end(), "{name}");
}

#[test]
fn teasers_captions_share_bars_and_comments_are_removed() {
    check("gazette");
}

#[test]
fn text_separated_by_line_breaks_in_a_layout_table_is_found() {
    let document = read("breaks", &Options::default());
    let texts: Vec<&str> = document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect();
    for line in fixture("breaks.txt").lines() {
        assert!(texts.contains(&line), "{line}");
    }
    assert!(!texts.iter().any(|text| text.contains("Startseite") || text.contains("Besucher")));
}

#[test]
fn an_article_only_in_json_ld_is_found() {
    check("state");
}

#[test]
fn code_and_tables_keep_their_structure() {
    check("guide");
    let document = read("guide", &Options { links: true, ..Options::default() });
    let kinds: Vec<ParagraphKind> = document.paragraphs.iter().map(|paragraph| paragraph.kind).collect();
    assert!(kinds.contains(&ParagraphKind::Code) && kinds.contains(&ParagraphKind::Heading { level: 2 }));
    assert!(
        kinds.contains(&ParagraphKind::Row { header: true }) && kinds.contains(&ParagraphKind::Row { header: false })
    );
    let last = document.paragraphs.last().unwrap();
    let marked: Vec<(&str, &Mark)> =
        last.spans.iter().map(|span| (&last.text[span.start..span.end], &span.mark)).collect();
    let link = Mark::Link { href: "https://example.org/trees".into() };
    assert_eq!(marked, [("trees", &link), ("much", &Mark::Strong)]);
}

#[test]
fn quotes_lists_and_emphasis_are_kept() {
    let document = read("gazette", &Options::default());
    let kind =
        |start: &str| document.paragraphs.iter().find(|paragraph| paragraph.text.starts_with(start)).unwrap().kind;
    assert_eq!(kind("A town with"), ParagraphKind::Quote);
    assert_eq!(kind("a ramp"), ParagraphKind::Item { depth: 1, ordered: false });
    let signed = document.paragraphs.iter().find(|paragraph| paragraph.text.starts_with("The contract")).unwrap();
    assert_eq!(&signed.text[signed.spans[0].start..signed.spans[0].end], "well past");
}

#[test]
fn comments_are_separate_and_optional() {
    assert!(read("gazette", &Options::default()).comments.is_empty());
    let document = read("gazette", &Options { comments: true, ..Options::default() });
    let comments: Vec<&str> = document.comments.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(
        comments,
        [
            "About time, is all that I have to say about this matter.",
            "Half the fare is still more than rowing costs me, but my arms will be grateful."
        ]
    );
}

#[test]
fn metadata_and_date_are_read() {
    let document = read("gazette", &Options::default());
    assert_eq!(document.about.title, "Ferry service to return in spring, council says");
    assert_eq!(document.about.authors, ["Maren Holt"]);
    assert_eq!(document.about.site_name, "The Harbour Gazette");
    assert_eq!(document.dated.as_ref().map(|dated| dated.day.as_str()), Some("2024-02-29"));
    assert_eq!(document.about.modified, "2024-03-01");
    assert_eq!(document.id.len(), 32);
}

#[test]
fn justext_is_a_preset() {
    let preset = Preset::Justext(tidings_clean::justext::JustextOptions::production());
    let text = read("gazette", &Options { preset, ..Options::default() }).text();
    assert!(text.contains("The contract was signed") && !text.contains("All rights reserved"));
}

#[test]
fn a_page_without_text_gives_the_reason() {
    let drop_reason =
        |html: &str, options: &Options| extract(&HtmlInput { html, ..HtmlInput::default() }, options).unwrap_err();
    assert_eq!(drop_reason("", &Options::default()), DropReason::NoText);
    assert_eq!(drop_reason("<img src=x>", &Options::default()), DropReason::NoText);
    let stub = r#"<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":"False"}</script>
        <article><p>The first sentence of an article that must be paid for, and nothing that follows it.</p></article>"#;
    assert_eq!(drop_reason(stub, &Options { stubs: false, ..Options::default() }), DropReason::PaywallStub);
}
