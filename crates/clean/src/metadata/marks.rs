//! Elements that markup identifies as bylines, headlines, topics or licences.
//!
//! One pass over the body collects them as node ids. Few nodes are marked, so whether a mark lies
//! in a comment or a teaser is determined later, for the marked nodes only.

use html5ever::local_name;

use super::names;
use crate::tree::{NodeId, Tree};

/// Kind of markup that marks a name, most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuthorMark {
    /// `itemprop=author` or `property=author`.
    Property,
    /// `rel=author`.
    Rel,
    /// A class or id with a word for author or byline.
    Class,
    /// A link to an author page.
    Address,
    /// A class with a word for user, or a link to a user's page, as in forums.
    User,
}

/// Kind of topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicKind {
    /// A keyword: `rel=tag`, or a link in a container named for tags.
    Tag,
    /// A section: `rel="category tag"`, or a link in a container named for categories.
    Category,
}

/// Marked nodes, each list in document order.
#[derive(Debug, Default)]
pub struct MarkedNodes<'a> {
    /// Nodes marked as authors.
    pub authors: Vec<(NodeId, AuthorMark)>,
    /// Text nodes that look like the beginning of a byline.
    pub bylines: Vec<NodeId>,
    /// Elements marked as headlines, other than `<h1>`.
    pub headlines: Vec<NodeId>,
    /// Links and items marked as topics.
    pub topics: Vec<(NodeId, TopicKind)>,
    /// Links to Creative Commons licences.
    pub licences: Vec<(NodeId, &'a str)>,
    /// Text nodes that name a Creative Commons licence.
    pub licence_texts: Vec<NodeId>,
    /// Hints from the class and id of each node.
    hints: Vec<Hints>,
}

/// Maximum number of marks per kind; pages with more are lists, not articles.
const MAX_MARKS: usize = 96;

/// Class names after this many bytes concern styling.
const MAX_CLASS_BYTES: usize = 160;

/// Bit set of hints in class names.
type Hints = u16;
const AUTHOR: Hints = 1;
const USER: Hints = 1 << 1;
const COMMENT: Hints = 1 << 2;
const ASIDE: Hints = 1 << 3;
const TAGS: Hints = 1 << 4;
const CATEGORY: Hints = 1 << 5;
const CRUMBS: Hints = 1 << 6;
const TITLE: Hints = 1 << 7;
const CAPTION: Hints = 1 << 8;
const NOT_NAME: Hints = 1 << 9;
const CLOUD: Hints = 1 << 10;
const FOOTER: Hints = 1 << 11;
const OWN_FOOTER: Hints = 1 << 12;
const MENU: Hints = 1 << 13;
/// Set afterwards: the node contains the headline.
const CONTAINS_HEADLINE: Hints = 1 << 14;

