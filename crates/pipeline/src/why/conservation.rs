//! Conservation check: at every stage, items in = items out + dropped items, each with its rule.
//!
//! Every stage counts its output, and the next one its input; this check compares the two for every day. Items that a
//! stage has not processed yet are waiting and not lost. With `items`, every entry of the plan with status `ok` must
//! also be found among the documents or the dropped pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead as _;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tidings_index::Snapshot;
use tidings_model::{Fingerprint, FingerprintMap, Status as EntryStatus};
use tidings_store::dedup_state::{self, JudgedDays};
use tidings_store::docs::{self, Recipe};
use tidings_store::pages::PageReader;
use tidings_store::text::{self, TextRecipe};
use tidings_store::{FileDigest, Home, hidden, plan};

use crate::Pipeline;
use crate::display::{count, grouped};
use crate::outcome::{Outcome, Status};
use crate::reporter::ProgressScope;
use crate::stage::StageId;

/// The items of a stage: input, output, dropped and waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageBalance {
    /// The stage.
    pub stage: StageId,
    /// Items that it took in.
    #[serde(rename = "in")]
    pub taken: u64,
    /// Items that it gave out.
    #[serde(rename = "out")]
    pub given: u64,
    /// Items that it left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Items that wait for it.
    pub waiting: u64,
}

impl StageBalance {
    /// An empty balance.
    pub fn new(stage: StageId) -> StageBalance {
        StageBalance { stage, taken: 0, given: 0, left_out: BTreeMap::new(), waiting: 0 }
    }

    fn is_even(&self) -> bool {
        self.taken == self.given + self.left_out.values().sum::<u64>() + self.waiting
    }

    fn leave_out(&mut self, counts: &BTreeMap<String, u64>) {
        counts.iter().for_each(|(reason, number)| *self.left_out.entry(reason.clone()).or_default() += number);
    }
}

impl fmt::Display for StageBalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![format!("{} in", grouped(self.taken)), format!("{} out", grouped(self.given))];
        parts.extend(self.left_out.iter().map(|(reason, number)| format!("{} {reason}", grouped(*number))));
        if self.waiting > 0 {
            parts.push(format!("{} waiting", grouped(self.waiting)));
        }
        write!(f, "{:<9} {}", self.stage, parts.join(", "))
    }
}

/// The balances of all stages, and the discrepancies.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConservationOutcome {
    /// Whether there are no discrepancies.
    pub done: bool,
    /// The stages that have a balance, in their order.
    pub stages: Vec<StageBalance>,
    /// The discrepancies.
    pub faults: Vec<String>,
}

impl Outcome for ConservationOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for ConservationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stages.iter().try_for_each(|balance| writeln!(f, "{balance}"))?;
        if self.faults.is_empty() { writeln!(f, "no items are missing") } else { Ok(()) }
    }
}

/// Compares all stages: by the counts in the recipes, or item by item.
pub fn conservation(pipeline: &Pipeline, items: bool) -> Result<ConservationOutcome> {
    let mut balances = Balances::default();
    if items {
        balances.items(pipeline)?;
    }
    let home = pipeline.home();
    let made = balances.recipes(home)?;
    balances.later_days(home, &made)?;
    balances.made = Rc::new(made);
    for stage in StageId::ALL {
        stage.stage().balance(home, &mut balances)?;
    }
    let mut outcome = balances.outcome;
    outcome.done = outcome.faults.is_empty();
    outcome.faults.iter().for_each(|fault| log::error!("{fault}"));
    Ok(outcome)
}

/// Text files with the number of their documents, by language.
type TextFiles = BTreeMap<String, Vec<(FileDigest, u64)>>;

/// The balances, to which each stage adds its own in the order of the stages.
#[derive(Default)]
pub struct Balances {
    outcome: ConservationOutcome,
    /// The recipes of the days that have documents.
    made: Rc<BTreeMap<String, Recipe>>,
    /// The files of text, once `annotate` has been balanced.
    kept: TextFiles,
}

impl Balances {
    /// Adds something that does not add up.
    pub fn fault(&mut self, fault: String) {
        self.outcome.faults.push(fault);
    }

    /// Adds the balance of a stage. An uneven one is a fault.
    pub fn close(&mut self, balance: StageBalance) {
        if !balance.is_even() {
            let out: u64 = balance.left_out.values().sum();
            let (stage, taken, given, waiting) = (balance.stage, balance.taken, balance.given, balance.waiting);
            self.fault(format!("{stage}: {taken} in, but {given} out, {out} dropped and {waiting} waiting"));
        }
        self.outcome.stages.push(balance);
    }

