//! Traces of judged documents, so that a day that has grown is not judged again as a whole.
//!
//! A verdict follows from the text and from what the store answers. While a store answers every question of a document
//! as before, the document has the same verdict and adds the same blocks and fingerprints: it is *replayed* instead of
//! judged. Documents that come in between change the answers for their own fingerprints only, so that the others are
//! exactly what a judgement of all documents gives. A fingerprint that is common among earlier days has the same answer
//! for ever and is not in a trace; one that is common only with those of the day stays common until a document loses it.

use std::collections::{HashMap, HashSet};

/// What a judgement asked the store, and what it added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The fingerprints that were looked up, and whose blocks of the day matter.
    pub(crate) looked_up: Vec<u64>,
    /// The fingerprints that were found in so many blocks that further ones do not matter.
    pub(crate) common: Vec<u64>,
    /// The encoded blocks that were added.
    pub(crate) blocks: Vec<Vec<u8>>,
    /// The fingerprints that were added, each with the index of its block.
    pub(crate) added: Vec<(u64, u32)>,
}

impl Trace {
    /// Serializes it.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        let lengths = [self.looked_up.len(), self.common.len(), self.blocks.len(), self.added.len()];
        lengths.into_iter().for_each(|len| push_u32(len, bytes));
        let asked = self.looked_up.iter().chain(&self.common);
        asked.for_each(|fingerprint| bytes.extend(fingerprint.to_le_bytes()));
        for block in &self.blocks {
            push_u32(block.len(), bytes);
            bytes.extend(block);
        }
        for (fingerprint, block) in &self.added {
            bytes.extend(fingerprint.to_le_bytes());
            bytes.extend(block.to_le_bytes());
        }
    }

    /// Deserializes the output of [`Trace::pack`]; returns `None` for malformed input.
    pub fn unpack(bytes: &[u8]) -> Option<Trace> {
        let mut rest = bytes;
        let [looked_up, common] = [take_u32(&mut rest)?, take_u32(&mut rest)?];
        let [blocks, added] = [take_u32(&mut rest)?, take_u32(&mut rest)?];
        let looked_up = (0..looked_up).map(|_| take_u64(&mut rest)).collect::<Option<_>>()?;
        let common = (0..common).map(|_| take_u64(&mut rest)).collect::<Option<_>>()?;
        let block = |rest: &mut &[u8]| {
            let len = take_u32(rest)? as usize;
            let (block, after) = rest.split_at_checked(len)?;
            *rest = after;
            Some(block.to_vec())
        };
        let blocks = (0..blocks).map(|_| block(&mut rest)).collect::<Option<Vec<_>>>()?;
        let added = (0..added)
            .map(|_| {
                Some((take_u64(&mut rest)?, take_u32(&mut rest).filter(|block| (*block as usize) < blocks.len())?))
            })
            .collect::<Option<_>>()?;
        rest.is_empty().then_some(Trace { looked_up, common, blocks, added })
    }

    /// The fingerprints that were added, each once.
    fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.added.iter().map(|(fingerprint, _)| *fingerprint)
    }

    /// Whether a document with this trace leaves the same in the store as one with another.
    pub fn adds_as(&self, other: &Trace) -> bool {
        (&self.blocks, &self.added) == (&other.blocks, &other.added)
    }
}

