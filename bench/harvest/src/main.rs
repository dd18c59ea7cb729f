//! Cost of a crawl and of the stages up to the index: pages per second, CPU time per page, peak memory.
//!
//! The simulated web runs in a separate process, so that only Tidings is measured; CPU time and memory are those of the
//! kernel for the finished process. CPU seconds repeat within a few per cent, pages per second depend on the load of
//! the machine.
//!
//! ```text
//! cargo build --release -p tidings-cli -p tidings-simweb
//! cargo run --release -p bench-harvest            # all of it, about five minutes
//! cargo run --release -p bench-harvest -- fetch   # one part
//! ```

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use wait4::Wait4;

/// Measures `tidings update` and `tidings fetch` against the simulated web.
#[derive(Parser)]
struct Args {
    /// Benchmarks to run: fetch, faults, feeds, plan, stop, files, corridor [default: all]
    parts: Vec<String>,
    /// Hosts of the fetch benchmark
    #[arg(long, default_value_t = 8000)]
    hosts: u32,
    /// Pages per host
    #[arg(long, default_value_t = 4)]
    pages: u32,
    /// Maximum number of concurrent hosts
    #[arg(long, default_values_t = [500, 8000])]
    concurrency: Vec<u32>,
    /// Runs per measurement; the median by CPU time is shown
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Pages of the corridor benchmark
    #[arg(long, default_value_t = 10_000)]
    corridor_pages: u32,
    /// A file of real pages for the corridor benchmark, as `tidings import` reads it
    #[arg(long)]
    corridor_file: Option<PathBuf>,
    /// Another `tidings` to run through the corridor with the same pages: the ratio is printed, and the digests must be
    /// equal
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// Entries of the plan benchmark
    #[arg(long, default_value_t = 5_000_000)]
    entries: u64,
}

type Benchmark = fn(&Args, &Tools) -> Result<()>;

const PARTS: &[(&str, Benchmark)] = &[
    ("fetch", fetch),
    ("feeds", feeds),
    ("plan", plan),
    ("faults", faults),
    ("stop", stop),
    ("files", files),
    ("corridor", corridor),
];

fn main() -> Result<()> {
    let args = Args::parse();
    let tools = Tools::find()?;
    println!("{}", machine());
    for part in &args.parts {
        ensure!(PARTS.iter().any(|(name, _)| name == part), "unknown benchmark `{part}`");
    }
    for (name, part) in PARTS {
        if args.parts.is_empty() || args.parts.iter().any(|wanted| wanted == name) {
            println!("\n## {name}");
            part(&args, &tools).with_context(|| format!("the benchmark {name} failed"))?;
        }
    }
    Ok(())
}

/// The programs under test, in the folder of this one.
struct Tools {
    tidings: PathBuf,
    simweb: PathBuf,
}

impl Tools {
    fn find() -> Result<Tools> {
        let folder = std::env::current_exe()?.parent().context("this program lies in a folder")?.to_owned();
        let tools = Tools { tidings: folder.join("tidings"), simweb: folder.join("simweb") };
        for tool in [&tools.tidings, &tools.simweb] {
            let build = "cargo build --release -p tidings-cli -p tidings-simweb";
            ensure!(tool.is_file(), "{} is missing; build it with `{build}`", tool.display());
        }
        Ok(tools)
    }

    fn tidings(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tidings);
        // The simulated web uses 127.0.0.0/9, and its shared host 127.254.0.0/16; the addresses above stand for an
        // intranet and must never be contacted.
        command.args(arguments).arg("--home").arg(home).arg("--json").arg("-q");
        if matches!(arguments[0], "update" | "fetch") {
            command.arg("--allow-private=127.0.0.0/9,127.254.0.0/16");
        }
        command
    }
}

/// A simulated web that ends with this value.
struct Web {
    child: Child,
    feeds: PathBuf,
    _folder: tempfile::TempDir,
}

