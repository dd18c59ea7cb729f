//! Unicode normalisation of text.
//!
//! Composes letters (NFC), removes invisible characters unless a script needs them, unifies white space,
//! and repairs mojibake: UTF-8 that was decoded as windows-1252. Quotation marks, dashes, ligatures and
//! full-width letters are text and stay.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Normalises a text. The function is idempotent.
///
/// Line breaks stay. Other runs of white space become one space, and white space at both ends of a line
/// is removed.
///
/// ```
/// use tidings_lang::normalise;
///
/// assert_eq!(normalise("Gro\u{df}er\u{a0} Ab\u{ad}satz\u{200b}"), "Großer Absatz");
/// assert_eq!(normalise("schÃ¶n und gut"), "schön und gut");
/// ```
pub fn normalise(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let repaired = repair(text);
    let text = tidy(&repaired);
    // Steps may enable each other: removing an invisible character joins a mark with its letter, or
    // reveals mojibake. Each round shortens the text or changes nothing; a second is rare.
    let mut text: String = text.nfc().collect();
    for _ in 0..MAX_ROUNDS {
        let again: String = tidy(&repair(&text)).nfc().collect();
        if again == text {
            break;
        }
        text = again;
    }
    Cow::Owned(text)
}

const MAX_ROUNDS: usize = 64;

