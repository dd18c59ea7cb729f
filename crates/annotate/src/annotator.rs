//! Annotators: the source of lemmas, tags and features of a language, and of its further layers.
//!
//! Lemmas, tags and features of a language come from exactly one annotator: an external tool, an
//! embedded model, or the fallback without a model. [Further layers](crate::chain) are made after
//! that. Recipes record all of them, so that text is re-annotated when one changes, and only then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_model::{Annotated, LayerColumn, LayerDeclaration, LayerNames, LayerRecord, Token, TokenSpan};

use crate::chain::{self, ChainError, LayerAnnotator, SentencePlace, Step, TokenLayers};
use crate::codes;
use crate::external::ToolError;
use crate::tagger::{Models, Tagger};

/// Adds lemmas and tags to tokens.
pub trait Annotator: Send + Sync {
    /// Identifies the annotator and its version; recorded in recipes, so a new name makes existing
    /// text stale.
    fn name(&self) -> &str;

    /// Fills lemmas and tags of non-empty sentences. After an error the tokens must be discarded.
    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError>;

    /// Number of restarts and the reason for the last one; `None` if it was never restarted.
    fn restarts(&self) -> Option<(u64, String)> {
        None
    }

    /// Lemmas, tags and features that it gives. An annotator of none of them adds its further
    /// layers to the lemmas and tags of the language's model.
    fn gives(&self) -> TokenLayers {
        TokenLayers::ALL
    }

    /// Further token attributes that it gives.
    fn further_columns(&self) -> &[LayerDeclaration] {
        &[]
    }

    /// Names of the spans that it gives.
    fn further_spans(&self) -> &[String] {
        &[]
    }

    /// Fills lemmas and tags like [`Annotator::annotate`] and returns its further layers.
    fn annotate_layers(&self, sentences: &mut [&mut [Token]]) -> Result<SentenceLayers, ToolError> {
        self.annotate(sentences)?;
        Ok(SentenceLayers::default())
    }
}

/// Further layers of a list of sentences. Tokens are counted from the first of the first sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentenceLayers {
    /// Token attributes, each with a value for every token.
    pub columns: Vec<LayerColumn>,
    /// Spans, each within one sentence.
    pub spans: Vec<TokenSpan>,
    /// Number of tokens.
    pub tokens: u32,
}

/// Fallback for languages without a model: the lemma is the lowercase word, there are no tags.
#[derive(Debug, Clone, Copy)]
pub struct LowercaseLemmas;

impl Annotator for LowercaseLemmas {
    fn name(&self) -> &str {
        "rules"
    }

    fn gives(&self) -> TokenLayers {
        TokenLayers { lemmas: true, ..TokenLayers::NONE }
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        sentences
            .iter_mut()
            .flat_map(|sentence| sentence.iter_mut())
            .for_each(|token| token.lemma = lowercase_lemma(&token.word).into());
        Ok(())
    }
}

/// Annotator backed by an embedded or user-supplied model.
struct TaggerAnnotator {
    tagger: Arc<Tagger>,
    name: String,
    without_features: bool,
}

impl TaggerAnnotator {
    fn new(tagger: Arc<Tagger>, without_features: bool) -> TaggerAnnotator {
        let info = tagger.info();
        let name = format!("model {} {}", info.language, info.digest);
        let name = if without_features { name_without_features(&name) } else { name };
        TaggerAnnotator { name, tagger, without_features }
    }
}

impl Annotator for TaggerAnnotator {
    fn name(&self) -> &str {
        &self.name
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        for sentence in sentences {
            if self.without_features {
                self.tagger.tag_without_feats(sentence);
            } else {
                self.tagger.tag(sentence);
            }
            // Models of treebanks without lemmas leave the lemma empty.
            sentence
                .iter_mut()
                .filter(|token| token.lemma.is_empty())
                .for_each(|token| token.lemma = lowercase_lemma(&token.word).into());
        }
        Ok(())
    }

    fn gives(&self) -> TokenLayers {
        TokenLayers { features: !self.without_features, ..TokenLayers::ALL }
    }
}

/// Name of an annotator without its features, as recipes record it.
fn name_without_features(name: &str) -> String {
    format!("{name} without features")
}

/// Wrapper that removes the morphological features of an external tool.
struct WithoutFeatures {
    inner: Arc<dyn Annotator>,
    name: String,
}

impl WithoutFeatures {
    fn new(inner: Arc<dyn Annotator>) -> WithoutFeatures {
        WithoutFeatures { name: name_without_features(inner.name()), inner }
    }
}

