//! What the tests of the series of words have in common.

use super::params::SeriesParams;
use super::trends::{ShardedTest, panel_subcorpus};
use super::{QuestionContext, QuestionError};
use crate::engine::{TestedWord, TestedWords, WordCells};
use crate::filter::Filter;
use crate::trend::Bin;

/// A test of the series of all words.
pub(super) struct SeriesTest<T> {
    /// The words that passed; nothing if the answer is cut off, as a test of a part of the tokens would find other words.
    pub(super) found: TestedWords<T>,
    /// The number of words that passed; nothing if the answer is cut off.
    pub(super) values: Option<u64>,
    /// Tokens of the documents counted.
    pub(super) tokens: u64,
    pub(super) filter: Option<Filter>,
}

impl<T> SeriesTest<T> {
    /// Tests the words of an index, or of all shards. `keep` drops words that are not asked for.
    pub(super) fn new(
        context: &QuestionContext<'_>,
        params: &SeriesParams,
        test: impl FnOnce(&WordCells<'_>, &[Bin]) -> TestedWords<T>,
        keep: impl FnOnce(&mut Vec<TestedWord<T>>),
    ) -> Result<SeriesTest<T>, QuestionError> {
        let SeriesParams { scope, attribute, by, min, content, panel, limit } = params;
        let attribute = attribute.of(context)?;
        let (mut found, tokens, filter) = if context.is_sharded() {
            let words = ShardedTest::new(context, scope, panel, *by)?;
            let cells = words.cells(context, attribute, *min, content.has_kinds(attribute))?;
            (test(&cells, &words.bins), words.tokens, words.filter)
        } else {
            let (subcorpus, filter) = panel_subcorpus(context, scope, panel, *by)?;
            let content = content.words(context, attribute);
            let (bins, periods) = context.engine.periods(&subcorpus, *by);
            let cells = WordCells::of_index(context.engine, &subcorpus, attribute, &periods, content.as_ref());
            (test(&cells, &bins), context.engine.tokens(&subcorpus), filter)
        };
        keep(&mut found.rows);
        let mut values = Some(limit.cut(&mut found.rows));
        if context.is_cut_off() {
            found = TestedWords { bins: Vec::new(), sites: 0, tested: 0, left_out: 0, rows: Vec::new() };
            values = None;
        }
        Ok(SeriesTest { found, values, tokens, filter })
    }
}
