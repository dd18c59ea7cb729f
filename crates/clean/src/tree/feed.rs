//! Feeds a page to the parser in pieces and stops it where a page becomes an attack.
//!
//! html5ever's tree builder takes time that grows with the square of the depth, and its formatting
//! elements can multiply without end, so depth and nodes are looked at between pieces. What comes
//! after a limit is read by [`strip`], which knows no structure and takes linear time.
//!
//! Half of a news page is script. The tokenizer would walk it character by character, so once the
//! tree builder has opened a script its end is searched for directly.

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use memchr::memmem;

use super::Tree;
use super::sink::Sink;
use super::strip;

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

/// Pieces are small enough that a limit is noticed soon, and large enough not to be felt.
const PIECE: usize = 4096;
/// The size of pieces once nodes multiply faster than tags are read.
const SMALL_PIECE: usize = 256;
/// Tags longer than this are looked at.
const LONGEST_TAG: usize = 64 * 1024;
/// A tag with more attributes than this is no tag.
const MOST_ATTRIBUTES: usize = 4000;

/// Parses a page with the usual limits.
pub fn parse(html: &str) -> Tree {
    parse_with(html, Limits::default())
}

/// Parses a page.
pub fn parse_with(html: &str, limits: Limits) -> Tree {
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    let tokenizer = Tokenizer::new(TreeBuilder::new(Sink::new(html.len()), options), TokenizerOpts::default());
    let mut reader = Reader {
        html,
        at: 0,
        quiet_since: 0,
        piece: PIECE,
        look_again: LONGEST_TAG,
        tokenizer,
        queue: BufferQueue::default(),
    };
    while reader.at < html.len() {
        reader.step();
        let stuck = reader.is_stuck();
        let sink = &reader.tokenizer.sink.sink;
        if stuck
            || sink.deepest() > limits.depth
            || sink.len() > limits.nodes
            || (reader.at > limits.bytes && reader.at < html.len())
        {
            let rest = reader.at;
            let sink = reader.tokenizer.sink.sink;
            let end = html.floor_char_boundary(rest.saturating_add(limits.plain_bytes));
            strip::append(&sink, &html[rest..end]);
            return sink.into_tree(true);
        }
    }
    reader.tokenizer.end();
    reader.tokenizer.sink.sink.into_tree(false)
}

struct Reader<'a> {
    html: &'a str,
    at: usize,
    /// Where the tree last changed.
    quiet_since: usize,
    piece: usize,
    /// How long nothing has to happen before it is asked why.
    look_again: usize,
    tokenizer: Tokenizer<TreeBuilder<super::NodeId, Sink>>,
    queue: BufferQueue,
}

impl Reader<'_> {
    /// Takes the next piece, up to the end of a tag that opens a script, or the script itself.
    fn step(&mut self) {
        let rest = &self.html[self.at..];
        let sink = &self.tokenizer.sink.sink;
        // A piece can end within the end tag of an empty script, which only the tokenizer knows.
        let after_tag = self.html[..self.at].ends_with('>');
        if after_tag
            && let Some((raw, name)) = sink.opened_raw()
            && let Some(length) = raw_length(rest, name)
        {
            if length > 0 {
                sink.append_text(raw, StrTendril::from_slice(&rest[..length]));
            }
            // The end tag goes the ordinary way with what follows.
            self.at += length;
            self.quiet_since = self.at;
            self.feed(piece_end(&self.html[self.at..], self.piece));
            return;
        }
        self.feed(piece_end(rest, self.piece));
    }

    fn feed(&mut self, length: usize) {
        let (events, nodes) = (self.tokenizer.sink.sink.events(), self.tokenizer.sink.sink.len());
        self.queue.push_back(StrTendril::from_slice(&self.html[self.at..self.at + length]));
        self.at += length;
        // The tokenizer pauses at the end of scripts and at declared encodings; both only need a push.
        while !matches!(self.tokenizer.feed(&self.queue), html5ever::TokenizerResult::Done) {}
        if self.tokenizer.sink.sink.events() != events {
            self.quiet_since = self.at;
        }
        let grown = self.tokenizer.sink.sink.len() - nodes;
        self.piece = if grown > PIECE { SMALL_PIECE } else { PIECE };
    }

    /// Whether the tokenizer has been collecting attributes of one tag for too long.
    ///
    /// It compares each with all before it. A long value, such as a picture or a page's state, is no
    /// trouble, and neither is a comment. Looking costs as much as what is looked at, so it is done
    /// again only when that has doubled.
    fn is_stuck(&mut self) -> bool {
        let quiet = self.at - self.quiet_since;
        if quiet < LONGEST_TAG {
            self.look_again = LONGEST_TAG;
            return false;
        }
        if quiet < self.look_again {
            return false;
        }
        self.look_again = quiet * 2;
        let before = &self.html.as_bytes()[self.quiet_since.saturating_sub(PIECE)..self.at];
        let comment =
            memmem::rfind(before, b"<!--").is_some_and(|open| memmem::find(&before[open..], b"-->").is_none());
        !comment && unquoted_gaps(before) > MOST_ATTRIBUTES
    }
}

/// White space and slashes outside quotes in the tag that begins last in the first piece.
fn unquoted_gaps(bytes: &[u8]) -> usize {
    let start = memchr::memrchr(b'<', &bytes[..bytes.len().min(PIECE)]).unwrap_or(0);
    let mut quote = None;
    let mut gaps = 0;
    for byte in &bytes[start..] {
        match (quote, byte) {
            (Some(open), _) => quote = if open == byte { None } else { quote },
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b' ' | b'\t' | b'\n' | b'\r' | b'/') => gaps += 1,
            _ => {}
        }
    }
    gaps
}

/// The length of the next piece: it ends behind the tag where a script or a style may begin.
fn piece_end(rest: &str, piece: usize) -> usize {
    let mut end = rest.len().min(piece);
    while !rest.is_char_boundary(end) {
        end += 1;
    }
    let bytes = rest.as_bytes();
    let mut from = 0;
    while let Some(open) = memchr::memchr(b'<', &bytes[from..end]).map(|found| from + found) {
        let name = &bytes[open + 1..(open + 7).min(bytes.len())];
        if name.len() > 5
            && (name.eq_ignore_ascii_case(b"script") || name[..5].eq_ignore_ascii_case(b"style"))
            && let Some(close) = memchr::memchr(b'>', &bytes[open..bytes.len().min(open + PIECE)])
        {
            return open + close + 1;
        }
        from = open + 1;
    }
    end
}

/// The length of the text before the end tag of that name, or nothing where only the tokenizer can tell.
fn raw_length(rest: &str, name: &[u8]) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut from = 0;
    loop {
        let open = from + memmem::find(&bytes[from..], b"</")?;
        let found = &bytes[open + 2..];
        if found.len() > name.len()
            && found[..name.len()].eq_ignore_ascii_case(name)
            && matches!(found[name.len()], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
        {
            // Within "<!--", a script can hold another script's end tag.
            return memmem::find(&bytes[..open], b"<!--").is_none().then_some(open);
        }
        from = open + 2;
    }
}
