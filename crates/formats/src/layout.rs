//! The paragraphs of a document as nested structures: items in lists, rows in tables.

use tidings_model::{Paragraph, ParagraphKind};

/// A part of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum LayoutBlock<'a> {
    /// A heading of that rank, 1 to 6.
    Heading(u8, &'a Paragraph),
    /// Running text.
    Plain(&'a Paragraph),
    /// Paragraphs of a quotation.
    Quote(&'a [Paragraph]),
    /// Program text.
    Code(&'a Paragraph),
    /// A list.
    List(List<'a>),
    /// Rows of a table.
    Table(&'a [Paragraph]),
}

/// A list, with lists in its items.
#[derive(Debug, PartialEq)]
pub(crate) struct List<'a> {
    /// True if it is numbered.
    pub(crate) ordered: bool,
    /// Its items; never none.
    pub(crate) items: Vec<ListItem<'a>>,
}

/// An item of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct ListItem<'a> {
    /// Its text.
    pub(crate) paragraph: &'a Paragraph,
    /// The lists in it.
    pub(crate) lists: Vec<List<'a>>,
}

/// Groups paragraphs: adjacent ones of the same kind become one block.
pub(crate) fn parts(paragraphs: &[Paragraph]) -> Vec<LayoutBlock<'_>> {
    let mut parts = Vec::new();
    for run in paragraphs.chunk_by(|a, b| stand_together(a.kind, b.kind)) {
        let first = &run[0];
        match first.kind {
            ParagraphKind::P => parts.push(LayoutBlock::Plain(first)),
            ParagraphKind::Heading { level } => parts.push(LayoutBlock::Heading(level.clamp(1, 6), first)),
            ParagraphKind::Code => parts.push(LayoutBlock::Code(first)),
            ParagraphKind::Quote => parts.push(LayoutBlock::Quote(run)),
            ParagraphKind::Row { .. } => parts.push(LayoutBlock::Table(run)),
            ParagraphKind::Item { .. } => parts.extend(lists(run).into_iter().map(LayoutBlock::List)),
        }
    }
    parts
}

fn stand_together(a: ParagraphKind, b: ParagraphKind) -> bool {
    matches!(
        (a, b),
        (ParagraphKind::Quote, ParagraphKind::Quote)
            | (ParagraphKind::Row { .. }, ParagraphKind::Row { .. })
            | (ParagraphKind::Item { .. }, ParagraphKind::Item { .. })
    )
}

/// Nests items by depth. Depths may start anywhere and skip levels; each increase is a list in the preceding item, with
/// at most 255 levels.
fn lists(run: &[Paragraph]) -> Vec<List<'_>> {
    let mut lists: Vec<List<'_>> = Vec::new();
    let mut base = depth(&run[0]).1;
    let mut at = 0;
    while at < run.len() {
        let (ordered, depth_here) = depth(&run[at]);
        base = base.min(depth_here);
        let inner = run[at + 1..].iter().take_while(|next| depth(next).1 > base).count();
        let inside = &run[at + 1..at + 1 + inner];
        let item =
            ListItem { paragraph: &run[at], lists: if inside.is_empty() { Vec::new() } else { self::lists(inside) } };
        match lists.last_mut() {
            Some(list) if list.ordered == ordered => list.items.push(item),
            _ => lists.push(List { ordered, items: vec![item] }),
        }
        at += 1 + inner;
    }
    lists
}

fn depth(item: &Paragraph) -> (bool, u8) {
    match item.kind {
        ParagraphKind::Item { depth, ordered } => (ordered, depth),
        _ => (false, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(depth: u8, ordered: bool, text: &str) -> Paragraph {
        Paragraph { kind: ParagraphKind::Item { depth, ordered }, text: text.into(), ..Paragraph::default() }
    }

    fn shown(lists: &[List<'_>]) -> String {
        let list = |list: &List<'_>| {
            let items: Vec<String> =
                list.items.iter().map(|item| format!("{}{}", item.paragraph.text, shown(&item.lists))).collect();
            let (open, close) = if list.ordered { ('(', ')') } else { ('[', ']') };
            format!("{open}{}{close}", items.join(" "))
        };
        lists.iter().map(list).collect()
    }

    #[test]
    fn items_are_nested_by_depth() {
        let run =
            [item(1, false, "a"), item(2, true, "b"), item(2, true, "c"), item(1, false, "d"), item(1, true, "e")];
        assert_eq!(shown(&lists(&run)), "[a(b c) d](e)");
    }

    #[test]
    fn depths_may_start_anywhere_and_skip_levels() {
        let run =
            [item(3, false, "a"), item(9, false, "b"), item(5, false, "c"), item(1, false, "d"), item(2, true, "e")];
        assert_eq!(shown(&lists(&run)), "[a[b c] d(e)]");
        let steep: Vec<Paragraph> = (0..=255).map(|depth| item(depth, false, "x")).collect();
        assert_eq!(shown(&lists(&steep)).matches('[').count(), 256);
    }
}