/// Word parts of class names and ids, with their hints.
const WORDS: &[(&str, Hints)] = &[
    ("author", AUTHOR),
    ("autor", AUTHOR),
    ("auteur", AUTHOR),
    ("byline", AUTHOR),
    ("by-line", AUTHOR),
    ("writer", AUTHOR),
    ("verfasser", AUTHOR),
    ("journalist", AUTHOR),
    ("redacteur", AUTHOR),
    ("redaktor", AUTHOR),
    ("reporter", AUTHOR),
    ("contributor", AUTHOR),
    ("creator", AUTHOR),
    ("firma-", AUTHOR),
    ("username", USER),
    ("user-name", USER),
    ("poster", USER),
    ("comment", COMMENT),
    ("kommentar", COMMENT),
    ("disqus", COMMENT),
    ("respond", COMMENT),
    ("replies", COMMENT),
    ("reference", COMMENT),
    ("sidebar", ASIDE),
    ("related", ASIDE),
    ("recommend", ASIDE),
    ("teaser", ASIDE),
    ("popular", ASIDE),
    ("trending", ASIDE),
    ("latest", ASIDE),
    ("read-more", ASIDE),
    ("readmore", ASIDE),
    ("widget-area", ASIDE),
    ("footer", FOOTER),
    ("post-footer", OWN_FOOTER),
    ("entry-footer", OWN_FOOTER),
    ("article-footer", OWN_FOOTER),
    ("newsletter", ASIDE),
    ("promo", ASIDE),
    ("tag", TAGS),
    ("keyword", TAGS),
    ("schlagw", TAGS),
    ("topic", TAGS),
    ("categor", CATEGORY),
    ("kategori", CATEGORY),
    ("rubri", CATEGORY),
    ("cat-links", CATEGORY),
    ("breadcrumb", CRUMBS),
    ("brotkr", CRUMBS),
    ("headline", TITLE),
    ("entry-title", TITLE),
    ("post-title", TITLE),
    ("posttitle", TITLE),
    ("article-title", TITLE),
    ("page-title", TITLE),
    ("article__title", TITLE),
    ("caption", CAPTION),
    ("credit", CAPTION),
    ("copyright", CAPTION),
    ("gallery", CAPTION),
    ("avatar", NOT_NAME),
    ("image", NOT_NAME),
    ("photo", NOT_NAME),
    ("-bio", NOT_NAME),
    ("_bio", NOT_NAME),
    ("social", NOT_NAME),
    ("authoriz", NOT_NAME),
    ("authent", NOT_NAME),
    ("authority", NOT_NAME),
    ("cloud", CLOUD),
    ("menu", MENU),
    ("navi", MENU),
    ("share", MENU),
];

/// Path segments of author pages.
#[rustfmt::skip]
const AUTHOR_FOLDERS: &[&str] = &[
    "author", "authors", "autor", "autoren", "autores", "auteur", "auteurs", "autore", "autori", "writer", "writers",
    "staff", "journalist", "journalists", "contributor", "contributors", "byline", "reporter", "redaktion",
    "redakteur", "profile", "profiles", "people", "person", "columnist", "columnists",
];

/// Path segments of the pages of users.
const USER_FOLDERS: &[&str] = &["user", "users", "u", "member", "members", "nutzer", "mitglied", "mitglieder"];

/// Returns whether a URL is that of the page of a user or an author.
pub fn is_user_url(address: &str) -> bool {
    let folders = address.trim_end_matches('/').rsplit_once('/').map_or("", |(folders, _)| folders);
    address.len() <= 300 && folders.split('/').any(|step| USER_FOLDERS.contains(&step)) || is_author_url(address)
}

/// Returns whether an element or a container of it is hidden by its own attributes.
pub fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    std::iter::once(id).chain(tree.ancestors(id)).take(12).any(|node| hides(tree, node))
}

/// Returns whether the attributes of an element hide it. A hidden body is shown once the page has loaded.
pub fn hides(tree: &Tree, id: NodeId) -> bool {
    if matches!(tree.name(id), None | Some(&local_name!("body") | &local_name!("html"))) {
        return false;
    }
    tree.attr(id, &local_name!("hidden")).is_some()
        || tree.attr(id, &local_name!("style")).is_some_and(|style| {
            style.find("display").is_some_and(|at| {
                style[at + 7..]
                    .trim_start()
                    .strip_prefix(':')
                    .is_some_and(|value| value.trim_start().starts_with("none"))
            })
        })
}

/// Returns whether a URL is that of an author page.
fn is_author_url(address: &str) -> bool {
    if address.len() > 300 {
        return false;
    }
    // The last segment names the author; the folder precedes it.
    let Some((folders, _)) = address.trim_end_matches('/').rsplit_once('/') else { return false };
    let known = |step: &str| AUTHOR_FOLDERS.iter().any(|folder| folder.len() == step.len() && *folder == step);
    folders.split('/').any(|step| (5..=12).contains(&step.len()) && known(step)) || address.contains("?author=")
}

