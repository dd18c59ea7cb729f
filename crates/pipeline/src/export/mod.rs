//! Export: the corpus or a selection of it in other formats.
//!
//! Documents are read in the order of days and languages, selected and rendered on all cores, and written in order: the
//! same corpus gives the same bytes, except for the date of creation in WARC files. The target is published atomically, with a manifest of its contents and of omitted
//! documents.

mod archive;
mod documents;
mod exchanges;
mod format;
mod manifest;
mod pairs;
mod privacy;
mod selection;
pub(crate) mod source;
mod target;
mod token_table;
mod tokens;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use tidings_model::TextLayers;
use tidings_model::purpose::Purpose;
use tidings_store::{Home, digest, docs, removed, text};
use xxhash_rust::xxh3::xxh3_128;

pub use self::format::{ExportFormat, FORMATS, FormatRow, LEAST_PUBLIC_DOCUMENTS};
pub use self::manifest::{
    CorpusState, DocumentCounts, ExportOutcome, Figures, LanguageCounts, Manifest, NotReady, PairCounts,
};
pub use self::pairs::PairLevel;
pub use self::selection::{Exclusion, Reason, SelectionOptions};
pub use self::target::Destination;
pub(crate) use source::Texts;

use self::archive::Archive;
use self::pairs::Parallel;
use self::selection::{ExportItem, Selection};
use self::source::{DocumentSource, Reading, StoredDocument};
use self::target::ExportTarget;
use crate::config::{Config, Duplicates};
use crate::document_pairs;
use crate::parallel::{self, Bounds};
use crate::pipeline::Pipeline;
use crate::reporter::ProgressScope;

/// Options of an export.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format.
    pub format: ExportFormat,
    /// The documents.
    pub selection: SelectionOptions,
    /// The use that the publishers' terms are checked for.
    pub purpose: Purpose,
    /// Overwrite an existing target.
    pub force: bool,
    /// Begin CSV and TSV with a byte order mark, for Excel.
    pub bom: bool,
    /// N-grams: number of words.
    pub n: u8,
    /// N-grams: the least number of documents.
    pub threshold: u64,
    /// Shuffled sentences: the seed of their order.
    pub seed: u64,
    /// Shuffled sentences: minimum number of distinct sentences.
    pub pool: u64,
    /// Pairs: the unit of a line.
    pub level: PairLevel,
    /// WARC: leave out pages whose text was published before.
    pub no_duplicates: bool,
    /// The further layers of the exported text by language; [`run`] sets them.
    pub layers: BTreeMap<String, TextLayers>,
}

impl Options {
    /// Default options of a format: the whole corpus.
    pub fn new(format: ExportFormat) -> Options {
        Options {
            format,
            selection: SelectionOptions::default(),
            purpose: Purpose::Research,
            force: false,
            bom: false,
            n: 3,
            threshold: LEAST_PUBLIC_DOCUMENTS,
            seed: 1,
            pool: 10_000,
            level: PairLevel::Sentence,
            no_duplicates: false,
            layers: BTreeMap::new(),
        }
    }

    /// The further layers of the exported text in all languages.
    fn all_layers(&self) -> TextLayers {
        let mut all = TextLayers::default();
        self.layers.values().for_each(|layers| all.merge(layers.clone()));
        all
    }
}

/// Exports documents. Calls `excluded` for each selected document that is excluded because of its rights.
pub fn run(
    pipeline: &Pipeline,
    options: &Options,
    destination: Destination,
    excluded: &mut dyn FnMut(&Exclusion),
) -> Result<ExportOutcome> {
    let began = Instant::now();
    let config = pipeline.config();
    // An archive has every page: duplicate text is a matter of the corpus, not of what was published.
    let keeps_duplicates = match options.format {
        ExportFormat::Warc => !options.no_duplicates,
        _ => config.annotate.duplicates == Duplicates::Keep,
    };
    let shown = destination.shown();
    format::check(options, &shown, keeps_duplicates)?;
    let row = options.format.row();
    let options = &with_layers(pipeline, options, row)?;
    let mut target = ExportTarget::open(destination, row.is_folder, options.force)?;
    let removals = removed::stamp(pipeline.home());
    let selection =
        Selection::open(pipeline.home(), &options.selection, options.purpose, row.extent, target.scratch())?;
    let mut export = Export {
        pipeline,
        selection,
        keeps_duplicates,
        bounds: bounds(config),
        counts: Counts::default(),
        excluded: Some(excluded),
        languages: options.selection.languages.iter().cloned().collect(),
    };
    let figures = match options.format {
        ExportFormat::Warc => export.pages(&mut target)?,
        _ => export.documents(options, &mut target)?,
    };
    let Export { counts, selection, .. } = export;
    counts.check()?;
    let losses = counts.losses();
    // The selection knows the removals from before it.
    if removed::stamp(pipeline.home()) != removals {
        bail!("pages were removed while the export was written, and it may have them; run it again");
    }
    let mut manifest = manifest(options, counts, selection, figures, &mut target);
    manifest.corpus.digests = digests(pipeline.home(), &options.selection.languages)?;
    target.publish(&manifest)?;
    Ok(ExportOutcome { manifest, target: shown, losses, seconds: began.elapsed().as_secs_f64() })
}

