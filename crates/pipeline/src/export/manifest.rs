//! The manifest of an export: contents, omitted documents with reasons, digests of the files.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tidings_model::purpose::Purpose;
use tidings_store::output::Made;

use super::format::ExportFormat;
use crate::display::{count, grouped, span_s};
use crate::outcome::Outcome;

/// The version of manifests.
pub const VERSION: &str = "tidings export 1";

/// The manifest, which is written next to the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this file.
    pub export: String,
    /// The program and its version.
    pub program: String,
    /// The format.
    pub format: ExportFormat,
    /// The use that the publishers' terms were checked for.
    #[serde(with = "purpose_name")]
    pub purpose: Purpose,
    /// The filter.
    pub filter: Option<String>,
    /// The query.
    pub query: Option<String>,
    /// The selected languages; empty: all.
    pub languages: Vec<String>,
    /// The state of the corpus.
    pub corpus: CorpusState,
    /// Document counts.
    pub documents: DocumentCounts,
    /// Documents of days that an earlier stage has not processed, by the missing stage.
    pub not_ready: BTreeMap<String, u64>,
    /// Figures of the format.
    pub figures: Figures,
    /// The files.
    pub files: Vec<Made>,
    /// The seed of shuffled sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The length of n-grams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u8>,
}

/// The state of the exported corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusState {
    /// A digest of the names and digests of all input files.
    pub state: String,
    /// Days from which documents were read.
    pub days: u64,
    /// The generation of each queried index, by language.
    pub index_generations: BTreeMap<String, u64>,
    /// The checksum of the annotated text of each language, as `tidings digest --lang CODE` prints it, at the time of the
    /// export; of the selected languages that have text. Empty if much text would have to be read for it: run `tidings digest`
    /// first, which stores it.
    #[serde(default)]
    pub digests: BTreeMap<String, String>,
}

/// Document counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentCounts {
    /// Documents that were read.
    pub read: u64,
    /// Documents that were exported.
    pub written: u64,
    /// Documents that were not, by reason.
    pub left_out: BTreeMap<String, u64>,
}

/// Figures of a format.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// No figures besides documents.
    #[default]
    None,
    /// Parquet.
    Partitions {
        /// Folders.
        partitions: u64,
        /// Rows of all files.
        rows: u64,
    },
    /// CoNLL-U Plus.
    ConlluPlus {
        /// The counts of each language.
        languages: BTreeMap<String, LanguageCounts>,
        /// The alignment, if there are parallel texts.
        parallel: Option<PairCounts>,
    },
    /// Shuffled sentences.
    Shuffled {
        /// Documents of origin.
        from_documents: u64,
        /// The least number of different sentences.
        pool: u64,
        /// Repetitions that were left out.
        repeated: u64,
        /// Different sentences.
        sentences: u64,
    },
    /// N-grams.
    Ngrams {
        /// Documents of origin.
        from_documents: u64,
        /// N-grams that too few documents contain.
        held_back: u64,
        /// The least number of documents.
        least_documents: u64,
        /// Their length.
        n: u64,
        /// N-grams that were written.
        ngrams: u64,
    },
    /// Parallel texts.
    Pairs(PairCounts),
    /// Raw pages.
    Pages {
        /// Pages.
        pages: u64,
    },
}

/// The counts of a language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageCounts {
    /// Tokens.
    pub tokens: u64,
    /// Sentences.
    pub sentences: u64,
    /// Documents.
    pub texts: u64,
}

/// The counts of parallel texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCounts {
    /// Pairs of documents that were aligned.
    pub pairs: u64,
    /// Groups of sentences that correspond.
    pub beads: u64,
    /// Pairs of documents that are not translations of each other.
    pub unlike: u64,
}

/// Purposes by their names.
mod purpose_name {
    use serde::{Deserialize as _, Deserializer, Serializer, de};
    use tidings_model::purpose::Purpose;

