//! Object storage: pages and documents in a bucket, imports from one and exports to one, against a server of S3 in a
//! process of its own.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::clean::corpus;
use crate::digest::digest;
use crate::import::{answer, gzip, record};
use crate::s3_server::{Proxy, S3Server, Trouble, command_at};
use crate::support::{Corpus, copy_folder, settings};

/// The settings of a home in the bucket.
fn use_bucket(corpus: &Corpus, prefix: &str) {
    let text = settings(&[]) + &format!("bucket = \"s3://corpora/{prefix}\"\n");
    fs::write(corpus.home().join("tidings.toml"), text).unwrap();
}

/// A page with text of its own, and bytes that do not compress.
fn page(number: usize, padding: usize) -> Vec<u8> {
    let words = ["river", "bridge", "letter", "harbour", "lantern", "winter", "garden", "railway", "teacher", "market"];
    let sentence = |at: usize| {
        let word = |step: usize| words[(number * 7 + at * 3 + step * step) % words.len()];
        format!(
            "In the year {} the {} stood near the {} until the {} was moved to the {}.",
            1800 + number + at,
            word(1),
            word(2),
            word(3),
            word(4)
        )
    };
    let text: String = (0..8).map(|at| format!("<p>{}</p>", sentence(at))).collect();
    let mut state = number as u64 + 1;
    let noise: String = (0..padding)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + (state >> 59) as u8 % 26)
        })
        .collect();
    format!("<html><head><title>News {number}</title><!-- {noise} --></head><body><article><h1>News {number}</h1>{text}</article></body></html>").into_bytes()
}

/// A compressed archive of pages on two days.
fn archive(pages: std::ops::Range<usize>, padding: usize) -> Vec<u8> {
    let records = pages.map(|number| {
        let (url, date) =
            (format!("https://gazette.example/{number}"), format!("2026-02-0{}T10:00:00Z", number % 2 + 1));
        gzip(&record("response", &url, &date, "", &answer("", &page(number, padding))))
    });
    records.flatten().collect()
}

/// The addresses of all pages of a home.
fn addresses(server: &S3Server, corpus: &Corpus) -> Vec<String> {
    let ran = server.run(corpus, "pages").ok();
    let mut urls: Vec<String> =
        ran.stdout.lines().map(|line| line.split('\t').nth(3).expect("four columns").to_owned()).collect();
    urls.sort();
    urls
}

fn largest_file(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.map(|entry| entry.unwrap().path()).map(|path| match path.is_dir() {
        true => largest_file(&path),
        false => path.metadata().unwrap().len(),
    });
    sizes.max().unwrap_or(0)
}

#[test]
fn a_home_with_pages_and_documents_in_a_bucket_has_the_digest_of_a_local_one() {
    let Some(server) = S3Server::start() else { return };
    let (local, remote) = (corpus(), corpus());
    use_bucket(&remote, "news");
    for (name, pages) in [("a.warc.gz", 0..12), ("b.warc.gz", 12..20)] {
        fs::write(local.beside(name), archive(pages.clone(), 400)).unwrap();
        fs::write(remote.beside(name), archive(pages, 400)).unwrap();
        for corpus in [&local, &remote] {
            server.run(corpus, &format!("import {}", corpus.beside(name).display())).ok();
            server.run(corpus, "run --from clean").ok();
        }
    }
    let remote_digest = || server.run(&remote, "--json digest").ok().json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(remote_digest(), digest(&local));
    // The home has pointers, the bucket has the data.
    assert!(largest_file(&remote.home().join("pages")) < 400);
    let objects = server.keys("news/");
    assert!(objects.iter().any(|key| key.starts_with("news/pages/2026-02-01/")), "{objects:?}");
    assert!(objects.iter().any(|key| key.starts_with("news/docs/en/")), "{objects:?}");
    assert_eq!(addresses(&server, &remote).len(), 20);
    let exported = |corpus: &Corpus| server.run(corpus, "export --format jsonl -").ok().stdout;
    assert_eq!(exported(&remote), exported(&local));
    server.run(&remote, "run --from clean").ok();
    // Nothing is left to do, and derived data can be made again.
    server.run(&remote, "rebuild").ok();
    assert_eq!(remote_digest(), digest(&local));
    assert_eq!(addresses(&server, &remote).len(), 20);
}

