//! Word segmentation of scripts without spaces by ICU's dictionaries and LSTM models.

use std::sync::OnceLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use crate::chars::CharClass;
use crate::text_line::TextLine;

/// Segmenter for scripts without spaces.
#[derive(Debug, Clone, Copy)]
pub struct Dictionary;

fn segmenter() -> &'static WordSegmenterBorrowed<'static> {
    static SEGMENTER: OnceLock<WordSegmenterBorrowed<'static>> = OnceLock::new();
    SEGMENTER.get_or_init(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()))
}

impl Dictionary {
    /// Marks word starts in all runs of the line that are in such a script.
    pub fn consult(self, text: &str, line: &mut TextLine) {
        let mut index = 0;
        while index < line.len() {
            if !line.class(index).is_unspaced() {
                index += 1;
                continue;
            }
            let complex = line.class(index) == CharClass::Complex;
            let same = |class: CharClass| if complex { class == CharClass::Complex } else { class.is_cjk() };
            let end = (index..line.len()).find(|at| !same(line.class(*at))).unwrap_or(line.len());
            mark(&text[line.byte(index)..line.byte(end)], &mut line.chars[index..end]);
            index = end;
        }
    }
}

fn mark(text: &str, chars: &mut [crate::text_line::Char]) {
    let Some(start) = chars.first().map(|first| first.offset) else { return };
    chars.iter_mut().for_each(|found| found.word_start = false);
    for index in segmenter().segment_str(text) {
        if let Ok(found) = chars.binary_search_by_key(&(start + index), |found| found.offset) {
            chars[found].word_start = !chars[found].extends;
        }
    }
}