    pub fn serialize<S: Serializer>(purpose: &Purpose, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(purpose.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Purpose, D::Error> {
        let name = String::deserialize(deserializer)?;
        let row = Purpose::ALL.iter().find(|row| row.0 == name);
        row.map(|row| row.1).ok_or_else(|| de::Error::custom(format!("unknown purpose `{name}`")))
    }
}

/// The reason why documents of a day cannot be exported yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotReady {
    /// Its text is not annotated, or was made from other documents.
    NotAnnotated,
    /// It has no verdicts, or they are about other documents.
    NotJudged,
}

impl NotReady {
    /// All reasons.
    pub const ALL: [NotReady; 2] = [NotReady::NotAnnotated, NotReady::NotJudged];

    /// The name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            NotReady::NotAnnotated => "not-annotated",
            NotReady::NotJudged => "not-judged",
        }
    }

    /// The command that processes such days.
    pub fn remedy(self) -> &'static str {
        match self {
            NotReady::NotAnnotated => "tidings annotate",
            NotReady::NotJudged => "tidings dedup",
        }
    }
}

/// The outcome of an export.
#[derive(Debug, Clone, Serialize)]
pub struct ExportOutcome {
    /// The manifest.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The target, for people.
    #[serde(skip)]
    pub target: String,
    /// Reasons for which selected documents were omitted, the most frequent first.
    #[serde(skip)]
    pub losses: Vec<(String, u64)>,
    /// The time that it took.
    #[serde(skip)]
    pub seconds: f64,
}

impl Outcome for ExportOutcome {}

impl fmt::Display for ExportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} exported to {}", count(self.manifest.documents.written, "document"), self.target)?;
        let reasons: Vec<String> =
            self.losses.iter().map(|(reason, number)| format!("{} {reason}", grouped(*number))).collect();
        if !reasons.is_empty() {
            write!(f, ", omitted: {}", reasons.join(", "))?;
        }
        writeln!(f, ", {}", span_s(self.seconds))?;
        for reason in NotReady::ALL {
            if let Some(number) = self.manifest.not_ready.get(reason.name()) {
                let remedy = reason.remedy();
                writeln!(f, "{} not included; run `{remedy}` first", count(*number, "document"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(figures: Figures) -> Manifest {
        Manifest {
            export: VERSION.to_owned(),
            program: "tidings 1".to_owned(),
            format: ExportFormat::ConlluPlus,
            purpose: Purpose::Train,
            filter: None,
            query: None,
            languages: Vec::new(),
            corpus: CorpusState::default(),
            documents: DocumentCounts { read: 3, written: 2, left_out: [("hidden".to_owned(), 1)].into() },
            not_ready: [("not-judged".to_owned(), 4)].into(),
            figures,
            files: Vec::new(),
            seed: None,
            n: None,
        }
    }

    #[test]
    fn manifests_survive_writing_and_reading() {
        for figures in [
            Figures::None,
            Figures::Partitions { partitions: 4, rows: 12 },
            Figures::ConlluPlus { languages: BTreeMap::new(), parallel: None },
            Figures::Shuffled { from_documents: 1, pool: 2, repeated: 3, sentences: 4 },
            Figures::Ngrams { from_documents: 1, held_back: 2, least_documents: 3, n: 4, ngrams: 5 },
            Figures::Pairs(PairCounts { pairs: 1, beads: 2, unlike: 3 }),
            Figures::Pages { pages: 6 },
        ] {
            let written = manifest(figures);
            let text = serde_json::to_string(&written).unwrap();
            assert!(text.contains(r#""format":"conllu-plus","purpose":"train""#), "{text}");
            assert!(!text.contains("seed"));
            assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), written);
        }
    }

    #[test]
    fn the_outcome_lists_omitted_and_unprocessed_documents() {
        let outcome = ExportOutcome {
            manifest: manifest(Figures::None),
            target: "news.jsonl".to_owned(),
            losses: vec![("hidden".to_owned(), 1)],
            seconds: 0.0,
        };
        assert_eq!(
            outcome.to_string(),
            "2 documents exported to news.jsonl, omitted: 1 hidden, 0.0 s\n\
             4 documents not included; run `tidings dedup` first\n"
        );
    }
}
