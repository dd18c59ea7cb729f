//! Terms: hits of several tokens by their values, in a focus and in a reference, and the forms in which they are written.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{Part, SearchPart, Searched, word_kinds};
use crate::cql::Attribute;
use crate::engine::{TermWords, WordKind, is_wordlike};
use crate::question::{QuestionContext, QuestionError};
use crate::terms::may_be_term;

/// The terms with at least some hits in the focus, and the tokens of both parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TermsPart {
    focus: SearchPart,
    reference: SearchPart,
    attribute: Attribute,
    at_least: u64,
}

impl Part for TermsPart {
    const NAME: &'static str = "terms";
    type Sum = (BTreeSet<TermWords>, (u64, u64));

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let (focus, reference) = (self.focus.search(context)?, self.reference.search(context)?);
        let found = focus.terms(self.attribute, self.at_least, &context.limits);
        Ok((found.into_iter().map(|(term, _)| term).collect(), (focus.tokens(), reference.tokens())))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.focus.searched())
    }
}

/// Hits, and documents with one, of some terms in two parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TermCountsPart {
    focus: SearchPart,
    reference: SearchPart,
    attribute: Attribute,
    terms: Vec<TermWords>,
}

/// Hits and documents in the focus and in the reference.
type InBoth = ((u64, u64), (u64, u64));

impl Part for TermCountsPart {
    const NAME: &'static str = "term-counts";
    type Sum = Vec<InBoth>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let (focus, reference) = (self.focus.search(context)?, self.reference.search(context)?);
        let counts = [&focus, &reference]
            .map(|search| search.counts_of_terms(self.attribute, &self.terms, &context.limits).into_iter());
        let [here, there] = counts;
        Ok(here.zip(there).collect())
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.focus.searched())
    }
}

/// The forms of some terms.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TermFormsPart {
    search: SearchPart,
    attribute: Attribute,
    terms: Vec<TermWords>,
}

impl Part for TermFormsPart {
    const NAME: &'static str = "term-forms";
    type Sum = Vec<BTreeMap<String, u64>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        Ok(self.search.search(context)?.forms_of_terms(self.attribute, &self.terms, &context.limits))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// The tokens of both parts, and the terms with their counts.
type TermContrast = ((u64, u64), Vec<(TermWords, InBoth)>);

/// The terms with at least some hits in the focus, with their counts, and the tokens of both parts. No terms if a limit stopped
/// the search for them. Matches of the patterns that are no terms by their words are left out: those of the lists of the
/// language, and those that begin or end with a function word, a number, a date, a symbol, or a name unless names are asked
/// for, as the corpus mostly tags it; the tagger may err at one place.
pub(in crate::question) fn term_contrast(
    context: &QuestionContext<'_>,
    (focus, reference): (SearchPart, SearchPart),
    attribute: Attribute,
    (at_least, with_names): (u64, bool),
) -> Result<TermContrast, QuestionError> {
    // A term with this many hits has its share of them in one shard at least.
    let at_least = context.share_of_shard(at_least);
    let candidates = TermsPart { focus, reference, attribute, at_least };
    let (mut terms, tokens) = context.gather(&candidates)?;
    if context.is_cut_off() {
        return Ok((tokens, Vec::new()));
    }
    terms.retain(|term| term.iter().all(|word| is_wordlike(word)) && may_be_term(context.corpus, term));
    let ends = |term: &TermWords| [term.first().cloned(), term.last().cloned()].into_iter().flatten();
    let (kinds, _) = word_kinds(context, attribute, terms.iter().flat_map(ends).collect())?;
    let is_part = |word: String| match kinds.get(&word) {
        Some(WordKind::Name) => with_names,
        kind => kind.is_none_or(|kind| kind.is_content()),
    };
    terms.retain(|term| ends(term).all(is_part));
    let TermsPart { focus, reference, .. } = candidates;
    let part = TermCountsPart { focus, reference, attribute, terms: terms.into_iter().collect() };
    let counts = context.gather(&part)?;
    Ok((tokens, part.terms.into_iter().zip(counts).collect()))
}

/// The form in which each of some terms is written most often, the first by text of several.
pub(in crate::question) fn usual_forms(
    context: &QuestionContext<'_>,
    search: SearchPart,
    attribute: Attribute,
    terms: Vec<TermWords>,
) -> Result<Vec<String>, QuestionError> {
    let forms = context.gather(&TermFormsPart { search, attribute, terms })?;
    let most = |forms: BTreeMap<String, u64>| {
        // The last of the greatest of reversed texts is the first by text.
        forms.into_iter().rev().max_by_key(|(_, hits)| *hits).map(|(form, _)| form).unwrap_or_default()
    };
    Ok(forms.into_iter().map(most).collect())
}
