//! Parses a page, and stops where a page becomes an attack.
//!
//! html5ever's tree builder takes time that grows with the square of the depth, and its formatting
//! elements can multiply without end, so depth and nodes are looked at after every tag. What comes
//! after a limit is read by [`strip`], which knows no structure and takes linear time.

use std::borrow::Cow;

use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::Tree;
use super::sink::Sink;
use super::strip;
use super::tokenize::{Step, Tokenizer, prepare};

/// Where reading with structure ends.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The deepest nesting, which is also where browsers stop.
    pub depth: u32,
    /// The number of nodes.
    pub nodes: usize,
    /// The bytes that are parsed.
    pub bytes: usize,
    /// The bytes behind a limit that are still read, without structure.
    pub plain_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 512, nodes: 300_000, bytes: 8 << 20, plain_bytes: 16 << 20 }
    }
}

/// Parses a page with the usual limits.
pub fn parse(html: &str) -> Tree {
    parse_with(html, Limits::default())
}

/// Parses a page.
pub fn parse_with(html: &str, limits: Limits) -> Tree {
    // Texts are parts of the page and know their places in four bytes.
    let most = limits.bytes.min(u32::MAX as usize / 2);
    let (here, beyond) = html.split_at(html.floor_char_boundary(most));
    let page = prepare(here);
    let mut tokenizer = Tokenizer::new(&page, !beyond.is_empty(), builder(page.len()));
    while tokenizer.step() == Step::More {
        let sink = &tokenizer.sink.sink;
        if sink.deepest() > limits.depth || sink.len() > limits.nodes {
            break;
        }
    }
    if tokenizer.has_ended() {
        return tokenizer.sink.sink.into_tree(false);
    }
    let rest = plain_rest(&page[tokenizer.at()..], beyond, limits.plain_bytes);
    let sink = tokenizer.sink.sink;
    strip::append(&sink, &rest);
    sink.into_tree(true)
}

/// The tree builder for a page of so many bytes.
pub(super) fn builder(bytes: usize) -> TreeBuilder<super::NodeId, Sink> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    TreeBuilder::new(Sink::new(bytes), options)
}

/// What is read without structure: the rest of the bytes here and those beyond them, up to a limit.
fn plain_rest<'a>(here: &'a str, beyond: &str, most: usize) -> Cow<'a, str> {
    let here = &here[..here.floor_char_boundary(most)];
    let beyond = &beyond[..beyond.floor_char_boundary(most - here.len())];
    if beyond.is_empty() { Cow::Borrowed(here) } else { Cow::Owned([here, beyond].concat()) }
}
