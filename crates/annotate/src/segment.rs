//! Segmenter: splits text into sentences and tokens by rules, corrected by a boundary model.
//!
//! Text is processed line by line. Rules give a verdict for every candidate boundary; where the
//! language has a model, [`DecisionHook`] sees the verdict with the features of the place and
//! decides. Training uses the same hook to collect examples, so both see identical features.

use std::ops::Range;

use crate::boundary_model::{self, BoundaryModel};
use crate::chars::{CharClass, CharClasses};
use crate::dictionary::Dictionary;
use crate::sentences::{BracketRole, MarkCounts, Passage, SentenceRule};
use crate::table::{self, Table};
use crate::text_line::{self, TextLine};
use crate::{codes, keep_together, sentences, tokens};

/// Characters read at a time; a longer sentence is split.
const CHUNK: usize = 32_768;

/// Characters before the end of a chunk in which no boundary is decided, because the text after the
/// chunk may change the decision.
const LOOKAHEAD: usize = 4 * text_line::MAX_CONTEXT;

/// Score margins that a model needs to end a sentence against the rules: after punctuation, after a
/// bare word, and before text that continues the sentence. Treebanks differ in their conventions
/// here; the margin keeps those of a single treebank from being applied to all text.
const MARGIN_END: f32 = 1.5;
const MARGIN_BARE_END: f32 = 2.0;
const MARGIN_AGAINST_CONTEXT: f32 = 2.0;
/// The same in languages whose sentences end without a mark.
const MARGIN_UNMARKED_END: f32 = 0.0;
/// Score margin that a model needs to continue a sentence against the rules.
const MARGIN_NO_END: f32 = 2.0;

/// Sentence: its tokens in order, as byte ranges of the text. Everything between and around tokens
/// is white space.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentence {
    /// Byte ranges of the tokens.
    pub tokens: Vec<Range<usize>>,
}

impl Sentence {
    /// Returns the tokens as text.
    pub fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.tokens.iter().map(|token| &text[token.clone()])
    }

    /// Returns each token with the white space that follows it, up to the next token of the
    /// sentence.
    pub fn spaced<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        let ends = self.tokens.iter().skip(1).map(|next| next.start).chain(self.tokens.last().map(|last| last.end));
        self.tokens.iter().zip(ends).map(|(token, end)| (&text[token.clone()], &text[token.end..end]))
    }

    /// Byte range of the sentence in the text.
    pub fn span(&self) -> Range<usize> {
        match (self.tokens.first(), self.tokens.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// Splits text of one language into sentences and tokens.
///
/// ```
/// use tidings_annotate::Segmenter;
///
/// let text = "L'été 2024 fut chaud. M. Dupont l'a dit.";
/// let sentences = Segmenter::for_language("fr").segment(text);
/// let words: Vec<&str> = sentences[0].words(text).collect();
/// assert_eq!(words, ["L'", "été", "2024", "fut", "chaud", "."]);
/// assert_eq!(sentences.len(), 2);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Segmenter<'m> {
    table: &'static Table,
    model: Option<&'m BoundaryModel>,
    classes: CharClasses,
    dictionary: Dictionary,
}

/// Decides candidate boundaries; used by models to overrule the rules and by training to collect
/// examples.
pub trait DecisionHook {
    /// Decides whether a token ends at a byte offset. `verdict` is the decision of the rules.
    fn token(&mut self, offset: usize, verdict: bool, features: &[u32]) -> bool;
    /// Decides whether a sentence ends at a byte offset. `margin` is the score needed to overrule
    /// the verdict of the rules.
    fn sentence(&mut self, offset: usize, verdict: bool, margin: f32, features: &[u32]) -> bool;
}

/// Decides by the verdict of the rules and the weights of a model.
struct ModelHook<'m>(&'m BoundaryModel);

impl DecisionHook for ModelHook<'_> {
    #[inline]
    fn token(&mut self, _: usize, verdict: bool, features: &[u32]) -> bool {
        self.0.tokens.score(verdict, features) > 0.0
    }

    #[inline]
    fn sentence(&mut self, _: usize, verdict: bool, margin: f32, features: &[u32]) -> bool {
        let score = self.0.sentences.score(verdict, features);
        if verdict { score > -margin } else { score > margin }
    }
}

