//! Scripts of letters. Many languages are identified by their script alone.

macro_rules! scripts {
    ($($name:ident)*) => {
        /// A writing system, as fine-grained as language identification needs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // the names are those of Unicode
        pub enum Script { $($name,)* }

        const NAMES: &[(&str, Script)] = &[$((stringify!($name), Script::$name),)*];
    };
}

scripts! {
    Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu
    Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Aboriginal Khmer Mongolian Limbu
    Tifinagh Kana Han Other
}

impl Script {
    /// The number of scripts.
    pub const COUNT: usize = NAMES.len();

    /// The script with a name, as `languages/CODE/language.tsv` has it.
    pub fn named(name: &str) -> Option<Script> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, script)| *script)
    }

    /// All scripts.
    pub(super) fn all() -> impl Iterator<Item = Script> {
        NAMES.iter().map(|(_, script)| *script)
    }

    /// The script of a letter or combining mark; none for digits, punctuation, symbols and white space.
    pub fn of(letter: char) -> Option<Script> {
        use Script::*;
        if letter.is_ascii() {
            return letter.is_ascii_alphabetic().then_some(Latin);
        }
        let script = match letter as u32 {
            0xAA | 0xBA | 0xC0..=0x2AF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA722..=0xA7FF => Latin,
            0xFB00..=0xFB06 | 0xFF21..=0xFF3A | 0xFF41..=0xFF5A => Latin,
            0x370..=0x3FF | 0x1F00..=0x1FFF => Greek,
            0x400..=0x52F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => Cyrillic,
            0x531..=0x58F => Armenian,
            0x591..=0x5F4 | 0xFB1D..=0xFB4F => Hebrew,
            0x600..=0x6FF | 0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC => Arabic,
            0x700..=0x74F => Syriac,
            0x780..=0x7BF => Thaana,
            0x7C0..=0x7FF => Nko,
            0x900..=0x97F | 0xA8E0..=0xA8FF => Devanagari,
            0x980..=0x9FF => Bengali,
            0xA00..=0xA7F => Gurmukhi,
            0xA80..=0xAFF => Gujarati,
            0xB00..=0xB7F => Oriya,
            0xB80..=0xBFF => Tamil,
            0xC00..=0xC7F => Telugu,
            0xC80..=0xCFF => Kannada,
            0xD00..=0xD7F => Malayalam,
            0xD80..=0xDFF => Sinhala,
            0xE00..=0xE7F => Thai,
            0xE80..=0xEFF => Lao,
            0xF00..=0xFFF => Tibetan,
            0x1000..=0x109F | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F => Myanmar,
            0x10A0..=0x10FF | 0x1C90..=0x1CBF | 0x2D00..=0x2D2F => Georgian,
            0x1100..=0x11FF | 0x3131..=0x318E | 0xAC00..=0xD7FF => Hangul,
            0x1200..=0x139F | 0x2D80..=0x2DDF | 0xAB00..=0xAB2F => Ethiopic,
            0x13A0..=0x13FF | 0xAB70..=0xABBF => Cherokee,
            0x1400..=0x167F | 0x18B0..=0x18FF => Aboriginal,
            0x1780..=0x17FF | 0x19E0..=0x19FF => Khmer,
            0x1800..=0x18AF => Mongolian,
            0x1900..=0x194F => Limbu,
            0x2D30..=0x2D7F => Tifinagh,
            0x3041..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Kana,
            0x3005 | 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF => Han,
            _ => Other,
        };
        let is_mark = |script| match script {
            // The vowel classes_seen and viramas of these are marks, which `is_alphabetic` knows in part.
            Devanagari | Bengali | Gurmukhi | Gujarati | Oriya | Tamil | Telugu | Kannada | Malayalam | Sinhala
            | Thai | Lao | Myanmar | Khmer | Tibetan | Thaana | Limbu => {
                !matches!(letter as u32, 0x964 | 0x965 | 0x970 | 0xDF4 | 0xE3F | 0xE4F | 0xE5A | 0xE5B | 0xF04..=0xF14 | 0xF3A..=0xF3D | 0x104A..=0x104F | 0x17D4..=0x17DB)
            }
            Arabic => matches!(letter as u32, 0x610..=0x61A | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6ED),
            Hebrew => matches!(letter as u32, 0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C7),
            Cyrillic => matches!(letter as u32, 0x483..=0x487),
            Syriac | Nko => true,
            _ => false,
        };
        (letter.is_alphabetic() || (!letter.is_numeric() && is_mark(script))).then_some(script)
    }

    /// Returns true if words are separated by spaces.
    pub fn has_spaces(self) -> bool {
        use Script::*;
        !matches!(self, Thai | Lao | Khmer | Myanmar | Kana | Han | Tibetan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_and_marks_have_a_script() {
        for (letter, script) in [
            ('a', Script::Latin),
            ('ß', Script::Latin),
            ('ễ', Script::Latin),
            ('ж', Script::Cyrillic),
            ('ה', Script::Hebrew),
            ('ی', Script::Arabic),
            ('\u{94d}', Script::Devanagari),
            ('ん', Script::Kana),
            ('国', Script::Han),
            ('한', Script::Hangul),
            ('ሰ', Script::Ethiopic),
        ] {
            assert_eq!(Script::of(letter), Some(script), "{letter}");
        }
        for other in ['1', ' ', '।', '٣', '。', '€', '😀', '،', '-', '\u{200d}'] {
            assert_eq!(Script::of(other), None, "{other}");
        }
    }
}
