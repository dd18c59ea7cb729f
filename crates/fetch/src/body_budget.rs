//! Memory budget for response bodies: semaphores by size class.
//!
//! Every response has a small buffer. A body that outgrows it takes a permit of the next size class that fits and keeps
//! the smaller one, so the holders of the largest class never wait, there is no deadlock, and large or slow bodies
//! cannot take the memory of normal ones.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::settings::Settings;

/// Upper size of the first shared class; a body beyond it is called large.
const FIRST_CLASS_BYTES: usize = 128 << 10;

/// The budget, shared by all requests of a crawl.
#[derive(Clone)]
pub(crate) struct BodyBudget {
    /// Size of the buffer that every response has without a permit.
    pub(crate) small_bytes: usize,
    classes: [(usize, Arc<Semaphore>); 3],
}

/// Memory reserved for one body; it returns to the budget on drop.
#[derive(Default)]
pub(crate) struct Reservation {
    bytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Reservation {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if it is of one of the few large classes.
    pub(crate) fn is_large(&self) -> bool {
        self.bytes > FIRST_CLASS_BYTES
    }
}

impl BodyBudget {
    /// Splits the memory of the settings: a quarter for small buffers, a quarter for each class.
    pub(crate) fn new(settings: &Settings, concurrency: usize) -> BodyBudget {
        let share = settings.body_memory_bytes / 4;
        let sizes = [FIRST_CLASS_BYTES, 1 << 20, settings.max_body_bytes];
        BodyBudget {
            small_bytes: (share / concurrency.max(1)).clamp(16 << 10, FIRST_CLASS_BYTES),
            classes: sizes.map(|bytes| (bytes, Arc::new(Semaphore::new((share / bytes.max(1)).max(2))))),
        }
    }

    /// Enlarges a reservation to at least this many bytes, waiting for a permit if necessary.
    pub(crate) async fn enlarge(&self, reservation: &mut Reservation, bytes: usize) {
        if reservation.bytes == 0 {
            reservation.bytes = self.small_bytes;
        }
        let class = self.classes.iter().find(|(size, _)| *size >= bytes && *size > reservation.bytes);
        if let Some((size, permits)) = class.filter(|_| bytes > reservation.bytes) {
            reservation.permits.extend(permits.clone().acquire_owned().await);
            reservation.bytes = *size;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn budget() -> BodyBudget {
        let settings = Settings { body_memory_bytes: 16 << 20, max_body_bytes: 2 << 20, ..Settings::default() };
        BodyBudget::new(&settings, 1000)
    }

    /// Polls once: a permit is available at once or not at all, so no runtime is needed.
    fn try_enlarge(budget: &BodyBudget, reservation: &mut Reservation, bytes: usize) -> bool {
        let waiting = pin!(budget.enlarge(reservation, bytes));
        waiting.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn small_bodies_need_no_permit() {
        let budget = budget();
        let mut all: Vec<Reservation> = (0..5000).map(|_| Reservation::default()).collect();
        assert!(all.iter_mut().all(|one| try_enlarge(&budget, one, 10 << 10)));
        assert!(all.iter().all(|one| one.bytes() == 16 << 10 && !one.is_large()));
    }

    #[test]
    fn a_class_is_bounded_and_a_dropped_reservation_frees_its_permit() {
        let budget = budget();
        let mut held: Vec<Reservation> = Vec::new();
        loop {
            let mut one = Reservation::default();
            if !try_enlarge(&budget, &mut one, 2 << 20) {
                break;
            }
            held.push(one);
        }
        // A quarter of 16 MiB holds two bodies of 2 MiB.
        assert_eq!(held.len(), 2);
        held.pop();
        assert!(try_enlarge(&budget, &mut Reservation::default(), 2 << 20));
    }

    #[test]
    fn a_full_large_class_does_not_stop_ordinary_bodies() {
        let budget = budget();
        let mut large = [Reservation::default(), Reservation::default()];
        assert!(large.iter_mut().all(|one| try_enlarge(&budget, one, 2 << 20)));
        assert!(try_enlarge(&budget, &mut Reservation::default(), 100 << 10));
        assert!(try_enlarge(&budget, &mut Reservation::default(), 1 << 20));
    }

    #[test]
    fn a_growing_body_keeps_its_smaller_permit_and_is_large_at_last() {
        let budget = budget();
        let mut one = Reservation::default();
        for (bytes, reserved) in [(1, 16 << 10), (17 << 10, 128 << 10), (129 << 10, 1 << 20), (2 << 20, 2 << 20)] {
            assert!(try_enlarge(&budget, &mut one, bytes));
            assert_eq!(one.bytes(), reserved);
        }
        assert!(one.is_large());
        assert_eq!(one.permits.len(), 3);
    }

    #[test]
    fn a_body_that_fits_takes_no_second_permit() {
        let budget = budget();
        let mut one = Reservation::default();
        assert!(try_enlarge(&budget, &mut one, 100 << 10) && try_enlarge(&budget, &mut one, 128 << 10));
        assert_eq!(one.permits.len(), 1);
    }
}
