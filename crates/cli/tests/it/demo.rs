//! `tidings demo`: the same corpus in every run, and planted words where a newcomer looks for them.
//!
//! The story of the demo is described in `crates/simweb/story/README.md`. One demo of ten years is shared by the tests of
//! this file; `TIDINGS_DEMO=FOLDER` takes that of an earlier run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use tidings_simweb::Spec;

use crate::axe;
use crate::browser::Browser;
use crate::serve::Server;
use crate::support::{Corpus, Ran, program, unpacked};

/// The demo of ten years, and what it printed.
struct Demo {
    home: PathBuf,
    printed: String,
}

static DEMO: LazyLock<Demo> = LazyLock::new(|| {
    let folder = match std::env::var_os("TIDINGS_DEMO") {
        Some(earlier) => PathBuf::from(earlier),
        // A folder that outlives no build: statics are not dropped.
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo of ten years"),
    };
    let (home, printed) = (folder.join("demo"), folder.join("printed.txt"));
    if std::env::var_os("TIDINGS_DEMO").is_none() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(&printed, run(&["demo", &home.display().to_string(), "--no-serve"]).ok().stdout).unwrap();
    }
    Demo { printed: fs::read_to_string(printed).unwrap(), home }
});

fn run(args: &[&str]) -> Ran {
    let output = program().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr), peak_kib: 0 }
}

impl Demo {
    fn ask(&self, args: &[&str]) -> Value {
        let home = self.home.display().to_string();
        run(&[&["--json"], args, &["--home", &home]].concat()).ok().json()
    }

    /// The first values of a list with default options.
    fn leaders(&self, list: &str, language: &str, rows: usize) -> Vec<String> {
        values(&self.ask(&[list, "--lang", language]), rows)
    }

    fn serve(&self) -> (Corpus, Server) {
        // Its own home stays empty.
        let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
        let mut command = corpus.command("serve --port 0");
        command.env("TIDINGS_HOME", &self.home);
        // Unoptimised builds on a busy machine are slow.
        command.env("TIDINGS_SERVE_TIME_LIMIT_S", "600");
        let server = Server::listening(&corpus, corpus.launch(command));
        (corpus, server)
    }
}

/// The values of the first rows of an answer.
fn values(answer: &Value, rows: usize) -> Vec<String> {
    let all = answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}"));
    all.iter().take(rows).map(|row| row["value"].as_str().unwrap().to_lowercase()).collect()
}

