//! Asks a public server for first pages from honest clients, alone and beside attackers of each kind, and says how long the
//! honest ones waited and how much memory the server took.
//!
//! `attack ADDRESS LANG PID SECONDS [FILE.json [KIND]]`; see README.md. Clients use addresses of the loopback network, so that the
//! server can tell them apart.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::json;

/// Honest clients, each with an address of its own.
const HONEST: u8 = 32;
/// Connections of the attackers, all of one address unless a kind says otherwise.
const ATTACKERS: u8 = 8;
/// The pause of an honest client between two questions.
const THINKING: Duration = Duration::from_millis(400);
/// The pause of an attacker that was sent away.
const PAUSE: Duration = Duration::from_millis(100);

/// A kind of attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attack {
    /// Long pages with much context.
    Lines,
    /// A query of many equal alternatives.
    Alternatives,
    /// A stream of a large sample.
    Sample,
    /// Frequencies of long hits, all different.
    Values,
    /// Labels far apart, in the lane of quick questions.
    Labels,
    /// The same from an address each.
    LabelsOfMany,
    /// All connections there are, by 16 addresses.
    Connections,
    /// Streams that are not read.
    Unread,
}

impl Attack {
    const ALL: [Attack; 8] = [
        Attack::Lines,
        Attack::Alternatives,
        Attack::Sample,
        Attack::Values,
        Attack::Labels,
        Attack::LabelsOfMany,
        Attack::Connections,
        Attack::Unread,
    ];

    fn name(self) -> &'static str {
        match self {
            Attack::Lines => "lines",
            Attack::Alternatives => "alternatives",
            Attack::Sample => "sample",
            Attack::Values => "values",
            Attack::Labels => "labels",
            Attack::LabelsOfMany => "labels of 8 addresses",
            Attack::Connections => "1024 connections",
            Attack::Unread => "unread streams",
        }
    }

    fn question(self) -> String {
        match self {
            Attack::Lines => "query?q=%5B%5D&size=10000&context=200".to_owned(),
            Attack::Alternatives => format!("count?q=%5B%5D{}", "%7C%5B%5D".repeat(1899)),
            Attack::Sample => "query?q=%5B%5D&sample=200000&format=jsonl&context=200".to_owned(),
            Attack::Values => "freq?q=%5B%5D%7B20%7D&by=word".to_owned(),
            Attack::Labels | Attack::LabelsOfMany => {
                "count?q=a:%5B%5D+%5B%5D%7B0,500%7D+b:%5B%5D+::+a.word+%3D+b.word".to_owned()
            }
            Attack::Connections => String::new(),
            Attack::Unread => "query?q=%5B%5D&format=jsonl&context=200".to_owned(),
        }
    }

    fn address(self, attacker: u8) -> Ipv4Addr {
        match self {
            Attack::LabelsOfMany => Ipv4Addr::new(127, 0, 2, attacker + 10),
            _ => Ipv4Addr::new(127, 0, 2, 1),
        }
    }
}

/// A server under test.
struct Target {
    address: SocketAddr,
    lang: String,
    pid: u32,
    words: Vec<String>,
}

/// What honest clients saw.
#[derive(Default)]
struct Seen {
    waits_us: Vec<u64>,
    sent_away: u64,
    failed: u64,
}