impl Annotator for WithoutFeatures {
    fn name(&self) -> &str {
        &self.name
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        self.annotate_layers(sentences).map(drop)
    }

    fn gives(&self) -> TokenLayers {
        TokenLayers { features: false, ..self.inner.gives() }
    }

    fn further_columns(&self) -> &[LayerDeclaration] {
        self.inner.further_columns()
    }

    fn further_spans(&self) -> &[String] {
        self.inner.further_spans()
    }

    fn annotate_layers(&self, sentences: &mut [&mut [Token]]) -> Result<SentenceLayers, ToolError> {
        let layers = self.inner.annotate_layers(sentences)?;
        sentences.iter_mut().flat_map(|sentence| sentence.iter_mut()).for_each(|token| token.feats.clear());
        Ok(layers)
    }
}

/// Lemma of a word without a model.
pub(crate) fn lowercase_lemma(word: &str) -> String {
    word.to_lowercase()
}

/// Annotators by language.
#[derive(Clone)]
pub struct Annotators {
    overrides: BTreeMap<String, Arc<dyn Annotator>>,
    /// Tools that give further layers only.
    layer_tools: BTreeMap<String, Arc<dyn Annotator>>,
    models: Models,
    fallback: Option<Arc<dyn Annotator>>,
    without_features: bool,
    /// Annotators of further layers, in the order in which they run.
    layers: Vec<LayerAnnotator>,
}

impl Annotators {
    /// Uses these models, and lowercase lemmas for languages without one.
    pub fn new(models: Models) -> Annotators {
        Annotators { models, fallback: Some(Arc::new(LowercaseLemmas)), ..Annotators::none() }
    }

    /// No annotators: tokens stay without lemmas and tags.
    pub fn none() -> Annotators {
        Annotators {
            overrides: BTreeMap::new(),
            layer_tools: BTreeMap::new(),
            models: Models::default(),
            fallback: None,
            without_features: false,
            layers: Vec::new(),
        }
    }

    /// Overrides the annotator of a language, or adds further layers to it.
    pub fn set(&mut self, language: &str, annotator: Arc<dyn Annotator>) {
        let map = if annotator.gives() == TokenLayers::NONE { &mut self.layer_tools } else { &mut self.overrides };
        map.insert(codes::short_code(language).to_owned(), annotator);
    }

    /// Sets the annotators of further layers, ordered by [`chain::select`].
    pub fn set_layers(&mut self, layers: Vec<LayerAnnotator>) {
        self.layers = layers;
    }

    /// Returns an error if a further layer requires tags, lemmas or features, and no language has them.
    pub fn check_needs(&self) -> Result<(), ChainError> {
        let given = match (&self.fallback, self.without_features) {
            (None, _) => TokenLayers::NONE,
            (Some(_), true) => TokenLayers { features: false, ..TokenLayers::ALL },
            (Some(_), false) => TokenLayers::ALL,
        };
        chain::check_needs(&self.layers, given)
    }

    /// Removes morphological features from the output of all annotators.
    pub fn leave_out_features(&mut self) {
        self.without_features = true;
    }

    /// Returns the annotator of a language; `None` if its tokens are not annotated.
    pub fn of(&self, language: &str) -> Option<Arc<dyn Annotator>> {
        match self.overrides.get(codes::short_code(language)) {
            Some(tool) if self.without_features => Some(Arc::new(WithoutFeatures::new(Arc::clone(tool)))),
            Some(tool) => Some(Arc::clone(tool)),
            None => match self.models.tagger(language) {
                Some(tagger) => Some(Arc::new(TaggerAnnotator::new(tagger, self.without_features))),
                // The fallback gives no features, so there is nothing to remove.
                None => self.fallback.clone(),
            },
        }
    }

    /// The chain of further annotators in documents of a language. What its tool gives is not made twice.
    pub(crate) fn steps_of(&self, language: &str) -> Vec<Step> {
        if self.layers.is_empty() && self.layer_tools.is_empty() {
            return Vec::new();
        }
        let tagger = self.of(language);
        let tool = self.layer_tools.get(codes::short_code(language));
        let is_given = |layer: &LayerAnnotator| {
            let record = layer.record();
            [tagger.as_ref(), tool].into_iter().flatten().any(|annotator| {
                annotator.further_columns().iter().any(|column| record.columns.contains(&column.name))
                    || annotator.further_spans().iter().any(|name| record.spans.contains(name))
            })
        };
        let given = tagger.as_ref().map_or(TokenLayers::NONE, |tagger| tagger.gives());
        let layers = chain::applicable(&self.layers, given).into_iter().filter(|layer| !is_given(layer));
        tool.cloned().map(Step::Tool).into_iter().chain(layers.map(Step::Layer)).collect()
    }

