//! Open frozen states, which `as_of` asks.
//!
//! A state is opened when it is first asked, and a few stay open. A client gets the documents that it could count one by one
//! then and that it may count one by one now: see [`Engine::withheld_of_frozen`].

use std::sync::{Arc, Mutex};

use tidings_index::Snapshot;
use tidings_query::engine::Engine;
use tidings_query::question::{Availability, FrozenState, Privacy, WithdrawnDocuments};
use tidings_store::frozen::{self, FrozenRecord};
use tidings_store::removed::Removed;

use crate::api_error::ApiError;
use crate::corpus_registry::{CorpusRegistry, without_removed};

/// Views of frozen states that stay open: a state and a right each.
const MAX_OPEN: usize = 8;

/// Describes a frozen state in answers.
pub fn frozen_state(record: &FrozenRecord) -> FrozenState {
    let withdrawn = record.withdrawn.iter().map(|row| WithdrawnDocuments {
        time: row.time.clone(),
        documents: row.documents,
        tokens: row.tokens,
    });
    FrozenState {
        name: record.name.clone(),
        frozen: record.frozen.clone(),
        generation: record.generation,
        digest: record.digest.clone(),
        documents: record.documents,
        tokens: record.tokens,
        withdrawn: withdrawn.collect(),
        withheld_documents: 0,
    }
}

/// A frozen state as a client sees it.
#[derive(Debug, Clone)]
pub(crate) struct FrozenView {
    pub engine: Arc<Engine>,
    pub state: FrozenState,
}

/// What a view depends on, beside the files of its state.
#[derive(Debug, Clone, PartialEq)]
struct ViewKey {
    language: String,
    record: FrozenRecord,
    default: Availability,
    alone: Availability,
    /// The number of generations of live indexes and takedowns so far: today's rights decide, too.
    opened: u64,
}

/// The views that are open, the latest used last.
#[derive(Debug, Default)]
pub(crate) struct FrozenStates(Mutex<Vec<(ViewKey, FrozenView)>>);

impl FrozenStates {
    /// Closes all states.
    pub fn close(&self) {
        self.0.lock().expect("no panic while held").clear();
    }

    /// The state that `as_of` means, without the documents of takedowns that are under way.
    pub fn open(
        &self,
        registry: &CorpusRegistry,
        language: &str,
        as_of: &str,
        privacy: Privacy,
        unfinished: &Removed,
    ) -> Result<FrozenView, ApiError> {
        let home = &registry.home;
        let Some(record) = frozen::find(home, language, as_of)? else {
            let mut error = ApiError::unknown(frozen::not_found(home, language, as_of)?);
            error.parameter = Some("as_of".into());
            return Err(error);
        };
        let folder = frozen::index_of(home, language, &record.name);
        let (default, alone) = (privacy.default, privacy.alone);
        let key = ViewKey { language: language.to_owned(), record, default, alone, opened: registry.opened() };
        let mut views = self.0.lock().expect("no panic while held");
        if let Some(at) = views.iter().position(|(known, _)| *known == key) {
            let known = views.remove(at);
            let view = known.1.clone();
            if view.engine.snapshot().is_newest(&folder)? && view.engine.snapshot().intact().is_ok() {
                views.push(known);
                return Ok(view);
            }
        }
        let mut engine = without_removed(Arc::new(Engine::new(Snapshot::open(&folder)?)), unfinished);
        let mut state = frozen_state(&key.record);
        if alone > Availability::Metadata {
            let today = registry.newest(language);
            let withheld = engine.withheld_of_frozen(privacy, today.as_deref());
            state.withheld_documents = withheld.iter().map(|bits| bits.count() as u64).sum();
            if state.withheld_documents > 0 {
                engine = Arc::new(Engine::new(engine.snapshot().without(&withheld)));
            }
        }
        engine.snapshot().intact()?;
        let view = FrozenView { engine, state };
        if views.len() >= MAX_OPEN {
            views.remove(0);
        }
        views.push((key, view.clone()));
        Ok(view)
    }
}
