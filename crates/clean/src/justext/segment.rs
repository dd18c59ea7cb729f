//! Segmentation into jusText paragraphs.
//!
//! Unlike the [blocks](crate::article::blocks) of the default extractor, these follow a list of
//! tags from before HTML5: an `<article>` does not end a paragraph, a `<li>` does. Some elements
//! are dropped with their content; of others, such as forms, only the tags are ignored, so that
//! text on both sides is one piece. Pieces matter because white space is handled per piece.

use html5ever::{LocalName, local_name};

use super::Edition;
use crate::tree::{Data, NodeId, Tree};

/// A paragraph before classification.
pub(super) struct Segment {
    /// Text with white space collapsed; empty if there were only line breaks.
    pub text: String,
    /// Length in characters.
    pub length: usize,
    /// Number of characters in links, including white space at the edges of pieces.
    pub link_chars: usize,
    /// Whether it began inside a heading.
    pub heading: bool,
    /// Whether it began inside an element with "select" in its name.
    pub select: bool,
    /// The element in which it began.
    pub node: NodeId,
}

impl Segment {
    fn at(node: NodeId, heading: bool, select: bool) -> Segment {
        Segment { text: String::new(), length: 0, link_chars: 0, heading, select, node }
    }
}

/// Effect of an element on segmentation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementRole {
    /// Dropped with its content.
    Dropped,
    /// Tags ignored.
    Unwrapped,
    /// Starts and ends a paragraph.
    Paragraph,
    LineBreak,
    Link,
    /// Separates pieces of text only.
    Other,
}

fn role(tree: &Tree, id: NodeId, name: &LocalName) -> ElementRole {
    match *name {
        local_name!("head")
        | local_name!("base")
        | local_name!("script")
        | local_name!("style")
        | local_name!("applet")
        | local_name!("button")
        | local_name!("input")
        | local_name!("select")
        | local_name!("textarea") => ElementRole::Dropped,
        local_name!("link") if is_style_sheet(tree, id) => ElementRole::Dropped,
        local_name!("form")
        | local_name!("iframe")
        | local_name!("object")
        | local_name!("embed")
        | local_name!("param") => ElementRole::Unwrapped,
        local_name!("body")
        | local_name!("blockquote")
        | local_name!("caption")
        | local_name!("center")
        | local_name!("col")
        | local_name!("colgroup")
        | local_name!("dd")
        | local_name!("div")
        | local_name!("dl")
        | local_name!("dt")
        | local_name!("fieldset")
        | local_name!("legend")
        | local_name!("optgroup")
        | local_name!("option")
        | local_name!("p")
        | local_name!("pre")
        | local_name!("table")
        | local_name!("td")
        | local_name!("tfoot")
        | local_name!("th")
        | local_name!("thead")
        | local_name!("tr")
        | local_name!("ul")
        | local_name!("li")
        | local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6") => ElementRole::Paragraph,
        local_name!("br") => ElementRole::LineBreak,
        local_name!("a") => ElementRole::Link,
        _ if &**name == "layer" => ElementRole::Unwrapped,
        _ => ElementRole::Other,
    }
}

fn is_style_sheet(tree: &Tree, id: NodeId) -> bool {
    tree.attr(id, &local_name!("rel")).is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
}

/// Returns whether the name contains `h1` to `h9` as a separate word, as in `x-h1`.
fn is_heading(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| matches!(word.as_bytes(), [b'h', digit] if digit.is_ascii_digit()))
}

/// White space as in Python, which includes four control characters that Unicode does not.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Segments a page into paragraphs.
pub(super) fn segment(tree: &Tree, edition: Edition) -> Vec<Segment> {
    let top = tree.root();
    let mut segmenter = Segmenter::new(tree, edition);
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        let below = segmenter.enter(id);
        if below && let Some(child) = tree.first_child(id) {
            at = Some(child);
            continue;
        }
        // Climb, leaving elements, until one has a next sibling.
        let mut done = id;
        let mut entered = below;
        at = loop {
            if entered {
                segmenter.leave(done);
            }
            if let Some(next) = tree.next_sibling(done) {
                break Some(next);
            }
            match tree.parent(done) {
                Some(parent) if parent != top => (done, entered) = (parent, true),
                _ => break None,
            }
        };
    }
    segmenter.take_piece();
    segmenter.begin_segment(top);
    segmenter.segments
}

struct Segmenter<'a> {
    tree: &'a Tree,
    edition: Edition,
    segments: Vec<Segment>,
    segment: Segment,
    /// Whether the paragraph has any content, even just a line break.
    touched: bool,
    /// Pending white space before the next character.
    pending_space: Option<char>,
    /// Text nodes since the last tag that separates pieces.
    piece: String,
    in_link: bool,
    /// Whether only white space came since the last line break.
    after_break: bool,
    headings: u32,
    selects: u32,
}

