//! Cuts a page into jusText's paragraphs.
//!
//! Other than the blocks of our own extractor, these follow a list of tags that knows nothing of
//! HTML 5: an `<article>` does not end a paragraph, a `<li>` does. Some elements are dropped with
//! all they hold; of some others, such as forms, only the tags are, and text on both sides of
//! them is one piece. Pieces matter because white space is judged by the piece.

use html5ever::{LocalName, local_name};

use super::Edition;
use crate::tree::{Data, NodeId, Tree};

/// A paragraph before it was judged.
pub(super) struct Segment {
    /// Its text with white space squashed; empty where only line breaks stood.
    pub text: String,
    /// The number of its characters.
    pub length: usize,
    /// The characters in links, white space at the edges of their pieces included.
    pub link_chars: usize,
    /// Whether it began below a heading.
    pub heading: bool,
    /// Whether it began below an element with "select" in its name.
    pub select: bool,
    /// The element in which it began.
    pub node: NodeId,
}

impl Segment {
    fn at(node: NodeId, heading: bool, select: bool) -> Segment {
        Segment { text: String::new(), length: 0, link_chars: 0, heading, select, node }
    }
}

/// What an element means to paragraphs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It goes with everything below it.
    Dropped,
    /// Its tags are as if they were not there.
    Unwrapped,
    /// It begins a paragraph and ends one.
    Paragraph,
    LineBreak,
    Link,
    /// It only parts pieces of text.
    Other,
}

fn role(tree: &Tree, id: NodeId, name: &LocalName) -> Role {
    match *name {
        local_name!("head")
        | local_name!("base")
        | local_name!("script")
        | local_name!("style")
        | local_name!("applet")
        | local_name!("button")
        | local_name!("input")
        | local_name!("select")
        | local_name!("textarea") => Role::Dropped,
        local_name!("link") if is_style_sheet(tree, id) => Role::Dropped,
        local_name!("form")
        | local_name!("iframe")
        | local_name!("object")
        | local_name!("embed")
        | local_name!("param") => Role::Unwrapped,
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
        | local_name!("h6") => Role::Paragraph,
        local_name!("br") => Role::LineBreak,
        local_name!("a") => Role::Link,
        _ if &**name == "layer" => Role::Unwrapped,
        _ => Role::Other,
    }
}

fn is_style_sheet(tree: &Tree, id: NodeId) -> bool {
    tree.attr(id, &local_name!("rel")).is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
}

/// Whether the name has `h1` or the like as a word of its own, as in `x-h1`.
fn is_heading(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| matches!(word.as_bytes(), [b'h', digit] if digit.is_ascii_digit()))
}

