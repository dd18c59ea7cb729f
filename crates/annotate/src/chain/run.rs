//! Runs annotators of further layers on documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_model::{Annotated, LayerColumn, LayerNames, LayerRecord, Token, TokenSpan};

use super::{Gives, LayerAnnotator};
use crate::annotator::{Annotator, Annotators, SentenceLayers};
use crate::external::ToolError;

/// An annotator in the chain of a language.
#[derive(Clone)]
pub(crate) enum Step {
    /// An annotator of ours.
    Layer(LayerAnnotator),
    /// A tool that gives further layers only.
    Tool(Arc<dyn Annotator>),
}

impl Step {
    /// The annotator as recipes record it.
    pub(crate) fn record(&self) -> LayerRecord {
        match self {
            Step::Layer(layer) => layer.record(),
            Step::Tool(tool) => {
                let columns = tool.further_columns().iter().map(|layer| layer.name.clone()).collect();
                let (name, version) = tool.name().split_once(' ').unwrap_or((tool.name(), ""));
                LayerRecord {
                    name: name.to_owned(),
                    version: version.to_owned(),
                    columns,
                    spans: tool.further_spans().to_vec(),
                }
            }
        }
    }

    fn reads(&self, name: &str) -> bool {
        match self {
            Step::Layer(layer) => layer.layers_read().any(|read| read == name),
            Step::Tool(_) => false,
        }
    }
}

/// Documents with their language codes.
type Documents = [(String, Annotated)];

/// Runs the further annotators of each document's language. Layers that a document was imported with are kept: an
/// annotator that gives one of them does not run on it.
pub(crate) fn run_chains(
    documents: &mut Documents,
    imported: &[LayerNames],
    annotators: &Annotators,
) -> Result<(), ToolError> {
    for_each_language(documents, imported, |language, documents, imported| {
        let steps = annotators.steps_of(language);
        if !steps.is_empty() {
            documents.iter_mut().for_each(|(_, document)| as_read_back(document));
        }
        run_steps(documents, imported, &steps, &steps)
    })
}

/// Makes the further layers of annotated documents again whose annotators have changed. `documents` were read back from
/// text with the layers of the `former` annotators of their languages; `imported` are the layers that each was imported
/// with. The result is the same as annotating the documents from the start.
pub fn update_layers(
    documents: &mut Documents,
    imported: &[LayerNames],
    former: &BTreeMap<String, Vec<LayerRecord>>,
    annotators: &Annotators,
) -> Result<(), ToolError> {
    for_each_language(documents, imported, |language, documents, imported| {
        let steps = annotators.steps_of(language);
        let former = former.get(language).map(Vec::as_slice).unwrap_or_default();
        let changed = changed_steps(&steps, former);
        let is_kept = |record: &&LayerRecord| {
            steps.iter().any(|step| step.record() == **record) && !changed.iter().any(|step| step.record() == **record)
        };
        let gone: Vec<&LayerRecord> = former.iter().filter(|record| !is_kept(record)).collect();
        for ((_, document), imported) in documents.iter_mut().zip(imported) {
            gone.iter().filter(|record| !imported.has_any_of(record)).for_each(|record| remove(record, document));
        }
        run_steps(documents, imported, &changed, &steps)
    })
}

/// Calls `run` with each run of documents of one language.
fn for_each_language(
    documents: &mut Documents,
    imported: &[LayerNames],
    mut run: impl FnMut(&str, &mut Documents, &[LayerNames]) -> Result<(), ToolError>,
) -> Result<(), ToolError> {
    let mut first = 0;
    for group in documents.chunk_by_mut(|(one, _), (next, _)| one == next) {
        let language = group[0].0.clone();
        let imported = &imported[first..first + group.len()];
        first += group.len();
        run(&language, group, imported)?;
    }
    Ok(())
}

/// The steps that are not in a recipe, and those that read a layer that has changed or is no longer made.
fn changed_steps(steps: &[Step], former: &[LayerRecord]) -> Vec<Step> {
    let records: Vec<LayerRecord> = steps.iter().map(Step::record).collect();
    let mut names: Vec<&str> = former.iter().filter(|one| !records.contains(one)).map(|one| &*one.name).collect();
    let mut changed = Vec::new();
    for (step, record) in steps.iter().zip(&records) {
        if !former.contains(record) || names.iter().any(|name| step.reads(name)) {
            names.push(&record.name);
            changed.push(step.clone());
        }
    }
    changed
}

