//! Cuts a page into blocks: the pieces of text that stand by themselves.
//!
//! A block is what a reader sees as one paragraph, heading, list item or table cell. It ends where
//! an element breaks the line, and at two line breaks in a row, which is how pages without
//! paragraphs part theirs. All decisions about what belongs to the article are made on blocks.

use html5ever::{LocalName, local_name};

use crate::tree::{Data, NodeId, Tree, is_inline, is_space};

/// The blocks of a page in document order, with the text they share.
#[derive(Debug)]
pub struct Blocks {
    /// The text of all blocks, one after the other.
    pub text: String,
    /// The text nodes that went into them.
    pub pieces: Vec<Piece>,
    /// The blocks.
    pub list: Vec<Block>,
}

/// A piece of text that stands by itself.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The innermost element around it that breaks the line.
    pub element: Option<NodeId>,
    /// Its text, in bytes of the shared text.
    pub start: usize,
    /// Where its text ends.
    pub end: usize,
    /// Its pieces, by place in the list of pieces.
    pub first_piece: usize,
    /// Where its pieces end.
    pub end_piece: usize,
    /// The bytes of its text that are links.
    pub link_bytes: usize,
    /// The number of links that begin in it.
    pub links: usize,
    /// The bytes of its text that are bold or italic.
    pub strong_bytes: usize,
    /// The number of single line breaks in it.
    pub breaks: usize,
    /// The number of pictures and players on the page before its end.
    pub pictures: usize,
}

/// A text node's part in a block.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// The text node.
    pub node: NodeId,
    /// Where its characters begin in the shared text.
    pub start: usize,
    /// Where they end.
    pub end: usize,
}

/// More blocks than this are looked at in parts: no article has so many, and what is known of each
/// takes near a kilobyte.
const MOST_BLOCKS: usize = 16_384;

impl Blocks {
    /// The blocks in parts of bounded size, nearly always one.
    pub fn into_parts(self) -> Vec<Blocks> {
        if self.list.len() <= MOST_BLOCKS {
            return vec![self];
        }
        let part = |list: &[Block]| {
            let (first, last) = (&list[0], &list[list.len() - 1]);
            let shift = |block: &Block| Block {
                start: block.start - first.start,
                end: block.end - first.start,
                first_piece: block.first_piece - first.first_piece,
                end_piece: block.end_piece - first.first_piece,
                ..block.clone()
            };
            let piece =
                |piece: &Piece| Piece { start: piece.start - first.start, end: piece.end - first.start, ..*piece };
            Blocks {
                text: self.text[first.start..last.end].to_owned(),
                pieces: self.pieces[first.first_piece..last.end_piece].iter().map(piece).collect(),
                list: list.iter().map(shift).collect(),
            }
        };
        self.list.chunks(MOST_BLOCKS).map(part).collect()
    }
}

impl Block {
    /// The text of the block.
    pub fn text<'a>(&self, blocks: &'a Blocks) -> &'a str {
        &blocks.text[self.start..self.end]
    }

    /// The number of its bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether it has no text, which no finished block has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Elements that hold no text of the page.
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

/// Cuts a page into blocks.
pub fn cut(tree: &Tree) -> Blocks {
    let mut cutter = Cutter::new(tree);
    let top = tree.root();
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        let descend = cutter.enter(id);
        if descend && let Some(child) = tree.first_child(id) {
            at = Some(child);
            continue;
        }
        // Up again, leaving elements, until one has a sibling.
        let mut done = id;
        at = loop {
            if descend || done != id {
                cutter.leave(done);
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
    cutter.flush();
    Blocks { text: cutter.text, pieces: cutter.pieces, list: cutter.list }
}

struct Cutter<'a> {
    tree: &'a Tree,
    text: String,
    pieces: Vec<Piece>,
    list: Vec<Block>,
    block: Block,
    link_depth: u32,
    strong_depth: u32,
    pre_depth: u32,
    /// Whether a space is owed before the next character.
    space: bool,
    /// Line breaks since the last character.
    line_breaks: u32,
    pictures: usize,
}

impl<'a> Cutter<'a> {
    fn new(tree: &'a Tree) -> Cutter<'a> {
        Cutter {
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

    /// Takes a node; says whether to look below it.
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
        self.pieces.push(Piece { node, start, end });
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
            // A link around blocks belongs to the block that comes first in it.
            self.block.links = if self.link_depth > 0 { block.links } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        let blocks = cut(&crate::tree::parse(html));
        blocks.list.iter().map(|block| block.text(&blocks).to_owned()).collect()
    }

    #[test]
    fn paragraphs_and_double_line_breaks_part_blocks() {
        assert_eq!(
            texts("<p>One <b>two</b>\n three<p>Four<br>five<br> <br>six"),
            ["One two three", "Four\nfive", "six"]
        );
    }

    #[test]
    fn inline_elements_do_not_part_words() {
        assert_eq!(
            texts("<div>un<i>believ</i>able, <a href=x>really</a>.<div>next</div>tail</div>"),
            ["unbelievable, really.", "next", "tail"]
        );
    }

    #[test]
    fn program_text_keeps_its_white_space() {
        assert_eq!(texts("<pre>\nfn main() {\n    x\n}</pre>"), ["fn main() {\n    x\n}"]);
    }

    #[test]
    fn links_are_measured() {
        let blocks = cut(&crate::tree::parse("<li><a href=1>abc</a> and <a href=2>de</a></li>"));
        assert_eq!((blocks.list[0].link_bytes, blocks.list[0].links), (5, 2));
    }
}
