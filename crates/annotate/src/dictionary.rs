//! Words in scripts without blanks, from ICU's dictionaries and networks.

use std::sync::OnceLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use crate::chars::Kind;
use crate::line::Line;

/// The words of scripts without blanks.
#[derive(Debug, Clone, Copy)]
pub struct Dictionary;

fn segmenter() -> &'static WordSegmenterBorrowed<'static> {
    static SEGMENTER: OnceLock<WordSegmenterBorrowed<'static>> = OnceLock::new();
    SEGMENTER.get_or_init(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()))
}

impl Dictionary {
    pub fn for_language(_code: &str) -> Dictionary {
        Dictionary
    }

    /// Marks where words begin in all stretches of the line that are in such a script.
    pub fn consult(self, text: &str, line: &mut Line) {
        let mut place = 0;
        while place < line.len() {
            if !line.kind(place).is_unspaced() {
                place += 1;
                continue;
            }
            let complex = line.kind(place) == Kind::Complex;
            let same = |kind: Kind| if complex { kind == Kind::Complex } else { kind.is_cjk() };
            let end = (place..line.len()).find(|at| !same(line.kind(*at))).unwrap_or(line.len());
            mark(&text[line.byte(place)..line.byte(end)], &mut line.chars[place..end]);
            place = end;
        }
    }
}

fn mark(text: &str, chars: &mut [crate::line::Char]) {
    let Some(start) = chars.first().map(|first| first.at) else { return };
    chars.iter_mut().for_each(|found| found.begins = false);
    for place in segmenter().segment_str(text) {
        if let Ok(found) = chars.binary_search_by_key(&(start + place), |found| found.at) {
            chars[found].begins = !chars[found].extends;
        }
    }
}
