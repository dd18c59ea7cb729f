//! A day that grows: every round does only what the day has gained, and the result is that of one round.
//!
//! Work is counted, not timed: documents annotated, tokens indexed. `dedup` judges documents again that share a phrase
//! with new ones, because their order by date decides which of two copies is the original; that is a fiftieth of the work.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidings_index::Snapshot;
use tidings_model::Page;
use tidings_pipeline::Pipeline;
use tidings_pipeline::stage::{StageId, StageOutcome};
use tidings_store::digest::{Digester, Stage, hex};
use tidings_store::text::TextRecipe;

const ROUNDS: usize = 24;
const PAGES_PER_ROUND: usize = 8;
const DAY: &str = "2026-03-01";
/// The work of many rounds, as a multiple of the work of one.
const MOST_WORK: f64 = 1.5;

/// Words of prose, from which texts are drawn.
fn vocabulary() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages/en/fixtures.tsv");
    let table = fs::read_to_string(path).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let words = lines.filter_map(|line| line.split('\t').next()).flat_map(str::split_whitespace);
    words.map(|word| word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase()).filter(|w| !w.is_empty()).collect()
}

/// Articles of different words; some are copies of earlier ones on another host.
fn articles(number: usize) -> Vec<Page> {
    let words = vocabulary();
    let mut random = fastrand::Rng::with_seed(7);
    let mut bodies: Vec<String> = Vec::new();
    (0..number)
        .map(|at| {
            let mut body = String::new();
            for _ in 0..4 {
                let mut sentence = || {
                    let mut text: Vec<&str> = (0..12).map(|_| words[random.usize(..words.len())].as_str()).collect();
                    text[0] = "The";
                    format!("{}. ", text.join(" "))
                };
                body += &format!("<p>{}{}{}</p>", sentence(), sentence(), sentence());
            }
            // An agency text.
            if at % 12 == 11 {
                body.clone_from(&bodies[at - 11]);
            }
            bodies.push(body.clone());
            let url = format!("https://paper-{}.example/{at}", at % 5);
            Page {
                final_url: url.clone(),
                url,
                feed: "https://paper.example/feed".into(),
                title: format!("Article {at}"),
                published: "2026-03-01T08:00:00Z".into(),
                seen: "2026-03-01T10:00:00.000Z".into(),
                downloaded: "2026-03-01T12:00:00.000Z".into(),
                status: 200,
                content_type: "text/html; charset=utf-8".into(),
                body: format!("<!doctype html><html lang=\"en\"><body><article><h1>Article {at}</h1>{body}</article></body></html>")
                    .into_bytes(),
                ..Page::default()
            }
        })
        .collect()
}

fn home() -> (TempDir, Pipeline) {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::create(folder.path()).unwrap();
    (folder, pipeline)
}

fn put_pages(pipeline: &Pipeline, name: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let folder = pipeline.home().root().join("pages").join(DAY);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.0.jsonl.zst")), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

/// What the stages did.
#[derive(Debug, Default)]
struct Work {
    annotated: u64,
    tokens_indexed: u64,
}

fn run_round(pipeline: &Pipeline, work: &mut Work) {
    for id in [StageId::Clean, StageId::Dedup, StageId::Annotate, StageId::Compile] {
        match pipeline.run(id.stage().as_ref()).unwrap() {
            StageOutcome::Annotate(outcome) => work.annotated += outcome.documents,
            StageOutcome::Compile(outcome) => {
                work.tokens_indexed += outcome.languages.values().map(|language| language.tokens_indexed).sum::<u64>();
            }
            _ => {}
        }
    }
}

/// The digests of documents, verdicts and text, which do not depend on the division into files.
fn digests(pipeline: &Pipeline) -> Vec<String> {
    let mut digester = Digester::open(pipeline.home(), true).unwrap();
    let stages = [Stage::Docs, Stage::Seen, Stage::Text];
    stages.map(|stage| hex(&digester.stage(stage, None, |_, _, _| {}).unwrap().root())).to_vec()
}

/// The files of text with their digests.
fn texts(pipeline: &Pipeline) -> BTreeMap<String, String> {
    let recipe = TextRecipe::read(pipeline.home(), DAY).unwrap().unwrap();
    recipe.outputs.into_iter().map(|output| (output.file, output.xxh3)).collect()
}

fn indexed(pipeline: &Pipeline) -> (u64, u64) {
    let snapshot = Snapshot::open(&pipeline.home().index_of("en")).unwrap();
    snapshot.verify().unwrap();
    (snapshot.documents(), snapshot.tokens())
}

#[test]
fn twenty_four_rounds_a_day_do_the_work_of_one_and_give_its_result() {
    let pages = articles(ROUNDS * PAGES_PER_ROUND);
    let ((_one, whole), (_two, grown), (_three, remade)) = (home(), home(), home());
    let (mut once, mut often) = (Work::default(), Work::default());
    put_pages(&whole, "a", &pages);
    run_round(&whole, &mut once);
    for (round, pages) in pages.chunks(PAGES_PER_ROUND).enumerate() {
        put_pages(&grown, &format!("r{round:02}"), pages);
        put_pages(&remade, &format!("r{round:02}"), pages);
        run_round(&grown, &mut often);
    }
    assert_eq!(digests(&grown), digests(&whole));
    run_round(&remade, &mut Work::default());
    assert_eq!(texts(&grown), texts(&remade), "the bytes of text depend on the documents alone");
    assert_eq!(indexed(&grown), indexed(&whole));
    assert!(once.annotated as usize > ROUNDS * PAGES_PER_ROUND / 2, "{once:?}");
    for (name, once, often) in [
        ("documents annotated", once.annotated, often.annotated),
        ("tokens indexed", once.tokens_indexed, often.tokens_indexed),
    ] {
        assert!(often as f64 <= once as f64 * MOST_WORK, "{name}: {often} in {ROUNDS} rounds, {once} in one");
    }
}
