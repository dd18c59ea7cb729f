//! Segments a page into text blocks.
//!
//! A block is what a reader sees as one paragraph, heading, list item or table cell. It ends at a
//! block-level element boundary and at two consecutive line breaks, the paragraph separator of
//! pages without `<p>`. The classifier decides per block.

use html5ever::{LocalName, local_name};

use crate::tree::{Data, NodeId, Tree, is_inline, is_space};

/// The blocks of a page in document order, with their shared text buffer.
#[derive(Debug)]
pub struct Blocks {
    /// The concatenated text of all blocks.
    pub text: String,
    /// The text nodes the blocks consist of.
    pub pieces: Vec<TextPiece>,
    /// The blocks, in document order.
    pub list: Vec<Block>,
}

/// A paragraph-like unit of text.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The innermost block-level element around it.
    pub element: Option<NodeId>,
    /// Start of its text, in bytes of [`Blocks::text`].
    pub start: usize,
    /// End of its text.
    pub end: usize,
    /// Index of its first piece in [`Blocks::pieces`].
    pub first_piece: usize,
    /// Index after its last piece.
    pub end_piece: usize,
    /// Bytes of its text inside links.
    pub link_bytes: usize,
    /// Number of links that begin in it.
    pub links: usize,
    /// Bytes of its text in bold or italics.
    pub strong_bytes: usize,
    /// Number of single line breaks in it.
    pub breaks: usize,
    /// Number of images and media players on the page before its end.
    pub pictures: usize,
}

/// The contribution of one text node to a block.
#[derive(Debug, Clone, Copy)]
pub struct TextPiece {
    /// The text node.
    pub node: NodeId,
    /// Start of its characters in [`Blocks::text`].
    pub start: usize,
    /// End of its characters.
    pub end: usize,
}

/// Longer pages are classified in chunks: a row of features takes nearly a kilobyte, and no article
/// has this many blocks.
const MAX_BLOCKS: usize = 16_384;

impl Blocks {
    /// Splits the blocks into chunks of bounded size, nearly always one. The chunks are made one after the other, so that
    /// a huge page is not in memory twice.
    pub fn into_parts(self) -> impl Iterator<Item = Blocks> {
        let is_whole = self.list.len() <= MAX_BLOCKS;
        let mut whole = Some(self);
        let mut next = 0;
        std::iter::from_fn(move || {
            if is_whole {
                return whole.take();
            }
            let blocks = whole.as_ref()?;
            let end = (next + MAX_BLOCKS).min(blocks.list.len());
            let part = blocks.part(next, end);
            next = end;
            if next == blocks.list.len() {
                whole = None;
            }
            Some(part)
        })
    }

    /// A copy of the blocks from `start` to `end`, of which there is at least one.
    fn part(&self, start: usize, end: usize) -> Blocks {
        let list = &self.list[start..end];
        let (first, last) = (&list[0], &list[list.len() - 1]);
        let block = |block: &Block| Block {
            start: block.start - first.start,
            end: block.end - first.start,
            first_piece: block.first_piece - first.first_piece,
            end_piece: block.end_piece - first.first_piece,
            ..block.clone()
        };
        let piece =
            |piece: &TextPiece| TextPiece { start: piece.start - first.start, end: piece.end - first.start, ..*piece };
        Blocks {
            text: self.text[first.start..last.end].to_owned(),
            pieces: self.pieces[first.first_piece..last.end_piece].iter().map(piece).collect(),
            list: list.iter().map(block).collect(),
        }
    }
}

impl Block {
    /// The text of the block.
    pub fn text<'a>(&self, blocks: &'a Blocks) -> &'a str {
        &blocks.text[self.start..self.end]
    }

    /// Length of its text in bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns whether it has no text; finished blocks always have some.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns whether an element's content is never page text.
