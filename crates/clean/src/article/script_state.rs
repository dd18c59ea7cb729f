//! Article text in the state of a page that scripts draw.
//!
//! Frameworks send the article as data in a script (`__NEXT_DATA__`, `__NUXT__`, `__INITIAL_STATE__`,
//! `self.__next_f.push`), and the page itself shows little or nothing. The data are JSON, JSON within a
//! string, or calls of functions with string arguments, so the string literals are read without parsing
//! the script: each with the key before it. This is the last resort, for pages whose markup and JSON-LD
//! have no article.

use html5ever::local_name;
use memchr::memchr2;

use super::words::each_word;
use crate::tree::{NodeId, Tree};

/// Maximum number of bytes of scripts that are read.
const MAX_SCRIPT_BYTES: usize = 8 << 20;
/// Maximum number of string literals that are read.
const MAX_LITERALS: usize = 100_000;
/// Maximum number of paragraphs of an article given as a list.
const MAX_PARAGRAPHS: usize = 5_000;
/// A state with fewer words has no article.
const MIN_WORDS: f32 = 60.0;
/// Minimum number of words of a paragraph of an article given as a list.
const MIN_PARAGRAPH_WORDS: f32 = 6.0;

/// Keys of article bodies, in the order of preference.
const BODY_KEYS: &[&str] = &[
    "articlebody",
    "bodyhtml",
    "contenthtml",
    "body",
    "content",
    "rendered",
    "html",
    "maincontent",
    "articlecontent",
    "articletext",
    "storybody",
    "fulltext",
    "richtext",
    "markdown",
    "story",
    "text",
    "copy",
    "value",
];
/// Keys of single paragraphs.
const PARAGRAPH_KEYS: &[&str] =
    &["text", "value", "content", "paragraph", "html", "body", "p", "data", "children", "c", "copy", "texthtml"];

/// The article in the scripts of a page, as HTML or plain text with a paragraph per line.
pub fn article(tree: &Tree) -> Option<String> {
    let mut state = State::default();
    let mut budget = MAX_SCRIPT_BYTES;
    let mut at = tree.first_child(tree.root());
    while let Some(id) = at {
        let is_script = tree.is(id, &local_name!("script"));
        if is_script && let Some(script) = data(tree, id).filter(|script| script.len() <= budget) {
            budget -= script.len();
            state.read(script, 0);
        }
        at = tree.following(id, tree.root(), is_script);
    }
    state.best()
}

/// The text of a script that holds data: JSON, or an assignment to a state.
fn data(tree: &Tree, script: NodeId) -> Option<&str> {
    let text = tree.first_child(script).and_then(|child| tree.as_text(child))?;
    let kind = tree.attr(script, &local_name!("type")).unwrap_or_default();
    let head = &text[..text.floor_char_boundary(400)];
    let assigns =
        ["__NUXT__", "__NEXT_DATA__", "_STATE__", "__next_f", "__DATA__", "__APOLLO", "window.", "State", "state="];
    let is_data = (kind.contains("json") && !kind.contains("ld+json"))
        || (text.len() > 200 && assigns.iter().any(|name| head.contains(name)));
    is_data.then_some(text)
}

/// The texts found so far.
#[derive(Default)]
struct State {
    /// The longest body of each key.
    bodies: Vec<(usize, f32, String)>,
    /// The paragraphs of each key.
    lists: Vec<(usize, f32, Vec<String>)>,
    literals: usize,
}

impl State {
    /// Reads the string literals of a script.
    fn read(&mut self, script: &str, depth: usize) {
        let bytes = script.as_bytes();
        let (mut at, mut key) = (0, String::new());
        while let Some(open) = memchr2(b'"', b'\'', &bytes[at..]).map(|offset| at + offset) {
            let Some(end) = literal_end(bytes, open) else { return };
            self.literals += 1;
            if self.literals > MAX_LITERALS {
                return;
            }
            let raw = &script[open + 1..end];
            at = end + 1;
            let after = bytes[at..].iter().take(8).find(|byte| !byte.is_ascii_whitespace());
            if after == Some(&b':') {
                key = raw.to_ascii_lowercase();
            } else if raw.len() >= 24 {
                let text = unescape(raw);
                // Data may be a string of JSON within the script.
                if depth < 2 && text.len() > 200 && text.contains("\":") {
                    self.read(&text, depth + 1);
                } else {
                    self.add(&key, text);
                }
            }
        }
    }

