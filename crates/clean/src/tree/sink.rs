//! The [`TreeSink`](html5ever::interface::TreeSink) that stores html5ever's tree in the arena.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name};

use super::{Data, Node, NodeId, Tree};

/// Maximum number of attributes of the root element before attributes of repeated `<html>` and
/// `<body>` tags are ignored; each addition scans all existing ones.
const MAX_ROOT_ATTRIBUTES: usize = 256;

/// The arena under construction.
#[derive(Default)]
pub(super) struct Sink {
    nodes: RefCell<Vec<Node>>,
    /// Detached roots of template contents.
    templates: RefCell<Vec<(NodeId, NodeId)>>,
    deepest: Cell<u32>,
}

/// A borrowed element name.
#[derive(Debug)]
pub(super) struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Sink {
    /// An empty arena with capacity for a page of `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Sink {
        let sink = Sink::default();
        // Pages have about one node per sixty bytes.
        sink.nodes.borrow_mut().reserve((bytes / 60).clamp(64, 100_000));
        sink.create(Data::Document);
        sink
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    pub(super) fn deepest(&self) -> u32 {
        self.deepest.get()
    }

    /// `<body>`, or the node that takes its place.
    pub(super) fn body(&self) -> NodeId {
        let nodes = self.nodes.borrow();
        let is_body = |node: &Node| matches!(&node.data, Data::Element(name, _) if name.local == local_name!("body"));
        nodes.iter().position(is_body).map_or(Tree::DOCUMENT, |index| NodeId(index as u32))
    }

    pub(super) fn create(&self, data: Data) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        let id = NodeId(nodes.len() as u32);
        let none = NodeId::NONE;
        nodes.push(Node {
            parent: none,
            first_child: none,
            last_child: none,
            previous: none,
            next: none,
            depth: 0,
            data,
        });
        id
    }

    pub(super) fn append_text(&self, parent: NodeId, text: StrTendril) {
        let last = self.nodes.borrow()[parent.index()].last_child;
        if last != NodeId::NONE
            && let Data::Text(before) = &mut self.nodes.borrow_mut()[last.index()].data
        {
            before.push_tendril(&text);
            return;
        }
        let id = self.create(Data::Text(text));
        self.link(parent, id);
    }

    /// Appends a node as the last child of another.
    pub(super) fn link(&self, parent: NodeId, child: NodeId) {
        self.unlink(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let last = nodes[parent.index()].last_child;
        let depth = nodes[parent.index()].depth + 1;
        self.deepest.set(self.deepest.get().max(depth));
        let node = &mut nodes[child.index()];
        node.parent = parent;
        node.previous = last;
        node.next = NodeId::NONE;
        node.depth = depth;
        if last == NodeId::NONE {
            nodes[parent.index()].first_child = child;
        } else {
            nodes[last.index()].next = child;
        }
        nodes[parent.index()].last_child = child;
    }

    fn link_before(&self, sibling: NodeId, child: NodeId) {
        self.unlink(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let Node { parent, previous, depth, .. } = nodes[sibling.index()];
        if parent == NodeId::NONE {
            return;
        }
        let node = &mut nodes[child.index()];
        node.parent = parent;
        node.previous = previous;
        node.next = sibling;
        node.depth = depth;
        nodes[sibling.index()].previous = child;
        if previous == NodeId::NONE {
            nodes[parent.index()].first_child = child;
        } else {
            nodes[previous.index()].next = child;
        }
    }

    /// Detaches a node from its parent.
    fn unlink(&self, id: NodeId) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Node { parent, previous, next, .. } = nodes[id.index()];
        if parent == NodeId::NONE {
            return;
        }
        match previous {
            NodeId::NONE => nodes[parent.index()].first_child = next,
            _ => nodes[previous.index()].next = next,
        }
        match next {
            NodeId::NONE => nodes[parent.index()].last_child = previous,
            _ => nodes[next.index()].previous = previous,
        }
        let node = &mut nodes[id.index()];
        (node.parent, node.previous, node.next) = (NodeId::NONE, NodeId::NONE, NodeId::NONE);
    }

    pub(super) fn into_tree(self, capped: bool) -> Tree {
        Tree { nodes: self.nodes.into_inner(), capped }
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Sink;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Sink {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Tree::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name<'a> {
        Name(Ref::map(self.nodes.borrow(), |nodes| match &nodes[target.index()].data {
            Data::Element(name, _) => name,
            _ => unreachable!("the tree builder asks for the names of elements only"),
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        // Declarative shadow roots are displayed; the contents of other templates are not.
        let shown = attrs.iter().any(|attribute| attribute.name.local == local_name!("shadowrootmode"));
        let id = self.create(Data::Element(name, attrs));
        if flags.template {
            let contents = if shown { id } else { self.create(Data::Document) };
            self.templates.borrow_mut().push((id, contents));
        }
        id
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.create(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.create(Data::Other)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(node) => self.link(*parent, node),
            NodeOrText::AppendText(text) => self.append_text(*parent, text),
        }
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        if self.nodes.borrow()[element.index()].parent == NodeId::NONE {
            self.append(previous, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let templates = self.templates.borrow();
        templates.iter().rev().find(|(template, _)| template == target).map_or(*target, |(_, contents)| *contents)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(node) => self.link_before(*sibling, node),
            NodeOrText::AppendText(text) => {
                let previous = self.nodes.borrow()[sibling.index()].previous;
                if previous != NodeId::NONE
                    && let Data::Text(before) = &mut self.nodes.borrow_mut()[previous.index()].data
                {
                    before.push_tendril(&text);
                    return;
                }
                let id = self.create(Data::Text(text));
                self.link_before(*sibling, id);
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        if let Data::Element(_, present) = &mut self.nodes.borrow_mut()[target.index()].data {
            for attribute in attrs {
                if present.len() < MAX_ROOT_ATTRIBUTES && !present.iter().any(|known| known.name == attribute.name) {
                    present.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.unlink(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        loop {
            let child = self.nodes.borrow()[node.index()].first_child;
            if child == NodeId::NONE {
                return;
            }
            self.link(*new_parent, child);
        }
    }
}