#[test]
fn pages_that_are_fetched_go_to_the_bucket() {
    let Some(server) = S3Server::start() else { return };
    let corpus = Corpus::new(tidings_simweb::Spec { sites: 2, items_per_feed: 3, ..tidings_simweb::Spec::default() });
    use_bucket(&corpus, "harvest");
    server.run(&corpus, "update --all").ok();
    server.run(&corpus, "fetch --warc").ok();
    let ok: BTreeSet<String> =
        corpus.statuses().into_iter().filter(|(_, status)| status == "ok").map(|(url, _)| url).collect();
    assert!(!ok.is_empty());
    assert_eq!(addresses(&server, &corpus).into_iter().collect::<BTreeSet<_>>(), ok);
    let objects = server.keys("harvest/pages/");
    assert!(
        objects.iter().any(|key| key.ends_with(".jsonl.zst")) && objects.iter().any(|key| key.ends_with(".warc.gz"))
    );
    corpus.is_tidy();
    corpus.asked_nothing_twice();
}

#[test]
fn archives_in_a_bucket_are_imported_once_over_connections_that_break() {
    let Some(server) = S3Server::start() else { return };
    let (local, remote) = (corpus(), corpus());
    for (name, pages) in [("crawl/1.warc.gz", 0..40), ("crawl/2.warc.gz", 40..60)] {
        let bytes = archive(pages, 60_000);
        server.put(name, &bytes);
        let path = local.beside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    server.put("crawl/notes.txt", b"nothing to import");
    local.run(&format!("import {}", local.beside("crawl").display())).ok();
    let scratch = remote.beside("scratch");
    fs::create_dir_all(&scratch).unwrap();
    // Every second connection breaks in the middle of a range.
    let proxy = Proxy::start(server.address(), Trouble::Break(300_000));
    let mut command = command_at(&remote, "--json import s3://corpora/crawl/*.warc.gz", proxy.address);
    command.env("TMPDIR", &scratch);
    let imported = remote.launch(command).wait().ok().json();
    assert_eq!((imported["files"].as_u64(), imported["pages"].as_u64()), (Some(2), Some(60)), "{imported}");
    assert!(proxy.broken() > 0);
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "an import makes no copies");
    for corpus in [&local, &remote] {
        corpus.run("run --from clean").ok();
    }
    assert_eq!(digest(&remote), digest(&local));
    // A second import, by prefix, does nothing.
    let again = server.run(&remote, "--json import s3://corpora/crawl/").ok().json();
    assert_eq!((again["files_known"].as_u64(), again["pages"].as_u64()), (Some(2), Some(0)), "{again}");
}

#[test]
fn every_format_is_imported_from_a_bucket() {
    let Some(server) = S3Server::start() else { return };
    let (local, remote) = (corpus(), corpus());
    let wet = record(
        "conversion",
        "https://gazette.example/wet",
        "2026-02-01T10:00:00Z",
        "",
        "The lantern stood near the harbour until the winter came and the whole garden was covered with snow.\n"
            .repeat(3)
            .as_bytes(),
    );
    let text =
        "The old bridge near the market was closed for the winter. Nobody in the town knew when it would open again.";
    let vertical: String = text.split(' ').map(|word| format!("{word}\n")).collect();
    for (name, bytes) in [
        ("a.warc.wet.gz", gzip(&wet)),
        (
            "b.jsonl",
            format!("{{\"url\":\"https://gazette.example/json\",\"text\":\"{text} It is late.\"}}\n").into_bytes(),
        ),
        ("c.vert", format!("<doc url=\"https://gazette.example/vert\">\n<s>\n{vertical}</s>\n</doc>\n").into_bytes()),
        ("d.html", page(5, 10)),
        (
            "e.warc",
            record("response", "https://gazette.example/9", "2026-02-01T10:00:00Z", "", &answer("", &page(9, 10))),
        ),
    ] {
        server.put(&format!("mixed/{name}"), &bytes);
        fs::create_dir_all(local.beside("mixed")).unwrap();
        fs::write(local.beside("mixed").join(name), bytes).unwrap();
    }
    let args = "import --no-gate --date 2026-02-01";
    let there = server.run(&remote, &format!("--json {args} s3://corpora/mixed/")).ok().json();
    let here = local.run(&format!("--json {args} {}", local.beside("mixed").display())).ok().json();
    assert_eq!((&there["pages"], &there["files"]), (&here["pages"], &here["files"]), "{there} {here}");
    assert_eq!(addresses(&server, &remote), addresses(&server, &local));
    // The lines of WET files, without a home.
    let lines = server.run(
        &remote,
        &format!("--json import s3://corpora/mixed/*.wet.gz --lines {}", remote.beside("lines").display()),
    );
    assert_eq!(lines.ok().json()["languages"]["en"].as_u64(), Some(1));
}