    /// Returns the annotators of further layers in documents of a language as recipes record them.
    pub fn layers_of(&self, language: &str) -> Vec<LayerRecord> {
        self.steps_of(language).iter().map(Step::record).collect()
    }

    /// Annotators that were restarted: language, number of restarts, reason for the last one.
    pub fn restarts(&self) -> impl Iterator<Item = (&str, u64, String)> {
        self.overrides.iter().chain(&self.layer_tools).filter_map(|(language, annotator)| {
            let (times, why) = annotator.restarts()?;
            Some((language.as_str(), times, why))
        })
    }

    /// Returns the name of a language's annotator as recipes record it.
    pub fn name_of(&self, language: &str) -> String {
        self.of(language).map_or_else(|| "none".to_owned(), |annotator| annotator.name().to_owned())
    }
}

/// Annotates documents, given with their language codes, each paragraph by the annotator of its
/// language; then adds the further layers of each document's language, except those that it was
/// imported with. Returns the languages that occurred.
pub fn enrich(
    documents: &mut [(String, Annotated)],
    imported: &[LayerNames],
    annotators: &Annotators,
) -> Result<BTreeSet<String>, ToolError> {
    assert_eq!(documents.len(), imported.len(), "each document has its imported layers");
    let languages = tag(documents, imported, annotators)?;
    chain::run_chains(documents, imported, annotators)?;
    Ok(languages)
}

/// Sentences of a language, and their positions.
#[derive(Default)]
struct LanguageSentences<'d> {
    sentences: Vec<&'d mut [Token]>,
    places: Vec<SentencePlace>,
}

/// Adds lemmas, tags and features, and the further layers of their annotators.
fn tag(
    documents: &mut [(String, Annotated)],
    imported: &[LayerNames],
    annotators: &Annotators,
) -> Result<BTreeSet<String>, ToolError> {
    let mut by_language: BTreeMap<String, LanguageSentences<'_>> = BTreeMap::new();
    for (number, (code, document)) in documents.iter_mut().enumerate() {
        let mut first = 0;
        for paragraph in &mut document.paragraphs {
            let language = if paragraph.language.is_empty() { &*code } else { &paragraph.language };
            if !by_language.contains_key(language) {
                by_language.insert(language.clone(), LanguageSentences::default());
            }
            let found = by_language.get_mut(language).expect("the key was just inserted");
            for sentence in &mut paragraph.sentences {
                let place = SentencePlace { document: number, first, tokens: sentence.len() as u32 };
                first += place.tokens;
                // Imported lemmas, tags and features are kept.
                let is_bare = |token: &Token| token.lemma.is_empty() && token.tag.is_empty() && token.feats.is_empty();
                if sentence.iter().all(is_bare) {
                    found.sentences.push(sentence);
                    found.places.push(place);
                }
            }
        }
    }
    let languages = by_language.keys().cloned().collect();
    let mut found = Vec::new();
    for (language, LanguageSentences { mut sentences, places }) in by_language {
        if let Some(annotator) = annotators.of(&language) {
            found.push((language, annotator.annotate_layers(&mut sentences)?, places));
        }
    }
    for (language, layers, places) in found {
        add_tool_layers(&language, layers, &places, documents, imported);
    }
    Ok(languages)
}

/// Adds the further layers of a tagger to the documents of its language, except to those that were imported with a
/// layer of the same name.
fn add_tool_layers(
    language: &str,
    mut layers: SentenceLayers,
    places: &[SentencePlace],
    documents: &mut [(String, Annotated)],
    imported: &[LayerNames],
) {
    if layers.columns.is_empty() && layers.spans.is_empty() {
        return;
    }
    let names = LayerRecord {
        columns: layers.columns.iter().map(|column| column.layer.name.clone()).collect(),
        spans: layers.spans.iter().map(|span| span.name.clone()).collect(),
        ..LayerRecord::default()
    };
    let is_taken = |place: &SentencePlace| {
        let code = &documents[place.document].0;
        codes::short_code(code) == codes::short_code(language) && !imported[place.document].has_any_of(&names)
    };
    let is_taken: Vec<bool> = places.iter().map(is_taken).collect();
    layers.retain_sentences(places, &is_taken);
    let places: Vec<SentencePlace> =
        places.iter().zip(&is_taken).filter(|(_, is_taken)| **is_taken).map(|(place, _)| *place).collect();
    chain::add_layers(layers, &places, documents);
}

