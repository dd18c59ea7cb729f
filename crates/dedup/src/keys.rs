//! The keys of a document: all fingerprints under which it can be looked up or stored.
//!
//! A [`Deduplicator`](crate::Deduplicator) compares two documents only if they share a fingerprint. Documents that are
//! connected by no chain of shared keys therefore cannot change each other's verdicts, and each connected component may
//! be judged by itself, on any machine. Block ids differ then, but only their order matters, and that is the order of
//! the documents.

use crate::hash::mix;
use crate::rule::{Level, Rule};
use crate::scope::{Origin, Scope, fingerprint};
use crate::units::Text;

/// The keys of a document under a rule and a scope, ascending and distinct.
pub fn keys(text: &Text, origin: &Origin<'_>, rule: &Rule, scope: Scope) -> Vec<u64> {
    let has_whole = (rule.levels.has(Level::Text) || rule.levels.has(Level::Document)) && text.words > 0;
    let page = origin.page.filter(|_| rule.levels.has(Level::Page)).map(mix);
    let paragraphs = if rule.levels.has(Level::Paragraph) { &text.paragraphs[..] } else { &[] };
    let units = paragraphs.iter().chain(&text.sentences).filter_map(|unit| unit.hash);
    let grams = text.selected_grams.iter().map(|at| text.grams[*at as usize]);
    let hashes = page.into_iter().chain(has_whole.then_some(text.hash)).chain(units).chain(grams);
    let salt = scope.salt(origin);
    let mut keys: Vec<u64> = hashes.map(|hash| fingerprint(hash, salt)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deduplicator, FingerprintStore, StoreFiles, UnitVerdict};
    use std::collections::HashMap;

    /// Documents with shared paragraphs, edited paragraphs and short lines.
    fn documents(random: &mut fastrand::Rng) -> Vec<Vec<String>> {
        let mut pool: Vec<String> = Vec::new();
        (0..120)
            .map(|_| {
                (0..random.usize(1..6))
                    .map(|_| {
                        if !pool.is_empty() && random.u8(..3) == 0 {
                            let known = &pool[random.usize(..pool.len())];
                            let keep = random.usize(1..=known.split(' ').count());
                            return known.split(' ').take(keep).collect::<Vec<_>>().join(" ");
                        }
                        let words = random.usize(1..60);
                        let text: Vec<String> = (0..words).map(|_| format!("w{}", random.u16(..4000))).collect();
                        pool.push(text.join(" "));
                        pool[pool.len() - 1].clone()
                    })
                    .collect()
            })
            .collect()
    }

    /// The verdicts on documents in their order: units and names of sources.
    fn judged(documents: &[(usize, &Text, Origin<'_>)], rule: Rule, scope: Scope) -> HashMap<usize, Verdicts> {
        let folder = tempfile::tempdir().unwrap();
        let store = FingerprintStore::new(StoreFiles::default(), folder.path(), 1 << 20).unwrap();
        let mut deduplicator = Deduplicator::new(rule, scope, store);
        let verdict = |(number, text, origin): &(usize, &Text, Origin<'_>)| {
            let verdict = deduplicator.judge(text, origin).unwrap();
            let name = |unit: &UnitVerdict| unit.of.map(|of| verdict.sources[of as usize].clone());
            let units = verdict.paragraphs.iter().chain(&verdict.sentences);
            (*number, units.map(|unit| (unit.duplicate, unit.share, name(unit))).collect())
        };
        documents.iter().map(verdict).collect()
    }

    type Verdicts = Vec<(Option<crate::MatchKind>, f32, Option<String>)>;

    fn root(of: &mut [usize], mut at: usize) -> usize {
        while of[at] != at {
            of[at] = of[of[at]];
            at = of[at];
        }
        at
    }

    #[test]
    fn components_judged_alone_have_the_verdicts_of_the_whole() {
        let mut random = fastrand::Rng::with_seed(7);
        for (levels, scope) in [
            ("paragraph", Scope::All),
            ("sentence,text", Scope::All),
            ("document", Scope::All),
            ("page,paragraph", Scope::Site),
            ("paragraph", Scope::Days(2)),
        ] {
            let rule = Rule { levels: levels.parse().unwrap(), ..Rule::default() };
            let documents = documents(&mut random);
            let texts: Vec<Text> =
                documents.iter().map(|document| Text::new(document.iter().map(String::as_str), &rule)).collect();
            let names: Vec<String> = (0..texts.len()).map(|number| number.to_string()).collect();
            let origin = |number: usize| Origin {
                name: &names[number],
                site: ["a", "b", "c"][number % 3],
                day: (number / 20) as i64,
                page: Some(number as u64 / 2),
                ..Origin::default()
            };
            let mut of: Vec<usize> = (0..texts.len()).collect();
            let mut first: HashMap<u64, usize> = HashMap::new();
            for (number, text) in texts.iter().enumerate() {
                for key in keys(text, &origin(number), &rule, scope) {
                    let other = *first.entry(key).or_insert(number);
                    let (a, b) = (root(&mut of, other), root(&mut of, number));
                    of[a.max(b)] = a.min(b);
                }
            }
            let all: Vec<_> = texts.iter().enumerate().map(|(number, text)| (number, text, origin(number))).collect();
            let whole = judged(&all, rule, scope);
            let mut components: HashMap<usize, Vec<(usize, &Text, Origin<'_>)>> = HashMap::new();
            for document in all {
                components.entry(root(&mut of, document.0)).or_default().push(document);
            }
            assert!(components.len() > 1, "{levels}");
            for component in components.values() {
                for (number, verdicts) in judged(component, rule, scope) {
                    assert_eq!(verdicts, whole[&number], "{levels}, document {number}");
                }
            }
        }
    }
}
