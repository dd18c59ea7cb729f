//! Figures of each day of download, by stage.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use jiff::civil::Date;
use serde::{Serialize, Serializer};
use tidings_index::Snapshot;
use tidings_store::FileDigest;
use tidings_store::Home;
use tidings_store::dedup_state::{self, JudgedDay, JudgedDays};
use tidings_store::docs::{self, Recipe};
use tidings_store::text::TextRecipe;

use crate::stage::StageId;

/// A day of download.
#[derive(Debug, Clone, Default)]
pub struct DayFigures {
    /// The day.
    pub day: Date,
    /// Names of its files of pages, in the order of the runs that wrote them.
    pub files: Vec<String>,
    /// The size of these files.
    pub page_bytes: u64,
    /// Pages that were read.
    pub pages: u64,
    /// Documents extracted from them, by language.
    pub documents: BTreeMap<String, u64>,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The verdicts on the documents.
    pub judged: Option<JudgedDay>,
    /// Documents with annotated text.
    pub kept: u64,
    /// Documents without new text.
    pub left_out: u64,
    /// Tokens by language.
    pub tokens: BTreeMap<String, u64>,
    /// The size of all derived data except the index.
    pub derived_bytes: u64,
    /// The first stage that has work on this day; `None` if every page is searchable.
    pub waits_for: Option<StageId>,
    /// Files of the day that `clean` has not processed.
    pub unread_files: Vec<String>,
}

impl Serialize for DayFigures {
    /// Writes the sums; the parts by language and reason are in the recipes.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Sums {
            day: Date,
            pages: u64,
            documents: u64,
            tokens: u64,
            waits_for: Option<StageId>,
        }
        let (documents, tokens) = (self.all_documents(), self.all_tokens());
        Sums { day: self.day, pages: self.pages, documents, tokens, waits_for: self.waits_for }.serialize(serializer)
    }
}

impl DayFigures {
    /// Documents in all languages.
    pub fn all_documents(&self) -> u64 {
        self.documents.values().sum()
    }

    /// Tokens in all languages.
    pub fn all_tokens(&self) -> u64 {
        self.tokens.values().sum()
    }
}

/// The index of a language.
#[derive(Debug, Clone, serde::Serialize)]
pub struct IndexFigures {
    /// Tokens that can be found.
    pub tokens: u64,
    /// Documents.
    pub documents: u64,
    /// The size of its files.
    pub bytes: u64,
    /// The text files it was built from, with their digests.
    #[serde(skip)]
    inputs: BTreeSet<(String, String)>,
}

/// The indexes of a home by language; damaged ones are missing here and reported by `doctor`.
pub fn indexes(home: &Home) -> Result<BTreeMap<String, IndexFigures>> {
    let mut found = BTreeMap::new();
    for code in home.indexed()? {
        let Ok(snapshot) = Snapshot::open(&home.index_of(&code)) else { continue };
        let inputs = snapshot.inputs().iter().map(|input| (input.file.clone(), input.xxh3.clone())).collect();
        let (tokens, documents, bytes) = (snapshot.tokens(), snapshot.documents(), snapshot.bytes_on_disk());
        found.insert(code, IndexFigures { tokens, documents, bytes, inputs });
    }
    Ok(found)
}

/// The days from one on, oldest first.
pub fn read(home: &Home, first: Date, indexes: &BTreeMap<String, IndexFigures>) -> Result<Vec<DayFigures>> {
    let ledger = JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default();
    let judged: BTreeMap<&str, &JudgedDay> = ledger.iter().map(|day| (day.day.as_str(), day)).collect();
    let mut days = Vec::new();
    for downloaded in docs::page_days_since(home, &first.to_string())? {
        let files = downloaded.files.iter().map(|path| home.shown(path)).collect();
        let mut day = DayFigures { day: downloaded.name.parse()?, files, ..DayFigures::default() };
        for file in &day.files {
            day.page_bytes += home.file_bytes(file)?.unwrap_or_default();
        }
        let made = Recipe::read(home, &downloaded.name)?;
        let text = TextRecipe::read(home, &downloaded.name)?;
        let verdicts = judged.get(downloaded.name.as_str()).map(|day| (*day).clone());
        day.waits_for = waits_for(home, &mut day, made.as_ref(), verdicts.as_ref(), text.as_ref(), indexes)?;
        let size = |files: &[FileDigest]| files.iter().map(|file| file.bytes).sum::<u64>();
        if let Some(made) = made {
            day.derived_bytes += size(&made.outputs);
            (day.pages, day.documents, day.dropped) = (made.pages, made.documents, made.dropped);
        }
        if let Some(text) = text {
            day.derived_bytes += size(&text.outputs);
            day.kept = text.kept.values().sum();
            day.left_out = text.dropped.values().sum();
            day.tokens = text.tokens;
        }
        day.derived_bytes += verdicts.as_ref().map_or(0, |judged| judged.verdicts.bytes);
        day.judged = verdicts;
        days.push(day);
    }
    Ok(days)
}

