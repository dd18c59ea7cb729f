//! The terminal: messages, progress bars, output.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use log::{Level, LevelFilter, Log, Metadata, Record};
use tidings_pipeline::reporter::{Event, LogLines, Reporter};

use crate::style::{Ink, Style};

/// The progress bar on the terminal. Messages suspend it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Prints messages to standard error, above the progress bar.
pub struct Logger;

/// The logger of the command line.
pub static LOGGER: Logger = Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Messages of dependencies are shown at the highest level only.
        metadata.target().starts_with("tidings") || log::max_level() == LevelFilter::Trace
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let line = line(record.level(), &record.args().to_string(), Style::stderr());
        let print = || {
            // A closed terminal must not stop a run.
            let _ = writeln!(std::io::stderr(), "{line}");
        };
        match BAR.lock().expect("no panic while held").as_ref() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn flush(&self) {}
}

/// A message as a line.
fn line(level: Level, message: &str, style: Style) -> String {
    match level {
        Level::Error => format!("{} {message}", style.paint(Ink::Error, "error:")),
        Level::Warn => format!("{} {message}", style.paint(Ink::Warning, "warning:")),
        _ => message.to_owned(),
    }
}

/// Sets the log level: -1 errors only, 0 the default, 1 and 2 more.
pub fn set_verbosity(level: i8) {
    let filter = match level {
        ..0 => LevelFilter::Error,
        0 => LevelFilter::Info,
        1 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    // Inside Python there is a logger already, which passes messages on to ours.
    let _ = log::set_logger(&LOGGER);
    log::set_max_level(filter);
}

/// Shows progress as a bar on a terminal, and as log lines elsewhere.
#[derive(Default)]
pub struct Terminal {
    lines: LogLines,
}

impl Reporter for Terminal {
    fn event(&self, event: &Event<'_>) {
        if !(std::io::stderr().is_terminal() && log::max_level() >= LevelFilter::Info) {
            return self.lines.event(event);
        }
        let mut shown = BAR.lock().expect("no panic while held");
        match event {
            Event::Progress(progress) => {
                let bar = shown.get_or_insert_with(|| new_bar(progress.total));
                if let Some(total) = progress.total {
                    bar.set_length(total);
                }
                bar.set_prefix(progress.unit.to_owned());
                bar.set_position(progress.done);
                bar.set_message(progress.detail.to_owned());
            }
            Event::ProgressEnded => {
                if let Some(bar) = shown.take() {
                    bar.finish_and_clear();
                }
            }
            Event::StageBegan { .. } | Event::StageEnded { .. } => {}
        }
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(5));
    let template = match total {
        Some(_) => "{elapsed_precise} {wide_bar} {human_pos}/{human_len} {prefix} {msg}",
        None => "{elapsed_precise} {spinner} {human_pos} {prefix} {wide_msg}",
    };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
    // The clock moves on also where a single step takes long.
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// The reporter of this program.
pub fn reporter() -> Arc<dyn Reporter> {
    Arc::new(Terminal::default())
}

/// Prints to standard output; a closed pipe (`| head`) ends the program without an error.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// Like [`print()`], for bytes.
pub fn print_bytes(text: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Standard output as a writer; a closed pipe ends the program without an error.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        print_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_red_on_a_terminal_and_plain_elsewhere() {
        assert_eq!(line(Level::Error, "no home", Style::PLAIN), "error: no home");
        assert_eq!(line(Level::Error, "no home", Style::COLOURED), "\x1b[1;31merror:\x1b[0m no home");
        assert_eq!(line(Level::Warn, "slow", Style::COLOURED), "\x1b[1;33mwarning:\x1b[0m slow");
        assert_eq!(line(Level::Info, "done", Style::COLOURED), "done");
    }
}
