//! What is known about a model: whose text it was learned from, under which terms, and how good it is.

use std::fmt::Write as _;

use crate::tagger::ModelError;

/// A corpus that a model was learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name, such as `UD_French-Sequoia`.
    pub name: String,
    /// Its licence, such as `CC BY-SA 4.0`.
    pub licence: String,
    /// How many tokens were read.
    pub tokens: u32,
}

/// A model described.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The code of the language, such as `fr`.
    pub language: String,
    /// What it was learned from.
    pub treebanks: Vec<Source>,
    /// The share of tokens whose part of speech was right on text that was not learned from, if it was measured.
    pub upos: Option<f32>,
    /// The same for lemmas; none also where the treebanks have no lemmas.
    pub lemma: Option<f32>,
    /// The share of tokens all of whose morphological features were right; none also where the treebanks have none.
    pub feats: Option<f32>,
    /// How the scores were measured: `dev` or `cross-validation`.
    pub measured: String,
    /// The size of the packed model.
    pub bytes: usize,
    /// Names the model in recipes: another model has another one.
    pub digest: String,
}

impl About {
    /// The licences of its treebanks, each once.
    pub fn licence(&self) -> String {
        let mut licences: Vec<&str> = self.treebanks.iter().map(|source| source.licence.as_str()).collect();
        licences.sort_unstable();
        licences.dedup();
        licences.join(", ")
    }

    /// Whom to name, in one line.
    pub fn attribution(&self) -> String {
        let names: Vec<&str> = self.treebanks.iter().map(|source| source.name.as_str()).collect();
        format!("Learned from Universal Dependencies: {} ({})", names.join(", "), self.licence())
    }

    /// A line of the list at the beginning of a file; `bytes` and `digest` are told by the model itself.
    pub(crate) fn to_line(&self) -> String {
        let mut line = format!("{}\t", self.language);
        for (place, source) in self.treebanks.iter().enumerate() {
            let comma = if place == 0 { "" } else { "; " };
            let _ = write!(line, "{comma}{} = {} = {}", source.name, source.licence, source.tokens);
        }
        let score = |score: Option<f32>| score.map_or("-".to_owned(), |score| format!("{score:.4}"));
        let [upos, lemma, feats] = [self.upos, self.lemma, self.feats].map(score);
        let _ = write!(line, "\t{upos}\t{lemma}\t{}\t{feats}", self.measured);
        line
    }

    pub(crate) fn from_line(line: &str) -> Result<About, ModelError> {
        let odd = ModelError::Odd("its list of languages cannot be read");
        let fields: Vec<&str> = line.split('\t').collect();
        let (fields, feats) = match fields.as_slice() {
            [fields @ .., feats] if fields.len() == 5 => (fields, *feats),
            // Models of the first version had no features.
            fields => (fields, "-"),
        };
        let &[language, treebanks, upos, lemma, measured] = fields else { return Err(odd) };
        let source = |text: &str| {
            let mut parts = text.split(" = ");
            let (name, licence, tokens) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
            Some(Source { name: name.to_owned(), licence: licence.to_owned(), tokens })
        };
        let sources = treebanks.split("; ").filter(|text| !text.is_empty()).map(source);
        let score = |text: &str| if text == "-" { Some(None) } else { text.parse().ok().map(Some) };
        match (sources.collect(), score(upos), score(lemma), score(feats)) {
            (Some(treebanks), Some(upos), Some(lemma), Some(feats)) if !language.is_empty() && language.len() <= 16 => {
                Ok(About {
                    language: language.to_owned(),
                    treebanks,
                    upos,
                    lemma,
                    feats,
                    measured: measured.to_owned(),
                    ..About::default()
                })
            }
            _ => Err(odd),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let source = |name: &str, licence: &str| Source { name: name.into(), licence: licence.into(), tokens: 12 };
        let about = About {
            language: "fr".into(),
            treebanks: vec![source("UD_French-GSD", "CC BY-SA 4.0"), source("UD_French-Sequoia", "LGPL-LR")],
            upos: Some(0.9512),
            lemma: None,
            feats: Some(0.875),
            measured: "dev".into(),
            ..About::default()
        };
        assert_eq!(About::from_line(&about.to_line()).unwrap(), about);
        assert_eq!(about.licence(), "CC BY-SA 4.0, LGPL-LR");
        let first_version = "fr\tUD_French-GSD = CC BY-SA 4.0 = 12\t0.9512\t-\tdev";
        assert_eq!(About::from_line(first_version).unwrap().feats, None);
        assert!(About::from_line("fr\tx").is_err());
        assert!(About::from_line(&[first_version, "\t-\t-"].concat()).is_err());
    }
}
