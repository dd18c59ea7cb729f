//! `simgraph`: serves a link graph until standard input ends or a number of requests is reached, then prints what the
//! client did as one line of JSON.
//!
//! For crawlers of other projects: they are given the seeds and the server as their proxy, and are judged by the
//! requests that arrive.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use tidings_simweb::graph::{GraphServer, GraphSpec, Scorer, Truth};

const HELP: &str = "\
simgraph: a simulated web of linked sites on loopback

usage: simgraph [OPTION VALUE]...

  --sites N      sites (60)
  --seed N       the name of this graph (1)
  --port N       the port of all sites (0: any)
  --seeds N      front pages to print as seeds, one a line after the port (8)
  --budget N     requests that count, of all clients (no limit)
  --local 1      names under localhost, which need no proxy and share one address (0)
";

/// Shares of the budget at which tokens are noted.
const MARKS: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("simgraph: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let number = |name: &str, default: u64| match words.iter().position(|word| word == name) {
        None => Ok(default),
        Some(at) => words
            .get(at + 1)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("{name} needs a number; --help lists the options")),
    };
    let mut spec =
        GraphSpec { seed: number("--seed", 1)?, sites: number("--sites", 60)? as usize, ..GraphSpec::default() };
    if number("--local", 0)? == 1 {
        spec.top_level = ["localhost", "localhost"];
    }
    let language = spec.target;
    let port = u16::try_from(number("--port", 0)?).map_err(|_| "--port must be below 65536".to_owned())?;
    let budget = number("--budget", u64::MAX)?;
    let server = GraphServer::start(spec, port).map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    println!("{}", server.port());
    for url in server.graph().seeds(language, number("--seeds", 8)? as usize) {
        println!("{url}");
    }
    println!();
    std::io::stdout().flush().map_err(|error| format!("cannot write to standard output: {error}"))?;
    wait(&server, budget);
    report(&server, language, budget)
}

/// Waits until standard input ends or the budget is spent.
fn wait(server: &GraphServer, budget: u64) {
    let (ended, end) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    while end.recv_timeout(Duration::from_millis(100)) == Err(mpsc::RecvTimeoutError::Timeout) {
        if server.request_count() as u64 >= budget {
            return;
        }
    }
}

fn report(server: &GraphServer, language: &'static str, budget: u64) -> Result<(), String> {
    let mut requests = server.requests();
    requests.truncate(usize::try_from(budget).unwrap_or(usize::MAX));
    let mut scorer = Scorer::new(Truth::new(server.graph()), language);
    let limit = if budget == u64::MAX { requests.len() as u64 } else { budget };
    let (mut bytes, mut marks) = (0, Vec::new());
    let (mut asked, mut repeated) = (HashSet::new(), 0);
    for (at, request) in requests.iter().enumerate() {
        bytes += request.bytes;
        if !request.is_policy() {
            scorer.add(&request.url);
            repeated += u64::from(!asked.insert(request.url.as_str()));
        }
        while marks.len() < MARKS.len() && (at + 1) as f64 >= MARKS[marks.len()] * limit as f64 {
            marks.push(serde_json::json!({ "requests": at + 1, "bytes": bytes, "tokens": scorer.tokens() }));
        }
    }
    let report = serde_json::json!({
        "marks": marks,
        "requests": requests.len(),
        "bytes": bytes,
        // Requests for pages that were asked for before.
        "repeated": repeated,
        "score": scorer.score(),
        "politeness": server.politeness(),
    });
    println!("{report}");
    Ok(())
}