#[test]
fn an_export_to_a_bucket_is_that_to_a_file_and_appears_with_its_manifest() {
    let Some(server) = S3Server::start() else { return };
    let corpus = crate::digest::built();
    let local = corpus.beside("all.jsonl.zst");
    corpus.run(&format!("export --format jsonl {}", local.display())).ok();
    let export =
        |more: &str| server.run(&corpus, &format!("export --format jsonl s3://corpora/out/all.jsonl.zst {more}"));
    export("").ok();
    assert_eq!(server.get("out/all.jsonl.zst").unwrap(), fs::read(&local).unwrap());
    let manifest = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).unwrap()["files"].clone();
    let beside = server.get("out/all.jsonl.zst.manifest.json").unwrap();
    assert_eq!(manifest(beside), manifest(fs::read(corpus.beside("all.jsonl.zst.manifest.json")).unwrap()));
    export("").exits(1).says("--force");
    export("--force").ok();
    // A folder; what an earlier export left in it is deleted.
    let folder = |more: &str| server.run(&corpus, &format!("export --format parquet s3://corpora/out/table {more}"));
    folder("").ok();
    let files = server.keys("out/table/");
    assert!(!files.is_empty() && files.iter().all(|key| key.contains(".parquet")), "{files:?}");
    server.put("out/table/old.parquet", b"of an earlier export");
    folder("--force").ok();
    assert_eq!(server.keys("out/table/"), files);
    server.put("thesis/chapter", b"1");
    server.run(&corpus, "export --format parquet s3://corpora/thesis --force").exits(1).says("is not an export");
}

#[test]
fn an_export_that_is_killed_leaves_nothing_in_the_bucket() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    let archive_path = corpus.beside("a.warc.gz");
    fs::write(&archive_path, archive(0..30, 800_000)).unwrap();
    corpus.run(&format!("import {}", archive_path.display())).ok();
    corpus.run("run --from clean").ok();
    // The proxy takes some megabytes of the upload and then nothing more.
    let proxy = Proxy::start(server.address(), Trouble::Stall(9 << 20));
    let mut running =
        corpus.launch(command_at(&corpus, "export --format warc s3://corpora/out/pages.warc.gz", proxy.address));
    running.until(|| proxy.received() > 9 << 20);
    assert!(!running.has_ended());
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    assert!(server.keys("out/").is_empty());
    server.run(&corpus, "export --format warc s3://corpora/out/pages.warc.gz").ok();
    assert_eq!(server.keys("out/").len(), 3, "{:?}", server.keys("out/"));
}

#[test]
fn a_prefix_that_another_home_uses_is_refused() {
    let Some(server) = S3Server::start() else { return };
    let (first, second) = (corpus(), corpus());
    for corpus in [&first, &second] {
        use_bucket(corpus, "shared");
        fs::write(corpus.beside("a.warc.gz"), archive(0..2, 10)).unwrap();
    }
    server.run(&first, &format!("import {}", first.beside("a.warc.gz").display())).ok();
    let before = server.keys("");
    let refused = server.run(&second, &format!("import {}", second.beside("a.warc.gz").display())).exits(1);
    assert!(refused.stderr.contains("s3://corpora/shared belongs to another home"), "{}", refused.stderr);
    assert_eq!(server.keys(""), before);
    // With a prefix of its own the import goes on.
    use_bucket(&second, "own");
    server.run(&second, &format!("import {}", second.beside("a.warc.gz").display())).ok();
    assert_eq!(addresses(&server, &second).len(), 2);
}

#[test]
fn a_power_failure_at_any_operation_of_an_import_leaves_nothing_half_in_a_bucket() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    use_bucket(&corpus, "crash");
    for (name, pages) in [("first.warc.gz", 0..2), ("second.warc.gz", 2..6)] {
        fs::write(corpus.beside(name), archive(pages, 2_000)).unwrap();
    }
    server.run(&corpus, &format!("import {}", corpus.beside("first.warc.gz").display())).ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let import = format!("import {}", corpus.beside("second.warc.gz").display());
    let expected: Vec<String> = (0..6).map(|number| format!("https://gazette.example/{number}")).collect();
    let mut failures = 0;
    for at in 1.. {
        assert!(at < 200, "the run did not end");
        corpus.restore(&prepared);
        let mut command = server.command(&corpus, &import);
        command.env("TIDINGS_CRASH_AT", at.to_string());
        match corpus.launch(command).wait().code {
            Some(code) => {
                assert_eq!(code, 0);
                break;
            }
            None => failures += 1,
        }
        // What the home names can be read; the next run completes the import.
        let there = addresses(&server, &corpus);
        assert!(there.iter().all(|url| expected.contains(url)), "operation {at}: {there:?}");
        server.run(&corpus, &import).ok();
        assert_eq!(addresses(&server, &corpus), expected, "operation {at}");
        corpus.is_tidy();
    }
    assert!(failures > 6, "an import has many operations");
}