impl<'a> MarkedNodes<'a> {
    /// Collects the marks of a page in one pass.
    pub fn read(tree: &'a Tree) -> MarkedNodes<'a> {
        let mut marks = MarkedNodes { hints: vec![0; tree.len()], ..MarkedNodes::default() };
        let top = tree.root();
        let mut at = tree.first_child(top);
        while let Some(id) = at {
            let mut skip = false;
            if let Some(text) = tree.as_text(id) {
                if marks.bylines.len() < MAX_MARKS && names::opens_byline(text) {
                    marks.bylines.push(id);
                }
                if marks.licence_texts.len() < MAX_MARKS && names_licence(text) {
                    marks.licence_texts.push(id);
                }
            } else if let Some(name) = tree.name(id) {
                match *name {
                    local_name!("script")
                    | local_name!("style")
                    | local_name!("svg")
                    | local_name!("template")
                    | local_name!("head")
                    | local_name!("select")
                    | local_name!("iframe") => skip = true,
                    // Forum software puts the whole page into one; others hold an image.
                    local_name!("noscript") => skip = !tree.is_noscript_page(id),
                    local_name!("form") => {}
                    _ => marks.mark_element(tree, id),
                }
            }
            at = tree.following(id, top, skip);
        }
        marks
    }

    fn mark_element(&mut self, tree: &'a Tree, id: NodeId) {
        let mut hints = 0;
        let (mut sign, mut topic) = (None, None);
        let is_link = tree.is(id, &local_name!("a"));
        for attribute in tree.attrs(id) {
            let value = &*attribute.value;
            match attribute.name.local {
                local_name!("class") | local_name!("id") => hints |= read_hints(value),
                local_name!("itemprop") | local_name!("property") => {
                    for word in value.split_ascii_whitespace().take(8) {
                        let word = word.rsplit([':', '/', '#']).next().unwrap_or(word);
                        if word.eq_ignore_ascii_case("author") || word.eq_ignore_ascii_case("creator") {
                            sign = strongest(sign, AuthorMark::Property);
                        } else if word.eq_ignore_ascii_case("headline") {
                            hints |= TITLE;
                        } else if word.eq_ignore_ascii_case("keywords") && is_link {
                            topic = Some(TopicKind::Tag);
                        } else if word.eq_ignore_ascii_case("articlesection") {
                            topic = Some(TopicKind::Category);
                        }
                    }
                }
                local_name!("rel") => {
                    let has = |wanted: &str| value.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(wanted));
                    if has("author") {
                        sign = strongest(sign, AuthorMark::Rel);
                    } else if has("category") {
                        topic = Some(TopicKind::Category);
                    } else if has("tag") {
                        topic = Some(TopicKind::Tag);
                    }
                }
                local_name!("href") if is_link => {
                    if value.contains("creativecommons.org/") && self.licences.len() < MAX_MARKS {
                        self.licences.push((id, value));
                    }
                    if is_author_url(value) {
                        sign = strongest(sign, AuthorMark::Address);
                    }
                }
                // Sites with generated class names often keep readable names in test attributes.
                ref name if value.len() < 60 && name.starts_with("data-test") => hints |= read_hints(value) & AUTHOR,
                _ => {}
            }
        }
        self.hints[id.index()] = hints;
        if sign.is_none() && hints & (COMMENT | NOT_NAME) == 0 {
            if hints & AUTHOR != 0 {
                sign = Some(AuthorMark::Class);
            } else if hints & USER != 0 {
                sign = Some(AuthorMark::User);
            }
        } else if sign == Some(AuthorMark::Address) && hints & AUTHOR != 0 {
            sign = Some(AuthorMark::Class);
        }
        if let Some(sign) = sign
            && self.authors.len() < MAX_MARKS
        {
            self.authors.push((id, sign));
        }
        if hints & TITLE != 0 && !tree.is(id, &local_name!("h1")) && self.headlines.len() < 12 {
            self.headlines.push(id);
        }
        if topic.is_none() && is_link {
            topic = self.topic_of(tree, id);
        }
        if let Some(topic) = topic
            && self.topics.len() < MAX_MARKS
        {
            self.topics.push((id, topic));
        }
    }

