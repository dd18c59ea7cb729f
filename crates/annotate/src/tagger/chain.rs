//! Chooses the parts of speech of a sentence: the chain of tags whose weights sum up highest.

use crate::hash::Hash;
use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;
use crate::tagger::features;
use crate::tagger::rows;
use crate::tagger::sparse::Sparse;
use crate::tagger::words::Word;

/// No model has more tags than this.
pub const MOST_TAGS: usize = 32;

/// Weights of features, and of one tag after another.
#[derive(Debug)]
pub struct Chain {
    tags: usize,
    known: Sparse,
    rows: Vec<[i8; MOST_TAGS]>,
    /// By the tag that follows, then by the one before; the last row of tags before is the beginning.
    after: Vec<[i32; MOST_TAGS]>,
    first: [i32; MOST_TAGS],
}

type Scores = [i32; MOST_TAGS];

/// What features say about a token, by the number of the tag.
pub type Points = [i16; MOST_TAGS];

/// What no chain goes through: places beyond the tags of the model.
const NEVER: i32 = -1 << 28;

impl Chain {
    /// Reads what [`Chain::write`] wrote, or wrote when models were of that version.
    pub fn read(tags: usize, version: u8, reader: &mut Reader<'_>) -> Result<Chain, ModelError> {
        let known = Sparse::read(reader)?;
        let rows = match version {
            1 => rows::read_whole(tags, known.len(), reader)?,
            _ => rows::read(tags, known.len(), reader)?,
        };
        let mut follow = |_| -> Result<Scores, ModelError> {
            let mut scores = [NEVER; MOST_TAGS];
            for score in &mut scores[..tags] {
                *score = i32::from(i16::from_le_bytes([reader.u8()?, reader.u8()?]));
            }
            Ok(scores)
        };
        let first = follow(0)?;
        let after = (0..tags).map(follow).collect::<Result<_, _>>()?;
        Ok(Chain { tags, known, rows, after, first })
    }

    /// Weights as a part of a model: `rows` by feature, then by tag; `first` by tag; `after` by the tag that follows,
    /// then by the tag before.
    pub fn write(bits: u32, places: &[u32], rows: &[Vec<i8>], first: &[i16], after: &[Vec<i16>], out: &mut Vec<u8>) {
        Sparse::write(bits, places, out);
        rows::write(first.len(), rows, out);
        for scores in std::iter::once(first).chain(after.iter().map(Vec::as_slice)) {
            scores.iter().for_each(|score| out.extend(score.to_le_bytes()));
        }
    }

    /// What the features say that a word has by itself.
    pub fn own(&self, word: &Word, is_first: bool) -> Points {
        let mut points = Points::default();
        self.add(&features::own(word, is_first), &mut points);
        points
    }

    /// The number of each word's tag; `own` is what [`Chain::own`] gives for each.
    pub fn tag(&self, words: &[Word], own: &[Points]) -> Vec<u8> {
        let mut back: Vec<[u8; MOST_TAGS]> = Vec::with_capacity(words.len());
        let mut best: Scores = [0; MOST_TAGS];
        for (place, own) in own.iter().enumerate() {
            let mut local = *own;
            self.add(&features::around(&features::five(words, place)), &mut local);
            let mut from = [0u8; MOST_TAGS];
            let mut next: Scores = [NEVER; MOST_TAGS];
            for tag in 0..self.tags {
                let (score, before) = match place {
                    0 => (self.first[tag], 0),
                    _ => highest(&best, &self.after[tag]),
                };
                next[tag] = score + i32::from(local[tag]);
                from[tag] = before;
            }
            best = next;
            back.push(from);
        }
        let mut tag = highest(&best, &[0; MOST_TAGS]).1;
        let mut tags = vec![0; words.len()];
        for place in (0..words.len()).rev() {
            tags[place] = tag;
            tag = back[place][usize::from(tag)];
        }
        tags
    }

    /// Adds what features say.
    #[inline]
    fn add<const COUNT: usize>(&self, features: &[Hash; COUNT], points: &mut Points) {
        self.known.find_all(features, |number| {
            let row = &self.rows[number];
            for tag in 0..MOST_TAGS {
                points[tag] += i16::from(row[tag]);
            }
        });
    }
}

/// The highest sum of two scores, and which it was; the first of equals.
#[inline]
fn highest(scores: &Scores, more: &Scores) -> (i32, u8) {
    let mut sums = [0; MOST_TAGS];
    let mut highest = i32::MIN;
    for tag in 0..MOST_TAGS {
        sums[tag] = scores[tag] + more[tag];
        highest = highest.max(sums[tag]);
    }
    let which = sums.iter().position(|sum| *sum == highest).unwrap_or_default();
    (highest, which as u8)
}
