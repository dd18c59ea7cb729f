//! Displayed dates: `<time>`, microdata, elements with date-like class names, and lines of text.
//!
//! One pass over the tree. Marks are inherited from ancestors through a table with one entry per
//! node. Text is joined into lines as a browser would break them, because a date is often spread
//! over several elements.

use html5ever::local_name;
use jiff::civil::Date;

use super::labels::{self, Label};
use super::locale::DateLocale;
use super::parse::{WrittenDate, find, machine_date};
use super::{Candidate, DatePosition, DateRole, DateSource};
use crate::declared_metadata::DeclaredMetadata;
use crate::tree::{Data, NodeId, Tree, is_inline, push_collapsed};

/// Longer lines are prose; only their beginning is searched.
const PROSE_BYTES: usize = 220;
/// Maximum number of bytes read per text node of a line.
const MAX_LINE_BYTES: usize = 2 * PROSE_BYTES;
/// Length of the searched beginning of prose.
const PROSE_HEAD_BYTES: usize = 120;
/// Maximum text length of an element with a date-like class name.
const MAX_MARKED_BYTES: usize = 160;
/// Maximum number of dates per page.
const MAX_HITS: usize = 160;
/// Maximum number of text bytes read per page.
const MAX_TEXT_BYTES: usize = 400_000;
/// Maximum distance of a date below its headline, in bytes of text.
const BELOW_TITLE_BYTES: usize = 700;
/// Maximum distance of a date above its headline.
const ABOVE_TITLE_BYTES: usize = 200;

/// A date on the page.
struct Hit {
    candidate: Candidate,
    /// Number of text bytes before it.
    offset: usize,
    marks: u16,
}

struct PageScanner<'t> {
    tree: &'t Tree,
    locale: DateLocale,
    marks: Vec<u16>,
    blocks: Vec<NodeId>,
    line: String,
    line_block: NodeId,
    line_marks: u16,
    /// The previous short line, which may be a label.
    before: String,
    offset: usize,
    /// Bytes of the line that were not read.
    unread: usize,
    /// The element of the headline, and its offset in the text.
    title: Option<NodeId>,
    title_offset: Option<usize>,
    /// Whether a node contains the headline; such a node is not a sidebar, even if its class says
    /// so.
    trunk: Vec<bool>,
    hits: Vec<Hit>,
}

/// Collects the dates that the page displays.
pub(super) fn read(tree: &Tree, declared: &DeclaredMetadata<'_>, locale: DateLocale, candidates: &mut Vec<Candidate>) {
    let mut scanner = PageScanner {
        tree,
        locale,
        marks: vec![0; tree.len()],
        blocks: vec![tree.root(); tree.len()],
        line: String::new(),
        line_block: tree.root(),
        line_marks: 0,
        before: String::new(),
        offset: 0,
        unread: 0,
        title: headline(tree, declared),
        title_offset: None,
        trunk: vec![false; tree.len()],
        hits: Vec::new(),
    };
    if let Some(title) = scanner.title {
        for above in tree.ancestors(title) {
            scanner.trunk[above.index()] = true;
        }
    }
    scanner.run();
    scanner.assign_positions(candidates);
}

