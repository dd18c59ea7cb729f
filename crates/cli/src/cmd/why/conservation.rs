//! Nothing vanishes: at every stage, items in = items out + items left out, each with the name of its rule.
//!
//! Every stage counts what it does, and the next one counts what it finds; here the two are held against each other, day by
//! day. What a stage has not come to yet is waiting, which is no loss. With `items`, every entry of the plan that says it was
//! fetched must be found among the documents or among the pages that gave none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead as _;

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_model::{Fingerprint, FingerprintMap};
use tidings_store::docs::{self, Ingredient, Recipe};
use tidings_store::pages::PageReader;
use tidings_store::seen::{self, Ledger};
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Home, hidden, plan};

use super::super::Report;
use crate::console;
use tidings_pipeline::display::{count, grouped};

/// What a stage took in, gave out, left out and has not come to.
#[derive(Debug, Default)]
struct Sheet {
    stage: &'static str,
    taken: u64,
    given: u64,
    left_out: BTreeMap<String, u64>,
    waiting: u64,
}

impl Sheet {
    fn adds_up(&self) -> bool {
        self.taken == self.given + self.left_out.values().sum::<u64>() + self.waiting
    }
}

/// The books of a home.
#[derive(Default)]
struct Books {
    sheets: Vec<Sheet>,
    faults: Vec<String>,
}

/// Holds all stages against each other.
pub fn run(home: &Home, items: bool) -> Result<Report> {
    let mut books = Books::default();
    books.plan(home)?;
    if items {
        books.items(home)?;
    }
    let made = books.clean(home)?;
    books.dedup(home, &made)?;
    let kept = books.annotate(home, &made)?;
    books.compile(home, &kept)?;
    Ok(books.report())
}

impl Books {
    fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    fn close(&mut self, sheet: Sheet) {
        if !sheet.adds_up() {
            let out: u64 = sheet.left_out.values().sum();
            let (stage, taken, given, waiting) = (sheet.stage, sheet.taken, sheet.given, sheet.waiting);
            self.fault(format!(
                "{stage}: {taken} went in, but {given} came out, {out} were left out and {waiting} wait"
            ));
        }
        self.sheets.push(sheet);
    }

    /// Entries, and what became of them.
    fn plan(&mut self, home: &Home) -> Result<()> {
        let mut sheet = Sheet { stage: "fetch", ..Sheet::default() };
        plan::read(home, |row| {
            sheet.taken += 1;
            match row.status {
                "ok" => sheet.given += 1,
                "new" => sheet.waiting += 1,
                other => *sheet.left_out.entry(other.to_owned()).or_default() += 1,
            }
        })?;
        self.close(sheet);
        Ok(())
    }

    /// Every entry that was fetched has its page among the documents, among what was left out, or on a day that waits.
    fn items(&mut self, home: &Home) -> Result<()> {
        #[derive(Deserialize)]
        struct Item {
            url: String,
        }
        let mut fetched: FingerprintMap<bool> = FingerprintMap::default();
        plan::read(home, |row| {
            if row.status == "ok" {
                fetched.insert(Fingerprint::of(row.url), false);
            }
        })?;
        let mut found = |url: &str| {
            if let Some(found) = fetched.get_mut(&Fingerprint::of(url)) {
                *found = true;
            }
        };
        let days = docs::days(home)?;
        let progress = console::progress("days", days.len() as u64);
        for (done, day) in (0..).zip(&days) {
            progress.show(done, &day.name);
            match Recipe::read(home, &day.name)? {
                Some(recipe) => {
                    for file in recipe.outputs.iter().filter(|file| !file.file.starts_with("docs/yield/")) {
                        for line in tidings_store::open_any(&home.root().join(&file.file))?.lines() {
                            found(&serde_json::from_str::<Item>(&line?)?.url);
                        }
                    }
                }
                None => {
                    for file in &day.files {
                        for page in PageReader::open(file)? {
                            found(&page?.url);
                        }
                    }
                }
            }
        }
        let lost: Vec<Fingerprint> = fetched.iter().filter(|(_, found)| !**found).map(|(url, _)| *url).collect();
        if !lost.is_empty() {
            let mut named = Vec::new();
            plan::read(home, |row| {
                if row.status == "ok" && named.len() < 5 && lost.contains(&Fingerprint::of(row.url)) {
                    named.push(row.url.to_owned());
                }
            })?;
            let (lost, named) = (count(lost.len() as u64, "page"), named.join(", "));
            self.fault(format!("fetch: the plan says that {lost} were stored, but no file has them: {named}"));
        }
        Ok(())
    }

