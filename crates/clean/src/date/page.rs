//! Dates a page shows: `<time>`, microdata, elements named after dates, and lines of text.
//!
//! One walk over the tree. What an element is inherits to what is below it by way of a table with
//! a row per node; the text is joined to lines as a browser would break them, because dates are
//! often written in three elements.

use html5ever::local_name;
use jiff::civil::Date;

use super::words::{self, Label};
use super::written::{Found, Habit, find, stamp};
use super::{Candidate, Place, Role, Source};
use crate::facts::Facts;
use crate::tree::{Data, NodeId, Tree, is_inline, push_squashed};

/// A line that long is prose; only its beginning is looked at.
const PROSE_BYTES: usize = 220;
/// Text read of one node of a line.
const MOST_LINE_BYTES: usize = 2 * PROSE_BYTES;
/// The beginning of prose.
const PROSE_HEAD_BYTES: usize = 120;
/// An element named after a date has no more text than this.
const MOST_MARKED_BYTES: usize = 160;
/// Days taken from one page.
const MOST_HITS: usize = 160;
/// Text read of one page.
const MOST_TEXT_BYTES: usize = 400_000;
/// A date that far below the headline, in bytes of text, still belongs to it.
const BELOW_TITLE_BYTES: usize = 700;
/// And above it.
const ABOVE_TITLE_BYTES: usize = 200;

/// A day on the page.
struct Hit {
    candidate: Candidate,
    /// How much text came before it.
    offset: usize,
    marks: u16,
}

struct Walk<'t> {
    tree: &'t Tree,
    habit: Habit,
    marks: Vec<u16>,
    blocks: Vec<NodeId>,
    line: String,
    line_block: NodeId,
    line_marks: u16,
    /// The last short line, which may label the next.
    before: String,
    offset: usize,
    /// Bytes of the line that were left out.
    unread: usize,
    /// The headline, and where it stands in the text.
    title: Option<NodeId>,
    title_offset: Option<usize>,
    /// Whether the headline lies below a node: no such node is a side bar, whatever it is called.
    trunk: Vec<bool>,
    hits: Vec<Hit>,
}

/// Reads what the page shows.
pub(super) fn read(tree: &Tree, facts: &Facts<'_>, habit: Habit, candidates: &mut Vec<Candidate>) {
    let mut walk = Walk {
        tree,
        habit,
        marks: vec![0; tree.len()],
        blocks: vec![tree.root(); tree.len()],
        line: String::new(),
        line_block: tree.root(),
        line_marks: 0,
        before: String::new(),
        offset: 0,
        unread: 0,
        title: headline(tree, facts),
        title_offset: None,
        trunk: vec![false; tree.len()],
        hits: Vec::new(),
    };
    if let Some(title) = walk.title {
        for above in tree.ancestors(title) {
            walk.trunk[above.index()] = true;
        }
    }
    walk.run();
    walk.place(candidates);
}

