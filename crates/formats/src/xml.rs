//! XML in our own small schema, described in docs/FORMATS.md.

use tidings_model::Document;

use crate::layout;
use crate::markup::{self, Vocabulary, escaped, field, one_line};

pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

const WORDS: Vocabulary = Vocabulary {
    plain: ("<p>", "</p>"),
    quote: ("<quote>", "</quote>"),
    quoted: ("<p>", "</p>"),
    code: ("<code xml:space=\"preserve\">", "</code>"),
    bullets: ("<list>", "</list>"),
    numbers: ("<list ordered=\"true\">", "</list>"),
    item: ("<item>", "</item>"),
    table: ("<table>", "</table>"),
    row: ("<row>", "</row>"),
    header_row: ("<row header=\"true\">", "</row>"),
    cell: ("<cell>", "</cell>"),
    header_cell: ("<cell>", "</cell>"),
    strong: ("<strong>", "</strong>"),
    emphasis: ("<em>", "</em>"),
    inline_code: ("<code>", "</code>"),
    link: ("<link href=\"", "\">", "</link>"),
    line_break: "<br/>",
};

pub(crate) fn item(document: &Document) -> String {
    let mut out = String::from("<document");
    let about = &document.about;
    let attributes = [
        ("id", &document.id),
        ("url", &document.url),
        ("site", &document.site),
        ("feed", &document.feed),
        ("downloaded", &document.downloaded),
        ("extractor", &document.extractor),
    ];
    for (name, value) in attributes.into_iter().filter(|row| !row.1.is_empty()) {
        out.push_str(&format!(" {name}=\"{}\"", one_line(value)));
    }
    if let Some(language) = markup::language(&about.language) {
        out.push_str(&format!(" xml:lang=\"{language}\""));
    }
    out.push_str(">\n<meta>\n");
    field("title", &about.title, &mut out);
    about.authors.iter().for_each(|name| field("author", name, &mut out));
    if let Some(dated) = &document.dated {
        let (day, source) = (one_line(&dated.day), one_line(&dated.source));
        out.push_str(&format!("<date source=\"{source}\" confidence=\"{}\">{day}</date>\n", dated.confidence));
    }
    field("modified", &about.modified, &mut out);
    field("sitename", &about.site_name, &mut out);
    field("description", &about.description, &mut out);
    about.categories.iter().for_each(|name| field("category", name, &mut out));
    about.tags.iter().for_each(|name| field("tag", name, &mut out));
    if let Some(licence) = &about.licence {
        let (name, url, evidence) = (one_line(&licence.name), one_line(&licence.url), one_line(&licence.evidence));
        out.push_str(&format!("<licence url=\"{url}\" evidence=\"{evidence}\">{name}</licence>\n"));
    }
    field("canonical", &about.canonical, &mut out);
    for (language, url) in &about.alternates {
        out.push_str(&format!("<alternate language=\"{}\">{}</alternate>\n", one_line(language), escaped(url)));
    }
    field("image", &about.image, &mut out);
    out.push_str("</meta>\n");
    section("text", &document.paragraphs, &mut out);
    if !document.comments.is_empty() {
        section("comments", &document.comments, &mut out);
    }
    out.push_str("</document>\n");
    out
}

fn section(name: &str, paragraphs: &[tidings_model::Paragraph], out: &mut String) {
    out.push_str(&format!("<{name}>\n"));
    for part in layout::parts(paragraphs) {
        markup::part(&part, &WORDS, out, |level, paragraph, out| {
            out.push_str(&format!("<heading level=\"{level}\">"));
            markup::inside(paragraph, &WORDS, out);
            out.push_str("</heading>\n");
        });
    }
    out.push_str(&format!("</{name}>\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn structure_marks_and_metadata_are_written() {
        let xml = item(&sample::article());
        for part in [
            "<document id=\"id\" url=\"http://e.org/a?b=1&amp;c=2\" site=\"e.org\"",
            "xml:lang=\"en-GB\">",
            "<title>Rain &quot;&amp;&quot; flood, &lt;again&gt;</title>\n<author>Ann</author>\n<author>Bo</author>",
            "<date source=\"meta\" confidence=\"0.5\">2026-03-01</date>",
            "<heading level=\"2\">Rain &amp; flood</heading>",
            "<p>It <strong>rained <em>*hard*</em></strong><em>,</em><br/>for <link href=\"http://e.org/x\">three</link> days.</p>",
            "<list>\n<item>One<list ordered=\"true\">\n<item>Inner</item>\n</list></item>\n<item>Two</item>\n</list>",
            "<quote><p>We carried our chairs.</p></quote>",
            "<code xml:space=\"preserve\">fn main() {\n    println!(&quot;`&quot;);\n}</code>",
            "<row header=\"true\"><cell>Day</cell><cell>Water</cell></row>",
            "<comments>\n<p>Well said.</p>\n</comments>",
        ] {
            assert!(xml.contains(part), "{part}\nis not in\n{xml}");
        }
    }
}
