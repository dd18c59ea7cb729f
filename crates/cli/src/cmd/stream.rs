//! Shared code of commands that filter standard input to standard output.

use serde::Serialize;
use tidings_pipeline::display::count;
use tidings_pipeline::filter::Unreadable;
use tidings_pipeline::parallel;

use super::Report;
use crate::console;

/// The form of the input of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// JSON lines, each with an output line.
    JsonLines,
    /// Text; unreadable lines are skipped.
    PlainText,
}

/// The number of threads of a filter, one per core by default.
pub fn threads(flag: Option<u16>) -> usize {
    flag.map_or_else(parallel::cores, usize::from)
}

/// The report of a filter. Its output is already printed, so the report has no text.
pub fn filter_report(unreadable: Unreadable, input: Input) -> Report {
    let Unreadable(lines) = unreadable;
    if lines > 0 {
        let why = match input {
            Input::JsonLines => "each has an output line with the error",
            Input::PlainText => "they are too long or not valid UTF-8",
        };
        log::warn!("{} could not be read; {why}", count(lines, "line"));
    }
    Report { partly: lines > 0, ..Report::default() }
}

/// Prints rows as JSON lines, buffered.
#[derive(Default)]
pub struct JsonLines {
    buffer: Vec<u8>,
}

impl JsonLines {
    /// Buffer size.
    const PRINTED_BYTES: usize = 1 << 16;

    /// Prints a row.
    pub fn push(&mut self, row: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.buffer, row)?;
        self.buffer.push(b'\n');
        if self.buffer.len() >= Self::PRINTED_BYTES {
            self.print();
        }
        Ok(())
    }

    fn print(&mut self) {
        console::print_bytes(&self.buffer);
        self.buffer.clear();
    }
}

impl Drop for JsonLines {
    fn drop(&mut self) {
        self.print();
    }
}
