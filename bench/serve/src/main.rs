//! Asks a running server from many clients at once, quick and heavy questions mixed, and says how long they waited.
//!
//! `bench-serve ADDRESS LANG CLIENTS SECONDS [SEED]`; see README.md.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What is asked: a kind, how often among a hundred, and questions of that kind. WORD stands for a word of the corpus, so that
/// few questions are asked twice.
const MIX: &[(&str, usize, &[&str])] = &[
    ("first page", 40, &["query?q=WORD", "query?q=WORD&filter=date%3D2020", "query?q=%22the+WORD%22"]),
    ("count", 20, &["count?q=WORD", "count?q=%5Blc%3D%22WORD.*%22%5D", "count?q=WORD&filter=date%3E%3D2020"]),
    ("timeline", 25, &["timeline?q=WORD", "timeline?q=WORD&by=week", "timeline?q=WORD&by=year"]),
    ("documents", 5, &["documents?filter=date%3D2020-03"]),
    ("freq", 4, &["freq?q=%5Blc%3D%22WORD.*%22%5D", "freq?q=WORD&by=site"]),
    ("colloc", 4, &["colloc?q=WORD"]),
    ("keywords", 1, &["keywords?focus=date%3D2020"]),
    ("trends", 1, &["trends?by=quarter&limit=50"]),
];

/// The answers of a kind: waits in microseconds, and how many were sent away.
#[derive(Default)]
struct Seen {
    waits_us: Vec<u64>,
    sent_away: u64,
    failed: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, lang, clients, seconds, seed @ ..] = &args[..] else {
        eprintln!("usage: bench-serve ADDRESS LANG CLIENTS SECONDS [SEED]");
        return ExitCode::from(2);
    };
    let (Ok(clients), Ok(seconds)) = (clients.parse::<u64>(), seconds.parse::<u64>()) else {
        eprintln!("CLIENTS and SECONDS are numbers");
        return ExitCode::from(2);
    };
    let seed: u64 = seed.first().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let words = words(address, lang);
    if words.is_empty() {
        eprintln!("{address} gives no words of {lang}");
        return ExitCode::FAILURE;
    }
    let seen: Arc<Mutex<BTreeMap<&'static str, Seen>>> = Arc::default();
    let began = Instant::now();
    let until = began + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (seen, words) = (&seen, &words[..]);
            scope.spawn(move || ask((address, lang), words, seed * 1000 + client, until, seen));
        }
    });
    let took = began.elapsed().as_secs_f64();
    let seen = seen.lock().expect("no client panics");
    let answered: usize = seen.values().map(|seen| seen.waits_us.len()).sum();
    println!("{clients} clients, {took:.1} s: {:.0} answers/s", answered as f64 / took);
    println!(
        "{:<12} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "kind", "answers", "p50 ms", "p99 ms", "max ms", "sent away", "failed"
    );
    for (kind, _, _) in MIX {
        let Some(seen) = seen.get(kind) else { continue };
        let mut waits = seen.waits_us.clone();
        waits.sort_unstable();
        let at = |share: f64| {
            let place = (share * waits.len().saturating_sub(1) as f64) as usize;
            waits.get(place).map_or(0.0, |wait| *wait as f64 / 1000.0)
        };
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(at);
        println!(
            "{kind:<12} {:>8} {p50:>9.1} {p99:>9.1} {most:>9.1} {:>9} {:>7}",
            waits.len(),
            seen.sent_away,
            seen.failed
        );
    }
    ExitCode::SUCCESS
}

/// Words of the corpus that need no escaping, the frequent and the rare.
fn words(address: &str, lang: &str) -> Vec<String> {
    let answer = TcpStream::connect(address).ok().map(BufReader::new);
    let answer = answer.and_then(|open| exchange(open, address, &format!("/api/v1/{lang}/words?limit=10000")));
    let Some((200, body, _)) = answer else { return Vec::new() };
    let values = body.split("\"value\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    values.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())).map(str::to_owned).collect()
}

/// One client: a question after the other over one connection.
fn ask(
    (address, lang): (&str, &str),
    words: &[String],
    seed: u64,
    until: Instant,
    seen: &Mutex<BTreeMap<&'static str, Seen>>,
) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut connection: Option<BufReader<TcpStream>> = None;
    while Instant::now() < until {
        let mut lot = rng.usize(0..MIX.iter().map(|(_, share, _)| share).sum());
        let (kind, _, questions) = MIX
            .iter()
            .find(|(_, share, _)| {
                let hit = lot < *share;
                lot = lot.saturating_sub(*share);
                hit
            })
            .expect("lots lie within the shares");
        let question = questions[rng.usize(0..questions.len())].replace("WORD", &words[rng.usize(0..words.len())]);
        let asked = Instant::now();
        let status = connection
            .take()
            .or_else(|| TcpStream::connect(address).ok().map(BufReader::new))
            .and_then(|open| exchange(open, address, &format!("/api/v1/{lang}/{question}")))
            .map(|(status, _, open)| {
                connection = Some(open);
                status
            });
        let wait_us = asked.elapsed().as_micros() as u64;
        {
            let mut all = seen.lock().expect("no client panics");
            let seen = all.entry(kind).or_default();
            match status {
                Some(200) => seen.waits_us.push(wait_us),
                Some(429 | 503) => seen.sent_away += 1,
                _ => seen.failed += 1,
            }
        }
        if matches!(status, Some(429 | 503)) {
            // Whoever is sent away comes back a little later, as it is told.
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Sends a question and reads the answer; gives its status, its body and the connection.
fn exchange(mut open: BufReader<TcpStream>, address: &str, path: &str) -> Option<(u16, String, BufReader<TcpStream>)> {
    open.get_mut().set_nodelay(true).ok()?;
    open.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).ok()?;
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        open.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest.split(' ').next()?.trim().parse().ok()?;
        } else if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        } else if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    open.read_exact(&mut body).ok()?;
    Some((status, String::from_utf8(body).ok()?, open))
}