/// Removes the layers of an annotator.
fn remove(record: &LayerRecord, document: &mut Annotated) {
    document.columns.retain(|column| !record.columns.contains(&column.layer.name));
    document.spans.retain(|span| !record.spans.contains(&span.name));
}

/// Runs some steps of a chain on documents of its language, and puts the columns into the order of the whole `chain`.
fn run_steps(
    documents: &mut Documents,
    imported: &[LayerNames],
    steps: &[Step],
    chain: &[Step],
) -> Result<(), ToolError> {
    for step in steps {
        let record = step.record();
        let is_skipped: Vec<bool> = imported.iter().map(|imported| imported.has_any_of(&record)).collect();
        match step {
            Step::Layer(layer) => {
                let free = documents.iter_mut().zip(&is_skipped).filter(|(_, is_skipped)| !**is_skipped);
                free.for_each(|((language, document), _)| layer.run(language, document));
            }
            Step::Tool(tool) => run_tool(tool.as_ref(), documents, &is_skipped)?,
        }
    }
    let order: Vec<String> = chain.iter().flat_map(|step| step.record().columns).collect();
    for ((_, document), imported) in documents.iter_mut().zip(imported) {
        document.spans.sort_by(TokenSpan::file_order);
        // Columns from elsewhere come first.
        document.columns.sort_by_key(|LayerColumn { layer, .. }| {
            let made = order.iter().position(|name| *name == layer.name && !imported.columns.contains(name));
            made.map_or(0, |position| position + 1)
        });
    }
    Ok(())
}

impl LayerAnnotator {
    /// Adds its layer to a document.
    fn run(&self, language: &str, document: &mut Annotated) {
        let tokens = document.tokens().count();
        match self.gives {
            Gives::Column(kind, annotate) => {
                let mut values = annotate(document, language);
                debug_assert_eq!(values.len(), tokens, "{} must give a value for each token", self.name);
                values.resize(tokens, String::new());
                document.columns.push(LayerColumn { layer: self.declaration(kind), values });
            }
            Gives::Spans(names, annotate) => {
                let is_valid = |span: &TokenSpan| {
                    names.contains(&span.name.as_str()) && span.start < span.end && span.end as usize <= tokens
                };
                let found = annotate(document, language);
                debug_assert!(found.iter().all(is_valid), "{} gives spans of other names or outside", self.name);
                document.spans.extend(found.into_iter().filter(is_valid));
            }
        }
    }
}

/// Adds the further layers of a tool to the paragraphs in its language.
fn run_tool(tool: &dyn Annotator, documents: &mut Documents, is_skipped: &[bool]) -> Result<(), ToolError> {
    let mut sentences: Vec<&mut [Token]> = Vec::new();
    let mut places = Vec::new();
    for (number, (_, document)) in documents.iter_mut().enumerate() {
        if is_skipped[number] {
            continue;
        }
        let mut first = 0;
        for paragraph in &mut document.paragraphs {
            let is_own = paragraph.language.is_empty();
            for sentence in &mut paragraph.sentences {
                let place = SentencePlace { document: number, first, tokens: sentence.len() as u32 };
                first += place.tokens;
                if is_own {
                    places.push(place);
                    sentences.push(sentence);
                }
            }
        }
    }
    if sentences.is_empty() {
        return Ok(());
    }
    let layers = tool.annotate_layers(&mut sentences)?;
    add_layers(layers, &places, documents);
    Ok(())
}

/// The position of a sentence that was passed to a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentencePlace {
    /// The number of its document.
    pub(crate) document: usize,
    /// The position of its first token in the document.
    pub(crate) first: u32,
    /// The number of its tokens.
    pub(crate) tokens: u32,
}

