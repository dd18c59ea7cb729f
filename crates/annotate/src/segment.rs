//! Text becomes sentences of tokens.

use std::ops::Range;

use crate::chars::{Kind, Kinds};
use crate::dictionary::Dictionary;
use crate::line::{self, Line};
use crate::model::{self, Model};
use crate::sentences::{Marks, Passage, Role, Rule};
use crate::table::{self, Table};
use crate::{codes, sentences, tokens, whole};

/// Text is read in stretches of so many characters; a sentence that is not over by then is cut.
const STRETCH: usize = 32_768;

/// So close to the end of a stretch nothing is decided that may look different with what follows.
const SHY: usize = 4 * line::FAR;

/// How sure a model must be to end a sentence where the rules see no end: after a mark, after a bare word, and where what
/// follows says that it goes on. Treebanks teach habits of their own here, and a model that has seen one of them must not
/// impose them on all text.
const SURE_OF_END: f32 = 1.5;
const SURE_OF_BARE_END: f32 = 2.0;
const SURE_OF_END_ALL_THE_SAME: f32 = 2.0;
/// How sure a model must be to go on where the rules see an end.
const SURE_OF_NONE: f32 = 2.0;

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
    model: Option<&'m Model>,
    kinds: Kinds,
    dictionary: Dictionary,
}

/// What a learner gets to see: each decision with its features, what the rules say and where it is.
pub trait Witness {
    /// A token may end at this place in the text; says whether it does.
    fn token(&mut self, place: usize, verdict: bool, features: &[u32]) -> bool;
    /// A sentence may end at this place in the text; says whether it does.
    /// `doubt`: how sure one must be to say otherwise than the rules.
    fn sentence(&mut self, place: usize, verdict: bool, doubt: f32, features: &[u32]) -> bool;
}

/// Decides by rules and models.
struct Judge<'m>(&'m Model);

impl Witness for Judge<'_> {
    #[inline]
    fn token(&mut self, _: usize, verdict: bool, features: &[u32]) -> bool {
        self.0.tokens.score(verdict, features) > 0.0
    }

    #[inline]
    fn sentence(&mut self, _: usize, verdict: bool, doubt: f32, features: &[u32]) -> bool {
        let score = self.0.sentences.score(verdict, features);
        if verdict { score > -doubt } else { score > doubt }
    }
}

impl Segmenter<'static> {
    /// The segmenter of a language by its code, such as `de`, `deu` or `de-AT`. Languages of which
    /// nothing is known get the rules that hold for all.
    pub fn for_language(code: &str) -> Segmenter<'static> {
        let code = codes::plain(code);
        Segmenter { model: model::of(code), ..Segmenter::by_rules(code) }
    }

    /// The same without anything learned.
    pub fn by_rules(code: &str) -> Segmenter<'static> {
        let code = codes::plain(code);
        Segmenter {
            table: table::of(code),
            model: None,
            kinds: Kinds::new(),
            dictionary: Dictionary::for_language(code),
        }
    }
}

