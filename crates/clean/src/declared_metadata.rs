//! What a page declares about itself in machine-readable form, gathered in one walk.
//!
//! Titles, authors, dates and licences are stated in the same few places: `<meta>`, `<link>`,
//! JSON-LD. They are read once here; the modules that judge them only look things up.

use html5ever::local_name;
use serde_json::Value;

use crate::tree::{NodeId, Tree};

/// The declarations of a page.
#[derive(Debug, Default)]
pub struct DeclaredMetadata<'a> {
    /// `<meta>`: lower-case name, property, itemprop or http-equiv, and content, in document order.
    pub metas: Vec<(String, &'a str)>,
    /// `<link>` and `<a rel>` elements that say what they are for.
    pub links: Vec<Link<'a>>,
    /// The objects of JSON-LD, nested graphs flattened into one list, in document order.
    pub things: Vec<Value>,
    /// `<html lang>`.
    pub language: Option<&'a str>,
    /// The first `<title>` outside SVG.
    pub title: Option<NodeId>,
    /// Headings of the first rank.
    pub h1: Vec<NodeId>,
    /// `<time>` elements.
    pub times: Vec<NodeId>,
}

/// A link with a purpose.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The element.
    pub node: NodeId,
    /// Its `rel`, as written.
    pub rel: &'a str,
    /// Where it leads, as written.
    pub href: &'a str,
}

/// More JSON-LD than this is data, not description.
const MOST_LD_BYTES: usize = 2 << 20;
/// Objects kept of one page.
const MOST_THINGS: usize = 200;

impl<'a> DeclaredMetadata<'a> {
    /// Walks the page once.
    pub fn read(tree: &'a Tree) -> DeclaredMetadata<'a> {
        let mut declared = DeclaredMetadata::default();
        let mut budget = MOST_LD_BYTES;
        let mut at = tree.first_child(tree.root());
        while let Some(id) = at {
            let mut skip = false;
            if let Some(name) = tree.name(id) {
                match *name {
                    local_name!("html") => {
                        declared.language = declared.language.or(tree.attr(id, &local_name!("lang")))
                    }
                    local_name!("meta") => declared.take_meta(tree, id),
                    local_name!("link") | local_name!("a") => {
                        let (rel, href) = (tree.attr(id, &local_name!("rel")), tree.attr(id, &local_name!("href")));
                        if let (Some(rel), Some(href)) = (rel, href) {
                            declared.links.push(Link { node: id, rel, href });
                        }
                    }
                    local_name!("script") => {
                        let kind = tree.attr(id, &local_name!("type")).unwrap_or_default();
                        if kind.trim().to_ascii_lowercase().starts_with("application/ld+json") {
                            let text = tree.first_child(id).and_then(|child| tree.as_text(child)).unwrap_or_default();
                            if text.len() <= budget {
                                budget -= text.len();
                                declared.linked_data(text);
                            }
                        }
                        skip = true;
                    }
                    local_name!("svg") => skip = true,
                    local_name!("title") => declared.title = declared.title.or(Some(id)),
                    local_name!("h1") => declared.h1.push(id),
                    local_name!("time") => declared.times.push(id),
                    _ => {}
                }
            }
            at = tree.following(id, tree.root(), skip);
        }
        declared
    }

    /// The contents of the metas of that name, lower-case.
    pub fn meta<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        self.metas.iter().filter(move |(key, _)| key == name).map(|(_, content)| *content)
    }

    /// The objects of JSON-LD of which one `@type` satisfies the test.
    pub fn things_of<'b>(&'b self, test: impl Fn(&str) -> bool + 'b) -> impl Iterator<Item = &'b Value> + 'b {
        self.things.iter().filter(move |thing| types(thing).any(&test))
    }

    fn take_meta(&mut self, tree: &'a Tree, id: NodeId) {
        let Some(content) = tree.attr(id, &local_name!("content")) else { return };
        let names = [local_name!("property"), local_name!("name"), local_name!("itemprop"), local_name!("http-equiv")];
        for name in names.iter().filter_map(|name| tree.attr(id, name)) {
            for key in name.split_ascii_whitespace() {
                self.metas.push((key.to_ascii_lowercase(), content));
            }
        }
    }

    fn linked_data(&mut self, text: &str) {
        let Some(value) = parse_json(text) else { return };
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if self.things.len() >= MOST_THINGS {
                return;
            }
            match value {
                Value::Array(values) => waiting.extend(values.into_iter().rev()),
                Value::Object(mut object) => {
                    let graph = object.remove("@graph");
                    if !object.is_empty() {
                        self.things.push(Value::Object(object));
                    }
                    waiting.extend(graph);
                }
                _ => {}
            }
        }
    }
}

/// Whether JSON-LD speaks of an article in the wide sense.
pub fn is_article(kind: &str) -> bool {
    kind.ends_with("Article")
        || kind.ends_with("Posting")
        || matches!(kind, "Report" | "Review" | "Recipe" | "BlogPost")
}

/// The types of an object.
pub fn types(thing: &Value) -> impl Iterator<Item = &str> {
    let declared = thing.get("@type");
    let several = declared.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kinds = declared.into_iter().filter(|kind| kind.is_string()).chain(several);
    kinds.filter_map(Value::as_str).map(|kind| kind.rsplit(['/', ':', '#']).next().unwrap_or(kind))
}

/// JSON as pages write it: with comments around it, bare line breaks in strings, a comma too many.
fn parse_json(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches("<![CDATA[").trim_end_matches("]]>");
    let text = text.trim().trim_start_matches("<!--").trim_end_matches("-->").trim().trim_end_matches(';');
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    serde_json::from_str(&repair_json(text)).ok()
}

/// Escapes control characters within strings and drops commas before a closing bracket.
fn repair_json(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len() + 16);
    let (mut within, mut escaped) = (false, false);
    for c in text.chars() {
        if within {
            match c {
                '\n' | '\r' | '\t' => repaired.push(' '),
                c if c.is_control() => {}
                // JSON knows fewer escapes than JavaScript.
                c if escaped && !"\"\\/bfnrtu".contains(c) => {
                    repaired.pop();
                    repaired.push(c);
                }
                c => repaired.push(c),
            }
            within = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        if matches!(c, '}' | ']') {
            let kept = repaired.trim_end().trim_end_matches(',').len();
            if repaired[kept..].contains(',') {
                repaired.truncate(kept);
            }
        }
        within = c == '"';
        repaired.push(c);
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_line_breaks_and_a_comma_too_many_is_read() {
        let value = parse_json("<!-- {\"a\": \"one\n two\", \"b\": [1, 2,], } -->").unwrap();
        assert_eq!(value["a"], "one  two");
        assert_eq!(value["b"][1], 2);
    }

    #[test]
    fn graphs_are_flattened_and_types_lose_their_prefix() {
        let html = r#"<script type="application/ld+json">{"@context":"x","@graph":[{"@type":["schema:NewsArticle"]},{"@type":"Person"}]}</script>"#;
        let tree = crate::tree::parse(html);
        let declared = DeclaredMetadata::read(&tree);
        assert_eq!(declared.things_of(is_article).count(), 1);
        assert_eq!(declared.things.len(), 3);
    }
}
