//! Golden digests: the output of every derived stage over fixtures is pinned for each behaviour version.
//!
//! `fixtures/behaviour/golden.tsv` has a row for each stage and version: the digest of the data that affects its output
//! and the digest of the output itself. If either changes, the stage's `BEHAVIOUR_VERSION` must be increased, because
//! recipes contain it and an upgrade rebuilds only what has another version. With `TIDINGS_BLESS=1` this test appends
//! the row of a new version; it never changes one. Layers besides lemma, tag and features have rows of their own, `layer NAME`,
//! with the version of their annotator.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tidings_annotate::chain::{LAYERS, LayerAnnotator};
use tidings_model::Page;
use tidings_pipeline::Pipeline;
use tidings_pipeline::stage::{Stage, StageId};
use xxhash_rust::xxh3::xxh3_128;

const HEADER: &str = "stage\tversion\ttables\toutput";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn page(host: &str, name: &str, body: &str, content_type: &str) -> Page {
    let url = format!("https://{host}/2024/02/{name}");
    Page {
        final_url: url.clone(),
        url,
        feed: format!("https://{host}/feed"),
        title: format!("Title of {name}"),
        published: "2024-02-28T08:00:00Z".into(),
        seen: "2026-03-01T10:00:00.000Z".into(),
        downloaded: "2026-03-01T12:00:00.000Z".into(),
        status: 200,
        content_type: content_type.into(),
        body: body.as_bytes().to_vec(),
        ..Page::default()
    }
}

/// Languages whose `fixtures.tsv` is part of the pinned output. The list is fixed, so that the fixtures of a new language
/// change no digest.
const LANGUAGES: &str = "am ar ca cs de el en es fa fr ga he hi hu hy it ja km ko lo mt my pl ru sk th tr ur vi zh";

/// Languages whose tables are part of the pinned digests. A language that is added later changes no document in another
/// one, so that its folder is all that a change adds.
const TABLE_LANGUAGES: &str = "af ar az be bg bo bs ca cs cy da de dz el en es et eu fa fi fr ga gd gl he hi hr hu hy id is it ja ka kk km kn \
    ko lo lt lv mk ml mn mr ms mt my nb nl nn pl pt ro ru sk sl sq sr sv ta te th tr ug uk uz vi zh";

/// A page of the texts in `languages/CODE/fixtures.tsv`.
fn language_page(code: &str, table: &str) -> Page {
    let texts: Vec<&str> =
        table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next()).collect();
    // The quality gate rejects short texts; the same paragraphs three times under different headings are long enough.
    let mut body = format!(
        "<!doctype html><html lang=\"{code}\"><head><title>{code}</title></head><body><article><h1>{code}</h1>"
    );
    for part in texts.chunks(4) {
        let _ = write!(body, "<p>{}</p>", part.join(" "));
    }
    body.push_str("</article></body></html>");
    page("languages.example", &format!("{code}.html"), &body, "text/html; charset=utf-8")
}

/// Pages for the remaining cases: private data, a duplicate, pages without text.
fn special_pages(gazette: &str) -> Vec<Page> {
    let private = "<!doctype html><html lang=\"en\"><head><title>Contact</title></head><body><article><h1>Contact</h1>\
        <p>Readers who know more about the ferry may write to jane.doe@gazette.example or call +44 20 7946 0018 on weekdays, \
        and those who prefer letters find the address at the end of the printed edition of every Saturday.</p>\
        <p>Gifts to the harbour fund go to the account GB29 NWBK 6016 1331 9268 19, and the treasurer thanks everyone who \
        has given in the past year, in which the fund repaired two piers and the old lighthouse.</p></article></body></html>";
    vec![
        page("gazette.example", "contact.html", private, "text/html"),
        page("courier.example", "copied.html", gazette, "text/html"),
        page("gazette.example", "short.html", "<html><body><p>Too short.</p></body></html>", "text/html"),
        page("gazette.example", "empty.html", "<html></html>", "text/html"),
        page("gazette.example", "file.pdf", "%PDF-1.4", "application/pdf"),
    ]
}

