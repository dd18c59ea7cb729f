//! Process of a tool. Each of its three pipes has its own thread, so that neither side can
//! deadlock.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Maximum length of an output line.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Output lines buffered before the tool is blocked.
const MAX_QUEUED_LINES: usize = 4096;
/// Lines of standard error that are kept, and their maximum length.
const STDERR_TAIL_LINES: usize = 5;
const MAX_STDERR_LINE_BYTES: u64 = 400;
/// Time to wait for the last error output of a tool that has exited.
const STDERR_GRACE: Duration = Duration::from_millis(20);
/// Time for a tool to exit by itself after its input is closed.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Result of reading from a tool.
pub(super) enum ToolOutput {
    Line(Vec<u8>),
    TooLong,
    /// The tool closed its output.
    End,
    /// No line before the deadline.
    Timeout,
}

/// Running tool.
pub(super) struct Process {
    child: Child,
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<ToolOutput>,
    stderr_tail: Arc<Mutex<VecDeque<String>>>,
    pub lines: u64,
}

impl Process {
    pub fn start(command: &[String]) -> io::Result<Process> {
        let (program, args) = command.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A process group, so that child processes of the tool can be killed with it.
            .process_group(0)
            .spawn()?;
        let (input, to_write) = channel::<Vec<u8>>();
        let (to_read, output) = sync_channel(MAX_QUEUED_LINES);
        let stderr_tail = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                to_write.iter().try_for_each(|bytes| stdin.write_all(&bytes).and_then(|()| stdin.flush()))
            });
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let line = read_line(&mut stdout);
                    let is_last = !matches!(line, ToolOutput::Line(_));
                    if to_read.send(line).is_err() || is_last {
                        return;
                    }
                }
            });
        }
        if let Some(stderr) = child.stderr.take() {
            let stderr_tail = Arc::clone(&stderr_tail);
            thread::spawn(move || {
                let mut stderr = BufReader::new(stderr);
                let mut line = Vec::new();
                while stderr
                    .by_ref()
                    .take(MAX_STDERR_LINE_BYTES)
                    .read_until(b'\n', &mut line)
                    .is_ok_and(|read| read > 0)
                {
                    let text = String::from_utf8_lossy(&line).trim().to_owned();
                    line.clear();
                    let Ok(mut words) = stderr_tail.lock() else { return };
                    if !text.is_empty() {
                        words.push_back(text);
                    }
                    if words.len() > STDERR_TAIL_LINES {
                        words.pop_front();
                    }
                }
            });
        }
        Ok(Process { child, input: Some(input), output, stderr_tail, lines: 0 })
    }

    /// Sends bytes. A failure shows as missing output.
    pub fn send(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            let _ = input.send(bytes);
        }
    }

    /// Closes standard input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for the next line.
    pub fn read_line(&mut self, deadline: Instant) -> ToolOutput {
        match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.lines += 1;
                line
            }
            Err(RecvTimeoutError::Timeout) => ToolOutput::Timeout,
            Err(RecvTimeoutError::Disconnected) => ToolOutput::End,
        }
    }

    /// Waits for the process to exit; `None` after the deadline.
    pub fn wait(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Last lines of standard error; to be called after the tool has exited.
    pub fn stderr_tail(&self) -> Vec<String> {
        thread::sleep(STDERR_GRACE);
        self.stderr_tail.lock().map(|words| words.iter().cloned().collect()).unwrap_or_default()
    }

    /// Kills the process group.
    pub fn kill(&mut self) {
        // The process ID cannot be reused before the child is waited for.
        if let (Ok(None), Some(group)) = (self.child.try_wait(), Pid::from_raw(self.child.id() as i32)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_input();
        if self.wait(Instant::now() + EXIT_GRACE).is_none() {
            self.kill();
        }
    }
}

fn read_line(input: &mut impl io::BufRead) -> ToolOutput {
    let mut line = Vec::new();
    match input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => ToolOutput::End,
        Ok(_) => {
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() as u64 == MAX_LINE_BYTES {
                return ToolOutput::TooLong;
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            ToolOutput::Line(line)
        }
    }
}
