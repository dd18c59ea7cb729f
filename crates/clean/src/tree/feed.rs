//! Parses a page, and stops where a page becomes an attack.
//!
//! html5ever's tree builder takes time that grows with the square of the depth, and its formatting
//! elements can multiply without end, so depth and nodes are looked at after every tag. What comes
//! after a limit is read by [`strip`], which knows no structure and takes linear time.

use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use memchr::memchr_iter;

use super::Tree;
use super::sink::Sink;
use super::strip;
use super::tokenize::{MARK, Step, Tokenizer, prepare};

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
    loop {
        let step = tokenizer.step();
        let sink = &tokenizer.sink.sink;
        match step {
            Step::Ended => return tokenizer.sink.sink.into_tree(false),
            Step::More if sink.deepest() <= limits.depth && sink.len() <= limits.nodes => {}
            Step::More | Step::Cut => break,
        }
    }
    let rest = &html[place_before(here, tokenizer.at())..];
    let sink = tokenizer.sink.sink;
    strip::append(&sink, &rest[..rest.floor_char_boundary(limits.plain_bytes)]);
    sink.into_tree(true)
}

/// The tree builder for a page of so many bytes.
pub(super) fn builder(bytes: usize) -> TreeBuilder<super::NodeId, Sink> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    TreeBuilder::new(Sink::new(bytes), options)
}

/// The place in a page as it came of a place in the page as it was [prepared](prepare).
fn place_before(html: &str, prepared: usize) -> usize {
    let bytes = html.as_bytes();
    let mut place = prepared + if html.starts_with(MARK) { MARK.len_utf8() } else { 0 };
    for found in memchr_iter(b'\r', bytes) {
        if found >= place {
            break;
        }
        place += usize::from(bytes.get(found + 1) == Some(&b'\n'));
    }
    place
}