impl SentenceLayers {
    /// Removes the values and spans of some sentences, and moves those behind them.
    fn retain_sentences(&mut self, places: &[SentencePlace], is_kept: &[bool]) {
        if is_kept.iter().all(|is_kept| *is_kept) {
            return;
        }
        // The new position of each token; none if it is removed.
        let mut positions: Vec<Option<u32>> = Vec::new();
        let mut next = 0;
        for (place, is_kept) in places.iter().zip(is_kept) {
            for _ in 0..place.tokens {
                positions.push(is_kept.then_some(next));
                next += u32::from(*is_kept);
            }
        }
        for column in &mut self.columns {
            let mut kept = positions.iter().map(Option::is_some);
            column.values.retain(|_| kept.next().unwrap_or(false));
        }
        self.spans.retain_mut(|span| match positions.get(span.start as usize) {
            Some(Some(start)) => {
                (span.start, span.end) = (*start, *start + (span.end - span.start));
                true
            }
            _ => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::AnnotatedParagraph;

    /// Marks every token with its own tag and feature.
    struct Toy;

    impl Annotator for Toy {
        fn name(&self) -> &str {
            "toy"
        }

        fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
            sentences
                .iter_mut()
                .flat_map(|sentence| sentence.iter_mut())
                .for_each(|token| (token.tag, token.feats) = ("TOY".into(), "Toy=Yes".into()));
            Ok(())
        }
    }

    fn paragraph(language: &str, word: &str) -> AnnotatedParagraph {
        let token = Token { word: word.into(), ..Token::default() };
        AnnotatedParagraph { language: language.to_owned(), sentences: vec![vec![token]], ..Default::default() }
    }

    #[test]
    fn each_paragraph_is_annotated_in_its_own_language() {
        let paragraphs = vec![paragraph("", "Regen"), paragraph("fr", "Pluie")];
        let mut documents = [("de".to_owned(), Annotated { paragraphs, ..Annotated::default() })];
        let mut annotators = Annotators::new(Models::default());
        annotators.set("fr", Arc::new(Toy));
        let languages = enrich(&mut documents, &[LayerNames::default()], &annotators).unwrap();
        assert_eq!(languages.iter().map(String::as_str).collect::<Vec<_>>(), ["de", "fr"]);
        let tokens: Vec<(&str, &str)> =
            documents[0].1.paragraphs.iter().map(|p| &p.sentences[0][0]).map(|t| (&*t.lemma, &*t.tag)).collect();
        assert_eq!(tokens, [("regen", ""), ("", "TOY")]);
        assert_eq!((annotators.name_of("fr"), annotators.name_of("de")), ("toy".into(), "rules".into()));
        assert_eq!(Annotators::none().name_of("de"), "none");
    }

    #[test]
    fn features_are_left_out_when_disabled() {
        let annotate = |annotators: &Annotators| {
            let paragraphs = vec![paragraph("", "Pluie")];
            let mut documents = [("fr".to_owned(), Annotated { paragraphs, ..Annotated::default() })];
            enrich(&mut documents, &[LayerNames::default()], annotators).unwrap();
            let [(_, document)] = documents;
            (document.paragraphs[0].sentences[0][0].feats.to_string(), annotators.name_of("fr"))
        };
        let mut annotators = Annotators::new(Models::default());
        annotators.set("fr", Arc::new(Toy));
        assert_eq!(annotate(&annotators), ("Toy=Yes".into(), "toy".into()));
        annotators.leave_out_features();
        assert_eq!(annotate(&annotators), (String::new(), "toy without features".into()));
        assert_eq!(annotators.name_of("xx"), "rules");
    }

    #[test]
    fn the_tagger_computes_no_features_when_they_are_disabled() {
        let mut annotators = Annotators::new(crate::models().clone());
        let name = annotators.name_of("fr");
        let mut sentence = ["Les", "pluies"].map(|word| Token { word: word.into(), ..Token::default() });
        annotators.of("fr").unwrap().annotate(&mut [&mut sentence]).unwrap();
        assert_eq!((&*sentence[1].lemma, &*sentence[1].feats), ("pluie", "Gender=Fem|Number=Plur"));
        annotators.leave_out_features();
        let annotator = annotators.of("fr").unwrap();
        assert_eq!(annotator.name(), format!("{name} without features"));
        assert!(!annotator.gives().features && annotator.gives().lemmas);
        let mut sentence = ["Les", "pluies"].map(|word| Token { word: word.into(), ..Token::default() });
        annotator.annotate(&mut [&mut sentence]).unwrap();
        assert_eq!((&*sentence[1].lemma, &*sentence[1].tag, &*sentence[1].feats), ("pluie", "NOUN", ""));
    }
}
