//! HTML parsing with resource limits.
//!
//! html5ever's tree builder takes time quadratic in the nesting depth, and reopened formatting
//! elements can multiply without bound, so depth and node count are checked after every tag. Input
//! past a limit goes to [`strip`], which extracts text in linear time without building structure.

use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use memchr::memchr_iter;

use super::Tree;
use super::sink::Sink;
use super::strip;
use super::tokenize::{BYTE_ORDER_MARK, Progress, Tokenizer, normalise_newlines};

/// Limits on structured parsing.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum nesting depth; browsers use 512 too.
    pub depth: u32,
    /// Maximum number of nodes.
    pub nodes: usize,
    /// Maximum number of bytes parsed.
    pub bytes: usize,
    /// Maximum number of bytes past a limit that are read without structure.
    pub plain_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 512, nodes: 300_000, bytes: 8 << 20, plain_bytes: 16 << 20 }
    }
}

/// Parses a page with the default limits.
pub fn parse(html: &str) -> Tree {
    parse_with(html, Limits::default())
}

/// Parses a page with the given limits.
pub fn parse_with(html: &str, limits: Limits) -> Tree {
    // Tendrils are slices of the page with 32-bit offsets.
    let most = limits.bytes.min(u32::MAX as usize / 2);
    let (parsed, beyond) = html.split_at(html.floor_char_boundary(most));
    let page = normalise_newlines(parsed);
    let mut tokenizer = Tokenizer::new(&page, !beyond.is_empty(), builder(page.len()));
    loop {
        let step = tokenizer.step();
        let sink = &tokenizer.sink.sink;
        match step {
            Progress::Ended => return tokenizer.sink.sink.into_tree(false),
            Progress::More if sink.deepest() <= limits.depth && sink.len() <= limits.nodes => {}
            Progress::More | Progress::Cut => break,
        }
    }
    let rest = &html[original_offset(parsed, tokenizer.at())..];
    let sink = tokenizer.sink.sink;
    strip::append(&sink, &rest[..rest.floor_char_boundary(limits.plain_bytes)]);
    sink.into_tree(true)
}

/// A tree builder with capacity for a page of `bytes` bytes.
pub(super) fn builder(bytes: usize) -> TreeBuilder<super::NodeId, Sink> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    TreeBuilder::new(Sink::new(bytes), options)
}

/// Maps an offset in the [normalised](normalise_newlines) page to the original page.
fn original_offset(html: &str, prepared: usize) -> usize {
    let bytes = html.as_bytes();
    let mut place = prepared + if html.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    for found in memchr_iter(b'\r', bytes) {
        if found >= place {
            break;
        }
        place += usize::from(bytes.get(found + 1) == Some(&b'\n'));
    }
    place
}