/// The first stage that has not seen a day as it is.
fn waits_for(
    home: &Home,
    day: &mut DayFigures,
    made: Option<&Recipe>,
    judged: Option<&JudgedDay>,
    text: Option<&TextRecipe>,
    indexes: &BTreeMap<String, IndexFigures>,
) -> Result<Option<StageId>> {
    let read: BTreeSet<&str> = made.iter().flat_map(|made| &made.inputs).map(|input| input.file.as_str()).collect();
    day.unread_files = day.files.iter().filter(|file| !read.contains(file.as_str())).cloned().collect();
    let Some(made) = made.filter(|_| day.unread_files.is_empty()) else { return Ok(Some(StageId::Clean)) };
    // A home that keeps duplicates needs no verdicts; then the recipe of the text has none either.
    let has_verdicts = |text: &TextRecipe| text.inputs.iter().any(|input| input.file.starts_with("seen/"));
    let is_judged = match judged {
        Some(judged) => judged.docs == dedup_state::docs_digest(home, &day.day.to_string())?,
        None => text.is_some_and(|text| !has_verdicts(text)),
    };
    if !is_judged {
        return Ok(Some(StageId::Dedup));
    }
    let documents: BTreeSet<&str> = made.document_files().map(|file| file.xxh3.as_str()).collect();
    let used = |text: &&TextRecipe| {
        let files = text.inputs.iter().filter(|input| input.file.starts_with("docs/"));
        files.map(|file| file.xxh3.as_str()).collect::<BTreeSet<_>>() == documents
    };
    let Some(text) = text.filter(used) else { return Ok(Some(StageId::Annotate)) };
    let is_searchable = |output: &FileDigest| {
        let code = output.file.split('/').nth(1).unwrap_or_default();
        let known = (output.file.clone(), output.xxh3.clone());
        indexes.get(code).is_some_and(|index| index.inputs.contains(&known))
    };
    Ok(if text.outputs.iter().all(is_searchable) { None } else { Some(StageId::Compile) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{self, FIRST_DAY, SECOND_DAY};

    fn waiting(home: &Home) -> Vec<Option<StageId>> {
        let days = read(home, date(FIRST_DAY), &indexes(home).unwrap()).unwrap();
        days.into_iter().map(|day| day.waits_for).collect()
    }

    fn date(day: &str) -> Date {
        day.parse().unwrap()
    }

    #[test]
    fn a_built_home_has_no_work_left_and_its_figures_add_up() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        assert_eq!(waiting(home), [None, None]);
        let days = read(home, date(FIRST_DAY), &indexes(home).unwrap()).unwrap();
        assert_eq!((days[0].pages, days[0].all_documents(), days[0].kept, days[0].left_out), (3, 3, 3, 0));
        assert_eq!(days[0].documents.keys().collect::<Vec<_>>(), ["de", "en"]);
        assert!(days[0].all_tokens() > 100 && days[0].page_bytes > 0 && days[0].derived_bytes > 0);
        let indexed: u64 = indexes(home).unwrap().values().map(|index| index.tokens).sum();
        assert_eq!(indexed, days.iter().map(DayFigures::all_tokens).sum::<u64>());
    }

    #[test]
    fn days_before_the_first_are_not_read() {
        let (_folder, pipeline) = test_home::built();
        let days = read(pipeline.home(), date(SECOND_DAY), &BTreeMap::new()).unwrap();
        assert_eq!(days.iter().map(|day| day.day).collect::<Vec<_>>(), [date(SECOND_DAY)]);
    }

    #[test]
    fn a_day_with_a_new_file_of_pages_waits_for_clean() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        test_home::put_pages(home.root(), SECOND_DAY, "b.0", &test_home::articles()[..1]);
        assert_eq!(waiting(home), [None, Some(StageId::Clean)]);
        let days = read(home, date(SECOND_DAY), &BTreeMap::new()).unwrap();
        assert_eq!(days[0].unread_files, ["pages/2026-03-02/b.0.jsonl.zst"]);
        assert_eq!(days[0].files.len(), 2);
    }

    #[test]
    fn a_day_without_documents_waits_for_clean_and_one_without_text_for_annotate() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        docs::remove_day(home, FIRST_DAY).unwrap();
        tidings_store::text::remove_day(home, SECOND_DAY).unwrap();
        assert_eq!(waiting(home), [Some(StageId::Clean), Some(StageId::Annotate)]);
    }

    #[test]
    fn days_without_verdicts_wait_for_dedup() {
        let (_folder, pipeline) = test_home::built();
        dedup_state::clear(pipeline.home()).unwrap();
        assert_eq!(waiting(pipeline.home()), [Some(StageId::Dedup); 2]);
    }

    #[test]
    fn days_wait_for_compile_while_one_of_their_languages_has_no_index() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        std::fs::remove_dir_all(home.index_of("de")).unwrap();
        assert_eq!(waiting(home), [Some(StageId::Compile), None], "only the first day has German text");
    }

    #[test]
    fn a_damaged_index_counts_as_missing() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        for name in test_home::files_of(&home.index_of("de")).keys() {
            std::fs::write(home.index_of("de").join(name), "x").unwrap();
        }
        assert_eq!(indexes(home).unwrap().keys().collect::<Vec<_>>(), ["en"]);
        assert_eq!(waiting(home), [Some(StageId::Compile), None]);
    }
}
