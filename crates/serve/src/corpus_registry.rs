//! Open indexes and cached tables of a home, refreshed when they change on disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use tidings_index::codec::BitSet;
use tidings_index::{FileState, Snapshot};
use tidings_query::engine::Engine;
use tidings_query::question::{DocumentPairs, FrozenState, Privacy};
use tidings_store::day_stats::DayStatsCache;
use tidings_store::document_pairs::{self, DocumentPair};
use tidings_store::frozen;
use tidings_store::removed::{self, Removed, Stamp};
use tidings_store::text::{self, Layers};
use tidings_store::tokens::{self, Token};
use tidings_store::{Home, in_full};

use crate::api_error::ApiError;
use crate::corpus_digest::CorpusDigests;
use crate::frozen_states::{FrozenStates, FrozenView, frozen_state};

/// Shortest interval between two checks of the home.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// The same for statistics per day and pairs of documents, which may be long to read.
const STATS_INTERVAL: Duration = Duration::from_secs(10);
/// The time after which blocks of index files are compared with their digests again when they are read: pages of a map
/// that left memory come from the disk again.
const RECHECK_INTERVAL: Duration = Duration::from_secs(600);
/// Seconds after which a client may ask again for a damaged index.
const RETRY_AFTER_S: u64 = 60;
/// Earlier generations that stay open, so that clients can finish paging.
const EARLIER_GENERATIONS: usize = 2;

/// The open indexes of a home.
#[derive(Debug)]
pub(crate) struct CorpusRegistry {
    pub home: Home,
    corpora: RwLock<BTreeMap<String, Vec<Arc<Engine>>>>,
    /// The damaged file of each index that cannot be opened.
    faults: RwLock<BTreeMap<String, String>>,
    refreshed: Mutex<Option<Instant>>,
    rechecked: Mutex<Instant>,
    opened: AtomicU64,
    removals: Mutex<Removals>,
    tokens: Mutex<(Option<Instant>, Arc<Vec<Token>>)>,
    day_stats: Mutex<(Option<Instant>, DayStatsCache)>,
    document_pairs: Mutex<(Option<Instant>, Arc<DocumentPairs>)>,
    /// Annotators by language, with the value of `opened` they were read at.
    layers: Mutex<(Option<u64>, Arc<Layers>)>,
    digests: CorpusDigests,
    frozen: FrozenStates,
}

/// The takedowns that the registry has seen.
#[derive(Debug, Default)]
struct Removals {
    /// The state of `removed.tsv`; nothing before it was looked at.
    stamp: Option<Stamp>,
    /// Number of changes of the list since the server began.
    epoch: u64,
    /// Takedowns that are under way: the index may still have their documents.
    unfinished: Removed,
    /// For each language the earliest generation that is still answered from.
    earliest: BTreeMap<String, u64>,
}

impl CorpusRegistry {
    /// Opens all indexes; one that cannot be read is logged and left out.
    pub fn open(home: Home) -> CorpusRegistry {
        let registry = CorpusRegistry {
            home,
            corpora: RwLock::default(),
            faults: RwLock::default(),
            refreshed: Mutex::default(),
            rechecked: Mutex::new(Instant::now()),
            opened: AtomicU64::new(0),
            removals: Mutex::default(),
            tokens: Mutex::default(),
            day_stats: Mutex::default(),
            document_pairs: Mutex::default(),
            layers: Mutex::default(),
            digests: CorpusDigests::default(),
            frozen: FrozenStates::default(),
        };
        registry.check_removals();
        registry.refresh();
        // Made in the background, to be known when the first page asks.
        registry.digests();
        registry
    }

    /// Number of changes to the list of removed pages so far. An answer that began before a change must not be sent.
    pub fn removal_epoch(&self) -> u64 {
        self.check_removals();
        self.removals.lock().expect("no panic while held").epoch
    }