impl Web {
    fn start(tools: &Tools, arguments: &[&str]) -> Result<Web> {
        let folder = tempfile::tempdir()?;
        let feeds = folder.path().join("feeds.txt");
        let mut child = Command::new(&tools.simweb)
            .args(arguments)
            .args(["--seconds", "1800", "--feeds-out"])
            .arg(&feeds)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the simulated web")?;
        let mut lines = BufReader::new(child.stdout.take().context("its output was asked for")?).lines();
        let ready = lines.by_ref().map_while(Result::ok).any(|line| line.starts_with("ready"));
        ensure!(ready, "the simulated web did not start");
        // Its final output is read when it ends.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Web { child, feeds, _folder: folder })
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel's accounting of a process, and its own report.
struct Measured {
    wall: Duration,
    cpu: Duration,
    peak_mib: f64,
    report: serde_json::Value,
}

impl Measured {
    fn count(&self, key: &str) -> u64 {
        self.report[key].as_u64().unwrap_or(0)
    }
}

fn measure(mut command: Command) -> Result<Measured> {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start tidings")?;
    let mut text = String::new();
    let output = child.stdout.take().context("its output was asked for")?;
    for line in BufReader::new(output).lines() {
        text.push_str(&line?);
    }
    let used = child.wait4()?;
    let wall = began.elapsed();
    let report = serde_json::from_str(&text).with_context(|| format!("tidings said: {text}"))?;
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Measured { wall, cpu, peak_mib: used.rusage.maxrss as f64 / (1 << 20) as f64, report })
}

/// The run with the median CPU time of several.
fn median(runs: usize, mut run: impl FnMut() -> Result<Measured>) -> Result<Measured> {
    let mut measured = (0..runs.max(1)).map(|_| run()).collect::<Result<Vec<_>>>()?;
    measured.sort_by_key(|measured| measured.cpu);
    Ok(measured.swap_remove(measured.len() / 2))
}

fn copy_home(from: &Path, to: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(to);
    let status = Command::new("cp").arg("-r").args([from, to]).status()?;
    ensure!(status.success(), "cannot copy {}", from.display());
    Ok(())
}

fn new_home(tools: &Tools, folder: &Path, feeds: &Path) -> Result<PathBuf> {
    let home = folder.join("home");
    let status =
        Command::new(&tools.tidings).arg("init").arg(&home).arg("--feeds").arg(feeds).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "cannot create a home");
    Ok(home)
}

/// Pages of 60 kB from thousands of hosts, stored as zstd -3 frames of JSON lines.
fn fetch(args: &Args, tools: &Tools) -> Result<()> {
    let (hosts, pages) = (args.hosts.to_string(), args.pages.to_string());
    let web = Web::start(tools, &["--sites", &hosts, "--items", &pages, "--page-bytes", "60000"])?;
    let folder = tempfile::tempdir()?;
    let fresh = new_home(tools, folder.path(), &web.feeds)?;
    let updated = measure(tools.tidings(&fresh, &["update", "--all", "--delay", "0"]))?;
    println!(
        "update: {} feeds, {:.3} CPU s per 1,000, {:.0} feeds/s, {:.0} MiB",
        updated.count("feeds"),
        per_thousand(updated.cpu, updated.count("feeds")),
        updated.count("feeds") as f64 / updated.wall.as_secs_f64(),
        updated.peak_mib
    );
    for concurrency in &args.concurrency {
        let home = folder.path().join("run");
        let concurrency = concurrency.to_string();
        let measured = median(args.runs, || {
            copy_home(&fresh, &home)?;
            measure(tools.tidings(&home, &["fetch", "--delay", "0", "--concurrency", &concurrency]))
        })?;
        let fetched = measured.count("fetched");
        println!(
            "fetch: {fetched} pages, {} at once: {:.3} CPU s per 1,000, {:.0} pages/s, {:.0} MiB, {:.1} kB a page on disk",
            concurrency,
            per_thousand(measured.cpu, fetched),
            fetched as f64 / measured.wall.as_secs_f64(),
            measured.peak_mib,
            folder_bytes(&home.join("pages"))? as f64 / 1e3 / fetched.max(1) as f64
        );
    }
    Ok(())
}