    /// Counts the entries of the plan by status.
    pub(crate) fn fetch(&mut self, home: &Home) -> Result<()> {
        let mut balance = StageBalance::new(StageId::Fetch);
        plan::read(home, |row| {
            balance.taken += 1;
            match row.status.parse() {
                Ok(EntryStatus::Ok) => balance.given += 1,
                Ok(EntryStatus::New) => balance.waiting += 1,
                _ => *balance.left_out.entry(row.status.to_owned()).or_default() += 1,
            }
        })?;
        self.close(balance);
        Ok(())
    }

    /// Checks that every fetched entry has a document, a drop reason, or a day that waits.
    fn items(&mut self, pipeline: &Pipeline) -> Result<()> {
        let home = pipeline.home();
        let is_fetched = |status: &str| matches!(status.parse(), Ok(EntryStatus::Ok));
        let mut fetched: FingerprintMap<bool> = FingerprintMap::default();
        plan::read(home, |row| {
            if is_fetched(row.status) {
                fetched.insert(Fingerprint::of(row.url), false);
            }
        })?;
        let days = docs::page_days(home)?;
        let progress = ProgressScope::begin(pipeline.reporter(), "days", days.len() as u64);
        for (done, day) in (0..).zip(&days) {
            progress.show(done, &day.name);
            each_address(home, day, |url| {
                if let Some(found) = fetched.get_mut(&Fingerprint::of(url)) {
                    *found = true;
                }
            })?;
        }
        let lost: Vec<Fingerprint> = fetched.iter().filter(|(_, found)| !**found).map(|(url, _)| *url).collect();
        if !lost.is_empty() {
            let mut named = Vec::new();
            plan::read(home, |row| {
                if is_fetched(row.status) && named.len() < 5 && lost.contains(&Fingerprint::of(row.url)) {
                    named.push(row.url.to_owned());
                }
            })?;
            let (lost, named) = (count(lost.len() as u64, "page"), named.join(", "));
            self.fault(format!("fetch: {lost} with status `ok` in the plan but not in any file: {named}"));
        }
        Ok(())
    }

    /// The recipes of the cleaned days.
    fn recipes(&mut self, home: &Home) -> Result<BTreeMap<String, Recipe>> {
        let days = docs::page_days(home)?;
        let mut made = BTreeMap::new();
        let mut waiting = 0;
        for day in &days {
            let Some(recipe) = Recipe::read(home, &day.name)? else {
                waiting += 1;
                continue;
            };
            if !recipe.has_read(home, day)? {
                log::info!("{}: its pages have changed; run `tidings clean` to rebuild it", day.name);
            }
            made.insert(day.name.clone(), recipe);
        }
        // Documents stay when all pages of their day are lost.
        for day in docs::document_days(home)? {
            if let Some(recipe) = Recipe::read(home, &day)? {
                made.entry(day).or_insert(recipe);
            }
        }
        for faulty in tidings_store::faulty_pages(home)? {
            self.fault(format!("clean, {}: {faulty}; restore it from a backup", faulty.day));
        }
        if waiting > 0 {
            log::info!("{} of pages to be processed by `tidings clean`", count(waiting, "day"));
        }
        Ok(made)
    }