impl<'m> Segmenter<'m> {
    /// The same rules with another model.
    pub fn with_model<'n>(self, model: Option<&'n Model>) -> Segmenter<'n> {
        Segmenter { table: self.table, model, kinds: self.kinds, dictionary: self.dictionary }
    }

    /// The sentences of a text. Every character that is not white space is in exactly one token.
    pub fn segment(&self, text: &str) -> Vec<Sentence> {
        match self.model {
            Some(model) => self.segment_before(text, Some(&mut Judge(model))),
            None => self.segment_before::<Judge<'m>>(text, None),
        }
    }

    /// The sentences of a text, all decisions left to somebody else.
    pub fn segment_with(&self, text: &str, witness: &mut impl Witness) -> Vec<Sentence> {
        self.segment_before(text, Some(witness))
    }

    fn segment_before<W: Witness>(&self, text: &str, mut witness: Option<&mut W>) -> Vec<Sentence> {
        let mut found = Vec::new();
        let mut desk = Desk::default();
        let mut from = 0;
        while from < text.len() {
            desk.line.read(text, from, STRETCH, self.kinds);
            let full = desk.line.len() == STRETCH && desk.line.end < text.len();
            self.dictionary.consult(text, &mut desk.line);
            self.find_tokens(&mut desk, &mut witness);
            let cut = self.find_sentences(&mut desk, &mut witness, &mut found, full);
            from = match cut {
                Some(place) => place,
                // Past what ended the line.
                None if full => desk.line.end,
                None => text[desk.line.end..].chars().next().map_or(text.len(), |end| desk.line.end + end.len_utf8()),
            };
        }
        found
    }

    fn find_tokens<W: Witness>(&self, desk: &mut Desk, witness: &mut Option<&mut W>) {
        let Desk { line, tokens, features, .. } = desk;
        tokens.clear();
        let mut place = 0;
        // Where the token in hand begins.
        let mut begun: Option<usize> = None;
        while place < line.len() {
            if line.kind(place).is_blank() {
                if let Some(start) = begun
                    && self.ends_at_blank(line, start, place, features, witness)
                {
                    tokens.push(start..place);
                    begun = None;
                }
                place += 1;
                continue;
            }
            let chunk = place..chunk_end(line, place);
            if line.chars[chunk.clone()].iter().any(|found| !found.kind.is_letter()) {
                whole::glue(line, chunk.clone());
            }
            let mut start = begun.unwrap_or(chunk.start);
            for place in chunk.start + 1..chunk.end {
                if tokens::in_question(line, place) && self.ends_before(line, place, &chunk, features, witness) {
                    tokens.push(start..place);
                    start = place;
                }
            }
            begun = Some(start);
            place = chunk.end;
        }
        tokens.extend(begun.map(|start| start..line.len()));
    }

    fn ends_before<W: Witness>(
        &self,
        line: &Line,
        place: usize,
        chunk: &Range<usize>,
        features: &mut Vec<u32>,
        witness: &mut Option<&mut W>,
    ) -> bool {
        let verdict = tokens::judge(line, place, chunk, self.table);
        let Some(witness) = witness else { return verdict.split };
        features.clear();
        tokens::features(line, place, chunk, verdict, features);
        witness.token(line.byte(place), verdict.split, features)
    }

    fn ends_at_blank<W: Witness>(
        &self,
        line: &Line,
        start: usize,
        blank: usize,
        features: &mut Vec<u32>,
        witness: &mut Option<&mut W>,
    ) -> bool {
        if !tokens::blank_in_question(line, blank, self.table) {
            return true;
        }
        let verdict = tokens::judge_blank(line, blank);
        let Some(witness) = witness else { return verdict.split };
        features.clear();
        let joined = start < line.word_before(blank);
        tokens::blank_features(line, blank, verdict, joined, features);
        witness.token(line.byte(blank), verdict.split, features)
    }

    /// Gathers the sentences of a line. If the line goes on after its end, the last sentence may
    /// not be over: then this says from where to read again.
    fn find_sentences<W: Witness>(
        &self,
        desk: &mut Desk,
        witness: &mut Option<&mut W>,
        found: &mut Vec<Sentence>,
        goes_on: bool,
    ) -> Option<usize> {
        let Desk { line, tokens, roles, marks, features } = desk;
        sentences::assign_roles(line, tokens, roles);
        sentences::count_marks(line, tokens, marks);
        let passage = Passage { line, tokens, roles, marks };
        let mut first = 0;
        // Near a cut, what decides may lie behind it.
        let known = if goes_on { line.len() - SHY } else { line.len() };
        for last in 0..tokens.len().saturating_sub(1) {
            if tokens[last + 1].end <= known
                && sentences::in_question(passage, last, self.table)
                && self.ends_sentence(passage, last, first, features, witness)
            {
                found.push(sentence(line, &tokens[first..=last]));
                first = last + 1;
            }
        }
        let rest = &tokens[first.min(tokens.len())..];
        let start = rest.first()?.start;
        if !goes_on {
            found.push(sentence(line, rest));
            return None;
        }
        if start >= STRETCH / 2 {
            return Some(line.byte(start));
        }
        // A sentence without end is cut before its last token, which may not be whole; a token
        // without end is cut as it is.
        let (last, others) = rest.split_last()?;
        if others.is_empty() || last.start < STRETCH / 2 {
            found.push(sentence(line, rest));
            return None;
        }
        found.push(sentence(line, others));
        Some(line.byte(last.start))
    }

    fn ends_sentence<W: Witness>(
        &self,
        passage: Passage<'_>,
        last: usize,
        first: usize,
        features: &mut Vec<u32>,
        witness: &mut Option<&mut W>,
    ) -> bool {
        let verdict = sentences::judge(passage, last, first, self.table);
        let Some(witness) = witness else { return verdict.ends };
        features.clear();
        sentences::features(passage, last, first, verdict, features);
        let end = passage.tokens[last].end;
        let doubt = match verdict.rule {
            _ if verdict.ends => SURE_OF_NONE,
            Rule::GoesOnLower | Rule::Ordinal | Rule::Initial | Rule::Title => SURE_OF_END_ALL_THE_SAME,
            _ if passage.line.kind(end - 1).is_word() => SURE_OF_BARE_END,
            _ => SURE_OF_END,
        };
        witness.sentence(passage.line.byte(end), verdict.ends, doubt, features)
    }
}

/// What is needed while reading, kept from line to line.
#[derive(Debug, Default)]
struct Desk {
    line: Line,
    tokens: Vec<Range<usize>>,
    roles: Vec<Role>,
    marks: Vec<Marks>,
    features: Vec<u32>,
}

fn chunk_end(line: &Line, place: usize) -> usize {
    let blank = line.chars[place..].iter().position(|found| found.kind == Kind::Space);
    blank.map_or(line.len(), |blank| place + blank)
}

fn sentence(line: &Line, tokens: &[Range<usize>]) -> Sentence {
    Sentence { tokens: tokens.iter().map(|token| line.byte(token.start)..line.byte(token.end)).collect() }
}
