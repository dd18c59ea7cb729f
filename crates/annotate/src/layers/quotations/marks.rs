//! Quotation marks: which tokens are marks, and whether they open or close.
//!
//! Most glyphs open in one language and close in another, and straight marks have no direction at all. The position decides
//! first (white space before or after), then the habit of the language, then what is open.

use super::habits::Habits;
use super::text::{Text, is_comma, is_dash, is_final, is_unspaced};

/// Glyphs that can pair with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// “ ” „ ‟ " and full-width forms.
    Double,
    /// ‘ ’ ‚ ‛ '
    Single,
    /// « »
    Guillemet,
    /// ‹ ›
    SingleGuillemet,
    /// 「 」
    Corner,
    /// 『 』
    WhiteCorner,
}

/// A token that may be a quotation mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) token: usize,
    pub(super) glyph: char,
    pub(super) family: Family,
    pub(super) position: Position,
}

/// The side on which a mark touches its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// White space before, none after.
    Opening,
    /// White space after, none before.
    Closing,
    /// White space on both sides.
    Free,
    /// No white space on either side.
    Tight,
}

/// The role of a mark in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Open,
    Close,
    /// An apostrophe, a sign for inches, a stray mark.
    None,
}

/// Reads a token as a quotation mark. Letters and digits come first because nearly all tokens begin with one.
pub(super) fn glyph(word: &str) -> Option<(char, Family)> {
    let first = word.chars().next()?;
    if first.is_ascii_alphanumeric() {
        return None;
    }
    let glyph = match word {
        "``" => '“',
        "''" | "“”" => '"',
        _ if word.len() == first.len_utf8() => first,
        _ => return None,
    };
    let family = match glyph {
        '"' | '“' | '”' | '„' | '‟' | '＂' | '〝' | '〞' | '〟' | '״' => Family::Double,
        '\'' | '‘' | '’' | '‚' | '‛' | '＇' => Family::Single,
        '«' | '»' => Family::Guillemet,
        '‹' | '›' => Family::SingleGuillemet,
        '「' | '」' | '｢' | '｣' | '﹁' | '﹂' => Family::Corner,
        '『' | '』' | '﹃' | '﹄' => Family::WhiteCorner,
        _ => return None,
    };
    Some((glyph, family))
}

/// The marks of a range of tokens.
pub(super) fn marks(text: &Text<'_>, start: usize, end: usize, found: &mut Vec<Mark>) {
    found.clear();
    for token in start..end {
        if let Some((glyph, family)) = glyph(text.word(token)) {
            found.push(Mark { token, glyph, family, position: Position::Tight });
        }
    }
    // Neighbouring marks share the space around them, as in “‘We: the position is that of the whole row.
    let mut from = 0;
    while from < found.len() {
        let mut to = from + 1;
        while to < found.len() && found[to].token == found[to - 1].token + 1 && !text.space_after(found[to - 1].token) {
            to += 1;
        }
        let position = position(text, start, end, found[from].token, found[to - 1].token);
        found[from..to].iter_mut().for_each(|mark| mark.position = position);
        from = to;
    }
}

/// The position of a row of marks within a paragraph. Brackets, dashes and punctuation count as space on their outer side.
fn position(text: &Text<'_>, start: usize, end: usize, first: usize, last: usize) -> Position {
    let before = first == start || text.space_after(first - 1) || {
        let word = text.word(first - 1);
        is_dash(word) || word.ends_with(['(', '[', '{', '（', '¿', '¡', '/', '—', '–'])
    };
    let after = last + 1 >= end || text.space_after(last) || {
        let word = text.word(last + 1);
        is_dash(word)
            || is_final(word)
            || is_comma(word)
            || word.starts_with([')', ']', '}', '）', ';', ':', '；', '：', '-', '/', '—', '–', ','])
    };
    match (before, after) {
        (true, false) => Position::Opening,
        (false, true) => Position::Closing,
        (true, true) => Position::Free,
        (false, false) => Position::Tight,
    }
}

/// The context in which the role of a mark is decided.
pub(super) struct MarkContext<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    pub(super) habits: &'static Habits,
    /// The glyph of the innermost open mark of the same family.
    pub(super) open: Option<char>,
    /// The following marks of the paragraph.
    pub(super) next: &'t [Mark],
}

impl MarkContext<'_, '_> {
    /// Decides whether a mark opens or closes.
    pub(super) fn role(&self, mark: &Mark) -> Role {
        match mark.glyph {
            '„' | '〝' | '「' | '｢' | '﹁' | '『' | '﹃' => Role::Open,
            '」' | '｣' | '﹂' | '』' | '﹄' | '〞' | '〟' => Role::Close,
            '“' | '‟' => self.left_double(mark),
            '”' => self.right_double(mark),
            '"' | '＂' | '״' => self.straight_double(mark),
            '«' | '»' | '‹' | '›' => self.guillemet(mark),
            '‚' if mark.position == Position::Opening => Role::Open,
            '‘' | '‛' => self.left_single(mark),
            '’' => self.right_single(mark),
            '\'' | '＇' => self.straight_single(mark),
            _ => Role::None,
        }
    }

