//! TEI P5.
//!
//! The header contains the metadata and their sources; a heading starts a division that contains the following
//! paragraphs, so that `head` is where TEI expects it.

use tidings_model::{Document, Paragraph};

use crate::layout::{self, LayoutBlock};
use crate::markup::{self, Vocabulary, address, field, one_line};

const NAMESPACE: &str = "http://www.tei-c.org/ns/1.0";

/// The header of many texts in one file.
pub(crate) const CORPUS_OPENING: &str = concat!(
    "<teiCorpus xmlns=\"http://www.tei-c.org/ns/1.0\">\n<teiHeader>\n<fileDesc>\n",
    "<titleStmt><title>Documents from web pages</title></titleStmt>\n",
    "<publicationStmt><publisher>unknown</publisher></publicationStmt>\n",
    "<sourceDesc><p>Each text names its own source.</p></sourceDesc>\n",
    "</fileDesc>\n</teiHeader>\n"
);

const WORDS: Vocabulary = Vocabulary {
    plain: ("<p>", "</p>"),
    quote: ("<quote>", "</quote>"),
    quoted: ("<p>", "</p>"),
    code: ("<p><code xml:space=\"preserve\">", "</code></p>"),
    bullets: ("<list rend=\"bulleted\">", "</list>"),
    numbers: ("<list rend=\"numbered\">", "</list>"),
    item: ("<item>", "</item>"),
    table: ("<table>", "</table>"),
    row: ("<row>", "</row>"),
    header_row: ("<row role=\"label\">", "</row>"),
    cell: ("<cell>", "</cell>"),
    header_cell: ("<cell>", "</cell>"),
    strong: ("<hi rend=\"bold\">", "</hi>"),
    emphasis: ("<hi rend=\"italic\">", "</hi>"),
    inline_code: ("<code>", "</code>"),
    link: ("<ref target=\"", "\">", "</ref>"),
    line_break: "<lb/>",
};

/// A text; a single one declares the namespace.
pub(crate) fn item(document: &Document, alone: bool) -> String {
    let mut out = match alone {
        true => format!("<TEI xmlns=\"{NAMESPACE}\">\n"),
        false => "<TEI>\n".to_owned(),
    };
    header(document, &mut out);
    match markup::language(&document.about.language) {
        Some(language) => out.push_str(&format!("<text xml:lang=\"{language}\">\n<body>\n")),
        None => out.push_str("<text>\n<body>\n"),
    }
    division("text", &document.paragraphs, &mut out);
    if !document.comments.is_empty() {
        division("comments", &document.comments, &mut out);
    }
    out.push_str("</body>\n</text>\n</TEI>\n");
    out
}

fn header(document: &Document, out: &mut String) {
    let about = &document.about;
    let title = [&about.title, &document.url].map(|text| one_line(text)).into_iter().find(|text| !text.is_empty());
    let title = title.unwrap_or_else(|| "untitled".to_owned());
    let publisher =
        [&about.site_name, &document.site].map(|text| one_line(text)).into_iter().find(|text| !text.is_empty());
    let publisher = publisher.unwrap_or_else(|| "unknown".to_owned());
    let date = document.dated.as_ref().and_then(|dated| markup::day(&dated.day));
    let date = date.map(|day| format!("<date when=\"{day}\">{day}</date>\n")).unwrap_or_default();

    out.push_str(&format!("<teiHeader>\n<fileDesc>\n<titleStmt>\n<title>{title}</title>\n"));
    about.authors.iter().for_each(|name| field("author", name, out));
    out.push_str(&format!("</titleStmt>\n<publicationStmt>\n<publisher>{publisher}</publisher>\n{date}"));
    if !document.id.is_empty() {
        out.push_str(&format!("<idno type=\"tidings\">{}</idno>\n", one_line(&document.id)));
    }
    out.push_str("<availability>");
    match about.licence.as_ref().filter(|licence| !licence.name.trim().is_empty()) {
        Some(licence) if licence.url.is_empty() => {
            out.push_str(&format!("<licence>{}</licence>", one_line(&licence.name)));
        }
        Some(licence) => {
            out.push_str(&format!(
                "<licence target=\"{}\">{}</licence>",
                address(&licence.url),
                one_line(&licence.name)
            ));
        }
        None => out.push_str("<p>The page states no licence.</p>"),
    }
    out.push_str(&format!("</availability>\n</publicationStmt>\n<sourceDesc>\n<bibl>\n<title>{title}</title>\n"));
    about.authors.iter().for_each(|name| field("author", name, out));
    out.push_str(&format!("<publisher>{publisher}</publisher>\n{date}"));
    if !document.url.trim().is_empty() {
        out.push_str(&format!("<ref target=\"{}\">{}</ref>\n", address(&document.url), one_line(&document.url)));
    }
    out.push_str("</bibl>\n</sourceDesc>\n</fileDesc>\n");

    let version = env!("CARGO_PKG_VERSION");
    let label = match document.extractor.trim().is_empty() {
        true => "Tidings".to_owned(),
        false => format!("Tidings, {}", one_line(&document.extractor)),
    };
    out.push_str(&format!(
        "<encodingDesc>\n<appInfo>\n<application ident=\"tidings\" version=\"{version}\"><label>{label}</label></application>\n\
         </appInfo>\n</encodingDesc>\n"
    ));
    profile(document, out);
    out.push_str("</teiHeader>\n");
}

