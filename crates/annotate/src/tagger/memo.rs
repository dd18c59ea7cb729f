//! What was found out about words, kept for when they come back.
//!
//! Nine words of ten have stood in the text before. What a word is to the tagger by itself, and which lemma it had with
//! which tag, does not change: it is remembered, in a table of fixed size in which a word takes the place of whichever
//! stood there. What comes out is the same with and without.

use crate::hash::mix;
use crate::tagger::chain::Points;
use crate::tagger::feats::Shape;
use crate::tagger::words::Word;

/// How many words have a place, as a power of two: with what is kept of them, about as much memory as a model takes.
const PLACES: u32 = 13;
/// Longer words are seldom and need not come back.
const MOST_BYTES: usize = 64;

/// A table of words.
#[derive(Debug)]
pub struct Memo {
    places: Vec<Option<Box<Known>>>,
}

/// A word, and what is known about it.
#[derive(Debug)]
struct Known {
    text: Box<str>,
    is_first: bool,
    seen: Seen,
    /// Lemmas, and what they and the word say about features, by the number of the tag.
    lemmas: Vec<(u8, Box<str>, Shape)>,
}

/// A word as the tagger sees it.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// What features are made of.
    pub word: Word,
    /// What those features say that it has by itself.
    pub own: Points,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo { places: (0..1 << PLACES).map(|_| None).collect() }
    }
}

impl Memo {
    /// A word as it was seen before, or as `look` sees it now.
    pub fn seen(&mut self, text: &str, is_first: bool, look: impl FnOnce() -> Seen) -> Seen {
        let place = &mut self.places[place_of(text, is_first)];
        match place {
            Some(known) if *known.text == *text && known.is_first == is_first => known.seen,
            _ => {
                let seen = look();
                if text.len() <= MOST_BYTES {
                    *place = Some(Box::new(Known { text: text.into(), is_first, seen, lemmas: Vec::new() }));
                }
                seen
            }
        }
    }

    /// The lemma a word had with this tag before and what was said about features, or what `make` makes now.
    pub fn lemma(
        &mut self,
        text: &str,
        is_first: bool,
        tag: u8,
        make: impl FnOnce() -> (String, Shape),
    ) -> (String, Shape) {
        let Some(known) = &mut self.places[place_of(text, is_first)] else { return make() };
        if *known.text != *text || known.is_first != is_first {
            return make();
        }
        if let Some((_, lemma, shape)) = known.lemmas.iter().find(|(known, ..)| *known == tag) {
            return (lemma.to_string(), *shape);
        }
        let (lemma, shape) = make();
        known.lemmas.push((tag, lemma.as_str().into(), shape));
        (lemma, shape)
    }
}

fn place_of(text: &str, is_first: bool) -> usize {
    let mut eights = text.as_bytes().chunks_exact(8);
    let mut hash = mix(0, u64::from(is_first));
    for eight in &mut eights {
        hash = mix(hash, u64::from_le_bytes(eight.try_into().expect("there are eight")));
    }
    let mut rest = [0; 8];
    rest[..eights.remainder().len()].copy_from_slice(eights.remainder());
    (mix(hash, u64::from_le_bytes(rest)) >> (64 - PLACES)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_share_a_place_are_not_taken_for_one_another() {
        let mut memo = Memo::default();
        let words: Vec<String> = (0..1 << (PLACES + 1)).map(|number| format!("w{number}")).collect();
        for _ in 0..2 {
            for text in &words {
                let seen = memo.seen(text, false, || Seen { word: Word::new(text), own: Points::default() });
                assert_eq!(seen.word.whole, Word::new(text).whole);
                let made = |text: &str| (text.to_owned(), Shape::default());
                let upper = text.to_uppercase();
                assert_eq!(memo.lemma(text, false, 3, || made(&upper)).0, upper);
                assert_eq!(memo.lemma(text, false, 3, || unreachable!("it was just told")).0, upper);
                assert_eq!(memo.lemma(text, true, 3, || made("as the first")).0, "as the first");
            }
        }
    }
}