    fn close_or(&self, otherwise: Role) -> Role {
        if self.open.is_some() { Role::Close } else { otherwise }
    }

    /// “ opens, except after „ and where it stands like a closing mark.
    fn left_double(&self, mark: &Mark) -> Role {
        match mark.position {
            Position::Opening => Role::Open,
            Position::Closing if self.habits.closes_with_left_double || self.open.is_some() => Role::Close,
            _ if self.open == Some('„') => Role::Close,
            _ => Role::Open,
        }
    }

    /// ” closes, except in Swedish and Finnish, where it also opens.
    fn right_double(&self, mark: &Mark) -> Role {
        match mark.position {
            Position::Closing => Role::Close,
            Position::Opening if self.open.is_none() || self.habits.opens_with_right_double => Role::Open,
            Position::Free if self.habits.opens_with_right_double => self.close_or(Role::Open),
            _ => Role::Close,
        }
    }

    fn straight_double(&self, mark: &Mark) -> Role {
        match mark.position {
            Position::Opening => Role::Open,
            Position::Closing if self.is_inch(mark) => Role::None,
            Position::Closing => Role::Close,
            Position::Tight if self.is_inside_word(mark) => Role::None,
            Position::Free | Position::Tight => self.close_or(Role::Open),
        }
    }

    /// A mark after a digit is a sign for inches if no quotation is open, or if the next mark closes the open one.
    fn is_inch(&self, mark: &Mark) -> bool {
        let Some(before) = mark.token.checked_sub(1) else { return false };
        if !self.text.word(before).ends_with(|one: char| one.is_ascii_digit() || one == '\'' || one == '’') {
            return false;
        }
        let next = self.next.iter().find(|next| next.family == Family::Double);
        self.open.is_none() || next.is_some_and(|next| next.position == Position::Closing)
    }

    /// Returns true between letters or digits of scripts with spaces, as in Hebrew acronyms.
    fn is_inside_word(&self, mark: &Mark) -> bool {
        let is_letter = |one: char| one.is_alphanumeric() && !is_unspaced(one);
        let before = mark.token.checked_sub(1).and_then(|at| self.text.word(at).chars().last());
        let after = self.text.word_or_empty(mark.token + 1).chars().next();
        before.is_some_and(is_letter) && after.is_some_and(is_letter) && self.open.is_none()
    }

    /// « opens where the language has «…», closes where it has »…«; the position is stronger than the habit.
    fn guillemet(&self, mark: &Mark) -> Role {
        let is_left = matches!(mark.glyph, '«' | '‹');
        match mark.position {
            Position::Opening => Role::Open,
            Position::Closing => Role::Close,
            _ if is_left != self.habits.opens_with_right_guillemet => match is_left {
                true => Role::Open,
                // »…» closes with the glyph that opens.
                false => self.close_or(Role::Open),
            },
            _ => Role::Close,
        }
    }

    fn left_single(&self, mark: &Mark) -> Role {
        match mark.position {
            Position::Closing => self.close_or(Role::None),
            Position::Opening => Role::Open,
            _ if self.open == Some('‚') => Role::Close,
            _ => Role::Open,
        }
    }

    fn right_single(&self, mark: &Mark) -> Role {
        match mark.position {
            Position::Opening if self.habits.opens_with_right_double && self.closes_later() => Role::Open,
            Position::Opening => Role::None,
            _ if self.open.is_none() || self.is_possessive(mark) => Role::None,
            _ => Role::Close,
        }
    }

    fn straight_single(&self, mark: &Mark) -> Role {
        let next = self.text.word_or_empty(mark.token + 1);
        match mark.position {
            Position::Opening if next.starts_with(|one: char| one.is_ascii_digit()) => Role::None,
            Position::Opening if self.closes_later() => Role::Open,
            Position::Closing if self.open.is_some() && !self.is_possessive(mark) => Role::Close,
            _ => Role::None,
        }
    }

    /// Returns true if the next single mark of the paragraph stands like a closing one.
    fn closes_later(&self) -> bool {
        let mut singles = self.next.iter().filter(|next| next.family == Family::Single);
        singles.next().is_some_and(|next| next.position == Position::Closing)
    }

    /// An apostrophe after *s* is a possessive if a word follows and another mark closes the quotation: *the workers’ rights*.
    fn is_possessive(&self, mark: &Mark) -> bool {
        let Some(before) = mark.token.checked_sub(1) else { return false };
        let next = mark.token + 1;
        let follows = next < self.text.len()
            && self.text.token(mark.token).space_after
            && self.text.word(next).starts_with(char::is_lowercase)
            && matches!(self.text.tag(next), "" | "NOUN" | "ADJ" | "PROPN" | "NUM");
        self.text.word(before).ends_with(['s', 'x', 'z']) && follows && self.closes_later()
    }
}
