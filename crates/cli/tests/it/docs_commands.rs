//! The commands in the documentation: blocks of shell commands run as they are written, and commands in the
//! running text name commands and options that exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::import::{answer, gzip, record};
use crate::support::{copy_folder, program};

/// Pages whose blocks run, before all how-tos, each in a fresh copy of the sample folder.
const PAGES: [&str; 4] = ["README.md", "docs/TUTORIAL.md", "docs/COMMANDS.md", "docs/RELEASES.md"];

/// The reasons for which a block may be left out, as `<!-- not run: REASON -->` before it.
const REASONS: [&str; 10] = [
    "builds the workspace",
    "changes the system",
    "needs an object store",
    GNU_PARALLEL,
    "needs NoSketch Engine",
    "needs several machines",
    "needs the public web",
    "no sample file",
    "runs until Ctrl-C",
    "takes a minute or two",
];

/// The reason of blocks that run where GNU parallel is installed.
const GNU_PARALLEL: &str = "needs GNU parallel";

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// A fenced block of a page.
struct Block {
    line: usize,
    language: String,
    text: String,
    /// The reason not to run it.
    skipped: Option<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_open, mut before) = (false, String::new());
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if is_open => is_open = false,
            Some(language) => {
                is_open = true;
                let reason = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let skipped = reason.map(str::to_owned);
                blocks.push(Block { line: number + 1, language: language.to_owned(), text: String::new(), skipped });
            }
            None if is_open => blocks.last_mut().unwrap().text += &format!("{line}\n"),
            None => {}
        }
        before = line.to_owned();
    }
    blocks
}

/// The shell blocks of a page that are left out for a reason.
pub fn blocks_left_out(page: &str, reason: &str) -> Vec<String> {
    let left_out = blocks(&read(page)).into_iter().filter(|block| block.skipped.as_deref() == Some(reason));
    left_out.filter(|block| block.language == "sh").map(|block| block.text).collect()
}