impl Walk<'_> {
    fn run(&mut self) {
        let top = self.tree.body();
        let mut at = self.tree.first_child(top);
        while let Some(id) = at {
            let mut skip = false;
            match &self.tree.node(id).data {
                Data::Text(text) => self.take_text(id, text),
                Data::Element(name, _) => {
                    skip = matches!(
                        name.local,
                        local_name!("script")
                            | local_name!("style")
                            | local_name!("template")
                            | local_name!("noscript")
                            | local_name!("svg")
                            | local_name!("select")
                            | local_name!("textarea")
                            | local_name!("iframe")
                    );
                    if !skip {
                        self.take_element(id);
                    }
                }
                _ => {}
            }
            if self.offset > MOST_TEXT_BYTES || self.hits.len() > MOST_HITS {
                break;
            }
            at = self.tree.following(id, top, skip);
        }
        self.flush();
    }

    fn take_text(&mut self, id: NodeId, text: &str) {
        let parent = self.tree.parent(id).unwrap_or(self.tree.root());
        let block = self.blocks[parent.index()];
        if block != self.line_block {
            self.flush();
            self.line_block = block;
        }
        if self.line.is_empty() {
            self.line_marks = self.marks[parent.index()];
        } else {
            self.line_marks &= self.marks[parent.index()] | !words::LINK;
        }
        // Of prose only the beginning counts; the rest counts by its length.
        if self.line.len() <= PROSE_BYTES {
            let (read, unread) = text.split_at(text.floor_char_boundary(MOST_LINE_BYTES));
            push_squashed(&mut self.line, read);
            self.unread += unread.trim_ascii().len();
        } else {
            self.unread += text.trim_ascii().len();
        }
    }

    fn take_element(&mut self, id: NodeId) {
        let Some(name) = self.tree.name(id) else { return };
        let parent = self.tree.parent(id).unwrap_or(self.tree.root());
        let mut marks = self.marks[parent.index()];
        marks |= match *name {
            local_name!("footer") | local_name!("nav") | local_name!("aside") => words::EDGE,
            local_name!("article") | local_name!("main") => words::ARTICLE,
            local_name!("header") => words::HEADER,
            local_name!("a") => words::LINK,
            _ => 0,
        };
        // The foot of an article is part of it.
        if *name == local_name!("footer") && self.marks[parent.index()] & words::ARTICLE != 0 {
            marks &= !words::EDGE;
        }
        let inline = is_inline(name);
        self.blocks[id.index()] = if inline { self.blocks[parent.index()] } else { id };
        if *name == local_name!("br") {
            self.flush();
        }
        let mut own = 0;
        let (mut property, mut machine) = ("", None);
        for attribute in self.tree.attrs(id) {
            let value = &*attribute.value;
            match attribute.name.local {
                local_name!("class") | local_name!("id") => own |= words::marks(value),
                local_name!("itemprop") | local_name!("property") => property = value,
                local_name!("datetime") => machine = Some((value, Source::Time)),
                local_name!("content") if machine.is_none() => machine = Some((value, Source::Microdata)),
                local_name!("title") if machine.is_none() => machine = Some((value, Source::Marked)),
                ref other if &**other == "pubdate" => own |= words::DATE | words::PUBLICATION,
                ref other if other.starts_with("data-") && value.len() >= 8 && is_dated_name(other) => {
                    if let Some(stamp) = stamp(value, self.habit) {
                        let role =
                            if words::marks(other) & words::CHANGE != 0 { Role::Modified } else { Role::Unclear };
                        self.hit(Candidate::of(stamp, Source::Data, role, Place::Body), marks | own);
                    }
                }
                _ => {}
            }
        }
        if self.trunk[id.index()] {
            marks &= !(words::EDGE | words::RELATED | words::COMMENT | words::EVENT);
            own &= !(words::EDGE | words::RELATED | words::COMMENT | words::EVENT | words::DATE | words::CHANGE);
        }
        let inherited = words::EDGE | words::RELATED | words::COMMENT | words::EVENT | words::ARTICLE;
        self.marks[id.index()] = marks | own & inherited;
        if self.title == Some(id) {
            self.flush();
            self.title_offset = Some(self.offset);
        }
        let marks = marks | own;
        let time = *name == local_name!("time");
        let role = property_role(property);
        if time || role.is_some() || own & (words::DATE | words::CHANGE) != 0 || *name == local_name!("abbr") {
            let source = match role {
                _ if time => Source::Time,
                Some(_) => Source::Microdata,
                None => Source::Marked,
            };
            self.named(id, source, role, own, marks, machine.map(|(value, _)| value));
        }
    }

    /// An element that says it is a date.
    fn named(&mut self, id: NodeId, source: Source, role: Option<Role>, own: u16, marks: u16, machine: Option<&str>) {
        let by_name = if own & words::CHANGE != 0 && own & words::PUBLICATION == 0 {
            Some(Role::Modified)
        } else if own & words::PUBLICATION != 0 {
            Some(Role::Published)
        } else {
            None
        };
        let stamped = machine.and_then(|value| stamp(value, self.habit));
        let text = if stamped.is_none() { short_text(self.tree, id) } else { None };
        let found = text.as_deref().map(|text| find(text, self.habit)).unwrap_or_default();
        if stamped.is_none() && found.is_empty() {
            return;
        }
        let mut role = role.or(by_name);
        if role.is_none() {
            // The label may stand before the element.
            let lead = if self.line.is_empty() { self.before.as_str() } else { self.line.as_str() };
            role = match words::label(tail(lead, 40)) {
                Some(Label::Published) => Some(Role::Published),
                Some(Label::Modified) => Some(Role::Modified),
                Some(Label::Other) => return,
                None => None,
            };
        }
        if let Some(stamp) = stamped {
            self.hit(Candidate::of(stamp, source, role.unwrap_or(Role::Unclear), Place::Body), marks);
            return;
        }
        let Some(text) = text else { return };
        let mut from = 0;
        for found in found {
            let label = words::label(text.get(from..found.start).unwrap_or_default());
            from = found.end;
            let role = match label {
                Some(Label::Other) => continue,
                Some(Label::Published) => Role::Published,
                Some(Label::Modified) => Role::Modified,
                None => role.unwrap_or(Role::Unclear),
            };
            self.found(found, source, role, marks);
        }
    }

    fn found(&mut self, found: Found, source: Source, role: Role, marks: u16) {
        let mut candidate = Candidate::on(found.day, source, role, Place::Body);
        candidate.vague = found.vague;
        self.hit(candidate, marks);
        if let Some(other) = found.other {
            let mut candidate = Candidate::on(other, Source::Swapped, role, Place::Body);
            candidate.vague = true;
            self.hit(candidate, marks);
        }
    }

    fn hit(&mut self, candidate: Candidate, marks: u16) {
        if self.hits.len() <= MOST_HITS {
            self.hits.push(Hit { candidate, offset: self.offset + self.line.len(), marks });
        }
    }

    /// Ends a line and looks for days in it.
    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim();
        if !text.is_empty() {
            self.take_line(text);
            self.offset += text.len() + self.unread;
            self.unread = 0;
            self.before.clear();
            if text.len() <= 60 {
                self.before.push_str(text);
            }
        }
        self.line = line;
        self.line.clear();
    }

    fn take_line(&mut self, text: &str) {
        let prose = text.len() > PROSE_BYTES;
        let text = if prose { head(text, PROSE_HEAD_BYTES) } else { text };
        let mut from = 0;
        let all = find(text, self.habit);
        for (nth, found) in all.iter().copied().enumerate() {
            let before = text.get(from..found.start).unwrap_or_default();
            from = found.end;
            let mut label = words::label(tail(before, 60));
            let alone = (found.end - found.start) * 3 > text.len() || text.len() < found.end - found.start + 24;
            if label.is_none() && before.trim().is_empty() {
                label = words::label(&self.before).filter(|_| self.before.trim_end().ends_with(':') || alone);
            }
            // What follows may label it as well: 2019-08-02 (updated).
            if label.is_none() && alone && nth + 1 == all.len() {
                label = words::label(head(&text[found.end..], 24));
            }
            let (source, role) = match label {
                Some(Label::Other) => continue,
                Some(Label::Published) if !prose => (Source::Labelled, Role::Published),
                Some(Label::Modified) if !prose => (Source::Labelled, Role::Modified),
                _ if prose => (Source::Prose, Role::Unclear),
                _ if alone => (Source::Alone, Role::Unclear),
                _ => (Source::Line, Role::Unclear),
            };
            let marks = self.line_marks;
            self.offset += found.start;
            self.found(found, source, role, marks);
            self.offset -= found.start;
        }
    }

    /// Tells the place of every hit, now that the headline is known.
    fn place(self, candidates: &mut Vec<Candidate>) {
        let title = self.title_offset;
        let mut kept: Vec<Candidate> = Vec::new();
        for hit in self.hits {
            let near = title.is_some_and(|title| {
                hit.offset + ABOVE_TITLE_BYTES >= title && hit.offset <= title + BELOW_TITLE_BYTES
            });
            let mut candidate = hit.candidate;
            let aside = hit.marks & (words::COMMENT | words::EVENT) != 0 || hit.marks & words::RELATED != 0 && !near;
            candidate.place = if aside {
                Place::Aside
            } else if hit.marks & words::EDGE != 0 {
                Place::Edge
            } else if near {
                Place::Title
            } else if hit.marks & words::ARTICLE != 0 {
                Place::Article
            } else {
                Place::Body
            };
            candidate.linked = hit.marks & words::LINK != 0;
            // The first of its kind is the one; later ones belong to other things.
            let nth = kept
                .iter()
                .filter(|k| (k.source, k.role, k.place) == (candidate.source, candidate.role, candidate.place))
                .count();
            let known = kept.iter().any(|k| k.same(&candidate));
            if !known && nth < 4 {
                candidate.nth = nth as u8;
                kept.push(candidate);
            }
        }
        candidates.append(&mut kept);
    }
}

