//! Further layers of imported documents, collected from their paragraphs.

use std::collections::HashMap;

use tidings_model::{Annotated, LayerColumn, Paragraph, SpanPart, TokenSpan, kept_before};

/// Maximum number of further token attributes of a document.
const MAX_COLUMNS: usize = 64;

/// Layers of a document whose paragraphs are added one after the other.
#[derive(Debug, Default)]
pub(crate) struct LayerCollector {
    /// Tokens of the paragraphs so far.
    tokens: usize,
    columns: Vec<LayerColumn>,
    spans: Vec<TokenSpan>,
    /// Positions in `spans` of spans that have parts in several paragraphs.
    parts: HashMap<u32, usize>,
}

impl LayerCollector {
    /// Adds a paragraph without imported layers.
    pub(crate) fn skip(&mut self, tokens: usize) {
        self.tokens += tokens;
    }

    /// Adds the layers of an imported paragraph of which some tokens are kept, given a flag for each.
    pub(crate) fn add(&mut self, paragraph: &mut Paragraph, is_kept: &[bool]) {
        let kept = is_kept.iter().filter(|is_kept| **is_kept).count();
        if !paragraph.columns.is_empty() || !paragraph.token_spans.is_empty() {
            for column in std::mem::take(&mut paragraph.columns) {
                self.add_column(column, is_kept);
            }
            let positions = kept_before(is_kept);
            for part in std::mem::take(&mut paragraph.token_spans) {
                self.add_part(part, &positions);
            }
        }
        self.tokens += kept;
    }

    fn add_column(&mut self, column: LayerColumn, is_kept: &[bool]) {
        let known = self.columns.iter().position(|known| known.layer.name == column.layer.name);
        let index = match known {
            Some(index) => index,
            None if self.columns.len() == MAX_COLUMNS => return,
            None => {
                self.columns.push(LayerColumn { layer: column.layer, values: Vec::new() });
                self.columns.len() - 1
            }
        };
        let values = &mut self.columns[index].values;
        values.resize(self.tokens, String::new());
        values.extend(column.values.into_iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(value, _)| value));
    }

    fn add_part(&mut self, part: SpanPart, positions: &[u32]) {
        let SpanPart { mut span, part_of } = part;
        if !span.move_to(positions) {
            return;
        }
        let first = self.tokens as u32;
        (span.start, span.end) = (span.start + first, span.end + first);
        if let Some(index) = self.parts.get(&part_of) {
            self.spans[*index].end = span.end;
            return;
        }
        if part_of != 0 {
            self.parts.insert(part_of, self.spans.len());
        }
        self.spans.push(span);
    }

    /// Adds the layers to the document.
    pub(crate) fn finish(self, document: &mut Annotated) {
        let LayerCollector { tokens, mut columns, mut spans, .. } = self;
        columns.iter_mut().for_each(|column| column.values.resize(tokens, String::new()));
        spans.sort_by(TokenSpan::file_order);
        (document.columns, document.spans) = (columns, spans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{LayerDeclaration, LayerKind};

    fn part(start: u32, end: u32, part_of: u32) -> SpanPart {
        SpanPart { span: TokenSpan::new("quote", start, end), part_of }
    }

    #[test]
    fn layers_are_joined_over_paragraphs_and_follow_their_tokens() {
        let layer = LayerDeclaration { name: "n".into(), kind: LayerKind::Number, origin: "import".into() };
        let column = |values: &[&str]| LayerColumn {
            layer: layer.clone(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let mut first = Paragraph { token_spans: vec![part(1, 3, 1), part(0, 1, 0)], ..Paragraph::default() };
        let mut second = Paragraph {
            columns: vec![column(&["7", "8"])],
            token_spans: vec![part(0, 2, 1), part(1, 2, 0)],
            ..Paragraph::default()
        };
        let mut collector = LayerCollector::default();
        collector.add(&mut first, &[false, true, true]);
        collector.skip(1);
        collector.add(&mut second, &[true, false]);
        let mut document = Annotated::default();
        collector.finish(&mut document);
        assert_eq!(document.columns, [column(&["", "", "", "7"])]);
        assert_eq!(document.spans, [TokenSpan::new("quote", 0, 4)]);
    }
}