impl PageScanner<'_> {
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
                            | local_name!("svg")
                            | local_name!("select")
                            | local_name!("textarea")
                            | local_name!("iframe")
                    );
                    // Forum software puts the whole page into one.
                    skip |= name.local == local_name!("noscript") && !self.tree.is_noscript_page(id);
                    if !skip {
                        self.take_element(id);
                    }
                }
                _ => {}
            }
            if self.offset > MAX_TEXT_BYTES || self.hits.len() > MAX_HITS {
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
            self.line_marks &= self.marks[parent.index()] | !labels::LINK;
        }
        // The rest of a long line only counts by its length.
        if self.line.len() <= PROSE_BYTES {
            let (read, unread) = text.split_at(text.floor_char_boundary(MAX_LINE_BYTES));
            push_collapsed(&mut self.line, read);
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
            local_name!("footer") | local_name!("nav") | local_name!("aside") => labels::EDGE,
            local_name!("article") | local_name!("main") => labels::ARTICLE,
            local_name!("header") => labels::HEADER,
            local_name!("a") => labels::LINK,
            _ => 0,
        };
        // The footer of an article belongs to the article.
        if *name == local_name!("footer") && self.marks[parent.index()] & labels::ARTICLE != 0 {
            marks &= !labels::EDGE;
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
                local_name!("class") | local_name!("id") => own |= labels::marks(value),
                local_name!("itemprop") | local_name!("property") => property = value,
                local_name!("datetime") => machine = Some((value, DateSource::Time)),
                local_name!("content") if machine.is_none() => machine = Some((value, DateSource::Microdata)),
                local_name!("title") if machine.is_none() => machine = Some((value, DateSource::Marked)),
                ref other if &**other == "pubdate" => own |= labels::DATE | labels::PUBLICATION,
                ref other if other.starts_with("data-") && value.len() >= 8 && is_dated_name(other) => {
                    if let Some(stamp) = machine_date(value, self.locale) {
                        let role = if labels::marks(other) & labels::CHANGE != 0 {
                            DateRole::Modified
                        } else {
                            DateRole::Unclear
                        };
                        self.hit(Candidate::of(stamp, DateSource::Data, role, DatePosition::Body), marks | own);
                    }
                }
                _ => {}
            }
        }
        if self.trunk[id.index()] {
            marks &= !(labels::EDGE | labels::RELATED | labels::COMMENT | labels::EVENT);
            own &= !(labels::EDGE | labels::RELATED | labels::COMMENT | labels::EVENT | labels::DATE | labels::CHANGE);
        }
        let inherited = labels::EDGE | labels::RELATED | labels::COMMENT | labels::EVENT | labels::ARTICLE;
        self.marks[id.index()] = marks | own & inherited;
        if self.title == Some(id) {
            self.flush();
            self.title_offset = Some(self.offset);
        }
        let marks = marks | own;
        let time = *name == local_name!("time");
        let role = property_role(property);
        if time || role.is_some() || own & (labels::DATE | labels::CHANGE) != 0 || *name == local_name!("abbr") {
            let source = match role {
                _ if time => DateSource::Time,
                Some(_) => DateSource::Microdata,
                None => DateSource::Marked,
            };
            self.named(id, source, role, own, marks, machine.map(|(value, _)| value));
        }
    }

    /// Handles an element that is marked as a date.
    fn named(
        &mut self,
        id: NodeId,
        source: DateSource,
        role: Option<DateRole>,
        own: u16,
        marks: u16,
        machine: Option<&str>,
    ) {
        let by_name = if own & labels::CHANGE != 0 && own & labels::PUBLICATION == 0 {
            Some(DateRole::Modified)
        } else if own & labels::PUBLICATION != 0 {
            Some(DateRole::Published)
        } else {
            None
        };
        let stamped = machine.and_then(|value| machine_date(value, self.locale));
        let text = if stamped.is_none() { short_text(self.tree, id) } else { None };
        let found = text.as_deref().map(|text| find(text, self.locale)).unwrap_or_default();
        if stamped.is_none() && found.is_empty() {
            return;
        }
        let mut role = role.or(by_name);
        if role.is_none() {
            // The label may precede the element.
            let lead = if self.line.is_empty() { self.before.as_str() } else { self.line.as_str() };
            role = match labels::label(tail(lead, 40)) {
                Some(Label::Published) => Some(DateRole::Published),
                Some(Label::Modified) => Some(DateRole::Modified),
                Some(Label::Other) => return,
                None => None,
            };
        }
        if let Some(stamp) = stamped {
            self.hit(Candidate::of(stamp, source, role.unwrap_or(DateRole::Unclear), DatePosition::Body), marks);
            return;
        }
        let Some(text) = text else { return };
        let mut from = 0;
        for found in found {
            let label = labels::label(text.get(from..found.start).unwrap_or_default());
            from = found.end;
            let role = match label {
                Some(Label::Other) => continue,
                Some(Label::Published) => DateRole::Published,
                Some(Label::Modified) => DateRole::Modified,
                None => role.unwrap_or(DateRole::Unclear),
            };
            self.found(found, source, role, marks);
        }
    }

    fn found(&mut self, found: WrittenDate, source: DateSource, role: DateRole, marks: u16) {
        let mut candidate = Candidate::on(found.day, source, role, DatePosition::Body);
        candidate.vague = found.vague;
        self.hit(candidate, marks);
        if let Some(other) = found.other {
            let mut candidate = Candidate::on(other, DateSource::Swapped, role, DatePosition::Body);
            candidate.vague = true;
            self.hit(candidate, marks);
        }
    }

    fn hit(&mut self, candidate: Candidate, marks: u16) {
        if self.hits.len() <= MAX_HITS {
            self.hits.push(Hit { candidate, offset: self.offset + self.line.len(), marks });
        }
    }

    /// Ends the line and searches it for dates.
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
        let all = find(text, self.locale);
        for (nth, found) in all.iter().copied().enumerate() {
            let before = text.get(from..found.start).unwrap_or_default();
            from = found.end;
            let mut label = labels::label(tail(before, 60));
            let alone = (found.end - found.start) * 3 > text.len() || text.len() < found.end - found.start + 24;
            if label.is_none() && before.trim().is_empty() {
                label = labels::label(&self.before).filter(|_| self.before.trim_end().ends_with(':') || alone);
            }
            // The label may also follow: 2019-08-02 (updated).
            if label.is_none() && alone && nth + 1 == all.len() {
                label = labels::label(head(&text[found.end..], 24));
            }
            let (source, role) = match label {
                Some(Label::Other) => continue,
                Some(Label::Published) if !prose => (DateSource::Labelled, DateRole::Published),
                Some(Label::Modified) if !prose => (DateSource::Labelled, DateRole::Modified),
                _ if prose => (DateSource::Prose, DateRole::Unclear),
                _ if alone => (DateSource::Alone, DateRole::Unclear),
                _ => (DateSource::Line, DateRole::Unclear),
            };
            let marks = self.line_marks;
            self.offset += found.start;
            self.found(found, source, role, marks);
            self.offset -= found.start;
        }
    }

    /// Assigns every date its position; this needs the headline's offset.
    fn assign_positions(self, candidates: &mut Vec<Candidate>) {
        let title = self.title_offset;
        let mut kept: Vec<Candidate> = Vec::new();
        for hit in self.hits {
            let near = title.is_some_and(|title| {
                hit.offset + ABOVE_TITLE_BYTES >= title && hit.offset <= title + BELOW_TITLE_BYTES
            });
            let mut candidate = hit.candidate;
            let aside = hit.marks & (labels::COMMENT | labels::EVENT) != 0 || hit.marks & labels::RELATED != 0 && !near;
            candidate.position = if aside {
                DatePosition::Aside
            } else if hit.marks & labels::EDGE != 0 {
                DatePosition::Edge
            } else if near {
                DatePosition::Title
            } else if hit.marks & labels::ARTICLE != 0 {
                DatePosition::Article
            } else {
                DatePosition::Body
            };
            candidate.linked = hit.marks & labels::LINK != 0;
            // Later dates of the same kind usually belong to other articles.
            let nth = kept
                .iter()
                .filter(|k| (k.source, k.role, k.position) == (candidate.source, candidate.role, candidate.position))
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

/// The element of the headline: the longest heading contained in `<title>`, or else the first
/// `<h1>`.
fn headline(tree: &Tree, declared: &DeclaredMetadata<'_>) -> Option<NodeId> {
    let title = squeeze(&declared.title.map(|title| tree.raw_text(title)).unwrap_or_default());
    let social = squeeze(declared.meta("og:title").next().unwrap_or_default());
    let fits = |id: NodeId| {
        let text = squeeze(&tree.raw_text(id));
        let length = text.chars().count();
        let fits = length >= 8
            && (title.contains(&text)
                || social.contains(&text)
                || length > 20 && text.contains(&title) && title.chars().count() > 15);
        fits.then_some((length, id))
    };
    // The first of equally long ones: later ones may be in a list of recent articles.
    let longest = |best: Option<(usize, NodeId)>, next: (usize, NodeId)| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    };
    let h1 = declared.h1.iter().take(20).filter_map(|id| fits(*id)).fold(None, longest);
    if h1.is_some_and(|(length, _)| length >= 20 || length * 3 >= title.chars().count() * 2) {
        return h1.map(|(_, id)| id);
    }
    let lower =
        |id: &NodeId| matches!(tree.name(*id), Some(&local_name!("h2") | &local_name!("h3") | &local_name!("h4")));
    let headings = tree.descendants(tree.root()).filter(lower).take(60);
    let best = headings.filter_map(fits).fold(h1, longest);
    best.map(|(_, id)| id).or_else(|| declared.h1.iter().copied().find(|id| !tree.raw_text(*id).trim().is_empty()))
}

/// The event that a microdata or RDFa property dates.
fn property_role(property: &str) -> Option<DateRole> {
    if property.is_empty() || property.len() > 80 {
        return None;
    }
    property.split_ascii_whitespace().find_map(|name| {
        let name = name.rsplit([':', '/', '.']).next().unwrap_or(name);
        match name {
            _ if name.eq_ignore_ascii_case("datePublished") => Some(DateRole::Published),
            "pubdate" | "published" | "issued" | "datePosted" => Some(DateRole::Published),
            "dateCreated" | "created" | "date" | "uploadDate" => Some(DateRole::Unclear),
            "dateModified" | "modified" | "dateUpdated" | "updated" => Some(DateRole::Modified),
            _ => None,
        }
    })
}

/// Returns whether a `data-` attribute such as `data-published` holds a date.
fn is_dated_name(name: &str) -> bool {
    labels::marks(&name[5..]) & (labels::DATE | labels::CHANGE) != 0
}

/// The text of an element, or `None` if it is long.
fn short_text(tree: &Tree, top: NodeId) -> Option<String> {
    let mut text = String::new();
    let mut steps = 0;
    let mut at = tree.first_child(top);
    while let Some(id) = at {
        steps += 1;
        match &tree.node(id).data {
            Data::Text(piece) => push_collapsed(&mut text, head(piece, MAX_MARKED_BYTES * 4)),
            Data::Element(name, _) if !is_inline(&name.local) && !text.is_empty() => text.push(' '),
            _ => {}
        }
        if steps > 40 || text.len() > MAX_MARKED_BYTES {
            return None;
        }
        at = tree.following(id, top, false);
    }
    (text.len() >= 6).then_some(text)
}

/// The first `most` bytes, cut at a character boundary.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The last `most` bytes, cut at a character boundary.
fn tail(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// Letters and digits in lower case, for comparing headlines.
fn squeeze(text: &str) -> String {
    text.chars().take(400).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The newest year in a copyright line, as 1 January.
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
