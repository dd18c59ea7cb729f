//! `tidings export`: every format, included and excluded documents, and readability by other tools.
//!
//! If `TIDINGS_TOOLS` is set (a Python with the packages of `.ci/tools/requirements.txt`), the files are read by other
//! programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tidings_model::{Page, Rights};

use crate::clean::{corpus, page, put};
use crate::support::{Corpus, copy_folder};

const LINES: [[&str; 2]; 4] = [
    [
        "The river rose by 30 centimetres in the night, and the mayor of Aldersea asked everybody to stay at home.",
        "Der Fluss stieg in der Nacht um 30 Zentimeter, und der Bürgermeister von Aldersea bat alle, zu Hause zu bleiben.",
    ],
    [
        "Nobody was hurt. The bridge stays closed until Monday, said the mayor, and the trains wait at the border.",
        "Niemand wurde verletzt. Die Brücke bleibt bis Montag gesperrt, sagte der Bürgermeister, und die Züge warten an der Grenze.",
    ],
    [
        "Farmers fear for the harvest of the year, because the fields along the river have stood under water for 12 days.",
        "Die Bauern fürchten um die Ernte des Jahres, weil die Felder am Fluss seit 12 Tagen unter Wasser stehen.",
    ],
    [
        "In the afternoon the rain is expected to end, and the water should fall slowly from the beginning of the week.",
        "Am Nachmittag soll der Regen aufhören, und das Wasser sollte vom Anfang der Woche an langsam fallen.",
    ],
];

/// An article in one of two languages with a given head and unique sentences in every paragraph.
fn article(number: usize, language: usize, head: &str) -> Page {
    let codes = ["en", "de"];
    let own = ["It is the", "Das ist die"][language];
    let paragraphs: String = LINES
        .iter()
        .enumerate()
        .map(|(at, line)| {
            format!(
                "<p>{} {own} {}{number}{at}.</p>",
                line[language],
                ["story number ", "Geschichte Nummer "][language]
            )
        })
        .collect();
    let links: String = codes
        .iter()
        .map(|code| format!("<link rel=alternate hreflang={code} href=\"http://e.org/{code}/{number}\">"))
        .collect();
    let html = format!(
        "<!DOCTYPE html><html lang={}><head><title>Flood {number}</title><meta property=\"article:published_time\" \
         content=\"2026-0{}-1{}\"><meta name=keywords content=\"rain, river\">\
         <script type=\"application/ld+json\">{{\"@type\":\"NewsArticle\",\"headline\":\"Flood {number}\",\"author\":{{\"@type\":\"Person\",\"name\":\"Ann Lee\"}}}}</script>{links}{head}</head><body><article><h1>Flood {number}</h1>\
         {paragraphs}</article><footer><p>Ann Lee</p></footer></body></html>",
        codes[language],
        1 + number % 2,
        number % 9,
    );
    let mut page = page(number, html.as_bytes(), "text/html; charset=utf-8");
    page.url = format!("http://e.org/{}/{number}", codes[language]);
    page.final_url.clone_from(&page.url);
    page
}

const OPEN: &str = "<link rel=license href=\"https://creativecommons.org/licenses/by/4.0/\">";

/// Six articles in two languages: the first four have an open licence, one of them is reserved nevertheless.
pub fn filled() -> Corpus {
    let corpus = corpus();
    let mut pages = Vec::new();
    for number in 0..6 {
        for language in 0..2 {
            let mut page = article(number, language, if number < 4 { OPEN } else { "" });
            if number == 3 {
                page.rights = Rights { tdmrep: Some("1".into()), ..Rights::default() };
            }
            pages.push(page);
        }
    }
    put(&corpus, "2026-03-01", "a.0", &pages[..8]);
    put(&corpus, "2026-03-02", "a.0", &pages[8..]);
    keep_duplicates(&corpus);
    for verb in ["clean", "annotate", "compile"] {
        corpus.run(verb).ok();
    }
    corpus
}

/// Generated articles repeat themselves; duplicates are the subject of other tests.
fn keep_duplicates(corpus: &Corpus) {
    let settings = crate::support::settings(&[]) + "\n[annotate]\nduplicates = \"keep\"\n";
    fs::write(corpus.home().join("tidings.toml"), settings).unwrap();
}

/// Runs an export and returns its manifest.
fn export(corpus: &Corpus, args: &str, name: &str) -> Value {
    let target = corpus.beside(name);
    corpus.run(&format!("export {args} {}", target.display())).ok();
    manifest(corpus, name)
}

fn manifest(corpus: &Corpus, name: &str) -> Value {
    serde_json::from_slice(&fs::read(corpus.beside(&format!("{name}.manifest.json"))).unwrap()).unwrap()
}