impl Seen {
    fn at_ms(&self, share: f64) -> f64 {
        let mut waits = self.waits_us.clone();
        waits.sort_unstable();
        let place = (share * waits.len().saturating_sub(1) as f64) as usize;
        waits.get(place).map_or(0.0, |wait| *wait as f64 / 1000.0)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match &args[..] {
        [address, lang, pid, seconds, rest @ ..] => match (address.parse(), pid.parse(), seconds.parse()) {
            (Ok(address), Ok(pid), Ok(seconds)) => Some((address, lang, pid, seconds, rest)),
            _ => None,
        },
        _ => None,
    };
    let Some((address, lang, pid, seconds, rest)) = parsed else {
        eprintln!("usage: attack ADDRESS LANG PID SECONDS [FILE.json [KIND]]");
        return ExitCode::from(2);
    };
    let mut target = Target { address, lang: lang.clone(), pid, words: Vec::new() };
    target.words = words(&target);
    if target.words.is_empty() {
        eprintln!("{address} gives no words of {lang}");
        return ExitCode::FAILURE;
    }
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:>7} {:>9}",
        "attack", "p50 ms", "beside", "p99 ms", "beside", "ratio", "sent away", "failed", "anon MiB"
    );
    let mut rows = Vec::new();
    let is_chosen = |attack: &Attack| rest.get(1).is_none_or(|kind| kind == attack.name());
    for attack in Attack::ALL.into_iter().filter(is_chosen) {
        let (alone, _) = measure(&target, None, Duration::from_secs(seconds));
        let (beside, peak_mib) = measure(&target, Some(attack), Duration::from_secs(seconds));
        let ratio = beside.at_ms(0.99) / alone.at_ms(0.99).max(0.001);
        println!(
            "{:<24} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {:>6.2} {:>9} {:>7} {:>9}",
            attack.name(),
            alone.at_ms(0.5),
            beside.at_ms(0.5),
            alone.at_ms(0.99),
            beside.at_ms(0.99),
            ratio,
            beside.sent_away,
            beside.failed,
            peak_mib
        );
        rows.push(json!({
            "attack": attack.name(),
            "p50_alone_ms": alone.at_ms(0.5),
            "p50_beside_ms": beside.at_ms(0.5),
            "p99_alone_ms": alone.at_ms(0.99),
            "p99_beside_ms": beside.at_ms(0.99),
            "answers_alone": alone.waits_us.len(),
            "answers_beside": beside.waits_us.len(),
            "sent_away": beside.sent_away,
            "failed": beside.failed,
            "peak_anonymous_mib": peak_mib,
        }));
    }
    if let Some(file) = rest.first() {
        let text = serde_json::to_string_pretty(&json!({ "rows": rows })).expect("rows serialise");
        if let Err(error) = std::fs::write(file, text + "\n") {
            eprintln!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs honest clients for some time, and attackers beside them; returns the peak of anonymous memory too, in MiB.
fn measure(target: &Target, attack: Option<Attack>, time: Duration) -> (Seen, u64) {
    let (seen, ends) = (Mutex::new(Seen::default()), AtomicBool::new(false));
    let mut peak = 0;
    std::thread::scope(|scope| {
        if let Some(attack) = attack {
            for attacker in 0..ATTACKERS {
                let ends = &ends;
                scope.spawn(move || match attack {
                    Attack::Connections => hold_connections(target, attacker, ends),
                    Attack::Unread => leave_unread(target, attack.address(attacker), attacker, ends),
                    _ => besiege(target, attack, attacker, ends),
                });
            }
            // Attackers have all places that they can get before honest clients come.
            std::thread::sleep(Duration::from_secs(1));
        }
        for client in 0..HONEST {
            let (seen, ends) = (&seen, &ends);
            scope.spawn(move || ask_honestly(target, client, ends, seen));
        }
        let until = Instant::now() + time;
        while Instant::now() < until {
            peak = peak.max(anonymous_mib(target.pid));
            std::thread::sleep(Duration::from_millis(50));
        }
        ends.store(true, Relaxed);
    });
    (seen.into_inner().expect("no client panics"), peak)
}

/// Asks for first pages about random words, over one connection.
fn ask_honestly(target: &Target, client: u8, ends: &AtomicBool, seen: &Mutex<Seen>) {
    let mut rng = fastrand::Rng::with_seed(u64::from(client));
    let source = Ipv4Addr::new(127, 0, 1, client + 1);
    let mut connection = None;
    // Clients do not come all at once.
    std::thread::sleep(THINKING.mul_f64(rng.f64()));
    while !ends.load(Relaxed) {
        let word = &target.words[rng.usize(0..target.words.len())];
        let asked = Instant::now();
        let path = format!("/api/v1/{}/query?q={word}", target.lang);
        let status =
            connection.take().or_else(|| connect(source, target.address)).and_then(|open| exchange(open, &path)).map(
                |(status, _, open)| {
                    connection = Some(open);
                    status
                },
            );
        let wait = asked.elapsed();
        let mut seen = seen.lock().expect("no client panics");
        match status {
            Some(200) => seen.waits_us.push(wait.as_micros() as u64),
            Some(429 | 503) => seen.sent_away += 1,
            _ => seen.failed += 1,
        }
        drop(seen);
        std::thread::sleep(THINKING.mul_f64(0.5 + rng.f64()));
    }
}

/// Asks the question of an attack again and again.
fn besiege(target: &Target, attack: Attack, attacker: u8, ends: &AtomicBool) {
    let path = format!("/api/v1/{}/{}", target.lang, attack.question());
    while !ends.load(Relaxed) {
        let answer = connect(attack.address(attacker), target.address).and_then(|open| exchange(open, &path));
        if answer.is_none_or(|(status, ..)| status != 200) {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Holds 128 connections of two addresses open with half a request, and opens those that are closed again.
fn hold_connections(target: &Target, attacker: u8, ends: &AtomicBool) {
    let mut held: Vec<Option<BufReader<TcpStream>>> = Vec::new();
    held.resize_with(128, || None);
    while !ends.load(Relaxed) {
        for (number, slot) in held.iter_mut().enumerate() {
            let is_open = slot.as_mut().is_some_and(|open| {
                let stream = open.get_mut();
                let _ = stream.set_nonblocking(true);
                let read = stream.read(&mut [0; 64]);
                read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
            });
            if !is_open {
                let source = Ipv4Addr::new(127, 0, 3, attacker * 2 + 1 + (number % 2) as u8);
                *slot = connect(source, target.address);
                if let Some(open) = slot {
                    let _ = open.get_mut().write_all(b"GET /api/v1/en/count?q=a HTTP/1.1\r\nHost: loc");
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Asks for a long stream and reads nothing of it.
fn leave_unread(target: &Target, source: Ipv4Addr, attacker: u8, ends: &AtomicBool) {
    let path = format!("/api/v1/{}/{}&seed={attacker}", target.lang, Attack::Unread.question());
    while !ends.load(Relaxed) {
        if let Some(mut open) = connect(source, target.address) {
            let _ = open.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
            let began = Instant::now();
            while !ends.load(Relaxed) && began.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Words of the corpus that need no escaping, the frequent and the rare.
fn words(target: &Target) -> Vec<String> {
    let path = format!("/api/v1/{}/words?limit=10000", target.lang);
    let answer = connect(Ipv4Addr::LOCALHOST, target.address).and_then(|open| exchange(open, &path));
    let Some((200, body, _)) = answer else { return Vec::new() };
    let values = body.split("\"value\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    values.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())).map(str::to_owned).collect()
}

/// A connection from an address.
fn connect(source: Ipv4Addr, target: SocketAddr) -> Option<BufReader<TcpStream>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().ok()?;
        socket.bind(SocketAddr::from((source, 0))).ok()?;
        let connected = tokio::time::timeout(Duration::from_secs(10), socket.connect(target)).await.ok()?;
        connected.ok()?.into_std().ok()
    })?;
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    Some(BufReader::new(stream))
}

/// Sends a question and reads the answer; returns its status, its body and the connection. Streams are read to their end.
fn exchange(mut open: BufReader<TcpStream>, path: &str) -> Option<(u16, String, BufReader<TcpStream>)> {
    open.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).ok()?;
    let (mut status, mut length, mut is_chunked) = (0, 0, false);
    loop {
        let mut line = String::new();
        open.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let lower = line.to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest.split(' ').next()?.trim().parse().ok()?;
        } else if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        } else if lower.starts_with("transfer-encoding:") {
            is_chunked = true;
        } else if line == "\r\n" {
            break;
        }
    }
    if is_chunked {
        std::io::copy(&mut open, &mut std::io::sink()).ok()?;
        return None;
    }
    let mut body = vec![0; length];
    open.read_exact(&mut body).ok()?;
    Some((status, String::from_utf8(body).ok()?, open))
}

/// The anonymous memory of a process in MiB: without the files that it maps.
fn anonymous_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1024
}
