//! The parts of a page that say by markup what they are: bylines, headlines, topics, licences.
//!
//! Everything the other modules want from the body is gathered here in one walk, as node numbers.
//! Few nodes are ever marked, so whether a mark stands in a comment or in a teaser is asked later,
//! of the marked nodes alone.

use html5ever::local_name;

use super::names;
use crate::tree::{NodeId, Tree};

/// How a node says that it holds a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// `itemprop=author` or `property=author`.
    Property,
    /// `rel=author`.
    Rel,
    /// A class or id that speaks of authors or bylines.
    Class,
    /// An address that leads to an author's page.
    Address,
    /// A class that speaks of users, as forums have it.
    User,
}

/// How a node says that it holds a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A keyword: `rel=tag`, or a link below something called tags.
    Tag,
    /// A section: `rel="category tag"`, or a link below something called category.
    Category,
}

/// What the walk found, each in document order.
#[derive(Debug, Default)]
pub struct Marks<'a> {
    /// Nodes said to hold authors.
    pub authors: Vec<(NodeId, Sign)>,
    /// Text nodes that read like the beginning of a byline.
    pub bylines: Vec<NodeId>,
    /// Elements said to be headlines, `<h1>` aside.
    pub headlines: Vec<NodeId>,
    /// Links and items said to be topics.
    pub topics: Vec<(NodeId, Topic)>,
    /// Links to the texts of public licences.
    pub licences: Vec<(NodeId, &'a str)>,
    /// What the class and the id of each node speak of, one row per node.
    hints: Vec<Hints>,
}

/// Marks kept of one kind: a page with more of them is a list, not an article.
const MOST: usize = 96;

/// What a class says after this many bytes is about its looks.
const MOST_CLASS_BYTES: usize = 160;

/// A bit set of what class names speak of.
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
/// Not read but set: the node is a box around the headline.
const AROUND: Hints = 1 << 14;

/// What parts of class names, ids and addresses speak of.
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

/// Folders that authors' pages lie in.
#[rustfmt::skip]
const AUTHOR_FOLDERS: &[&str] = &[
    "author", "authors", "autor", "autoren", "autores", "auteur", "auteurs", "autore", "autori", "writer", "writers",
    "staff", "journalist", "journalists", "contributor", "contributors", "byline", "reporter", "redaktion",
    "redakteur", "profile", "profiles", "people", "person", "columnist", "columnists",
];

/// Whether an address leads to the page of an author.
fn leads_to_author(address: &str) -> bool {
    if address.len() > 300 {
        return false;
    }
    // The last step names the author; the folder is before it.
    let Some((folders, _)) = address.trim_end_matches('/').rsplit_once('/') else { return false };
    let known = |step: &str| AUTHOR_FOLDERS.iter().any(|folder| folder.len() == step.len() && *folder == step);
    folders.split('/').any(|step| (5..=12).contains(&step.len()) && known(step)) || address.contains("?author=")
}

