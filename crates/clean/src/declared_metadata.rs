//! Machine-readable declarations of a page, collected in one pass.
//!
//! Titles, authors, dates and licences are all declared in `<meta>`, `<link>` and JSON-LD. The
//! modules that evaluate them look them up here.

use html5ever::local_name;
use serde_json::Value;

use crate::tree::{NodeId, Tree};

/// The declarations of a page.
#[derive(Debug, Default)]
pub struct DeclaredMetadata<'a> {
    /// `<meta>` elements in document order: lower-case name, property, itemprop or http-equiv, and
    /// content.
    pub metas: Vec<(String, &'a str)>,
    /// `<link>` and `<a>` elements with a `rel` attribute.
    pub links: Vec<Link<'a>>,
    /// JSON-LD objects in document order, with nested graphs flattened.
    pub objects: Vec<Value>,
    /// `<html lang>`.
    pub language: Option<&'a str>,
    /// The first `<title>` outside SVG.
    pub title: Option<NodeId>,
    /// `<h1>` elements.
    pub h1: Vec<NodeId>,
    /// `<time>` elements.
    pub times: Vec<NodeId>,
}

/// A link with a `rel` attribute.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The element.
    pub node: NodeId,
    /// The `rel` attribute as written.
    pub rel: &'a str,
    /// The target as written.
    pub href: &'a str,
}

/// Maximum size of JSON-LD; more is data, not metadata.
const MAX_LD_BYTES: usize = 2 << 20;
/// Maximum number of JSON-LD objects.
const MAX_OBJECTS: usize = 200;

impl<'a> DeclaredMetadata<'a> {
    /// Collects the declarations of a page.
    pub fn read(tree: &'a Tree) -> DeclaredMetadata<'a> {
        let mut declared = DeclaredMetadata::default();
        let mut budget = MAX_LD_BYTES;
        let mut at = tree.first_child(tree.root());
        while let Some(id) = at {
            let mut skip = false;
            if let Some(name) = tree.name(id) {
                match *name {
                    local_name!("html") => {
                        declared.language = declared.language.or(tree.attr(id, &local_name!("lang")))
                    }
                    local_name!("meta") => declared.add_meta(tree, id),
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
                                declared.add_json_ld(text);
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

    /// The contents of the `<meta>` elements with a lower-case name.
    pub fn meta<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        self.metas.iter().filter(move |(key, _)| key == name).map(|(_, content)| *content)
    }

    /// The JSON-LD objects with an `@type` that satisfies the test.
    pub fn objects_of<'b>(&'b self, test: impl Fn(&str) -> bool + 'b) -> impl Iterator<Item = &'b Value> + 'b {
        self.objects.iter().filter(move |object| types(object).any(&test))
    }

    fn add_meta(&mut self, tree: &'a Tree, id: NodeId) {
        let Some(content) = tree.attr(id, &local_name!("content")) else { return };
        let names = [local_name!("property"), local_name!("name"), local_name!("itemprop"), local_name!("http-equiv")];
        for name in names.iter().filter_map(|name| tree.attr(id, name)) {
            for key in name.split_ascii_whitespace() {
                self.metas.push((key.to_ascii_lowercase(), content));
            }
        }
    }

    fn add_json_ld(&mut self, text: &str) {
        let Some(value) = parse_json(text) else { return };
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if self.objects.len() >= MAX_OBJECTS {
                return;
            }
            match value {
                Value::Array(values) => pending.extend(values.into_iter().rev()),
                Value::Object(mut object) => {
                    let graph = object.remove("@graph");
                    if !object.is_empty() {
                        self.objects.push(Value::Object(object));
                    }
                    pending.extend(graph);
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a JSON-LD type is a kind of article.
pub fn is_article(kind: &str) -> bool {
    kind.ends_with("Article")
        || kind.ends_with("Posting")
        || matches!(kind, "Report" | "Review" | "Recipe" | "BlogPost")
}

/// The types of a JSON-LD object, without prefixes.
pub fn types(object: &Value) -> impl Iterator<Item = &str> {
    let declared = object.get("@type");
    let several = declared.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kinds = declared.into_iter().filter(|kind| kind.is_string()).chain(several);
    kinds.filter_map(Value::as_str).map(|kind| kind.rsplit(['/', ':', '#']).next().unwrap_or(kind))
}

/// Parses JSON as found on pages: inside comments, with raw line breaks in strings and trailing
/// commas.
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
                // JSON has fewer escapes than JavaScript.
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
    fn json_with_raw_line_breaks_and_trailing_commas_is_parsed() {
        let value = parse_json("<!-- {\"a\": \"one\n two\", \"b\": [1, 2,], } -->").unwrap();
        assert_eq!(value["a"], "one  two");
        assert_eq!(value["b"][1], 2);
    }

    #[test]
    fn graphs_are_flattened_and_types_lose_their_prefix() {
        let html = r#"<script type="application/ld+json">{"@context":"x","@graph":[{"@type":["schema:NewsArticle"]},{"@type":"Person"}]}</script>"#;
        let tree = crate::tree::parse(html);
        let declared = DeclaredMetadata::read(&tree);
        assert_eq!(declared.objects_of(is_article).count(), 1);
        assert_eq!(declared.objects.len(), 3);
    }
}
