//! What the server reads: the indexes of a home, always the newest generation, and its tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use tidings_index::Snapshot;
use tidings_query::engine::Engine;
use tidings_store::day_stats::DayStatsCache;
use tidings_store::text::{self, Layers};
use tidings_store::tokens::{self, Token};
use tidings_store::{Home, in_full};

use crate::api_error::ApiError;

/// The home is looked at no more often than this.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// Figures of days are looked at no more often than this: there may be thousands of files.
const COUNT_EVERY: Duration = Duration::from_secs(10);
/// So many earlier generations stay open, for those who are in the middle of paging.
const EARLIER: usize = 2;

/// A home whose indexes are open.
#[derive(Debug)]
pub(crate) struct CorpusRegistry {
    pub home: Home,
    corpora: RwLock<BTreeMap<String, Vec<Arc<Engine>>>>,
    looked: Mutex<Option<Instant>>,
    opened: AtomicU64,
    tokens: Mutex<(Option<Instant>, Arc<Vec<Token>>)>,
    day_stats: Mutex<(Option<Instant>, DayStatsCache)>,
    /// Who gave lemmas and tags, as it was when so many indexes had been opened.
    layers: Mutex<(Option<u64>, Arc<Layers>)>,
}

impl CorpusRegistry {
    /// Opens what there is; an index that cannot be read is named in the log, and missing.
    pub fn open(home: Home) -> CorpusRegistry {
        let registry = CorpusRegistry {
            home,
            corpora: RwLock::default(),
            looked: Mutex::default(),
            opened: AtomicU64::new(0),
            tokens: Mutex::default(),
            day_stats: Mutex::default(),
            layers: Mutex::default(),
        };
        registry.look();
        registry
    }

    /// The languages that can be asked, with their newest generations.
    pub fn corpora(&self) -> Vec<(String, Arc<Engine>)> {
        self.look();
        let corpora = self.corpora.read().expect("no panic while held");
        corpora.iter().filter_map(|(code, open)| Some((code.clone(), open.last()?.clone()))).collect()
    }

    /// The index of a language: the newest generation, or the one that is asked for if it is still open.
    pub fn corpus(&self, code: &str, generation: Option<u64>) -> Result<Arc<Engine>, ApiError> {
        self.look();
        let corpora = self.corpora.read().expect("no panic while held");
        let Some(open) = corpora.get(code) else {
            let known: Vec<&str> = corpora.keys().map(String::as_str).collect();
            return Err(ApiError::unknown(match known.is_empty() {
                true => "nothing is searchable yet; run `tidings compile` first".to_owned(),
                false => format!("there is no corpus of {code}; there are {}", known.join(", ")),
            }));
        };
        let found = match generation {
            None => open.last(),
            Some(generation) => open.iter().rev().find(|engine| engine.snapshot().generation() == generation),
        };
        found.cloned().ok_or_else(|| {
            ApiError::wrong(
                "cursor",
                "the corpus has changed since this cursor was params; ask for the first page again",
            )
        })
    }

    /// How often an index was opened: as long as this stays, so do the answers about the newest generations.
    pub fn opened(&self) -> u64 {
        self.look();
        self.opened.load(Ordering::Relaxed)
    }

    /// Who gave the text of each language its lemmas and tags; read anew when an index is.
    pub fn layers(&self) -> Result<Arc<Layers>, ApiError> {
        let opened = self.opened();
        let mut known = self.layers.lock().expect("no panic while held");
        if known.0 != Some(opened) {
            *known = (Some(opened), Arc::new(text::layers(&self.home)?));
        }
        Ok(known.1.clone())
    }

    /// The tokens that are known, as they were a second ago at most.
    pub fn tokens(&self) -> Result<Arc<Vec<Token>>, ApiError> {
        let mut known = self.tokens.lock().expect("no panic while held");
        if known.0.is_none_or(|read| read.elapsed() >= REFRESH_INTERVAL) {
            *known = (Some(Instant::now()), Arc::new(tokens::read(&self.home)?));
        }
        Ok(known.1.clone())
    }

    /// Shows what became of the pages of each day, as it was some seconds ago at most.
    pub fn day_stats<T>(&self, see: impl FnOnce(&DayStatsCache) -> T) -> Result<T, ApiError> {
        let mut known = self.day_stats.lock().expect("no panic while held");
        let (read, day_stats) = &mut *known;
        if read.is_none_or(|read| read.elapsed() >= COUNT_EVERY) {
            day_stats.refresh(&self.home)?;
            *read = Some(Instant::now());
        }
        Ok(see(day_stats))
    }

    /// Opens what is new since the last look.
    fn look(&self) {
        // Whoever comes while somebody looks takes what is open.
        let Ok(mut looked) = self.looked.try_lock() else { return };
        if looked.is_some_and(|last| last.elapsed() < REFRESH_INTERVAL) {
            return;
        }
        let codes = match self.home.indexed() {
            Ok(codes) => codes,
            Err(error) => return log::error!("the indexes cannot be listed: {}", in_full(&error)),
        };
        for code in &codes {
            let folder = self.home.index_of(code);
            let open =
                self.corpora.read().expect("no panic while held").get(code).and_then(|open| open.last().cloned());
            match newest(&folder, open.as_deref()) {
                Ok(None) => {}
                Ok(Some(engine)) => {
                    log::info!("{code}: generation {} is open", engine.snapshot().generation());
                    let mut corpora = self.corpora.write().expect("no panic while held");
                    let open = corpora.entry(code.clone()).or_default();
                    let engine = Arc::new(engine);
                    prepare(engine.clone());
                    open.push(engine);
                    self.opened.fetch_add(1, Ordering::Relaxed);
                    if open.len() > 1 + EARLIER {
                        open.remove(0);
                    }
                }
                Err(error) => log::error!("the index of {code} cannot be read: {}", in_full(&error)),
            }
        }
        self.corpora.write().expect("no panic while held").retain(|code, _| codes.contains(code));
        *looked = Some(Instant::now());
    }
}

/// Makes what the first of many questions would wait for, while nobody asks yet.
fn prepare(engine: Arc<Engine>) {
    let thread = std::thread::Builder::new().name("prepare".to_owned());
    if let Err(error) = thread.spawn(move || engine.prepare()) {
        log::debug!("nothing is prepared: {error}");
    }
}

/// An engine over a generation that is newer than the one that is open.
fn newest(folder: &Path, open: Option<&Engine>) -> tidings_index::Result<Option<Engine>> {
    let snapshot = match open {
        Some(engine) if engine.snapshot().is_newest(folder)? => return Ok(None),
        Some(engine) => engine.snapshot().refresh(folder)?,
        None => Snapshot::open(folder)?,
    };
    Ok(Some(Engine::new(snapshot)))
}