/// The stages from raw pages to the index: the cost of each and of all together. Simulated pages of 100 kB are nearly
/// all text, ten times as much as real pages; a file of real ones shows their cost.
fn corridor(args: &Args, tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (home, pages) = match &args.corridor_file {
        Some(file) => {
            let home = new_home(tools, folder.path(), Path::new("/dev/null"))?;
            let file = file.to_string_lossy();
            let pages = measure(tools.tidings(&home, &["import", &file]))?.count("pages");
            (home, pages)
        }
        None => {
            const SITES: &str = "500";
            let items = (args.corridor_pages / 500).max(1).to_string();
            let pool = args.corridor_pages.to_string();
            let bytes = ["--page-bytes", "100000", "--pool", &pool];
            let web = Web::start(tools, &[&["--sites", SITES, "--items", &items][..], &bytes[..]].concat())?;
            let home = new_home(tools, folder.path(), &web.feeds)?;
            measure(tools.tidings(&home, &["update", "--all", "--delay", "0"]))?;
            let pages = measure(tools.tidings(&home, &["fetch", "--delay", "0"]))?.count("fetched");
            (home, pages)
        }
    };
    match &args.baseline {
        None => {
            let all = through_stages(tools, &home, pages, true)?;
            println!(
                "corridor: {pages} pages in {:.1} s, {:.0} pages/s, {:.2} CPU s per 1,000, {:.0} MiB",
                all.wall.as_secs_f64(),
                pages as f64 / all.wall.as_secs_f64(),
                per_thousand(all.cpu, pages),
                all.peak_mib,
            );
            Ok(())
        }
        Some(baseline) => compare_corridors(args, tools, baseline, &home, pages),
    }
}

/// The cost of all derived stages together.
struct Corridor {
    wall: Duration,
    cpu: Duration,
    peak_mib: f64,
}

/// Runs the stages of text over a home.
fn through_stages(tools: &Tools, home: &Path, pages: u64, is_shown: bool) -> Result<Corridor> {
    let mut all = Corridor { wall: Duration::ZERO, cpu: Duration::ZERO, peak_mib: 0.0 };
    for stage in ["clean", "dedup", "annotate", "compile"] {
        let measured = measure(tools.tidings(home, &[stage]))?;
        all.wall += measured.wall;
        all.cpu += measured.cpu;
        all.peak_mib = all.peak_mib.max(measured.peak_mib);
        if is_shown {
            println!(
                "{stage}: {:.1} s, {:.1} CPU s, {:.0} MiB, {:.0} pages/s",
                measured.wall.as_secs_f64(),
                measured.cpu.as_secs_f64(),
                measured.peak_mib,
                pages as f64 / measured.wall.as_secs_f64()
            );
            for name in ["documents", "tokens"] {
                if let Some(number) = measured.report[name].as_u64() {
                    println!("  {number} {name}");
                }
            }
        }
    }
    Ok(all)
}

/// Runs two programs alternately over copies of the same pages; the minimum CPU time of each counts.
fn compare_corridors(args: &Args, tools: &Tools, baseline: &Path, home: &Path, pages: u64) -> Result<()> {
    let other = Tools { tidings: baseline.to_owned(), simweb: tools.simweb.clone() };
    let copy = home.with_file_name("copy");
    let (mut best, mut digests) = ([None::<Corridor>, None], [String::new(), String::new()]);
    for _ in 0..args.runs.max(1) {
        for (at, tools) in [&other, tools].into_iter().enumerate() {
            copy_home(home, &copy)?;
            let all = through_stages(tools, &copy, pages, false)?;
            digests[at] = measure(tools.tidings(&copy, &["digest"]))?.report["digest"].to_string();
            if best[at].as_ref().is_none_or(|best| all.cpu < best.cpu) {
                best[at] = Some(all);
            }
        }
        ensure!(digests[0] == digests[1], "the digests differ: {} and {}", digests[0], digests[1]);
    }
    let [Some(old), Some(new)] = best else { unreachable!("there was a run") };
    for (name, all) in [("baseline", &old), ("this program", &new)] {
        println!(
            "{name}: {pages} pages in {:.1} s, {:.1} CPU s, {:.0} MiB",
            all.wall.as_secs_f64(),
            all.cpu.as_secs_f64(),
            all.peak_mib
        );
    }
    println!(
        "ratio: {:.3} by CPU time, {:.3} by wall time; digests equal ({})",
        new.cpu.as_secs_f64() / old.cpu.as_secs_f64(),
        new.wall.as_secs_f64() / old.wall.as_secs_f64(),
        digests[0]
    );
    Ok(())
}