    /// Closes all states of the corpus from before a takedown, as soon as its tombstone is written. Documents that the index
    /// still has are left out from then on.
    fn check_removals(&self) {
        let stamp = removed::stamp(&self.home);
        if self.removals.lock().expect("no panic while held").stamp == Some(stamp) {
            return;
        }
        // No other thread opens a generation meanwhile.
        let _opening = self.refreshed.lock().expect("no panic while held");
        let mut removals = self.removals.lock().expect("no panic while held");
        let stamp = removed::stamp(&self.home);
        if removals.stamp == Some(stamp) {
            return;
        }
        let unfinished = match Removed::read(&self.home) {
            Ok(removed) => removed.only_unfinished(),
            // The next request tries again.
            Err(error) => return log::error!("the list of removed pages cannot be read: {}", in_full(&error)),
        };
        let is_first = removals.stamp.replace(stamp).is_none();
        removals.unfinished = unfinished;
        if is_first {
            return;
        }
        removals.epoch += 1;
        self.frozen.close();
        log::info!("pages were removed: earlier states of the corpus are closed");
        self.open_new_generations(&removals.unfinished);
        let mut corpora = self.corpora.write().expect("no panic while held");
        for (code, open) in corpora.iter_mut() {
            let Some(newest) = open.pop() else { continue };
            open.clear();
            removals.earliest.insert(code.clone(), newest.snapshot().generation());
            open.push(without_removed(newest, &removals.unfinished));
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Languages with the newest generation of their index.
    pub fn corpora(&self) -> Vec<(String, Arc<Engine>)> {
        self.check_removals();
        self.refresh();
        let corpora = self.corpora.read().expect("no panic while held");
        let newest = corpora.iter().filter_map(|(code, open)| Some((code.clone(), open.last()?.clone())));
        newest
            .filter(|(_, engine)| {
                let snapshot = engine.snapshot();
                snapshot.file_state().0 != FileState::Truncated && snapshot.intact().is_ok()
            })
            .collect()
    }

    /// The index of a language: the newest generation, or the requested one if it is still open.
    pub fn corpus(&self, code: &str, generation: Option<u64>) -> Result<Arc<Engine>, ApiError> {
        self.check_removals();
        self.refresh();
        let engine = self.find(code, generation)?;
        match engine.snapshot().file_state() {
            (FileState::Truncated, file) => self.close(code, &engine, file),
            (FileState::Intact, _) => return self.intact(code, engine),
            // Files of an earlier generation are deleted and stay mapped.
            (FileState::Replaced, _) if generation.is_some() => return self.intact(code, engine),
            (FileState::Replaced, _) => {}
        }
        // A rebuilt index may have other files under the same names.
        *self.refreshed.lock().expect("no panic while held") = None;
        self.refresh();
        self.find(code, generation)
    }

    /// The newest generation of a language that is open.
    pub fn newest(&self, code: &str) -> Option<Arc<Engine>> {
        self.corpora.read().expect("no panic while held").get(code)?.last().cloned()
    }

    /// The frozen state of a language that `as_of` means, as a client sees it.
    pub fn frozen(
        &self,
        code: &str,
        as_of: &str,
        generation: Option<u64>,
        privacy: Privacy,
    ) -> Result<FrozenView, ApiError> {
        self.check_removals();
        let unfinished = self.removals.lock().expect("no panic while held").unfinished.clone();
        let view = self.frozen.open(self, code, as_of, privacy, &unfinished)?;
        match generation.is_none_or(|generation| generation == view.engine.snapshot().generation()) {
            true => Ok(view),
            false => Err(ApiError::wrong(
                "cursor",
                "pages were removed from the frozen state since this cursor was issued, or it is of another state; request \
                 the first page again",
            )),
        }
    }

    /// The frozen states of each language.
    pub fn frozen_states(&self, code: &str) -> Result<Vec<FrozenState>, ApiError> {
        Ok(frozen::list(&self.home, code)?.iter().map(frozen_state).collect())
    }

    /// The engine, unless damaged bytes of its files were read: then the index is closed until the next refresh, because
    /// the engine remembers what it computed.
    pub fn intact(&self, code: &str, engine: Arc<Engine>) -> Result<Arc<Engine>, ApiError> {
        match engine.snapshot().intact() {
            Ok(()) => Ok(engine),
            Err(error) => {
                log::error!("cannot read the index of {code}: {}", in_full(&error));
                let file = error.damaged_file().unwrap_or_default().to_owned();
                self.close(code, &engine, &file);
                Err(unusable(code, &file))
            }
        }
    }

    /// Closes an index with a truncated or damaged file.
    fn close(&self, code: &str, engine: &Arc<Engine>, file: &str) {
        self.faults.write().expect("no panic while held").insert(code.to_owned(), file.to_owned());
        let mut corpora = self.corpora.write().expect("no panic while held");
        if let Some(open) = corpora.get_mut(code) {
            open.retain(|known| !Arc::ptr_eq(known, engine));
        }
        corpora.retain(|_, open| !open.is_empty());
    }

    fn find(&self, code: &str, generation: Option<u64>) -> Result<Arc<Engine>, ApiError> {
        let corpora = self.corpora.read().expect("no panic while held");
        let Some(open) = corpora.get(code) else {
            if let Some(file) = self.faults.read().expect("no panic while held").get(code) {
                return Err(unusable(code, file));
            }
            let known: Vec<&str> = corpora.keys().map(String::as_str).collect();
            return Err(ApiError::unknown(match known.is_empty() {
                true => "no index yet; `tidings run` makes one".to_owned(),
                false => format!("no corpus for language `{code}`; available: {}", known.join(", ")),
            }));
        };
        let found = match generation {
            None => open.last(),
            Some(generation) => open.iter().rev().find(|engine| engine.snapshot().generation() == generation),
        };
        found.cloned().ok_or_else(|| {
            let earliest = self.removals.lock().expect("no panic while held").earliest.get(code).copied();
            if generation < earliest {
                return ApiError {
                    parameter: Some("cursor".into()),
                    ..ApiError::new(
                        StatusCode::GONE,
                        "pages were removed from the corpus since this cursor was issued; request the first page again",
                    )
                };
            }
            ApiError::wrong(
                "cursor",
                "the corpus has changed since this cursor was issued; request the first page again",
            )
        })
    }

    /// Number of index generations opened so far. While it is constant, so are exact answers.
    pub fn opened(&self) -> u64 {
        self.check_removals();
        self.refresh();
        self.opened.load(Ordering::Relaxed)
    }

    /// Annotators of each language; read again when an index changes.
    pub fn layers(&self) -> Result<Arc<Layers>, ApiError> {
        let opened = self.opened();
        let mut known = self.layers.lock().expect("no panic while held");
        if known.0 != Some(opened) {
            *known = (Some(opened), Arc::new(text::layers(&self.home)?));
        }
        Ok(known.1.clone())
    }

    /// Checksums of the text by language, as far as they are known for the current state.
    pub fn digests(&self) -> Arc<BTreeMap<String, String>> {
        self.digests.of(&self.home, self.opened())
    }

    /// Access tokens, at most [`REFRESH_INTERVAL`] old.
    pub fn tokens(&self) -> Result<Arc<Vec<Token>>, ApiError> {
        let mut known = self.tokens.lock().expect("no panic while held");
        if known.0.is_none_or(|read| read.elapsed() >= REFRESH_INTERVAL) {
            *known = (Some(Instant::now()), Arc::new(tokens::read(&self.home)?));
        }
        Ok(known.1.clone())
    }

    /// Statistics per day, at most [`STATS_INTERVAL`] old.
    pub fn day_stats<T>(&self, see: impl FnOnce(&DayStatsCache) -> T) -> Result<T, ApiError> {
        let mut known = self.day_stats.lock().expect("no panic while held");
        let (read, day_stats) = &mut *known;
        if read.is_none_or(|read| read.elapsed() >= STATS_INTERVAL) {
            day_stats.refresh(&self.home)?;
            *read = Some(Instant::now());
        }
        Ok(see(day_stats))
    }

    /// The pairs of translations, at most [`STATS_INTERVAL`] old.
    pub fn document_pairs(&self) -> Result<Arc<DocumentPairs>, ApiError> {
        let mut known = self.document_pairs.lock().expect("no panic while held");
        if known.0.is_none_or(|read| read.elapsed() >= STATS_INTERVAL) {
            let pairs = document_pairs::read(&self.home)?.into_keys().map(DocumentPair::ids);
            *known = (Some(Instant::now()), Arc::new(DocumentPairs::of(pairs)));
        }
        Ok(known.1.clone())
    }

    /// Opens new generations since the last check.
    fn refresh(&self) {
        // While another thread checks, use what is open.
        let Ok(mut refreshed) = self.refreshed.try_lock() else { return };
        if refreshed.is_some_and(|last| last.elapsed() < REFRESH_INTERVAL) {
            return;
        }
        let mut rechecked = self.rechecked.lock().expect("no panic while held");
        if rechecked.elapsed() >= RECHECK_INTERVAL {
            *rechecked = Instant::now();
            let corpora = self.corpora.read().expect("no panic while held");
            corpora.values().flatten().for_each(|engine| engine.snapshot().forget_checks());
        }
        drop(rechecked);
        let unfinished = self.removals.lock().expect("no panic while held").unfinished.clone();
        if self.open_new_generations(&unfinished) {
            *refreshed = Some(Instant::now());
        }
    }

    /// Opens the newest generation of each index; false if indexes cannot be listed.
    fn open_new_generations(&self, unfinished: &Removed) -> bool {
        let codes = match self.home.indexed() {
            Ok(codes) => codes,
            Err(error) => {
                log::error!("cannot list the indexes: {}", in_full(&error));
                return false;
            }
        };
        for code in &codes {
            let folder = self.home.index_of(code);
            let open =
                self.corpora.read().expect("no panic while held").get(code).and_then(|open| open.last().cloned());
            let newest = newest(&folder, open.as_deref());
            let fault = newest.as_ref().err().and_then(|error| error.damaged_file());
            let mut faults = self.faults.write().expect("no panic while held");
            match fault {
                Some(file) => drop(faults.insert(code.clone(), file.to_owned())),
                None => drop(faults.remove(code)),
            }
            drop(faults);
            match newest {
                Ok(None) => {}
                Ok(Some(engine)) => {
                    log::info!("{code}: opened generation {}", engine.snapshot().generation());
                    let mut corpora = self.corpora.write().expect("no panic while held");
                    let open = corpora.entry(code.clone()).or_default();
                    let engine = without_removed(Arc::new(engine), unfinished);
                    warm_up(engine.clone());
                    open.push(engine);
                    self.opened.fetch_add(1, Ordering::Relaxed);
                    if open.len() > 1 + EARLIER_GENERATIONS {
                        open.remove(0);
                    }
                }
                Err(error) => log::error!("cannot read the index of {code}: {}", in_full(&error)),
            }
        }
        self.corpora.write().expect("no panic while held").retain(|code, _| codes.contains(code));
        true
    }
}

/// The answer about an index with a damaged file.
fn unusable(code: &str, file: &str) -> ApiError {
    let text = format!("index/{code}/{file} is damaged; run `tidings compile --verify` to rebuild the index");
    ApiError::busy(text, RETRY_AFTER_S)
}

/// The engine without the documents of takedowns that are under way.
pub(crate) fn without_removed(engine: Arc<Engine>, unfinished: &Removed) -> Arc<Engine> {
    if unfinished.is_empty() {
        return engine;
    }
    let segments = engine.snapshot().segments().iter().map(|live| {
        let segment = live.segment();
        let mut covered = BitSet::new(segment.meta().documents as usize);
        for (document, id) in (0..).zip(segment.ids().all()) {
            if unfinished.document(&format!("{id:032x}")).is_some() {
                covered.set(document);
            }
        }
        let read = segment.each_text(|document, url, _| {
            if unfinished.covers(url).is_some() {
                covered.set(document);
            }
        });
        if let Err(error) = read {
            // Without addresses any document may be one of them.
            log::error!("the addresses of a segment cannot be read: {}", in_full(&error));
            covered.set_range(0..segment.meta().documents);
        }
        covered
    });
    let covered: Vec<BitSet> = segments.collect();
    match covered.iter().any(|bits| bits.count() > 0) {
        true => Arc::new(Engine::new(engine.snapshot().without(&covered))),
        false => engine,
    }
}

/// Warms up an engine in the background, so that the first request does not wait.
fn warm_up(engine: Arc<Engine>) {
    let thread = std::thread::Builder::new().name("warm-up".to_owned());
    if let Err(error) = thread.spawn(move || engine.prepare()) {
        log::debug!("no warm-up: {error}");
    }
}

/// An engine over the newest generation, if that is newer than the open one.
fn newest(folder: &Path, open: Option<&Engine>) -> tidings_index::Result<Option<Engine>> {
    let snapshot = match open {
        Some(engine) if engine.snapshot().is_newest(folder)? => return Ok(None),
        Some(engine) => engine.snapshot().refresh(folder)?,
        None => Snapshot::open(folder)?,
    };
    Ok(Some(Engine::new(snapshot)))
}
