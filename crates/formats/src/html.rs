//! An HTML page that contains only the article.

use tidings_model::{Document, Paragraph, ParagraphKind};

use crate::layout;
use crate::markup::{self, Vocabulary, address, one_line};

pub(crate) const CLOSING: &str = "</body>\n</html>\n";

const STYLE: &str = "body{max-width:42em;margin:2em auto;padding:0 1em;font:1.05em/1.5 serif}\
    article+article{border-top:1px solid;margin-top:3em}td,th{padding:.2em .6em;text-align:left;vertical-align:top}\
    pre{overflow:auto}.meta{font-size:.85em;opacity:.75}";

const WORDS: Vocabulary = Vocabulary {
    plain: ("<p>", "</p>"),
    quote: ("<blockquote>", "</blockquote>"),
    quoted: ("<p>", "</p>"),
    code: ("<pre><code>", "</code></pre>"),
    bullets: ("<ul>", "</ul>"),
    numbers: ("<ol>", "</ol>"),
    item: ("<li>", "</li>"),
    table: ("<table>", "</table>"),
    row: ("<tr>", "</tr>"),
    header_row: ("<tr>", "</tr>"),
    cell: ("<td>", "</td>"),
    header_cell: ("<th>", "</th>"),
    strong: ("<strong>", "</strong>"),
    emphasis: ("<em>", "</em>"),
    inline_code: ("<code>", "</code>"),
    link: ("<a href=\"", "\">", "</a>"),
    line_break: "<br>\n",
};

/// The beginning of a page.
pub(crate) fn opening(language: &str, title: &str) -> String {
    let language = markup::language(language).map(|tag| format!(" lang=\"{tag}\"")).unwrap_or_default();
    let title = one_line(title);
    format!(
        "<!DOCTYPE html>\n<html{language}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n"
    )
}

/// A page of its own.
pub(crate) fn page(document: &Document) -> String {
    let title = if document.about.title.is_empty() { &document.url } else { &document.about.title };
    format!("{}{}{CLOSING}", opening(&document.about.language, title), item(document))
}

pub(crate) fn item(document: &Document) -> String {
    let about = &document.about;
    let mut out = match markup::language(&about.language) {
        Some(language) => format!("<article lang=\"{language}\">\n"),
        None => "<article>\n".to_owned(),
    };
    let title = about.title.trim();
    if !title.is_empty() && !has_heading(&document.paragraphs, title) {
        out.push_str(&format!("<h1>{}</h1>\n", one_line(title)));
    }
    let mut facts: Vec<String> = about.authors.iter().map(|name| one_line(name)).collect();
    if let Some(dated) = &document.dated {
        facts.push(match markup::day(&dated.day) {
            Some(day) => format!("<time datetime=\"{day}\">{day}</time>"),
            None => one_line(&dated.day),
        });
    }
    let source = if about.site_name.is_empty() { &document.url } else { &about.site_name };
    if markup::is_harmless(&document.url) {
        facts.push(format!("<a href=\"{}\">{}</a>", address(&document.url), one_line(source)));
    }
    facts.retain(|fact| !fact.is_empty());
    if !facts.is_empty() {
        out.push_str(&format!("<p class=\"meta\">{}</p>\n", facts.join(" · ")));
    }
    section(&document.paragraphs, &mut out);
    if !document.comments.is_empty() {
        out.push_str("<section>\n");
        section(&document.comments, &mut out);
        out.push_str("</section>\n");
    }
    out.push_str("</article>\n");
    out
}

fn section(paragraphs: &[Paragraph], out: &mut String) {
    for part in layout::parts(paragraphs) {
        markup::part(&part, &WORDS, out, |level, paragraph, out| {
            out.push_str(&format!("<h{level}>"));
            markup::inside(paragraph, &WORDS, out);
            out.push_str(&format!("</h{level}>\n"));
        });
    }
}

/// True if the text starts with its title.
pub(crate) fn has_heading(paragraphs: &[Paragraph], title: &str) -> bool {
    let is_title = |paragraph: &Paragraph| {
        matches!(paragraph.kind, ParagraphKind::Heading { .. })
            && paragraph.text.split_whitespace().eq(title.split_whitespace())
    };
    paragraphs.iter().any(is_title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use tidings_model::{Mark, Span};

    #[test]
    fn a_page_is_self_contained_and_names_its_source() {
        let html = page(&sample::article());
        for part in [
            "<html lang=\"en-GB\">",
            "<h1>Rain &quot;&amp;&quot; flood, &lt;again&gt;</h1>",
            "Ann · Bo · <time datetime=\"2026-03-01\">2026-03-01</time> · <a href=\"http://e.org/a?b=1&amp;c=2\">The &lt;E&gt;</a>",
            "<tr><th>Day</th><th>Water</th></tr>",
            "<ul>\n<li>One<ol>\n<li>Inner</li>\n</ol></li>",
        ] {
            assert!(html.contains(part), "{part}\nis not in\n{html}");
        }
    }

    #[test]
    fn a_link_cannot_run_code() {
        let spans = vec![Span { start: 0, end: 1, mark: Mark::Link { href: "javascript:alert(1)".into() } }];
        let paragraphs = vec![Paragraph { text: "x".into(), spans, ..Paragraph::default() }];
        let html = item(&Document { url: "javascript:alert(2)".into(), paragraphs, ..Document::default() });
        assert!(!html.contains("alert"), "{html}");
    }
}
