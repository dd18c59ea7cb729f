//! Frozen states of the corpus: kept under a name, cited, and asked again with `as_of`.
//!
//! [`freeze`] keeps the index of a language as it is by hard links ([`tidings_index::freeze`]). Further days, merges and
//! rebuilds leave a frozen state as it was. Takedowns and hiding do not: what they delete is deleted in frozen states too, and
//! the record of the state counts it, so that every later answer says what is missing.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tidings_index::{Deletion, Settings, Snapshot, Writer};
pub use tidings_serve::frozen_state;
use tidings_store::frozen::{self as table, FrozenCost, FrozenRecord, Withdrawal};
use tidings_store::{Home, digest, rfc3339};

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::{bytes, count};
use crate::outcome::Outcome;
use crate::usage_error::UsageError;

/// A state that was frozen, in each of its languages.
#[derive(Debug, Clone, Serialize)]
pub struct FreezeOutcome {
    /// The states.
    pub frozen: Vec<FrozenRow>,
}

/// A frozen state of a language with what it takes on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrozenRow {
    /// The language.
    pub corpus: String,
    /// The record of the state.
    #[serde(flatten)]
    pub record: FrozenRecord,
    /// What it takes on the disk.
    #[serde(flatten)]
    pub cost: FrozenCost,
}

impl FrozenRow {
    /// The documents that takedowns took out since the freeze.
    pub fn withdrawn_documents(&self) -> u64 {
        self.record.withdrawn.iter().map(|row| row.documents).sum()
    }
}

impl Outcome for FreezeOutcome {}

impl fmt::Display for FreezeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for FrozenRow { corpus, record, cost } in &self.frozen {
            let (documents, tokens) = (count(record.documents, "document"), count(record.tokens, "token"));
            writeln!(f, "froze {corpus} state {} as {}: {documents}, {tokens}", record.generation, record.name)?;
            let digest = record.digest.as_deref().unwrap_or("unknown");
            let (all, own) = (bytes(cost.bytes as f64), bytes(cost.own_bytes as f64));
            writeln!(f, "  checksum {digest}; {all}, of which {own} are not shared with the index today")?;
        }
        let name = self.frozen.first().map_or("NAME", |row| row.record.name.as_str());
        writeln!(f, "ask it with --as-of {name}")
    }
}

/// A frozen state that was deleted.
#[derive(Debug, Clone, Serialize)]
pub struct UnfreezeOutcome {
    /// The name.
    pub name: String,
    /// The languages that had a state of this name.
    pub languages: Vec<String>,
    /// What the deletion freed.
    pub freed_bytes: u64,
}

impl Outcome for UnfreezeOutcome {}

impl fmt::Display for UnfreezeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnfreezeOutcome { name, languages, freed_bytes } = self;
        writeln!(f, "deleted the frozen state {name} of {}: {} freed", languages.join(", "), bytes(*freed_bytes as f64))
    }
}

/// All frozen states, by language and time.
pub fn list(home: &Home) -> Result<Vec<FrozenRow>> {
    let mut rows = Vec::new();
    for corpus in table::languages(home)? {
        for record in table::list(home, &corpus)? {
            let cost = table::cost(home, &corpus, &record.name)?;
            rows.push(FrozenRow { corpus: corpus.clone(), record, cost });
        }
    }
    Ok(rows)
}

/// Freezes the present state of a language, or of all, under a name.
pub fn freeze(pipeline: &Pipeline, name: &str, language: Option<&str>) -> Result<FreezeOutcome> {
    if !table::is_name(name) {
        let message = format!("invalid name of a state `{name}`; use letters, digits and hyphens");
        return Err(UsageError::new(message).into());
    }
    let context = RunContext::open(pipeline, "freeze")?;
    let home = &context.home;
    let indexed = home.indexed()?;
    let languages: Vec<String> = match language {
        Some(code) if !indexed.iter().any(|known| known == code) => {
            let message = format!("no index for language {code}; available: {}", indexed.join(", "));
            return Err(UsageError::new(message).into());
        }
        Some(code) => vec![code.to_owned()],
        None if indexed.is_empty() => bail!("no index yet; `tidings run` makes one"),
        None => indexed,
    };
    for code in &languages {
        if let Some(known) = table::read(home, code, name)? {
            let day = known.frozen.get(..10).unwrap_or_default();
            let message = format!(
                "{code} has a frozen state {name} of {day}; what was cited must not change: choose another name, or delete it \
                 with `tidings corpus unfreeze {name}`"
            );
            return Err(UsageError::new(message).into());
        }
    }
    let digests = digest::of_languages(home, u64::MAX)?.unwrap_or_default();
    let mut frozen = Vec::new();
    for code in languages {
        context.check_cancelled()?;
        let folder = table::begin(home, &code, name)?;
        let snapshot = tidings_index::freeze(&home.index_of(&code), &folder)
            .with_context(|| format!("cannot freeze the index of {code}"))?;
        let record = FrozenRecord {
            name: name.to_owned(),
            frozen: rfc3339(context.started),
            generation: snapshot.generation(),
            digest: digests.get(&code).cloned(),
            documents: snapshot.documents(),
            tokens: snapshot.tokens(),
            program: crate::program(),
            withdrawn: Vec::new(),
        };
        table::write(home, &code, &record)?;
        let cost = table::cost(home, &code, name)?;
        frozen.push(FrozenRow { corpus: code, record, cost });
    }
    let outcome = FreezeOutcome { frozen };
    context.log_outcome(&outcome)?;
    Ok(outcome)
}

