//! HTML parsing into an arena-allocated DOM.
//!
//! html5ever's tree builder constructs the tree, so broken markup is interpreted as browsers do.
//! Nodes are stored in one vector in creation order and refer to each other by index: traversal is
//! iterative, so nesting depth cannot overflow the stack, and dropping a page frees one allocation.

mod doctype;
mod parse;
mod raw;
mod references;
mod sink;
mod strip;
mod tag;
mod tokenize;

pub use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

pub use parse::{Limits, parse, parse_with};

/// Index of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    const NONE: NodeId = NodeId(u32::MAX);

    /// The index, for tables with one row per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn some(self) -> Option<NodeId> {
        (self != NodeId::NONE).then_some(self)
    }
}

/// A `<noscript>` with more nodes is the page for readers without scripts.
const MIN_PAGE_NODES: usize = 80;

/// A parsed page.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Whether a limit was hit; the input after it was read as plain paragraphs or not at all.
    pub capped: bool,
}

/// A node of the tree.
#[derive(Debug)]
pub struct Node {
    parent: NodeId,
    first_child: NodeId,
    last_child: NodeId,
    previous: NodeId,
    next: NodeId,
    depth: u32,
    /// Type and content of the node.
    pub data: Data,
}

/// Type and content of a node.
#[derive(Debug)]
pub enum Data {
    /// The document itself, or the contents of a template.
    Document,
    /// An element with its attributes in source order.
    Element(QualName, Vec<Attribute>),
    /// Characters.
    Text(StrTendril),
    /// A comment or a processing instruction; the content is dropped.
    Other,
}

impl Tree {
    const DOCUMENT: NodeId = NodeId(0);

    /// The document node, parent of `<html>`.
    pub fn root(&self) -> NodeId {
        Tree::DOCUMENT
    }

    /// Number of nodes, including detached ones; the length of tables with one row per node.
    #[allow(clippy::len_without_is_empty)] // a tree always has its document node
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node with an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The parent node.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent.some()
    }

    /// The first child.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first_child.some()
    }

    /// The next sibling.
    pub fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next.some()
    }

    /// The previous sibling.
    pub fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous.some()
    }

    /// The children in document order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// The parent, its parent and so on, up to the document.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |node| self.parent(*node))
    }

    /// All nodes below `top` in document order, without `top`.
    pub fn descendants(&self, top: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(top), move |node| self.following(*node, top, false))
    }

    /// Returns whether a `<noscript>` is the page for readers without scripts; others hold an image or a notice.
    pub fn is_noscript_page(&self, id: NodeId) -> bool {
        self.descendants(id).nth(MIN_PAGE_NODES).is_some()
    }

    /// The next node in document order below `top`; `skip` skips the subtree of `node`.
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

    /// The local name of an element, including foreign ones (SVG, MathML).
    pub fn name(&self, id: NodeId) -> Option<&LocalName> {
        match &self.node(id).data {
            Data::Element(name, _) => Some(&name.local),
            _ => None,
        }
    }

    /// Returns whether a node is the HTML element with that name.
    pub fn is(&self, id: NodeId, local: &LocalName) -> bool {
        matches!(&self.node(id).data, Data::Element(name, _) if name.local == *local && name.ns == ns!(html))
    }

    /// The text of a text node.
    pub fn as_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The attributes of an element; none for other nodes.
    pub fn attrs(&self, id: NodeId) -> &[Attribute] {
        match &self.node(id).data {
            Data::Element(_, attrs) => attrs,
            _ => &[],
        }
    }

    /// The value of an attribute.
    pub fn attr(&self, id: NodeId, name: &LocalName) -> Option<&str> {
        self.attrs(id).iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
    }

    /// All HTML elements with a name, in document order.
    pub fn elements<'a>(&'a self, name: &'a LocalName) -> impl Iterator<Item = NodeId> + 'a {
        self.descendants(Tree::DOCUMENT).filter(move |id| self.is(*id, name))
    }

    /// The first HTML element with a name.
    pub fn find(&self, name: &LocalName) -> Option<NodeId> {
        self.elements(name).next()
    }

    /// `<body>`, or the document if there is none (framesets).
    pub fn body(&self) -> NodeId {
        self.find(&local_name!("body")).unwrap_or(Tree::DOCUMENT)
    }

    /// The text below a node as written, without scripts and styles.
    pub fn raw_text(&self, top: NodeId) -> String {
        let mut text = String::new();
        let mut at = Some(top);
        let mut first = true;
        while let Some(id) = at {
            let mut skip = false;
            match &self.node(id).data {
                Data::Text(piece) => text.push_str(piece),
                Data::Element(name, _) if !first => skip = is_hidden_text(&name.local),
                _ => {}
            }
            first = false;
            at = if id == top && skip { None } else { self.following(id, top, skip) };
        }
        text
    }

    /// The text below a node with white space collapsed and trimmed. Block-level elements count as
    /// white space.
    pub fn text(&self, top: NodeId) -> String {
        let mut text = String::new();
        let mut at = Some(top);
        while let Some(id) = at {
            let mut skip = false;
            match &self.node(id).data {
                Data::Text(piece) => push_collapsed(&mut text, piece),
                Data::Element(name, _) => {
                    skip = id != top && is_hidden_text(&name.local);
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

/// Appends text with white space collapsed.
pub fn push_collapsed(text: &mut String, piece: &str) {
    push_words(text, piece, String::push_str);
}

/// Appends the words of `piece` with `push`, separated by single spaces. White space at either end
/// becomes one space.
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

/// Unicode white space, including the no-break space.
pub fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Returns whether an element's text is not shown to readers.
fn is_hidden_text(name: &LocalName) -> bool {
    matches!(*name, local_name!("script") | local_name!("style") | local_name!("template") | local_name!("noscript"))
}

/// Returns whether an element is inline; all others are block-level.
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