/// Abstract, language and keywords, if there are any.
fn profile(document: &Document, out: &mut String) {
    let about = &document.about;
    let mut profile = String::new();
    let description = one_line(&about.description);
    if !description.is_empty() {
        profile.push_str(&format!("<abstract><p>{description}</p></abstract>\n"));
    }
    if let Some(language) = markup::language(&about.language) {
        profile.push_str(&format!("<langUsage><language ident=\"{language}\">{language}</language></langUsage>\n"));
    }
    let mut terms = String::new();
    for (kind, words) in [("category", &about.categories), ("tag", &about.tags)] {
        for word in words.iter().map(|word| one_line(word)).filter(|word| !word.is_empty()) {
            terms.push_str(&format!("<term type=\"{kind}\">{word}</term>\n"));
        }
    }
    if !terms.is_empty() {
        profile.push_str(&format!("<textClass>\n<keywords>\n{terms}</keywords>\n</textClass>\n"));
    }
    if !profile.is_empty() {
        out.push_str(&format!("<profileDesc>\n{profile}</profileDesc>\n"));
    }
}

fn division(kind: &str, paragraphs: &[Paragraph], out: &mut String) {
    out.push_str(&format!("<div type=\"{kind}\">\n"));
    let parts = layout::parts(paragraphs);
    // A division must contain something besides other divisions, or be empty.
    if parts.is_empty() {
        out.push_str("<p/>\n");
    }
    let mut open: Vec<u8> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        markup::part(part, &WORDS, out, |level, paragraph, out| {
            while open.last().is_some_and(|above| *above >= level) {
                open.pop();
                out.push_str("</div>\n");
            }
            open.push(level);
            out.push_str(&format!("<div type=\"section\" n=\"{level}\">\n<head>"));
            markup::inside(paragraph, &WORDS, out);
            out.push_str("</head>\n");
            // Strict readers require more in a division than its head.
            let ends_here = match parts.get(at + 1) {
                None => true,
                Some(LayoutBlock::Heading(next, _)) => *next <= level,
                Some(_) => false,
            };
            if ends_here {
                out.push_str("<p/>\n");
            }
        });
    }
    open.iter().for_each(|_| out.push_str("</div>\n"));
    out.push_str("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use tidings_model::ParagraphKind;

    #[test]
    fn the_header_contains_the_metadata() {
        let tei = item(&sample::article(), true);
        for part in [
            "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\">\n<teiHeader>",
            "<author>Ann</author>\n<author>Bo</author>\n</titleStmt>",
            "<publisher>The &lt;E&gt;</publisher>\n<date when=\"2026-03-01\">2026-03-01</date>",
            "<licence target=\"https://creativecommons.org/licenses/by/4.0/\">CC-BY-4.0</licence>",
            "<ref target=\"http://e.org/a?b=1&amp;c=2\">",
            "<term type=\"tag\">a &amp; b</term>",
            "<text xml:lang=\"en-GB\">",
            "<div type=\"comments\">",
        ] {
            assert!(tei.contains(part), "{part}\nis not in\n{tei}");
        }
    }

    #[test]
    fn headings_open_nested_divisions() {
        let heading = |level, text: &str| Paragraph {
            kind: ParagraphKind::Heading { level },
            text: text.into(),
            ..Paragraph::default()
        };
        let paragraphs = vec![heading(2, "a"), heading(3, "b"), heading(2, "c"), heading(1, "d")];
        let tei = item(&Document { paragraphs, ..Document::default() }, false);
        let shape: String = tei
            .lines()
            .filter(|line| line.contains("div") || line.contains("head>"))
            .map(|line| match line {
                "</div>" => ")".to_owned(),
                line if line.starts_with("<div") => "(".to_owned(),
                line => line.replace("<head>", "").replace("</head>", ""),
            })
            .collect();
        assert_eq!(shape, "((a(b))(c)(d))");
    }
}
