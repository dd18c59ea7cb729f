//! A writer of XML: elements are closed in the order in which they were opened, and every text is escaped.

use std::fmt::Write as _;

use crate::rss::escaped;

/// A document that is being written.
#[derive(Debug)]
pub(crate) struct Xml {
    text: String,
    open: Vec<&'static str>,
}

impl Xml {
    /// A document with its declaration.
    pub fn new() -> Xml {
        Xml { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), open: Vec::new() }
    }

    fn tag(&mut self, name: &'static str, attributes: &[(&str, &str)]) {
        let _ = write!(self.text, "<{name}");
        for (attribute, value) in attributes {
            let _ = write!(self.text, " {attribute}=\"{}\"", escaped(value));
        }
    }

    /// Opens an element.
    pub fn open(&mut self, name: &'static str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = write!(self.text, "</{name}>");
        }
    }

    /// Text in the open element.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(&escaped(text));
    }

    /// An element with a text.
    pub fn leaf(&mut self, name: &'static str, attributes: &[(&str, &str)], text: &str) {
        self.open(name, attributes);
        self.text(text);
        self.close();
    }

    /// An element without content.
    pub fn empty(&mut self, name: &'static str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.text.push_str("/>");
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text.push('\n');
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_closed_and_every_text_escaped() {
        let mut xml = Xml::new();
        xml.open("a", &[("b", "\"<1\u{0}")]);
        xml.leaf("c", &[], "x & <y>");
        xml.empty("d", &[("e", "'")]);
        xml.open("f", &[]);
        xml.text("]]>");
        let text = xml.finish();
        assert!(
            text.ends_with("<a b=\"&quot;&lt;1\"><c>x &amp; &lt;y&gt;</c><d e=\"'\"/><f>]]&gt;</f></a>\n"),
            "{text}"
        );
    }
}
