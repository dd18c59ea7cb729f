//! The sentences or paragraphs around a token, to widen a line of a concordance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tidings_model::{Annotated, LayerColumn, Token};

use super::document::{find, unknown};
use super::documents::metadata;
use super::kwic::{KwicToken, MAX_CONTEXT};
use super::shards::SurroundingsPart;
use super::{Answered, Availability, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::EngineError;

/// Shows the sentences or paragraphs around a token of a document.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SurroundingsRequest {
    /// The id of the document, 32 hexadecimal digits.
    #[schemars(extend("x-value-name" = "ID"))]
    pub id: String,
    /// The number of the token in the document, as lines state it.
    #[schemars(range(min = 0, max = 4_294_967_296_u64))]
    pub position: u64,
    /// The unit of text to show.
    #[serde(default = "sentence")]
    pub unit: TextUnit,
    /// Further units before and after.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub around: u32,
}

choices! {
    /// A unit of text.
    pub enum TextUnit {
        /// Sentences.
        Sentence = "sentence",
        /// Paragraphs.
        Paragraph = "paragraph",
    }
}

fn sentence() -> TextUnit {
    TextUnit::Sentence
}

fn one() -> u32 {
    1
}

answer! {
    /// The text around a token.
    #[derive(serde::Deserialize)]
    pub struct Surroundings {
        /// The id of the document.
        pub document: String,
        /// Where the text may be shown.
        pub availability: Availability,
        /// Whether the text may not be shown.
        pub restricted: bool,
        /// Whether sentences are cut, because no more of the text may be shown.
        pub shortened: bool,
        /// The sentences.
        pub sentences: Vec<ShownSentence>,
    }

    /// A sentence of a document.
    #[derive(serde::Deserialize)]
    pub struct ShownSentence {
        /// The number of its paragraph, from 0.
        pub paragraph: u64,
        /// The number of its first token in the document, from 0.
        pub position: u64,
        /// Its tokens.
        pub tokens: Vec<KwicToken>,
    }
}

impl Request for SurroundingsRequest {
    fn example() -> SurroundingsRequest {
        SurroundingsRequest {
            id: "0123456789abcdef0123456789abcdef".to_owned(),
            position: 7,
            unit: sentence(),
            around: one(),
        }
    }
}

impl Question for SurroundingsRequest {
    const NAME: &'static str = "context";
    const PATH: &'static str = "documents/{id}/context";
    const SUMMARY: &'static str = "Show the sentences or paragraphs around a token";
    const ROWS: &'static str = "sentences";
    const COST: Cost = Cost::Quick;
    type Answer = Surroundings;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Surroundings>, QuestionError> {
        let body = match context.is_sharded() {
            true => context.gather(&SurroundingsPart { request: self.clone() })?.0.ok_or_else(unknown)?,
            false => self.body(context)?,
        };
        Ok(context.answered((None, None), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

impl SurroundingsRequest {
    /// The surroundings in an index.
    pub(super) fn body(&self, context: &QuestionContext<'_>) -> Result<Surroundings, QuestionError> {
        let place = find(context, &self.id)?;
        let row = metadata(context, place)?;
        let privacy = context.privacy;
        let shows_text = privacy.shows_text(row.availability);
        let shows = shows_text || privacy.shows_lines(row.availability) && context.takes_window(&row.id, self.position);
        let mut body = Surroundings {
            document: row.id,
            availability: row.availability,
            restricted: !shows,
            shortened: false,
            sentences: Vec::new(),
        };
        if shows {
            let annotated = context.all.snapshot().annotated(place.0, place.1).map_err(EngineError::from)?;
            self.show(&annotated, shows_text, &mut body)?;
        }
        Ok(body)
    }

    fn show(&self, document: &Annotated, whole: bool, body: &mut Surroundings) -> Result<(), QuestionError> {
        let position = self.position as usize;
        let sentences = sentences_of(document);
        let place = sentences.iter().position(|sentence| sentence.tokens.contains(&position)).ok_or_else(|| {
            QuestionError::parameter("position", "the document has no token of this number; they count from 0")
        })?;
        let around = self.around as usize;
        let is_near = |at: usize, sentence: &Sentence<'_>| match self.unit {
            TextUnit::Sentence => at.abs_diff(place) <= around,
            TextUnit::Paragraph => sentence.paragraph.abs_diff(sentences[place].paragraph) <= around,
        };
        // The right to lines shows no more of a document at once than a line with the longest context.
        let side = MAX_CONTEXT as usize;
        let visible = if whole { 0..usize::MAX } else { position.saturating_sub(side)..position + side + 1 };
        for (_, sentence) in sentences.iter().enumerate().filter(|(at, sentence)| is_near(*at, sentence)) {
            let shown = sentence.tokens.start.max(visible.start)..sentence.tokens.end.min(visible.end);
            body.shortened |= shown != sentence.tokens;
            if shown.is_empty() {
                continue;
            }
            let first = sentence.tokens.start;
            let tokens = sentence.text[shown.start - first..shown.end - first].iter().zip(shown.clone());
            let tokens = tokens.map(|(token, at)| token_of(token, at, document)).collect();
            let (paragraph, position) = (sentence.paragraph as u64, shown.start as u64);
            body.sentences.push(ShownSentence { paragraph, position, tokens });
        }
        Ok(())
    }
}

/// A sentence of a document: its paragraph, the numbers of its tokens, and these.
pub(super) struct Sentence<'a> {
    paragraph: usize,
    pub(super) tokens: Range<usize>,
    pub(super) text: &'a [Token],
}

/// The sentences of a document.
pub(super) fn sentences_of(document: &Annotated) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut next = 0;
    for (paragraph, part) in document.paragraphs.iter().enumerate() {
        for text in &part.sentences {
            sentences.push(Sentence { paragraph, tokens: next..next + text.len(), text });
            next += text.len();
        }
    }
    sentences
}

/// A token of a document with its layers.
pub(super) fn token_of(token: &Token, at: usize, document: &Annotated) -> KwicToken {
    let [word, lemma, tag, feats] = [&token.word, &token.lemma, &token.tag, &token.feats].map(ToString::to_string);
    let value = |column: &LayerColumn| column.values.get(at).filter(|value| !value.is_empty()).cloned();
    let layers = document.columns.iter().filter_map(|column| Some((column.layer.name.clone(), value(column)?)));
    KwicToken { word, lemma, tag, feats, layers: layers.collect(), space_after: token.space_after }
}
