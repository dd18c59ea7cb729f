//! The walk over a tree that collects anchors with their text and their region.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use html5ever::local_name;
use tidings_model::{LinkRegion, PageLink, address, is_nofollow};
use url::Url;

use super::region::{self, Block};
use super::{MAX_ANCHOR_CHARS, MAX_BYTES, MAX_LINKS};
use crate::tree::{NodeId, Tree, is_inline, push_collapsed};

/// The most bytes of the text of an anchor that are read.
const MAX_ANCHOR_BYTES: usize = 4 * MAX_ANCHOR_CHARS;
/// The most occurrences of links that are examined, as a multiple of the links that are kept.
const MAX_OCCURRENCES: usize = 4 * MAX_LINKS;

/// The links of a tree.
#[derive(Default)]
pub(super) struct Collected {
    pub links: Vec<PageLink>,
    /// The target of the first anchor with `rel="next"`.
    pub next: Option<String>,
    pub truncated: bool,
}

/// An open `<a>`.
struct Anchor {
    node: NodeId,
    url: String,
    is_nofollow: bool,
    /// The number of blocks that were open at its start.
    depth: usize,
    text: String,
    /// The text of a heading within the anchor.
    heading: String,
    /// The alternative text of an image within the anchor.
    image: String,
    in_heading: bool,
    has_blocks: bool,
}

/// A complete anchor whose block is still open.
pub(super) struct Occurrence {
    url: String,
    anchor: String,
    is_nofollow: bool,
    /// The anchor is a heading, or has one within.
    is_heading: bool,
    /// The anchor contains whole blocks, as the cards of teasers do.
    pub is_card: bool,
}

struct Collector<'t> {
    tree: &'t Tree,
    base: &'t Url,
    page: &'t str,
    blocks: Vec<Block>,
    anchor: Option<Anchor>,
    /// The index in `found.links` of each URL, and whether its anchor is a heading.
    known: HashMap<String, (usize, bool)>,
    bytes: usize,
    occurrences: usize,
    found: Collected,
}

/// Collects the links of a tree, each URL once. Links to the page itself are left out.
pub(super) fn collect(tree: &Tree, base: &Url, page: &str) -> Collected {
    let mut collector = Collector {
        tree,
        base,
        page,
        blocks: vec![Block::default()],
        anchor: None,
        known: HashMap::new(),
        bytes: 0,
        occurrences: 0,
        found: Collected::default(),
    };
    collector.walk();
    collector.found
}