/// Unchanged feeds: one conditional request each, without a body.
fn feeds(args: &Args, tools: &Tools) -> Result<()> {
    let web = Web::start(tools, &["--sites", "1000", "--items", "20"])?;
    let folder = tempfile::tempdir()?;
    let home = new_home(tools, folder.path(), &web.feeds)?;
    measure(tools.tidings(&home, &["update", "--all", "--delay", "0"]))?;
    let measured = median(args.runs, || measure(tools.tidings(&home, &["update", "--all", "--delay", "0"])))?;
    println!(
        "update of 1,000 unchanged feeds: {} requests, {} bytes of body, {:.3} CPU s, {:.0} MiB",
        measured.count("requests"),
        measured.count("bytes"),
        measured.cpu.as_secs_f64(),
        measured.peak_mib
    );
    Ok(())
}

/// A plan of millions of entries: with no feeds, with feeds that age every entry, with nothing to fetch.
fn plan(args: &Args, tools: &Tools) -> Result<()> {
    let web = Web::start(tools, &["--sites", "1000", "--items", "20"])?;
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("plan.tsv.zst");
    write_plan(&text, args.entries, &web.feeds)?;
    let home = folder.path().join("home");
    let status =
        Command::new(&tools.tidings).arg("init").arg(&home).arg("--plan").arg(&text).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "cannot create a home");
    let show = |what: &str, measured: &Measured| {
        println!(
            "{what}: {:.2} CPU s, {:.2} s, {:.0} MiB",
            measured.cpu.as_secs_f64(),
            measured.wall.as_secs_f64(),
            measured.peak_mib
        );
    };
    println!("a plan of {} entries", args.entries);
    show("update without feeds", &median(args.runs, || measure(tools.tidings(&home, &["update"])))?);
    show("fetch with nothing to do", &median(args.runs, || measure(tools.tidings(&home, &["fetch"])))?);
    fs::copy(&web.feeds, home.join("feeds.txt"))?;
    show(
        "update, 1,000 feeds list 20,000 new entries, all others age",
        &measure(tools.tidings(&home, &["update", "--all", "--delay", "0"]))?,
    );
    let unchanged = median(args.runs, || measure(tools.tidings(&home, &["update", "--all", "--delay", "0"])))?;
    show("update, 1,000 unchanged feeds, all others age", &unchanged);
    Ok(())
}

/// A plan after long service: finished entries of the given feeds, 222 bytes each.
fn write_plan(path: &Path, entries: u64, feeds: &Path) -> Result<()> {
    const WORDS: [&str; 16] = [
        "council",
        "river",
        "budget",
        "school",
        "harbour",
        "museum",
        "festival",
        "election",
        "transport",
        "library",
        "weather",
        "energy",
        "housing",
        "hospital",
        "market",
        "garden",
    ];
    let feeds: Vec<String> = fs::read_to_string(feeds)?.lines().map(str::to_owned).collect();
    let mut out = zstd::Encoder::new(File::create(path)?, 1)?;
    let mut random = 1u64;
    for entry in 0..entries {
        let mut words = [""; 5];
        for word in &mut words {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *word = WORDS[(random >> 60) as usize];
        }
        let (month, day, hour) = (entry % 12 + 1, entry % 28 + 1, entry % 24);
        let feed = &feeds[(entry * feeds.len() as u64 / entries) as usize];
        writeln!(
            out,
            "0\tok\t1\t2025-{month:02}-{day:02}T{hour:02}:17:07.000Z\t2025-{month:02}-{day:02}T06:30:00.000Z\t{feed}\t\
             http://news.example.org/2025/{month:02}/{}-{entry}.html\t{}",
            words.join("-"),
            words.join(" ")
        )?;
    }
    out.finish()?;
    Ok(())
}

