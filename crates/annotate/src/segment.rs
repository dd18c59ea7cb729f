//! Text becomes sentences of tokens.

use std::ops::Range;

use crate::boundary_model::{self, BoundaryModel};
use crate::chars::{CharClass, CharClasses};
use crate::dictionary::Dictionary;
use crate::sentences::{BracketRole, MarkCounts, Passage, Rule};
use crate::table::{self, Table};
use crate::text_line::{self, TextLine};
use crate::{codes, keep_together, sentences, tokens};

/// Text is read in stretches of so many characters; a sentence that is not over by then is cut.
const CHUNK: usize = 32_768;

/// So close to the end of a stretch nothing is decided that may look different with what follows.
const LOOKAHEAD: usize = 4 * text_line::MAX_CONTEXT;

/// How sure a model must be to end a sentence where the rules see no end: after a mark, after a bare word, and where what
/// follows says that it goes on. Treebanks teach habits of their own here, and a model that has seen one of them must not
/// impose them on all text.
const MARGIN_END: f32 = 1.5;
const MARGIN_BARE_END: f32 = 2.0;
const MARGIN_AGAINST_CONTEXT: f32 = 2.0;
/// How sure a model must be to go on where the rules see an end.
const MARGIN_NO_END: f32 = 2.0;

/// A sentence: its tokens in order, as places in the text in bytes.
///
/// What lies between two tokens, before the first and after the last, is white space.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentence {
    /// The tokens.
    pub tokens: Vec<Range<usize>>,
}

impl Sentence {
    /// The words themselves.
    pub fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.tokens.iter().map(|token| &text[token.clone()])
    }

    /// Each word with the white space that follows it, up to the next word of the sentence.
    pub fn spaced<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        let ends = self.tokens.iter().skip(1).map(|next| next.start).chain(self.tokens.last().map(|last| last.end));
        self.tokens.iter().zip(ends).map(|(token, end)| (&text[token.clone()], &text[token.end..end]))
    }

    /// Where the sentence lies in the text, in bytes.
    pub fn span(&self) -> Range<usize> {
        match (self.tokens.first(), self.tokens.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// Cuts text of one language into sentences and tokens.
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

/// What a learner gets to see: each decision with its features, what the rules say and where it is.
pub trait DecisionHook {
    /// A token may end at this index in the text; says whether it does.
    fn token(&mut self, index: usize, verdict: bool, features: &[u32]) -> bool;
    /// A sentence may end at this index in the text; says whether it does.
    /// `margin`: how sure one must be to say otherwise than the rules.
    fn sentence(&mut self, index: usize, verdict: bool, margin: f32, features: &[u32]) -> bool;
}

/// Decides by rules and models.
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
    /// The segmenter of a language by its code, such as `de`, `deu` or `de-AT`. Languages of which
    /// nothing is known get the rules that hold for all.
    pub fn for_language(code: &str) -> Segmenter<'static> {
        let code = codes::short_code(code);
        Segmenter { model: boundary_model::of(code), ..Segmenter::by_rules(code) }
    }

    /// The same without anything learned.
    pub fn by_rules(code: &str) -> Segmenter<'static> {
        let code = codes::short_code(code);
        Segmenter { table: table::of(code), model: None, classes: CharClasses::new(), dictionary: Dictionary }
    }
}