#[test]
fn shell_blocks_of_the_documentation_run_as_they_are_written() {
    let samples = samples();
    let how_tos = fs::read_dir(repository().join("docs/how-to")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut how_tos: Vec<String> = how_tos.map(|name| format!("docs/how-to/{}", name.to_string_lossy())).collect();
    how_tos.sort();
    for page in PAGES.into_iter().chain(how_tos.iter().map(String::as_str)) {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(samples.path(), folder.path());
        for block in blocks(&read(page)) {
            let has_commands = block.text.lines().any(|line| line.starts_with("tidings "));
            assert!(!has_commands || ["sh", "text", "r"].contains(&block.language.as_str()), "{page}:{}", block.line);
            match &block.skipped {
                Some(reason) if reason == GNU_PARALLEL => {
                    if has_gnu_parallel() {
                        run(&block, page, folder.path());
                    } else {
                        tidings_testing::skip("GNU parallel is missing (Debian: apt-get install parallel)");
                    }
                }
                Some(reason) => assert!(REASONS.contains(&reason.as_str()), "{page}:{}: {reason}", block.line),
                None if block.language == "sh" => run(&block, page, folder.path()),
                None => {}
            }
        }
    }
}

/// Whether the program is GNU parallel: that of moreutils has the same name and other options.
fn has_gnu_parallel() -> bool {
    let version = Command::new("parallel").arg("--version").output();
    version.is_ok_and(|version| version.stdout.starts_with(b"GNU parallel"))
}

fn run(block: &Block, page: &str, folder: &Path) {
    let at = |name: &str| folder.join(name).display().to_string();
    let script = block.text.replace("/mnt/other-disk", &at("mnt")).replace("/srv/", &at("srv/"));
    let path = format!("{}:{}", at("bin"), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TIDINGS_")) {
        shell.env_remove(name);
    }
    shell.args(["-e", "-c", &script]).current_dir(folder).env("PATH", path).env("TIDINGS_HOME", at("home"));
    let output = shell.output().unwrap();
    assert!(
        output.status.success(),
        "{page}:{}: {}\n{script}\n{}{}",
        block.line,
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A folder with a small corpus, with the files that the examples read, and with the programs that they call.
fn samples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    programs(folder.path());
    let fixture = |name: &str| fs::read(repository().join("fixtures").join(name)).unwrap();
    for page in ["gazette", "guide", "state"] {
        let html = fixture(&format!("pages/{page}.html"));
        write(&format!("saved/{page}.html"), &html);
        write(&format!("saved-pages/{page}.html"), &html);
    }
    write("page.html", &fixture("pages/gazette.html"));
    write("text.txt", "The storm closed two bridges.\nNobody was hurt.\n".as_bytes());
    write("letters.jsonl", format!("{}\n", json!({ "id": "t1", "text": sentences(7_000, 6) })).as_bytes());
    write("firms.txt", b"Acme\n");
    write("treebank.conllu", &fixture("formats/inputs/treebank.conllu"));
    write("corpus.vert", b"<doc id=\"v1\" lang=\"en\">\n<s>\nStorms\tNOUN\tstorm\nfall\tVERB\tfall\n</s>\n</doc>\n");
    write(
        "debates.tei.xml",
        b"<TEI><text><body><p><s><w lemma='storm'>Storms</w><w>fall</w></s></p></body></text></TEI>",
    );
    let opml = b"<opml version='2.0'><body><outline type='rss' xmlUrl='https://a.example/feed.xml'/></body></opml>";
    write("feeds.opml", opml);
    write("subscriptions.opml", opml);
    let html = answer("", &fixture("pages/guide.html"));
    let date = "2026-03-01T12:00:00Z";
    let archive =
        gzip(&record("response", "https://gazette.example/guide", date, "Content-Type: application/http\r\n", &html));
    write("crawl/first.warc.gz", &archive);
    write("CC-NEWS-20260301120000-00001.warc.gz", &archive);
    let lines = format!("{}\n", sentences(8_000, 3));
    let wet =
        gzip(&record("conversion", "https://b.example/wet", date, "Content-Type: text/plain\r\n", lines.as_bytes()));
    write("CC-MAIN-2026.warc.wet.gz", &wet);
    let page = json!({
        "url": "https://b.example/old", "feed": "https://b.example/feed", "title": "Old", "published": null,
        "seen": "2025-01-02T03:04:05+00:00", "downloaded": "2025-01-02T04:00:00+00:00",
        "body_base64": "PGh0bWw+aGk8L2h0bWw+", "content_type": ["text/html"],
    });
    write("old/pages/first.jsonl.zst", &zstd::encode_all(format!("{page}\n").as_bytes(), 1).unwrap());
    let entry = "7\tok\t1\t2025-01-02T03:04:05+00:00\t2025-01-01T00:00:00+00:00\thttps://b.example/feed\thttps://b.example/old\tOld\n";
    write("old/plan.tsv", entry.as_bytes());
    write("texts.in.jsonl", texts().as_bytes());
    let home = folder.path().join("home");
    let tidings = |words: &str| {
        let mut command = program();
        command.current_dir(folder.path()).env("TIDINGS_HOME", &home).args(words.split(' '));
        assert!(command.output().unwrap().status.success(), "{words}");
    };
    tidings("init home");
    tidings("import texts.in.jsonl --no-gate --date 2026-07-01");
    tidings("import saved --date 2026-07-01 --no-gate");
    tidings("run --from clean");
    fs::remove_file(folder.path().join("texts.in.jsonl")).unwrap();
    copy_folder(&home, &folder.path().join("demo"));
    folder
}

/// The programs that stand before and after `tidings` in pipes.
fn programs(folder: &Path) {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_tidings"), bin.join("tidings"))
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_tidings"), bin.join("tidings")).map(drop))
        .unwrap();
    let text = sentences(9_000, 3);
    let crawled = json!({
        "id": "1", "url": "https://a.example/1", "lang": "en", "text": text,
        "html": format!("<html><body><article><p>{text}</p></article></body></html>"), "paragraphs": [text],
    });
    let scripts = [
        ("crawler", format!("cat <<'END'\n{crawled}\nEND")),
        ("firehose", "echo https://a.example/feed.xml".to_owned()),
        ("your-program", "cat >/dev/null".to_owned()),
    ];
    for (name, script) in scripts {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        let mut command = Command::new("chmod");
        assert!(command.arg("+x").arg(bin.join(name)).status().unwrap().success());
    }
}

/// Documents in two languages over six months, with the addresses, sites and attributes that the examples name.
fn texts() -> String {
    let sites = ["gazette.example", "a.example", "b.example", "example.org", "www.your-newspaper.example"];
    let known = [
        "https://gazette.example/a",
        "https://example.org/2026/03/story",
        "https://www.your-newspaper.example/some-article",
    ];
    let mut lines = String::new();
    for number in 0..300 {
        let (month, day, site) = (1 + number % 6, 1 + number % 27, sites[number % 5]);
        let is_german = number % 4 == 3;
        let (language, text) = match is_german {
            true => ("de", german(number)),
            false => ("en", sentences(number * 8, 8)),
        };
        let url = known.get(number).map_or_else(|| format!("https://{site}/{number}"), |url| (*url).to_owned());
        let line = json!({
            "id": format!("t{number}"), "url": url, "source": site, "created": format!("2026-{month:02}-{day:02}"),
            "title": format!("Story {number}"), "language": language, "text": text,
            "metadata": {
                "topic": if number % 2 == 0 { "sport" } else { "national" },
                "country": if is_german { "at" } else { "gb" }, "license": "CC0-1.0",
            },
        });
        lines += &format!("{line}\n");
    }
    lines
}

/// A word of a list, another one for each number.
fn pick<'a>(words: &[&'a str], number: usize) -> &'a str {
    // Knuth's multiplicative hash spreads neighbouring numbers.
    words[(number.wrapping_mul(2_654_435_761) >> 7) % words.len()]
}