/// Fast path: returns true if there is nothing to do.
fn is_plain(text: &str) -> bool {
    let mut before = '\n';
    for letter in text.chars() {
        let ends = letter == '\n' || letter == ' ';
        if ends && before == ' ' || letter == ' ' && before == '\n' || !is_kept_anywhere(letter) {
            return false;
        }
        if !letter.is_ascii()
            && matches!(
                before,
                'Ã' | 'Â'
                    | 'â'
                    | 'Ð'
                    | 'Ñ'
                    | 'Å'
                    | 'Ä'
                    | 'ð'
                    | 'ã'
                    | 'å'
                    | 'ä'
                    | 'Î'
                    | 'Ï'
                    | 'Ø'
                    | 'Ù'
                    | 'à'
                    | 'æ'
                    | 'ç'
                    | 'è'
                    | 'é'
            )
        {
            return false;
        }
        before = letter;
    }
    before != ' ' && is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// Returns true for characters that stay in every context.
fn is_kept_anywhere(letter: char) -> bool {
    match letter {
        ' '..='~' | '\n' => true,
        letter if letter.is_ascii() => false,
        _ => char_class(letter) == CharClass::Text,
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum CharClass {
    Text,
    /// A space that is not U+0020.
    Space,
    Break,
    /// Zero-width joiner and non-joiner.
    Joiner,
    /// Variation selectors and flag tags.
    Variant,
    Invisible,
}

fn char_class(letter: char) -> CharClass {
    match letter {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => CharClass::Break,
        '\t' => CharClass::Space,
        '\u{200c}' | '\u{200d}' => CharClass::Joiner,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => CharClass::Variant,
        // Soft hyphen, zero-width space, word joiner, byte order mark, bidirectional controls,
        // invisible operators, annotations, the object replacement character.
        '\u{ad}'
        | '\u{200b}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{fff9}'..='\u{fffc}' => CharClass::Invisible,
        // Noncharacters.
        '\u{fdd0}'..='\u{fdef}' => CharClass::Invisible,
        letter if letter as u32 & 0xfffe == 0xfffe => CharClass::Invisible,
        letter if letter.is_control() => CharClass::Invisible,
        letter if letter.is_whitespace() => CharClass::Space,
        _ => CharClass::Text,
    }
}

/// Removes invisible characters and unifies white space.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut space = false;
    let mut last = '\n'; // the last visible character, or a break
    while let Some(letter) = letters.next() {
        match char_class(letter) {
            CharClass::Text if letter == ' ' => space = true,
            CharClass::Space => space = true,
            CharClass::Break => {
                if letter == '\r' && letters.peek() == Some(&'\n') {
                    letters.next();
                }
                space = false;
                out.push('\n');
                last = '\n';
            }
            CharClass::Invisible => {}
            CharClass::Joiner if space || !joins(last, letters.peek().copied()) => {}
            CharClass::Variant if space || !varies(last, letter) => {}
            CharClass::Text | CharClass::Joiner | CharClass::Variant => {
                if space && last != '\n' {
                    out.push(' ');
                }
                space = false;
                out.push(letter);
                last = letter;
            }
        }
    }
    out
}

/// Returns true if a joiner between two characters is part of the spelling: in Arabic and Indic
/// scripts and their relatives, and in emoji.
fn joins(before: char, after: Option<char>) -> bool {
    let joining = |letter: char| {
        matches!(letter as u32,
            0x600..=0x8ff | 0x900..=0xdff | 0xe00..=0x109f | 0x1780..=0x18af | 0x1a00..=0x1cff | 0xa800..=0xabff
            | 0xfb50..=0xfdff | 0xfe70..=0xfefc | 0x10a00..=0x11fff | 0x1e900..=0x1e95f)
    };
    let picture = |letter: char| matches!(letter as u32, 0x2190..=0x2bff | 0x1f000..=0x1faff | 0xfe0f | 0xe007f | 0x3030 | 0x303d);
    after.is_some_and(|after| joining(before) && joining(after) || picture(before) && picture(after))
}

/// Returns true if a selector follows a character that it can modify.
fn varies(before: char, selector: char) -> bool {
    match selector {
        // Tags spell the flags of Scotland and Wales, after a black flag.
        '\u{e0020}'..='\u{e007f}' => before == '\u{1f3f4}' || matches!(before, '\u{e0020}'..='\u{e007e}'),
        _ => !matches!(before, '\n' | ' ') && char_class(before) == CharClass::Text,
    }
}

/// Repairs UTF-8 that was decoded as windows-1252. One certain run in a text makes the likely ones certain
/// too, because a text is decoded as a whole.
fn repair(text: &str) -> Cow<'_, str> {
    if !runs(text).any(|run| run.is_certain()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for run in runs(text).filter(MojibakeRun::is_likely) {
        out.push_str(&text[copied..run.start]);
        out.push(run.repaired);
        copied = run.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Characters whose windows-1252 bytes are one UTF-8 character.
struct MojibakeRun {
    start: usize,
    end: usize,
    first: char,
    second: char,
    repaired: char,
}

/// The runs of a text, from left to right, without overlap.
fn runs(text: &str) -> impl Iterator<Item = MojibakeRun> + '_ {
    let mut place = 0;
    std::iter::from_fn(move || {
        while let Some(first) = text[place..].chars().next() {
            let start = place;
            place += first.len_utf8();
            let Some(byte @ 0xc2..=0xf4) = windows_1252(first) else { continue };
            let len = if byte < 0xe0 { 2 } else { 3 + usize::from(byte >= 0xf0) };
            let mut bytes = [byte, 0, 0, 0];
            let mut end = place;
            let mut count = 1;
            for next in text[place..].chars().take(len - 1) {
                let Some(byte @ 0x80..=0xbf) = windows_1252(next) else { break };
                bytes[count] = byte;
                count += 1;
                end += next.len_utf8();
            }
            let repaired =
                std::str::from_utf8(&bytes[..count]).ok().filter(|_| count == len).and_then(|text| text.chars().next());
            let second = text[place..].chars().next();
            if let (Some(repaired), Some(second)) = (repaired, second) {
                place = end;
                return Some(MojibakeRun { start, end, first, second, repaired });
            }
        }
        None
    })
}

impl MojibakeRun {
    /// Returns true if the repaired character is common in text.
    fn is_likely(&self) -> bool {
        let sign =
            matches!(self.repaired, '\u{a0}'..='\u{bf}' | '\u{2010}'..='\u{2044}' | '€' | '™' | '\u{300}'..='\u{36f}');
        self.repaired.is_alphabetic() || sign || self.repaired as u32 >= 0x1f300
    }

    /// Returns true if the characters cannot be correct text. `Ã` before `©` or `¤` occurs in no language,
    /// but `Â«` may open a quotation after a Romanian or French capital, and `ÃŠ` may be a name.
    fn is_certain(&self) -> bool {
        let sign = !self.second.is_alphanumeric()
            && !matches!(
                self.second,
                '«' | '»' | '‹' | '›' | '…' | '–' | '—' | '·' | '\u{a0}' | '\u{2018}'..='\u{201e}'
            );
        // Valid sequences of three or four bytes are not a coincidence.
        let long = self.repaired as u32 >= 0x800;
        self.is_likely()
            && match self.first {
                _ if long => true,
                'Ã' | 'Â' => sign,
                _ => self.repaired.is_alphabetic() && is_control_like(self.second),
            }
    }
}

/// Characters that are rarely typed: Latin-1 controls and rare signs of windows-1252.
fn is_control_like(letter: char) -> bool {
    letter.is_control() || matches!(letter, '¤' | '¦' | '¨' | '¬' | '¯' | '¸' | 'ˆ' | '˜' | '‡' | '†')
}

/// The byte of a character in windows-1252, or in Latin-1 for controls.
fn windows_1252(letter: char) -> Option<u8> {
    Some(match letter {
        '\u{80}'..='\u{ff}' => letter as u32 as u8,
        '€' => 0x80,
        '‚' => 0x82,
        'ƒ' => 0x83,
        '„' => 0x84,
        '…' => 0x85,
        '†' => 0x86,
        '‡' => 0x87,
        'ˆ' => 0x88,
        '‰' => 0x89,
        'Š' => 0x8a,
        '‹' => 0x8b,
        'Œ' => 0x8c,
        'Ž' => 0x8e,
        '\u{2018}' => 0x91,
        '\u{2019}' => 0x92,
        '\u{201c}' => 0x93,
        '\u{201d}' => 0x94,
        '•' => 0x95,
        '–' => 0x96,
        '—' => 0x97,
        '˜' => 0x98,
        '™' => 0x99,
        'š' => 0x9a,
        '›' => 0x9b,
        'œ' => 0x9c,
        'ž' => 0x9e,
        'Ÿ' => 0x9f,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(normalise("Donau\u{ad}dampf\u{200b}schiff\u{feff}"), "Donaudampfschiff");
        assert_eq!(normalise("a\u{0}b\u{7}c\u{200e}d\u{fffe}"), "abcd");
        assert_eq!(normalise("e\u{301}té"), "été");
        assert_eq!(normalise("e\u{200b}\u{301}"), "é");
    }

    #[test]
    fn white_space_is_unified() {
        assert_eq!(normalise("  one\u{a0}\u{2009}two\t three \r\n four\u{2028}five  "), "one two three\nfour\nfive");
        assert!(matches!(normalise("nothing to do\nhere"), Cow::Borrowed(_)));
    }

    #[test]
    fn joiners_stay_where_scripts_need_them() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "ශ්\u{200d}රී",
        ] {
            assert_eq!(normalise(text), text);
        }
        assert_eq!(normalise("pa\u{200d}per\u{200c}"), "paper");
        assert_eq!(normalise("\u{fe0f} \u{200d}x"), "x");
    }

    #[test]
    fn certain_mojibake_is_repaired() {
        assert_eq!(normalise("schÃ¶n, GrÃ¼ÃŸe"), "schön, Grüße");
        assert_eq!(normalise("donâ€™t â€œquoteâ€\u{9d} â€“ 5 â‚¬"), "don’t “quote” – 5 €");
        assert_eq!(normalise("cafÃ©"), "café");
        assert_eq!(normalise("Â© 2026"), "© 2026");
        assert_eq!(normalise("ðŸ˜€"), "😀");
    }

    #[test]
    fn text_that_resembles_mojibake_stays() {
        for text in [
            "SÃO PAULO",
            "Â« Tu viens ? »",
            "„România“ Â«da»",
            "ÃŠ",
            "Ñandú",
            "Ð",
            "naïve œuvre – «ça»",
            "Ã…",
            "100 Å",
            "Š™",
            "à € 5",
            "ﬁ ½ ² ﷺ Ａ",
            "‘’“”–—…",
        ] {
            assert_eq!(normalise(text), text);
        }
    }

    proptest! {
        #[test]
        fn normalisation_is_idempotent(text in "\\PC*|[ -\u{ff}\u{200b}-\u{200f}\u{300}-\u{310}€™œŸ„”–ÃÂâð\n\t]{0,40}|.{0,30}") {
            let once = normalise(&text).into_owned();
            prop_assert_eq!(normalise(&once), once.as_str());
        }

        #[test]
        fn composed_text_is_unchanged(text in "[a-zA-Zа-яÀ-ÖØ-öø-ÿ]{1,20}( [a-zA-Zа-я]{1,9}[,.!?»”’]?){0,8}") {
            let text: String = text.nfc().collect();
            prop_assert_eq!(normalise(&text), text.as_str());
        }
    }
}
