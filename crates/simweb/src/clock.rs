//! The publishing clock: the time by which articles are published, independent of the system clock.
//!
//! Tests advance the clock to get the articles of the next day without waiting; a demo lets it run a thousand times
//! faster.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A clock that is stopped or runs at its own speed, and can be advanced.
#[derive(Debug)]
pub struct Clock {
    millis: AtomicI64,
    speed: f64,
    began: Instant,
}

impl Clock {
    pub fn new(start: Timestamp, speed: f64) -> Self {
        Clock { millis: AtomicI64::new(start.as_millisecond()), speed, began: Instant::now() }
    }

    pub fn now(&self) -> Timestamp {
        let run = if self.speed > 0.0 { self.began.elapsed().as_secs_f64() * self.speed * 1000.0 } else { 0.0 };
        let millis = self.millis.load(Ordering::Acquire).saturating_add(run as i64);
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }

    pub fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX / 4);
        self.millis.fetch_add(millis, Ordering::AcqRel);
    }
}