impl<'a> Marks<'a> {
    /// Walks the body once.
    pub fn read(tree: &'a Tree) -> Marks<'a> {
        let mut marks = Marks { hints: vec![0; tree.len()], ..Marks::default() };
        let top = tree.root();
        let mut at = tree.first_child(top);
        while let Some(id) = at {
            let mut skip = false;
            if let Some(text) = tree.as_text(id) {
                if marks.bylines.len() < MOST && names::opens_byline(text) {
                    marks.bylines.push(id);
                }
            } else if let Some(name) = tree.name(id) {
                match *name {
                    local_name!("script")
                    | local_name!("style")
                    | local_name!("svg")
                    | local_name!("template")
                    | local_name!("head")
                    | local_name!("noscript")
                    | local_name!("select")
                    | local_name!("iframe")
                    | local_name!("form") => skip = !matches!(*name, local_name!("form")),
                    _ => marks.look(tree, id),
                }
            }
            at = tree.following(id, top, skip);
        }
        marks
    }

    fn look(&mut self, tree: &'a Tree, id: NodeId) {
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
                            sign = strongest(sign, Sign::Property);
                        } else if word.eq_ignore_ascii_case("headline") {
                            hints |= TITLE;
                        } else if word.eq_ignore_ascii_case("keywords") && is_link {
                            topic = Some(Topic::Tag);
                        } else if word.eq_ignore_ascii_case("articlesection") {
                            topic = Some(Topic::Category);
                        }
                    }
                }
                local_name!("rel") => {
                    let has = |wanted: &str| value.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(wanted));
                    if has("author") {
                        sign = strongest(sign, Sign::Rel);
                    } else if has("category") {
                        topic = Some(Topic::Category);
                    } else if has("tag") {
                        topic = Some(Topic::Tag);
                    }
                }
                local_name!("href") if is_link => {
                    if value.contains("creativecommons.org/") && self.licences.len() < MOST {
                        self.licences.push((id, value));
                    }
                    if leads_to_author(value) {
                        sign = strongest(sign, Sign::Address);
                    }
                }
                // Pages of generated class names often keep a readable name for their tests.
                ref name if value.len() < 60 && name.starts_with("data-test") => hints |= read_hints(value) & AUTHOR,
                _ => {}
            }
        }
        self.hints[id.index()] = hints;
        if sign.is_none() && hints & (COMMENT | NOT_NAME) == 0 {
            if hints & AUTHOR != 0 {
                sign = Some(Sign::Class);
            } else if hints & USER != 0 {
                sign = Some(Sign::User);
            }
        } else if sign == Some(Sign::Address) && hints & AUTHOR != 0 {
            sign = Some(Sign::Class);
        }
        if let Some(sign) = sign
            && self.authors.len() < MOST
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
            && self.topics.len() < MOST
        {
            self.topics.push((id, topic));
        }
    }

    /// What the boxes around a link say it is.
    fn topic_of(&self, tree: &Tree, link: NodeId) -> Option<Topic> {
        let mut hints = self.hints[link.index()];
        for above in tree.ancestors(link).take(4) {
            // Beyond this, classes list the topics of the whole article ("hentry tag-sea").
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
            // The path from the front page says where a page lies, seldom what it is about.
            hints if hints & (CLOUD | MENU | ASIDE | COMMENT | AUTHOR | CRUMBS) != 0 => None,
            hints if hints & CATEGORY != 0 => Some(Topic::Category),
            hints if hints & TAGS != 0 => Some(Topic::Tag),
            _ => None,
        }
    }

    /// Tells where the headline is, so that places are seen from there.
    pub fn see_from(&mut self, tree: &Tree, heading: Option<NodeId>) {
        for above in heading.into_iter().flat_map(|heading| tree.ancestors(heading)) {
            self.hints[above.index()] |= AROUND;
        }
    }

    /// Asks the boxes around a node where it stands, seen from the headline: a box around both says
    /// nothing about either.
    pub fn place(&self, tree: &Tree, id: NodeId) -> Place {
        let mut place = Place::Main;
        let mut below_footer = false;
        for node in std::iter::once(id).chain(tree.ancestors(id)).take(64) {
            let Some(name) = tree.name(node) else { continue };
            if matches!(*name, local_name!("body") | local_name!("html")) {
                break;
            }
            // The footer of the article is part of the article.
            if matches!(*name, local_name!("article")) && below_footer {
                below_footer = false;
            }
            let hints = self.hints[node.index()];
            if hints & AROUND != 0 {
                break;
            }
            match *name {
                local_name!("figure") | local_name!("figcaption") | local_name!("nav") => return Place::Foreign,
                local_name!("aside") => place = Place::Beside,
                local_name!("footer") => below_footer |= hints & OWN_FOOTER == 0,
                _ => {}
            }
            let other = if hints & AUTHOR == 0 { COMMENT | CAPTION } else { COMMENT };
            if hints & other != 0 && hints & TITLE == 0 {
                return Place::Foreign;
            }
            if hints & ASIDE != 0 && hints & AUTHOR == 0 {
                place = Place::Beside;
            }
            below_footer |= hints & (FOOTER | OWN_FOOTER) == FOOTER;
        }
        if below_footer { Place::Beside } else { place }
    }
}

fn strongest(known: Option<Sign>, sign: Sign) -> Option<Sign> {
    Some(known.map_or(sign, |known| known.min(sign)))
}

/// Looks for the words of the table; one pass, and only where a word can begin a comparison is made.
fn read_hints(value: &str) -> Hints {
    let bytes = value.as_bytes();
    let bytes = &bytes[..bytes.len().min(MOST_CLASS_BYTES)];
    let mut hints = 0;
    let mut within = false;
    for (at, pair) in bytes.windows(2).enumerate() {
        let (byte, second) = (pair[0], pair[1] | 0x20);
        // Words begin after a sign or with a capital; only "author" is looked for within words.
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
            {
                hints |= hint;
            }
        }
    }
    hints
}

/// [`WORDS`], reachable by first letter.
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

/// Where on a page a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing speaks against it.
    Main,
    /// Beside or below the text: sidebars, footers, teasers.
    Beside,
    /// Somebody else's words, or words about a picture.
    Foreign,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_read_whatever_their_spelling() {
        assert_eq!(read_hints("c-Article__AuthorName"), AUTHOR);
        assert_eq!(read_hints("post stage montag"), 0);
        assert_eq!(read_hints("entry-tags tagLinks"), TAGS);
        assert_eq!(read_hints(&"é".repeat(200)), 0);
    }

    #[test]
    fn marks_in_comments_and_captions_are_foreign() {
        let tree = crate::tree::parse(
            "<div id=comments><b class=author>Ann</b></div><figure><b class=author>Bob</b></figure><p class=byline>Cid</p>",
        );
        let marks = Marks::read(&tree);
        let places: Vec<_> = marks.authors.iter().map(|(id, _)| marks.place(&tree, *id)).collect();
        assert_eq!(places, [Place::Foreign, Place::Foreign, Place::Main]);
    }
}
