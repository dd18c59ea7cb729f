//! Character classes for the tokenizer.
//!
//! Unicode general categories are too fine for letters and too coarse for punctuation: the
//! apostrophe, the hyphen and the full stop need classes of their own.

use std::sync::LazyLock;

use icu_properties::props::{ExtendedPictographic, GeneralCategory, Script, SentenceTerminal};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CharClass {
    /// White space inside a line.
    Space,
    /// Line terminator.
    Newline,
    Upper,
    Lower,
    /// Letter of a script without case.
    Letter,
    Han,
    Hiragana,
    Katakana,
    /// Script that needs dictionary segmentation: Thai, Lao, Khmer, Burmese.
    Complex,
    Digit,
    /// Combining mark or joiner; extends the character before it.
    Extend,
    Apostrophe,
    Hyphen,
    Dash,
    Period,
    Comma,
    Colon,
    Semicolon,
    Slash,
    /// Sentence terminal other than the full stop.
    Stop,
    Open,
    Close,
    /// Quotation mark that opens in some languages and closes in others.
    Quote,
    At,
    Hash,
    Ampersand,
    Underscore,
    Percent,
    Currency,
    Symbol,
    Emoji,
    /// Regional indicator: half of a flag emoji.
    Regional,
    Other,
}

impl CharClass {
    pub fn is_blank(self) -> bool {
        matches!(self, CharClass::Space | CharClass::Newline)
    }

    /// Returns true for letters of scripts that put spaces between words.
    pub fn is_letter(self) -> bool {
        matches!(self, CharClass::Upper | CharClass::Lower | CharClass::Letter)
    }

    pub fn is_word(self) -> bool {
        self.is_letter() || self == CharClass::Digit
    }

    /// Returns true for letters of scripts written without spaces.
    pub fn is_unspaced(self) -> bool {
        matches!(self, CharClass::Han | CharClass::Hiragana | CharClass::Katakana | CharClass::Complex)
    }

    pub fn is_cjk(self) -> bool {
        matches!(self, CharClass::Han | CharClass::Hiragana | CharClass::Katakana)
    }
}

/// Characters below this code point, which cover most scripts, are looked up in a table.
const TABLED: usize = 0x3000;

static TABLE: LazyLock<Vec<CharClass>> =
    LazyLock::new(|| (0..TABLED as u32).map(|code| char::from_u32(code).map_or(CharClass::Other, classify)).collect());

/// Lookup of character classes; holds the table so that each lookup skips the lazy initialisation.
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
        // Skin tones and tag characters of subdivision flags extend the emoji before them.
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
        // Modern Georgian does not use its capital letters.
        G::LowercaseLetter if matches!(c, '\u{10d0}'..='\u{10ff}') => CharClass::Letter,
        G::LowercaseLetter => CharClass::Lower,
        G::OtherLetter | G::ModifierLetter | G::LetterNumber => by_script(c, CharClass::Letter),
        // Vowel signs of these scripts are marks; the dictionary segmenter handles them.
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
    fn common_characters_have_the_expected_class() {
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
