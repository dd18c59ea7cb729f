//! Admission control: how many requests run at once, how many wait, and whose turn is next.
//!
//! The places of a queue are shared fairly. One client holds at most a part of them, however many connections it has, and
//! the clients that wait take turns (round-robin), each with its oldest request.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::api_error::ApiError;
use crate::window_limiter::ClientId;

/// A bounded queue: `places` requests run, at most `share` of them of one client; `waiting` more wait up to `max_wait`; all
/// others get 503.
#[derive(Debug)]
pub(crate) struct AdmissionQueue {
    places: usize,
    share: usize,
    waiting: usize,
    max_wait: Duration,
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    running: HashMap<ClientId, usize>,
    /// The sum of `running`.
    taken: usize,
    /// Requests that wait, by client, the oldest first.
    waiting: HashMap<ClientId, VecDeque<oneshot::Sender<Permit>>>,
    /// The clients that wait, in the order of their turns.
    turns: VecDeque<ClientId>,
}

/// A place in a queue; given back on drop.
#[derive(Debug)]
pub(crate) struct Permit(Option<(Arc<AdmissionQueue>, ClientId)>);

/// How busy a queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueLoad {
    pub places: usize,
    pub running: usize,
    pub waiting: usize,
    /// Clients whose requests run.
    pub clients: usize,
}

impl AdmissionQueue {
    /// How busy the queue is now.
    pub fn load(&self) -> QueueLoad {
        let mut state = self.state();
        state.forget_gone();
        QueueLoad {
            places: self.places,
            running: state.taken,
            waiting: state.waiting_count(),
            clients: state.running.len(),
        }
    }

    pub fn new(places: usize, share: usize, waiting: usize, max_wait: Duration) -> Arc<AdmissionQueue> {
        let places = places.max(1);
        Arc::new(AdmissionQueue { places, share: share.clamp(1, places), waiting, max_wait, state: Mutex::default() })
    }

    /// Takes a place if the client may have one at once.
    pub fn try_enter(self: &Arc<AdmissionQueue>, client: &ClientId) -> Option<Permit> {
        let mut state = self.state();
        // Those that wait come first, unless the share of each is used up.
        state.hand_out(self);
        state.take(self, client)
    }

    /// Waits for a place.
    pub async fn enter(self: &Arc<AdmissionQueue>, client: &ClientId) -> Result<Permit, ApiError> {
        let busy = || ApiError::busy("the server is busy; try again in a moment", 2);
        let turn = {
            let mut state = self.state();
            if let Some(permit) = state.take(self, client) {
                return Ok(permit);
            }
            state.forget_gone();
            if state.waiting_count() >= self.waiting && !state.make_room(client) {
                return Err(busy());
            }
            state.wait(client)
        };
        match tokio::time::timeout(self.max_wait, turn).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy()),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().expect("no panic while held")
    }
}

impl QueueState {
    fn take(&mut self, queue: &Arc<AdmissionQueue>, client: &ClientId) -> Option<Permit> {
        let running = self.running.get(client).copied().unwrap_or(0);
        if self.taken >= queue.places || running >= queue.share {
            return None;
        }
        self.taken += 1;
        self.running.insert(client.clone(), running + 1);
        Some(Permit(Some((queue.clone(), client.clone()))))
    }