    /// Pages, and the documents that came of them. Gives the recipes.
    fn clean(&mut self, home: &Home) -> Result<BTreeMap<String, Recipe>> {
        let mut sheet = Sheet { stage: "clean", ..Sheet::default() };
        let mut made = BTreeMap::new();
        let days = docs::days(home)?;
        for day in &days {
            let Some(recipe) = Recipe::read(home, &day.name)? else { continue };
            let known = recipe.inputs.iter().map(|file| (file.file.clone(), file.bytes));
            if !day.files.iter().map(|path| (home.shown(path), size(path))).eq(known) {
                log::info!("{}: its pages have changed since; `tidings clean` makes it anew", day.name);
            }
            sheet.taken += recipe.pages;
            sheet.given += recipe.documents.values().sum::<u64>();
            recipe.dropped.iter().for_each(|(why, number)| *sheet.left_out.entry(why.clone()).or_default() += number);
            let lines: u64 = documents_and_dropped(&recipe).filter_map(|file| file.lines).sum();
            if lines != recipe.pages {
                self.fault(format!("clean, {}: {} pages, but {lines} lines", day.name, recipe.pages));
            }
            for output in &recipe.outputs {
                self.is_there(home, "clean", output);
            }
            made.insert(day.name.clone(), recipe);
        }
        let waiting = days.iter().filter(|day| !made.contains_key(&day.name)).count() as u64;
        if waiting > 0 {
            log::info!("{} of pages wait for `tidings clean`", count(waiting, "day"));
        }
        self.close(sheet);
        Ok(made)
    }

    fn is_there(&mut self, home: &Home, stage: &str, file: &Ingredient) {
        let found = size(&home.root().join(&file.file));
        if found != file.bytes {
            let (name, bytes) = (&file.file, file.bytes);
            self.fault(format!("{stage}: {name} has {found} bytes instead of {bytes}; run `tidings run --from clean`"));
        }
    }

    /// Documents, and verdicts on them.
    fn dedup(&mut self, home: &Home, made: &BTreeMap<String, Recipe>) -> Result<()> {
        let ledger = Ledger::read(home)?.map(|ledger| ledger.days).unwrap_or_default();
        let judged: BTreeMap<&str, _> = ledger.iter().map(|day| (day.day.as_str(), day)).collect();
        let mut sheet = Sheet { stage: "dedup", ..Sheet::default() };
        for (day, recipe) in made {
            let documents: u64 = recipe.documents.values().sum();
            sheet.taken += documents;
            match judged.get(day.as_str()) {
                Some(judged) if judged.docs == seen::docs_digest(home, day)? => {
                    sheet.given += judged.documents;
                    if judged.documents != documents || judged.verdicts.lines != Some(documents) {
                        let lines = judged.verdicts.lines.unwrap_or_default();
                        let judged = judged.documents;
                        self.fault(format!("dedup, {day}: {documents} documents, {judged} judged, {lines} verdicts"));
                    }
                    self.is_there(home, "dedup", &judged.verdicts);
                }
                _ => sheet.waiting += documents,
            }
        }
        self.close(sheet);
        Ok(())
    }

    /// Documents, and their text. Gives how many lie on each shelf, by file.
    fn annotate(
        &mut self,
        home: &Home,
        made: &BTreeMap<String, Recipe>,
    ) -> Result<BTreeMap<String, Vec<(Ingredient, u64)>>> {
        let mut kept: BTreeMap<String, Vec<(Ingredient, u64)>> = BTreeMap::new();
        let mut sheet = Sheet { stage: "annotate", ..Sheet::default() };
        for (day, recipe) in made {
            let documents: u64 = recipe.documents.values().sum();
            sheet.taken += documents;
            let shelves: Vec<&Ingredient> = recipe.shelves().collect();
            let of_these = |text: &TextRecipe| {
                text.inputs.iter().filter(|input| input.file.starts_with("docs/")).eq(shelves.iter().copied())
            };
            let Some(text) = TextRecipe::read(home, day)?.filter(of_these) else {
                sheet.waiting += documents;
                continue;
            };
            sheet.given += text.kept.values().sum::<u64>();
            text.dropped.iter().for_each(|(why, number)| *sheet.left_out.entry(why.clone()).or_default() += number);
            if text.documents != documents {
                self.fault(format!("annotate, {day}: {documents} documents, but {} were read", text.documents));
            }
            for output in &text.outputs {
                self.is_there(home, "annotate", output);
                let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
                let number = text.kept.get(&code).copied().unwrap_or_default();
                kept.entry(code).or_default().push((output.clone(), number));
            }
        }
        self.close(sheet);
        Ok(kept)
    }

