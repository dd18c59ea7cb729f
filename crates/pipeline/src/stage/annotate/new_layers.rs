//! Days of which only further layers are made again: the text is read back, and tokens, lemmas and tags are kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use tidings_annotate::chain::update_layers;
use tidings_annotate::external::ToolError;
use tidings_model::{Annotated, LayerNames};
use tidings_store::Exclusion;
use tidings_store::text::{KnownTexts, MadeText, TextDraft, TextRecipe};

use super::batch::Batch;
use super::day_reader::{DayDocument, DayReader};
use super::{AnnotateRun, Work, written};
use crate::export::Texts;
use crate::parallel;

/// A document of a day whose text is read back.
struct FormerDocument {
    language: Arc<str>,
    id: String,
    key: u128,
    /// The layers that it was imported with.
    imported: LayerNames,
    /// Its text, or the reason why it has none.
    text: Result<Annotated, Exclusion>,
}

impl AnnotateRun<'_> {
    /// The recipe of a day whose text would be the same now except for further layers.
    pub(super) fn text_without_layers(&self, wanted: &TextRecipe) -> Result<Option<TextRecipe>> {
        let home = &self.context.home;
        let former = TextRecipe::read(home, &wanted.day)?;
        let annotators_of = |language: &str| self.sources.annotators_of(language);
        Ok(former.filter(|former| {
            former.has_current_tokens(wanted, annotators_of, home)
                && former.stale(wanted, annotators_of, home).is_some()
        }))
    }

    /// Makes the further layers of a day that have changed.
    pub(super) fn make_layers(&self, wanted: TextRecipe, former: &TextRecipe) -> Result<(TextRecipe, Work)> {
        let home = &self.context.home;
        let annotators = &self.sources.annotators;
        let mut documents = FormerDay::open(self, &wanted)?;
        let may_grow = wanted.day >= self.growing_from;
        let mut draft = TextDraft::with_new_layers(home, wanted, may_grow)?;
        former.layers.iter().for_each(|(language, tagger)| draft.layer(language, tagger.clone()));
        let batch_bytes = self.batch_bytes();
        let mut read = 0;
        let source = || {
            let mut batch = Batch::new(batch_bytes);
            while !batch.is_full() {
                self.context.check_cancelled()?;
                let Some((document, size)) = documents.next()? else { break };
                read += 1;
                batch.push(document, size, true);
            }
            Ok(batch.finish())
        };
        let mut work = Work::default();
        let mut layered = BTreeSet::new();
        parallel::ordered(
            self.bounds,
            source,
            |batch| self.update_batch(batch, former),
            |made| {
                let made = made?;
                self.progress.advance(made.len() as u64, &former.day);
                for (language, made) in made {
                    if layered.insert(Arc::clone(&language)) {
                        draft.further_layers(&language, annotators.layers_of(&language));
                    }
                    work.documents += 1;
                    work.with_new_layers += 1;
                    work.tokens += made.tokens;
                    draft.push(&language, made)?;
                }
                Ok(())
            },
        )?;
        Ok((draft.publish(read)?, work))
    }

    /// The texts of a batch with their present layers.
    fn update_batch(
        &self,
        batch: Vec<FormerDocument>,
        former: &TextRecipe,
    ) -> Result<Vec<(Arc<str>, MadeText)>, ToolError> {
        let (mut heads, mut documents, mut imported) = (Vec::new(), Vec::new(), Vec::new());
        for FormerDocument { language, id, key, imported: names, text } in batch {
            heads.push((language.clone(), id, key, text.as_ref().err().copied()));
            if let Ok(annotated) = text {
                documents.push((language.as_ref().to_owned(), annotated));
                imported.push(names);
            }
        }
        update_layers(&mut documents, &imported, &former.further_layers, &self.sources.annotators)?;
        let mut texts = documents.iter().map(|(_, annotated)| written(annotated));
        let made = heads.into_iter().map(|(language, id, key, exclusion)| {
            let made = if exclusion.is_none() { texts.next() } else { None }.unwrap_or_default();
            (language, MadeText { id, key, exclusion, ..made })
        });
        Ok(made.collect())
    }
}

/// Reads the documents of a day together with their text.
struct FormerDay<'a> {
    run: &'a AnnotateRun<'a>,
    documents: DayReader<'a>,
    day: String,
    known: KnownTexts,
    texts: Option<(Arc<str>, Texts)>,
}

impl<'a> FormerDay<'a> {
    fn open(run: &'a AnnotateRun<'a>, wanted: &TextRecipe) -> Result<FormerDay<'a>> {
        let documents = DayReader::open(&run.context.home, &run.sources, wanted)?;
        Ok(FormerDay { run, documents, day: wanted.day.clone(), known: KnownTexts::default(), texts: None })
    }

    /// The next document and its size.
    fn next(&mut self) -> Result<Option<(FormerDocument, usize)>> {
        let Some((DayDocument { language, key, judged }, size)) = self.documents.next(&self.known)? else {
            self.texts.take().map_or(Ok(()), |(_, texts)| texts.ended())?;
            return Ok(None);
        };
        let judged = judged.expect("no text is known");
        if self.texts.as_ref().is_none_or(|(open, _)| *open != language) {
            self.texts.take().map_or(Ok(()), |(_, texts)| texts.ended())?;
            let texts = Texts::open(&self.run.context.home, &language, &self.day)?;
            self.texts = Some((Arc::clone(&language), texts));
        }
        let (_, texts) = self.texts.as_mut().expect("opened above");
        let text = match judged.is_superseded {
            true => Err(Exclusion::Superseded),
            // A document without text that is not superseded has nothing that is new.
            false => texts.of_id(&judged.document.id)?.ok_or(Exclusion::Duplicate),
        };
        let imported = judged.document.imported_layers();
        Ok(Some((FormerDocument { language, id: judged.document.id, key, imported, text }, size)))
    }
}
