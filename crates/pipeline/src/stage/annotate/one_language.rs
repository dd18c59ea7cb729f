//! Rebuilds of one language: the text of other languages of a day is read back instead of made again.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use tidings_annotate::external::ToolError;
use tidings_store::text::{KnownTexts, TextDraft, TextRecipe};
use tidings_store::{Exclusion, Home};

use super::batch::Batch;
use super::day_reader::{DayDocument, DayReader};
use super::{AnnotateRun, DayText, Work, written};
use crate::export::Texts;
use crate::parallel;

/// A rebuild of one language.
#[derive(Debug, Clone)]
pub(crate) struct OneLanguage {
    /// The language.
    pub(crate) language: String,
    /// The home with the text before the rebuild.
    pub(crate) former: Home,
}

/// A batch of documents of one language: to be annotated, or with their former text.
enum DayBatch {
    New(Vec<DayDocument>),
    Former(Vec<DayText>),
}

impl AnnotateRun<'_> {
    /// The recipe of the former text of a day, if a rebuild keeps the text of the other languages: it must be what would be made
    /// now. Otherwise all of the day is made again.
    pub(super) fn text_of_other_languages(&self, wanted: &TextRecipe) -> Result<Option<TextRecipe>> {
        let Some(OneLanguage { language, former }) = self.context.one_language.as_deref() else { return Ok(None) };
        let recipe = TextRecipe::read(former, &wanted.day)?;
        let annotators_of = |language: &str| self.sources.annotators_of(language);
        Ok(recipe.filter(|recipe| {
            recipe.stale(wanted, annotators_of, former).is_none()
                && recipe
                    .outputs
                    .iter()
                    .filter(|output| output.language() != Some(language))
                    .all(|o| o.is_sound(former))
        }))
    }

    /// Makes the text of the language of a rebuild, and takes that of the others from the former text.
    pub(super) fn make_language(&self, wanted: TextRecipe, former: &TextRecipe) -> Result<(TextRecipe, Work)> {
        let one = self.context.one_language.as_deref().expect("the caller has asked for one language");
        let home = &self.context.home;
        let annotators = &self.sources.annotators;
        let mut documents = OtherLanguages::open(self, one, &wanted)?;
        let day = wanted.day.clone();
        let mut draft = match day >= self.growing_from {
            true => TextDraft::grow(home, wanted, |language| self.sources.annotators_of(language))?,
            false => TextDraft::create(home, wanted)?,
        };
        former.layers.iter().for_each(|(language, tagger)| draft.layer(language, tagger.clone()));
        let mut read = 0;
        let source = || documents.batch(self.batch_bytes(), &mut read);
        let mut work = Work::default();
        let mut layered = BTreeSet::new();
        parallel::ordered(
            self.bounds,
            source,
            |batch| match batch {
                DayBatch::New(batch) => Ok::<_, ToolError>((self.annotate(batch, &day)?, true)),
                DayBatch::Former(texts) => Ok(((texts, BTreeSet::new()), false)),
            },
            |made| {
                let ((texts, languages), is_new) = made?;
                self.progress.advance(texts.len() as u64, &day);
                languages.iter().for_each(|language| draft.layer(language, annotators.name_of(language)));
                for DayText { language, made, .. } in texts {
                    if layered.insert(Arc::clone(&language)) {
                        draft.further_layers(&language, annotators.layers_of(&language));
                    }
                    let made = made.expect("no text of the draft is known");
                    if is_new {
                        work.documents += 1;
                        work.tokens += made.tokens;
                    }
                    draft.push(&language, made)?;
                }
                Ok(())
            },
        )?;
        Ok((draft.publish(read)?, work))
    }
}

/// Reads the documents of a day, and the former text of those of other languages.
struct OtherLanguages<'a> {
    run: &'a AnnotateRun<'a>,
    one: &'a OneLanguage,
    documents: DayReader<'a>,
    day: String,
    known: KnownTexts,
    texts: Option<(Arc<str>, Texts)>,
    /// A document that begins the next batch.
    next: Option<(DayDocument, usize)>,
}

impl<'a> OtherLanguages<'a> {
    fn open(run: &'a AnnotateRun<'a>, one: &'a OneLanguage, wanted: &TextRecipe) -> Result<OtherLanguages<'a>> {
        let documents = DayReader::open(&run.context.home, &run.sources, wanted)?;
        let (day, known) = (wanted.day.clone(), KnownTexts::default());
        Ok(OtherLanguages { run, one, documents, day, known, texts: None, next: None })
    }

    /// The next documents of one language with the memory that they need; nothing at the end.
    fn batch(&mut self, limit_bytes: usize, read: &mut u64) -> Result<Option<(DayBatch, usize)>> {
        let mut batch = Batch::new(limit_bytes);
        let mut language: Option<Arc<str>> = None;
        while !batch.is_full() {
            self.run.context.check_cancelled()?;
            let document = match self.next.take() {
                Some(document) => Some(document),
                None => self.documents.next(&self.known)?,
            };
            let Some((document, size)) = document else { break };
            if language.as_ref().is_some_and(|language| *language != document.language) {
                self.next = Some((document, size));
                break;
            }
            language = Some(Arc::clone(&document.language));
            *read += 1;
            batch.push(document, size, true);
        }
        let Some((documents, weight)) = batch.finish() else {
            self.texts.take().map_or(Ok(()), |(_, texts)| texts.ended())?;
            return Ok(None);
        };
        let is_rebuilt = language.is_some_and(|language| *language == *self.one.language);
        let batch = match is_rebuilt {
            true => DayBatch::New(documents),
            false => {
                DayBatch::Former(documents.into_iter().map(|document| self.text(document)).collect::<Result<_>>()?)
            }
        };
        Ok(Some((batch, weight)))
    }

    /// The former text of a document.
    fn text(&mut self, document: DayDocument) -> Result<DayText> {
        let DayDocument { language, key, judged } = document;
        let judged = judged.expect("no text of the draft is known");
        if self.texts.as_ref().is_none_or(|(open, _)| *open != language) {
            self.texts.take().map_or(Ok(()), |(_, texts)| texts.ended())?;
            self.texts = Some((Arc::clone(&language), Texts::open(&self.one.former, &language, &self.day)?));
        }
        let (_, texts) = self.texts.as_mut().expect("opened above");
        let id = judged.document.id;
        let found = if judged.is_superseded {
            Err(Exclusion::Superseded)
        } else {
            texts.of_id(&id)?.ok_or(Exclusion::Duplicate)
        };
        let mut made = found.as_ref().map(written).unwrap_or_default();
        (made.id, made.key, made.exclusion) = (id, key, found.err());
        Ok(DayText { language, key, made: Some(made) })
    }
}