fn push_u32(number: usize, bytes: &mut Vec<u8>) {
    bytes.extend((number as u32).to_le_bytes());
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

/// The fingerprints whose blocks are not those of the earlier judgement.
#[derive(Debug, Clone, Default)]
pub struct ChangedFingerprints {
    changed: HashSet<u64>,
    /// By how many more blocks each of them is found in than it was before the same document.
    more_blocks: HashMap<u64, i64>,
}

impl ChangedFingerprints {
    /// Adds the fingerprints of a document that is new.
    pub fn add(&mut self, trace: &Trace) {
        self.count(trace, 1);
    }

    /// Adds the fingerprints of a document that is gone.
    pub fn remove(&mut self, trace: &Trace) {
        self.count(trace, -1);
    }

    /// Adds the fingerprints of a document that is judged again, if it leaves something else in the store.
    pub fn replace(&mut self, before: &Trace, after: &Trace) {
        if !before.adds_as(after) {
            self.remove(before);
            self.add(after);
        }
    }

    fn count(&mut self, trace: &Trace, blocks: i64) {
        for fingerprint in trace.fingerprints() {
            self.changed.insert(fingerprint);
            *self.more_blocks.entry(fingerprint).or_default() += blocks;
        }
    }

    /// Whether a document asked for one of them, so that it has to be judged again.
    pub fn affect(&self, trace: &Trace) -> bool {
        if self.changed.is_empty() {
            return false;
        }
        // A common fingerprint stays common unless it has fewer blocks than before; a document that is judged again because
        // of that gives it one, so that those after it are not affected.
        let is_rarer = |fingerprint: &u64| self.more_blocks.get(fingerprint).is_some_and(|more| *more < 0);
        trace.looked_up.iter().any(|fingerprint| self.changed.contains(fingerprint))
            || trace.common.iter().any(is_rarer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deduplicator, FingerprintStore, Origin, Rule, Scope, StoreFiles, Text};
    use proptest::prelude::*;

    fn trace() -> Trace {
        let blocks = vec![vec![7, 8], Vec::new()];
        Trace { looked_up: vec![1, 2, 3], common: vec![5], blocks, added: vec![(2, 0), (9, 1)] }
    }

    #[test]
    fn a_trace_is_read_back_and_a_truncated_one_is_rejected() {
        let mut bytes = Vec::new();
        trace().pack(&mut bytes);
        assert_eq!(Trace::unpack(&bytes), Some(trace()));
        (0..bytes.len()).for_each(|len| assert_eq!(Trace::unpack(&bytes[..len]), None, "{len}"));
        let mut wrong = Vec::new();
        Trace { added: vec![(2, 2)], ..trace() }.pack(&mut wrong);
        assert_eq!(Trace::unpack(&wrong), None, "a block that is not there");
    }

    #[test]
    fn documents_are_affected_by_fingerprints_that_they_looked_up() {
        let mut changed = ChangedFingerprints::default();
        assert!(!changed.affect(&trace()));
        changed.add(&Trace { added: vec![(4, 0)], ..Trace::default() });
        assert!(!changed.affect(&trace()));
        changed.add(&Trace { added: vec![(3, 0)], ..Trace::default() });
        assert!(changed.affect(&trace()));
        assert!(trace().adds_as(&Trace { looked_up: Vec::new(), ..trace() }));
    }

    #[test]
    fn a_common_fingerprint_stays_common_until_a_document_loses_it() {
        let asked = Trace { common: vec![5], ..Trace::default() };
        let with = |fingerprints: &[u64]| Trace {
            blocks: vec![Vec::new()],
            added: fingerprints.iter().map(|fingerprint| (*fingerprint, 0)).collect(),
            ..Trace::default()
        };
        let mut changed = ChangedFingerprints::default();
        changed.add(&with(&[5]));
        changed.replace(&with(&[5, 6]), &with(&[5]));
        assert!(!changed.affect(&asked), "further blocks do not matter");
        changed.replace(&with(&[5]), &with(&[6]));
        assert!(!changed.affect(&asked), "a new document has it instead");
        changed.remove(&with(&[5]));
        assert!(changed.affect(&asked));
        changed.replace(&with(&[]), &with(&[5]));
        assert!(!changed.affect(&asked), "a document that was judged again has it now");
    }

    /// Texts that share sentences, so that many are copies in part, and sentences that share phrases, which get common.
    fn text(sentences: &[u8], rule: &Rule) -> Text {
        let sentence = |number: &u8| {
            let phrase = (0..12).map(|word| format!("phrase{}of{}", word * 5, number % 3));
            let words: Vec<String> = phrase.chain((0..12).map(|word| format!("word{}of{number}", word * 7))).collect();
            words.join(" ") + "."
        };
        let sentences: Vec<String> = sentences.iter().map(sentence).collect();
        Text::new(sentences.chunks(2).map(|pair| pair.join(" ")).collect::<Vec<_>>().iter().map(String::as_str), rule)
    }

    fn deduplicator(folder: &std::path::Path, rule: Rule) -> Deduplicator {
        let store = FingerprintStore::new(StoreFiles::default(), folder, 1 << 20).unwrap();
        Deduplicator::new(rule, Scope::All, store)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn replayed_documents_have_the_verdicts_of_a_complete_judgement(
            documents in prop::collection::vec((prop::collection::vec(0u8..20, 1..8), any::<bool>()), 1..16)
        ) {
            let rule = Rule::default();
            let texts: Vec<(Text, bool)> = documents.iter().map(|(text_of, is_early)| (text(text_of, &rule), *is_early)).collect();
            let name = |at: usize| format!("document {at}");
            let judge = |deduplicator: &mut Deduplicator, at: usize, text: &Text| {
                let name = name(at);
                deduplicator.judge_traced(text, &Origin { name: &name, ..Origin::default() }).unwrap()
            };
            let folder = tempfile::tempdir().unwrap();
            let mut early = deduplicator(folder.path(), rule);
            let mut known = Vec::new();
            for (at, (text, is_early)) in texts.iter().enumerate() {
                known.push(is_early.then(|| judge(&mut early, at, text)));
            }
            let [once, grown] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            let mut whole = deduplicator(once.path(), rule);
            let mut growing = deduplicator(grown.path(), rule);
            let mut changed = ChangedFingerprints::default();
            for ((at, (text, _)), known) in texts.iter().enumerate().zip(known) {
                let (expected, _) = judge(&mut whole, at, text);
                let verdict = match known {
                    Some((verdict, trace)) if !changed.affect(&trace) => {
                        growing.replay(&trace, 0).unwrap();
                        verdict
                    }
                    known => {
                        let (verdict, trace) = judge(&mut growing, at, text);
                        match known {
                            Some((_, before)) => changed.replace(&before, &trace),
                            None => changed.add(&trace),
                        }
                        verdict
                    }
                };
                prop_assert_eq!((verdict.paragraphs, verdict.sources), (expected.paragraphs, expected.sources));
            }
            let files = [whole, growing].map(|deduplicator| {
                let flushed = deduplicator.flush().unwrap();
                let runs = flushed.runs.iter().map(|run| std::fs::read(run.path()).unwrap()).collect::<Vec<_>>();
                (runs, std::fs::read(flushed.blocks.path()).unwrap())
            });
            prop_assert!(files[0] == files[1], "the same fingerprints and blocks");
        }
    }
}