    /// The kind of topic of a link, by the containers around it.
    fn topic_of(&self, tree: &Tree, link: NodeId) -> Option<TopicKind> {
        let mut hints = self.hints[link.index()];
        for above in tree.ancestors(link).take(4) {
            // Further out, classes list the topics of the whole article ("hentry tag-sea").
            let is_post = tree
                .attr(above, &local_name!("class"))
                .is_some_and(|class| class.contains("hentry") || class.contains("post-"));
            let is_large = matches!(
                tree.name(above),
                Some(
                    &local_name!("article")
                        | &local_name!("main")
                        | &local_name!("body")
                        | &local_name!("section")
                        | &local_name!("p")
                )
            );
            if is_large || is_post && !tree.is(above, &local_name!("span")) {
                break;
            }
            hints |= self.hints[above.index()];
        }
        match hints {
            // Breadcrumbs locate a page, but seldom say what it is about.
            hints if hints & (CLOUD | MENU | ASIDE | COMMENT | AUTHOR | CRUMBS) != 0 => None,
            hints if hints & CATEGORY != 0 => Some(TopicKind::Category),
            hints if hints & TAGS != 0 => Some(TopicKind::Tag),
            _ => None,
        }
    }

    /// Records the headline; regions are determined relative to it.
    pub fn set_headline(&mut self, tree: &Tree, heading: Option<NodeId>) {
        for above in heading.into_iter().flat_map(|heading| tree.ancestors(heading)) {
            self.hints[above.index()] |= CONTAINS_HEADLINE;
        }
    }

    /// The region of a node relative to the headline. Containers of both do not count.
    pub fn region(&self, tree: &Tree, id: NodeId) -> PageRegion {
        let mut place = PageRegion::Main;
        let mut below_footer = false;
        for node in std::iter::once(id).chain(tree.ancestors(id)).take(64) {
            let Some(name) = tree.name(node) else { continue };
            if matches!(*name, local_name!("body") | local_name!("html")) {
                break;
            }
            // The footer of an article belongs to the article.
            if matches!(*name, local_name!("article")) && below_footer {
                below_footer = false;
            }
            let hints = self.hints[node.index()];
            if hints & CONTAINS_HEADLINE != 0 {
                break;
            }
            match *name {
                local_name!("figure") | local_name!("figcaption") | local_name!("nav") => return PageRegion::Foreign,
                local_name!("aside") => place = PageRegion::Aside,
                local_name!("footer") => below_footer |= hints & OWN_FOOTER == 0,
                _ => {}
            }
            let other = if hints & AUTHOR == 0 { COMMENT | CAPTION } else { COMMENT };
            if hints & other != 0 && hints & TITLE == 0 {
                return PageRegion::Foreign;
            }
            if hints & ASIDE != 0 && hints & AUTHOR == 0 {
                place = PageRegion::Aside;
            }
            below_footer |= hints & (FOOTER | OWN_FOOTER) == FOOTER;
        }
        if below_footer { PageRegion::Aside } else { place }
    }
}

/// Returns whether a text names a Creative Commons licence.
fn names_licence(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'C', bytes).any(|at| matches!(bytes.get(at..at + 5), Some(b"CC BY" | b"CC-BY")))
}

fn strongest(known: Option<AuthorMark>, sign: AuthorMark) -> Option<AuthorMark> {
    Some(known.map_or(sign, |known| known.min(sign)))
}