/// The element that shows the title of the page: the longest heading that is part of `<title>`, or
/// the first heading of all.
fn headline(tree: &Tree, facts: &Facts<'_>) -> Option<NodeId> {
    let declared = squeeze(&facts.title.map(|title| tree.raw_text(title)).unwrap_or_default());
    let social = squeeze(facts.meta("og:title").next().unwrap_or_default());
    let fits = |id: NodeId| {
        let text = squeeze(&tree.raw_text(id));
        let length = text.chars().count();
        let fits = length >= 8
            && (declared.contains(&text)
                || social.contains(&text)
                || length > 20 && text.contains(&declared) && declared.chars().count() > 15);
        fits.then_some((length, id))
    };
    // Of equals the first, for the last may be in a list of recent articles.
    let longest = |best: Option<(usize, NodeId)>, next: (usize, NodeId)| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    };
    let h1 = facts.h1.iter().take(20).filter_map(|id| fits(*id)).fold(None, longest);
    if h1.is_some_and(|(length, _)| length >= 20 || length * 3 >= declared.chars().count() * 2) {
        return h1.map(|(_, id)| id);
    }
    let lower =
        |id: &NodeId| matches!(tree.name(*id), Some(&local_name!("h2") | &local_name!("h3") | &local_name!("h4")));
    let headings = tree.descendants(tree.root()).filter(lower).take(60);
    let best = headings.filter_map(fits).fold(h1, longest);
    best.map(|(_, id)| id).or_else(|| facts.h1.iter().copied().find(|id| !tree.raw_text(*id).trim().is_empty()))
}

