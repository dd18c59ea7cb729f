//! Writers of tokens: vertical with a registry file, CoNLL-U, and CoNLL-U Plus with stand-off annotation.

use std::collections::BTreeMap;

use anyhow::Result;
use tidings_formats::conllu::{self, Numbers, PlusLayers};
use tidings_formats::registry::Contents;
use tidings_formats::{tei_tokens, vertical};
use tidings_model::TextLayers;
use tidings_store::output::Sink;

use super::Options;
use super::manifest::{Figures, LanguageCounts};
use super::pairs::Parallel;
use super::selection::ExportItem;
use super::target::{ExportTarget, ExportWriter};

/// A document in the vertical format. All documents have the same columns, because corpus managers find attributes by
/// the positions of their columns.
pub fn vertical(item: &ExportItem, options: &Options) -> Vec<u8> {
    let mut text = String::new();
    let Some(document) = &item.text else { return Vec::new() };
    let layers = options.all_layers();
    match layers.columns.is_empty() {
        true => vertical::write(document, &mut text),
        false => {
            let mut document = document.clone();
            layers.fill_columns(&mut document);
            vertical::write(&document, &mut text);
        }
    }
    text.into_bytes()
}

/// A document in CoNLL-U.
pub fn conllu(item: &ExportItem) -> Vec<u8> {
    let mut text = String::new();
    item.text.iter().for_each(|document| conllu::write(document, &mut text));
    text.into_bytes()
}

/// A document in TEI with tokens.
pub fn tei(item: &ExportItem) -> Vec<u8> {
    let mut text = String::new();
    item.text.iter().for_each(|document| tei_tokens::write(document, &mut text));
    text.into_bytes()
}

/// A vertical file, and the registry file with which a corpus manager compiles it.
pub struct Vertical {
    sink: Sink,
    contents: Contents,
}

impl Vertical {
    /// Begins the main file.
    pub fn begin(options: &Options, target: &mut ExportTarget) -> Result<Box<dyn ExportWriter>> {
        let contents = Contents::with_columns(options.all_layers().columns);
        Ok(Box::new(Vertical { sink: target.main()?, contents }))
    }
}

impl ExportWriter for Vertical {
    fn write(&mut self, item: ExportItem, rendered: Vec<u8>, _: &mut ExportTarget) -> Result<()> {
        item.text.iter().for_each(|document| self.contents.see(document, &item.language));
        Ok(self.sink.push(&rendered)?)
    }

    fn finish(self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        target.end(self.sink)?;
        let registry = self.contents.registry(target.name(), tidings_lang::language_name);
        target.write(".registry", registry.as_bytes())?;
        Ok(Figures::None)
    }
}

/// A folder for each language with its tokens and the metadata of its sentences and texts, and stand-off alignment of
/// translated texts.
pub struct Plus {
    layers: BTreeMap<String, TextLayers>,
    sections: BTreeMap<String, Section>,
    parallel: Parallel,
}

struct Section {
    tokens: Sink,
    sentences: Sink,
    texts: Sink,
    numbers: Numbers,
    layers: PlusLayers,
}

impl Plus {
    /// Begins without any language.
    pub fn begin(options: &Options, parallel: Parallel) -> Box<dyn ExportWriter> {
        Box::new(Plus { layers: options.layers.clone(), sections: BTreeMap::new(), parallel })
    }
}

impl Section {
    fn begin(language: &str, layers: Option<&TextLayers>, target: &ExportTarget) -> Result<Section> {
        let file = |name: &str, head: &str| -> Result<Sink> {
            let mut sink = target.file(&format!("{language}/{name}"))?.expect("the target is a folder");
            sink.push(head.as_bytes())?;
            Ok(sink)
        };
        let layers = layers.map(|layers| PlusLayers {
            columns: layers.columns.keys().cloned().collect(),
            has_spans: !layers.spans.is_empty(),
        });
        let layers = layers.unwrap_or_default();
        Ok(Section {
            tokens: file("tokens.conllup", &layers.header())?,
            sentences: file("sentences.tsv", "sentence\ttext\tmisc\n")?,
            texts: file("texts.tsv", "text\tid\tmisc\n")?,
            numbers: Numbers::default(),
            layers,
        })
    }
}

impl ExportWriter for Plus {
    fn write(&mut self, item: ExportItem, _: Vec<u8>, target: &mut ExportTarget) -> Result<()> {
        let Some(document) = &item.text else { return Ok(()) };
        if !self.sections.contains_key(&item.language) {
            let section = Section::begin(&item.language, self.layers.get(&item.language), target)?;
            self.sections.insert(item.language.clone(), section);
        }
        let section = self.sections.get_mut(&item.language).expect("inserted above");
        let first = section.numbers;
        let mut text = String::new();
        conllu::write_plus(document, &mut section.numbers, &section.layers, &mut text);
        section.tokens.push(text.as_bytes())?;

        let mut sentence = first.sentence;
        let mut lines = String::new();
        for (place, paragraph) in (1..).zip(&document.paragraphs) {
            let place = format!("{place}");
            for _ in &paragraph.sentences {
                let about = [("paragraph", place.as_str()), ("kind", &paragraph.kind), ("lang", &paragraph.language)];
                let misc = conllu::misc(about);
                lines.push_str(&format!("{sentence}\t{}\t{misc}\n", first.text));
                sentence += 1;
            }
        }
        section.sentences.push(lines.as_bytes())?;
        let about = &document.about;
        let own = [("url", &about.url), ("title", &about.title), ("date", &about.date)];
        let fields = about.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let misc = conllu::misc(own.into_iter().map(|(name, value)| (name, value.as_str())).chain(fields));
        section.texts.push(format!("{}\t{:032x}\t{misc}\n", first.text, about.id).as_bytes())?;
        self.parallel.see(&item, Some(first))
    }

    fn finish(mut self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        let mut languages = BTreeMap::new();
        for (language, section) in std::mem::take(&mut self.sections) {
            let Section { tokens, sentences, texts, numbers, .. } = section;
            [tokens, sentences, texts].into_iter().try_for_each(|sink| target.end(sink))?;
            let counts =
                LanguageCounts { tokens: numbers.token - 1, sentences: numbers.sentence - 1, texts: numbers.text - 1 };
            languages.insert(language, counts);
        }
        let parallel = self.parallel.stand_off(target)?;
        Ok(Figures::ConlluPlus { languages, parallel })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_new_text_gives_no_tokens() {
        let options = Options::new(super::super::ExportFormat::Vertical);
        assert!(vertical(&ExportItem::default(), &options).is_empty() && conllu(&ExportItem::default()).is_empty());
    }
}