    fn add(&mut self, key: &str, text: String) {
        let (words, is_prose) = weigh(&text);
        if !is_prose {
            return;
        }
        if let Some(rank) = BODY_KEYS.iter().position(|known| *known == key).filter(|_| words >= MIN_WORDS) {
            match self.bodies.iter_mut().find(|(known, ..)| *known == rank) {
                Some(body) if body.1 < words => *body = (rank, words, text),
                Some(_) => {}
                None => self.bodies.push((rank, words, text)),
            }
        } else if let Some(rank) = PARAGRAPH_KEYS.iter().position(|known| *known == key)
            && words >= MIN_PARAGRAPH_WORDS
        {
            if !self.lists.iter().any(|(known, ..)| *known == rank) {
                self.lists.push((rank, 0.0, Vec::new()));
            }
            let list = self.lists.iter_mut().find(|(known, ..)| *known == rank).expect("the list was added above");
            if list.2.len() < MAX_PARAGRAPHS && !list.2.contains(&text) {
                list.1 += words;
                list.2.push(text);
            }
        }
    }

    /// The longest body; of equally long ones that under the better key. A list must be longer than any body.
    fn best(self) -> Option<String> {
        let body = self.bodies.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let list = self.lists.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|list| list.1 >= MIN_WORDS);
        match (body, list) {
            (Some(body), Some(list)) if list.1 > 1.5 * body.1 => Some(paragraphs(&list.2)),
            (Some(body), _) => Some(body.2),
            (None, list) => list.map(|list| paragraphs(&list.2)),
        }
    }
}

/// Paragraphs as HTML.
fn paragraphs(list: &[String]) -> String {
    list.iter().map(|text| format!("<p>{text}</p>")).collect()
}

/// The offset of the quotation mark that closes the literal that opens at `open`.
fn literal_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mark = bytes[open];
    let mut at = open + 1;
    loop {
        let found = at + memchr2(mark, b'\\', bytes.get(at..)?)?;
        if bytes[found] == mark {
            return Some(found);
        }
        at = found + 2;
    }
}

/// Decodes the escapes of a string literal of JavaScript.
fn unescape(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    let mut pending: Option<u16> = None;
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 'r') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let Ok(unit) = u16::from_str_radix(&digits, 16) else { continue };
                let units: Vec<u16> = pending.take().into_iter().chain([unit]).collect();
                match char::decode_utf16(units.iter().copied()).next() {
                    Some(Ok(c)) => text.push(c),
                    _ => pending = Some(unit),
                }
            }
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some('b' | 'f') | None => {}
            Some(other) => text.push(other),
        }
    }
    text
}

/// The number of words of a text, and whether it is prose rather than code, an address or a list of classes.
fn weigh(text: &str) -> (f32, bool) {
    let mut words = 0.0;
    each_word(text, |_, _, weight| words += weight);
    let (mut letters, mut code, mut ends) = (0usize, 0usize, 0usize);
    for c in text.chars() {
        letters += usize::from(c.is_alphabetic());
        code += usize::from(matches!(c, '{' | '}' | '=' | ';' | '_' | '$' | '#' | '\\' | '|'));
        ends += usize::from(matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '।' | '۔' | '؟'));
    }
    let is_markup = text.contains("<p") || text.contains("<br") || text.contains("<div");
    let is_prose = ends > 0 && letters * 2 > text.chars().count() && (is_markup || code * 25 < letters);
    (words, is_prose && words >= MIN_PARAGRAPH_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str = "It rained for three days, and on the fourth the river came into the town.";

    fn found(html: &str) -> String {
        article(&crate::tree::parse(html)).unwrap_or_default()
    }

    #[test]
    fn the_body_in_the_state_of_a_framework_is_found() {
        let body = format!("<p>{SENTENCE}</p>").repeat(6);
        let json = serde_json::json!({ "props": { "page": { "title": "Rain", "body": body } } }).to_string();
        for script in [
            format!("<script id=__NEXT_DATA__ type='application/json'>{json}</script>"),
            format!("<script>window.__INITIAL_STATE__ = {json};</script>"),
            format!("<script>window.__NUXT__=(function(a){{return {json}}}(1))</script>"),
            format!("<script>window.__DATA__ = JSON.parse({})</script>", serde_json::json!(json)),
            format!("<script>self.__next_f.push([1,{}])</script>", serde_json::json!(format!("5:{json}\n"))),
        ] {
            assert_eq!(found(&script), body, "{script}");
        }
    }

    #[test]
    fn paragraphs_in_a_list_are_joined() {
        let list: Vec<serde_json::Value> =
            (0..8).map(|at| serde_json::json!({ "text": format!("{at}: {SENTENCE}") })).collect();
        let script = format!("<script type='application/json'>{}</script>", serde_json::json!({ "blocks": list }));
        assert_eq!(found(&script).matches("<p>").count(), 8);
    }

    #[test]
    fn code_and_short_data_are_not_articles() {
        assert_eq!(found("<script>window.State = {\"text\":\"A short note. No more than this one.\"}</script>"), "");
        let code = "function a(b){return b.c?d:e;} var x_1 = {}; ".repeat(40);
        assert_eq!(found(&format!("<script>window.__DATA__ = {{\"body\":\"{code}\"}}</script>")), "");
        assert_eq!(found("<script>window.State = \"unclosed</script>"), "");
        assert_eq!(unescape(r"a\u00e4\ud83d\ude00\x41\"), "aä😀A");
    }
}
