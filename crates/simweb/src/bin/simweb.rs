//! `simweb`: serves a simulated web until it is stopped, then prints politeness statistics of the requests.
//!
//! For benchmarks, in which the client and the web should be separate processes, so that their costs can be measured
//! separately. It stops on SIGINT, SIGTERM, at the end of standard input or after `--seconds`, and prints one line of
//! JSON.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use tidings_simweb::{Hiding, SimWeb, SiteFault, Spec, TextSource};

const HELP: &str = "\
simweb: a simulated web on loopback

usage: simweb [OPTION VALUE]...

  --sites N          sites (20)
  --items N          items in each feed (20)
  --seed N           the name of this web (1)
  --languages A,B    languages of the sites, in turn (all)
  --archive FILE     publish the articles of a .jsonl.zst archive
  --start TIME       the publishing clock at the start (2026-03-01T12:00:00Z)
  --speed X          run the publishing clock, X times as fast as the real one (0)
  --every SECONDS    how often a site publishes, on average (3600)
  --twins            name both the RSS and the Atom feed of each site
  --hiding A,B       hide feeds in these ways, in turn; `all` is every way, `list` names them
  --page-bytes N     benchmark mode: pages of about N bytes from a pool
  --pool N           different pages in the pool (2048)
  --latency-ms N     hold every answer back (0)
  --faults PERCENT   make this share of the sites faulty, in every way (0)
  --fault NAME       with --faults: only in this way; may be repeated; `list` names all
  --retry-after N    seconds that 429 and 503 ask for (10)
  --crawl-delay N    seconds that robots.txt asks for, where it does (10)
  --bomb-bytes N     size of an expanded gzip bomb (1073741824)
  --endless-rate N   bytes per second of an endless body (1000000)
  --port N           the port of all sites (0: any)
  --tls              speak TLS on a second port
  --ca-out FILE      with --tls: write the certificate to trust, as PEM
  --threads N        threads that serve (2)
  --feeds-out FILE   write the addresses of all feeds, one a line
  --log-limit N      requests remembered one by one (0)
  --seconds N        stop by itself
  --ignore-stdin     go on when standard input ends
";

