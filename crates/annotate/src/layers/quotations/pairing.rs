//! Pairs opening and closing marks, also across paragraphs.
//!
//! Each paragraph has a stack of open marks, bounded so that a text of a million opening marks costs no more than any other.
//! A quotation over several paragraphs has an opening mark at the start of each, or only one at its start and one at its end.

use super::marks::{self, Family, Mark, MarkContext, Position, Role};
use super::text::{ParagraphView, Text, is_final, is_word};

/// The largest number of tokens of a quotation; longer ones come from marks that do not belong together.
const MAX_QUOTE_TOKENS: usize = 1500;
/// The largest number of paragraphs that an open quotation may be continued over.
const MAX_PARAGRAPHS: usize = 12;
/// The largest depth of open marks.
const MAX_DEPTH: usize = 8;
/// The fewest tokens of a quotation without a closing mark.
const MIN_UNCLOSED_TOKENS: usize = 5;

/// A quotation between marks: its tokens, marks excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    /// The first token after the opening mark.
    pub(super) start: usize,
    /// The token after the last one: the closing mark, or the end of the paragraph if there is none.
    pub(super) end: usize,
    /// The number of the paragraph of the first token.
    pub(super) paragraph: usize,
    /// The number of the paragraph of the last token.
    pub(super) last_paragraph: usize,
    /// True if an enclosing quotation is open.
    pub(super) is_nested: bool,
    /// False if the closing mark is missing.
    pub(super) is_closed: bool,
}

#[derive(Clone, Copy)]
struct Open {
    mark: Mark,
    paragraph: usize,
}

/// An open quotation that goes on after its paragraph.
#[derive(Clone, Copy)]
struct Carry {
    open: Open,
    /// The last paragraph that began with a repeated opening mark, or the first one.
    last_paragraph: usize,
}

/// All quotations of a text that stand between marks, in order of their ends.
pub(super) fn pairs(text: &Text<'_>) -> Vec<Pair> {
    let mut pairing = Pairing { text, pairs: Vec::new(), stack: Vec::new(), carry: None };
    let mut marks = Vec::new();
    for (number, paragraph) in text.paragraphs.iter().enumerate() {
        marks::marks(text, paragraph.start, paragraph.end, &mut marks);
        pairing.paragraph(number, paragraph, &marks);
    }
    pairing.drop_carry();
    pairing.pairs
}

struct Pairing<'t, 'a> {
    text: &'t Text<'a>,
    pairs: Vec<Pair>,
    stack: Vec<Open>,
    carry: Option<Carry>,
}

impl Pairing<'_, '_> {
    fn paragraph(&mut self, number: usize, paragraph: &ParagraphView, marks: &[Mark]) {
        self.expire_carry(number, paragraph);
        let mut marks = marks;
        if let (Some(carry), Some(first)) = (self.carry, marks.first())
            && first.token == paragraph.start
            && carry.last_paragraph + 1 == number
            && repeats(carry.open.mark.glyph, first)
            && is_final(self.text.word(paragraph.start - 1))
        {
            self.stack.push(carry.open);
            self.carry = None;
            marks = &marks[1..];
        }
        for (index, mark) in marks.iter().enumerate() {
            let open = self.stack.iter().rev().find(|open| open.mark.family == mark.family);
            let context = MarkContext {
                text: self.text,
                habits: paragraph.habits,
                open: open.map(|open| open.mark.glyph),
                next: &marks[index + 1..],
            };
            match context.role(mark) {
                Role::Open => self.open(*mark, number),
                Role::Close => self.close(mark, number),
                Role::None => {}
            }
        }
        self.end_paragraph(number, paragraph);
    }

    fn open(&mut self, mark: Mark, paragraph: usize) {
        if self.stack.len() == MAX_DEPTH {
            self.stack.remove(0);
        }
        self.stack.push(Open { mark, paragraph });
    }

    fn close(&mut self, mark: &Mark, paragraph: usize) {
        let found = self.stack.iter().rposition(|open| open.mark.family == mark.family);
        let open = match found {
            Some(at) => {
                let open = self.stack[at];
                self.stack.truncate(at);
                open
            }
            None => match self.carry {
                // Only a mark without another partner closes a quotation of an earlier paragraph.
                Some(carry) if carry.open.mark.family == mark.family && mark.position == Position::Closing => {
                    self.carry = None;
                    carry.open
                }
                _ => return,
            },
        };
        self.emit(open, mark.token, paragraph, true);
    }

    fn emit(&mut self, open: Open, end: usize, last_paragraph: usize, is_closed: bool) {
        let start = open.mark.token + 1;
        let is_nested = !self.stack.is_empty();
        if start < end && end - start <= MAX_QUOTE_TOKENS && (start..end).any(|at| is_word(self.text.word(at))) {
            self.pairs.push(Pair { start, end, paragraph: open.paragraph, last_paragraph, is_nested, is_closed });
        }
    }

    /// Closes what a shared closing mark closes, and keeps the outermost open mark for the following paragraphs.
    fn end_paragraph(&mut self, number: usize, paragraph: &ParagraphView) {
        if let [open] = self.stack[..]
            && matches!(open.mark.family, Family::Guillemet)
            && let Some(inner) = self.pairs.last().copied()
            && inner.start > open.mark.token + 1
            && inner.last_paragraph == number
            && (inner.end + 1..paragraph.end).all(|at| !is_word(self.text.word(at)))
        {
            // Russian typography joins two closing marks to one: «Роман «Мать».
            self.stack.clear();
            self.emit(open, inner.end, number, true);
        }
        if let Some(open) = self.stack.first().copied() {
            self.drop_carry();
            self.carry = Some(Carry { open, last_paragraph: number });
        }
        self.stack.clear();
    }

    fn expire_carry(&mut self, number: usize, paragraph: &ParagraphView) {
        if let Some(carry) = self.carry
            && (number - carry.last_paragraph > MAX_PARAGRAPHS
                || paragraph.start - carry.open.mark.token > MAX_QUOTE_TOKENS)
        {
            self.drop_carry();
        }
    }

    /// Gives up waiting for a closing mark: the quotation ends with its last paragraph if it stands where quotations begin.
    fn drop_carry(&mut self) {
        let Some(Carry { open, last_paragraph }) = self.carry.take() else { return };
        let at = open.mark.token;
        let paragraph = self.text.paragraphs[last_paragraph];
        let begins = self.text.starts_sentence(at) || matches!(self.text.word(at - 1), ":" | "," | "：" | "，");
        let is_whole =
            (at + 1..paragraph.end).rev().find(|at| is_word(self.text.word(*at)) || is_final(self.text.word(*at)));
        let is_whole = is_whole.is_some_and(|last| is_final(self.text.word(last)));
        if begins
            && is_whole
            && matches!(open.mark.position, Position::Opening | Position::Tight)
            && open.mark.family != Family::Single
            && paragraph.end - at > MIN_UNCLOSED_TOKENS
        {
            self.emit(open, paragraph.end, last_paragraph, false);
        }
    }
}

/// Returns true if the first mark of a paragraph repeats the opening mark of a quotation that goes on. Spanish and French
/// repeat « as ».
fn repeats(glyph: char, first: &Mark) -> bool {
    first.position != Position::Closing && (first.glyph == glyph || (glyph == '«' && first.glyph == '»'))
}
