//! The processing of one connection.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::answer;
use super::deliver::{self, Outcome};
use super::target::Visit;
use super::{Shared, Status, head};
use crate::fault::Fault;
use crate::log::Host;

/// Closes with a reset, like an unreachable machine.
pub fn reset(stream: TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Processes requests until one side closes the connection.
pub async fn serve(
    shared: &Arc<Shared>,
    mut stream: TcpStream,
    address: Ipv4Addr,
    mut status: watch::Receiver<Status>,
) {
    let host = shared.host_at(address);
    let connection = shared.log.connected(host);
    let seen = status.clone();
    tokio::select! {
        // Checked first: an outage must win over a response that is ready.
        biased;
        _ = status.wait_for(|status| *status != Status::Up) => {}
        () = talk(shared, &mut stream, host, address, connection, &seen) => {
            if *seen.borrow() == Status::Up {
                return;
            }
        }
    }
    reset(stream);
}

async fn talk(
    shared: &Shared,
    stream: &mut TcpStream,
    host: Host,
    address: Ipv4Addr,
    connection: u64,
    status: &watch::Receiver<Status>,
) {
    let mut buffer = BytesMut::with_capacity(1024);
    loop {
        let patience = patience(shared, host);
        let Some((start_us, length)) = read_head(shared, stream, &mut buffer, patience).await else {
            return;
        };
        // The next request may have arrived together with the last one.
        if *status.borrow() != Status::Up {
            return;
        }
        let bytes = buffer.split_to(length);
        let Some(request) = head::read(&bytes) else {
            deliver::refuse(stream).await;
            return;
        };
        let (asked, open_request) = Visit { host, address, start_us, connection }.begin(shared, &request).await;
        let reply = answer::answer(shared, &asked);
        let outcome = deliver::deliver(shared, stream, reply, request.method == "HEAD", open_request).await;
        let done = matches!(outcome, Outcome::Close) || request.close;
        if done || !skip_body(stream, &mut buffer, request.body_bytes).await {
            return;
        }
        // An idle connection should not keep the buffer of its largest head.
        if buffer.is_empty() && buffer.capacity() > 4096 {
            buffer = BytesMut::with_capacity(1024);
        }
    }
}

/// The idle timeout of the connection.
fn patience(shared: &Shared, host: Host) -> Duration {
    let Host::Site(site) = host else {
        return shared.world.spec.idle_timeout;
    };
    if shared.conditions.with(site, |condition| condition.has(Fault::IdleClose)) {
        shared.world.spec.idle_close_after
    } else {
        shared.world.spec.idle_timeout
    }
}

/// Waits for a complete head; returns its time of arrival and its length.
async fn read_head(
    shared: &Shared,
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    patience: Duration,
) -> Option<(u64, usize)> {
    let mut start_us = (!buffer.is_empty()).then(|| shared.log.now_us());
    loop {
        if let Some(length) = head::length(buffer) {
            return Some((start_us?, length));
        }
        if buffer.len() >= head::MAX_HEAD_BYTES {
            deliver::refuse(stream).await;
            return None;
        }
        let read = tokio::time::timeout(patience, stream.read_buf(buffer)).await;
        if !matches!(read, Ok(Ok(1..))) {
            return None;
        }
        start_us.get_or_insert_with(|| shared.log.now_us());
    }
}

/// Discards the body of a request.
async fn skip_body(stream: &mut TcpStream, buffer: &mut BytesMut, mut left: u64) -> bool {
    const MAX_BODY_BYTES: u64 = 1 << 20;
    if left > MAX_BODY_BYTES {
        return false;
    }
    while left > 0 {
        let here = left.min(buffer.len() as u64);
        buffer.advance(here as usize);
        left -= here;
        if left > 0 && !matches!(stream.read_buf(buffer).await, Ok(1..)) {
            return false;
        }
    }
    true
}
