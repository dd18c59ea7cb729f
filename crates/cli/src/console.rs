//! What a person or a program sees of a run: messages, progress, the last line.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use log::{Level, LevelFilter, Log, Metadata, Record};

/// How often a run speaks up where nobody watches a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(30);

/// The bar that messages must not be printed into.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Libraries talk to developers; people hear from them only when they ask for all of it.
        metadata.target().starts_with("tidings") || log::max_level() == LevelFilter::Trace
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let line = match record.level() {
            Level::Error => format!("error: {}", record.args()),
            Level::Warn => format!("warning: {}", record.args()),
            _ => record.args().to_string(),
        };
        let print = || {
            // A closed terminal is no reason to stop a harvest.
            let _ = writeln!(std::io::stderr(), "{line}");
        };
        match BAR.lock().expect("no panic while held").as_ref() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn flush(&self) {}
}

/// Sets how much is said: -1 is errors only, 0 the usual, 1 and 2 more.
pub fn speak(level: i8) {
    let filter = match level {
        ..0 => LevelFilter::Error,
        0 => LevelFilter::Info,
        1 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(filter);
    }
}

/// Shows how far a run is: a bar on a terminal, a plain line now and then elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    spoken: Instant,
    what: &'static str,
    total: u64,
}

impl Progress {
    /// Begins to show a run over `total` things.
    pub fn begin(what: &'static str, total: u64) -> Progress {
        let watched = std::io::stderr().is_terminal() && log::max_level() >= LevelFilter::Info;
        let bar = watched.then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} {msg}");
            bar.set_style(style.expect("the template is right"));
            bar
        });
        *BAR.lock().expect("no panic while held") = bar.clone();
        Progress { bar, spoken: Instant::now(), what, total }
    }

    /// Says how much there is to do, where that shows up late.
    pub fn of(&mut self, total: u64) {
        self.total = total;
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
    }

    /// Shows the present state.
    pub fn show(&mut self, done: u64, detail: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done.min(self.total));
                bar.set_message(detail.to_owned());
            }
            None if self.spoken.elapsed() >= PLAIN_EVERY => {
                self.spoken = Instant::now();
                log::info!("{done} of {} {}, {detail}", self.total, self.what);
            }
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = BAR.lock().expect("no panic while held").take() {
            bar.finish_and_clear();
        }
    }
}

/// Prints to standard output; a reader that has gone away (`| head`) ends the program quietly.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// The same for text that is known to be UTF-8 but was not written as a string.
pub fn print_bytes(text: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// `1,234,567`: digits in groups.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 page`, `2 pages`: counts as people say them.
pub fn count(number: u64, thing: &str) -> String {
    let plural = match thing {
        _ if number == 1 => thing.to_owned(),
        _ if thing.ends_with('y') && !thing.ends_with("ay") => format!("{}ies", &thing[..thing.len() - 1]),
        _ => format!("{thing}s"),
    };
    format!("{} {plural}", grouped(number))
}

/// `38 s`, `2 min 5 s`, `1 h 3 min`.
pub fn span(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1, "page"), "1 page");
        assert_eq!(count(1234567, "entry"), "1,234,567 entries");
        assert_eq!(count(3, "day"), "3 days");
        assert_eq!(span(Duration::from_secs(3725)), "1 h 2 min");
    }
}