/// Deletes a frozen state of a language, or of all.
pub fn unfreeze(pipeline: &Pipeline, name: &str, language: Option<&str>) -> Result<UnfreezeOutcome> {
    let context = RunContext::open(pipeline, "unfreeze")?;
    let home = &context.home;
    let rows = list(home)?;
    let is_wanted = |row: &&FrozenRow| row.record.name == name && language.is_none_or(|code| code == row.corpus);
    let wanted: Vec<&FrozenRow> = rows.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let names: BTreeSet<&str> = rows.iter().map(|row| row.record.name.as_str()).collect();
        let known: Vec<&str> = names.into_iter().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(UsageError::new(format!("no frozen state {name}; there are: {known}")).into());
    }
    for row in &wanted {
        table::remove(home, &row.corpus, name)?;
    }
    let outcome = UnfreezeOutcome {
        name: name.to_owned(),
        languages: wanted.iter().map(|row| row.corpus.clone()).collect(),
        freed_bytes: wanted.iter().map(|row| row.cost.own_bytes).sum(),
    };
    context.log_outcome(&outcome)?;
    Ok(outcome)
}

/// Deletes documents from all frozen states as from the live indexes, by their ids and by a condition on addresses, and notes
/// the numbers. What was deleted before and not noted because a process was stopped is noted as well.
pub fn withdraw(home: &Home, time: &str, ids: &[u128], is_unwanted: &dyn Fn(&str) -> bool) -> Result<u64> {
    let mut all = 0;
    for language in table::languages(home)? {
        for record in table::list(home, &language)? {
            let name = record.name.clone();
            let deleted = withdraw_from(home, &language, record, time, |writer| {
                let (by_id, by_address) = (writer.delete_ids(ids)?, writer.delete_where(is_unwanted)?);
                let (documents, tokens) = (by_id.documents + by_address.documents, by_id.tokens + by_address.tokens);
                // Deleted documents may be left by a run that was stopped.
                writer.expunge()?;
                Ok(Deletion { documents, tokens })
            });
            all += deleted.with_context(|| {
                format!(
                    "cannot delete pages from the frozen state {name} of {language}; if it is damaged, delete it with \
                     `tidings corpus unfreeze {name} --lang {language}`, then repeat this command"
                )
            })?;
        }
    }
    Ok(all)
}

/// Deletes documents from a frozen state and brings its record up to date; returns their number.
fn withdraw_from(
    home: &Home,
    language: &str,
    mut record: FrozenRecord,
    time: &str,
    delete: impl FnOnce(&mut Writer) -> Result<Deletion>,
) -> Result<u64> {
    let mut writer = Writer::open(&table::index_of(home, language, &record.name), Settings::default())?;
    let deleted = delete(&mut writer)?;
    // The index itself says what is missing: a process may have been stopped before it was noted.
    let noted = |count: fn(&Withdrawal) -> u64| record.withdrawn.iter().map(count).sum::<u64>();
    let snapshot = writer.snapshot();
    let row = Withdrawal {
        time: time.to_owned(),
        documents: record.documents.saturating_sub(snapshot.documents() + noted(|row| row.documents)),
        tokens: record.tokens.saturating_sub(snapshot.tokens() + noted(|row| row.tokens)),
    };
    if row.documents > 0 {
        record.withdrawn.push(row);
        table::write(home, language, &record)?;
    }
    Ok(deleted.documents)
}

