//! The questions that a corpus answers: for each a request type, an answer type and the function between them.
//!
//! One definition serves every interface. The doc comments, defaults and limits of a request's fields are the help texts,
//! defaults and checks of the command line's flags and of the HTTP API's parameters; the fields of an answer are the OpenAPI
//! schema, the columns of CSV and the TypeScript types of the web page. [`QUESTIONS`] lists them all.
//!
//! ```
//! use tidings_query::question::{FreqRequest, Request as _};
//!
//! let by = FreqRequest::parameters().into_iter().find(|parameter| parameter.name == "by").unwrap();
//! assert_eq!(by.default, Some("lc".into()));
//! ```

mod bursts;
mod colloc;
mod column;
mod compare;
mod concordance;
mod context;
mod contrast;
mod corpora;
mod count;
mod crosstab;
mod decisions;
mod dispersion;
mod document;
mod documents;
mod error;
mod exactness;
mod explanation;
mod fields;
mod focus;
mod freq;
mod frozen;
mod group;
mod keywords;
mod kwic;
mod line_value;
mod meaning;
mod names;
mod neologisms;
mod new_words;
mod parallel;
mod parameter;
mod params;
mod parsed;
mod quotes;
mod seasons;
mod series;
mod shards;
mod sketch;
mod sketch_diff;
mod steps;
mod stream;
mod surroundings;
mod terms;
mod thesaurus;
mod timeline;
mod trends;
mod words;

pub use bursts::{BurstRow, Bursts, BurstsRequest};
pub use colloc::{CollocRequest, Collocate, Collocates, Scores, Window};
pub use column::{Column, columns};
pub use compare::{Change, CompareConfig, CompareRequest, Comparison, PartSize};
pub use concordance::{Concordance, ConcordanceLine, ConcordanceRequest};
pub use context::{
    AVAILABILITY_FIELD, About, Answered, AppliedRights, Availability, FindFilter, HiddenDocuments, MAX_PAGE_ROWS,
    MIN_DOCUMENTS, MIN_HITS, Privacy, QuestionContext, RunDays, WindowLimit,
};
pub use contrast::{ContrastBasis, ContrastUnit};
pub use corpora::{CorpusRow, LayerRow};
pub use count::{CountRequest, HitCount};
pub use crosstab::{Crosstab, CrosstabRequest, CrosstabRow};
pub use decisions::{FindDecisions, WordDecision, WordDecisions, WordStatus};
pub use dispersion::{DispersionAnswer, DispersionRequest, DispersionRow};
pub use document::{Document, DocumentRequest};
pub use documents::{DocumentRow, Documents, DocumentsRequest};
pub use error::QuestionError;
pub use exactness::Exactness;
pub use explanation::Explanation;
pub use focus::FocusParams;
pub use freq::{FreqRequest, Frequencies, FrequencyRow};
pub use frozen::{FrozenState, WithdrawnDocuments};
pub use group::{GroupRequest, GroupRow, Groups};
pub use keywords::{Keyword, KeywordUnit, Keywords, KeywordsRequest};
pub use kwic::{KwicToken, Line, MAX_CONTEXT, SortKey, sample_rank, sort_lines, text_of};
pub use line_value::{LinePlace, MAX_NEIGHBOUR};
pub use meaning::{MeaningAnswer, MeaningCollocate, MeaningRequest, MeaningRow};
pub use names::{NameRow, NameType, Names, NamesRequest};
pub use neologisms::{Citation, ListedStatus, NeologismRow, Neologisms, NeologismsRequest};
pub use new_words::{NewWordHint, NewWordRow, NewWords, NewWordsRequest};
pub use parallel::{DocumentPairs, FindOther, OtherCorpus, ParallelConcordance, ParallelLine, ParallelRequest};
pub use parameter::{Parameter, ParameterKind, Request, ValueError, given, request};
pub use params::{
    AttributeParams, ConfidenceParams, ContentParams, Cursor, Direction, LimitParams, MeasureParams, NgramParams,
    PageParams, PanelParams, RefineParams, ScopeParams, SearchParams, SearchesParams, SeriesParams, StepParams,
    TestParams, TestedAttributeParams, WordRowParams,
};
pub use parsed::{Language, Parsed};
pub use quotes::{QuoteRow, Quotes, QuotesBy, QuotesRequest};
pub use seasons::{SeasonRow, Seasons, SeasonsRequest};
pub use shards::{AskShards, CorpusSchema, Coverage, PartNotes, Shards, WholeCorpus, answer_part, merged_schema};
pub use sketch::{
    RelationRow, RelationSummary, Sketch, SketchAnswer, SketchRelation, SketchRequest, SketchRow, TagCount,
};
pub use sketch_diff::{SketchDiff, SketchDiffRequest, SketchDiffRow};
pub use steps::{StepRow, Steps, StepsRequest};
pub use stream::{RowData, RowSink};
pub use surroundings::{ShownSentence, Surroundings, SurroundingsRequest, TextUnit};
pub use terms::{TermRow, Terms, TermsRequest};
pub use thesaurus::{Thesaurus, ThesaurusRequest, ThesaurusRow};
pub use timeline::{Timeline, TimelinePoint, TimelineRequest};
pub use trends::{SiteMixture, TrendRow, Trends, TrendsRequest};
pub use words::{WordRow, Words, WordsRequest};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

