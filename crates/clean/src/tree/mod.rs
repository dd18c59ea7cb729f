//! A page as browsers see it: the tree of its elements and texts, in one arena.
//!
//! The tree is built by html5ever, so broken markup means here what it means in a browser. The nodes lie in
//! one vector in the order they were made and point to one another by number: a page is one
//! allocation to walk and to drop, and no walk needs the call stack, however deep the page.

mod doctype;
mod feed;
mod raw;
mod references;
mod sink;
mod strip;
mod tag;
mod tokenize;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

pub use feed::{Limits, parse, parse_with};

/// The number of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    const NONE: NodeId = NodeId(u32::MAX);

    /// The place in a table with one row per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn some(self) -> Option<NodeId> {
        (self != NodeId::NONE).then_some(self)
    }
}

/// A parsed page.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Whether a limit was met and what follows it was read without structure, or not at all.
    pub capped: bool,
}

/// An element, a text, or what is neither.
#[derive(Debug)]
pub struct Node {
    parent: NodeId,
    first_child: NodeId,
    last_child: NodeId,
    previous: NodeId,
    next: NodeId,
    depth: u32,
    /// What it is.
    pub data: Data,
}

/// What a node is.
#[derive(Debug)]
pub enum Data {
    /// The page itself, or the contents of a template.
    Document,
    /// An element with its attributes in the order of the source.
    Element(QualName, Vec<Attribute>),
    /// Characters.
    Text(StrTendril),
    /// A comment or a processing instruction, whose content nobody needs.
    Other,
}

impl Tree {
    const DOCUMENT: NodeId = NodeId(0);

    /// The document node, above `<html>`.
    pub fn root(&self) -> NodeId {
        Tree::DOCUMENT
    }

    /// The number of nodes, reachable or not; tables with one row per node have this length.
    #[allow(clippy::len_without_is_empty)] // a tree always has its document node
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of that number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node it hangs on.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent.some()
    }

    /// Its first child.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first_child.some()
    }

    /// The node after it under the same parent.
    pub fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next.some()
    }

    /// The node before it under the same parent.
    pub fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous.some()
    }

    /// Its children in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// Its parent, that one's parent, and so on up to the document.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |node| self.parent(*node))
    }

    /// Everything below it in document order, itself not included.
    pub fn descendants(&self, top: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(top), move |node| self.following(*node, top, false))
    }

    /// The next node in document order that is still below `top`; `skip` leaves out what is below `node`.
    pub fn following(&self, node: NodeId, top: NodeId, skip: bool) -> Option<NodeId> {
        if !skip && let Some(child) = self.first_child(node) {
            return Some(child);
        }
        let mut at = node;
        while at != top {
            if let Some(next) = self.next_sibling(at) {
                return Some(next);
            }
            at = self.parent(at)?;
        }
        None
    }

    /// The name of an element; foreign elements (SVG, MathML) have names too.
    pub fn name(&self, id: NodeId) -> Option<&LocalName> {
        match &self.node(id).data {
            Data::Element(name, _) => Some(&name.local),
            _ => None,
        }
    }

    /// Whether it is the HTML element of that name.
    pub fn is(&self, id: NodeId, local: &LocalName) -> bool {
        matches!(&self.node(id).data, Data::Element(name, _) if name.local == *local && name.ns == ns!(html))
    }

    /// The characters of a text node.
    pub fn as_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The attributes of an element.
    pub fn attrs(&self, id: NodeId) -> &[Attribute] {
        match &self.node(id).data {
            Data::Element(_, attrs) => attrs,
            _ => &[],
        }
    }

    /// The value of an attribute, as it was written.
    pub fn attr(&self, id: NodeId, name: &LocalName) -> Option<&str> {
        self.attrs(id).iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
    }

    /// All elements of that name in document order.
    pub fn elements<'a>(&'a self, name: &'a LocalName) -> impl Iterator<Item = NodeId> + 'a {
        self.descendants(Tree::DOCUMENT).filter(move |id| self.is(*id, name))
    }

    /// The first element of that name.
    pub fn find(&self, name: &LocalName) -> Option<NodeId> {
        self.elements(name).next()
    }

    /// `<body>`, or the document where a frameset took its place.
    pub fn body(&self) -> NodeId {
        self.find(&local_name!("body")).unwrap_or(Tree::DOCUMENT)
    }

    /// The text below a node as it stands in the source, scripts and styles left out.
    pub fn raw_text(&self, top: NodeId) -> String {
        let mut text = String::new();
        let mut at = Some(top);
        let mut first = true;
        while let Some(id) = at {
            let mut skip = false;
            match &self.node(id).data {
                Data::Text(piece) => text.push_str(piece),
                Data::Element(name, _) if !first => skip = is_code(&name.local),
                _ => {}
            }
            first = false;
            at = if id == top && skip { None } else { self.following(id, top, skip) };
        }
        text
    }

    /// The text below a node with every run of white space as one space, none at the ends; elements
    /// that break the line count as white space.
    pub fn text(&self, top: NodeId) -> String {
        let mut text = String::new();
        let mut at = Some(top);
        while let Some(id) = at {
            let mut skip = false;
            match &self.node(id).data {
                Data::Text(piece) => push_squashed(&mut text, piece),
                Data::Element(name, _) => {
                    skip = id != top && is_code(&name.local);
                    if !is_inline(&name.local) && !text.is_empty() && !text.ends_with(' ') {
                        text.push(' ');
                    }
                }
                _ => {}
            }
            at = self.following(id, top, skip);
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Appends text with white space squashed, the space before it included where there is one.
pub fn push_squashed(text: &mut String, piece: &str) {
    push_words(text, piece, String::push_str);
}

/// Appends the words of a piece of text, each by `push`, with one space for any white space between and around them.
pub fn push_words(text: &mut String, piece: &str, push: impl Fn(&mut String, &str)) {
    if piece.starts_with(is_space) && !text.is_empty() && !text.ends_with([' ', '\n']) {
        text.push(' ');
    }
    let mut first = true;
    for word in piece.split(is_space).filter(|word| !word.is_empty()) {
        if !first {
            text.push(' ');
        }
        push(text, word);
        first = false;
    }
    if !first && piece.ends_with(is_space) {
        text.push(' ');
    }
}

/// White space as HTML and readers see it: Unicode's, the no-break space included.
pub fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Elements whose text is not meant for people.
fn is_code(name: &LocalName) -> bool {
    matches!(*name, local_name!("script") | local_name!("style") | local_name!("template") | local_name!("noscript"))
}

/// Elements that stand within a line of text; all others break it.
pub fn is_inline(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("abbr")
            | local_name!("acronym")
            | local_name!("b")
            | local_name!("bdi")
            | local_name!("bdo")
            | local_name!("big")
            | local_name!("cite")
            | local_name!("code")
            | local_name!("data")
            | local_name!("del")
            | local_name!("dfn")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("img")
            | local_name!("ins")
            | local_name!("kbd")
            | local_name!("label")
            | local_name!("mark")
            | local_name!("nobr")
            | local_name!("q")
            | local_name!("rb")
            | local_name!("rp")
            | local_name!("rt")
            | local_name!("ruby")
            | local_name!("s")
            | local_name!("samp")
            | local_name!("small")
            | local_name!("span")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("sub")
            | local_name!("sup")
            | local_name!("time")
            | local_name!("tt")
            | local_name!("u")
            | local_name!("var")
            | local_name!("wbr")
    ) || name.contains('-')
}
