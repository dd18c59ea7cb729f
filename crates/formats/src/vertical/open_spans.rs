//! Spans that have begun and not yet ended while a vertical file is read.

use tidings_model::TokenSpan;

/// The maximum number of spans that are open at once.
const MAX_OPEN: usize = 256;

/// Start of a span: its tag without a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanTag {
    /// The name of the span.
    pub name: String,
    /// Its attributes.
    pub attributes: Vec<(String, String)>,
    /// The length in tokens, if there is no closing tag.
    pub tokens: Option<u32>,
}

/// Spans of the document that is being read.
#[derive(Debug, Default)]
pub struct OpenSpans {
    open: Vec<TokenSpan>,
    ended: Vec<TokenSpan>,
}

impl OpenSpans {
    /// Starts a span before token number `at`.
    pub fn start(&mut self, tag: SpanTag, at: u32) -> Result<(), String> {
        let span = TokenSpan { name: tag.name, start: at, end: at, attributes: tag.attributes };
        match tag.tokens {
            // Ends are cut to the document when it ends.
            Some(tokens) => self.ended.push(TokenSpan { end: at.saturating_add(tokens), ..span }),
            None if self.open.len() == MAX_OPEN => {
                return Err(format!("more than {MAX_OPEN} spans are open; check that {} has closing tags", span.name));
            }
            None => self.open.push(span),
        }
        Ok(())
    }

    /// Ends the innermost span of a name before token number `at`. A closing tag without its start is ignored.
    pub fn end(&mut self, name: &str, at: u32) {
        if let Some(index) = self.open.iter().rposition(|span| span.name == name) {
            let span = self.open.remove(index);
            self.ended.push(TokenSpan { end: at, ..span });
        }
    }

    /// Ends the document after `tokens` tokens; returns its spans in file order. Spans without a token are left out,
    /// spans without a closing tag end here.
    pub fn finish(&mut self, tokens: u32) -> Vec<TokenSpan> {
        let mut spans = std::mem::take(&mut self.ended);
        spans.extend(self.open.drain(..).map(|span| TokenSpan { end: tokens, ..span }));
        spans.iter_mut().for_each(|span| span.end = span.end.min(tokens));
        spans.retain(|span| span.start < span.end);
        spans.sort_by(TokenSpan::file_order);
        spans
    }
}
