//! Gives the kept blocks their structure: headings, lists, quotes, tables, emphasis, links.

use html5ever::{LocalName, local_name};
use tidings_model::{Mark, Paragraph, ParagraphKind, Span};
use url::Url;

use super::blocks::{Block, Blocks};
use crate::tree::{NodeId, Tree};

/// Cells longer than this belong to a table that arranges a page, not data.
const LONGEST_CELL: usize = 300;

/// Turns blocks into paragraphs; links are kept where there is an address to resolve them against
/// or they are absolute, if they are wanted.
pub fn paragraphs(tree: &Tree, blocks: &Blocks, kept: &[usize], links: Links<'_>) -> Vec<Paragraph> {
    let mut shapes: Vec<Shape> = kept.iter().map(|place| Shape::of(tree, &blocks.list[*place])).collect();
    for row in shapes.chunk_by_mut(|one, other| one.row.is_some() && one.row == other.row) {
        // A cell of several blocks arranges the page; data has one to a cell.
        if row.windows(2).any(|two| two[0].cell == two[1].cell) {
            row.iter_mut().for_each(|shape| *shape = Shape::default());
        }
    }
    let mut paragraphs: Vec<Paragraph> = Vec::with_capacity(kept.len());
    let mut row = None;
    for (place, shape) in kept.iter().zip(shapes) {
        let block = &blocks.list[*place];
        let Some(element) = block.element else { continue };
        let mut paragraph = Paragraph { kind: shape.kind, text: block.text(blocks).to_owned(), ..Paragraph::default() };
        if shape.kind == ParagraphKind::Code {
            paragraph.text.truncate(paragraph.text.trim_end().len());
        } else {
            paragraph.spans = spans(tree, blocks, block, element, links);
        }
        match paragraphs.last_mut() {
            Some(last) if shape.row.is_some() && shape.row == row => join_cell(last, paragraph),
            _ => paragraphs.push(paragraph),
        }
        row = shape.row;
    }
    paragraphs
}

/// What text within an element is.
pub fn kind(tree: &Tree, element: NodeId) -> ParagraphKind {
    let shape = Shape::within(tree, element, 0);
    if shape.row.is_some() { ParagraphKind::P } else { shape.kind }
}

/// What to do with links.
#[derive(Debug, Clone, Copy)]
pub enum Links<'a> {
    /// Only their words are kept.
    Drop,
    /// They are kept, resolved against the address of the page.
    Keep(Option<&'a Url>),
}

fn join_cell(row: &mut Paragraph, cell: Paragraph) {
    row.text.push('\t');
    let offset = row.text.len();
    row.text.push_str(&cell.text.replace('\n', " "));
    row.spans.extend(cell.spans.into_iter().map(|span| Span {
        start: span.start + offset,
        end: span.end + offset,
        ..span
    }));
    if let (ParagraphKind::Row { header }, ParagraphKind::Row { header: also }) = (&mut row.kind, cell.kind) {
        *header &= also;
    }
}

#[derive(Default)]
struct Shape {
    kind: ParagraphKind,
    /// The `<tr>` of a table of data.
    row: Option<NodeId>,
    /// The cell in it.
    cell: Option<NodeId>,
}

impl Shape {
    fn of(tree: &Tree, block: &Block) -> Shape {
        block.element.map_or_else(Shape::default, |element| Shape::within(tree, element, block.len()))
    }

