//! The HTML handling that feeds need: detection and visible text.

use tidings_model::Repair;

use crate::entity::{self, Declared, Reference};
use crate::markup::{Token, Tokens};
use crate::repairs::Repairs;

/// The visible text of an HTML fragment with white space collapsed.
pub fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    if !html.contains(['<', '&']) {
        push_collapsed(html, &mut out);
        return finish(out);
    }
    let (nothing, mut ignored) = (Declared::default(), Repairs::default());
    let mut tokens = Tokens::of_fragment(html);
    let mut hidden: Option<&str> = None;
    while let Some(token) = tokens.next("") {
        match token {
            Token::Start { name, empty, .. } => {
                if hidden.is_none() && !empty && is_hidden(name) {
                    hidden = Some(name);
                }
                if !is_inline(name) {
                    push_space(&mut out);
                }
            }
            Token::End { name } => {
                if hidden.is_some_and(|h| h.eq_ignore_ascii_case(name)) {
                    hidden = None;
                } else if !is_inline(name) {
                    push_space(&mut out);
                }
            }
            Token::Text(text) if hidden.is_none() => {
                push_collapsed(&entity::unescape(text, &nothing, &mut ignored), &mut out);
            }
            Token::Cdata(text) if hidden.is_none() => push_collapsed(text, &mut out),
            _ => {}
        }
    }
    finish(out)
}

/// Collapses white space.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_collapsed(text, &mut out);
    finish(out)
}

fn finish(mut out: String) -> String {
    if out.ends_with(' ') {
        out.pop();
    }
    out.shrink_to_fit();
    out
}

fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

fn push_collapsed(text: &str, out: &mut String) {
    if text.starts_with(char::is_whitespace) {
        push_space(out);
    }
    let mut first = true;
    for word in text.split_whitespace() {
        if !first {
            out.push(' ');
        }
        out.push_str(word);
        first = false;
    }
    if !first && text.ends_with(char::is_whitespace) {
        out.push(' ');
    }
}

/// Appends text escaped for HTML.
pub(crate) fn escape_into(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

/// Guesses whether text of undeclared type is HTML, as RSS requires.
///
/// It is HTML if it closes a tag or has a reference, and has no unknown tags or references. "AT&amp;T" is HTML; "x < y"
/// and "the <foo> element" are not.
pub(crate) fn looks_like_html(text: &str) -> bool {
    if !text.contains(['<', '&']) {
        return false;
    }
    let mut evidence = false;
    let mut tokens = Tokens::of_fragment(text);
    while let Some(token) = tokens.next("") {
        match token {
            Token::Start { name, .. } if !is_element(name) => return false,
            Token::End { name } if !is_element(name) => return false,
            Token::End { .. } => evidence = true,
            Token::Text(text) => {
                for at in memchr::memchr_iter(b'&', text.as_bytes()) {
                    match entity::reference(&text[at..]) {
                        Reference::Char { exact: true, .. } => evidence = true,
                        Reference::Named { .. } => return false,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    evidence
}

/// Undoes double encoding: text whose characters form valid UTF-8 bytes.
pub(crate) fn undo_double_encoding(text: &str, repairs: &mut Repairs) -> Option<String> {
    if text.is_ascii() || text.chars().any(|c| c as u32 > 0xff) {
        return None;
    }
    let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let once = String::from_utf8(bytes).ok()?;
    repairs.add(Repair::Mislabelled);
    Some(once)
}

fn is_hidden(name: &str) -> bool {
    ["script", "style", "template", "head"].iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
}

/// Returns true for elements that do not separate words.
fn is_inline(name: &str) -> bool {
    const INLINE: &str = " a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark nobr q rb rp
        s samp small span strike strong sub sup tt u var wbr ";
    contains(INLINE, name)
}

/// Returns true for names of HTML elements.
pub(crate) fn is_element(name: &str) -> bool {
    const ELEMENTS: &str = " a abbr acronym address applet area article aside audio b base basefont bdi bdo
        big blockquote body br button canvas caption center cite code col colgroup command data datalist dd
        del details dfn dialog dir div dl dt em embed event-source fieldset figcaption figure font footer form
        frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link m
        main map mark menu meta meter multicol nav nextid nobr noscript object ol optgroup option output p
        param picture pre progress q rp rt ruby s samp script section select small sound source spacer span
        strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr
        track tt u ul var video wbr ";
    contains(ELEMENTS, name)
}

/// Searches a word in a list separated by white space, ignoring case.
fn contains(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_text_excludes_tags_and_scripts() {
        assert_eq!(
            to_text("<p>One&nbsp;<b>tw</b>o</p>\n<script>x<y</script><p>three &amp; four<br>five</p>"),
            "One two three & four five"
        );
    }

    #[test]
    fn less_than_signs_are_kept_in_text() {
        assert_eq!(to_text("a < b &lt; c"), "a < b < c");
    }

    #[test]
    fn text_with_unknown_tags_is_not_html() {
        for html in ["AT&amp;T", "<b>x</b>", "a <br> &eacute;", "x &#8217;"] {
            assert!(looks_like_html(html), "{html}");
        }
        for text in ["x < y", "the <foo> element </foo>", "Q&A", "&unheard; </b>", "plain"] {
            assert!(!looks_like_html(text), "{text}");
        }
    }

    #[test]
    fn double_encoding_is_undone() {
        let mut repairs = Repairs::default();
        assert_eq!(undo_double_encoding("KÃ¤se", &mut repairs).as_deref(), Some("Käse"));
        assert_eq!(undo_double_encoding("Käse", &mut repairs), None);
    }
}
