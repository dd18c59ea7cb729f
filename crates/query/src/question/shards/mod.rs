//! Questions over several indexes that hold different documents: the shards of a corpus.
//!
//! A question asks every shard for a *part*: counts that are not cut, keyed by text and not by the numbers of one index. The
//! parts are merged, and ranks, minimums, rates and tests are made of the sums, by the same functions as for one index. So
//! the answer over shards is that of one index with the documents of all of them. Two rules make sums right: no document is
//! in two shards, and all documents of a site are in one.

mod cells;
mod contrast;
mod evidence;
mod hits;
mod in_time;
mod lines;
mod new_words;
mod places;
mod runs;
mod schema;
mod similar;
mod sketch;
mod spans;
mod terms;
mod whole;
mod words;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, Mutex};

use super::{QuestionContext, QuestionError};
use crate::engine::CutOff;
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::Parsed;

pub(super) use cells::{SiteBinsPart, VolumePart, word_cells, word_kinds};
pub(super) use contrast::{SharedSitesPart, WordContrast, gram_contrast};
pub(super) use evidence::{Evidence, EvidencePart};
pub(super) use hits::{
    AttributeValuesPart, CountPart, CrosstabPart, FieldValuesPart, GroupPart, MarginalsPart, NearPart, PartCells,
    PlacesNearPart, SearchPart, SpanValuesPart, TimelinePart,
};
pub(super) use in_time::InTime;
pub(super) use lines::{
    DocumentPart, DocumentsPart, FoundDocuments, FoundHit, FoundHits, PagePart, RowsPart, SurroundingsPart, in_time,
};
pub(super) use new_words::{DaysPart, SitesSincePart, new_words};
pub(super) use places::HitPlacesPart;
pub(super) use runs::RunDaysPart;
pub use schema::CorpusSchema;
pub(super) use similar::similar;
pub(super) use sketch::sketch;
pub(super) use spans::{PartKey, SpanTallyPart};
pub(super) use terms::{term_contrast, usual_forms};
pub use whole::WholeCorpus;
pub(super) use whole::{Searched, WholeMemo};
pub(super) use words::WordCountsPart;

/// Asks all shards for the same part.
pub trait AskShards {
    /// The answers of the shards in their order, each as JSON; nothing for a shard that is left out because it does not
    /// answer and the client takes partial answers. `request` makes the request to a shard of a number.
    fn ask(
        &self,
        part: &'static str,
        request: &(dyn Fn(usize) -> Option<Value> + Sync),
    ) -> Result<Vec<Option<Vec<u8>>>, QuestionError>;
}

/// The shards that a question is answered from.
#[derive(Clone, Copy)]
pub struct Shards<'c> {
    /// Asks them.
    pub ask: &'c dyn AskShards,
    /// What all of them have.
    pub schema: &'c CorpusSchema,
    /// The state of the corpus: the sum of theirs.
    pub generation: u64,
    /// The number of shards that are asked.
    pub number: usize,
    /// The shards that are asked, if not all.
    pub coverage: Option<Coverage>,
}

/// A part of the shards of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// The shards that are covered.
    pub shards: u64,
    /// All shards.
    pub of_shards: u64,
    /// The tokens of those that are covered.
    pub tokens: u64,
}

/// What a shard answers to the request for a part.
#[derive(Debug, Serialize, Deserialize)]
struct PartAnswer<T> {
    /// The sum of the shard.
    sum: T,
    /// Documents that the client may not read, and those of them that are counted.
    #[serde(default)]
    hidden: (u64, u64),
    /// The search that a limit stopped.
    #[serde(default)]
    cut_off: Option<CutOff>,
    /// The message about an annotation that no document of the shard has; others may have it.
    #[serde(default)]
    absent: Option<Absent>,
}

/// An annotation that a query asks for and that no document of a shard has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Absent {
    parameter: String,
    message: String,
}

/// What a context that answers a part has noticed.
#[derive(Debug, Clone, Default)]
pub struct PartNotes(Arc<Mutex<Option<Absent>>>);

impl PartNotes {
    /// Notes an annotation that no document has.
    pub(super) fn absent(&self, parameter: &str, message: String) {
        let note = Absent { parameter: parameter.to_owned(), message };
        self.0.lock().expect("no panic while held").get_or_insert(note);
    }
}

/// A part of an answer: what a shard counts.
pub(super) trait Part: Serialize + DeserializeOwned + Sync {
    /// The name in requests.
    const NAME: &'static str;
    /// What is counted.
    type Sum: Serialize + DeserializeOwned;