impl Segmenter<'static> {
    /// Returns the segmenter of a language by its code, such as `de`, `deu` or `de-AT`. Languages
    /// without a table get the general rules.
    pub fn for_language(code: &str) -> Segmenter<'static> {
        let code = codes::short_code(code);
        Segmenter { model: boundary_model::of(code), ..Segmenter::by_rules(code) }
    }

    /// Returns the segmenter of a language without its model.
    pub fn by_rules(code: &str) -> Segmenter<'static> {
        let code = codes::short_code(code);
        Segmenter { table: table::of(code), model: None, classes: CharClasses::new(), dictionary: Dictionary }
    }
}

impl<'m> Segmenter<'m> {
    /// Replaces the model.
    pub fn with_model<'n>(self, model: Option<&'n BoundaryModel>) -> Segmenter<'n> {
        Segmenter { table: self.table, model, classes: self.classes, dictionary: self.dictionary }
    }

    /// Segments a text. Every character that is not white space is in exactly one token.
    pub fn segment(&self, text: &str) -> Vec<Sentence> {
        match self.model {
            Some(model) => self.segment_inner(text, Some(&mut ModelHook(model))),
            None => self.segment_inner::<ModelHook<'m>>(text, None),
        }
    }

    /// Segments a text with all decisions made by `hook`.
    pub fn segment_with(&self, text: &str, hook: &mut impl DecisionHook) -> Vec<Sentence> {
        self.segment_inner(text, Some(hook))
    }

    fn segment_inner<H: DecisionHook>(&self, text: &str, mut hook: Option<&mut H>) -> Vec<Sentence> {
        let mut found = Vec::new();
        let mut scratch = Scratch::default();
        let mut from = 0;
        while from < text.len() {
            scratch.line.read(text, from, CHUNK, self.classes);
            let full = scratch.line.len() == CHUNK && scratch.line.end < text.len();
            self.dictionary.consult(text, &mut scratch.line);
            if self.table.simplifies {
                scratch.line.simplify();
            }
            self.find_tokens(&mut scratch, &mut hook);
            let cut = self.find_sentences(&mut scratch, &mut hook, &mut found, full);
            from = match cut {
                Some(offset) => offset,
                // Skips the line terminator.
                None if full => scratch.line.end,
                None => {
                    text[scratch.line.end..].chars().next().map_or(text.len(), |end| scratch.line.end + end.len_utf8())
                }
            };
        }
        found
    }

    fn find_tokens<H: DecisionHook>(&self, scratch: &mut Scratch, hook: &mut Option<&mut H>) {
        let Scratch { line, tokens, features, .. } = scratch;
        tokens.clear();
        let mut index = 0;
        // Start of the current token.
        let mut token_start: Option<usize> = None;
        while index < line.len() {
            if line.class(index).is_blank() {
                if let Some(start) = token_start
                    && self.ends_at_blank(line, start, index, features, hook)
                {
                    tokens.push(start..index);
                    token_start = None;
                }
                index += 1;
                continue;
            }
            let run = index..run_end(line, index);
            if line.chars[run.clone()].iter().any(|found| !found.class.is_letter()) {
                keep_together::mark(line, run.clone());
            }
            let mut start = token_start.unwrap_or(run.start);
            for index in run.start + 1..run.end {
                if tokens::is_candidate(line, index) && self.ends_before(line, index, &run, features, hook) {
                    tokens.push(start..index);
                    start = index;
                }
            }
            token_start = Some(start);
            index = run.end;
        }
        tokens.extend(token_start.map(|start| start..line.len()));
    }

    fn ends_before<H: DecisionHook>(
        &self,
        line: &TextLine,
        index: usize,
        run: &Range<usize>,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut H>,
    ) -> bool {
        let verdict = tokens::apply_rules(line, index, run, self.table);
        let Some(hook) = hook else { return verdict.split };
        features.clear();
        tokens::features(line, index, run, verdict, features);
        hook.token(line.byte(index), verdict.split, features)
    }

    fn ends_at_blank<H: DecisionHook>(
        &self,
        line: &TextLine,
        start: usize,
        blank: usize,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut H>,
    ) -> bool {
        if !tokens::is_candidate_blank(line, blank, self.table) {
            return true;
        }
        let verdict = tokens::apply_blank_rules(line, blank);
        let Some(hook) = hook else { return verdict.split };
        features.clear();
        let joined = start < line.word_before(blank);
        tokens::blank_features(line, blank, verdict, joined, features);
        hook.token(line.byte(blank), verdict.split, features)
    }

    /// Collects the sentences of a line. If the line continues after the chunk, the last sentence
    /// may be incomplete; then this returns the byte offset from which to read again.
    fn find_sentences<H: DecisionHook>(
        &self,
        scratch: &mut Scratch,
        hook: &mut Option<&mut H>,
        found: &mut Vec<Sentence>,
        continues: bool,
    ) -> Option<usize> {
        let Scratch { line, tokens, roles, marks, features } = scratch;
        sentences::assign_roles(line, tokens, roles);
        sentences::count_marks(line, tokens, marks);
        let passage = Passage { line, tokens, roles, marks };
        let mut first = 0;
        // Near the end of a chunk, the deciding context may be in the next one.
        let decidable = if continues { line.len() - LOOKAHEAD } else { line.len() };
        for last in 0..tokens.len().saturating_sub(1) {
            if tokens[last + 1].end <= decidable
                && sentences::is_candidate(passage, last, self.table)
                && self.ends_sentence(passage, last, first, features, hook)
            {
                found.push(sentence(line, &tokens[first..=last]));
                first = last + 1;
            }
        }
        let rest = &tokens[first.min(tokens.len())..];
        let start = rest.first()?.start;
        if !continues {
            found.push(sentence(line, rest));
            return None;
        }
        if start >= CHUNK / 2 {
            return Some(line.byte(start));
        }
        // A sentence longer than a chunk is split before its last token, which may be incomplete; a
        // token longer than a chunk is split as it is.
        let (last, others) = rest.split_last()?;
        if others.is_empty() || last.start < CHUNK / 2 {
            found.push(sentence(line, rest));
            return None;
        }
        found.push(sentence(line, others));
        Some(line.byte(last.start))
    }

    fn ends_sentence<H: DecisionHook>(
        &self,
        passage: Passage<'_>,
        last: usize,
        first: usize,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut H>,
    ) -> bool {
        let verdict = sentences::apply_rules(passage, last, first, self.table);
        let Some(hook) = hook else { return verdict.ends };
        features.clear();
        sentences::features(passage, last, first, verdict, features);
        let end = passage.tokens[last].end;
        let margin = match verdict.rule {
            _ if verdict.ends => MARGIN_NO_END,
            SentenceRule::NoStop if self.table.unmarked_sentences => MARGIN_UNMARKED_END,
            SentenceRule::ContinuesLower | SentenceRule::Ordinal | SentenceRule::Initial | SentenceRule::Title => {
                MARGIN_AGAINST_CONTEXT
            }
            _ if passage.line.class(end - 1).is_word() => MARGIN_BARE_END,
            _ => MARGIN_END,
        };
        hook.sentence(passage.line.byte(end), verdict.ends, margin, features)
    }
}

/// Buffers reused from line to line.
#[derive(Debug, Default)]
struct Scratch {
    line: TextLine,
    tokens: Vec<Range<usize>>,
    roles: Vec<BracketRole>,
    marks: Vec<MarkCounts>,
    features: Vec<u32>,
}

fn run_end(line: &TextLine, index: usize) -> usize {
    let blank = line.chars[index..].iter().position(|found| found.class == CharClass::Space);
    blank.map_or(line.len(), |blank| index + blank)
}

fn sentence(line: &TextLine, tokens: &[Range<usize>]) -> Sentence {
    Sentence { tokens: tokens.iter().map(|token| line.byte(token.start)..line.byte(token.end)).collect() }
}