/// Finds the words of [`WORDS`] in one pass, comparing only where a word can start.
fn read_hints(value: &str) -> Hints {
    let bytes = value.as_bytes();
    let bytes = &bytes[..bytes.len().min(MAX_CLASS_BYTES)];
    let mut hints = 0;
    let mut within = false;
    let mut token = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        let (byte, second) = (pair[0], pair[1] | 0x20);
        if byte.is_ascii_whitespace() {
            token = at + 1;
        }
        // Words start after a non-letter or with a capital; only "author" is also found within
        // words.
        let begins = !within || byte.is_ascii_uppercase();
        within = byte.is_ascii_alphabetic();
        if !begins && (byte != b'a' || second != b'u') {
            continue;
        }
        for (word, hint) in WORDS_BY_LETTER.starting_with(byte.to_ascii_lowercase()) {
            let word = word.as_bytes();
            if word[1] == second
                && bytes.len() - at >= word.len()
                && bytes[at..at + word.len()].eq_ignore_ascii_case(word)
                && (*hint != ASIDE || !tells_layout(&bytes[token..at]))
            {
                hints |= hint;
            }
        }
    }
    hints
}

/// Returns whether a class name begins as one that tells what is beside the element: `has-sidebar`, `no-sidebar`.
fn tells_layout(start: &[u8]) -> bool {
    [&b"has"[..], b"with", b"no", b"without"].iter().any(|word| {
        start.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
            && start.get(word.len()).is_none_or(|next| !next.is_ascii_lowercase())
    })
}

/// [`WORDS`], indexed by first letter.
struct ByLetter {
    rows: [(&'static str, Hints); WORDS.len()],
    starts: [u8; 257],
}

impl ByLetter {
    fn starting_with(&self, letter: u8) -> &[(&'static str, Hints)] {
        let letter = usize::from(letter);
        &self.rows[usize::from(self.starts[letter])..usize::from(self.starts[letter + 1])]
    }
}

static WORDS_BY_LETTER: ByLetter = by_letter();

const fn by_letter() -> ByLetter {
    let mut table = ByLetter { rows: [("", 0); WORDS.len()], starts: [0; 257] };
    let (mut letter, mut filled) = (0, 0);
    while letter < 256 {
        table.starts[letter] = filled as u8;
        let mut row = 0;
        while row < WORDS.len() {
            if WORDS[row].0.as_bytes()[0] as usize == letter {
                table.rows[filled] = WORDS[row];
                filled += 1;
            }
            row += 1;
        }
        letter += 1;
    }
    table.starts[256] = filled as u8;
    table
}

/// Region of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageRegion {
    /// No evidence against it.
    Main,
    /// Next to or below the text: sidebars, footers, teasers.
    Aside,
    /// Comments by readers, or captions.
    Foreign,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_matched_in_any_case_style() {
        assert_eq!(read_hints("c-Article__AuthorName"), AUTHOR);
        assert_eq!(read_hints("post stage montag"), 0);
        assert_eq!(read_hints("entry-tags tagLinks"), TAGS);
        assert_eq!(read_hints(&"é".repeat(200)), 0);
    }

    #[test]
    fn a_container_with_a_sidebar_is_not_a_sidebar() {
        for class in ["main has-double-sidebar", "no-sidebar", "with_sidebar", "hasSidebar"] {
            assert_eq!(read_hints(class), 0, "{class}");
        }
        for class in ["sidebar", "left-sidebar", "has-image sidebar", "nosidebar sidebar"] {
            assert_eq!(read_hints(class) & ASIDE, ASIDE, "{class}");
        }
    }

    #[test]
    fn marks_in_comments_and_captions_are_foreign() {
        let tree = crate::tree::parse(
            "<div id=comments><b class=author>Ann</b></div><figure><b class=author>Bob</b></figure><p class=byline>Cid</p>",
        );
        let marks = MarkedNodes::read(&tree);
        let places: Vec<_> = marks.authors.iter().map(|(id, _)| marks.region(&tree, *id)).collect();
        assert_eq!(places, [PageRegion::Foreign, PageRegion::Foreign, PageRegion::Main]);
    }
}