/// The most compressed text that is read for the checksums of a manifest.
const MAX_UNREAD_BYTES: u64 = 2 << 30;

/// The checksums of the text of the selected languages.
fn digests(home: &Home, languages: &[String]) -> Result<BTreeMap<String, String>> {
    let mut digests = digest::of_languages(home, MAX_UNREAD_BYTES)?.unwrap_or_default();
    digests.retain(|language, _| languages.is_empty() || languages.contains(language));
    Ok(digests)
}

/// The options with the layers of the text that they select.
fn with_layers(pipeline: &Pipeline, options: &Options, row: &FormatRow) -> Result<Options> {
    let mut layers = if row.needs_tokens { text::text_layers(pipeline.home())? } else { BTreeMap::new() };
    let languages = &options.selection.languages;
    layers.retain(|language, _| languages.is_empty() || languages.contains(language));
    Ok(Options { layers, ..options.clone() })
}

fn bounds(config: &Config) -> Bounds {
    let threads = config.clean.threads;
    let threads = if threads == 0 { parallel::cores() } else { threads };
    Bounds { threads, weight: config.clean.memory_mib << 20 }
}

fn manifest(
    options: &Options,
    counts: Counts,
    selection: Selection,
    figures: Figures,
    target: &mut ExportTarget,
) -> Manifest {
    Manifest {
        export: manifest::VERSION.to_owned(),
        program: crate::program(),
        format: options.format,
        purpose: options.purpose,
        filter: selection.described,
        query: options.selection.cql.clone(),
        languages: options.selection.languages.clone(),
        corpus: CorpusState {
            state: format!("{:032x}", xxh3_128(counts.inputs.as_bytes())),
            days: counts.days,
            index_generations: selection.generations,
            digests: BTreeMap::new(),
        },
        documents: DocumentCounts {
            read: counts.read,
            written: counts.written,
            left_out: counts.left_out.iter().map(|(reason, number)| (reason.name().to_owned(), *number)).collect(),
        },
        not_ready: counts.not_ready.iter().map(|(reason, number)| (reason.name().to_owned(), *number)).collect(),
        figures,
        files: target.made(),
        seed: (options.format == ExportFormat::Shuffled).then_some(options.seed),
        n: (options.format == ExportFormat::Ngrams).then_some(options.n),
    }
}

/// Document counts.
#[derive(Debug, Default)]
struct Counts {
    read: u64,
    written: u64,
    left_out: BTreeMap<Reason, u64>,
    not_ready: BTreeMap<NotReady, u64>,
    /// Days from which documents were read.
    days: u64,
    /// The input files with their digests, one per line.
    inputs: String,
}

impl Counts {
    /// Checks that every document was either written or omitted.
    fn check(&self) -> Result<()> {
        let left_out: u64 = self.left_out.values().sum();
        if self.written + left_out != self.read {
            bail!(
                "{} documents were read, but {} written and {left_out} omitted; this is a bug in Tidings, please report it",
                self.read,
                self.written
            );
        }
        Ok(())
    }

    /// Reasons for which selected documents were omitted, the most frequent first.
    fn losses(&self) -> Vec<(String, u64)> {
        let mut rows: Vec<(&'static str, u64)> = self
            .left_out
            .iter()
            .filter(|(reason, _)| reason.is_loss())
            .map(|(reason, number)| (reason.name(), *number))
            .collect();
        rows.sort_by_key(|(reason, number)| (std::cmp::Reverse(*number), *reason));
        rows.into_iter().map(|(reason, number)| (reason.to_owned(), number)).collect()
    }
}

/// An export in progress.
struct Export<'a> {
    pipeline: &'a Pipeline,
    selection: Selection,
    keeps_duplicates: bool,
    bounds: Bounds,
    counts: Counts,
    /// Receives exclusions; absent in a first pass over documents that are read twice.
    excluded: Option<&'a mut dyn FnMut(&Exclusion)>,
    languages: BTreeSet<String>,
}

