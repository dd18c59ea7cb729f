//! Description of a model: its treebanks, their licences, and its scores.

use std::fmt::Write as _;

use crate::tagger::ModelError;

/// Treebank that a model was trained on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreebankInfo {
    /// Name, such as `UD_French-Sequoia`.
    pub name: String,
    /// Licence, such as `CC BY-SA 4.0`.
    pub licence: String,
    /// Number of tokens.
    pub tokens: u32,
}

/// Description of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelInfo {
    /// Language code, such as `fr`.
    pub language: String,
    /// Treebanks it was trained on.
    pub treebanks: Vec<TreebankInfo>,
    /// Accuracy of part-of-speech tags on held-out text, if measured.
    pub upos: Option<f32>,
    /// Accuracy of lemmas; `None` also if the treebanks have no lemmas.
    pub lemma: Option<f32>,
    /// Share of tokens with all morphological features correct; `None` also if the treebanks have
    /// none.
    pub feats: Option<f32>,
    /// Evaluation method: `dev` or `cross-validation`.
    pub measured: String,
    /// Size of the compressed model.
    pub bytes: usize,
    /// Digest of the model; recorded in recipes.
    pub digest: String,
}

impl ModelInfo {
    /// Licences of the treebanks, without duplicates.
    pub fn licence(&self) -> String {
        let mut licences: Vec<&str> = self.treebanks.iter().map(|treebank| treebank.licence.as_str()).collect();
        licences.sort_unstable();
        licences.dedup();
        licences.join(", ")
    }

    /// Attribution line that the licences ask for.
    pub fn attribution(&self) -> String {
        let names: Vec<&str> = self.treebanks.iter().map(|treebank| treebank.name.as_str()).collect();
        format!("Trained on Universal Dependencies: {} ({})", names.join(", "), self.licence())
    }

    /// Line of the list at the start of a model file, without `bytes`.
    pub(crate) fn to_line(&self) -> String {
        let mut line = format!("{}\t", self.language);
        for (index, treebank) in self.treebanks.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            let _ = write!(line, "{comma}{} = {} = {}", treebank.name, treebank.licence, treebank.tokens);
        }
        let score = |score: Option<f32>| score.map_or("-".to_owned(), |score| format!("{score:.4}"));
        let [upos, lemma, feats] = [self.upos, self.lemma, self.feats].map(score);
        let _ = write!(line, "\t{upos}\t{lemma}\t{}\t{feats}", self.measured);
        if !self.digest.is_empty() {
            let _ = write!(line, "\t{}", self.digest);
        }
        line
    }

    pub(crate) fn from_line(line: &str) -> Result<ModelInfo, ModelError> {
        let damaged = ModelError::Damaged("the list of languages cannot be parsed");
        let fields: Vec<&str> = line.split('\t').collect();
        let (fields, feats, digest) = match fields.as_slice() {
            [fields @ .., feats, digest] if fields.len() == 5 => (fields, *feats, *digest),
            // Before packs there was no digest, and models of version 1 have no features.
            [fields @ .., feats] if fields.len() == 5 => (fields, *feats, ""),
            fields => (fields, "-", ""),
        };
        let &[language, treebanks, upos, lemma, measured] = fields else { return Err(damaged) };
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
                    digest: digest.to_owned(),
                    ..ModelInfo::default()
                })
            }
            _ => Err(damaged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_info_round_trips_through_its_line() {
        let treebank =
            |name: &str, licence: &str| TreebankInfo { name: name.into(), licence: licence.into(), tokens: 12 };
        let info = ModelInfo {
            language: "fr".into(),
            treebanks: vec![treebank("UD_French-GSD", "CC BY-SA 4.0"), treebank("UD_French-Sequoia", "LGPL-LR")],
            upos: Some(0.9512),
            lemma: None,
            feats: Some(0.875),
            measured: "dev".into(),
            digest: "0123456789abcdef".into(),
            ..ModelInfo::default()
        };
        assert_eq!(ModelInfo::from_line(&info.to_line()).unwrap(), info);
        assert_eq!(info.licence(), "CC BY-SA 4.0, LGPL-LR");
        let first_version = "fr\tUD_French-GSD = CC BY-SA 4.0 = 12\t0.9512\t-\tdev";
        assert_eq!(ModelInfo::from_line(first_version).unwrap().feats, None);
        assert!(ModelInfo::from_line("fr\tx").is_err());
        assert!(ModelInfo::from_line(&[first_version, "\t-\t-\t-"].concat()).is_err());
    }
}
