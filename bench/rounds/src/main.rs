//! A simulated year of rounds: the cost of a round without work, and the files that rounds leave.
//!
//! Each round is a child process of this program, which sets its clock and runs all stages as `tidings run` does. CPU
//! time is that of the kernel for the finished process; the simulated web runs in the parent and is not measured.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use tidings_model::clock;
use tidings_pipeline::Pipeline;
use tidings_pipeline::round::{RoundOptions, run_round};
use tidings_simweb::{SimWeb, Spec};
use wait4::Wait4 as _;

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3600);

/// Measures a simulated year of rounds.
#[derive(Parser)]
struct Args {
    /// Days, with one round each
    #[arg(long, default_value_t = 365)]
    days: u32,
    /// Feeds
    #[arg(long, default_value_t = 50)]
    feeds: usize,
    /// Articles that each feed publishes a day
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    articles: u32,
    /// Keep the homes in this folder, which is created
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Write the results to this file, as JSON
    #[arg(long)]
    out: Option<PathBuf>,
    /// Run one round in this home and exit
    #[arg(long, requires = "at", hide = true)]
    round: Option<PathBuf>,
    /// The time of that round
    #[arg(long, hide = true)]
    at: Option<Timestamp>,
}

/// The figures of a day.
#[derive(Debug, Clone, Serialize)]
struct DayFigures {
    day: u32,
    round_cpu_s: f64,
    /// A round without work after it.
    idle_cpu_s: f64,
    files_in_runs: usize,
    history_bytes: u64,
    plan_bytes: u64,
}

/// CPU seconds by stage; `other` is the start of the process, housekeeping and the record of the round.
type StageCpu = BTreeMap<String, f64>;