/// Hides the documents that are hidden from all results in the frozen states of a language, too.
pub(crate) fn hide(home: &Home, language: &str, time: &str, hidden: &BTreeSet<String>) -> Result<u64> {
    let ids: Vec<u128> = hidden.iter().filter_map(|name| u128::from_str_radix(name, 16).ok()).collect();
    let addresses: Vec<&str> = hidden.iter().map(String::as_str).collect();
    let mut all = 0;
    for record in table::list(home, language)? {
        all += withdraw_from(home, language, record, time, |writer| {
            let (by_id, by_address) = (writer.delete_ids(&ids)?, writer.delete_urls(&addresses)?);
            let (documents, tokens) = (by_id.documents + by_address.documents, by_id.tokens + by_address.tokens);
            Ok(Deletion { documents, tokens })
        })?;
    }
    Ok(all)
}

/// Opens the frozen state of a language that `as_of` means: its name, or the day on which it was frozen.
pub fn open(home: &Home, language: &str, as_of: &str) -> Result<(FrozenRecord, Snapshot)> {
    let Some(record) = table::find(home, language, as_of)? else {
        return Err(UsageError::new(table::not_found(home, language, as_of)?).into());
    };
    let snapshot = Snapshot::open(&table::index_of(home, language, &record.name)).with_context(|| {
        format!("cannot read the frozen state {} of {language}; restore it from a backup, or delete it with `tidings corpus unfreeze {}`", record.name, record.name)
    })?;
    Ok((record, snapshot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;
    use crate::stage::StageId;
    use crate::stage::compile::Compile;
    use crate::{rebuild, takedown, test_home};
    use tidings_query::MatchRule;
    use tidings_query::engine::Limits;
    use tidings_query::question::{
        ConcordanceRequest, FreqRequest, Question, QuestionContext, TimelineRequest, request,
    };

    /// Answers from a state, as text: lines, a word list and a timeline.
    fn answers(home: &Home, as_of: Option<&str>) -> Vec<String> {
        let corpus = Corpus::open_as_of(home, Some("en"), as_of).unwrap();
        let context = QuestionContext { frozen: corpus.frozen.as_ref(), ..QuestionContext::new(&corpus.engine, "en") };
        fn answer<Q: Question>(values: &str, context: &QuestionContext<'_>) -> String {
            let asked: Q = request(serde_json::from_str(values).unwrap()).unwrap();
            serde_json::to_string(&asked.answer(context).unwrap()).unwrap()
        }
        vec![
            answer::<ConcordanceRequest>(r#"{"q": "the"}"#, &context),
            answer::<FreqRequest>(r#"{"q": "[]", "size": 1000}"#, &context),
            answer::<TimelineRequest>(r#"{"q": ["the"]}"#, &context),
        ]
    }

    fn hits(home: &Home, as_of: Option<&str>, query: &str) -> u64 {
        let corpus = Corpus::open_as_of(home, Some("en"), as_of).unwrap();
        corpus.search(query, MatchRule::default(), None).unwrap().1.count(&Limits::default()).hits
    }

    #[test]
    fn a_citation_asked_again_after_ten_days_merges_and_a_rebuild_is_equal() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        let present = answers(home, None);
        let outcome = freeze(&pipeline, "cited", None).unwrap();
        assert!(outcome.to_string().ends_with("ask it with --as-of cited\n"), "{outcome}");
        let cited = answers(home, Some("cited"));
        // But for the name of the state the answers are those of the present one.
        let without = |answer: &String| {
            let mut value: serde_json::Value = serde_json::from_str(answer).unwrap();
            value["about"].as_object_mut().unwrap().remove("frozen");
            value.to_string()
        };
        assert_eq!(cited.iter().map(without).collect::<Vec<_>>(), present.iter().map(without).collect::<Vec<_>>());
        for day in 3..=12 {
            let name = format!("ferry{day}");
            let day = format!("2026-03-{day:02}");
            let paragraph = format!(
                "On this {day} the new ferry {name} left the harbour with the mayor and a hundred guests, \
                and the people on the island waited for it with music until late in the evening, as the paper said."
            );
            let page = test_home::article(&name, "en", &day, &[&paragraph, &paragraph.replace("mayor", "captain")]);
            test_home::put_pages(home.root(), &day, "a.0", &[page]);
            test_home::run_derived(&pipeline);
        }
        let later = Corpus::open(home, Some("en")).unwrap();
        assert!(later.engine.snapshot().documents() > 3, "the days were added");
        assert_eq!(answers(home, Some("cited")), cited);
        rebuild::remake(&pipeline, StageId::Clean).unwrap();
        home.clear_index(None).unwrap();
        pipeline.run(&Compile::default()).unwrap();
        assert_eq!(answers(home, Some("cited")), cited);
        assert_eq!(answers(home, Some(&cited_day(home))), cited, "the day names the state, too");
        let row = list(home).unwrap().into_iter().find(|row| row.corpus == "en").unwrap();
        assert!(row.cost.own_bytes > 0 && row.cost.own_bytes <= row.cost.bytes);
        let freed = unfreeze(&pipeline, "cited", None).unwrap();
        assert_eq!((freed.languages.len(), freed.freed_bytes > row.cost.own_bytes), (2, true));
        assert!(list(home).unwrap().is_empty());
    }

    fn cited_day(home: &Home) -> String {
        table::read(home, "en", "cited").unwrap().unwrap().frozen[..10].to_owned()
    }

    #[test]
    fn a_state_is_not_frozen_twice_and_a_wrong_name_says_what_there_is() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        freeze(&pipeline, "spring", Some("en")).unwrap();
        let error = freeze(&pipeline, "spring", None).unwrap_err().to_string();
        assert!(error.contains("what was cited must not change"), "{error}");
        assert!(freeze(&pipeline, "a/b", None).is_err() && freeze(&pipeline, "x", Some("fr")).is_err());
        let error = Corpus::open_as_of(home, Some("en"), Some("autumn")).unwrap_err().to_string();
        assert!(error.contains("there are spring (20") && error.contains("seen<=DAY"), "{error}");
        assert!(unfreeze(&pipeline, "autumn", None).unwrap_err().to_string().contains("there are: spring"));
        assert!(unfreeze(&pipeline, "spring", Some("de")).is_err());
        unfreeze(&pipeline, "spring", Some("en")).unwrap();
    }

    #[test]
    fn a_takedown_reaches_into_frozen_states_which_say_so() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        freeze(&pipeline, "before", None).unwrap();
        assert_eq!(hits(home, Some("before"), "\"brigade\""), 1);
        let options = takedown::Options {
            what: Some("https://gazette.example/river".into()),
            reason: Some("asked to".into()),
            ..takedown::Options::default()
        };
        takedown::run(&pipeline, &options).unwrap();
        assert_eq!((hits(home, Some("before"), "\"brigade\""), hits(home, Some("before"), "\"ferry\"")), (0, 1));
        let corpus = Corpus::open_as_of(home, Some("en"), Some("before")).unwrap();
        let frozen = corpus.frozen.unwrap();
        assert_eq!((frozen.documents, frozen.withdrawn_documents(), frozen.withdrawn.len()), (3, 1, 1));
        assert!(
            answers(home, Some("before"))[0].contains("of the 3 documents of the state before, 1 were removed since")
        );
        // The words of the page are in no file of the state but the lexicon.
        let folder = table::index_of(home, "en", "before");
        let snapshot = Snapshot::open(&folder).unwrap();
        assert_eq!(snapshot.segments().iter().map(|live| live.segment().meta().documents).sum::<u32>(), 2);
        takedown::finish(&pipeline).unwrap();
        let again = Corpus::open_as_of(home, Some("en"), Some("before")).unwrap().frozen.unwrap();
        assert_eq!(again.withdrawn, frozen.withdrawn, "finishing twice counts nothing twice");
    }

    #[test]
    fn a_withdrawal_that_was_not_noted_because_the_process_stopped_is_noted_later() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        freeze(&pipeline, "before", None).unwrap();
        let mut writer = Writer::open(&table::index_of(home, "en", "before"), Settings::default()).unwrap();
        assert_eq!(writer.delete_where(|url| url.ends_with("/river")).unwrap().documents, 1);
        drop(writer);
        assert_eq!(withdraw(home, "2026-05-05T00:00:00Z", &[], &|url| url.ends_with("/river")).unwrap(), 0);
        let record = table::read(home, "en", "before").unwrap().unwrap();
        assert_eq!(record.withdrawn.iter().map(|row| row.documents).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn hidden_documents_are_hidden_in_frozen_states() {
        let (_folder, pipeline) = test_home::built();
        freeze(&pipeline, "before", None).unwrap();
        let hide = Compile { hide: vec!["https://gazette.example/river".into()], ..Compile::default() };
        pipeline.run(&hide).unwrap();
        assert_eq!(hits(pipeline.home(), Some("before"), "\"brigade\""), 0);
        pipeline.run(&Compile::default()).unwrap();
        let record = table::read(pipeline.home(), "en", "before").unwrap().unwrap();
        assert_eq!(record.withdrawn.len(), 1);
    }
}