/// The work that an answer may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Milliseconds, nearly always.
    Quick,
    /// A look at every token of the corpus.
    Heavy,
}

/// A question: its fields are the parameters.
pub trait Question: Request {
    /// The name of the command and the endpoint.
    const NAME: &'static str;
    /// The path of the endpoint below the corpus; parameters in braces are part of it.
    const PATH: &'static str = Self::NAME;
    /// The help text, in one line.
    const SUMMARY: &'static str;
    /// The field of the answer that holds its rows; empty if there are none.
    const ROWS: &'static str;
    /// The work that an answer usually needs.
    const COST: Cost;
    /// The answer.
    type Answer: Serialize + JsonSchema;

    /// The work that the answer to this request needs.
    fn cost(&self) -> Cost {
        Self::COST
    }

    /// Computes the answer, perhaps from damaged files of the index: callers use [`Question::answer`].
    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Self::Answer>, QuestionError>;

    /// Computes the answer row by row. Questions with more rows than memory should hold give them as they are found.
    fn evaluate_rows(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        stream::give_all::<Self>(self.answer(context)?, sink)
    }

    /// Answers the question; an error if a file of the index that it read is damaged.
    fn answer(&self, context: &QuestionContext<'_>) -> Result<Answered<Self::Answer>, QuestionError> {
        context.checked(self.evaluate(context))
    }

    /// Answers the question row by row. If it ends with an error, the rows before may be made of damaged bytes.
    fn stream(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        context.checked(self.evaluate_rows(context, sink))
    }
}