    fn give_back(&mut self, client: &ClientId) {
        self.taken -= 1;
        if let Some(running) = self.running.get_mut(client) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(client);
            }
        }
    }

    fn waiting_count(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Forgets requests whose clients have gone or waited too long.
    fn forget_gone(&mut self) {
        self.waiting.retain(|_, requests| {
            requests.retain(|request| !request.is_closed());
            !requests.is_empty()
        });
        self.turns.retain(|client| self.waiting.contains_key(client));
    }

    fn wait(&mut self, client: &ClientId) -> oneshot::Receiver<Permit> {
        let (sender, turn) = oneshot::channel();
        let requests = self.waiting.entry(client.clone()).or_insert_with(|| {
            self.turns.push_back(client.clone());
            VecDeque::new()
        });
        requests.push_back(sender);
        turn
    }

    /// Sends the newest request of the client with most of them away, if that is not the one that comes.
    fn make_room(&mut self, client: &ClientId) -> bool {
        let own = self.waiting.get(client).map_or(0, VecDeque::len);
        let most = self.waiting.values_mut().max_by_key(|requests| requests.len());
        most.filter(|requests| requests.len() > own + 1).and_then(VecDeque::pop_back).is_some()
    }

    /// Gives free places to the clients that wait, in turn.
    fn hand_out(&mut self, queue: &Arc<AdmissionQueue>) {
        let mut passed = 0;
        while passed < self.turns.len()
            && self.taken < queue.places
            && let Some(client) = self.turns.pop_front()
        {
            let Some(mut requests) = self.waiting.remove(&client) else { continue };
            let mut is_served = false;
            while let Some(permit) = (!is_served && !requests.is_empty()).then(|| self.take(queue, &client)).flatten() {
                let request = requests.pop_front().expect("requests is not empty");
                is_served = request.send(permit).map_err(|permit| self.undo(permit)).is_ok();
            }
            if !requests.is_empty() {
                self.waiting.insert(client.clone(), requests);
                self.turns.push_back(client);
                passed = if is_served { 0 } else { passed + 1 };
            }
        }
    }

    /// Takes back a permit whose receiver has gone. Dropping it would lock the queue again.
    fn undo(&mut self, mut permit: Permit) {
        if let Some((_, client)) = permit.0.take() {
            self.give_back(&client);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some((queue, client)) = self.0.take() else { return };
        let mut state = queue.state();
        state.give_back(&client);
        state.hand_out(&queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn client(number: u8) -> ClientId {
        ClientId::Network(IpAddr::from([192, 0, 2, number]))
    }

    /// Polls once: whether a request has entered, waits or was rejected.
    fn poll(
        future: std::pin::Pin<&mut impl Future<Output = Result<Permit, ApiError>>>,
    ) -> Option<Result<Permit, ApiError>> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(result) => Some(result),
            std::task::Poll::Pending => None,
        }
    }

    fn in_runtime(test: impl FnOnce()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        test();
    }

    #[test]
    fn one_client_holds_at_most_its_share_of_the_places() {
        let queue = AdmissionQueue::new(4, 2, 8, Duration::from_secs(60));
        let held: Vec<Permit> = (0..8).filter_map(|_| queue.try_enter(&client(1))).collect();
        assert_eq!(held.len(), 2);
        assert!(queue.try_enter(&client(2)).is_some());
        drop(held);
        assert!(queue.state().running.is_empty() && queue.state().taken == 0);
    }

    #[test]
    fn clients_that_wait_take_turns_however_many_requests_each_has() {
        in_runtime(|| {
            let queue = AdmissionQueue::new(1, 1, 8, Duration::from_secs(60));
            let first = queue.try_enter(&client(0)).unwrap();
            let (one, other) = (client(1), client(2));
            let mut greedy: Vec<_> = (0..4).map(|_| Box::pin(queue.enter(&one))).collect();
            assert!(greedy.iter_mut().all(|request| poll(request.as_mut()).is_none()));
            let mut modest = Box::pin(queue.enter(&other));
            assert!(poll(modest.as_mut()).is_none());
            drop(first);
            let second = poll(greedy[0].as_mut()).unwrap().unwrap();
            assert!(poll(modest.as_mut()).is_none());
            drop(second);
            // Three requests of the first client came earlier, but it is the other's turn.
            assert!(poll(greedy[1].as_mut()).is_none());
            let third = poll(modest.as_mut()).unwrap().unwrap();
            drop(third);
            assert!(poll(greedy[1].as_mut()).is_some());
        });
    }

    #[test]
    fn a_client_that_has_gone_leaves_its_turn_to_the_next() {
        in_runtime(|| {
            let queue = AdmissionQueue::new(1, 1, 8, Duration::from_secs(60));
            let first = queue.try_enter(&client(0)).unwrap();
            let (one, other) = (client(1), client(2));
            let mut gone = Box::pin(queue.enter(&one));
            let mut next = Box::pin(queue.enter(&other));
            assert!(poll(gone.as_mut()).is_none() && poll(next.as_mut()).is_none());
            drop(gone);
            drop(first);
            assert!(poll(next.as_mut()).unwrap().is_ok());
            assert_eq!(queue.state().taken, 0);
        });
    }

    #[test]
    fn a_full_queue_sends_the_newest_request_of_the_greediest_client_away() {
        in_runtime(|| {
            let queue = AdmissionQueue::new(1, 1, 3, Duration::from_secs(60));
            let _first = queue.try_enter(&client(0)).unwrap();
            let (one, other) = (client(1), client(2));
            let mut greedy: Vec<_> = (0..3).map(|_| Box::pin(queue.enter(&one))).collect();
            assert!(greedy.iter_mut().all(|request| poll(request.as_mut()).is_none()));
            assert!(poll(Box::pin(queue.enter(&one)).as_mut()).unwrap().is_err());
            let mut modest = Box::pin(queue.enter(&other));
            assert!(poll(modest.as_mut()).is_none());
            assert!(poll(greedy[2].as_mut()).unwrap().is_err() && poll(greedy[0].as_mut()).is_none());
        });
    }
}