/// Adds layers of sentences to the documents that the sentences are from.
pub(crate) fn add_layers(layers: SentenceLayers, places: &[SentencePlace], documents: &mut Documents) {
    for LayerColumn { layer, values } in layers.columns {
        let mut values = values.into_iter();
        for place in places {
            let document = &mut documents[place.document].1;
            let own: Vec<String> = values.by_ref().take(place.tokens as usize).collect();
            let known = document.columns.iter().position(|column| column.layer == layer);
            let column = known.unwrap_or_else(|| {
                let values = vec![String::new(); document.tokens().count()];
                document.columns.push(LayerColumn { layer: layer.clone(), values });
                document.columns.len() - 1
            });
            document.columns[column].values[place.first as usize..][..own.len()].clone_from_slice(&own);
        }
    }
    let starts: Vec<u32> = places
        .iter()
        .scan(0, |next, place| {
            let start = *next;
            *next += place.tokens;
            Some(start)
        })
        .collect();
    for span in layers.spans {
        let sentence = starts.partition_point(|start| *start <= span.start).saturating_sub(1);
        let (place, start) = (places[sentence], starts[sentence]);
        let moved = |position: u32| position - start + place.first;
        let end = span.end.min(start + place.tokens);
        let document = &mut documents[place.document].1;
        document.spans.push(TokenSpan { start: moved(span.start), end: moved(end), ..span });
    }
    let mut touched: Vec<usize> = places.iter().map(|place| place.document).collect();
    touched.dedup();
    touched.into_iter().for_each(|number| documents[number].1.spans.sort_by(TokenSpan::file_order));
}