    /// Text, and what can be searched.
    fn compile(&mut self, home: &Home, kept: &BTreeMap<String, Vec<(Ingredient, u64)>>) -> Result<()> {
        let mut sheet = Sheet { stage: "compile", ..Sheet::default() };
        let hidden = hidden::read(home)?;
        for (code, files) in kept {
            let snapshot = match Snapshot::open(&home.index().join(code)) {
                Ok(snapshot) => snapshot,
                Err(tidings_index::Error::NoIndex { .. }) => {
                    let waiting: u64 = files.iter().map(|(_, number)| number).sum();
                    (sheet.taken, sheet.waiting) = (sheet.taken + waiting, sheet.waiting + waiting);
                    continue;
                }
                Err(error) => {
                    self.fault(format!("compile: {error}"));
                    continue;
                }
            };
            let holds = |file: &Ingredient| {
                let inputs = snapshot.inputs().iter();
                inputs.filter(|input| input.file == file.file).any(|input| input.xxh3 == file.xxh3)
            };
            let (mut here, mut there) = (0, 0);
            for (file, number) in files {
                *(if holds(file) { &mut here } else { &mut there }) += number;
            }
            let strangers =
                snapshot.inputs().iter().filter(|input| !files.iter().any(|(file, _)| file.file == input.file));
            sheet.taken += here + there;
            sheet.waiting += there;
            let searchable = snapshot.documents();
            // An index that holds former days is to be brought up to date first: its counts are of other files.
            if there > 0 || strangers.count() > 0 {
                sheet.given += here;
                continue;
            }
            let unseen = if hidden.is_empty() { 0 } else { hidden_in(home, files, &hidden)? };
            sheet.given += searchable;
            *sheet.left_out.entry("hidden".to_owned()).or_default() += unseen;
            if searchable + unseen != here {
                self.fault(format!(
                    "compile, {code}: {here} documents of text, but {searchable} searchable and {unseen} hidden"
                ));
            }
        }
        sheet.left_out.retain(|_, number| *number > 0);
        self.close(sheet);
        Ok(())
    }

    fn report(self) -> Report {
        let mut text = String::new();
        for sheet in &self.sheets {
            let mut parts = vec![format!("{} in", grouped(sheet.taken)), format!("{} out", grouped(sheet.given))];
            parts.extend(sheet.left_out.iter().map(|(why, number)| format!("{} {why}", grouped(*number))));
            if sheet.waiting > 0 {
                parts.push(format!("{} waiting", grouped(sheet.waiting)));
            }
            let _ = writeln!(text, "{:<9} {}", sheet.stage, parts.join(", "));
        }
        match self.faults.len() {
            0 => text.push_str("nothing vanished\n"),
            _ => self.faults.iter().for_each(|fault| log::error!("{fault}")),
        }
        let sheets: Vec<Value> = self
            .sheets
            .iter()
            .map(|sheet| {
                json!({
                    "stage": sheet.stage,
                    "in": sheet.taken,
                    "out": sheet.given,
                    "left_out": sheet.left_out,
                    "waiting": sheet.waiting,
                })
            })
            .collect();
        let failed = !self.faults.is_empty();
        Report {
            text,
            json: json!({ "done": !failed, "stages": sheets, "faults": self.faults }),
            failed,
            partly: false,
        }
    }
}

fn size(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

fn documents_and_dropped(recipe: &Recipe) -> impl Iterator<Item = &Ingredient> {
    recipe.outputs.iter().filter(|file| !file.file.starts_with("docs/yield/"))
}

/// How many documents of these files are hidden.
fn hidden_in(home: &Home, files: &[(Ingredient, u64)], hidden: &std::collections::BTreeSet<String>) -> Result<u64> {
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