/// English sentences, no two of which are alike.
fn sentences(first: usize, count: usize) -> String {
    let nouns = ["storm", "flood", "council", "strike", "climate", "crisis", "policy", "decision", "bridge", "school"];
    let verbs = ["reaches", "closes", "changes", "follows", "opens", "crosses", "repairs", "visits", "measures"];
    let others = ["heavy", "local", "late", "public", "quiet", "sudden", "northern", "annual", "narrow", "modern"];
    let sentence = |n: usize| {
        format!(
            "The {} {} {} {} {} near {} {} in room {n}.",
            pick(&others, n),
            pick(&nouns, 3 * n + 1),
            pick(&verbs, 5 * n + 2),
            pick(&others, 7 * n + 3),
            pick(&nouns, 11 * n + 4),
            pick(&others, 13 * n + 5),
            pick(&nouns, 17 * n + 6),
        )
    };
    let made = (first..first + count).map(sentence).collect::<Vec<_>>().join(" ");
    format!("{made} They make a quick decision about climate change and the heat wave, and go home.")
}

fn german(first: usize) -> String {
    let nouns = ["Sturm", "Fluss", "Brief", "Garten", "Markt", "Winter", "Lehrer", "Wald", "Hafen"];
    let plurals = ["Häuser", "Kinder", "Gärten", "Briefe", "Wälder", "Märkte", "Schulen"];
    let sentence = |n: usize| {
        format!(
            "Die alten {} sehen den großen {} hinter den {} der kleinen Stadt, sagt Zeuge {n} über den {}.",
            pick(&plurals, n),
            pick(&nouns, 3 * n + 1),
            pick(&plurals, 5 * n + 2),
            pick(&nouns, 7 * n + 3),
        )
    };
    (first * 8..first * 8 + 6).map(sentence).collect::<Vec<_>>().join(" ")
}

/// The Markdown files that mention commands.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![repository().join("README.md"), repository().join("packaging/README.md")];
    for folder in ["docs", "docs/how-to", "docs/notes"] {
        let entries = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    // The first lines of files, such as `tidings segment 1`, look like commands.
    pages.retain(|path| !path.ends_with("docs/FORMATS.md"));
    pages
}

/// The command lines of `tidings` in a page, in code spans and in blocks.
fn command_lines(page: &str) -> Vec<String> {
    let blocks: String = blocks(page).into_iter().map(|block| block.text).collect();
    let prose: String = page.split("\n```").step_by(2).collect();
    let spans: Vec<String> = prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect();
    let lines = blocks.lines().map(|line| line.split(" #").next().unwrap_or_default().to_owned());
    let parts = spans
        .into_iter()
        .chain(lines)
        .flat_map(|line| line.split(['|', ';', '&']).map(str::to_owned).collect::<Vec<_>>());
    // `sudo -u tidings tidings …` names the program last.
    parts.filter_map(|part| part.rfind("tidings ").map(|at| part[at..].to_owned())).collect()
}

#[test]
fn commands_and_options_in_the_documentation_exist() {
    let help = |words: &[&str]| {
        let output = program().arg("help").args(words).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut faults = Vec::new();
    for path in pages() {
        for line in command_lines(&fs::read_to_string(&path).unwrap()) {
            let mut words = line.split_whitespace().skip(1);
            // Options of the whole program may stand before the command.
            let Some(name) = words.find(|word| !word.starts_with('-')) else { continue };
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
                continue;
            }
            let text = known.entry(name.to_owned()).or_insert_with(|| {
                let subcommands =
                    ["add", "list", "revoke", "save", "languages", "remove", "freeze", "unfreeze", "across"];
                let nested = subcommands.iter().filter_map(|sub| help(&[name, sub]));
                Some(help(&[name])? + &nested.collect::<String>())
            });
            let options = line.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
            let options = options.map(|word| word.split(['=', ',', '.', ')']).next().unwrap_or_default());
            match text {
                None => faults.push(format!("{}: no command `{name}` in: {line}", path.display())),
                Some(text) => {
                    for option in options.filter(|option| !text.contains(*option)) {
                        faults.push(format!("{}: `{name}` has no {option} in: {line}", path.display()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
