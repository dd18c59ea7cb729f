//! The inputs of annotation besides documents: labels of feeds, annotators, verdicts, revisions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings_annotate::external::External;
use tidings_annotate::{Annotators, Models};
use tidings_model::address;
use tidings_store::dedup_state::{self, JudgedDay, JudgedDays};
use tidings_store::docs::{self, Recipe};
use tidings_store::revisions::Superseded;
use tidings_store::text::{LanguageAnnotators, TextRecipe};
use tidings_store::{FileDigest, Home, feeds, yields};
use xxhash_rust::xxh3::xxh3_128;

use super::super::Stage as _;
use super::Annotate;
use crate::config::{AnnotateConfig, Config, Duplicates};

/// The maximum size of a model file.
const MAX_MODELS_BYTES: u64 = 1 << 30;

/// The recipes of the days of documents from one on, oldest first. They have all revisions of documents of these days.
pub(super) fn recipes(home: &Home, since: &str) -> Result<Vec<Recipe>> {
    let days = docs::document_days(home)?.into_iter().filter(|day| day.as_str() >= since);
    days.filter_map(|day| Recipe::read(home, &day).transpose()).map(|recipe| Ok(recipe?)).collect()
}

/// The inputs of annotation besides documents.
pub(super) struct Sources {
    /// The labels of feeds in `feeds.txt`, by URL.
    pub(super) labels: FeedLabels,
    /// The annotators by language.
    pub(super) annotators: Annotators,
    /// The judged days with the digests of their documents; `None` if duplicates are kept.
    pub(super) judged: Option<HashMap<String, JudgedDay>>,
    /// The amendments of their verdicts by later days.
    pub(super) amendments: HashMap<String, Vec<FileDigest>>,
    /// The documents that later revisions supersede.
    pub(super) superseded: Superseded,
}

impl Sources {
    pub(super) fn read(home: &Home, config: &Config, made: &[Recipe]) -> Result<Sources> {
        let judged = match config.annotate.duplicates {
            Duplicates::Keep => None,
            Duplicates::Drop => JudgedDays::read(home)?,
        };
        let amendments = judged.as_ref().map(JudgedDays::amendments).unwrap_or_default();
        let judged = judged.map(|judged| judged.days.into_iter().map(|day| (day.day.clone(), day)).collect());
        let mut superseded = Superseded::default();
        made.iter().for_each(|recipe| superseded.add(recipe));
        let annotators = annotators(&config.annotate)?;
        Ok(Sources { labels: labels(home)?, annotators, judged, amendments, superseded })
    }

    /// The recipe with which a day of documents would be annotated now, without its results; `None` if its documents
    /// are not judged yet.
    pub(super) fn recipe(&self, home: &Home, made: &Recipe) -> Result<Option<TextRecipe>> {
        let mut settings = json!({ "labels": self.labels_of(home, &made.day)? });
        if let Some(digest) = self.superseded.digest(&made.day) {
            settings["superseded"] = digest.into();
        }
        let mut wanted = TextRecipe::new(&made.day, &crate::program(), tidings_annotate::version(), settings);
        wanted.version = Annotate.version();
        wanted.inputs = made.document_files().cloned().collect();
        if let Some(judged) = &self.judged {
            let digest = dedup_state::docs_digest(home, &made.day)?;
            match judged.get(&made.day).filter(|day| day.docs == digest) {
                Some(day) => {
                    wanted.inputs.push(day.verdicts.clone());
                    wanted.inputs.extend(self.amendments.get(&made.day).into_iter().flatten().cloned());
                }
                None => return Ok(None),
            }
        }
        Ok(Some(wanted))
    }

    /// The current annotators of a language.
    pub(super) fn annotators_of(&self, language: &str) -> LanguageAnnotators {
        LanguageAnnotators { tagger: self.annotators.name_of(language), layers: self.annotators.layers_of(language) }
    }

    /// A digest of the labels of the feeds of a day: a changed label makes only the days due that contain documents of
    /// its feed.
    fn labels_of(&self, home: &Home, day: &str) -> Result<String> {
        let mut feeds = BTreeSet::new();
        if !self.labels.is_empty() {
            yields::of_day(home, day, |row| {
                feeds.insert(row.feed);
            })?;
        }
        let named: Vec<_> = feeds.iter().filter_map(|feed| self.labels.get_key_value(&plain(feed))).collect();
        let text = serde_json::to_string(&named).expect("labels serialise");
        Ok(if named.is_empty() { String::new() } else { format!("{:032x}", xxh3_128(text.as_bytes())) })
    }
}

/// The embedded models, overridden by those of the user's file.
fn models(config: &AnnotateConfig) -> Result<Models> {
    let shipped = tidings_annotate::models();
    if config.models.is_empty() {
        return Ok(shipped.clone());
    }
    let path = Path::new(&config.models);
    let size = std::fs::metadata(path)
        .with_context(|| format!("cannot read the model file {} (annotate.models)", path.display()))?
        .len();
    if size > MAX_MODELS_BYTES {
        bail!("{} has {} MiB, which is too large for a model file (annotate.models)", path.display(), size >> 20);
    }
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the model file {} (annotate.models)", path.display()))?;
    let models = Models::from_bytes(Cow::Owned(bytes)).and_then(|models| models.check().map(|()| models));
    Ok(shipped.with(models.with_context(|| format!("annotate.models, {}", path.display()))?))
}

/// The annotators that the settings name.
pub fn annotators(config: &AnnotateConfig) -> Result<Annotators> {
    let mut annotators = if config.tags { Annotators::new(models(config)?) } else { Annotators::none() };
    for (language, settings) in config.tools()? {
        annotators.set(&language, Arc::new(External::new(&language, settings)));
    }
    if !config.features {
        annotators.leave_out_features();
    }
    annotators.set_layers(config.chain()?);
    annotators.check_needs().context("annotate.layers")?;
    Ok(annotators)
}

/// The labels of feeds, by address.
pub type FeedLabels = HashMap<String, Vec<(String, String)>>;

/// The labels of feeds in `feeds.txt`.
pub fn labels(home: &Home) -> Result<FeedLabels> {
    let named = feeds::list(home)?.feeds.into_iter().filter(|feed| !feed.labels.is_empty());
    Ok(named.map(|feed| (plain(&feed.url), feed.labels)).collect())
}

/// An address in its normal form.
pub fn plain(feed: &str) -> String {
    address::normalise(feed, None).unwrap_or_else(|| feed.to_owned())
}