/// What a microdata or RDFa property speaks of.
fn property_role(property: &str) -> Option<Role> {
    if property.is_empty() || property.len() > 80 {
        return None;
    }
    property.split_ascii_whitespace().find_map(|name| {
        let name = name.rsplit([':', '/', '.']).next().unwrap_or(name);
        match name {
            _ if name.eq_ignore_ascii_case("datePublished") => Some(Role::Published),
            "pubdate" | "published" | "issued" | "datePosted" => Some(Role::Published),
            "dateCreated" | "created" | "date" | "uploadDate" => Some(Role::Unclear),
            "dateModified" | "modified" | "dateUpdated" | "updated" => Some(Role::Modified),
            _ => None,
        }
    })
}

/// `data-published`, `data-timestamp` and the like.
fn is_dated_name(name: &str) -> bool {
    words::marks(&name[5..]) & (words::DATE | words::CHANGE) != 0
}

/// The text below an element, unless there is much of it.
fn short_text(tree: &Tree, top: NodeId) -> Option<String> {
    let mut text = String::new();
    let mut steps = 0;
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        steps += 1;
        match &tree.node(id).data {
            Data::Text(piece) => push_squashed(&mut text, head(piece, MOST_MARKED_BYTES * 4)),
            Data::Element(name, _) if !is_inline(&name.local) && !text.is_empty() => text.push(' '),
            _ => {}
        }
        if steps > 40 || text.len() > MOST_MARKED_BYTES {
            return None;
        }
        at = tree.following(id, top, false);
    }
    (text.len() >= 6).then_some(text)
}

/// The beginning of a text, cut at a character.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The end of a text, cut at a character.
fn tail(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// Letters and digits only, in lower case, for comparing headlines.
fn squeeze(text: &str) -> String {
    text.chars().take(400).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The newest year of a copyright line, as a day in the middle of it.
pub(super) fn copyright(tree: &Tree) -> Option<Date> {
    let mut latest = None;
    for id in tree.descendants(tree.body()).take(40_000) {
        let Some(text) = tree.as_text(id).filter(|text| text.len() < 400) else { continue };
        if let Some(at) = text.find('©').or_else(|| text.find("opyright")) {
            let years = head(&text[at..], 60).split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 4);
            let years = years.filter_map(|run| run.parse::<i16>().ok()).filter(|year| (1995..2100).contains(year));
            latest = latest.max(years.max());
        }
    }
    latest.and_then(|year| Date::new(year, 1, 1).ok())
}