impl Export<'_> {
    fn source(&self, tokens: bool, day: Option<&str>) -> Result<DocumentSource> {
        let reading = Reading { languages: self.languages.clone(), tokens };
        DocumentSource::open(self.pipeline.home(), self.keeps_duplicates, reading, day)
    }

    /// Reads documents, selects and renders them on all cores, and passes them to `write` in order.
    fn each(
        &mut self,
        mut source: DocumentSource,
        needs_tokens: bool,
        render: impl Fn(&ExportItem) -> Vec<u8> + Sync,
        mut write: impl FnMut(ExportItem, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let progress = ProgressScope::begin(self.pipeline.reporter(), "days", source.days_left() as u64);
        let selection = &self.selection;
        let (counts, excluded) = (&mut self.counts, &mut self.excluded);
        let mut day = String::new();
        let mut hits: (String, Option<Arc<[u128]>>) = Default::default();
        let cancel = self.pipeline.cancel_token();
        let read = || {
            cancel.check()?;
            let Some(stored) = source.next()? else { return Ok(None) };
            if hits.0 != stored.day {
                hits = (stored.day.clone(), selection.hits_of(&stored.day)?);
            }
            let weight = stored.weight();
            Ok(Some(((stored, hits.1.clone()), weight)))
        };
        let work = |(stored, hits): (StoredDocument, Option<Arc<[u128]>>)| {
            let day = stored.day.clone();
            let item = selection.item(stored, hits.as_deref(), needs_tokens);
            (day, item.map(|item| item.map(|item| (render(&item), item))))
        };
        parallel::ordered(self.bounds, read, work, |(of_day, item)| {
            counts.read += 1;
            if of_day != day {
                progress.show(counts.days, &of_day);
                counts.days += 1;
                day = of_day;
            }
            match item? {
                Ok((rendered, item)) => {
                    counts.written += 1;
                    write(item, rendered)?;
                }
                Err(exclusion) => {
                    *counts.left_out.entry(exclusion.reason).or_default() += 1;
                    if let (Some(excluded), Some(_)) = (excluded.as_mut(), &exclusion.url) {
                        excluded(&exclusion);
                    }
                }
            }
            Ok(())
        })?;
        source.not_ready.iter().for_each(|(reason, number)| *counts.not_ready.entry(*reason).or_default() += number);
        source.inputs.iter().for_each(|(file, digest)| counts.inputs.push_str(&format!("{file} {digest}\n")));
        Ok(())
    }

    fn documents(&mut self, options: &Options, target: &mut ExportTarget) -> Result<Figures> {
        let row = options.format.row();
        let parallel = if row.needs_pairs { Some(self.parallel(target)?) } else { None };
        let mut writer = (row.begin)(options, target, parallel)?;
        let source = self.source(row.needs_tokens, None)?;
        let render = |item: &ExportItem| (row.render)(item, options);
        self.each(source, row.needs_tokens, render, |item, rendered| writer.write(item, rendered, target))?;
        writer.finish(target)
    }

    /// Finds pairs of translations among the exported documents.
    fn parallel(&mut self, target: &ExportTarget) -> Result<Parallel> {
        let given = document_pairs::given(self.pipeline.home())?;
        let mut finder = document_pairs::Finder::with_given(given);
        // The caller reads the same documents again and counts them then.
        let (counts, excluded) = (std::mem::take(&mut self.counts), self.excluded.take());
        // The hreflang links are in the documents; tokens are not needed.
        let source = self.source(false, None)?;
        self.each(
            source,
            false,
            |_| Vec::new(),
            |item, _| {
                finder.see(&item.document, item.attributes.id, &item.language);
                Ok(())
            },
        )?;
        (self.counts, self.excluded) = (counts, excluded);
        Parallel::new(finder.pairs(), target)
    }

    fn pages(&mut self, target: &mut ExportTarget) -> Result<Figures> {
        let mut archive = Archive::begin(target, &self.pipeline.config().fetch.contact)?;
        for day in docs::page_days(self.pipeline.home())? {
            let mut selected = HashSet::new();
            let mut source = self.source(false, Some(&day.name))?;
            // An archive of the web has all revisions.
            source.keep_superseded();
            self.each(
                source,
                false,
                |_| Vec::new(),
                |item, _| {
                    selected.insert(archive::key_of(&item.document));
                    Ok(())
                },
            )?;
            archive.add(&day.files, &selected)?;
        }
        archive.finish(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    #[test]
    fn every_document_is_written_or_omitted() {
        let left_out = BTreeMap::from([(Reason::Hidden, 1), (Reason::NoHit, 2)]);
        let counts = Counts { read: 5, written: 2, left_out, ..Counts::default() };
        assert!(counts.check().is_ok());
        assert!(Counts { read: 6, ..counts }.check().unwrap_err().to_string().contains("6 documents were read"));
    }

    #[test]
    fn losses_are_selected_documents_by_descending_frequency() {
        let left_out = BTreeMap::from([
            (Reason::NotSelected, 90),
            (Reason::NoHit, 80),
            (Reason::Hidden, 1),
            (Reason::Duplicate, 7),
            (Reason::Rights("noai"), 7),
        ]);
        let counts = Counts { left_out, ..Counts::default() };
        let losses = counts.losses();
        let losses: Vec<(&str, u64)> = losses.iter().map(|(reason, number)| (reason.as_str(), *number)).collect();
        assert_eq!(losses, [("duplicate", 7), ("noai", 7), ("hidden", 1)]);
    }

    /// Exports the built home to a file; returns the outcome and the bytes.
    fn exported(options: &Options) -> (ExportOutcome, String) {
        let (folder, pipeline) = test_home::built();
        let path = folder.path().join("out");
        let outcome = run(&pipeline, options, Destination::Path(path.clone()), &mut |_| {}).unwrap();
        (outcome, std::fs::read_to_string(path).unwrap())
    }

    fn selected(selection: SelectionOptions) -> u64 {
        let options = Options { selection, ..Options::new(ExportFormat::Jsonl) };
        let (outcome, text) = exported(&options);
        assert_eq!(text.lines().count() as u64, outcome.manifest.documents.written);
        outcome.manifest.documents.written
    }

    fn selecting(filter: &str) -> SelectionOptions {
        SelectionOptions { filter: Some(filter.to_owned()), ..SelectionOptions::default() }
    }

    #[test]
    fn all_documents_are_exported_without_a_selection() {
        assert_eq!(selected(SelectionOptions::default()), 4);
        assert_eq!(selected(SelectionOptions { languages: vec!["de".into()], ..SelectionOptions::default() }), 1);
        assert_eq!(
            selected(SelectionOptions { sites: vec!["gazette.example".into()], ..SelectionOptions::default() }),
            4
        );
        assert_eq!(
            selected(SelectionOptions { sites: vec!["courier.example".into()], ..SelectionOptions::default() }),
            0
        );
    }

    #[test]
    fn a_date_range_includes_both_ends() {
        let range = |from: Option<&str>, to: Option<&str>| {
            let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
            selected(SelectionOptions { from, to, ..SelectionOptions::default() })
        };
        assert_eq!(range(Some("2026-03-02"), None), 1);
        assert_eq!(range(None, Some("2026-03-01")), 3);
        assert_eq!(range(Some("2026-03"), Some("2026-03")), 4);
        assert_eq!(range(Some("2026-03-03"), None), 0);
    }

    #[test]
    fn a_query_and_a_filter_are_combined() {
        let query =
            |cql: &str, filter| SelectionOptions { cql: Some(cql.to_owned()), filter, ..SelectionOptions::default() };
        assert_eq!(selected(query("\"river\"", None)), 1);
        assert_eq!(selected(query("\"the\"", Some("date>=2026-03-02".to_owned()))), 1);
        assert_eq!(selected(query("\"zebra\"", None)), 0);
    }

    #[test]
    fn an_invalid_filter_or_query_leaves_no_files() {
        let (folder, pipeline) = test_home::built();
        let target = folder.path().join("out");
        std::fs::create_dir(&target).unwrap();
        let cql = SelectionOptions { cql: Some("[word=".to_owned()), ..SelectionOptions::default() };
        for selection in [selecting("date>="), cql] {
            let options = Options { selection, ..Options::new(ExportFormat::Jsonl) };
            let destination = Destination::Path(target.join("news.jsonl"));
            assert!(run(&pipeline, &options, destination, &mut |_| {}).is_err());
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_cancelled_export_leaves_no_files() {
        let (folder, pipeline) = test_home::built();
        let target = folder.path().join("out");
        std::fs::create_dir(&target).unwrap();
        pipeline.cancel_token().cancel(crate::cancel::StopReason::Cancelled("SIGINT".to_owned()));
        let destination = Destination::Path(target.join("news.jsonl"));
        let error = run(&pipeline, &Options::new(ExportFormat::Jsonl), destination, &mut |_| {}).unwrap_err();
        assert!(error.is::<crate::cancel::Cancelled>(), "{error:#}");
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
    }

    #[test]
    fn the_manifest_lists_the_files_with_their_sizes() {
        let (folder, pipeline) = test_home::built();
        let path = folder.path().join("news.txt");
        let options = Options::new(ExportFormat::Text);
        let outcome = run(&pipeline, &options, Destination::Path(path.clone()), &mut |_| {}).unwrap();
        let read = std::fs::read(folder.path().join("news.txt.manifest.json")).unwrap();
        let manifest: Manifest = serde_json::from_slice(&read).unwrap();
        assert_eq!(manifest.files, outcome.manifest.files);
        assert_eq!((manifest.files.len(), manifest.files[0].file.as_str()), (1, "news.txt"));
        assert_eq!(manifest.files[0].bytes, std::fs::metadata(&path).unwrap().len());
        assert_eq!((manifest.documents.read, manifest.corpus.days), (4, 2));
    }

    #[test]
    fn the_same_corpus_gives_the_same_bytes() {
        for format in
            [ExportFormat::Jsonl, ExportFormat::Tei, ExportFormat::Csv, ExportFormat::Vertical, ExportFormat::Conllu]
        {
            let (first, second) = (exported(&Options::new(format)), exported(&Options::new(format)));
            assert_eq!(first.1, second.1, "{format:?}");
            assert_eq!(first.0.manifest.corpus, second.0.manifest.corpus);
            assert!(first.1.contains("ferry"), "{format:?}");
        }
    }

    /// Sets a tombstone with the first progress, as `tidings remove` in another process does.
    struct Removing(tidings_store::Home);

    impl crate::reporter::Reporter for Removing {
        fn event(&self, _: &crate::reporter::Event<'_>) {
            let home = &self.0;
            let mut removed = removed::Removed::read(home).unwrap();
            removed.add(removed::Tombstone {
                kind: removed::TombstoneKind::Address,
                what: removed::hash("https://gazette.example/ferry"),
                date: "2026-03-03T00:00:00Z".into(),
                reason: "request".into(),
                done: String::new(),
            });
            removed.write(home).unwrap();
        }
    }

    #[test]
    fn an_export_during_which_pages_are_removed_is_not_published() {
        let (folder, pipeline) = test_home::built();
        let home = pipeline.home().clone();
        let pipeline = pipeline.with_reporter(Arc::new(Removing(home)));
        let target = folder.path().join("out");
        std::fs::create_dir(&target).unwrap();
        let options = Options::new(ExportFormat::Jsonl);
        let destination = || Destination::Path(target.join("news"));
        let error = run(&pipeline, &options, destination(), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("pages were removed while the export was written"), "{error}");
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
        // The next one knows of the removal.
        let pipeline = pipeline.with_reporter(Arc::new(crate::reporter::Silent));
        let outcome = run(&pipeline, &options, destination(), &mut |_| {}).unwrap();
        assert_eq!(outcome.manifest.documents.left_out, BTreeMap::from([("removed".to_owned(), 1)]));
    }

    #[test]
    fn hidden_documents_are_counted_and_not_written() {
        let (folder, pipeline) = test_home::built();
        let hidden = ["https://gazette.example/ferry".to_owned()].into();
        tidings_store::hidden::write(pipeline.home(), &hidden).unwrap();
        let path = folder.path().join("out");
        let outcome = run(&pipeline, &Options::new(ExportFormat::Jsonl), Destination::Path(path), &mut |_| {}).unwrap();
        assert_eq!(outcome.manifest.documents.left_out, BTreeMap::from([("hidden".to_owned(), 1)]));
        assert_eq!(outcome.losses, [("hidden".to_owned(), 1)]);
    }

    #[test]
    fn too_few_shuffled_sentences_are_rejected() {
        let (folder, pipeline) = test_home::built();
        let path = folder.path().join("out");
        let options = Options::new(ExportFormat::Shuffled);
        let error = run(&pipeline, &options, Destination::Path(path.clone()), &mut |_| {}).err().unwrap();
        assert!(error.to_string().contains("texts could be reconstructed"), "{error}");
        assert!(!path.exists());
        let outcome =
            run(&pipeline, &Options { pool: 1, ..options }, Destination::Path(path.clone()), &mut |_| {}).unwrap();
        let Figures::Shuffled { from_documents, sentences, .. } = outcome.manifest.figures else {
            panic!("sentences are counted")
        };
        assert_eq!((from_documents, sentences), (4, std::fs::read_to_string(path).unwrap().lines().count() as u64));
    }

    #[test]
    fn n_grams_below_the_threshold_are_not_exported() {
        let lines = |threshold| exported(&Options { n: 1, threshold, ..Options::new(ExportFormat::Ngrams) }).1;
        assert!(lines(1).contains("ferry"));
        let common = lines(3);
        assert!(common.contains("the") && !common.contains("ferry"), "{common}");
    }
}
