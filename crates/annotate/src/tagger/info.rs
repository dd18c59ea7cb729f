//! What is known info a model: whose text it was learned from, under which terms, and how good it is.

use std::fmt::Write as _;

use crate::tagger::ModelError;

/// A corpus that a model was learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreebankInfo {
    /// Its name, such as `UD_French-Sequoia`.
    pub name: String,
    /// Its licence, such as `CC BY-SA 4.0`.
    pub licence: String,
    /// How many tokens were read.
    pub tokens: u32,
}

/// A model described.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelInfo {
    /// The code of the language, such as `fr`.
    pub language: String,
    /// What it was learned from.
    pub treebanks: Vec<TreebankInfo>,
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

impl ModelInfo {
    /// The licences of its treebanks, each once.
    pub fn licence(&self) -> String {
        let mut licences: Vec<&str> = self.treebanks.iter().map(|treebank| treebank.licence.as_str()).collect();
        licences.sort_unstable();
        licences.dedup();
        licences.join(", ")
    }

    /// Whom to name, in one line.
    pub fn attribution(&self) -> String {
        let names: Vec<&str> = self.treebanks.iter().map(|treebank| treebank.name.as_str()).collect();
        format!("Learned from Universal Dependencies: {} ({})", names.join(", "), self.licence())
    }

    /// A line of the list at the beginning of a file; `bytes` and `digest` are told by the model itself.
    pub(crate) fn to_line(&self) -> String {
        let mut line = format!("{}\t", self.language);
        for (index, treebank) in self.treebanks.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            let _ = write!(line, "{comma}{} = {} = {}", treebank.name, treebank.licence, treebank.tokens);
        }
        let score = |score: Option<f32>| score.map_or("-".to_owned(), |score| format!("{score:.4}"));
        let [upos, lemma, feats] = [self.upos, self.lemma, self.feats].map(score);
        let _ = write!(line, "\t{upos}\t{lemma}\t{}\t{feats}", self.measured);
        line
    }

    pub(crate) fn from_line(line: &str) -> Result<ModelInfo, ModelError> {
        let odd = ModelError::Damaged("its list of languages cannot be read");
        let fields: Vec<&str> = line.split('\t').collect();
        let (fields, feats) = match fields.as_slice() {
            [fields @ .., feats] if fields.len() == 5 => (fields, *feats),
            // Models of the first version had no features.
            fields => (fields, "-"),
        };
        let &[language, treebanks, upos, lemma, measured] = fields else { return Err(odd) };
        let treebank = |text: &str| {
            let mut parts = text.split(" = ");
            let (name, licence, tokens) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
            Some(TreebankInfo { name: name.to_owned(), licence: licence.to_owned(), tokens })
        };
        let treebanks = treebanks.split("; ").filter(|text| !text.is_empty()).map(treebank);
        let score = |text: &str| if text == "-" { Some(None) } else { text.parse().ok().map(Some) };
        match (treebanks.collect(), score(upos), score(lemma), score(feats)) {
            (Some(treebanks), Some(upos), Some(lemma), Some(feats)) if !language.is_empty() && language.len() <= 16 => {
                Ok(ModelInfo {
                    language: language.to_owned(),
                    treebanks,
                    upos,
                    lemma,
                    feats,
                    measured: measured.to_owned(),
                    ..ModelInfo::default()
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
        let treebank =
            |name: &str, licence: &str| TreebankInfo { name: name.into(), licence: licence.into(), tokens: 12 };
        let info = ModelInfo {
            language: "fr".into(),
            treebanks: vec![treebank("UD_French-GSD", "CC BY-SA 4.0"), treebank("UD_French-Sequoia", "LGPL-LR")],
            upos: Some(0.9512),
            lemma: None,
            feats: Some(0.875),
            measured: "dev".into(),
            ..ModelInfo::default()
        };
        assert_eq!(ModelInfo::from_line(&info.to_line()).unwrap(), info);
        assert_eq!(info.licence(), "CC BY-SA 4.0, LGPL-LR");
        let first_version = "fr\tUD_French-GSD = CC BY-SA 4.0 = 12\t0.9512\t-\tdev";
        assert_eq!(ModelInfo::from_line(first_version).unwrap().feats, None);
        assert!(ModelInfo::from_line("fr\tx").is_err());
        assert!(ModelInfo::from_line(&[first_version, "\t-\t-"].concat()).is_err());
    }
}