/// White space as Python sees it, which counts four control characters that Unicode does not.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Cuts a page into paragraphs.
pub(super) fn cut(tree: &Tree, edition: Edition) -> Vec<Segment> {
    let top = tree.root();
    let mut cutter = Cutter::new(tree, edition);
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        let below = cutter.enter(id);
        if below && let Some(child) = tree.first_child(id) {
            at = Some(child);
            continue;
        }
        // Up again, leaving elements, until one has a sibling.
        let mut done = id;
        let mut entered = below;
        at = loop {
            if entered {
                cutter.leave(done);
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
    cutter.take_piece();
    cutter.begin_segment(top);
    cutter.segments
}

struct Cutter<'a> {
    tree: &'a Tree,
    edition: Edition,
    segments: Vec<Segment>,
    segment: Segment,
    /// Whether anything was put into the paragraph, be it only a line break.
    touched: bool,
    /// The white space owed before the next character of the paragraph.
    owed: Option<char>,
    /// Text nodes that nothing has parted yet.
    piece: String,
    in_link: bool,
    /// Whether nothing but white space came since a line break.
    after_break: bool,
    headings: u32,
    selects: u32,
}

impl<'a> Cutter<'a> {
    fn new(tree: &'a Tree, edition: Edition) -> Cutter<'a> {
        Cutter {
            tree,
            edition,
            segments: Vec::new(),
            segment: Segment::at(tree.root(), false, false),
            touched: false,
            owed: None,
            piece: String::new(),
            in_link: false,
            after_break: false,
            headings: 0,
            selects: 0,
        }
    }

    /// Takes a node; says whether to look below it and to leave it afterwards.
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
            Role::Dropped => return false,
            Role::Unwrapped => return true,
            _ => self.take_piece(),
        }
        self.headings += u32::from(is_heading(name));
        self.selects += u32::from(name.contains("select"));
        if role == Role::Paragraph || (role == Role::LineBreak && self.after_break) {
            self.begin_segment(id);
            return true;
        }
        self.after_break = role == Role::LineBreak;
        match role {
            Role::LineBreak => {
                self.touched = true;
                self.owe(' ');
            }
            Role::Link => self.in_link = true,
            _ => {}
        }
        true
    }

    fn leave(&mut self, id: NodeId) {
        let Some(name) = self.tree.name(id) else { return };
        let role = role(self.tree, id, name);
        if role == Role::Unwrapped {
            return;
        }
        self.take_piece();
        self.headings -= u32::from(is_heading(name));
        self.selects -= u32::from(name.contains("select"));
        match role {
            Role::Paragraph => self.begin_segment(self.tree.parent(id).unwrap_or(id)),
            Role::Link => self.in_link = false,
            _ => {}
        }
    }

    /// Puts the text that came since the last tag into the paragraph.
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
        // Back with its memory.
        self.piece = piece;
        self.piece.clear();
    }

    /// Appends text with white space squashed; says how many characters it has when squashed alone.
    fn push(&mut self, piece: &str) -> usize {
        let mut count = 0;
        let mut in_space = false;
        for c in piece.chars() {
            if is_space(c) {
                count += usize::from(!in_space);
                in_space = true;
                let breaks = self.edition == Edition::Package && matches!(c, '\n' | '\r');
                self.owe(if breaks { '\n' } else { ' ' });
                continue;
            }
            in_space = false;
            count += 1;
            if let Some(space) = self.owed.take()
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

    /// Notes white space, of which a line break is the stronger.
    fn owe(&mut self, space: char) {
        if self.owed != Some('\n') {
            self.owed = Some(space);
        }
    }

    /// Ends the paragraph and begins another.
    fn begin_segment(&mut self, node: NodeId) {
        let next = Segment::at(node, self.headings > 0, self.selects > 0);
        let segment = std::mem::replace(&mut self.segment, next);
        self.owed = None;
        // An empty paragraph is a paragraph to the package, and stands between others.
        if std::mem::take(&mut self.touched) && (!segment.text.is_empty() || self.edition == Edition::Package) {
            self.segments.push(segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str, edition: Edition) -> Vec<String> {
        cut(&crate::tree::parse(html), edition).into_iter().map(|segment| segment.text).collect()
    }

    #[test]
    fn tags_of_old_html_part_paragraphs_and_new_ones_do_not() {
        let html = "<article>one<section>two</section></article><ul><li>three<li>four</ul>five";
        assert_eq!(texts(html, Edition::CorpusTools), ["onetwo", "three", "four", "five"]);
    }

    #[test]
    fn two_line_breaks_part_paragraphs_and_one_is_a_space() {
        let html = "<p>one<br>two<br> <br>three<br>";
        assert_eq!(texts(html, Edition::CorpusTools), ["one two", "three"]);
        assert_eq!(texts(html, Edition::Package), ["one two", "three"]);
    }

    #[test]
    fn the_package_glues_words_that_only_white_space_parts() {
        let html = "<p><b>one</b> <i>two</i>\nthree</p>";
        assert_eq!(texts(html, Edition::Package), ["onetwo\nthree"]);
        assert_eq!(texts(html, Edition::CorpusTools), ["one two three"]);
    }

    #[test]
    fn dropped_elements_and_comments_do_not_part_pieces() {
        let html = "<div>one<script>x</script> <!-- y --> <form> <b>two</b></form>";
        assert_eq!(texts(html, Edition::Package), ["one two"]);
    }

    #[test]
    fn line_breaks_alone_are_a_paragraph_to_the_package() {
        assert_eq!(texts("<p>one</p><p><br></p>", Edition::Package), ["one", ""]);
        assert_eq!(texts("<p>one</p><p><br></p>", Edition::CorpusTools), ["one"]);
    }

    #[test]
    fn headings_are_known_by_their_path() {
        let segments = cut(&crate::tree::parse("<h2>a<div>b</div></h2><x-h3><p>c</p></x-h3><p>d"), Edition::Package);
        let headings: Vec<bool> = segments.iter().map(|segment| segment.heading).collect();
        assert_eq!(headings, [true, true, true, false]);
    }

    #[test]
    fn characters_in_links_are_counted_by_the_piece() {
        let segments = cut(&crate::tree::parse("<p>x <a href=1> a  b </a>"), Edition::Package);
        assert_eq!((segments[0].link_chars, segments[0].length), (5, 5));
    }
}