    /// Checks that every day of text and of an index still has what it is made from: documents, or at least the pages of
    /// which they can be made again.
    fn later_days(&mut self, home: &Home, made: &BTreeMap<String, Recipe>) -> Result<()> {
        let pages: BTreeSet<String> = docs::page_days(home)?.into_iter().map(|day| day.name).collect();
        let texts: BTreeSet<String> = text::days(home)?.into_iter().collect();
        let is_known = |day: &str| made.contains_key(day) || pages.contains(day);
        for day in texts.iter().filter(|day| !is_known(day)) {
            self.fault(format!(
                "annotate, {day}: text, but neither documents nor pages; restore pages/{day} from a backup"
            ));
        }
        for code in home.indexed()? {
            // A damaged index is a fault of `compile`.
            let Ok(snapshot) = Snapshot::open(&home.index_of(&code)) else { continue };
            for input in snapshot.inputs() {
                let day = input.file.rsplit('/').next().and_then(|name| name.get(..10)).unwrap_or_default();
                if !texts.contains(day) && !is_known(day) {
                    let file = &input.file;
                    self.fault(format!(
                        "compile, {code}: {file} is in the index, but has neither documents nor pages; restore pages/{day} \
                         from a backup"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Counts pages and documents.
    pub(crate) fn clean(&mut self, home: &Home) -> Result<()> {
        let made = Rc::clone(&self.made);
        let mut balance = StageBalance::new(StageId::Clean);
        for (day, recipe) in made.as_ref() {
            balance.taken += recipe.pages;
            balance.given += recipe.documents.values().sum::<u64>();
            balance.leave_out(&recipe.dropped);
            let lines: u64 = documents_and_dropped(recipe).filter_map(|file| file.lines).sum();
            if lines != recipe.pages {
                self.fault(format!("clean, {day}: {} pages, but {lines} lines", recipe.pages));
            }
            for output in &recipe.outputs {
                self.check_size(home, StageId::Clean, output)?;
            }
        }
        self.close(balance);
        Ok(())
    }

    fn check_size(&mut self, home: &Home, stage: StageId, file: &FileDigest) -> Result<()> {
        let found = home.file_bytes(&file.file)?.unwrap_or_default();
        if found != file.bytes {
            let (name, bytes) = (&file.file, file.bytes);
            self.fault(format!("{stage}: {name} has {found} bytes instead of {bytes}; run `tidings run --from clean`"));
        }
        Ok(())
    }

    /// Documents, and verdicts on them.
    pub(crate) fn dedup(&mut self, home: &Home) -> Result<()> {
        let made = Rc::clone(&self.made);
        let ledger = JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default();
        let judged: BTreeMap<&str, _> = ledger.iter().map(|day| (day.day.as_str(), day)).collect();
        let mut balance = StageBalance::new(StageId::Dedup);
        for (day, recipe) in made.as_ref() {
            let documents: u64 = recipe.documents.values().sum();
            balance.taken += documents;
            match judged.get(day.as_str()) {
                Some(judged) if judged.docs == dedup_state::docs_digest(home, day)? => {
                    balance.given += judged.documents;
                    if judged.documents != documents || judged.verdicts.lines != Some(documents) {
                        let lines = judged.verdicts.lines.unwrap_or_default();
                        let judged = judged.documents;
                        self.fault(format!("dedup, {day}: {documents} documents, {judged} judged, {lines} verdicts"));
                    }
                    self.check_size(home, StageId::Dedup, &judged.verdicts)?;
                }
                _ => balance.waiting += documents,
            }
        }
        self.close(balance);
        Ok(())
    }

    /// Documents, and their text.
    pub(crate) fn annotate(&mut self, home: &Home) -> Result<()> {
        let made = Rc::clone(&self.made);
        let mut kept = TextFiles::new();
        let mut balance = StageBalance::new(StageId::Annotate);
        for (day, recipe) in made.as_ref() {
            let documents: u64 = recipe.documents.values().sum();
            balance.taken += documents;
            let document_files: Vec<&FileDigest> = recipe.document_files().collect();
            let of_these = |text: &TextRecipe| {
                text.inputs.iter().filter(|input| input.file.starts_with("docs/")).eq(document_files.iter().copied())
            };
            let Some(text) = TextRecipe::read(home, day)?.filter(of_these) else {
                balance.waiting += documents;
                continue;
            };
            balance.given += text.kept.values().sum::<u64>();
            balance.leave_out(&text.dropped);
            if text.documents != documents {
                self.fault(format!("annotate, {day}: {documents} documents, but {} read", text.documents));
            }
            for output in &text.outputs {
                self.check_size(home, StageId::Annotate, output)?;
                let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
                let number = text.kept.get(&code).copied().unwrap_or_default();
                kept.entry(code).or_default().push((output.clone(), number));
            }
        }
        self.close(balance);
        self.kept = kept;
        Ok(())
    }

    /// Counts annotated and searchable documents.
    pub(crate) fn compile(&mut self, home: &Home) -> Result<()> {
        let kept = std::mem::take(&mut self.kept);
        let mut balance = StageBalance::new(StageId::Compile);
        let hidden = hidden::read(home)?;
        for (code, files) in &kept {
            match Snapshot::open(&home.index_of(code)) {
                Ok(snapshot) => self.index(&mut balance, home, code, &snapshot, files, &hidden)?,
                Err(tidings_index::Error::NoIndex { .. }) => {
                    let waiting: u64 = files.iter().map(|(_, number)| number).sum();
                    balance.taken += waiting;
                    balance.waiting += waiting;
                }
                Err(error) => self.fault(format!("compile: {error}")),
            }
        }
        balance.left_out.retain(|_, number| *number > 0);
        self.close(balance);
        Ok(())
    }

    /// Checks the index of one language.
    fn index(
        &mut self,
        balance: &mut StageBalance,
        home: &Home,
        code: &str,
        snapshot: &Snapshot,
        files: &[(FileDigest, u64)],
        hidden: &BTreeSet<String>,
    ) -> Result<()> {
        let holds = |file: &FileDigest| {
            let inputs = snapshot.inputs().iter();
            inputs.filter(|input| input.file == file.file).any(|input| input.xxh3 == file.xxh3)
        };
        let (mut here, mut there) = (0, 0);
        for (file, number) in files {
            *(if holds(file) { &mut here } else { &mut there }) += number;
        }
        let has_others = snapshot.inputs().iter().any(|input| !files.iter().any(|(file, _)| file.file == input.file));
        balance.taken += here + there;
        balance.waiting += there;
        // An outdated index contains other files, so its counts cannot be compared.
        if there > 0 || has_others {
            balance.given += here;
            return Ok(());
        }
        let searchable = snapshot.documents();
        let unseen = if hidden.is_empty() { 0 } else { hidden_in(home, files, hidden)? };
        balance.given += searchable;
        *balance.left_out.entry("hidden".to_owned()).or_default() += unseen;
        if searchable + unseen != here {
            self.fault(format!(
                "compile, {code}: {here} documents of text, but {searchable} searchable and {unseen} hidden"
            ));
        }
        Ok(())
    }
}

/// Calls `see` with the URLs of the pages of a day, from its documents or its pages.
fn each_address(home: &Home, day: &docs::Day, mut see: impl FnMut(&str)) -> Result<()> {
    /// The URL field of documents and dropped pages.
    #[derive(Deserialize)]
    struct Addressed {
        url: String,
    }
    let Some(recipe) = Recipe::read(home, &day.name)? else {
        for file in &day.files {
            for page in PageReader::open(file)? {
                see(&page?.url);
            }
        }
        return Ok(());
    };
    for file in documents_and_dropped(&recipe) {
        for (number, line) in (1..).zip(home.open_file(&file.file)?.lines()) {
            let about = || format!("{}, line {number}: damaged; the next `tidings run` makes it again", file.file);
            see(&serde_json::from_str::<Addressed>(&line.with_context(about)?).with_context(about)?.url);
        }
    }
    Ok(())
}

fn documents_and_dropped(recipe: &Recipe) -> impl Iterator<Item = &FileDigest> {
    recipe.outputs.iter().filter(|file| !file.file.starts_with("docs/yield/"))
}

/// Counts the documents of these files that are hidden.
fn hidden_in(home: &Home, files: &[(FileDigest, u64)], hidden: &BTreeSet<String>) -> Result<u64> {
    let mut found = 0;
    for (file, _) in files {
        for line in text::open(home, &file.file)?.lines() {
            let line = line?;
            if let Some(tag) = line.strip_prefix("<doc ") {
                let value = |name: &str| {
                    let rest = tag.split_once(&format!("{name}=\""))?.1;
                    let raw = rest.split_once('"')?.0;
                    Some(raw.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
                };
                let is_hidden = |name: &str| value(name).is_some_and(|value| hidden.contains(&value));
                found += u64::from(is_hidden("id") || is_hidden("url"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{JournalBatch, Record};

    use crate::testing::{apply, article, home, page, plan_entries, root, store_pages};

    #[test]
    fn waiting_and_dropped_items_are_not_lost() {
        let mut balance = StageBalance::new(StageId::Clean);
        (balance.taken, balance.given, balance.waiting) = (1000, 990, 3);
        assert!(!balance.is_even());
        balance.leave_out(&[("too-short".to_owned(), 7)].into());
        assert!(balance.is_even());
        assert_eq!(balance.to_string(), "clean     1,000 in, 990 out, 7 too-short, 3 waiting");
    }

    #[test]
    fn an_uneven_balance_is_a_fault() {
        let mut balances = Balances::default();
        balances.close(StageBalance { taken: 2, ..StageBalance::new(StageId::Fetch) });
        assert_eq!(balances.outcome.faults, ["fetch: 2 in, but 0 out, 0 dropped and 0 waiting"]);
    }

    const URL: &str = "https://gazette.example/1";

    /// A home in which one of three pages is dropped and one is a copy.
    fn built() -> (tempfile::TempDir, Pipeline) {
        let (folder, pipeline) = home();
        let pages = [page(URL, &article("ferry")), page("https://gazette.example/2", "<html></html>")];
        store_pages(&pipeline, "2026-03-01", &pages);
        store_pages(&pipeline, "2026-03-02", &[page("https://courier.example/1", &article("ferry"))]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        (folder, pipeline)
    }

    fn text(outcome: &ConservationOutcome) -> Vec<String> {
        outcome.stages.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_empty_home_is_balanced() {
        let (_folder, pipeline) = home();
        let outcome = conservation(&pipeline, true).unwrap();
        assert!(outcome.done && outcome.faults.is_empty());
        assert!(outcome.to_string().ends_with("no items are missing\n"));
    }

    #[test]
    fn every_stage_accounts_for_the_output_of_the_previous_one() {
        let (_folder, pipeline) = built();
        let outcome = conservation(&pipeline, true).unwrap();
        assert_eq!(outcome.faults, Vec::<String>::new());
        let expected = [
            "fetch     0 in, 0 out",
            "clean     3 in, 2 out, 1 no-text",
            "dedup     2 in, 2 out",
            "annotate  2 in, 1 out, 1 duplicate",
            "compile   1 in, 1 out",
        ];
        assert_eq!(text(&outcome), expected);
    }

    #[test]
    fn stages_that_have_not_run_leave_their_items_waiting() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
        let outcome = conservation(&pipeline, false).unwrap();
        assert!(outcome.done, "{:?}", outcome.faults);
        let waiting: Vec<u64> = outcome.stages.iter().map(|balance| balance.waiting).collect();
        assert_eq!(waiting, [0, 0, 1, 1, 0]);
    }

    #[test]
    fn a_page_in_the_plan_but_in_no_file_is_a_fault() {
        let (_folder, pipeline) = built();
        plan_entries(pipeline.home(), &[URL, "https://gazette.example/lost"]);
        let mut batch = JournalBatch::default();
        for url in [URL, "https://gazette.example/lost"] {
            batch.push(&Record::Outcome { url: url.into(), status: "ok".into(), retries: 1, failure: None });
        }
        apply(pipeline.home(), "20260301T120000000Z-fetch", batch);
        assert!(conservation(&pipeline, false).unwrap().done, "counts alone do not show it");
        let outcome = conservation(&pipeline, true).unwrap();
        assert_eq!(outcome.status(), Status::NotDone);
        let fault = "fetch: 1 page with status `ok` in the plan but not in any file: https://gazette.example/lost";
        assert_eq!(outcome.faults, [fault]);
    }

    #[test]
    fn a_file_of_documents_with_another_size_is_a_fault() {
        let (_folder, pipeline) = built();
        let file = root(&pipeline).join("docs/en/2026-03-01.jsonl.zst");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.pop();
        std::fs::write(&file, bytes).unwrap();
        let outcome = conservation(&pipeline, false).unwrap();
        assert!(!outcome.done);
        assert!(outcome.faults[0].starts_with("clean: docs/en/2026-03-01.jsonl.zst has "), "{:?}", outcome.faults);
    }

    #[test]
    fn hidden_documents_are_not_lost() {
        let (_folder, pipeline) = built();
        hidden::write(pipeline.home(), &[URL.to_owned()].into()).unwrap();
        pipeline.run(StageId::Compile.stage().as_ref()).unwrap();
        let outcome = conservation(&pipeline, false).unwrap();
        assert_eq!(outcome.faults, Vec::<String>::new());
        assert_eq!(outcome.stages.last().unwrap().left_out, [("hidden".to_owned(), 1)].into());
    }

    #[test]
    fn entries_are_balanced_by_their_status() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL, "https://gazette.example/2", "https://gazette.example/3"]);
        let mut batch = JournalBatch::default();
        batch.push(&Record::Outcome { url: URL.into(), status: "404".into(), retries: 1, failure: None });
        apply(pipeline.home(), "20260301T120000000Z-fetch", batch);
        let outcome = conservation(&pipeline, false).unwrap();
        assert_eq!(text(&outcome)[0], "fetch     3 in, 0 out, 1 404, 2 waiting");
    }
}
