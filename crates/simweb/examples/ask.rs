//! Load generator: requests every feed and page of a running `simweb`, to measure the cost of its responses.
//!
//! Usage: `ask FEEDS.txt SIMWEB_PID`. One connection per site, 200 sites at once, all feeds and the pages they link to.
//! Prints the CPU time of the server per request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let (Some(feeds), Some(pid)) = (args.next(), args.next()) else {
        return Err("usage: ask FEEDS.txt SIMWEB_PID".into());
    };
    let feeds = std::fs::read_to_string(feeds)?;
    for (round, pages) in [("feeds", false), ("feeds and pages", true), ("feeds and pages again", true)] {
        let (before, began) = (cpu_ticks(&pid)?, Instant::now());
        let (asked, bytes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let permits = Arc::new(Semaphore::new(200));
        let mut tasks = Vec::new();
        for feed in feeds.lines() {
            let permit = Arc::clone(&permits).acquire_owned().await?;
            let (feed, asked, bytes) = (feed.to_string(), Arc::clone(&asked), Arc::clone(&bytes));
            tasks.push(tokio::spawn(async move {
                let _permit = permit;
                ask_site(&feed, pages, &asked, &bytes).await
            }));
        }
        let mut failed = 0;
        for task in tasks {
            failed += usize::from(task.await?.is_err());
        }
        let requests = asked.load(Ordering::Relaxed);
        let spent = (cpu_ticks(&pid)? - before) as f64 * 10.0;
        println!(
            "{round}: {requests} requests, {failed} sites failed, {:.1} MB, {:.2} s, server CPU {:.4} ms per request",
            bytes.load(Ordering::Relaxed) as f64 / 1e6,
            began.elapsed().as_secs_f64(),
            spent / requests as f64
        );
    }
    Ok(())
}

/// User and system time of a process, in hundredths of a second.
fn cpu_ticks(pid: &str) -> Result<u64, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit_once(") ").ok_or("cannot parse the stat file")?.1;
    let fields: Vec<&str> = after_name.split(' ').collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}

async fn ask_site(feed: &str, pages: bool, asked: &AtomicU64, bytes: &AtomicU64) -> Result<(), Failure> {
    let rest = feed.strip_prefix("http://").ok_or("only http")?;
    let (host, _) = rest.split_once('/').ok_or("no path")?;
    let mut stream = TcpStream::connect(host).await?;
    // The links of a feed are read from its text, so the round with pages requests no compression.
    let coding = if pages { "identity" } else { "gzip" };
    let text = get(&mut stream, host, &feed[7 + host.len()..], coding, asked, bytes).await?;
    if !pages {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text);
    let base = format!("http://{host}/");
    let mut paths: Vec<&str> = text
        .match_indices(&base)
        .map(|(at, _)| text[at + base.len() - 1..].split(['<', '"', '\'', '?', '#', '&', ']']).next().unwrap_or("/"))
        .filter(|path| {
            path.len() > 1 && !path.ends_with(".xml") && !path.ends_with(".rdf") && !path.ends_with("feed.json")
        })
        .collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        get(&mut stream, host, path, "gzip", asked, bytes).await?;
    }
    Ok(())
}

async fn get(
    stream: &mut TcpStream,
    host: &str,
    path: &str,
    coding: &str,
    asked: &AtomicU64,
    bytes: &AtomicU64,
) -> Result<Vec<u8>, Failure> {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: ask\r\nAccept-Encoding: {coding}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = Vec::with_capacity(32 * 1024);
    let mut wanted = usize::MAX;
    while buffer.len() < wanted {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err("closed early".into());
        }
        if wanted == usize::MAX
            && let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n")
        {
            let head = std::str::from_utf8(&buffer[..at])?;
            let length = head.split("Content-Length: ").nth(1).ok_or("no length")?;
            wanted = at + 4 + length.lines().next().ok_or("no length")?.trim().parse::<usize>()?;
        }
    }
    asked.fetch_add(1, Ordering::Relaxed);
    bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
    Ok(buffer)
}
