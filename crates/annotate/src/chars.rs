//! What a character is to a tokenizer.
//!
//! Unicode's general categories are too fine in one place and too coarse in another: all letters of
//! an alphabet are alike here, but an apostrophe, a hyphen and a full stop each have a story.

use std::sync::LazyLock;

use icu_properties::props::{ExtendedPictographic, GeneralCategory, Script, SentenceTerminal};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The kind of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Blanks inside a line.
    Space,
    /// What ends a line.
    Newline,
    Upper,
    Lower,
    /// A letter of a script without case.
    Letter,
    Han,
    Hiragana,
    Katakana,
    /// A script that needs a dictionary: Thai, Lao, Khmer, Burmese.
    Complex,
    Digit,
    /// Marks and joiners, part of whatever they follow.
    Extend,
    Apostrophe,
    Hyphen,
    Dash,
    Period,
    Comma,
    Colon,
    Semicolon,
    Slash,
    /// What ends a sentence and is no full stop.
    Stop,
    Open,
    Close,
    /// Quotation marks that open in one language and close in another.
    Quote,
    At,
    Hash,
    Ampersand,
    Underscore,
    Percent,
    Currency,
    Symbol,
    Emoji,
    /// Half of a flag.
    Regional,
    Other,
}

impl Kind {
    pub fn is_blank(self) -> bool {
        matches!(self, Kind::Space | Kind::Newline)
    }

    /// Letters of scripts that put blanks between words.
    pub fn is_letter(self) -> bool {
        matches!(self, Kind::Upper | Kind::Lower | Kind::Letter)
    }

    pub fn is_word(self) -> bool {
        self.is_letter() || self == Kind::Digit
    }

    /// Letters of scripts that do not.
    pub fn is_unspaced(self) -> bool {
        matches!(self, Kind::Han | Kind::Hiragana | Kind::Katakana | Kind::Complex)
    }

    pub fn is_cjk(self) -> bool {
        matches!(self, Kind::Han | Kind::Hiragana | Kind::Katakana)
    }
}

/// The characters of the scripts that most text is in are looked up at once.
const TABLED: usize = 0x3000;

static TABLE: LazyLock<Vec<Kind>> =
    LazyLock::new(|| (0..TABLED as u32).map(|code| char::from_u32(code).map_or(Kind::Other, classify)).collect());

/// Kinds of characters, quickly.
#[derive(Debug, Clone, Copy)]
pub struct Kinds(&'static [Kind]);

impl Kinds {
    pub fn new() -> Kinds {
        Kinds(&TABLE)
    }

    #[inline]
    pub fn of(self, c: char) -> Kind {
        match self.0.get(c as usize) {
            Some(kind) => *kind,
            None => classify(c),
        }
    }
}

fn classify(c: char) -> Kind {
    match c {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Kind::Newline,
        '\'' | '’' | 'ʼ' | 'ʻ' | '´' | '`' | '＇' | '՚' => Kind::Apostrophe,
        '-' | '\u{2010}' | '\u{2011}' | '־' => Kind::Hyphen,
        '.' | '．' | '｡' | '․' => Kind::Period,
        ',' | '،' | '、' | '，' | '､' | '՝' | '٬' | '٫' => Kind::Comma,
        ':' | '：' | 'ː' => Kind::Colon,
        ';' | '؛' | '；' => Kind::Semicolon,
        '/' | '\\' | '／' => Kind::Slash,
        '…' | '։' => Kind::Stop,
        '"' | '“' | '”' | '„' | '‟' | '‘' | '‚' | '‛' | '«' | '»' | '‹' | '›' | '＂' => {
            Kind::Quote
        }
        '@' | '＠' => Kind::At,
        '#' | '＃' => Kind::Hash,
        '&' | '＆' => Kind::Ampersand,
        '_' | '‿' | '＿' => Kind::Underscore,
        '%' | '‰' | '٪' | '％' | '°' => Kind::Percent,
        '\u{1f1e6}'..='\u{1f1ff}' => Kind::Regional,
        // Skin colours and the letters of subdivision flags belong to the picture before them.
        '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}' => Kind::Extend,
        'ー' | 'ｰ' => Kind::Katakana,
        '々' | '〆' | '〇' => Kind::Han,
        'ฯ' => Kind::Complex,
        _ if c.is_whitespace() => Kind::Space,
        _ if c > '\u{7f}' && CodePointSetData::new::<SentenceTerminal>().contains(c) => Kind::Stop,
        '!' | '?' => Kind::Stop,
        _ => by_category(c),
    }
}

fn by_category(c: char) -> Kind {
    use GeneralCategory as G;
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    match category {
        G::UppercaseLetter | G::TitlecaseLetter => Kind::Upper,
        // Georgian has capitals by the book only; nobody begins a sentence with one.
        G::LowercaseLetter if matches!(c, '\u{10d0}'..='\u{10ff}') => Kind::Letter,
        G::LowercaseLetter => Kind::Lower,
        G::OtherLetter | G::ModifierLetter | G::LetterNumber => by_script(c, Kind::Letter),
        // The vowels of these scripts are marks, and their dictionaries know what to do with them.
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => by_script(c, Kind::Extend),
        G::Format => Kind::Extend,
        G::DecimalNumber | G::OtherNumber => Kind::Digit,
        G::DashPunctuation => Kind::Dash,
        G::OpenPunctuation => Kind::Open,
        G::ClosePunctuation => Kind::Close,
        G::InitialPunctuation | G::FinalPunctuation => Kind::Quote,
        G::ConnectorPunctuation => Kind::Underscore,
        G::CurrencySymbol => Kind::Currency,
        _ if c > '\u{ff}' && CodePointSetData::new::<ExtendedPictographic>().contains(c) => Kind::Emoji,
        G::MathSymbol | G::ModifierSymbol | G::OtherSymbol => Kind::Symbol,
        _ => Kind::Other,
    }
}

fn by_script(c: char, otherwise: Kind) -> Kind {
    match CodePointMapData::<Script>::new().get(c) {
        Script::Han => Kind::Han,
        Script::Hiragana => Kind::Hiragana,
        Script::Katakana => Kind::Katakana,
        Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => Kind::Complex,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_kinds_that_people_see_in_them() {
        let kinds = Kinds::new();
        let cases = [
            ('a', Kind::Lower),
            ('Ö', Kind::Upper),
            ('ب', Kind::Letter),
            ('字', Kind::Han),
            ('か', Kind::Hiragana),
            ('ー', Kind::Katakana),
            ('々', Kind::Han),
            ('ก', Kind::Complex),
            ('ิ', Kind::Complex),
            ('\u{301}', Kind::Extend),
            ('7', Kind::Digit),
            ('٣', Kind::Digit),
            ('।', Kind::Stop),
            ('؟', Kind::Stop),
            ('。', Kind::Stop),
            ('։', Kind::Stop),
            ('።', Kind::Stop),
            ('۔', Kind::Stop),
            ('\u{200d}', Kind::Extend),
            ('😀', Kind::Emoji),
            ('\u{a0}', Kind::Space),
            ('\u{2028}', Kind::Newline),
            ('€', Kind::Currency),
            ('(', Kind::Open),
        ];
        for (c, kind) in cases {
            assert_eq!(kinds.of(c), kind, "{c:?}");
        }
    }
}