/// The parsed command line.
struct Args {
    spec: Spec,
    faulty_percent: usize,
    faults: Vec<SiteFault>,
    feeds_out: Option<PathBuf>,
    ca_out: Option<PathBuf>,
    seconds: Option<u64>,
    watch_stdin: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if words.windows(2).any(|pair| pair == ["--hiding", "list"]) {
        Hiding::ALL.iter().for_each(|way| println!("{}", way.name()));
        return ExitCode::SUCCESS;
    }
    if words.windows(2).any(|pair| pair == ["--fault", "list"]) {
        SiteFault::mix().for_each(|fault| println!("{fault}"));
        return ExitCode::SUCCESS;
    }
    let args = match read(&words) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("simweb: {message}");
            return ExitCode::from(2);
        }
    };
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simweb: {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

fn hiding(names: &str) -> Result<Vec<Hiding>, String> {
    let find = |name: &str| Hiding::ALL.into_iter().find(|way| way.name() == name);
    match names {
        "all" => Ok(Hiding::ALL.to_vec()),
        names => names
            .split(',')
            .map(|name| find(name).ok_or_else(|| format!("unknown way to hide a feed: {name}")))
            .collect(),
    }
}

fn read(words: &[String]) -> Result<Args, String> {
    // Counts are enough for benchmarks; the request list is for tests, which use the library.
    let spec = Spec { log_limit: 0, ..Spec::default() };
    let mut args = Args {
        spec,
        faulty_percent: 0,
        faults: Vec::new(),
        feeds_out: None,
        ca_out: None,
        seconds: None,
        watch_stdin: true,
    };
    let mut words = words.iter();
    while let Some(name) = words.next() {
        let spec = &mut args.spec;
        match name.as_str() {
            "--twins" => spec.twins = true,
            "--tls" => spec.tls = true,
            "--ignore-stdin" => args.watch_stdin = false,
            _ => {
                let value = words.next().ok_or_else(|| format!("{name} needs a value, or is unknown"))?;
                match name.as_str() {
                    "--sites" => spec.sites = number(name, value)?,
                    "--items" => spec.items_per_feed = number(name, value)?,
                    "--seed" => spec.seed = number(name, value)?,
                    "--languages" => spec.languages = value.split(',').map(str::to_string).collect(),
                    "--hiding" => spec.hiding = hiding(value)?,
                    "--archive" => spec.source = TextSource::Archive(value.into()),
                    "--start" => spec.start = number(name, value)?,
                    "--speed" => spec.clock_speed = number(name, value)?,
                    "--every" => spec.publish_every = Duration::from_secs(number(name, value)?),
                    "--page-bytes" => spec.page_bytes = Some(number(name, value)?),
                    "--pool" => spec.page_pool = number(name, value)?,
                    "--latency-ms" => spec.latency = Duration::from_millis(number(name, value)?),
                    "--faults" => args.faulty_percent = number(name, value)?,
                    "--fault" => args.faults.push(value.parse().map_err(|error| format!("{error}"))?),
                    "--retry-after" => spec.retry_after = Duration::from_secs(number(name, value)?),
                    "--crawl-delay" => spec.crawl_delay = Duration::from_secs(number(name, value)?),
                    "--bomb-bytes" => spec.bomb_bytes = number(name, value)?,
                    "--endless-rate" => spec.endless_bytes_per_second = number(name, value)?,
                    "--port" => spec.port = number(name, value)?,
                    "--ca-out" => args.ca_out = Some(value.into()),
                    "--threads" => spec.threads = number(name, value)?,
                    "--feeds-out" => args.feeds_out = Some(value.into()),
                    "--log-limit" => spec.log_limit = number(name, value)?,
                    "--seconds" => args.seconds = Some(number(name, value)?),
                    _ => return Err(format!("unknown option {name}; --help lists the options")),
                }
            }
        }
    }
    args.spec = if args.faults.is_empty() {
        args.spec.with_faults_percent(args.faulty_percent)
    } else {
        // Without a share, a fault applies to one site.
        let count = (args.spec.sites * args.faulty_percent / 100).max(args.faults.len());
        let turns = args.faults.iter().cycle().take(count);
        turns.fold(args.spec, |spec, fault| spec.with_fault(*fault, 1))
    };
    Ok(args)
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("invalid value for {name}: {value}"))
}

fn run(args: Args) -> Result<(), Box<dyn std::error::Error>> {
    // Every connection needs a file descriptor, and the default limit is far below 8,000 sites.
    if let Ok((soft, hard)) = rlimit::Resource::NOFILE.get()
        && soft < hard
    {
        let _ = rlimit::Resource::NOFILE.set(hard, hard);
    }
    let sites = args.spec.sites;
    let web = SimWeb::start(args.spec)?;
    if let Some(path) = &args.feeds_out {
        std::fs::write(path, web.feeds().join("\n") + "\n")?;
    }
    if let (Some(path), Some(pem)) = (&args.ca_out, web.authority_pem()) {
        std::fs::write(path, pem)?;
    }
    println!("port {}", web.port());
    if let Some(port) = web.tls_port() {
        println!("tls-port {port}");
    }
    println!("ready: {sites} sites on port {}", web.port());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(until_told(args.seconds, args.watch_stdin))?;
    // The reader of standard input may block forever; it must not keep the process alive.
    runtime.shutdown_background();
    println!("{}", web.politeness().to_json());
    Ok(())
}

/// Returns when there is a reason to stop.
async fn until_told(seconds: Option<u64>, watch_stdin: bool) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let time_is_up = async {
        match seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    let input_ends = async {
        if watch_stdin {
            let drained = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            let _ = drained.await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = time_is_up => {}
        () = input_ends => {}
    }
    Ok(())
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