#[test]
fn nothing_is_lost_while_the_server_is_down_and_the_next_run_goes_on() {
    let Some(server) = S3Server::start() else { return };
    let corpus = Corpus::new(tidings_simweb::Spec { sites: 1, items_per_feed: 3, ..tidings_simweb::Spec::default() });
    use_bucket(&corpus, "down");
    corpus.run("update --all").ok();
    // Nothing listens at this address.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failed = corpus.launch(command_at(&corpus, "fetch", closed)).wait().exits(1);
    let says = |text: &str| assert!(failed.stderr.contains(text), "{}", failed.stderr);
    says("s3://corpora/down");
    says("does not answer");
    says("AWS_ENDPOINT_URL");
    server.run(&corpus, "fetch").ok();
    let ok: BTreeSet<String> =
        corpus.statuses().into_iter().filter(|(_, status)| status == "ok").map(|(url, _)| url).collect();
    assert_eq!(addresses(&server, &corpus).into_iter().collect::<BTreeSet<_>>(), ok);
    assert!(!ok.is_empty());
    corpus.asked_nothing_twice();
    // Reading does not mistake a server that is down for damage.
    server.run(&corpus, "clean").ok();
    let documents = corpus.files("docs/recipes", ".json");
    corpus.launch(command_at(&corpus, "dedup", closed)).wait().exits(1).says("does not answer");
    assert_eq!(corpus.files("docs/recipes", ".json"), documents);
    server.run(&corpus, "run --from dedup").ok();
}

#[test]
fn an_import_from_a_server_that_breaks_off_is_continued_by_the_next_run() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    server.put("crawl/large.warc.gz", &archive(0..40, 100_000));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    corpus
        .launch(command_at(&corpus, "import s3://corpora/crawl/*.warc.gz", closed))
        .wait()
        .exits(1)
        .says("does not answer");
    // The server is there, and ranges beyond the first never arrive: the file is not acknowledged.
    let proxy = Proxy::start(server.address(), Trouble::Stall(900));
    let mut running = corpus.launch(command_at(&corpus, "import s3://corpora/crawl/large.warc.gz", proxy.address));
    running.until(|| proxy.received() > 900);
    running.signal(Signal::KILL);
    running.wait();
    let imported = server.run(&corpus, "--json import s3://corpora/crawl/large.warc.gz").ok().json();
    assert_eq!(imported["files_known"].as_u64(), Some(0), "{imported}");
    assert_eq!(addresses(&server, &corpus).len(), 40);
}

#[test]
fn a_takedown_deletes_the_page_from_the_bucket() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    use_bucket(&corpus, "takedown");
    fs::write(corpus.beside("a.warc.gz"), archive(0..4, 10)).unwrap();
    server.run(&corpus, &format!("import {}", corpus.beside("a.warc.gz").display())).ok();
    server.run(&corpus, "run --from clean").ok();
    let before = server.keys("takedown/pages/");
    server.run(&corpus, "remove https://gazette.example/2 --reason court").ok();
    let after = server.keys("takedown/pages/");
    assert_eq!(before.len(), after.len());
    assert_eq!(before.iter().filter(|key| after.contains(key)).count(), 1, "the file with the page is another object");
    assert_eq!(addresses(&server, &corpus).len(), 3);
    for key in server.keys("takedown/") {
        let bytes = server.get(&key).unwrap();
        let text = zstd::stream::decode_all(&bytes[..]).unwrap_or(bytes);
        assert!(!String::from_utf8_lossy(&text).contains("gazette.example/2\""), "{key}");
    }
}