impl<'m> Segmenter<'m> {
    /// The same rules with another model.
    pub fn with_model<'n>(self, model: Option<&'n BoundaryModel>) -> Segmenter<'n> {
        Segmenter { table: self.table, model, classes: self.classes, dictionary: self.dictionary }
    }

    /// The sentences of a text. Every character that is not white space is in exactly one token.
    pub fn segment(&self, text: &str) -> Vec<Sentence> {
        match self.model {
            Some(model) => self.segment_inner(text, Some(&mut ModelHook(model))),
            None => self.segment_inner::<ModelHook<'m>>(text, None),
        }
    }

    /// The sentences of a text, all decisions left to somebody else.
    pub fn segment_with(&self, text: &str, hook: &mut impl DecisionHook) -> Vec<Sentence> {
        self.segment_inner(text, Some(hook))
    }

    fn segment_inner<W: DecisionHook>(&self, text: &str, mut hook: Option<&mut W>) -> Vec<Sentence> {
        let mut found = Vec::new();
        let mut scratch = Scratch::default();
        let mut from = 0;
        while from < text.len() {
            scratch.line.read(text, from, CHUNK, self.classes);
            let full = scratch.line.len() == CHUNK && scratch.line.end < text.len();
            self.dictionary.consult(text, &mut scratch.line);
            self.find_tokens(&mut scratch, &mut hook);
            let cut = self.find_sentences(&mut scratch, &mut hook, &mut found, full);
            from = match cut {
                Some(index) => index,
                // Past what ended the line.
                None if full => scratch.line.end,
                None => {
                    text[scratch.line.end..].chars().next().map_or(text.len(), |end| scratch.line.end + end.len_utf8())
                }
            };
        }
        found
    }

    fn find_tokens<W: DecisionHook>(&self, scratch: &mut Scratch, hook: &mut Option<&mut W>) {
        let Scratch { line, tokens, features, .. } = scratch;
        tokens.clear();
        let mut index = 0;
        // Where the token in hand begins.
        let mut begun: Option<usize> = None;
        while index < line.len() {
            if line.class(index).is_blank() {
                if let Some(start) = begun
                    && self.ends_at_blank(line, start, index, features, hook)
                {
                    tokens.push(start..index);
                    begun = None;
                }
                index += 1;
                continue;
            }
            let run = index..run_end(line, index);
            if line.chars[run.clone()].iter().any(|found| !found.class.is_letter()) {
                keep_together::mark(line, run.clone());
            }
            let mut start = begun.unwrap_or(run.start);
            for index in run.start + 1..run.end {
                if tokens::is_candidate(line, index) && self.ends_before(line, index, &run, features, hook) {
                    tokens.push(start..index);
                    start = index;
                }
            }
            begun = Some(start);
            index = run.end;
        }
        tokens.extend(begun.map(|start| start..line.len()));
    }

    fn ends_before<W: DecisionHook>(
        &self,
        line: &TextLine,
        index: usize,
        run: &Range<usize>,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut W>,
    ) -> bool {
        let verdict = tokens::apply_rules(line, index, run, self.table);
        let Some(hook) = hook else { return verdict.split };
        features.clear();
        tokens::features(line, index, run, verdict, features);
        hook.token(line.byte(index), verdict.split, features)
    }

    fn ends_at_blank<W: DecisionHook>(
        &self,
        line: &TextLine,
        start: usize,
        blank: usize,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut W>,
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

    /// Gathers the sentences of a line. If the line goes on after its end, the last sentence may
    /// not be over: then this says from where to read again.
    fn find_sentences<W: DecisionHook>(
        &self,
        scratch: &mut Scratch,
        hook: &mut Option<&mut W>,
        found: &mut Vec<Sentence>,
        continues: bool,
    ) -> Option<usize> {
        let Scratch { line, tokens, roles, marks, features } = scratch;
        sentences::assign_roles(line, tokens, roles);
        sentences::count_marks(line, tokens, marks);
        let passage = Passage { line, tokens, roles, marks };
        let mut first = 0;
        // Near a cut, what decides may lie behind it.
        let known = if continues { line.len() - LOOKAHEAD } else { line.len() };
        for last in 0..tokens.len().saturating_sub(1) {
            if tokens[last + 1].end <= known
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
        // A sentence without end is cut before its last token, which may not be whole; a token
        // without end is cut as it is.
        let (last, others) = rest.split_last()?;
        if others.is_empty() || last.start < CHUNK / 2 {
            found.push(sentence(line, rest));
            return None;
        }
        found.push(sentence(line, others));
        Some(line.byte(last.start))
    }

    fn ends_sentence<W: DecisionHook>(
        &self,
        passage: Passage<'_>,
        last: usize,
        first: usize,
        features: &mut Vec<u32>,
        hook: &mut Option<&mut W>,
    ) -> bool {
        let verdict = sentences::apply_rules(passage, last, first, self.table);
        let Some(hook) = hook else { return verdict.ends };
        features.clear();
        sentences::features(passage, last, first, verdict, features);
        let end = passage.tokens[last].end;
        let margin = match verdict.rule {
            _ if verdict.ends => MARGIN_NO_END,
            Rule::ContinuesLower | Rule::Ordinal | Rule::Initial | Rule::Title => MARGIN_AGAINST_CONTEXT,
            _ if passage.line.class(end - 1).is_word() => MARGIN_BARE_END,
            _ => MARGIN_END,
        };
        hook.sentence(passage.line.byte(end), verdict.ends, margin, features)
    }
}

/// What is needed while reading, kept from line to line.
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