    /// Counts it in an index.
    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError>;

    /// The search that it makes, if it makes one: it may ask for what only the whole corpus knows.
    fn searched(&self) -> Option<Searched<'_>> {
        None
    }

    /// Returns false for what no index can have counted.
    fn is_plausible(_: &Self::Sum) -> bool {
        true
    }
}

/// The days that documents of a shard may have, from the year 0 to 3000: more would need tables without end.
fn are_days<'d>(mut days: impl Iterator<Item = &'d i32>) -> bool {
    days.all(|day| (-719_528..=376_200).contains(day))
}

/// The most digits of a number: sums of greater ones could overflow.
const MAX_DIGITS: usize = 16;

/// Returns true if JSON has a number, outside of texts, that is greater than any count.
fn has_huge_number(json: &[u8]) -> bool {
    let (mut is_text, mut is_escaped, mut digits) = (false, false, 0);
    json.iter().any(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ => {}
        }
        digits = if byte.is_ascii_digit() && !is_text { digits + 1 } else { 0 };
        digits > MAX_DIGITS
    })
}

/// A part on the way to a shard, with what it has to know of the whole corpus.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope<P> {
    part: P,
    #[serde(default, skip_serializing_if = "WholeCorpus::is_empty")]
    whole: WholeCorpus,
}

impl Parsed<Filter> {
    /// A filter as a field of parts.
    pub(super) fn of_filter(filter: Option<&Filter>) -> Option<Parsed<Filter>> {
        filter.map(|filter| Parsed::of(filter.clone()))
    }
}

impl QuestionContext<'_> {
    /// The sum of a part over all shards, or of the index if there are none.
    pub(super) fn gather<P: Part<Sum: Merge>>(&self, part: &P) -> Result<P::Sum, QuestionError> {
        if self.shards.is_none() {
            return part.compute(self);
        }
        let mut sums = self.gather_each(|_| Some(part))?.into_iter().flatten();
        let mut sum = sums.next().ok_or(QuestionError::Timeout)?;
        sums.for_each(|other| sum.merge_from(other));
        Ok(sum)
    }

    /// The sums of the shards in their order. `part` is what a shard of a number is asked for, if anything.
    pub(super) fn gather_each<'p, P: Part + 'p>(
        &self,
        part: impl Fn(usize) -> Option<&'p P> + Sync,
    ) -> Result<Vec<Option<P::Sum>>, QuestionError> {
        let Some(shards) = self.shards else { return Ok(vec![part(0).map(|part| part.compute(self)).transpose()?]) };
        let searched = (0..shards.number).find_map(&part).and_then(Part::searched);
        let whole = searched.map(|searched| self.whole_corpus(&searched)).transpose()?.unwrap_or_default();
        let request = |shard: usize| {
            let envelope = Envelope { part: part(shard)?, whole: whole.of_shard(shard) };
            Some(serde_json::to_value(envelope).expect("parts serialise"))
        };
        let answers = shards.ask.ask(P::NAME, &request)?;
        let mut sums = Vec::with_capacity(answers.len());
        let (mut hidden, mut absent, mut asked) = ((0, 0), Vec::new(), 0);
        let mut cut_offs = Vec::new();
        for answer in answers {
            let Some(answer) = answer else {
                sums.push(None);
                continue;
            };
            let wrong = |error: &str| QuestionError::Shard {
                status: 502,
                parameter: None,
                message: format!("a shard sent no {}: {error}", P::NAME),
            };
            // The lots of a sample have all digits.
            if P::NAME != PagePart::NAME && has_huge_number(&answer) {
                return Err(wrong("a count is too great"));
            }
            let answer: PartAnswer<P::Sum> =
                serde_json::from_slice(&answer).map_err(|error| wrong(&error.to_string()))?;
            if !P::is_plausible(&answer.sum) {
                return Err(wrong("it has days without end"));
            }
            asked += 1;
            hidden.merge_from(answer.hidden);
            absent.extend(answer.absent);
            cut_offs.extend(answer.cut_off);
            sums.push(Some(answer.sum));
        }
        self.note_hidden(hidden.0, hidden.1);
        self.note_cut_off(&cut_offs);
        match absent.pop() {
            // What some shards have is no mistake.
            Some(Absent { parameter, message }) if absent.len() + 1 == asked => {
                Err(QuestionError::Shard { status: 400, parameter: Some(parameter), message })
            }
            _ => Ok(sums),
        }
    }

    /// Returns true if the answer is put together from shards.
    pub(super) fn is_sharded(&self) -> bool {
        self.shards.is_some()
    }

    /// The share of a number that one shard at least has: of hits, or of documents.
    pub(super) fn share_of_shard(&self, number: u64) -> u64 {
        let shards = self.shards.map_or(1, |shards| shards.number.max(1));
        number.div_ceil(shards as u64).max(1)
    }

    /// Refuses a test over a part of the shards: a missing shard looks like words that fall.
    pub(super) fn refuse_partial_test(&self) -> Result<(), QuestionError> {
        match self.shards.and_then(|shards| shards.coverage) {
            Some(Coverage { shards, of_shards, .. }) => Err(QuestionError::Shard {
                status: 503,
                parameter: None,
                message: format!(
                    "only {shards} of {of_shards} shards answer, and a test over a part of them would find other words; \
                     send the request again when all shards run"
                ),
            }),
            None => Ok(()),
        }
    }
}

