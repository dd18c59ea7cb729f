//! Filters on standard input and output: what their commands share.

use serde::Serialize;
use tidings_pipeline::display::count;
use tidings_pipeline::filter::Unreadable;
use tidings_pipeline::parallel;

use super::Report;
use crate::console;

/// The form of the input of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A JSON object a line, each of which is answered.
    JsonLines,
    /// Text, of which unreadable lines are left out.
    PlainText,
}

/// The threads of a filter: as many as the flag says, or one for each core.
pub fn threads(flag: Option<u16>) -> usize {
    flag.map_or_else(parallel::cores, usize::from)
}

/// Reports how a filter ended. The lines that it wrote are its report, so that nothing is printed behind them.
pub fn filter_report(unreadable: Unreadable, input: Input) -> Report {
    let Unreadable(lines) = unreadable;
    if lines > 0 {
        let why = match input {
            Input::JsonLines => "each has a line that says why",
            Input::PlainText => "they are too long or not UTF-8",
        };
        log::warn!("{} could not be read; {why}", count(lines, "line"));
    }
    Report { partly: lines > 0, ..Report::default() }
}

/// Prints rows as JSON lines, many at once.
#[derive(Default)]
pub struct JsonLines {
    buffer: Vec<u8>,
}

impl JsonLines {
    /// Bytes that are printed at once.
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
