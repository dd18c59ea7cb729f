//! The inputs of annotation besides documents: labels of feeds, annotators, verdicts, revisions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings_annotate::external::External;
use tidings_annotate::tagger::pack_folder::{PACK_EXTENSION, packs_in};
use tidings_annotate::{Annotators, Models};
use tidings_feeds::discover;
use tidings_model::{ARCHIVE, address};
use tidings_storage::file;
use tidings_store::archive;
use tidings_store::dedup_state::{self, JudgedDay, JudgedDays};
use tidings_store::docs::{self, Recipe};
use tidings_store::feeds::ListedFeed;
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
        let annotators = annotators_of_home(&config.annotate, home)?;
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

/// Reads and checks a model file.
pub fn read_models(path: &Path) -> Result<Models> {
    let what = || format!("cannot read the model file {}", path.display());
    let size = std::fs::metadata(path).with_context(what)?.len();
    if size > MAX_MODELS_BYTES {
        bail!("{} has {} MiB, which is too large for a model file", path.display(), size >> 20);
    }
    let models = Models::from_bytes(Cow::Owned(std::fs::read(path).with_context(what)?));
    models.and_then(|models| models.check().map(|()| models)).with_context(|| path.display().to_string())
}

/// The packs installed in a home (`models/`), sorted by name.
pub fn installed_packs(home: &Home) -> Result<Vec<PathBuf>> {
    let folder = home.root().join(MODELS_FOLDER);
    packs_in(&folder).with_context(|| format!("cannot read {}", folder.display()))
}

/// The folder of a home for packs.
pub const MODELS_FOLDER: &str = "models";

/// Copies the models of a file as packs into a home; returns them. Packs of the same languages are replaced.
pub fn install_models(home: &Home, file: &Path) -> Result<Models> {
    let models = read_models(file)?;
    let folder = home.root().join(MODELS_FOLDER);
    file::make_folder(&folder)?;
    for (info, bytes) in models.packs() {
        let path = folder.join(format!("{}.{PACK_EXTENSION}", info.language));
        file::write_atomic(&path, &bytes)?;
    }
    Ok(models)
}

/// The models of the program, overridden by the packs of a home, and these by the user's file.
fn models(config: &AnnotateConfig, packs: &[PathBuf]) -> Result<Models> {
    let own = Some(PathBuf::from(&config.models)).filter(|_| !config.models.is_empty());
    let mut models = tidings_annotate::models().clone();
    for pack in packs {
        models = models.with(read_models(pack)?);
    }
    match own {
        Some(path) => Ok(models.with(read_models(&path).context("annotate.models")?)),
        None => Ok(models),
    }
}

/// The annotators that the settings name.
pub fn annotators(config: &AnnotateConfig) -> Result<Annotators> {
    annotators_with(config, &[])
}

/// The annotators that the settings of a home name, with the packs installed there.
pub fn annotators_of_home(config: &AnnotateConfig, home: &Home) -> Result<Annotators> {
    annotators_with(config, &installed_packs(home)?)
}

fn annotators_with(config: &AnnotateConfig, packs: &[PathBuf]) -> Result<Annotators> {
    let mut annotators = if config.tags { Annotators::new(models(config, packs)?) } else { Annotators::none() };
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

/// The labels of feeds in `feeds.txt`. The documents of a backfill (`archive:SITE`) have the labels on which all lines of
/// the site agree: its old articles are of all its feeds.
pub fn labels(home: &Home) -> Result<FeedLabels> {
    let listed = feeds::list(home)?.feeds;
    let mut labels: FeedLabels = HashMap::new();
    if listed.iter().any(|feed| !feed.labels.is_empty()) {
        for order in archive::orders(home)? {
            labels.insert(format!("{ARCHIVE}{}", order.site), labels_of_site(&listed, &order.site));
        }
    }
    labels.extend(listed.into_iter().map(|feed| (plain(&feed.url), feed.labels)));
    labels.retain(|_, labels| !labels.is_empty());
    Ok(labels)
}

/// The labels on which all lines of a site agree; if it has none, those of its registered domain (`feeds.example.org`).
fn labels_of_site(listed: &[ListedFeed], site: &str) -> Vec<(String, String)> {
    let domain = |url: &str| discover::site(url).and_then(|site| discover::registrable(&site).map(str::to_owned));
    let of_site = |feed: &&ListedFeed| discover::site(&feed.url).as_deref() == Some(site);
    let mut lines: Vec<&ListedFeed> = listed.iter().filter(of_site).collect();
    if lines.is_empty() {
        let own = domain(&format!("http://{site}/"));
        lines = listed.iter().filter(|feed| own.is_some() && domain(&feed.url) == own).collect();
    }
    let [first, others @ ..] = lines.as_slice() else { return Vec::new() };
    let is_shared = |label: &&(String, String)| others.iter().all(|feed| feed.labels.contains(label));
    first.labels.iter().filter(is_shared).cloned().collect()
}

/// An address in its normal form.
pub fn plain(feed: &str) -> String {
    address::normalise(feed, None).unwrap_or_else(|| feed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home_with_feeds;

    #[test]
    fn an_installed_pack_has_priority_over_the_embedded_model() {
        let (_folder, pipeline) = home_with_feeds("");
        let home = pipeline.home();
        assert!(installed_packs(home).unwrap().is_empty());
        let file = home.root().join("own.bin");
        let german = tidings_annotate::models().packs().find(|(info, _)| info.language == "de").expect("embedded").1;
        std::fs::write(&file, &german).unwrap();
        assert_eq!(install_models(home, &file).unwrap().languages().count(), 1);
        assert_eq!(installed_packs(home).unwrap(), [home.root().join("models/de.tags")]);
        assert!(annotators_of_home(&AnnotateConfig::default(), home).is_ok());
        std::fs::write(home.root().join("models/de.tags"), &german[..german.len() / 2]).unwrap();
        let error = annotators_of_home(&AnnotateConfig::default(), home).err().expect("the pack is truncated");
        assert!(format!("{error:#}").contains("de.tags"), "{error:#}");
    }

    #[test]
    fn documents_of_a_backfill_have_the_labels_on_which_the_lines_of_their_site_agree() {
        let (_folder, pipeline) = home_with_feeds(
            "https://www.a.example/politics.xml\tlang=de\ttopic=politics\n\
             https://a.example/sport.xml\tlang=de\ttopic=sport\nhttps://feeds.b.example/rss\tcountry=at\n",
        );
        let home = pipeline.home();
        assert_eq!(labels(home).unwrap().len(), 3, "there is no backfill yet");
        for site in ["a.example", "b.example", "c.example"] {
            let order = archive::BackfillOrder { site: site.to_owned(), ..Default::default() };
            archive::write(home, &mut archive::Backfill { order, ..Default::default() }).unwrap();
        }
        let labels = labels(home).unwrap();
        let of = |name: &str| labels.get(&plain(name)).cloned().unwrap_or_default();
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(of("archive:a.example"), [label("lang", "de")]);
        assert_eq!(of("archive:b.example"), [label("country", "at")]);
        assert_eq!(of("archive:c.example"), []);
        assert_eq!(of("https://a.example/sport.xml").len(), 2);
    }
}
