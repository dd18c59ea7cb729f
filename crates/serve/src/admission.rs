//! Admission control: how many requests run at once, how many wait, and when the rest is rejected.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::ApiError;

/// A bounded queue: `permits` requests run, `waiting` more wait up to `max_wait`, all others get 503.
#[derive(Debug)]
pub(crate) struct AdmissionQueue {
    permits: Arc<Semaphore>,
    waiting: Semaphore,
    max_wait: Duration,
}

impl AdmissionQueue {
    pub fn new(permits: usize, waiting: usize, max_wait: Duration) -> AdmissionQueue {
        AdmissionQueue { permits: Arc::new(Semaphore::new(permits)), waiting: Semaphore::new(waiting), max_wait }
    }

    /// Waits for a permit to run.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let busy = || ApiError::busy("the server is busy; try again in a moment", 2);
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let _slot = self.waiting.try_acquire().map_err(|_| busy())?;
        match tokio::time::timeout(self.max_wait, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy()),
        }
    }
}
