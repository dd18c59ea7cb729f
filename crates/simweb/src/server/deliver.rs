//! Sends a response, or fails in a specified way.

use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Shared;
use super::coding::Bomb;
use super::reply::{Delivery, Reply, reason};
use crate::log::OpenRequest;

/// The state of the connection afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It waits for the next request.
    Keep,
    /// It ends.
    Close,
}

/// Responds to an invalid head.
pub async fn refuse(stream: &mut TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
}

/// Sends a response and completes the log entry.
pub async fn deliver(
    shared: &Shared,
    stream: &mut TcpStream,
    reply: Reply,
    head_only: bool,
    mut open_request: OpenRequest<'_>,
) -> Outcome {
    let keep = if reply.close { Outcome::Close } else { Outcome::Keep };
    let spec = &shared.world.spec;
    let done = match &reply.delivery {
        Delivery::Prepared(head) => {
            let body = if head_only { Bytes::new() } else { reply.body.clone() };
            send(stream, head.clone(), body, &reply, &mut open_request).await.map(|()| keep)
        }
        Delivery::Hang => {
            wait_for_goodbye(stream).await;
            Ok(Outcome::Close)
        }
        Delivery::Cut => {
            let _ = stream.set_zero_linger();
            Ok(Outcome::Close)
        }
        _ if head_only => {
            let head = head_with_length(&reply, reply.body.len() as u64);
            send(stream, head, Bytes::new(), &reply, &mut open_request).await.map(|()| keep)
        }
        Delivery::Whole => {
            let head = head_with_length(&reply, reply.body.len() as u64);
            send(stream, head, reply.body.clone(), &reply, &mut open_request).await.map(|()| keep)
        }
        Delivery::Chunked => send_chunked(stream, &reply, &mut open_request).await.map(|()| keep),
        Delivery::Drip => drip(stream, &reply, spec.drip_every, &mut open_request).await.map(|()| keep),
        Delivery::Endless => endless(stream, &reply, spec.endless_bytes_per_second, &mut open_request).await,
        Delivery::Truncated => {
            let half = reply.body.slice(..reply.body.len() / 2);
            let head = head_with_length(&reply, reply.body.len() as u64);
            send(stream, head, half, &reply, &mut open_request).await.map(|()| Outcome::Close)
        }
        Delivery::Bomb(bytes) => send_bomb(stream, &reply, *bytes, &mut open_request).await.map(|()| keep),
    };
    done.unwrap_or(Outcome::Close)
}

fn head_start(reply: &Reply) -> String {
    let connection = if reply.close { "Connection: close\r\n" } else { "" };
    format!("HTTP/1.1 {} {}\r\n{}{connection}", reply.status, reason(reply.status), reply.headers)
}

/// The head of a response of known length.
pub fn head_with_length(reply: &Reply, length: u64) -> Bytes {
    // A 304 has no body, and a length of zero would describe the page.
    if reply.status == 304 {
        return format!("{}\r\n", head_start(reply)).into();
    }
    format!("{}Content-Length: {length}\r\n\r\n", head_start(reply)).into()
}

/// Sends head and body in one call if they fit, and completes the log entry before the last bytes.
async fn send(
    stream: &mut TcpStream,
    mut head: Bytes,
    mut body: Bytes,
    reply: &Reply,
    open_request: &mut OpenRequest<'_>,
) -> std::io::Result<()> {
    const AT_ONCE_BYTES: usize = 64 * 1024;
    const LAST_BYTES: usize = 4 * 1024;
    let total = (head.len() + body.len()) as u64;
    if body.len() > AT_ONCE_BYTES {
        let mut first = head.chain(body.split_to(body.len() - LAST_BYTES));
        stream.write_all_buf(&mut first).await?;
        head = Bytes::new();
    }
    open_request.end(reply.status, total, reply.retry_after);
    stream.write_all_buf(&mut head.chain(body)).await
}

async fn send_chunked(
    stream: &mut TcpStream,
    reply: &Reply,
    open_request: &mut OpenRequest<'_>,
) -> std::io::Result<()> {
    let mut out = format!("{}Transfer-Encoding: chunked\r\n\r\n", head_start(reply)).into_bytes();
    // Sizes that are not powers of two, so that chunk boundaries fall anywhere.
    for chunk in reply.body.chunks(1013) {
        out.extend(format!("{:x}\r\n", chunk.len()).bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    send(stream, out.into(), Bytes::new(), reply, open_request).await
}

async fn drip(
    stream: &mut TcpStream,
    reply: &Reply,
    pause: Duration,
    open_request: &mut OpenRequest<'_>,
) -> std::io::Result<()> {
    let head = head_with_length(reply, reply.body.len() as u64);
    stream.write_all(&head).await?;
    for (sent, byte) in reply.body.iter().enumerate() {
        tokio::time::sleep(pause).await;
        if sent + 1 == reply.body.len() {
            open_request.end(reply.status, (head.len() + reply.body.len()) as u64, None);
        }
        if let Err(error) = stream.write_all(&[*byte]).await {
            open_request.end(reply.status, (head.len() + sent) as u64, None);
            return Err(error);
        }
    }
    Ok(())
}

async fn endless(
    stream: &mut TcpStream,
    reply: &Reply,
    bytes_per_second: u64,
    open_request: &mut OpenRequest<'_>,
) -> std::io::Result<Outcome> {
    const PIECE_BYTES: usize = 16 * 1024;
    let pause = Duration::from_secs_f64(PIECE_BYTES as f64 / bytes_per_second.max(1) as f64);
    let head = format!("{}Connection: close\r\n\r\n", head_start(reply));
    let piece: Vec<u8> = reply.body.iter().copied().cycle().take(PIECE_BYTES).collect();
    let mut sent = head.len() as u64;
    let mut result = stream.write_all(head.as_bytes()).await;
    while result.is_ok() {
        result = stream.write_all(&piece).await;
        sent += PIECE_BYTES as u64;
        tokio::time::sleep(pause).await;
    }
    open_request.end(reply.status, sent, None);
    Ok(Outcome::Close)
}

async fn send_bomb(
    stream: &mut TcpStream,
    reply: &Reply,
    expanded_bytes: u64,
    open_request: &mut OpenRequest<'_>,
) -> std::io::Result<()> {
    let bomb = Bomb::new(expanded_bytes);
    let head = head_with_length(reply, bomb.wire_bytes());
    stream.write_all_buf(&mut head.clone().chain(bomb.start.clone())).await?;
    for _ in 0..bomb.pieces {
        stream.write_all(&bomb.piece).await?;
    }
    open_request.end(reply.status, head.len() as u64 + bomb.wire_bytes(), None);
    stream.write_all(&bomb.end).await
}

/// Reads until the client closes the connection or the server ends.
async fn wait_for_goodbye(stream: &mut TcpStream) {
    let mut scratch = [0; 256];
    while matches!(stream.read(&mut scratch).await, Ok(1..)) {}
}