fn put(home: &Path, day: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let folder = home.join("pages").join(day);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.0.jsonl.zst"), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

fn sorted_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A home of the fixtures after all derived stages, with these further layers.
fn built(folder: &Path, layers: &[&str]) -> Pipeline {
    let created = Pipeline::create(folder).unwrap();
    let mut config = created.config().clone();
    config.annotate.layers = layers.iter().map(|name| (*name).to_owned()).collect();
    let pipeline = Pipeline::new(created.home().clone(), config);
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let pages = sorted_files(&fixtures().join("pages"));
    let saved: Vec<Page> = pages
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .map(|path| page("gazette.example", &path.file_name().unwrap().to_string_lossy(), &read(path), "text/html"))
        .collect();
    put(folder, "2026-03-01", &saved);
    let texts = LANGUAGES
        .split(' ')
        .map(|code| language_page(code, &read(&fixtures().join(format!("../languages/{code}/fixtures.tsv")))));
    let texts: Vec<Page> = texts.collect();
    put(folder, "2026-03-02", &texts);
    put(folder, "2026-03-03", &special_pages(&read(&fixtures().join("pages/gazette.html"))));
    for stage in derived() {
        pipeline.run(stage.as_ref()).unwrap();
    }
    pipeline
}

fn derived() -> impl Iterator<Item = Box<dyn Stage>> {
    StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived())
}

/// The digest of the data that affects the output of a stage.
fn tables(stage: &dyn Stage) -> String {
    let mut tables = stage.tables();
    // Tables are named by file or by language.
    tables.retain(|(name, _)| name.contains('.') || TABLE_LANGUAGES.split(' ').any(|code| code == *name));
    if tables.is_empty() {
        return "-".to_owned();
    }
    let digests: String = tables.iter().map(|(name, bytes)| format!("{name} {:032x}\n", xxh3_128(bytes))).collect();
    format!("{:032x}", xxh3_128(digests.as_bytes()))
}

/// The digest of the data of a layer, `languages/CODE/NAME.tsv`.
fn layer_tables(name: &str) -> String {
    let file = |code: &str| fs::read(fixtures().join(format!("../languages/{code}/{name}.tsv"))).ok();
    let known = TABLE_LANGUAGES.split(' ').filter_map(|code| Some((code, file(code)?)));
    let digests: String = known.map(|(code, bytes)| format!("{code} {:032x}\n", xxh3_128(&bytes))).collect();
    if digests.is_empty() { "-".to_owned() } else { format!("{:032x}", xxh3_128(digests.as_bytes())) }
}

/// Compares outputs with the rows of their versions, and appends missing rows if that is asked for. An output has a name, a
/// version, the digest of its data and that of the output.
fn compare_with_golden(outputs: &[(String, u32, String, String)], remedy: &str) {
    let path = fixtures().join("behaviour/golden.tsv");
    let text = fs::read_to_string(&path).unwrap_or_else(|_| format!("{HEADER}\n"));
    let mut golden: BTreeMap<(&str, u32), (&str, &str)> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        golden.insert((fields[0], fields[1].parse().unwrap()), (fields[2], fields[3]));
    }
    let mut appended = String::new();
    for (name, version, tables, output) in outputs {
        match golden.get(&(name.as_str(), *version)) {
            Some(known) => assert_eq!(
                (tables.as_str(), output.as_str()),
                *known,
                "the output of {name} has changed, so its {remedy} must be greater than {version}; then run this test with \
                 TIDINGS_BLESS=1 and commit fixtures/behaviour/golden.tsv"
            ),
            None => {
                let _ = writeln!(appended, "{name}\t{version}\t{tables}\t{output}");
            }
        }
    }
    if !appended.is_empty() {
        assert!(
            std::env::var_os("TIDINGS_BLESS").is_some(),
            "fixtures/behaviour/golden.tsv has no row for a version; run with TIDINGS_BLESS=1 to append:\n{appended}"
        );
        fs::write(&path, text + &appended).unwrap();
    }
}

fn output_of(stage: &dyn Stage, pipeline: &Pipeline) -> String {
    let output = stage.output_digest(pipeline.home()).unwrap();
    output.unwrap_or_else(|| panic!("{} is derived, so it needs `Stage::output_digest`", stage.id()))
}

// One test, so that two do not write the file at once.
#[test]
fn output_changes_only_with_the_version_of_its_stage() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = built(folder.path(), &[]);
    let row = |stage: Box<dyn Stage>| {
        let output = output_of(stage.as_ref(), &pipeline);
        (stage.id().to_string(), stage.version(), tables(stage.as_ref()), output)
    };
    compare_with_golden(&derived().map(row).collect::<Vec<_>>(), "BEHAVIOUR_VERSION");

    let annotate = StageId::Annotate.stage();
    let row = |layer: &LayerAnnotator| {
        let folder = tempfile::tempdir().unwrap();
        let output = output_of(annotate.as_ref(), &built(folder.path(), &[layer.name]));
        (format!("layer {}", layer.name), layer.version, layer_tables(layer.name), output)
    };
    compare_with_golden(&LAYERS.iter().map(row).collect::<Vec<_>>(), "VERSION");
}
