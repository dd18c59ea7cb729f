//! A timeout for clients that do not read their answer.
//!
//! An answer that is not read keeps its connection, and in a stream also the thread that makes it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::connections::Connection;

/// A stream whose writes fail when the other side takes no byte for some time.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    connection: Arc<Connection>,
    /// The end of patience, while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub fn new(stream: S, timeout: Duration, connection: Arc<Connection>) -> WriteTimeout<S> {
        WriteTimeout { stream, timeout, connection, stalled: None }
    }

    /// Starts or checks the timer of a write that waits, and stops it when there is progress.
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            self.connection.touch();
            return written;
        }
        let until = Instant::now() + self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.watch(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, buffers);
        this.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // TCP has nothing to flush: that is no progress.
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::ConnectionTable;
    use tokio::io::AsyncWriteExt;

    #[test]
    fn a_write_fails_when_the_other_side_reads_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let slot = ConnectionTable::new(1).enter_within([192, 0, 2, 1].into(), Duration::ZERO).await.unwrap();
            let (near, _far) = tokio::io::duplex(4);
            let mut stream = WriteTimeout::new(near, Duration::ZERO, slot.connection.clone());
            stream.write_all(b"head").await.unwrap();
            stream.flush().await.unwrap();
            assert_eq!(stream.write_all(b"body").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }
}