/// Makes the tokens of a document what they are when its text is read back, so that annotators see the same in both
/// cases: the vertical format has no white space after sentences and no control characters.
fn as_read_back(document: &mut Annotated) {
    for sentence in document.paragraphs.iter_mut().flat_map(|paragraph| &mut paragraph.sentences) {
        if let Some(last) = sentence.last_mut() {
            last.space_after = true;
        }
        for text in sentence.iter_mut().flat_map(|token| [&mut token.word, &mut token.lemma]) {
            if text.contains(char::is_control) {
                *text = text.replace(char::is_control, " ").into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Input, Need};
    use crate::tagger::Models;
    use tidings_model::{AnnotatedParagraph, LayerDeclaration, LayerKind};

    /// The number of letters of each word.
    const LENGTH: LayerAnnotator = LayerAnnotator {
        name: "length",
        version: 1,
        needs: &[],
        gives: Gives::Column(LayerKind::Number, |document, _| {
            document.tokens().map(|token| token.word.chars().count().to_string()).collect()
        }),
        tables: &[],
    };

    /// Spans over the words with more than four letters.
    const LONG: LayerAnnotator = LayerAnnotator {
        name: "long_words",
        version: 1,
        needs: &[Need::Required(Input::Layer("length"))],
        gives: Gives::Spans(&["long"], |document, language| {
            let lengths = &document.columns.iter().find(|column| column.layer.name == "length").expect("needed").values;
            let is_long = |length: &String| length.parse::<u32>().is_ok_and(|length| length > 4);
            (0u32..)
                .zip(lengths)
                .filter(|(_, length)| is_long(length))
                .map(|(at, _)| TokenSpan::new("long", at, at + 1).with("lang", language))
                .collect()
        }),
        tables: &[],
    };

    fn annotators(layers: &[LayerAnnotator]) -> Annotators {
        let mut annotators = Annotators::new(Models::default());
        annotators.set_layers(layers.to_vec());
        annotators
    }

    fn document(words: &[&str]) -> Annotated {
        let sentence = words.iter().map(|word| Token::new(word, "", "")).collect();
        let paragraph = AnnotatedParagraph { sentences: vec![sentence], ..AnnotatedParagraph::default() };
        Annotated { paragraphs: vec![paragraph], ..Annotated::default() }
    }

    fn made(layers: &[LayerAnnotator], document: Annotated) -> Annotated {
        let imported = LayerNames::of(&document);
        let mut documents = [("en".to_owned(), document)];
        crate::enrich(&mut documents, &[imported], &annotators(layers)).unwrap();
        let [(_, document)] = documents;
        document
    }

    fn updated(former: &[LayerAnnotator], now: &[LayerAnnotator], words: &[&str], imported: &LayerNames) -> Annotated {
        let mut documents = [("en".to_owned(), made(former, document(words)))];
        let records = former.iter().map(LayerAnnotator::record).collect();
        let former = BTreeMap::from([("en".to_owned(), records)]);
        update_layers(&mut documents, std::slice::from_ref(imported), &former, &annotators(now)).unwrap();
        let [(_, document)] = documents;
        document
    }

    #[test]
    fn layers_are_made_in_the_order_of_their_needs() {
        let made = made(&[LENGTH, LONG], document(&["A", "storm", "came"]));
        let declaration =
            LayerDeclaration { name: "length".into(), kind: LayerKind::Number, origin: "length 1".into() };
        assert_eq!(
            made.columns,
            [LayerColumn { layer: declaration, values: ["1", "5", "4"].map(String::from).into() }]
        );
        assert_eq!(made.spans, [TokenSpan::new("long", 1, 2).with("lang", "en")]);
    }

    #[test]
    fn changed_layers_are_made_again_and_the_result_is_the_same_as_from_the_start() {
        const NEW_LENGTH: LayerAnnotator = LayerAnnotator {
            version: 2,
            gives: Gives::Column(LayerKind::Number, |document, _| vec!["9".to_owned(); document.tokens().count()]),
            ..LENGTH
        };
        const OTHER: LayerAnnotator = LayerAnnotator { name: "other", ..LENGTH };
        let words = ["A", "storm", "came", "over\u{85}night"];
        let chains: [&[LayerAnnotator]; 6] =
            [&[], &[LENGTH], &[LENGTH, LONG], &[NEW_LENGTH, LONG], &[OTHER, LENGTH, LONG], &[LENGTH, OTHER]];
        for former in chains {
            for now in chains {
                let names = |layers: &[LayerAnnotator]| layers.iter().map(|layer| layer.name).collect::<Vec<_>>();
                let (updated, made) =
                    (updated(former, now, &words, &LayerNames::default()), made(now, document(&words)));
                let same = (&updated.columns, &updated.spans) == (&made.columns, &made.spans);
                assert!(same, "{:?} to {:?}: {updated:?}", names(former), names(now));
            }
        }
    }

    #[test]
    fn imported_layers_are_kept() {
        let mut imported = document(&["A", "storm"]);
        imported.spans.push(TokenSpan::new("long", 0, 2));
        let names = LayerNames::of(&imported);
        let first = made(&[LENGTH, LONG], imported.clone());
        assert_eq!((first.columns.len(), &first.spans), (1, &imported.spans));
        let mut documents = [("en".to_owned(), first)];
        let former = BTreeMap::from([("en".to_owned(), vec![LENGTH.record(), LONG.record()])]);
        update_layers(&mut documents, &[names], &former, &annotators(&[])).unwrap();
        assert_eq!((documents[0].1.columns.len(), &documents[0].1.spans), (0, &imported.spans));
    }

    #[test]
    fn an_annotator_without_a_required_need_does_not_run() {
        const TAGGED: LayerAnnotator =
            LayerAnnotator { name: "tagged", needs: &[Need::Required(Input::Tags)], ..LENGTH };
        const LENIENT: LayerAnnotator =
            LayerAnnotator { name: "lenient", needs: &[Need::Optional(Input::Tags)], ..LENGTH };
        let made = made(&[TAGGED, LENIENT], document(&["A"]));
        let names: Vec<&str> = made.columns.iter().map(|column| column.layer.name.as_str()).collect();
        assert_eq!(names, ["lenient"], "there is no tagger in this test");
    }

    #[test]
    fn layers_of_sentences_go_to_their_documents() {
        let layer = LayerDeclaration { name: "n".into(), kind: LayerKind::Number, origin: String::new() };
        let mut documents = [document(&["a", "b"]), document(&["c", "d", "e"])].map(|d| ("en".to_owned(), d));
        let place = |document, first, tokens| SentencePlace { document, first, tokens };
        let columns = vec![LayerColumn { layer, values: ["1", "2", "3"].map(String::from).to_vec() }];
        let spans = vec![TokenSpan::new("x", 0, 1), TokenSpan::new("x", 1, 3)];
        add_layers(SentenceLayers { columns, spans, tokens: 3 }, &[place(0, 1, 1), place(1, 0, 2)], &mut documents);
        assert_eq!(
            (&*documents[0].1.columns[0].values, &*documents[0].1.spans),
            (&["".to_owned(), "1".to_owned()][..], &[TokenSpan::new("x", 1, 2)][..])
        );
        assert_eq!(
            (&*documents[1].1.columns[0].values, &*documents[1].1.spans),
            (&["2".to_owned(), "3".to_owned(), "".to_owned()][..], &[TokenSpan::new("x", 0, 2)][..])
        );
    }
}
