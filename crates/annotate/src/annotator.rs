//! Annotators: the source of lemmas, tags and features of a language.
//!
//! A language has exactly one annotator: an external tool, an embedded model, or the fallback
//! without a model. Recipes record its name, so that text is re-annotated when the annotator
//! changes, and only then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_model::{Annotated, Token};

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
}

/// Fallback for languages without a model: the lemma is the lowercase word, there are no tags.
#[derive(Debug, Clone, Copy)]
pub struct LowercaseLemmas;

impl Annotator for LowercaseLemmas {
    fn name(&self) -> &str {
        "rules"
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        sentences
            .iter_mut()
            .flat_map(|sentence| sentence.iter_mut())
            .for_each(|token| token.lemma = lowercase_lemma(&token.word));
        Ok(())
    }
}

/// Annotator backed by an embedded or user-supplied model.
struct TaggerAnnotator {
    tagger: Arc<Tagger>,
    name: String,
}

impl TaggerAnnotator {
    fn new(tagger: Arc<Tagger>) -> TaggerAnnotator {
        let info = tagger.info();
        TaggerAnnotator { name: format!("model {} {}", info.language, info.digest), tagger }
    }
}

impl Annotator for TaggerAnnotator {
    fn name(&self) -> &str {
        &self.name
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        for sentence in sentences {
            self.tagger.tag(sentence);
            // Models of treebanks without lemmas leave the lemma empty.
            sentence
                .iter_mut()
                .filter(|token| token.lemma.is_empty())
                .for_each(|token| token.lemma = lowercase_lemma(&token.word));
        }
        Ok(())
    }
}

/// Wrapper that removes morphological features.
struct WithoutFeatures {
    inner: Arc<dyn Annotator>,
    name: String,
}

impl WithoutFeatures {
    fn new(inner: Arc<dyn Annotator>) -> WithoutFeatures {
        WithoutFeatures { name: format!("{} without features", inner.name()), inner }
    }
}

impl Annotator for WithoutFeatures {
    fn name(&self) -> &str {
        &self.name
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        self.inner.annotate(sentences)?;
        sentences.iter_mut().flat_map(|sentence| sentence.iter_mut()).for_each(|token| token.feats.clear());
        Ok(())
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
    models: Models,
    fallback: Option<Arc<dyn Annotator>>,
    without_features: bool,
}

impl Annotators {
    /// Uses these models, and lowercase lemmas for languages without one.
    pub fn new(models: Models) -> Annotators {
        Annotators {
            overrides: BTreeMap::new(),
            models,
            fallback: Some(Arc::new(LowercaseLemmas)),
            without_features: false,
        }
    }

    /// No annotators: tokens stay without lemmas and tags.
    pub fn none() -> Annotators {
        Annotators { overrides: BTreeMap::new(), models: Models::default(), fallback: None, without_features: false }
    }

    /// Overrides the annotator of a language.
    pub fn set(&mut self, language: &str, annotator: Arc<dyn Annotator>) {
        self.overrides.insert(codes::short_code(language).to_owned(), annotator);
    }

    /// Removes morphological features from the output of all annotators.
    pub fn leave_out_features(&mut self) {
        self.without_features = true;
    }

    /// Returns the annotator of a language; `None` if its tokens are not annotated.
    pub fn of(&self, language: &str) -> Option<Arc<dyn Annotator>> {
        let annotator: Arc<dyn Annotator> = match self.overrides.get(codes::short_code(language)) {
            Some(annotator) => Arc::clone(annotator),
            None => match self.models.tagger(language) {
                Some(tagger) => Arc::new(TaggerAnnotator::new(tagger)),
                // The fallback gives no features, so there is nothing to remove.
                None => return self.fallback.clone(),
            },
        };
        Some(if self.without_features { Arc::new(WithoutFeatures::new(annotator)) } else { annotator })
    }

    /// Annotators that were restarted: language, number of restarts, reason for the last one.
    pub fn restarts(&self) -> impl Iterator<Item = (&str, u64, String)> {
        self.overrides.iter().filter_map(|(language, annotator)| {
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
/// language. Returns the languages that occurred.
pub fn enrich(documents: &mut [(String, Annotated)], annotators: &Annotators) -> Result<BTreeSet<String>, ToolError> {
    let mut by_language: BTreeMap<String, Vec<&mut [Token]>> = BTreeMap::new();
    for (code, document) in documents {
        for paragraph in &mut document.paragraphs {
            let language = if paragraph.language.is_empty() { &*code } else { &paragraph.language };
            if !by_language.contains_key(language) {
                by_language.insert(language.clone(), Vec::new());
            }
            let sentences = by_language.get_mut(language).expect("the key was just inserted");
            // Imported lemmas, tags and features are kept.
            let bare = |sentence: &&mut Vec<Token>| {
                sentence.iter().all(|token| token.lemma.is_empty() && token.tag.is_empty() && token.feats.is_empty())
            };
            sentences.extend(paragraph.sentences.iter_mut().filter(bare).map(Vec::as_mut_slice));
        }
    }
    let languages = by_language.keys().cloned().collect();
    for (language, mut sentences) in by_language {
        if let Some(annotator) = annotators.of(&language) {
            annotator.annotate(&mut sentences)?;
        }
    }
    Ok(languages)
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
                .for_each(|token| (token.tag, token.feats) = ("TOY".to_owned(), "Toy=Yes".to_owned()));
            Ok(())
        }
    }

    fn paragraph(language: &str, word: &str) -> AnnotatedParagraph {
        let token = Token { word: word.to_owned(), ..Token::default() };
        AnnotatedParagraph { language: language.to_owned(), sentences: vec![vec![token]], ..Default::default() }
    }

    #[test]
    fn each_paragraph_is_annotated_in_its_own_language() {
        let paragraphs = vec![paragraph("", "Regen"), paragraph("fr", "Pluie")];
        let mut documents = [("de".to_owned(), Annotated { paragraphs, ..Annotated::default() })];
        let mut annotators = Annotators::new(Models::default());
        annotators.set("fr", Arc::new(Toy));
        let languages = enrich(&mut documents, &annotators).unwrap();
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
            enrich(&mut documents, annotators).unwrap();
            let [(_, document)] = documents;
            (document.paragraphs[0].sentences[0][0].feats.clone(), annotators.name_of("fr"))
        };
        let mut annotators = Annotators::new(Models::default());
        annotators.set("fr", Arc::new(Toy));
        assert_eq!(annotate(&annotators), ("Toy=Yes".into(), "toy".into()));
        annotators.leave_out_features();
        assert_eq!(annotate(&annotators), (String::new(), "toy without features".into()));
        assert_eq!(annotators.name_of("xx"), "rules");
    }
}
