//! What a character is to a tokenizer.
//!
//! Unicode's general categories are too fine in one index and too coarse in another: all letters of
//! an alphabet are alike here, but an apostrophe, a hyphen and a full stop each have a story.

use std::sync::LazyLock;

use icu_properties::props::{ExtendedPictographic, GeneralCategory, Script, SentenceTerminal};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CharClass {
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
    /// MarkCounts and joiners, part of whatever they follow.
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

impl CharClass {
    pub fn is_blank(self) -> bool {
        matches!(self, CharClass::Space | CharClass::Newline)
    }

    /// Letters of scripts that put blanks between words.
    pub fn is_letter(self) -> bool {
        matches!(self, CharClass::Upper | CharClass::Lower | CharClass::Letter)
    }

    pub fn is_word(self) -> bool {
        self.is_letter() || self == CharClass::Digit
    }

    /// Letters of scripts that do not.
    pub fn is_unspaced(self) -> bool {
        matches!(self, CharClass::Han | CharClass::Hiragana | CharClass::Katakana | CharClass::Complex)
    }

    pub fn is_cjk(self) -> bool {
        matches!(self, CharClass::Han | CharClass::Hiragana | CharClass::Katakana)
    }
}

/// The characters of the scripts that most text is in are looked up at once.
const TABLED: usize = 0x3000;

static TABLE: LazyLock<Vec<CharClass>> =
    LazyLock::new(|| (0..TABLED as u32).map(|code| char::from_u32(code).map_or(CharClass::Other, classify)).collect());

/// CharClasses of characters, quickly.
#[derive(Debug, Clone, Copy)]
pub struct CharClasses(&'static [CharClass]);

impl CharClasses {
    pub fn new() -> CharClasses {
        CharClasses(&TABLE)
    }

    #[inline]
    pub fn of(self, c: char) -> CharClass {
        match self.0.get(c as usize) {
            Some(class) => *class,
            None => classify(c),
        }
    }
}

fn classify(c: char) -> CharClass {
    match c {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => CharClass::Newline,
        '\'' | '’' | 'ʼ' | 'ʻ' | '´' | '`' | '＇' | '՚' => CharClass::Apostrophe,
        '-' | '\u{2010}' | '\u{2011}' | '־' => CharClass::Hyphen,
        '.' | '．' | '｡' | '․' => CharClass::Period,
        ',' | '،' | '、' | '，' | '､' | '՝' | '٬' | '٫' => CharClass::Comma,
        ':' | '：' | 'ː' => CharClass::Colon,
        ';' | '؛' | '；' => CharClass::Semicolon,
        '/' | '\\' | '／' => CharClass::Slash,
        '…' | '։' => CharClass::Stop,
        '"' | '“' | '”' | '„' | '‟' | '‘' | '‚' | '‛' | '«' | '»' | '‹' | '›' | '＂' => {
            CharClass::Quote
        }
        '@' | '＠' => CharClass::At,
        '#' | '＃' => CharClass::Hash,
        '&' | '＆' => CharClass::Ampersand,
        '_' | '‿' | '＿' => CharClass::Underscore,
        '%' | '‰' | '٪' | '％' | '°' => CharClass::Percent,
        '\u{1f1e6}'..='\u{1f1ff}' => CharClass::Regional,
        // Skin colours and the letters of subdivision flags belong to the picture before them.
        '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}' => CharClass::Extend,
        'ー' | 'ｰ' => CharClass::Katakana,
        '々' | '〆' | '〇' => CharClass::Han,
        'ฯ' => CharClass::Complex,
        _ if c.is_whitespace() => CharClass::Space,
        _ if c > '\u{7f}' && CodePointSetData::new::<SentenceTerminal>().contains(c) => CharClass::Stop,
        '!' | '?' => CharClass::Stop,
        _ => by_category(c),
    }
}

fn by_category(c: char) -> CharClass {
    use GeneralCategory as G;
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    match category {
        G::UppercaseLetter | G::TitlecaseLetter => CharClass::Upper,
        // Georgian has capitals by the book only; nobody begins a sentence with one.
        G::LowercaseLetter if matches!(c, '\u{10d0}'..='\u{10ff}') => CharClass::Letter,
        G::LowercaseLetter => CharClass::Lower,
        G::OtherLetter | G::ModifierLetter | G::LetterNumber => by_script(c, CharClass::Letter),
        // The vowels of these scripts are marks, and their dictionaries know what to do with them.
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => by_script(c, CharClass::Extend),
        G::Format => CharClass::Extend,
        G::DecimalNumber | G::OtherNumber => CharClass::Digit,
        G::DashPunctuation => CharClass::Dash,
        G::OpenPunctuation => CharClass::Open,
        G::ClosePunctuation => CharClass::Close,
        G::InitialPunctuation | G::FinalPunctuation => CharClass::Quote,
        G::ConnectorPunctuation => CharClass::Underscore,
        G::CurrencySymbol => CharClass::Currency,
        _ if c > '\u{ff}' && CodePointSetData::new::<ExtendedPictographic>().contains(c) => CharClass::Emoji,
        G::MathSymbol | G::ModifierSymbol | G::OtherSymbol => CharClass::Symbol,
        _ => CharClass::Other,
    }
}

fn by_script(c: char, otherwise: CharClass) -> CharClass {
    match CodePointMapData::<Script>::new().get(c) {
        Script::Han => CharClass::Han,
        Script::Hiragana => CharClass::Hiragana,
        Script::Katakana => CharClass::Katakana,
        Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => CharClass::Complex,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_kinds_that_people_see_in_them() {
        let classes = CharClasses::new();
        let cases = [
            ('a', CharClass::Lower),
            ('Ö', CharClass::Upper),
            ('ب', CharClass::Letter),
            ('字', CharClass::Han),
            ('か', CharClass::Hiragana),
            ('ー', CharClass::Katakana),
            ('々', CharClass::Han),
            ('ก', CharClass::Complex),
            ('ิ', CharClass::Complex),
            ('\u{301}', CharClass::Extend),
            ('7', CharClass::Digit),
            ('٣', CharClass::Digit),
            ('।', CharClass::Stop),
            ('؟', CharClass::Stop),
            ('。', CharClass::Stop),
            ('։', CharClass::Stop),
            ('።', CharClass::Stop),
            ('۔', CharClass::Stop),
            ('\u{200d}', CharClass::Extend),
            ('😀', CharClass::Emoji),
            ('\u{a0}', CharClass::Space),
            ('\u{2028}', CharClass::Newline),
            ('€', CharClass::Currency),
            ('(', CharClass::Open),
        ];
        for (c, class) in cases {
            assert_eq!(classes.of(c), class, "{c:?}");
        }
    }
}
