//! Helpers for HTML and XML: escaping and date formats.

use jiff::Timestamp;

/// Appends text escaped for elements and quoted attributes.
pub fn push_escaped(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
}

/// The text, escaped.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_escaped(&mut out, text);
    out
}

/// A date for HTTP and RSS: `Sun, 01 Mar 2026 12:00:00 GMT`.
pub fn http_date(date: Timestamp) -> String {
    date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// A date for Atom, RSS 1.0, JSON Feed and pages, in UTC or UTC+1.
pub fn iso_date(date: Timestamp, east: bool) -> String {
    if east {
        let shifted = Timestamp::from_second(date.as_second() + 3600).unwrap_or(date);
        return shifted.strftime("%Y-%m-%dT%H:%M:%S+01:00").to_string();
    }
    date.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Removes the tags from HTML and splits it at the ends of block elements: enough for archive bodies.
pub fn plain_paragraphs(html: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push_unescaped(&mut text, &rest[..at]);
        let (tag, after) = rest[at + 1..].split_once('>').unwrap_or((&rest[at + 1..], ""));
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        let is_block = matches!(
            name,
            "p" | "div"
                | "li"
                | "ul"
                | "ol"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "blockquote"
                | "pre"
                | "table"
                | "tr"
                | "figure"
                | "figcaption"
                | "section"
                | "dl"
                | "dt"
                | "dd"
                | "hr"
        );
        if is_block {
            close_paragraph(&mut paragraphs, &mut text);
        } else if matches!(name, "br" | "td" | "th") {
            text.push(' ');
        }
        rest = after;
    }
    push_unescaped(&mut text, rest);
    close_paragraph(&mut paragraphs, &mut text);
    paragraphs
}

fn close_paragraph(paragraphs: &mut Vec<String>, text: &mut String) {
    let words: Vec<&str> = text.split_whitespace().collect();
    if !words.is_empty() {
        paragraphs.push(words.join(" "));
    }
    text.clear();
}

fn push_unescaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let known = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\''), ("&nbsp;", ' ')];
        let hit = known.iter().find(|(entity, _)| rest[at..].starts_with(entity));
        let (letter, length) = hit.map_or(('&', 1), |(entity, letter)| (*letter, entity.len()));
        out.push(letter);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_form_of_their_formats() {
        let date = Timestamp::constant(1_772_366_400, 0);
        assert_eq!(http_date(date), "Sun, 01 Mar 2026 12:00:00 GMT");
        assert_eq!(iso_date(date, false), "2026-03-01T12:00:00Z");
        assert_eq!(iso_date(date, true), "2026-03-01T13:00:00+01:00");
    }

    #[test]
    fn html_is_split_into_paragraphs() {
        let html = "<p>One &amp; <b>two</b>\nthree</p><ul><li>four<br>five</li></ul>six";
        assert_eq!(plain_paragraphs(html), ["One & two three", "four five", "six"]);
    }
}