/// A fifth of a thousand hosts with all faults, including gzip bombs.
fn faults(_: &Args, tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for faults in ["0", "20"] {
        let web = Web::start(tools, &["--sites", "1000", "--items", "3", "--faults", faults])?;
        let home = new_home(tools, &folder.path().join(format!("faulty-{faults}")), &web.feeds)?;
        let updated = measure(tools.tidings(&home, &["update", "--all", "--delay", "0"]))?;
        let measured = measure(tools.tidings(&home, &["fetch", "--delay", "0.5", "--time-limit", "100s"]))?;
        println!(
            "{faults} % faulty: update {:.1} s, {:.0} MiB; fetch {} pages, the last healthy one after {:.1} s, {:.1} s in all, {:.0} MiB",
            updated.wall.as_secs_f64(),
            updated.peak_mib,
            measured.count("fetched"),
            last_healthy_s(&home, 800)?,
            measured.wall.as_secs_f64(),
            measured.peak_mib
        );
    }
    Ok(())
}

/// The time at which the last page of the first sites, which are healthy in both webs, was stored.
fn last_healthy_s(home: &Path, healthy: u32) -> Result<f64> {
    let mut last = 0;
    for file in fs::read_dir(home.join("runs"))? {
        let path = file?.path();
        if !path.to_string_lossy().contains("-fetch") {
            continue;
        }
        let text = zstd::decode_all(File::open(&path)?)?;
        for line in String::from_utf8_lossy(&text).lines() {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let host: Vec<u32> =
                line["host"].as_str().unwrap_or_default().split('.').filter_map(|n| n.parse().ok()).collect();
            let [127, 1, high, low] = host[..] else { continue };
            if line["kind"] == "page" && high * 256 + low <= healthy {
                last = last.max(line["ended_ms"].as_u64().unwrap_or(0));
            }
        }
    }
    Ok(last as f64 / 1e3)
}

/// The time until a run ends after a signal, with a third of the hosts hanging.
fn stop(_: &Args, tools: &Tools) -> Result<()> {
    let web = Web::start(tools, &["--sites", "300", "--items", "5", "--faults", "33", "--fault", "hang"])?;
    let folder = tempfile::tempdir()?;
    let fresh = new_home(tools, folder.path(), &web.feeds)?;
    measure(tools.tidings(&fresh, &["update", "--all", "--delay", "0"]))?;
    let home = folder.path().join("run");
    for signal in ["INT", "TERM"] {
        copy_home(&fresh, &home)?;
        let mut child = tools.tidings(&home, &["fetch"]).stdout(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_secs(4));
        let asked = Instant::now();
        Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status()?;
        child.wait()?;
        println!("SIG{signal}: ended after {:.2} s", asked.elapsed().as_secs_f64());
    }
    copy_home(&fresh, &home)?;
    let measured = measure(tools.tidings(&home, &["fetch", "--time-limit", "4s"]))?;
    println!("--time-limit 4s: ended after {:.2} s", measured.wall.as_secs_f64());
    Ok(())
}

/// A low limit of open files costs speed, never a page.
fn files(_: &Args, tools: &Tools) -> Result<()> {
    let web = Web::start(tools, &["--sites", "2000", "--items", "2"])?;
    let folder = tempfile::tempdir()?;
    let home = new_home(tools, folder.path(), &web.feeds)?;
    for verb in ["update", "fetch"] {
        let tidings = tools.tidings(&home, &[verb, "--delay", "0"]);
        let words: Vec<_> = tidings.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut limited = Command::new("sh");
        limited.arg("-c").arg("ulimit -n 256; exec \"$0\" \"$@\"").arg(&tools.tidings).args(words);
        let measured = measure(limited)?;
        match verb {
            "update" => println!("ulimit -n 256: {} new entries", measured.count("new_entries")),
            _ => println!(
                "ulimit -n 256: {} pages fetched, {} failed",
                measured.count("fetched"),
                measured.count("failed")
            ),
        }
    }
    Ok(())
}

fn per_thousand(cpu: Duration, number: u64) -> f64 {
    cpu.as_secs_f64() * 1e3 / number.max(1) as f64
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { folder_bytes(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}

/// A description of the machine.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let find = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
        line.split(':').nth(1).unwrap_or("?").trim().to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{} x {}, {} of memory, Linux {}",
        cores,
        find(&read("/proc/cpuinfo"), "model name"),
        find(&read("/proc/meminfo"), "MemTotal"),
        kernel.trim()
    )
}
