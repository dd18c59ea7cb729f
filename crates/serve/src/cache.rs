//! Answers that took long, kept for those who ask the same again.
//!
//! Equal states of the corpus give equal answers, so that an answer is good until something new is opened. What somebody may see is part of the request.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use tidings_store::tokens::Scope;

use crate::compression::tag_of;

/// What took less is quicker asked than kept.
pub(crate) const MIN_CACHED_TIME: Duration = Duration::from_millis(20);
/// All answers together, and the largest that is kept.
const MOST_BYTES: usize = 32 << 20;
const LARGEST_BYTES: usize = 1 << 20;

/// A request as it stands in the address, to what is open, by somebody with a right.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub request: String,
    pub opened: u64,
    pub scope: Option<Scope>,
}

impl Key {
    /// The tag of the answer, known before the answer is. `seed` is another in every process: the count of what was opened is
    /// not the same state of the corpus there.
    pub fn tag(&self, seed: u64) -> String {
        let text = format!("{seed} {} {:?} {}", self.opened, self.scope, self.request);
        tag_of(text.as_bytes())
    }
}

/// Answers by their questions.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<Key, (Bytes, u64)>,
    bytes: usize,
    /// Counts what is asked for, so that the answer that nobody wanted for the longest time is known.
    clock: u64,
}

impl Cache {
    pub fn get(&self, key: &Key) -> Option<Bytes> {
        let mut kept = self.0.lock().expect("no panic while held");
        kept.clock += 1;
        let now = kept.clock;
        let (answer, wanted) = kept.answers.get_mut(key)?;
        *wanted = now;
        Some(answer.clone())
    }

    pub fn put(&self, key: Key, answer: Bytes) {
        if answer.len() > LARGEST_BYTES {
            return;
        }
        let mut kept = self.0.lock().expect("no panic while held");
        kept.clock += 1;
        let now = kept.clock;
        kept.bytes += size(&key, &answer);
        if let Some((old, _)) = kept.answers.insert(key.clone(), (answer, now)) {
            kept.bytes -= size(&key, &old);
        }
        while kept.bytes > MOST_BYTES {
            let oldest = kept.answers.iter().min_by_key(|(_, (_, wanted))| *wanted).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            if let Some((answer, _)) = kept.answers.remove(&oldest) {
                kept.bytes -= size(&oldest, &answer);
            }
        }
    }
}

fn size(key: &Key, answer: &Bytes) -> usize {
    key.request.len() + answer.len() + size_of::<(Key, Bytes, u64)>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_asks_for_makes_room_and_rights_are_kept_apart() {
        let cache = Cache::default();
        let key = |number: usize, scope| Key { request: format!("/q?{number}"), opened: 1, scope };
        let large = Bytes::from(vec![b'x'; LARGEST_BYTES - 1000]);
        cache.put(key(0, None), large.clone());
        for number in 1..100 {
            cache.put(key(number, None), large.clone());
            assert!(cache.get(&key(0, None)).is_some());
        }
        assert!(cache.get(&key(1, None)).is_none() && cache.get(&key(99, None)).is_some());
        assert!(cache.get(&key(99, Some(Scope::Text))).is_none());
        cache.put(key(99, None), Bytes::from_static(b"small"));
        let kept = cache.0.lock().unwrap();
        assert_eq!(kept.bytes, kept.answers.iter().map(|(key, (answer, _))| size(key, answer)).sum::<usize>());
    }
}