fn is_skipped(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("svg")
            | local_name!("math")
            | local_name!("head")
            | local_name!("iframe")
            | local_name!("object")
            | local_name!("embed")
            | local_name!("applet")
            | local_name!("audio")
            | local_name!("video")
            | local_name!("canvas")
            | local_name!("map")
            | local_name!("select")
            | local_name!("datalist")
            | local_name!("input")
            | local_name!("textarea")
            | local_name!("progress")
            | local_name!("meter")
            | local_name!("frameset")
            | local_name!("noframes")
            | local_name!("rp")
    )
}

/// Segments a page into blocks.
pub fn segment(tree: &Tree) -> Blocks {
    let mut builder = BlockBuilder::new(tree);
    let top = tree.root();
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        let descend = builder.enter(id);
        if descend && let Some(child) = tree.first_child(id) {
            at = Some(child);
            continue;
        }
        // Climb, leaving elements, until one has a next sibling.
        let mut done = id;
        at = loop {
            if descend || done != id {
                builder.leave(done);
            }
            if let Some(next) = tree.next_sibling(done) {
                break Some(next);
            }
            match tree.parent(done) {
                Some(parent) if parent != top => done = parent,
                _ => break None,
            }
        };
    }
    builder.flush();
    Blocks { text: builder.text, pieces: builder.pieces, list: builder.list }
}

struct BlockBuilder<'a> {
    tree: &'a Tree,
    text: String,
    pieces: Vec<TextPiece>,
    list: Vec<Block>,
    block: Block,
    link_depth: u32,
    strong_depth: u32,
    pre_depth: u32,
    /// Whether white space is pending before the next character.
    space: bool,
    /// Line breaks since the last character.
    line_breaks: u32,
    pictures: usize,
}

impl<'a> BlockBuilder<'a> {
    fn new(tree: &'a Tree) -> BlockBuilder<'a> {
        BlockBuilder {
            tree,
            text: String::new(),
            pieces: Vec::new(),
            list: Vec::new(),
            block: Block::default(),
            link_depth: 0,
            strong_depth: 0,
            pre_depth: 0,
            space: false,
            line_breaks: 0,
            pictures: 0,
        }
    }

    /// Handles a node; returns whether to descend into it.
    fn enter(&mut self, id: NodeId) -> bool {
        match &self.tree.node(id).data {
            Data::Text(text) => {
                self.take(id, text);
                false
            }
            Data::Element(name, _) => {
                let name = &name.local;
                let shows = matches!(
                    *name,
                    local_name!("img")
                        | local_name!("picture")
                        | local_name!("video")
                        | local_name!("iframe")
                        | local_name!("audio")
                );
                self.pictures += usize::from(shows);
                if is_skipped(name) {
                    return false;
                }
                match *name {
                    local_name!("br") => self.line_break(),
                    local_name!("a") => {
                        self.link_depth += 1;
                        self.block.links += 1;
                    }
                    local_name!("b") | local_name!("strong") | local_name!("i") | local_name!("em") => {
                        self.strong_depth += 1;
                    }
                    local_name!("pre") => {
                        self.flush();
                        self.pre_depth += 1;
                    }
                    _ if !is_inline(name) => self.flush(),
                    _ => {}
                }
                true
            }
            Data::Document => true,
            Data::Other => false,
        }
    }

    fn leave(&mut self, id: NodeId) {
        let Some(name) = self.tree.name(id) else { return };
        match *name {
            local_name!("br") => {}
            local_name!("a") => self.link_depth = self.link_depth.saturating_sub(1),
            local_name!("b") | local_name!("strong") | local_name!("i") | local_name!("em") => {
                self.strong_depth = self.strong_depth.saturating_sub(1);
            }
            local_name!("pre") => {
                self.flush();
                self.pre_depth = self.pre_depth.saturating_sub(1);
            }
            _ if !is_inline(name) => self.flush(),
            _ => {}
        }
    }

    fn line_break(&mut self) {
        if self.pre_depth > 0 {
            self.text.push('\n');
            return;
        }
        self.line_breaks += 1;
        if self.line_breaks > 1 {
            self.flush();
        }
    }

    fn take(&mut self, node: NodeId, text: &str) {
        if self.pre_depth > 0 {
            if self.block.element.is_some() || !text.trim().is_empty() {
                self.begin(node);
                let start = self.text.len();
                self.text.push_str(text);
                self.finish_piece(node, start);
            }
            return;
        }
        let mut start = None;
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start_matches(is_space);
            self.space |= trimmed.len() < rest.len();
            if trimmed.is_empty() {
                break;
            }
            let length = trimmed.find(is_space).unwrap_or(trimmed.len());
            if self.block.element.is_none() {
                self.begin(node);
            } else if self.line_breaks > 0 {
                self.text.push('\n');
                self.block.breaks += 1;
            } else if self.space {
                self.text.push(' ');
            }
            self.space = false;
            self.line_breaks = 0;
            start.get_or_insert(self.text.len());
            self.text.push_str(&trimmed[..length]);
            rest = &trimmed[length..];
        }
        if let Some(start) = start {
            self.finish_piece(node, start);
        }
    }