/// Checked parameters by name.
pub type Values = Map<String, Value>;
/// Makes the canonical request of parameters, with its cost.
pub type Canonical = fn(Values) -> Result<(Value, Cost), QuestionError>;
/// Answers the question that parameters ask.
pub type AnswerValues = fn(Values, &QuestionContext<'_>) -> Result<Answered<Value>, QuestionError>;
/// Answers the question that parameters ask, row by row.
pub type StreamValues = fn(Values, &QuestionContext<'_>, &mut dyn RowSink) -> Result<(), QuestionError>;

/// A question without its types: names, parameters, schema and the function that answers it.
#[derive(Debug, Clone, Copy)]
pub struct QuestionInfo {
    /// The name of the command and the endpoint.
    pub name: &'static str,
    /// The path of the endpoint below the corpus.
    pub path: &'static str,
    /// The help text, in one line.
    pub summary: &'static str,
    /// The field of the answer that holds its rows; empty if there are none.
    pub rows: &'static str,
    /// The parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// A request worth asking.
    pub example: fn() -> Value,
    /// The schema of the request, as an object.
    pub request_schema: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of the answer, as an object.
    pub answer_schema: fn(&mut SchemaGenerator) -> Schema,
    /// The request of checked parameters in its canonical form, and its cost.
    pub canonical: Canonical,
    /// Answers the question that checked parameters ask.
    pub answer: AnswerValues,
    /// Answers it row by row.
    pub stream: StreamValues,
}

impl QuestionInfo {
    /// The description of a question.
    pub const fn of<Q: Question>() -> QuestionInfo {
        QuestionInfo {
            name: Q::NAME,
            path: Q::PATH,
            summary: Q::SUMMARY,
            rows: Q::ROWS,
            parameters: Q::parameters,
            example: || serde_json::to_value(Q::example()).expect("requests serialise"),
            request_schema: Q::json_schema,
            answer_schema: Q::Answer::json_schema,
            canonical: |values| {
                let asked = request::<Q>(values)?;
                Ok((serde_json::to_value(&asked).expect("requests serialise"), asked.cost()))
            },
            answer: |values, context| Ok(stream::as_values::<Q>(request::<Q>(values)?.answer(context)?)),
            stream: |values, context, sink| request::<Q>(values)?.stream(context, sink),
        }
    }
}

impl QuestionInfo {
    /// The columns of the rows; `fields` are those of documents.
    pub fn columns(&self, fields: &[&str]) -> Vec<Column> {
        columns(self.answer_schema, self.rows, fields)
    }
}

/// All questions. A new one is a file of this folder and a row here.
pub const QUESTIONS: &[QuestionInfo] = &[
    QuestionInfo::of::<ConcordanceRequest>(),
    QuestionInfo::of::<ParallelRequest>(),
    QuestionInfo::of::<CountRequest>(),
    QuestionInfo::of::<FreqRequest>(),
    QuestionInfo::of::<GroupRequest>(),
    QuestionInfo::of::<CrosstabRequest>(),
    QuestionInfo::of::<DispersionRequest>(),
    QuestionInfo::of::<CollocRequest>(),
    QuestionInfo::of::<SketchRequest>(),
    QuestionInfo::of::<SketchDiffRequest>(),
    QuestionInfo::of::<ThesaurusRequest>(),
    QuestionInfo::of::<WordsRequest>(),
    QuestionInfo::of::<KeywordsRequest>(),
    QuestionInfo::of::<TermsRequest>(),
    QuestionInfo::of::<CompareRequest>(),
    QuestionInfo::of::<MeaningRequest>(),
    QuestionInfo::of::<TimelineRequest>(),
    QuestionInfo::of::<TrendsRequest>(),
    QuestionInfo::of::<SeasonsRequest>(),
    QuestionInfo::of::<StepsRequest>(),
    QuestionInfo::of::<BurstsRequest>(),
    QuestionInfo::of::<NewWordsRequest>(),
    QuestionInfo::of::<NeologismsRequest>(),
    QuestionInfo::of::<NamesRequest>(),
    QuestionInfo::of::<QuotesRequest>(),
    QuestionInfo::of::<DocumentsRequest>(),
    QuestionInfo::of::<DocumentRequest>(),
    QuestionInfo::of::<SurroundingsRequest>(),
];

fn as_text<S: serde::Serializer>(value: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_request_and_every_default_is_a_value_of_its_parameter() {
        for question in QUESTIONS {
            let Value::Object(example) = (question.example)() else { panic!("{} is no object", question.name) };
            (question.canonical)(example).unwrap_or_else(|error| panic!("{}: {error}", question.name));
            for parameter in (question.parameters)() {
                assert!(!parameter.help.is_empty(), "{}.{} has no help", question.name, parameter.name);
                if let Some(default) = &parameter.default {
                    let again = parameter.parse(&parameter.text(default)).unwrap();
                    assert_eq!(parameter.text(&again), parameter.text(default), "{}.{}", question.name, parameter.name);
                }
            }
        }
    }

    #[test]
    fn required_parameters_are_enough() {
        for question in QUESTIONS {
            let Value::Object(example) = (question.example)() else { panic!("{} is no object", question.name) };
            let parameters = (question.parameters)();
            let required = |name: &str| parameters.iter().any(|parameter| parameter.name == name && parameter.required);
            let least = example.into_iter().filter(|(name, _)| required(name)).collect();
            let (canonical, _) = (question.canonical)(least).unwrap();
            let given = given(&parameters, &canonical);
            assert!(given.iter().all(|(name, _)| required(name)), "{}: {given:?} are not defaults", question.name);
        }
    }

    #[test]
    fn names_of_questions_and_parameters_are_used_once() {
        let names: std::collections::BTreeSet<&str> = QUESTIONS.iter().map(|question| question.name).collect();
        assert_eq!(names.len(), QUESTIONS.len());
        for question in QUESTIONS {
            let parameters = (question.parameters)();
            let names: std::collections::BTreeSet<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names.len(), parameters.len(), "{}", question.name);
        }
    }
}