#[test]
fn failures_name_the_object_the_cause_and_the_remedy() {
    let Some(server) = S3Server::with(&[("INITIAL_NO_AUTH_ACTION_COUNT", "2")]) else { return };
    let corpus = corpus();
    // The bucket was the first action, this is the second; from now on signatures are checked.
    server.put("crawl/a.warc.gz", &archive(0..1, 10));
    let says = |args: &str, texts: &[&str]| {
        let ran = server.run(&corpus, args).exits(1);
        texts.iter().for_each(|text| assert!(ran.stderr.contains(text), "{args}: {}", ran.stderr));
    };
    says("import s3://corpora/crawl/a.warc.gz", &["s3://corpora/crawl/a.warc.gz", "access denied", "credentials"]);
    drop(server);
    let Some(server) = S3Server::start() else { return };
    let says = |args: &str, texts: &[&str]| {
        let ran = server.run(&corpus, args).exits(1);
        texts.iter().for_each(|text| assert!(ran.stderr.contains(text), "{args}: {}", ran.stderr));
    };
    says("import s3://corpora/none.warc.gz", &["s3://corpora/none.warc.gz not found"]);
    says("import s3://corpora/none/*.warc.gz", &["no object matches"]);
    says("import s3://nowhere/a/*.warc.gz", &["s3://nowhere", "no such bucket", "AWS_ENDPOINT_URL"]);
    says("import s3:///a", &["names no bucket"]);
    let mut half = server.command(&corpus, "import s3://corpora/a.warc.gz");
    half.env_remove("AWS_SECRET_ACCESS_KEY");
    corpus.launch(half).wait().exits(1).says("without its secret");
    let mut none = server.command(&corpus, "import s3://corpora/a.warc.gz");
    none.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY").env("AWS_EC2_METADATA_DISABLED", "true");
    corpus.launch(none).wait().exits(1).says("no credentials").says("AWS_ACCESS_KEY_ID");
    use_bucket(&corpus, "a//b");
    corpus.run("run").exits(1).says("store.bucket");
}

#[test]
fn credentials_of_a_profile_are_used() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    server.put("crawl/a.warc.gz", &archive(0..1, 10));
    let aws = corpus.beside("person/.aws");
    fs::create_dir_all(&aws).unwrap();
    fs::write(aws.join("credentials"), "[corpora]\naws_access_key_id = a\naws_secret_access_key = b\n").unwrap();
    fs::write(
        aws.join("config"),
        format!("[profile corpora]\nregion = eu-central-1\nendpoint_url = http://{}\n", server.address()),
    )
    .unwrap();
    let command = || {
        let mut command = corpus.command("import s3://corpora/crawl/a.warc.gz");
        for name in ["AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"] {
            command.env_remove(name);
        }
        command.env("HOME", corpus.beside("person"));
        command
    };
    let mut other = command();
    other.env("AWS_PROFILE", "absent");
    corpus.launch(other).wait().exits(1).says("AWS_PROFILE is `absent`");
    let mut named = command();
    named.env("AWS_PROFILE", "corpora");
    corpus.launch(named).wait().ok();
    assert_eq!(addresses(&server, &corpus).len(), 1);
}

#[test]
fn the_commands_of_the_how_to_run() {
    let Some(server) = S3Server::start() else { return };
    let corpus = corpus();
    server.put("crawl/a.warc.gz", &archive(0..4, 10));
    let text = "The lantern stood near the harbour until the winter came and the whole garden was covered with snow.\n";
    server.put(
        "wet/a.warc.wet.gz",
        &gzip(&record("conversion", "https://a.example/", "2026-02-01T10:00:00Z", "", text.as_bytes())),
    );
    let blocks = crate::docs_commands::blocks_left_out("docs/how-to/object-storage.md", "needs an object store");
    assert_eq!(blocks.len(), 3);
    // The last block is of a home that imports the same files: it is of another one here.
    let others = Corpus::new(tidings_simweb::Spec { sites: 1, items_per_feed: 1, ..tidings_simweb::Spec::default() });
    for (number, block) in blocks.iter().enumerate() {
        let home = if number == 2 { &others } else { &corpus };
        let mut command = std::process::Command::new("sh");
        command.args(["-e", "-c", &block.replace("tidings ", concat!(env!("CARGO_BIN_EXE_tidings"), " "))]);
        for (name, value) in server.command(home, "status").get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        home.launch(command).wait().ok();
        if number == 0 {
            server.run(home, "run --from clean").ok();
        }
    }
    assert!(server.get("exports/news.jsonl.zst.manifest.json").is_some());
    assert!(server.keys("news/pages/").len() > 1);
}