    fn begin(&mut self, node: NodeId) {
        if self.block.element.is_some() {
            return;
        }
        let breaks = |id: &NodeId| self.tree.name(*id).is_none_or(|name| !is_inline(name));
        self.block.element = self.tree.ancestors(node).find(breaks).or(Some(self.tree.root()));
        self.block.start = self.text.len();
        self.block.first_piece = self.pieces.len();
        self.space = false;
        self.line_breaks = 0;
    }

    fn finish_piece(&mut self, node: NodeId, start: usize) {
        let end = self.text.len();
        self.pieces.push(TextPiece { node, start, end });
        if self.link_depth > 0 {
            self.block.link_bytes += end - start;
        }
        if self.strong_depth > 0 {
            self.block.strong_bytes += end - start;
        }
    }

    fn flush(&mut self) {
        self.space = false;
        self.line_breaks = 0;
        let mut block = std::mem::take(&mut self.block);
        if block.element.is_some() {
            block.end = self.text.len();
            block.end_piece = self.pieces.len();
            block.pictures = self.pictures;
            self.list.push(block);
        } else {
            // A link around several blocks counts for the first of them.
            self.block.links = if self.link_depth > 0 { block.links } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        let blocks = segment(&crate::tree::parse(html));
        blocks.list.iter().map(|block| block.text(&blocks).to_owned()).collect()
    }

    #[test]
    fn paragraphs_and_double_line_breaks_separate_blocks() {
        assert_eq!(
            texts("<p>One <b>two</b>\n three<p>Four<br>five<br> <br>six"),
            ["One two three", "Four\nfive", "six"]
        );
    }

    #[test]
    fn inline_elements_do_not_separate_words() {
        assert_eq!(
            texts("<div>un<i>believ</i>able, <a href=x>really</a>.<div>next</div>tail</div>"),
            ["unbelievable, really.", "next", "tail"]
        );
    }

    #[test]
    fn preformatted_text_keeps_its_white_space() {
        assert_eq!(texts("<pre>\nfn main() {\n    x\n}</pre>"), ["fn main() {\n    x\n}"]);
    }

    #[test]
    fn parts_of_a_long_page_have_all_its_blocks() {
        let count = MAX_BLOCKS * 2 + 3;
        let html: String = (0..count).map(|number| format!("<p>{number}</p>")).collect();
        let parts: Vec<Blocks> = segment(&crate::tree::parse(&html)).into_parts().collect();
        assert_eq!(parts.iter().map(|part| part.list.len()).collect::<Vec<_>>(), [MAX_BLOCKS, MAX_BLOCKS, 3]);
        let texts = parts.iter().flat_map(|part| part.list.iter().map(|block| block.text(part).to_owned()));
        assert!(texts.eq((0..count).map(|number| number.to_string())));
        assert_eq!(parts[2].pieces.len(), 3);
    }

    #[test]
    fn link_bytes_and_links_are_counted() {
        let blocks = segment(&crate::tree::parse("<li><a href=1>abc</a> and <a href=2>de</a></li>"));
        assert_eq!((blocks.list[0].link_bytes, blocks.list[0].links), (5, 2));
    }
}
