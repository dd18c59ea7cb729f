//! The lanes of requests: quick, long and heavy, each with its own places.
//!
//! Quick requests run at normal priority. One that turns out to take long moves to the long lane and to low priority, so
//! that it holds up no quick one; a client whose requests take long again and again begins there. Heavy requests are known
//! to take long before they begin.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::admission::{AdmissionQueue, Permit, QueueLoad};
use crate::api_error::ApiError;
use crate::compute_accounts::ComputeAccounts;
use crate::low_priority::{lower_priority, spawn_low_priority, spawn_worker, thread_cpu_time};
use crate::window_limiter::ClientId;

/// The computing time after which a quick request is a long one.
const MAX_QUICK_TIME: Duration = Duration::from_millis(20);
/// The computing time that a client is charged for a request that was refused, so that its next ones wait in the long lane.
const REFUSAL_COST: Duration = Duration::from_secs(1);

/// The lane of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Quick,
    Long,
    Heavy,
}

/// The queues of all lanes.
#[derive(Debug)]
pub(crate) struct Lanes {
    quick: Arc<AdmissionQueue>,
    long: Arc<AdmissionQueue>,
    heavy: Arc<AdmissionQueue>,
    accounts: ComputeAccounts,
    /// A private server has one user, who may use all of it.
    is_shared: bool,
}

impl Lanes {
    pub fn new(cores: usize, heavy: usize, is_shared: bool) -> Lanes {
        let share = |places: usize| if is_shared { (places / 2).max(1) } else { places };
        let queue = |places, waiting, seconds| {
            AdmissionQueue::new(places, share(places), waiting, Duration::from_secs(seconds))
        };
        Lanes {
            quick: queue(cores * 2, 256, 5),
            long: queue(cores * 2, 64, 5),
            heavy: queue(heavy, heavy * 2, 1),
            accounts: ComputeAccounts::default(),
            is_shared,
        }
    }

    /// How busy each lane is.
    pub fn loads(&self) -> [(&'static str, QueueLoad); 3] {
        [("quick", self.quick.load()), ("long", self.long.load()), ("heavy", self.heavy.load())]
    }

    /// Waits for a place for a request of a client.
    pub async fn enter(self: &Arc<Lanes>, client: ClientId, is_heavy: bool) -> Result<Place, ApiError> {
        let lane = match is_heavy {
            true => Lane::Heavy,
            false if self.is_shared && self.accounts.is_exhausted(&client, Instant::now()) => Lane::Long,
            false => Lane::Quick,
        };
        let queue = match lane {
            Lane::Quick => &self.quick,
            Lane::Long => &self.long,
            Lane::Heavy => &self.heavy,
        };
        let permit = queue.enter(&client).await?;
        Ok(Place(Arc::new(PlaceState {
            lanes: self.clone(),
            client,
            lane,
            permit: Mutex::new(Some(permit)),
            is_slow: AtomicBool::new(lane != Lane::Quick),
            is_refused: AtomicBool::new(false),
            helpers: Mutex::default(),
        })))
    }
}

/// The place of a request; clones share it, and it is given back when the work is done.
#[derive(Debug, Clone)]
pub(crate) struct Place(Arc<PlaceState>);

#[derive(Debug)]
struct PlaceState {
    lanes: Arc<Lanes>,
    client: ClientId,
    lane: Lane,
    permit: Mutex<Option<Permit>>,
    is_slow: AtomicBool,
    is_refused: AtomicBool,
    /// The computing time of further threads.
    helpers: Mutex<Duration>,
}

impl Place {
    /// Returns `true` for a request that is known to take long.
    pub fn is_heavy(&self) -> bool {
        self.0.lane == Lane::Heavy
    }

    /// Runs the work of a request on a thread with the priority of its lane. The place is given back when the work ends.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let place = self.clone();
        let work = move || {
            let _held = HeldPlace(&place);
            work();
        };
        if self.0.lane == Lane::Quick { spawn_worker("quick", work) } else { spawn_low_priority(work) }
    }

    /// Called at the end of each further thread of the request, on that thread, to charge the client for its time.
    pub fn end_thread(&self) {
        *self.0.helpers.lock().expect("no panic while held") += thread_cpu_time();
    }

    /// Called by the threads of the request now and then: moves a quick request that takes long to the long lane. Returns
    /// `false` if there is no place for it.
    pub fn check(&self) -> bool {
        let state = &*self.0;
        if state.lane != Lane::Quick || thread_cpu_time() < MAX_QUICK_TIME {
            return !self.is_refused();
        }
        lower_priority();
        if state.is_slow.swap(true, Relaxed) {
            return !self.is_refused();
        }
        match state.lanes.long.try_enter(&state.client) {
            Some(permit) => drop(state.permit.lock().expect("no panic while held").replace(permit)),
            None => state.is_refused.store(state.lanes.is_shared, Relaxed),
        }
        !self.is_refused()
    }

    /// Returns `true` if the request took long and found no place in the long lane.
    pub fn is_refused(&self) -> bool {
        self.0.is_refused.load(Relaxed)
    }
}

/// Gives the place back when the work ends or panics, and charges the client for it.
struct HeldPlace<'p>(&'p Place);

impl Drop for HeldPlace<'_> {
    fn drop(&mut self) {
        let state = &*self.0.0;
        drop(state.permit.lock().expect("no panic while held").take());
        let penalty = if self.0.is_refused() { REFUSAL_COST } else { Duration::ZERO };
        let helpers = *state.helpers.lock().expect("no panic while held");
        state.lanes.accounts.charge(&state.client, thread_cpu_time() + helpers + penalty, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> ClientId {
        ClientId::Named(name.to_owned())
    }

    /// Uses the computing time of a quick request.
    fn compute() {
        while thread_cpu_time() < MAX_QUICK_TIME {
            std::hint::black_box((0..10_000u64).sum::<u64>());
        }
    }

    #[test]
    fn a_quick_request_that_takes_long_leaves_its_place_to_others_or_is_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let lanes = Arc::new(Lanes::new(1, 1, true));
        let place = |name: &str| runtime.block_on(lanes.enter(client(name), false)).unwrap();
        let (first, second) = (place("a"), place("b"));
        assert!(lanes.quick.try_enter(&client("c")).is_none(), "the quick lane is full");
        let _entered = runtime.enter();
        let (sender, receiver) = std::sync::mpsc::channel();
        let (checked, (wait, end)) = (first.clone(), std::sync::mpsc::channel::<()>());
        first
            .spawn(move || {
                assert!(checked.check());
                compute();
                sender.send(checked.check()).unwrap();
                let _ = end.recv();
            })
            .unwrap();
        assert!(receiver.recv().unwrap() && !first.is_refused());
        let third = lanes.quick.try_enter(&client("c")).expect("its place is free");
        // One client holds half of the long lane: another request of it is refused.
        drop(third);
        let again = place("a");
        let (sender, receiver) = std::sync::mpsc::channel();
        let checked = again.clone();
        again
            .spawn(move || {
                compute();
                sender.send(checked.check()).unwrap();
            })
            .unwrap();
        assert!(!receiver.recv().unwrap() && again.is_refused());
        drop((second, wait));
    }

    #[test]
    fn a_private_server_has_one_user_who_may_use_all_places() {
        let lanes = Lanes::new(2, 2, false);
        let held: Vec<Permit> = (0..9).filter_map(|_| lanes.heavy.try_enter(&client("a"))).collect();
        assert_eq!(held.len(), 2);
    }
}