/// All results.
#[derive(Debug, Serialize)]
struct Results {
    benchmark: String,
    machine: String,
    /// CPU times of debug builds are not comparable with those of release builds; their ratios are.
    build: &'static str,
    days: Vec<DayFigures>,
    idle_ratio: f64,
    /// CPU time of 24 rounds of a day, and of one round of the same pages.
    hourly_cpu_s: f64,
    daily_cpu_s: f64,
    hourly_ratio: f64,
    hourly_stages_cpu_s: StageCpu,
    daily_stages_cpu_s: StageCpu,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let (Some(home), Some(at)) = (&args.round, args.at) {
        clock::set(at);
        // As the command line does.
        tidings_mapped::allocator::keep_freed_memory();
        return one_round(home);
    }
    let results = measure(&args)?;
    let text = serde_json::to_string_pretty(&results)? + "\n";
    match &args.out {
        Some(path) => fs::write(path, text).with_context(|| format!("cannot write {}", path.display())),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// Runs a round in this process and prints the CPU time of each stage.
fn one_round(home: &Path) -> Result<()> {
    let pipeline = Pipeline::open(home)?;
    let stages = RefCell::new(StageCpu::new());
    let began = RefCell::new(0.0);
    let before = |_: &str| *began.borrow_mut() = cpu_s();
    let after = |stage: tidings_pipeline::stage::StageId, _: &_| {
        stages.borrow_mut().insert(stage.name().to_owned(), cpu_s() - *began.borrow());
    };
    run_round(&pipeline, &RoundOptions::default(), &before, &after)?;
    let mut stages = stages.into_inner();
    stages.insert("other".to_owned(), cpu_s() - stages.values().sum::<f64>());
    println!("{}", serde_json::to_string(&stages)?);
    Ok(())
}

/// The CPU time of this process so far.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The machine, as in the other results.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let memory = read("/proc/meminfo");
    let kib: u64 = memory.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
    format!(
        "{cores} x {}, {} GiB, Linux {}",
        model.map_or("unknown", |(_, model)| model.trim()),
        kib.div_ceil(1 << 20),
        read("/proc/sys/kernel/osrelease").trim()
    )
}

fn measure(args: &Args) -> Result<Results> {
    let spec = Spec {
        sites: args.feeds,
        // A feed lists more than a day, so that one round a day gets all articles.
        items_per_feed: (2 * args.articles as usize).max(12),
        languages: vec!["en".into()],
        publish_every: DAY / args.articles,
        story: DAY * (args.days + 3),
        ..Spec::default()
    };
    let web = SimWeb::start(spec).map_err(|error| anyhow::anyhow!("cannot start the simulated web: {error}"))?;
    let temporary = tempfile::tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let home = folder.join("home");
    new_home(&home, &web)?;
    let mut now = web.now();
    let mut days = Vec::new();
    for day in 1..=args.days {
        web.advance(DAY);
        now += DAY;
        let round_cpu_s = round(&home, now)?.0;
        if day == 2 || day % 50 == 0 || day == args.days {
            // The first round without work records that there is none.
            round(&home, now + HOUR)?;
            let idle = (0..3).map(|run| Ok(round(&home, now + HOUR + Duration::from_secs(60 * (run + 1)))?.0));
            let idle_cpu_s = idle.collect::<Result<Vec<f64>>>()?.into_iter().fold(f64::INFINITY, f64::min);
            let figures = figures(&home, day, round_cpu_s, idle_cpu_s)?;
            eprintln!("{figures:?}");
            days.push(figures);
        }
    }
    let [(hourly_cpu_s, hourly_stages_cpu_s), (daily_cpu_s, daily_stages_cpu_s)] = a_day_of_rounds(&home, &web, now)?;
    let first = days.first().context("at least two days")?.idle_cpu_s;
    let last = days.last().context("at least two days")?.idle_cpu_s;
    Ok(Results {
        benchmark: format!("bench-rounds --days {} --feeds {} --articles {}", args.days, args.feeds, args.articles),
        machine: machine(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        idle_ratio: last / first,
        days,
        hourly_cpu_s,
        daily_cpu_s,
        hourly_ratio: hourly_cpu_s / daily_cpu_s,
        hourly_stages_cpu_s,
        daily_stages_cpu_s,
    })
}

/// CPU time of 24 rounds of a day, and of one round of the same pages.
fn a_day_of_rounds(home: &Path, web: &SimWeb, now: Timestamp) -> Result<[(f64, StageCpu); 2]> {
    let once = home.with_file_name("once");
    let status = Command::new("cp").arg("-a").args([home, &once]).status()?;
    ensure!(status.success(), "cannot copy {}", home.display());
    let (mut hourly, mut stages, mut at) = (0.0, StageCpu::new(), now + 2 * HOUR);
    for _ in 0..24 {
        web.advance(HOUR);
        at += HOUR;
        let (cpu_s, of_round) = round(home, at)?;
        hourly += cpu_s;
        of_round.into_iter().for_each(|(stage, cpu_s)| *stages.entry(stage).or_default() += cpu_s);
    }
    Ok([(hourly, stages), round(&once, at)?])
}

/// Creates a home that polls all feeds in each round and waits for no host.
fn new_home(home: &Path, web: &SimWeb) -> Result<()> {
    Pipeline::create(home)?;
    let settings = "[fetch]\ndelay_s = 0.002\nfeed_delay_s = 0.002\nallow_private = ['127.0.0.0/8']\n\
                    [feeds]\nmin_interval_min = 15.0\nmax_interval_h = 1.0\n[run]\nreport = false\n";
    fs::write(home.join("tidings.toml"), settings)?;
    Ok(fs::write(home.join("feeds.txt"), web.feeds().join("\n"))?)
}

/// Runs a round in a process of its own; returns its CPU time, also by stage.
fn round(home: &Path, at: Timestamp) -> Result<(f64, StageCpu)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--round")
        .arg(home)
        .args(["--at", &at.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a round")?;
    let mut output = String::new();
    child.stdout.take().context("the output of a round is piped")?.read_to_string(&mut output)?;
    let used = child.wait4()?;
    ensure!(used.status.success(), "the round at {at} failed");
    let stages = serde_json::from_str(output.trim()).context("a round prints its stages")?;
    Ok(((used.rusage.utime + used.rusage.stime).as_secs_f64(), stages))
}

fn figures(home: &Path, day: u32, round_cpu_s: f64, idle_cpu_s: f64) -> Result<DayFigures> {
    let mut history_bytes = 0;
    for entry in fs::read_dir(home.join("history"))? {
        history_bytes += entry?.metadata()?.len();
    }
    Ok(DayFigures {
        day,
        round_cpu_s,
        idle_cpu_s,
        files_in_runs: fs::read_dir(home.join("runs"))?.count(),
        history_bytes,
        plan_bytes: fs::metadata(home.join("plan.tsv.zst"))?.len(),
    })
}