/// Answers the request for a part, as JSON.
type AnswerPart = fn(Value, &QuestionContext<'_>) -> Result<Vec<u8>, QuestionError>;

fn answer<P: Part>(request: Value, context: &QuestionContext<'_>) -> Result<Vec<u8>, QuestionError> {
    let Envelope { part, whole }: Envelope<P> =
        serde_json::from_value(request).map_err(|error| QuestionError::Request(error.to_string()))?;
    let context = &QuestionContext { whole: Some(Arc::new(whole)), ..context.clone() };
    let sum = context.checked(part.compute(context))?;
    let absent = context.notes.as_ref().and_then(|notes| notes.0.lock().expect("no panic while held").clone());
    let answer = PartAnswer { sum, hidden: context.hidden.counts(), cut_off: context.cut_off(), absent };
    Ok(serde_json::to_vec(&answer).expect("sums serialise"))
}

macro_rules! parts {
    ($($part:ty),+ $(,)?) => {
        /// All parts by name.
        const PARTS: &[(&str, AnswerPart)] = &[$((<$part>::NAME, answer::<$part>)),+];
    };
}

parts!(
    schema::SchemaPart,
    CountPart,
    AttributeValuesPart,
    SpanValuesPart,
    FieldValuesPart,
    GroupPart,
    CrosstabPart,
    TimelinePart,
    NearPart,
    MarginalsPart,
    PlacesNearPart,
    WordCountsPart,
    VolumePart,
    SiteBinsPart,
    cells::CandidatesPart,
    cells::CellsPart,
    cells::TopWordsPart,
    cells::ClassesPart,
    PagePart,
    RowsPart,
    DocumentsPart,
    DocumentPart,
    SurroundingsPart,
    SharedSitesPart,
    contrast::PartTextPart,
    contrast::PartPeriodsPart,
    contrast::PartDocumentsPart,
    contrast::GramsPart,
    contrast::GramCountsPart,
    EvidencePart,
    DaysPart,
    SitesSincePart,
    new_words::UnseenPart,
    new_words::SeenPart,
    new_words::SpreadsPart,
    HitPlacesPart,
    RunDaysPart,
    SpanTallyPart,
    terms::TermsPart,
    terms::TermCountsPart,
    terms::TermFormsPart,
    whole::FrequenciesPart,
    whole::FirstHitsPart,
    sketch::SketchTagsPart,
    sketch::SketchPairsPart,
    sketch::SketchMarginalsPart,
    similar::LemmaTagsPart,
    similar::LemmaNearPart,
    similar::LemmaTotalsPart,
);

/// Answers the request for a part of a name, as JSON for [`AskShards`]. The context must have [`QuestionContext::notes`].
pub fn answer_part(name: &str, request: Value, context: &QuestionContext<'_>) -> Result<Vec<u8>, QuestionError> {
    let known = PARTS.iter().find(|(known, _)| *known == name);
    let Some((_, answer)) = known else {
        let message = format!("no such part: {name}; the gateway and its shards must be of the same version");
        return Err(QuestionError::NotFound { parameter: "part", message });
    };
    answer(request, context)
}

/// The schema that is merged from the answers of shards to the part `schema`.
pub fn merged_schema(answers: &[Option<Vec<u8>>]) -> Result<CorpusSchema, QuestionError> {
    schema::merged(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_count_can_have_are_noticed_outside_of_texts() {
        assert!(has_huge_number(b"{\"a\":[1,18446744073709551615]}"));
        assert!(!has_huge_number(b"{\"a18446744073709551615\":[1,9007199254740991],\"b\\\"18446744073709551615\":0}"));
    }

    #[test]
    fn parts_have_different_names() {
        let names: std::collections::BTreeSet<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), PARTS.len());
    }
}