fn text(corpus: &Corpus, name: &str) -> String {
    fs::read_to_string(corpus.beside(name)).unwrap()
}

/// Reads a file with a short Python script of another tool; returns its output.
fn tool_says(script: &str, path: &Path) -> Option<String> {
    let Ok(python) = std::env::var("TIDINGS_TOOLS") else {
        tidings_testing::skip("TIDINGS_TOOLS names no Python with the packages of .ci/tools/requirements.txt");
        return None;
    };
    let ran = Command::new(python).args(["-c", script]).arg(path).output().expect("Python starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[test]
fn json_lines_contain_the_selection_and_the_manifest_adds_up() {
    let corpus = filled();
    let manifest = export(&corpus, "--format jsonl", "all.jsonl");
    let lines: Vec<Value> =
        text(&corpus, "all.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 12);
    assert_eq!(manifest["documents"], serde_json::json!({ "read": 12, "written": 12, "left_out": {} }));
    let first = &lines[0];
    assert_eq!((&first["source"], &first["metadata"]["language"]), (&"e.org".into(), &"de".into()));
    assert!(
        first["text"].as_str().unwrap().contains("Bürgermeister") && first["created"].as_str().unwrap().ends_with("Z")
    );
    // The digest is that of standard tools.
    let sum = Command::new("sha256sum").arg(corpus.beside("all.jsonl")).output().unwrap();
    assert!(String::from_utf8_lossy(&sum.stdout).starts_with(manifest["files"][0]["sha256"].as_str().unwrap()));

    // With any number of threads, and into a pipe.
    export(&corpus, "--format jsonl --threads 3", "again.jsonl");
    assert_eq!(text(&corpus, "again.jsonl"), text(&corpus, "all.jsonl"));
    assert_eq!(corpus.run("export --format jsonl -").ok().stdout, text(&corpus, "all.jsonl"));
    export(&corpus, "--format jsonl", "packed.jsonl.zst");
    assert_eq!(crate::support::unpacked(&corpus.beside("packed.jsonl.zst")), text(&corpus, "all.jsonl"));

    // Every filter.
    let count = |args: &str, name: &str| {
        export(&corpus, &format!("--format jsonl {args}"), name)["documents"]["written"].clone()
    };
    assert_eq!(count("--lang de", "de"), 6);
    assert_eq!(count("--from 2026-02", "from"), 6);
    assert_eq!(count("--to 2026-01-31 --lang en", "to"), 3);
    assert_eq!(count("--site nowhere.example", "site"), 0);
    assert_eq!(count("--filter date=2026-01", "filter"), 6);
    assert_eq!(count("--cql Bürgermeister", "cql"), 6);
    corpus.run("corpus save january date=2026-01").ok();
    assert_eq!(count("--in january", "in"), 6);

    // Nothing is replaced without --force.
    corpus.run(&format!("export --format jsonl {}", corpus.beside("de").display())).exits(1).says("--force");
    corpus.run(&format!("export --format jsonl --force --lang en {}", corpus.beside("de").display())).ok();
    assert!(text(&corpus, "de").contains("mayor"));
    corpus.is_tidy();
}

#[test]
fn rights_decide_by_purpose() {
    let corpus = filled();
    let all =
        |purpose: &str| export(&corpus, &format!("--format jsonl --purpose {purpose}"), purpose)["documents"].clone();
    assert_eq!(all("research")["written"], 12);
    let train = all("train");
    assert_eq!((&train["written"], &train["left_out"]), (&10.into(), &serde_json::json!({ "tdm-reserved": 2 })));
    let public = all("public");
    assert_eq!(public["left_out"], serde_json::json!({ "no-licence": 4, "tdm-reserved": 2 }));
    let told = corpus.run(&format!(
        "export --format jsonl --purpose public --explain --force {}",
        corpus.beside("public").display()
    ));
    assert!(told.ok().stdout.contains("tdm-reserved\thttp://e.org/de/3\n"));
    // If five copies count as five texts, n-grams can reveal a text.
    corpus
        .run(&format!("export --format ngrams --n 2 --purpose public {}", corpus.beside("x").display()))
        .exits(1)
        .says("could be reconstructed");
    fs::write(corpus.home().join("tidings.toml"), crate::support::settings(&[])).unwrap();
    corpus.run("dedup").ok();
    corpus.run("annotate").ok();
    // Counts may be published when texts may not.
    let counts = export(&corpus, "--format ngrams --n 2 --purpose public", "counts.tsv");
    let left_out: Vec<&String> = counts["documents"]["left_out"].as_object().unwrap().keys().collect();
    assert!(left_out.iter().all(|reason| *reason == "duplicate") && counts["documents"]["read"] == 12, "{counts}");
    corpus
        .run(&format!("export --format ngrams --threshold 1 --purpose public {}", corpus.beside("x").display()))
        .exits(1);

    keep_duplicates(&corpus);
    corpus.run("annotate").ok();
    // Hidden documents are excluded from all exports.
    corpus.run("compile --hide http://e.org/en/0").ok();
    assert_eq!(export(&corpus, "--format jsonl", "rest")["documents"]["left_out"], serde_json::json!({ "hidden": 1 }));
}

#[test]
fn duplicates_are_exported_once() {
    let corpus = corpus();
    let mut pages: Vec<Page> = (0..3).map(|number| article(number, 0, "")).collect();
    put(&corpus, "2026-03-01", "a.0", &pages[..2]);
    // The same page elsewhere.
    pages[0].url = "http://copy.example/1".into();
    put(&corpus, "2026-03-02", "a.0", &[pages[0].clone(), pages[2].clone()]);
    for verb in ["clean", "dedup", "annotate"] {
        corpus.run(verb).ok();
    }
    let documents = export(&corpus, "--format jsonl", "once.jsonl");
    let tokens = export(&corpus, "--format conllu", "once.conllu");
    assert_eq!(documents["documents"], tokens["documents"], "documents and tokens agree");
    assert!(documents["documents"]["left_out"]["duplicate"].as_u64().unwrap() >= 1);
    assert!(!text(&corpus, "once.jsonl").contains("copy.example"));
    // A day that waits is named.
    put(&corpus, "2026-03-03", "a.0", &[article(7, 0, "")]);
    corpus.run("clean").ok();
    corpus
        .run(&format!("export --format jsonl --force {}", corpus.beside("once.jsonl").display()))
        .ok()
        .says("run `tidings dedup` first");
}

#[test]
fn tables_can_be_read_by_other_programs() {
    let corpus = filled();
    let manifest = export(&corpus, "--format parquet", "table");
    assert_eq!(manifest["figures"], serde_json::json!({ "partitions": 4, "rows": 12 }));
    assert!(corpus.beside("table/language=de/month=2026-01/part-00000.parquet").is_file());
    let arrow = tool_says(
        "import sys, pyarrow.dataset as ds\n\
         t = ds.dataset(sys.argv[1], partitioning='hive').to_table()\n\
         r = sorted(t.to_pylist(), key=lambda r: r['url'])\n\
         print(t.num_rows, t.schema.field('date').type, t.schema.field('downloaded').type, t.schema.field('authors').type,\n\
         r[0]['authors'], r[0]['date'], r[0]['language'], r[0]['month'], r[0]['licence'], r[0]['tags'], r[11]['licence'], 'Fluss' in r[0]['text'])",
        &corpus.beside("table"),
    );
    if let Some(arrow) = arrow {
        let types = "12 date32[day] timestamp[us, tz=UTC] list<element: string not null>";
        assert_eq!(arrow, format!("{types} ['Ann Lee'] 2026-01-10 de 2026-01 CC-BY-4.0 ['rain', 'river'] None True"));
    }
    let duck = tool_says(
        "import sys, duckdb\n\
         print(duckdb.sql(f\"select language, month, count(*), min(date), sum(len(authors)), count(licence) from \
         '{sys.argv[1]}/**/*.parquet' where date >= '2026-02-01' group by all order by all\").fetchall())",
        &corpus.beside("table"),
    );
    if let Some(duck) = duck {
        let day = "datetime.date(2026, 2, 12)";
        assert_eq!(
            duck,
            format!(
                "[('de', '2026-02', 3, {}, 3, 2), ('en', '2026-02', 3, {}, 3, 2)]",
                day.replace("12", "11"),
                day.replace("12", "11")
            )
        );
    }

    export(&corpus, "--format csv --bom", "table.csv");
    export(&corpus, "--format tsv", "table.tsv");
    let rows = "import sys, csv\n\
        rows = list(csv.DictReader(open(sys.argv[1], encoding='utf-8-sig', newline=''), delimiter='\\t' if sys.argv[1].endswith('tsv') else ','))\n\
        print(len(rows), rows[0]['title'], rows[0]['text'].count('\\n'))";
    assert!(text(&corpus, "table.csv").starts_with("\u{feff}id,url,"));
    let (csv, tsv) = (tool_says(rows, &corpus.beside("table.csv")), tool_says(rows, &corpus.beside("table.tsv")));
    assert_eq!(csv, tsv);
    if let Some(csv) = csv {
        assert!(csv.starts_with("12 Flood 0 "), "{csv}");
    }
}

#[test]
fn tokens_can_be_read_by_other_programs() {
    let corpus = filled();
    export(&corpus, "--format conllu --lang en", "en.conllu");
    let found = tool_says(
        "import sys, conllu\n\
         s = list(conllu.parse_incr(open(sys.argv[1], encoding='utf-8')))\n\
         docs = [x.metadata['newdoc id'] for x in s if 'newdoc id' in x.metadata]\n\
         def surface(x):\n\
         \x20   last, text = 0, ''\n\
         \x20   for t in x:\n\
         \x20       if isinstance(t['id'], int) and t['id'] <= last: continue\n\
         \x20       last = t['id'][2] if isinstance(t['id'], tuple) else last\n\
         \x20       text += t['form'] + ('' if (t['misc'] or {}).get('SpaceAfter') == 'No' else ' ')\n\
         \x20   return text.strip()\n\
         rebuilt = all(x.metadata['text'] == surface(x) for x in s)\n\
         print(len(docs), len(set(docs)), len(set(x.metadata['sent_id'] for x in s)) == len(s), rebuilt)",
        &corpus.beside("en.conllu"),
    );
    if let Some(found) = found {
        assert_eq!(found, "6 6 True True");
    }

    export(&corpus, "--format parquet-tokens", "tokens");
    let arrow = tool_says(
        "import sys, json, pyarrow.dataset as ds\n\
         t = ds.dataset(sys.argv[1], partitioning='hive').to_table()\n\
         rows = t.to_pylist()\n\
         even = all(len(r['word']) == len(r['lemma']) == len(r['tag']) == len(r['sentence']) for r in rows)\n\
         spans = [(r, s) for r in rows for s in r['spans']]\n\
         inside = all(r['word'][s['start']] == s['text'].split()[0] for r, s in spans if s['text'])\n\
         print(t.num_rows, t.schema.field('word').type, even, inside, all(type(json.loads(s['attributes'])) == dict for _, s in spans))",
        &corpus.beside("tokens"),
    );
    if let Some(arrow) = arrow {
        assert_eq!(arrow, "12 list<element: string not null> True True True");
    }

    let manifest = export(&corpus, "--format conllu-plus", "plus");
    let plus = text(&corpus, "plus/de/tokens.conllup");
    assert!(plus.starts_with("# global.columns = ID FORM LEMMA UPOS"), "{plus}");
    let rows: Vec<Vec<&str>> = plus
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    let numbers = |column: usize| rows.iter().map(|row| row[column].parse::<u64>().unwrap()).collect::<Vec<u64>>();
    assert!(
        plus.lines().next().is_some_and(|head| head.ends_with("TIDINGS:SPANS") || head.contains("SPANS")),
        "{plus}"
    );
    assert!(rows.iter().all(|row| row.len() == 14));
    assert_eq!(numbers(10), (1..=rows.len() as u64).collect::<Vec<u64>>(), "tokens are counted through");
    assert!(numbers(11).is_sorted() && numbers(12).is_sorted());
    assert_eq!(manifest["figures"]["languages"]["de"]["texts"], 6);
    let foreign: BTreeSet<u64> = numbers(11).into_iter().collect();
    let sentences = text(&corpus, "plus/de/sentences.tsv");
    let listed: BTreeSet<u64> =
        sentences.lines().skip(1).map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert_eq!(foreign, listed, "every sentence has its line");
    assert_eq!(text(&corpus, "plus/alignment.texts.tsv").lines().count(), 7);
    let aligned = text(&corpus, "plus/alignment.sentences.tsv");
    assert!(aligned.lines().nth(1).unwrap().starts_with("de\t1\ten\t1\tscore="), "{aligned}");
    let found = tool_says(
        "import sys, conllu\nprint(len(list(conllu.parse_incr(open(sys.argv[1] + '/de/tokens.conllup', encoding='utf-8')))))",
        &corpus.beside("plus"),
    );
    if let Some(found) = found {
        assert_eq!(found, listed.len().to_string());
    }

    export(&corpus, "--format vertical", "news.vert");
    let vertical = text(&corpus, "news.vert");
    let registry = text(&corpus, "news.vert.registry");
    assert_eq!(vertical.matches("<doc id=").count(), 12);
    assert!(vertical.contains("<p kind=\"p\">") && registry.contains("STRUCTURE p {\n\tATTRIBUTE kind"), "{registry}");
    // Everything in the file is named in the registry.
    crate::registry::read(&registry).and_then(|corpus| corpus.fits(&vertical)).unwrap();
    export(&corpus, "--format vertical --lang en", "it's.vert.gz");
    crate::registry::read(&text(&corpus, "it's.vert.gz.registry")).unwrap();
}

#[test]
fn tei_and_plain_text_are_complete() {
    let corpus = filled();
    export(&corpus, "--format tei", "all.xml");
    let found = tool_says(
        // A part of TEI, quickly read.
        "import sys, os, importlib.util\n\
         from lxml import etree\n\
         tree = etree.parse(sys.argv[1])\n\
         dtd = etree.DTD(os.path.join(os.path.dirname(importlib.util.find_spec('trafilatura').origin), 'data', 'tei_corpus.dtd'))\n\
         ok = dtd.validate(tree)\n\
         print(ok, len(tree.getroot().findall('{http://www.tei-c.org/ns/1.0}TEI')), '' if ok else dtd.error_log[0])",
        &corpus.beside("all.xml"),
    );
    if let Some(found) = found {
        assert_eq!(found, "True 12");
    }
    // All of TEI, with every kind of paragraph and mark.
    let corpus = of_all_kinds();
    export(&corpus, "--format tei", "kinds.xml");
    let found = tool_says(
        "import sys, os, importlib.util\n\
         from lxml import etree\n\
         found = importlib.util.find_spec('schemas')\n\
         path = os.path.join(os.path.dirname(found.origin), 'tei_all.rng') if found else ''\n\
         rng = etree.RelaxNG(etree.parse(path)) if os.path.exists(path) else None\n\
         tree = etree.parse(sys.argv[1])\n\
         names = {etree.QName(e).localname for e in tree.iter('{*}*')}\n\
         print('none' if rng is None else rng.validate(tree), sorted(names), rng and list(rng.error_log)[:3] or '')",
        &corpus.beside("kinds.xml"),
    );
    match found.as_deref() {
        Some(none) if none.starts_with("none") => tidings_testing::skip("there is no tei_all.rng"),
        Some(found) => {
            assert!(found.starts_with("True "), "{found}");
            let names = ["'table'", "'code'", "'list'", "'quote'", "'head'", "'hi'", "'ref'"];
            assert!(names.iter().all(|name| found.contains(name)), "{found}");
        }
        None => {}
    }
    let corpus = filled();
    export(&corpus, "--format text --lang en", "all.txt");
    assert_eq!(text(&corpus, "all.txt").matches("\n\n").count(), 6);
}

#[test]
fn raw_pages_are_exported_as_warc_with_an_index() {
    let corpus = filled();
    let manifest = export(&corpus, "--format warc --lang de", "pages.warc.gz");
    assert_eq!(manifest["figures"]["pages"], 6);
    let index = text(&corpus, "pages.warc.gz.cdxj");
    assert_eq!(index.lines().count(), 6);
    assert!(index.lines().is_sorted() && index.starts_with("org,e)/de/0 20260301120000 {"), "{index}");
    let found = tool_says(
        "import sys, json\n\
         from warcio.archiveiterator import ArchiveIterator\n\
         from warcio.checker import Checker\n\
         kinds = {}\n\
         for r in ArchiveIterator(open(sys.argv[1], 'rb'), check_digests='raise'):\n\
         \x20   body = r.content_stream().read()\n\
         \x20   kinds[r.rec_type] = kinds.get(r.rec_type, 0) + 1\n\
         for line in open(sys.argv[1] + '.cdxj', encoding='utf-8'):\n\
         \x20   place = json.loads(line.split(' ', 2)[2])\n\
         \x20   f = open(sys.argv[1], 'rb'); f.seek(int(place['offset']))\n\
         \x20   r = next(iter(ArchiveIterator(f)))\n\
         \x20   assert r.rec_headers['WARC-Target-URI'] == place['url'], (place, r.rec_headers)\n\
         \x20   assert b'Flood' in r.content_stream().read()\n\
         print(sorted(kinds.items()))",
        &corpus.beside("pages.warc.gz"),
    );
    if let Some(found) = found {
        assert_eq!(found, "[('metadata', 6), ('response', 6), ('warcinfo', 1)]");
    }
}

#[test]
fn translated_texts_are_aligned() {
    let corpus = filled();
    let manifest = export(&corpus, "--format pairs", "pairs.tsv");
    assert_eq!((&manifest["figures"]["pairs"], &manifest["figures"]["unlike"]), (&6.into(), &0.into()));
    let pairs = text(&corpus, "pairs.tsv");
    let rows: Vec<Vec<&str>> = pairs.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 7 && row[2] == "de" && row[3] == "en"), "{pairs}");
    let belongs = |row: &&Vec<&str>| {
        let place = |words: [&str; 2]| [row[5].contains(words[0]), row[6].contains(words[1])];
        [["Aldersea bat", "asked everybody"], ["Bauern", "Farmers"], ["Nachmittag", "afternoon"], ["Grenze", "border"]]
            .iter()
            .all(|words| place(*words) == [true, true] || place(*words) == [false, false])
    };
    assert_eq!(rows.iter().filter(belongs).count(), rows.len(), "{pairs}");
    export(&corpus, "--format pairs --level document", "documents.tsv");
    assert_eq!(text(&corpus, "documents.tsv").lines().count(), 7);
    export(&corpus, "--format pairs", "pairs.tmx");
    let found = tool_says(
        "import sys\nfrom lxml import etree\nt = etree.parse(sys.argv[1]).getroot()\n\
         print(t.tag, t.get('version'), len(t.findall('body/tu')), sorted(set(x.get('{http://www.w3.org/XML/1998/namespace}lang') for x in t.iter('tuv'))))",
        &corpus.beside("pairs.tmx"),
    );
    if let Some(found) = found {
        assert_eq!(found, format!("tmx 1.4 {} ['de', 'en']", rows.len()));
    }
}

#[test]
fn shuffled_sentences_do_not_reveal_their_positions() {
    let corpus = filled();
    corpus
        .run(&format!("export --format shuffled {}", corpus.beside("few.txt").display()))
        .exits(1)
        .says("texts could be reconstructed");
    assert!(!corpus.beside("few.txt").exists());
    assert_eq!(corpus.run("export --format shuffled -").exits(1).stdout, "", "nothing leaks before there are enough");
    let manifest = export(&corpus, "--format shuffled --pool 10 --lang en", "one.txt");
    let one = text(&corpus, "one.txt");
    let lines: BTreeSet<&str> = one.lines().collect();
    assert_eq!(lines.len(), one.lines().count(), "each sentence occurs once");
    assert_eq!(manifest["figures"]["sentences"], lines.len());
    assert!(!one.contains("e.org") && !one.contains("2026-"), "no names, no dates of documents");
    export(&corpus, "--format shuffled --pool 10 --lang en --seed 2", "two.txt");
    let two = text(&corpus, "two.txt");
    assert_ne!(one, two);
    assert_eq!(lines, two.lines().collect::<BTreeSet<&str>>());

    // The order depends only on the sentences: the same documents on other days give the same file.
    let other = corpus_of_the_same_sentences();
    export(&other, "--format shuffled --pool 10 --lang en", "one.txt");
    assert_eq!(text(&other, "one.txt"), one);
}

/// The documents of `filled`, downloaded in reverse order.
fn corpus_of_the_same_sentences() -> Corpus {
    let corpus = corpus();
    let mut pages: Vec<Page> = (0..6).map(|number| article(number, 0, "")).collect();
    pages.reverse();
    put(&corpus, "2026-04-01", "a.0", &pages[..2]);
    put(&corpus, "2026-05-01", "a.0", &pages[2..]);
    keep_duplicates(&corpus);
    for verb in ["clean", "annotate"] {
        corpus.run(verb).ok();
    }
    corpus
}

#[test]
fn a_power_failure_at_any_operation_leaves_a_complete_export_or_none() {
    let corpus = filled();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let targets = [("jsonl", "whole.jsonl"), ("parquet", "whole")];
    for (format, name) in targets {
        export(&corpus, &format!("--format {format}"), name);
        let whole = bytes_under(&corpus.beside(name));
        let torn = corpus.beside(&format!("torn-{name}"));
        corpus.cut_at_every_move(&format!("export --format {format} --force {}", torn.display()), &prepared, |at| {
            if torn.exists() {
                assert!(bytes_under(&torn) == whole, "{format}, move {at}");
            }
        });
        assert!(bytes_under(&torn) == whole);
    }
    let litter =
        fs::read_dir(corpus.beside("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(litter.filter(|name| name.ends_with(".tmp")).count(), 0);
}

/// Everything in a file or a folder.
fn bytes_under(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        return vec![(String::new(), fs::read(path).unwrap())];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        found.extend(bytes_under(&entry.path()).into_iter().map(|(rest, bytes)| (format!("{name}/{rest}"), bytes)));
    }
    found.sort();
    found
}

#[test]
fn an_export_is_imported_unchanged() {
    let corpus = filled();
    let texts = |corpus: &Corpus, name: &str| -> BTreeMap<String, (String, String)> {
        let lines: Vec<Value> = text(corpus, name).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let field = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let url = |line: &Value| line["metadata"]["url"].as_str().unwrap_or_default().to_owned();
        lines.iter().map(|line| (url(line), (field(line, "id"), field(line, "text")))).collect()
    };
    let sentences = |corpus: &Corpus, name: &str| -> Vec<String> {
        let mut sentences: Vec<String> =
            text(corpus, name).lines().filter_map(|line| line.strip_prefix("# text = ")).map(str::to_owned).collect();
        sentences.sort();
        sentences
    };
    export(&corpus, "--format jsonl", "out.jsonl");
    export(&corpus, "--format conllu", "out.conllu");
    export(&corpus, "--format vertical", "out.vert");
    for source in ["out.jsonl", "out.conllu", "out.vert"] {
        let other = crate::clean::corpus();
        keep_duplicates(&other);
        other.run(&format!("import --no-gate {}", corpus.beside(source).display())).ok();
        for verb in ["clean", "annotate"] {
            other.run(verb).ok();
        }
        export(&other, "--format jsonl", "back.jsonl");
        export(&other, "--format conllu", "back.conllu");
        if source == "out.jsonl" {
            assert_eq!(texts(&other, "back.jsonl"), texts(&corpus, "out.jsonl"));
        }
        assert_eq!(sentences(&other, "back.conllu"), sentences(&corpus, "out.conllu"), "{source}");
    }
}

/// Two documents with every kind of paragraph, marks, a foreign paragraph, private data, and a script without spaces.
fn of_all_kinds() -> Corpus {
    let corpus = crate::clean::corpus();
    keep_duplicates(&corpus);
    fs::write(corpus.home().join("feeds.txt"), "http://e.org/feed\ttopic=floods\tcountry=se\n").unwrap();
    let line = |url: &str, lang: &str, paragraphs: Value| {
        json!({ "id": "", "url": url, "site": "e.de", "feed": "http://e.org/feed", "downloaded": "2026-03-01T10:00:00Z",
            "title": "A \"flood\" & more", "language": lang, "language_score": 0.9, "paragraphs": paragraphs,
            "metadata": { "genre": "news", "zone": "3" },
            "dated": { "day": "2026-02-27", "source": "meta", "confidence": 0.9 } })
        .to_string()
    };
    let p = |text: &str| json!({ "kind": "p", "text": text });
    let lines = [
        line(
            "http://e.de/1",
            "en",
            json!([
                { "kind": "heading", "level": 3, "text": "The flood of <2026>" },
                p("Write to a.b@example.org! It rained. It rained again, didn't it?"),
                { "kind": "item", "depth": 2, "ordered": true, "text": "First, the bridge.", "spans": [
                    { "start": 0, "end": 5, "mark": "strong" }, { "start": 3, "end": 10, "mark": "emphasis" },
                    { "start": 11, "end": 17, "mark": "link", "href": "http://e.org/a?b=1&c=2" } ] },
                { "kind": "quote", "text": "« Il pleut sur la ville », dit-elle.", "language": "fr" },
                { "kind": "row", "header": true, "text": "Town\tLevel\t3 m" },
                { "kind": "code", "text": "if rain:\n    stay()" },
            ]),
        ),
        line("http://e.de/2", "ja", json!([p("雨が降った。もう止んだ。"), p("川は静かだ。")])),
    ];
    let path = corpus.beside("in.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    corpus.run(&format!("import --no-gate {}", path.display())).ok();
    for verb in ["clean", "annotate"] {
        corpus.run(verb).ok();
    }
    corpus
}

#[test]
fn imported_tokens_are_exported_byte_for_byte() {
    let corpus = of_all_kinds();
    for format in ["vertical", "conllu"] {
        let (first, again) = (format!("first.{format}"), format!("again.{format}"));
        export(&corpus, &format!("--format {format}"), &first);
        let other = crate::clean::corpus();
        keep_duplicates(&other);
        let first = corpus.beside(&first);
        other.run(&format!("import --no-gate --from {format} {}", first.display())).ok().says("2 pages imported");
        for verb in ["clean", "annotate"] {
            other.run(verb).ok();
        }
        export(&other, &format!("--format {format}"), &again);
        let first = fs::read_to_string(first).unwrap();
        assert_eq!(text(&other, &again), first);
        let kinds = ["heading", "item", "quote", "row", "code"];
        let names =
            |kind| if format == "vertical" { format!("<p kind=\"{kind}\"") } else { format!("# kind = {kind}") };
        assert!(kinds.iter().all(|kind| first.contains(&names(kind))), "{first}");
    }
}

/// The number of words from which on a passage counts as a quotation.
const QUOTATION: usize = 12;

/// The share of the words of a text that a greedy attacker reconstructs in long passages. From every n-gram the
/// attacker continues with the most frequent one that overlaps in all but one word, and is even told about errors.
fn rebuilt(grams: &BTreeMap<Vec<String>, u64>, original: &[String]) -> f64 {
    let mut next: BTreeMap<&[String], (u64, &String)> = BTreeMap::new();
    for (gram, count) in grams {
        let (last, head) = gram.split_last().unwrap();
        let best = next.entry(head).or_insert((*count, last));
        *best = (*best).max((*count, last));
    }
    let n = grams.keys().next().map_or(1, Vec::len);
    let mut is_back = vec![false; original.len()];
    for start in 0..original.len().saturating_sub(n) {
        if !grams.contains_key(&original[start..start + n]) {
            continue;
        }
        let mut end = start + n;
        while end < original.len()
            && next.get(&original[end + 1 - n..end]).is_some_and(|(_, word)| **word == original[end])
        {
            end += 1;
        }
        if end - start >= QUOTATION {
            is_back[start..end].fill(true);
        }
    }
    is_back.iter().filter(|back| **back).count() as f64 / original.len() as f64
}

#[test]
fn a_greedy_attacker_cannot_reconstruct_articles_from_ngrams() {
    // Articles of unique sentences with shared phrases, as in news.
    let words = |text: &'static str| text.split(' ').collect::<Vec<&str>>();
    let adjectives = words(
        "old new small rich wet grey loud late slow kind cold proud young tired brave clever empty famous gentle hidden \
         local modern narrow open quiet rough silent simple strange tall warm wild",
    );
    let nouns = words(
        "mayor farmer bridge school river driver bank train winter market letter dog teacher garden kitchen island \
         painter forest doctor village station window summer mountain sister soldier carpenter library bakery tower ship lawyer",
    );
    let verbs = words(
        "saw lost found sold feared praised painted moved closed crossed kept forgot visited ignored followed watched \
         admired answered burned carried cleaned counted covered described drew entered guarded helped invited joined loved missed",
    );
    let phrases = [
        "according to a report of the ministry",
        "as people in the town remember well",
        "on the first day of the week",
    ];
    let mut state = 42u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let mut sentence = || {
        let mut thing = || format!("the {} {}", adjectives[draw(32)], nouns[draw(32)]);
        let (one, other, third) = (thing(), thing(), thing());
        format!("Then {one} {} {other} and {} {third}, {}.", verbs[draw(32)], verbs[draw(32)], phrases[draw(3)])
    };
    let mut pages = Vec::new();
    for number in 0..60 {
        let paragraphs: String =
            (0..4).map(|_| format!("<p>{}</p>", (0..3).map(|_| sentence()).collect::<Vec<_>>().join(" "))).collect();
        let html = format!(
            "<!DOCTYPE html><html lang=en><head><title>Day {number}</title></head><body><article><h1>Day {number}</h1>{paragraphs}</article><footer><p>Ann Lee</p></footer></body></html>"
        );
        pages.push(page(number, html.as_bytes(), "text/html; charset=utf-8"));
    }
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &pages);
    keep_duplicates(&corpus);
    corpus.run("clean").ok();
    corpus.run("annotate").ok();
    let grams = |threshold: u64, name: &str| -> BTreeMap<Vec<String>, u64> {
        export(&corpus, &format!("--format ngrams --n 5 --threshold {threshold}"), name);
        let table = text(&corpus, name);
        let rows = table.lines().skip(1).map(|line| line.split('\t').collect::<Vec<&str>>());
        rows.map(|row| (row[0].split(' ').map(str::to_owned).collect(), row[1].parse().unwrap())).collect()
    };
    let (all, safe) = (grams(1, "all.tsv"), grams(5, "safe.tsv"));
    assert!(!safe.is_empty() && safe.len() < all.len() / 10, "{} of {}", safe.len(), all.len());
    export(&corpus, "--format conllu", "all.conllu");
    let conllu = text(&corpus, "all.conllu");
    let words_of = |article: &str| {
        let rows = article.lines().filter(|line| line.contains('\t'));
        rows.map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect::<Vec<String>>()
    };
    let articles: Vec<Vec<String>> = conllu.split("# newdoc").skip(1).map(words_of).collect();
    let shares = |grams: &BTreeMap<Vec<String>, u64>| {
        articles.iter().map(|article| rebuilt(grams, article)).collect::<Vec<f64>>()
    };
    let (open, closed) = (shares(&all), shares(&safe));
    let mean = open.iter().sum::<f64>() / open.len() as f64;
    let worst = closed.iter().copied().fold(0.0, f64::max);
    eprintln!("without a threshold {mean:.3} of an article comes back, with it at most {worst:.3}");
    assert!(mean >= 0.8, "the attack itself must work: {mean:.3}");
    assert!(worst <= 0.1, "{worst:.3} of an article came back in stretches of {QUOTATION} words");
}
