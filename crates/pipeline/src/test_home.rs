//! Small homes for unit tests.
//!
//! Running all derived stages takes seconds, so the built home is created once, kept in memory as files, and written
//! out for each test that needs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;
use tidings_model::Page;

use crate::Pipeline;
use crate::stage::StageId;

/// The first day of pages of the built home.
pub const FIRST_DAY: &str = "2026-03-01";
/// The second day of pages of the built home.
pub const SECOND_DAY: &str = "2026-03-02";
/// The feed of all pages.
pub const FEED: &str = "https://gazette.example/feed";

/// English and German paragraphs that are long enough for the quality gate.
const TEXTS: [(&str, &str, [&str; 2]); 4] = [
    (
        "ferry",
        "en",
        [
            "The old ferry across the bay stopped on Monday because its engine had failed for the third time in a month, and \
             the people of the island had to wait until the evening for a boat from the mainland.",
            "The mayor said that a new ship would be bought before the summer, if the council agreed, and that the price of \
             a ticket would stay as it was for everyone who lives on the island.",
        ],
    ),
    (
        "river",
        "en",
        [
            "The river rose again during the night after three days of heavy rain, and the fire brigade had to close two of \
             the roads that lead from the market to the railway station.",
            "Nobody was hurt, but many cellars were full of water in the morning, and the school stayed shut so that the \
             teachers could carry the books to the upper floor.",
        ],
    ),
    (
        "fluss",
        "de",
        [
            "Der Fluss ist in der Nacht nach drei Tagen Regen über die Ufer getreten, und die Feuerwehr hat zwei Straßen \
             gesperrt, die vom Markt zum Bahnhof führen und morgens sehr voll sind.",
            "Verletzt wurde niemand, aber viele Keller standen am Morgen unter Wasser, und die Schule blieb geschlossen, \
             damit die Lehrer die Bücher in das obere Stockwerk tragen konnten.",
        ],
    ),
    (
        "library",
        "en",
        [
            "The library in the old town hall opens on Sundays from next week, because more than four hundred readers had \
             signed a letter in which they asked for it during the winter.",
            "Two students will sit at the entrance and help with the catalogue, and the children's corner, which was painted \
             in the autumn, will have a reading every Sunday at three in the afternoon.",
        ],
    ),
];

/// A new home without feeds or pages.
pub fn empty() -> (TempDir, Pipeline) {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::create(&folder.path().join("home")).unwrap();
    (folder, pipeline)
}

/// A home with two days of pages, after all derived stages: three documents in English and one in German. The page
/// `library` is of the second day, the others of the first.
pub fn built() -> (TempDir, Pipeline) {
    static FILES: LazyLock<BTreeMap<PathBuf, Vec<u8>>> = LazyLock::new(|| {
        let (_folder, pipeline) = empty();
        let root = pipeline.home().root();
        let pages = articles();
        put_pages(root, FIRST_DAY, "a.0", &pages[..3]);
        put_pages(root, SECOND_DAY, "a.0", &pages[3..]);
        run_derived(&pipeline);
        files_of(root)
    });
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("home");
    for (name, bytes) in FILES.iter() {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let pipeline = Pipeline::open(&root).unwrap();
    (folder, pipeline)
}

/// Runs all derived stages.
pub fn run_derived(pipeline: &Pipeline) {
    for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
        pipeline.run(stage.as_ref()).unwrap();
    }
}

/// The pages of the built home.
pub fn articles() -> Vec<Page> {
    let day = |name: &str| if name == "library" { SECOND_DAY } else { FIRST_DAY };
    TEXTS.iter().map(|(name, language, texts)| article(name, language, day(name), texts)).collect()
}

/// A page of `gazette.example` with these paragraphs.
pub fn article(name: &str, language: &str, day: &str, paragraphs: &[&str]) -> Page {
    let url = format!("https://gazette.example/{name}");
    let text: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    let body = format!(
        "<!doctype html><html lang=\"{language}\"><head><title>The {name}</title></head><body><article><h1>The {name}</h1>\
         {text}</article></body></html>"
    );
    Page {
        final_url: url.clone(),
        url,
        feed: FEED.into(),
        title: format!("The {name}"),
        published: format!("{day}T08:00:00Z"),
        seen: format!("{day}T10:00:00.000Z"),
        downloaded: format!("{day}T12:00:00.000Z"),
        status: 200,
        content_type: "text/html; charset=utf-8".into(),
        body: body.into_bytes(),
        ..Page::default()
    }
}

/// Writes a file of pages as a crawl does.
pub fn put_pages(root: &Path, day: &str, name: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let folder = root.join("pages").join(day);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.jsonl.zst")), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

/// All files below a folder with their bytes, by their relative paths.
pub fn files_of(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, root, found),
                false => {
                    found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}