impl<'a> Segmenter<'a> {
    fn new(tree: &'a Tree, edition: Edition) -> Segmenter<'a> {
        Segmenter {
            tree,
            edition,
            segments: Vec::new(),
            segment: Segment::at(tree.root(), false, false),
            touched: false,
            pending_space: None,
            piece: String::new(),
            in_link: false,
            after_break: false,
            headings: 0,
            selects: 0,
        }
    }

    /// Handles a node; returns whether to descend into it and leave it afterwards.
    fn enter(&mut self, id: NodeId) -> bool {
        let name = match &self.tree.node(id).data {
            Data::Text(text) => {
                self.piece.push_str(text);
                return false;
            }
            Data::Element(name, _) => &name.local,
            Data::Document | Data::Other => return false,
        };
        let role = role(self.tree, id, name);
        match role {
            ElementRole::Dropped => return false,
            ElementRole::Unwrapped => return true,
            _ => self.take_piece(),
        }
        self.headings += u32::from(is_heading(name));
        self.selects += u32::from(name.contains("select"));
        if role == ElementRole::Paragraph || (role == ElementRole::LineBreak && self.after_break) {
            self.begin_segment(id);
            return true;
        }
        self.after_break = role == ElementRole::LineBreak;
        match role {
            ElementRole::LineBreak => {
                self.touched = true;
                self.note_space(' ');
            }
            ElementRole::Link => self.in_link = true,
            _ => {}
        }
        true
    }

    fn leave(&mut self, id: NodeId) {
        let Some(name) = self.tree.name(id) else { return };
        let role = role(self.tree, id, name);
        if role == ElementRole::Unwrapped {
            return;
        }
        self.take_piece();
        self.headings -= u32::from(is_heading(name));
        self.selects -= u32::from(name.contains("select"));
        match role {
            ElementRole::Paragraph => self.begin_segment(self.tree.parent(id).unwrap_or(id)),
            ElementRole::Link => self.in_link = false,
            _ => {}
        }
    }

    /// Adds the text since the last tag to the paragraph.
    fn take_piece(&mut self) {
        if self.piece.is_empty() {
            return;
        }
        let piece = std::mem::take(&mut self.piece);
        let blank = piece.chars().all(is_space);
        if !blank || self.edition == Edition::CorpusTools {
            self.touched = true;
            let link_chars = self.push(&piece);
            if self.in_link {
                self.segment.link_chars += link_chars;
            }
        }
        self.after_break &= blank;
        // Reuses the allocation.
        self.piece = piece;
        self.piece.clear();
    }

    /// Appends text with white space collapsed; returns its length when collapsed by itself.
    fn push(&mut self, piece: &str) -> usize {
        let mut count = 0;
        let mut in_space = false;
        for c in piece.chars() {
            if is_space(c) {
                count += usize::from(!in_space);
                in_space = true;
                let breaks = self.edition == Edition::Package && matches!(c, '\n' | '\r');
                self.note_space(if breaks { '\n' } else { ' ' });
                continue;
            }
            in_space = false;
            count += 1;
            if let Some(space) = self.pending_space.take()
                && !self.segment.text.is_empty()
            {
                self.segment.text.push(space);
                self.segment.length += 1;
            }
            self.segment.text.push(c);
            self.segment.length += 1;
        }
        count
    }

    /// Records pending white space; a line break takes precedence over a space.
    fn note_space(&mut self, space: char) {
        if self.pending_space != Some('\n') {
            self.pending_space = Some(space);
        }
    }

    /// Ends the paragraph and starts another.
    fn begin_segment(&mut self, node: NodeId) {
        let next = Segment::at(node, self.headings > 0, self.selects > 0);
        let segment = std::mem::replace(&mut self.segment, next);
        self.pending_space = None;
        // The Python package keeps empty paragraphs, and they count as neighbours.
        if std::mem::take(&mut self.touched) && (!segment.text.is_empty() || self.edition == Edition::Package) {
            self.segments.push(segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str, edition: Edition) -> Vec<String> {
        segment(&crate::tree::parse(html), edition).into_iter().map(|segment| segment.text).collect()
    }

    #[test]
    fn tags_before_html5_separate_paragraphs_and_newer_ones_do_not() {
        let html = "<article>one<section>two</section></article><ul><li>three<li>four</ul>five";
        assert_eq!(texts(html, Edition::CorpusTools), ["onetwo", "three", "four", "five"]);
    }

    #[test]
    fn two_line_breaks_separate_paragraphs_and_one_is_a_space() {
        let html = "<p>one<br>two<br> <br>three<br>";
        assert_eq!(texts(html, Edition::CorpusTools), ["one two", "three"]);
        assert_eq!(texts(html, Edition::Package), ["one two", "three"]);
    }

    #[test]
    fn the_package_edition_joins_words_separated_by_white_space_between_elements() {
        let html = "<p><b>one</b> <i>two</i>\nthree</p>";
        assert_eq!(texts(html, Edition::Package), ["onetwo\nthree"]);
        assert_eq!(texts(html, Edition::CorpusTools), ["one two three"]);
    }

    #[test]
    fn dropped_elements_and_comments_do_not_separate_pieces() {
        let html = "<div>one<script>x</script> <!-- y --> <form> <b>two</b></form>";
        assert_eq!(texts(html, Edition::Package), ["one two"]);
    }

    #[test]
    fn line_breaks_alone_are_a_paragraph_in_the_package_edition() {
        assert_eq!(texts("<p>one</p><p><br></p>", Edition::Package), ["one", ""]);
        assert_eq!(texts("<p>one</p><p><br></p>", Edition::CorpusTools), ["one"]);
    }

    #[test]
    fn headings_are_recognised_by_their_path() {
        let segments =
            segment(&crate::tree::parse("<h2>a<div>b</div></h2><x-h3><p>c</p></x-h3><p>d"), Edition::Package);
        let headings: Vec<bool> = segments.iter().map(|segment| segment.heading).collect();
        assert_eq!(headings, [true, true, true, false]);
    }

    #[test]
    fn link_characters_are_counted_per_piece() {
        let segments = segment(&crate::tree::parse("<p>x <a href=1> a  b </a>"), Edition::Package);
        assert_eq!((segments[0].link_chars, segments[0].length), (5, 5));
    }
}