#[test]
fn demos_in_two_folders_and_on_two_ports_are_the_same_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let tree = |name: &str| {
        let home = folder.path().join(name).display().to_string();
        run(&["demo", &home, "--years", "1", "--no-serve"]).ok();
        run(&["digest", "--tree", "--home", &home]).ok().stdout
    };
    let (one, other) = (tree("one"), tree("the other's"));
    assert!(one.lines().count() > 40, "{one}");
    assert_eq!(one, other, "raw pages, documents, verdicts and text");
    let files = walk(&folder.path().join("one"));
    assert!(files.len() > 50);
    for file in files.iter().filter(|file| !file.starts_with(folder.path().join("one/runs"))) {
        let text = match file.extension().is_some_and(|extension| extension == "zst") {
            true => unpacked(file),
            false => String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned(),
        };
        assert!(!text.contains("127.1.0."), "an address of the machine in {}", file.display());
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn the_home_of_the_demo_is_healthy_and_its_commands_can_be_pasted() {
    let home = DEMO.home.display().to_string();
    run(&["status", "--home", &home]).ok().says("2025-12-31, the last day of the collection");
    assert!(!DEMO.printed.contains("127."), "{}", DEMO.printed);
    let commands: Vec<&str> = DEMO.printed.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() >= 6, "{}", DEMO.printed);
    let folder = tempfile::tempdir().unwrap();
    let path = format!(
        "{}:{}",
        Path::new(env!("CARGO_BIN_EXE_tidings")).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    for command in commands {
        let ran =
            Command::new("sh").args(["-e", "-c", command]).env("PATH", &path).current_dir(&folder).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
        assert!(!ran.stdout.is_empty(), "{command}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no redirection");
}

/// The planted words of each list and language, in lower case, and how many rows at its head are among them.
const PLANTED: [(&str, &str, usize, &[&str]); 9] = [
    ("trends", "en", 4, &["drought", "solar", "fax", "crowdbus", "rainbank"]),
    ("trends", "de", 4, &["dürre", "solarstrom", "fax", "schwarmbus", "regenbank"]),
    ("trends", "es", 3, &["sequía", "solar", "fax", "multibús", "multibú", "lluviabanco"]),
    ("bursts", "en", 3, &["eclipse", "moonferry", "ferrygate"]),
    ("bursts", "de", 1, &["sonnenfinsternis", "mondfähre", "fährgate"]),
    ("bursts", "es", 1, &["eclipse", "lunaferri", "ferrigate"]),
    ("new-words", "en", 2, &["rainbank", "moonferry"]),
    ("new-words", "de", 2, &["regenbank", "mondfähre"]),
    ("new-words", "es", 1, &["lluviabanco", "lunaferri"]),
];

#[test]
fn planted_words_lead_trends_bursts_and_new_words_with_default_options() {
    for (list, language, rows, planted) in PLANTED {
        let leaders = DEMO.leaders(list, language, rows);
        let lead = leaders.len() == rows && leaders.iter().all(|word| planted.contains(&word.as_str()));
        assert!(lead, "{list} {language}: {leaders:?} instead of {planted:?}");
    }
}

#[test]
fn the_interface_for_programs_gives_the_same_lists() {
    let (_corpus, server) = DEMO.serve();
    for (list, language) in [("trends", "en"), ("bursts", "de"), ("new-words", "es")] {
        let answer = server.json(&format!("/api/v1/{language}/{list}"), None);
        assert_eq!(values(&answer, 5), DEMO.leaders(list, language, 5), "{list} {language}");
    }
}

/// Five words of each language, with a collocate that their sentences have.
const COLLOCATES: [(&str, &str, &str); 15] = [
    ("en", "drought", "fear"),
    ("en", "harbour", "authority"),
    ("en", "school", "trip"),
    ("en", "eclipse", "glass"),
    ("en", "ferry", "passenger"),
    ("de", "Dürre", "Herbst"),
    ("de", "Fax", "Stempel"),
    ("de", "Schwarmbus", "bestellen"),
    ("de", "Sonnenfinsternis", "total"),
    ("de", "Solarstrom", "verkaufen"),
    ("es", "sequía", "agua"),
    ("es", "fax", "papel"),
    ("es", "multibús", "pedir"),
    ("es", "eclipse", "ver"),
    ("es", "solar", "energía"),
];

#[test]
fn collocations_and_sketches_are_sensible() {
    for (language, word, collocate) in COLLOCATES {
        let found = DEMO.ask(&["colloc", word, "--lang", language, "--attribute", "lemma", "--limit", "40"]);
        let lemmas = values(&found, 40);
        assert!(lemmas.contains(&collocate.to_lowercase()), "{language} {word}: {lemmas:?}");
        let sketch = DEMO.ask(&["sketch", word, "--lang", language]);
        let number = |relation: &Value, name: &str| relation[name].as_u64().unwrap();
        for relation in sketch["relations"].as_array().unwrap() {
            let is_varied = number(relation, "hits") < 60 || number(relation, "values") >= 2;
            assert!(is_varied, "{language} {word}: one word only: {relation}");
        }
    }
}

#[test]
fn the_copied_report_is_in_the_corpus_once_and_the_outage_shows() {
    let found = DEMO.ask(&[
        "freq",
        "[] within <doc title=\"Drought: reservoir falls below 30 per cent for first time\"/>",
        "--lang",
        "en",
        "--by",
        "site",
    ]);
    assert_eq!(values(&found, 9).len(), 1, "{found}");
    let sites = |from: &str, to: &str| {
        let filter = format!("date>={from} & date<={to}");
        let args = ["freq", "[]", "--lang", "en", "--by", "site", "--filter", &filter];
        values(&DEMO.ask(&args), 20)
    };
    let flooded = sites("2019-08-21", "2019-10-06");
    assert!(!flooded.contains(&"harbourpost.example".to_owned()) && flooded.len() >= 6, "{flooded:?}");
    assert!(sites("2019-10-08", "2019-11-30").contains(&"harbourpost.example".to_owned()));
    assert!(!sites("2020-01-01", "2020-12-31").contains(&"thecommons.example".to_owned()));
    assert!(sites("2021-01-01", "2021-12-31").contains(&"thecommons.example".to_owned()));
}

/// The words of a list of the page, in lower case.
fn listed(browser: &mut Browser, selector: &str) -> Vec<String> {
    let cells =
        format!("[...document.querySelectorAll({})].map((cell) => cell.textContent)", serde_json::json!(selector));
    let words = browser.eval(&cells);
    words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_lowercase()).collect()
}

#[test]
fn a_reader_finds_the_planted_words_where_the_page_shows_them_first() {
    let Some(mut browser) = Browser::start() else { return };
    let (_corpus, server) = DEMO.serve();
    let own = format!("http://{}/", server.address);
    let axe = axe::script();
    let mut violations = Vec::new();
    let mut check = |browser: &mut Browser| {
        let found = axe.iter().flat_map(|script| axe::violations(browser, script));
        violations.extend(found.collect::<Vec<_>>());
    };
    let is_planted = |list: &str, language: &str, word: &String| {
        let mut all = PLANTED.iter().filter(|row| row.0 == list && row.1 == language);
        all.any(|row| row.3.contains(&word.as_str()))
    };
    // The cards of the start page.
    browser.open(&own);
    browser.until("!document.querySelector('.card-body[aria-busy]')");
    let card = |number: usize| format!(".cards .card:nth-child({number}) .list th");
    for (number, list) in [(1, "trends"), (2, "new-words")] {
        let words = listed(&mut browser, &card(number));
        assert!(words.first().is_some_and(|word| is_planted(list, "en", word)), "{list}: {words:?}");
    }
    assert!(listed(&mut browser, &card(3)).len() >= 5, "names in the news");
    check(&mut browser);
    // Each list with its defaults.
    for (list, language, rows, planted) in PLANTED {
        browser.open(&format!("{own}?view={list}&lang={language}"));
        let words = listed(&mut browser, ".rows tbody th");
        let lead = words.len() >= rows && words[..rows].iter().all(|word| planted.contains(&word.as_str()));
        assert!(lead, "{list} {language}: {words:?}");
        check(&mut browser);
    }
    // The course of a word: the eclipse was in August 2021, and the chart says so to those who cannot see it.
    browser.open(&format!("{own}?view=timeline&lang=en&q=eclipse&as=lemma&by=month"));
    browser.eval("document.querySelector('.numbers').open = true");
    browser.until("document.querySelectorAll('.numbers tbody tr').length > 100");
    let peak = browser.eval(
        "[...document.querySelectorAll('.numbers tbody tr')].map((row) => [Number(row.cells[1].textContent.replaceAll(',', '')), \
         row.cells[0].textContent]).sort((one, other) => other[0] - one[0])[0][1]",
    );
    assert_eq!(peak, "Aug 2021");
    check(&mut browser);
    // A line of a concordance leads to the whole article.
    browser.open(&format!("{own}?lang=en&q=eclipse"));
    browser.click(".kwic td.site a");
    browser.until("document.querySelectorAll('.text[lang] mark').length > 0");
    assert!(browser.text(".text[lang]").split_whitespace().count() > 60, "{}", browser.text(".text[lang]"));
    check(&mut browser);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    let complaints = browser.complaints(&own, &[]);
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn every_example_of_the_help_finds_something_in_every_language() {
    let Some(mut browser) = Browser::start() else { return };
    let (_corpus, server) = DEMO.serve();
    for language in ["en", "de", "es"] {
        browser.open(&format!("http://{}/?view=help&lang={language}", server.address));
        browser.until("document.querySelectorAll('.examples dt a').length > 12");
        let links = browser.eval(
            "[...document.querySelectorAll('.examples dt a')].map((each) => \
             new URL(each.href).searchParams.get('q')).filter((query) => !query.includes(','))",
        );
        for query in links.as_array().unwrap() {
            let query: String = url::form_urlencoded::byte_serialize(query.as_str().unwrap().as_bytes()).collect();
            let hits = server.json(&format!("/api/v1/{language}/count?q={query}"), None)["hits"].clone();
            assert!(hits.as_u64() > Some(0), "{language} {query}");
        }
    }
}
