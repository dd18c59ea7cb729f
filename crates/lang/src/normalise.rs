//! One spelling for one text: what looks the same becomes the same, what a linguist would call text
//! stays.
//!
//! Letters are composed (Unicode NFC); what cannot be seen goes, unless a script needs it to be
//! written rightly; white space becomes one kind of space; and bytes of UTF-8 that somebody once
//! read as windows-1252 become the letters they were. Quotation marks, dashes, ligatures and letters
//! of every width are text, and stay.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Normalises a text. Doing it again changes nothing.
///
/// Line breaks stay line breaks; other white space becomes a space, of which never two follow
/// each other, and none stands at either end of a line.
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
    // A step may bring together what another step composes: a mark that an invisible character had
    // kept from its letter, or bytes that now look like what they are. Each round shortens the text
    // or changes nothing, and there is rarely a second.
    let mut text: String = text.nfc().collect();
    for _ in 0..MOST_ROUNDS {
        let again: String = tidy(&repair(&text)).nfc().collect();
        if again == text {
            break;
        }
        text = again;
    }
    Cow::Owned(text)
}

const MOST_ROUNDS: usize = 64;

/// Whether there is nothing to do, which is the rule.
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

/// Whether a character is never touched, whatever stands beside it.
fn is_kept_anywhere(letter: char) -> bool {
    match letter {
        ' '..='~' | '\n' => true,
        letter if letter.is_ascii() => false,
        _ => kind(letter) == Kind::Text,
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Text,
    /// A space that is not U+0020.
    Space,
    Break,
    /// Joins or parts its neighbours, where their script knows that.
    Joiner,
    /// Turns a character into its emoji, or its text, or a variant; or spells out a flag.
    Variant,
    Invisible,
}

fn kind(letter: char) -> Kind {
    match letter {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Kind::Break,
        '\t' => Kind::Space,
        '\u{200c}' | '\u{200d}' => Kind::Joiner,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => Kind::Variant,
        // Soft hyphen, zero-width space and word joiner, byte order mark, marks and embeddings of
        // direction, invisible operators, annotations, the replacement for what was lost.
        '\u{ad}'
        | '\u{200b}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{fff9}'..='\u{fffc}' => Kind::Invisible,
        // Not characters, and never will be.
        '\u{fdd0}'..='\u{fdef}' => Kind::Invisible,
        letter if letter as u32 & 0xfffe == 0xfffe => Kind::Invisible,
        letter if letter.is_control() => Kind::Invisible,
        letter if letter.is_whitespace() => Kind::Space,
        _ => Kind::Text,
    }
}

/// Drops what cannot be seen and makes white space even.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut space = false;
    let mut last = '\n'; // the last visible character, or a break
    while let Some(letter) = letters.next() {
        match kind(letter) {
            Kind::Text if letter == ' ' => space = true,
            Kind::Space => space = true,
            Kind::Break => {
                if letter == '\r' && letters.peek() == Some(&'\n') {
                    letters.next();
                }
                space = false;
                out.push('\n');
                last = '\n';
            }
            Kind::Invisible => {}
            Kind::Joiner if space || !joins(last, letters.peek().copied()) => {}
            Kind::Variant if space || !varies(last, letter) => {}
            Kind::Text | Kind::Joiner | Kind::Variant => {
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

/// Whether a joiner between two characters is part of how they are written: in the scripts of
/// Arabic and India and their relatives, and in emoji.
fn joins(before: char, after: Option<char>) -> bool {
    let joining = |letter: char| {
        matches!(letter as u32,
            0x600..=0x8ff | 0x900..=0xdff | 0xe00..=0x109f | 0x1780..=0x18af | 0x1a00..=0x1cff | 0xa800..=0xabff
            | 0xfb50..=0xfdff | 0xfe70..=0xfefc | 0x10a00..=0x11fff | 0x1e900..=0x1e95f)
    };
    let picture = |letter: char| matches!(letter as u32, 0x2190..=0x2bff | 0x1f000..=0x1faff | 0xfe0f | 0xe007f | 0x3030 | 0x303d);
    after.is_some_and(|after| joining(before) && joining(after) || picture(before) && picture(after))
}

/// Whether a selector has something to choose a variant of.
fn varies(before: char, selector: char) -> bool {
    match selector {
        // Tags spell the flags of Scotland and Wales, after a black flag.
        '\u{e0020}'..='\u{e007f}' => before == '\u{1f3f4}' || matches!(before, '\u{e0020}'..='\u{e007e}'),
        _ => !matches!(before, '\n' | ' ') && kind(before) == Kind::Text,
    }
}

/// Puts right what was UTF-8 and was read as windows-1252, where that is certain. One certain place
/// in a text makes the doubtful ones certain too: nobody breaks half a text.
fn repair(text: &str) -> Cow<'_, str> {
    if !runs(text).any(|run| run.is_certain()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for run in runs(text).filter(Run::is_likely) {
        out.push_str(&text[copied..run.start]);
        out.push(run.meant);
        copied = run.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Characters whose bytes in windows-1252 are one character of UTF-8.
struct Run {
    start: usize,
    end: usize,
    first: char,
    second: char,
    meant: char,
}

/// The runs of a text, from left to right, none in another.
fn runs(text: &str) -> impl Iterator<Item = Run> + '_ {
    let mut place = 0;
    std::iter::from_fn(move || {
        while let Some(first) = text[place..].chars().next() {
            let start = place;
            place += first.len_utf8();
            let Some(byte @ 0xc2..=0xf4) = western(first) else { continue };
            let len = if byte < 0xe0 { 2 } else { 3 + usize::from(byte >= 0xf0) };
            let mut bytes = [byte, 0, 0, 0];
            let mut end = place;
            let mut count = 1;
            for next in text[place..].chars().take(len - 1) {
                let Some(byte @ 0x80..=0xbf) = western(next) else { break };
                bytes[count] = byte;
                count += 1;
                end += next.len_utf8();
            }
            let meant =
                std::str::from_utf8(&bytes[..count]).ok().filter(|_| count == len).and_then(|text| text.chars().next());
            let second = text[place..].chars().next();
            if let (Some(meant), Some(second)) = (meant, second) {
                place = end;
                return Some(Run { start, end, first, second, meant });
            }
        }
        None
    })
}

impl Run {
    /// Whether it makes a character that people write.
    fn is_likely(&self) -> bool {
        let sign =
            matches!(self.meant, '\u{a0}'..='\u{bf}' | '\u{2010}'..='\u{2044}' | '€' | '™' | '\u{300}'..='\u{36f}');
        self.meant.is_alphabetic() || sign || self.meant as u32 >= 0x1f300
    }

    /// Whether nobody could have meant the characters as they stand. `Ã` before `©` or `¤` is no word
    /// of any language; but `Â«` may open a quotation after a capital of Romanian or French, and
    /// two letters, as in `ÃŠ`, may be a name.
    fn is_certain(&self) -> bool {
        let sign = !self.second.is_alphanumeric()
            && !matches!(
                self.second,
                '«' | '»' | '‹' | '›' | '…' | '–' | '—' | '·' | '\u{a0}' | '\u{2018}'..='\u{201e}'
            );
        // Three bytes or four in a row are no accident.
        let long = self.meant as u32 >= 0x800;
        self.is_likely()
            && match self.first {
                _ if long => true,
                'Ã' | 'Â' => sign,
                _ => self.meant.is_alphabetic() && is_control_like(self.second),
            }
    }
}

/// Characters that no keyboard has: the controls of Latin-1 and the odd signs of windows-1252.
fn is_control_like(letter: char) -> bool {
    letter.is_control() || matches!(letter, '¤' | '¦' | '¨' | '¬' | '¯' | '¸' | 'ˆ' | '˜' | '‡' | '†')
}

/// The byte that windows-1252, or Latin-1 where that has a control, reads as this character.
fn western(letter: char) -> Option<u8> {
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
    fn what_cannot_be_seen_goes() {
        assert_eq!(normalise("Donau\u{ad}dampf\u{200b}schiff\u{feff}"), "Donaudampfschiff");
        assert_eq!(normalise("a\u{0}b\u{7}c\u{200e}d\u{fffe}"), "abcd");
        assert_eq!(normalise("e\u{301}té"), "été");
        assert_eq!(normalise("e\u{200b}\u{301}"), "é");
    }

    #[test]
    fn white_space_becomes_even() {
        assert_eq!(normalise("  one\u{a0}\u{2009}two\t three \r\n four\u{2028}five  "), "one two three\nfour\nfive");
        assert!(matches!(normalise("nothing to do\nhere"), Cow::Borrowed(_)));
    }

    #[test]
    fn joiners_stay_where_they_are_written() {
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
    fn mojibake_that_is_certain_is_put_right() {
        assert_eq!(normalise("schÃ¶n, GrÃ¼ÃŸe"), "schön, Grüße");
        assert_eq!(normalise("donâ€™t â€œquoteâ€\u{9d} â€“ 5 â‚¬"), "don’t “quote” – 5 €");
        assert_eq!(normalise("cafÃ©"), "café");
        assert_eq!(normalise("Â© 2026"), "© 2026");
        assert_eq!(normalise("ðŸ˜€"), "😀");
    }

    #[test]
    fn text_that_only_looks_broken_stays() {
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
        fn twice_is_once(text in "\\PC*|[ -\u{ff}\u{200b}-\u{200f}\u{300}-\u{310}€™œŸ„”–ÃÂâð\n\t]{0,40}|.{0,30}") {
            let once = normalise(&text).into_owned();
            prop_assert_eq!(normalise(&once), once.as_str());
        }

        #[test]
        fn letters_of_a_composed_text_are_never_altered(text in "[a-zA-Zа-яÀ-ÖØ-öø-ÿ]{1,20}( [a-zA-Zа-я]{1,9}[,.!?»”’]?){0,8}") {
            let text: String = text.nfc().collect();
            prop_assert_eq!(normalise(&text), text.as_str());
        }
    }
}
