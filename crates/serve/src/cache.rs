//! LRU cache of expensive answers.
//!
//! An answer is valid as long as the same generations are open. The client's scope is part of the key.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use tidings_store::tokens::Scope;

use crate::compression::etag;
use crate::window_limiter::ClientId;

/// Answers that take less are cheaper to compute than to keep.
pub(crate) const MIN_CACHED_TIME: Duration = Duration::from_millis(20);
/// Size of the cache and of the largest entry.
const MOST_BYTES: usize = 32 << 20;
const LARGEST_BYTES: usize = 1 << 20;

/// Request URI, open generations and scope of the client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub request: String,
    pub opened: u64,
    pub scope: Option<Scope>,
    /// The client, if its answers depend on what it was shown before.
    pub client: Option<ClientId>,
}

impl Key {
    /// The ETag of the answer, known before the answer is computed. `seed` differs between processes, in which `opened` may
    /// count other states of the corpus.
    pub fn tag(&self, seed: u64) -> String {
        let text = format!("{seed} {} {:?} {:?} {}", self.opened, self.scope, self.client, self.request);
        etag(text.as_bytes())
    }
}

/// Answers by key, evicted in least-recently-used order.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The state of the corpora that the answers are of.
    opened: u64,
    answers: HashMap<Key, (Bytes, u64)>,
    bytes: usize,
    /// Logical clock of accesses; the entry with the smallest is evicted first.
    clock: u64,
}

impl Cache {
    pub fn get(&self, key: &Key) -> Option<Bytes> {
        let mut kept = self.0.lock().expect("no panic while held");
        kept.keep_state(key.opened);
        kept.clock += 1;
        let now = kept.clock;
        let (answer, last_use) = kept.answers.get_mut(key)?;
        *last_use = now;
        Some(answer.clone())
    }

    pub fn put(&self, key: Key, answer: Bytes) {
        if answer.len() > LARGEST_BYTES {
            return;
        }
        let mut kept = self.0.lock().expect("no panic while held");
        kept.keep_state(key.opened);
        if kept.opened > key.opened {
            return;
        }
        kept.clock += 1;
        let now = kept.clock;
        kept.bytes += size(&key, &answer);
        if let Some((old, _)) = kept.answers.insert(key.clone(), (answer, now)) {
            kept.bytes -= size(&key, &old);
        }
        while kept.bytes > MOST_BYTES {
            let oldest = kept.answers.iter().min_by_key(|(_, (_, last_use))| *last_use).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            if let Some((answer, _)) = kept.answers.remove(&oldest) {
                kept.bytes -= size(&oldest, &answer);
            }
        }
    }
}

impl Kept {
    /// Drops the answers of earlier states: no request can ask for them, and a text of them may have been removed.
    fn keep_state(&mut self, opened: u64) {
        if opened > self.opened {
            *self = Kept { opened, ..Kept::default() };
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
    fn the_least_recently_used_answer_is_evicted_and_scopes_are_separate() {
        let cache = Cache::default();
        let key = |number: usize, scope| Key { request: format!("/q?{number}"), opened: 1, scope, client: None };
        let large = Bytes::from(vec![b'x'; LARGEST_BYTES - 1000]);
        cache.put(key(0, None), large.clone());
        for number in 1..100 {
            cache.put(key(number, None), large.clone());
            assert!(cache.get(&key(0, None)).is_some());
        }
        assert!(cache.get(&key(1, None)).is_none() && cache.get(&key(99, None)).is_some());
        assert!(cache.get(&key(99, Some(Scope::Text))).is_none());
        cache.put(key(99, None), Bytes::from_static(b"small"));
        let later = Key { opened: 2, ..key(99, None) };
        {
            let kept = cache.0.lock().unwrap();
            assert_eq!(kept.bytes, kept.answers.iter().map(|(key, (answer, _))| size(key, answer)).sum::<usize>());
        }
        assert!(cache.get(&later).is_none());
        cache.put(key(99, None), large);
        let kept = cache.0.lock().unwrap();
        assert!(kept.answers.is_empty(), "answers of an earlier state are dropped, and not taken again");
        assert_eq!(kept.bytes, kept.answers.iter().map(|(key, (answer, _))| size(key, answer)).sum::<usize>());
    }
}