impl Collector<'_> {
    /// Visits all nodes with their starts and ends, without recursion.
    fn walk(&mut self) {
        let root = self.tree.root();
        let mut at = self.tree.first_child(root);
        while let Some(id) = at {
            if self.enter(id)
                && let Some(child) = self.tree.first_child(id)
            {
                at = Some(child);
                continue;
            }
            let mut ended = id;
            at = loop {
                self.leave(ended);
                if let Some(next) = self.tree.next_sibling(ended) {
                    break Some(next);
                }
                match self.tree.parent(ended) {
                    Some(parent) if parent != root => ended = parent,
                    _ => break None,
                }
            };
        }
        while let Some(block) = self.blocks.pop() {
            self.close(block);
        }
    }

    /// Starts a node; false if nothing below it is shown.
    fn enter(&mut self, id: NodeId) -> bool {
        if let Some(text) = self.tree.as_text(id) {
            self.text(text);
            return false;
        }
        let Some(name) = self.tree.name(id) else { return false };
        if region::is_hidden(self.tree, id) {
            return false;
        }
        match *name {
            local_name!("a") | local_name!("area") => self.open_anchor(id),
            local_name!("img") => {
                if let (Some(anchor), Some(alt)) = (&mut self.anchor, self.tree.attr(id, &local_name!("alt"))) {
                    append(&mut anchor.image, alt);
                }
            }
            _ if is_inline(name) => {}
            _ => self.open_block(id),
        }
        true
    }

    fn leave(&mut self, id: NodeId) {
        if self.anchor.as_ref().is_some_and(|anchor| anchor.node == id) {
            self.close_anchor();
        } else if self.blocks.last().is_some_and(|block| block.node == Some(id))
            && let Some(block) = self.blocks.pop()
        {
            if let Some(anchor) = self.anchor.as_mut().filter(|_| block.is_heading) {
                anchor.in_heading = false;
            }
            self.close(block);
        }
    }

    fn open_block(&mut self, id: NodeId) {
        let above = self.blocks.last().map(Block::context).unwrap_or_default();
        let block = Block::new(self.tree, id, above);
        if let Some(anchor) = &mut self.anchor {
            anchor.has_blocks = true;
            anchor.in_heading |= block.is_heading;
        }
        self.blocks.push(block);
    }

    fn text(&mut self, text: &str) {
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        let Some(block) = self.blocks.last_mut() else { return };
        block.chars += letters;
        let Some(anchor) = &mut self.anchor else { return };
        block.link_chars += letters;
        append(&mut anchor.text, text);
        if anchor.in_heading {
            append(&mut anchor.heading, text);
        }
    }

    fn open_anchor(&mut self, id: NodeId) {
        let get = |name| self.tree.attr(id, &name).unwrap_or_default();
        let Some(url) = address::resolve(get(local_name!("href")), self.base) else { return };
        let rel = get(local_name!("rel"));
        if rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("next")) {
            self.found.next.get_or_insert_with(|| url.clone());
        }
        let label = if get(local_name!("title")).is_empty() {
            self.tree
                .attrs(id)
                .iter()
                .find(|attribute| &*attribute.name.local == "aria-label")
                .map(|label| &*label.value)
        } else {
            Some(get(local_name!("title")))
        };
        let mut image = String::new();
        append(&mut image, label.unwrap_or_default());
        self.anchor = Some(Anchor {
            node: id,
            url,
            is_nofollow: is_nofollow(rel),
            depth: self.blocks.len(),
            text: String::new(),
            heading: String::new(),
            image,
            in_heading: false,
            has_blocks: false,
        });
    }

    fn close_anchor(&mut self) {
        let Some(anchor) = self.anchor.take() else { return };
        let is_heading =
            !anchor.heading.trim().is_empty() || self.blocks.iter().rev().take(2).any(|block| block.is_heading);
        let texts = [anchor.heading, anchor.text, anchor.image];
        let text = texts.iter().map(|text| text.trim()).find(|text| !text.is_empty()).unwrap_or_default();
        let occurrence = Occurrence {
            anchor: text.chars().take(MAX_ANCHOR_CHARS).collect(),
            url: anchor.url,
            is_nofollow: anchor.is_nofollow,
            is_heading,
            is_card: anchor.has_blocks,
        };
        self.occurrences += 1;
        if self.occurrences > MAX_OCCURRENCES {
            self.found.truncated = true;
        } else if let Some(block) = self.blocks.get_mut(anchor.depth.saturating_sub(1)) {
            block.links.push(occurrence);
        }
    }

    /// Ends a block: the region of its links is known now.
    fn close(&mut self, mut block: Block) {
        for link in std::mem::take(&mut block.links) {
            let region = block.region_of(&link);
            self.add(link, region);
        }
    }

    fn add(&mut self, link: Occurrence, region: LinkRegion) {
        if link.url == self.page {
            return;
        }
        match self.known.entry(link.url) {
            Entry::Occupied(mut entry) => {
                let (at, was_heading) = *entry.get();
                let known = &mut self.found.links[at];
                known.region = known.region.min(region);
                known.nofollow &= link.is_nofollow;
                let is_better = match link.is_heading == was_heading {
                    true => link.anchor.len() > known.anchor.len(),
                    false => link.is_heading && !link.anchor.is_empty(),
                };
                if is_better {
                    self.bytes = self.bytes - known.anchor.len() + link.anchor.len();
                    known.anchor = link.anchor;
                    entry.insert((at, link.is_heading));
                }
            }
            Entry::Vacant(entry) => {
                let bytes = entry.key().len() + link.anchor.len();
                if self.found.links.len() >= MAX_LINKS || self.bytes + bytes > MAX_BYTES {
                    self.found.truncated = true;
                    return;
                }
                self.bytes += bytes;
                self.found.links.push(PageLink {
                    url: entry.key().clone(),
                    region,
                    anchor: link.anchor,
                    nofollow: link.is_nofollow,
                });
                entry.insert((self.found.links.len() - 1, link.is_heading));
            }
        }
    }
}

fn append(text: &mut String, piece: &str) {
    if text.len() < MAX_ANCHOR_BYTES {
        let piece = &piece[..piece.floor_char_boundary(MAX_ANCHOR_BYTES)];
        push_collapsed(text, piece);
    }
}