    fn within(tree: &Tree, element: NodeId, length: usize) -> Shape {
        let (mut kind, mut row) = (ParagraphKind::P, None);
        let (mut depth, mut ordered, mut item) = (0u8, None, false);
        let mut cell = None;
        for id in std::iter::once(element).chain(tree.ancestors(element)) {
            let Some(name) = tree.name(id) else { continue };
            match *name {
                local_name!("h1") => return Shape::heading(1),
                local_name!("h2") => return Shape::heading(2),
                local_name!("h3") => return Shape::heading(3),
                local_name!("h4") => return Shape::heading(4),
                local_name!("h5") => return Shape::heading(5),
                local_name!("h6") => return Shape::heading(6),
                local_name!("pre") => return Shape { kind: ParagraphKind::Code, ..Shape::default() },
                local_name!("blockquote") if kind == ParagraphKind::P => kind = ParagraphKind::Quote,
                local_name!("li") => item = true,
                local_name!("ul") | local_name!("ol") | local_name!("menu") if item => {
                    depth = depth.saturating_add(1);
                    ordered.get_or_insert(*name == local_name!("ol"));
                }
                local_name!("td") | local_name!("th") => cell = cell.or(Some(id)),
                local_name!("tr")
                    if row.is_none() && cell.is_some() && length <= LONGEST_CELL && !arranges(tree, id) =>
                {
                    row = Some(id);
                }
                _ => {}
            }
        }
        if row.is_some() {
            kind = ParagraphKind::Row { header: cell.is_some_and(|cell| tree.is(cell, &local_name!("th"))) };
        } else if depth > 0 {
            kind = ParagraphKind::Item { depth, ordered: ordered.unwrap_or(false) };
        }
        Shape { kind, row, cell: cell.filter(|_| row.is_some()) }
    }

    fn heading(level: u8) -> Shape {
        Shape { kind: ParagraphKind::Heading { level }, ..Shape::default() }
    }
}

/// Whether a row holds parts of the page rather than data: it has one cell, or cells with
/// paragraphs, headings or tables in them.
fn arranges(tree: &Tree, row: NodeId) -> bool {
    let cells =
        tree.children(row).filter(|id| matches!(tree.name(*id), Some(&local_name!("td") | &local_name!("th")))).take(2);
    if cells.count() < 2 {
        return true;
    }
    let mut paragraphs = 0;
    for id in tree.descendants(row).take(400) {
        match tree.name(id) {
            Some(&local_name!("table") | &local_name!("h1") | &local_name!("h2") | &local_name!("form")) => {
                return true;
            }
            Some(&local_name!("p") | &local_name!("div")) => paragraphs += 1,
            _ => {}
        }
    }
    paragraphs > 12
}

fn spans(tree: &Tree, blocks: &Blocks, block: &Block, element: NodeId, links: Links<'_>) -> Vec<Span> {
    let mut spans: Vec<(Span, NodeId)> = Vec::new();
    for piece in &blocks.pieces[block.first_piece..block.end_piece] {
        let (start, end) = (piece.start - block.start, piece.end - block.start);
        let inline: Vec<NodeId> = tree.ancestors(piece.node).take_while(|id| *id != element).collect();
        for id in inline.into_iter().rev() {
            let Some(mark) = tree.name(id).and_then(|name| mark(tree, id, name, links)) else { continue };
            // An element with several texts in it marks one stretch.
            match spans.iter_mut().rev().find(|(_, marker)| *marker == id) {
                Some((span, _)) => span.end = end,
                None => spans.push((Span { start, end, mark }, id)),
            }
        }
    }
    spans.into_iter().map(|(span, _)| span).collect()
}

fn mark(tree: &Tree, id: NodeId, name: &LocalName, links: Links<'_>) -> Option<Mark> {
    Some(match *name {
        local_name!("b") | local_name!("strong") => Mark::Strong,
        local_name!("i") | local_name!("em") => Mark::Emphasis,
        local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => Mark::Code,
        local_name!("a") => {
            let Links::Keep(base) = links else { return None };
            let href = tree.attr(id, &local_name!("href"))?.trim();
            let url = match base {
                Some(base) => base.join(href).ok()?,
                None => Url::parse(href).ok()?,
            };
            if !matches!(url.scheme(), "http" | "https" | "mailto") {
                return None;
            }
            Mark::Link { href: url.into() }
        }
        _ => return None,
    })
}
