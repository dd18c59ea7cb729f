//! `tidings run --loop`: rounds at a fixed interval, as a service.
//!
//! The interval is over when either clock says so: the monotonic clock stands still while the machine sleeps, and the
//! wall clock may be set back. Under systemd the service notifies readiness, status and watchdog.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use sd_notify::NotifyState;
use tidings_model::clock;
use tidings_pipeline::Pipeline;
use tidings_pipeline::cancel::StopReason;
use tidings_pipeline::config::Config;
use tidings_pipeline::context::elapsed;
use tidings_pipeline::display::span;

use super::Args;
use crate::args::Global;
use crate::cmd::Report;
use crate::{console, signals};

/// Longest single sleep, so that clock changes and new settings are noticed.
const MAX_SLEEP: Duration = Duration::from_secs(10);
/// Pause between rounds that exceed the interval, for other processes that wait for the lock.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// A round without progress for this long is considered stuck. Stages may exceed their time limit by the current day.
const STUCK: Duration = Duration::from_secs(24 * 3600);

/// Runs rounds until SIGINT or SIGTERM.
pub fn serve(args: &Args, pipeline: &Pipeline, global: &Global) -> Result<Report> {
    let every = Arc::new(Mutex::new(Duration::ZERO));
    let read_every = {
        let (home, every, given) = (pipeline.home().clone(), every.clone(), args.every);
        move || {
            let settings = Config::of_home(&home);
            *every.lock().expect("no panic while held") = given.unwrap_or(settings?.run.every.0);
            anyhow::Ok(())
        }
    };
    read_every()?;
    signals::on_hangup(move || {
        let now = NotifyState::monotonic_usec_now().unwrap_or(NotifyState::MonotonicUsec(0));
        notify(&[NotifyState::Reloading, now]);
        match read_every() {
            Ok(()) => log::info!("SIGHUP: settings reloaded; they apply from the next stage on"),
            Err(error) => log::error!("SIGHUP: settings not reloaded: {error:#}"),
        }
        notify(&[NotifyState::Ready]);
    });
    let heartbeat = Heartbeat::start()?;
    notify(&[NotifyState::Ready]);
    loop {
        let (began, started) = (Instant::now(), clock::now());
        heartbeat.beat();
        // Unreadable settings fail only this round: they may be corrected before the next.
        let ended = super::one_round(args, pipeline, global, &|stage| {
            heartbeat.beat();
            notify(&[NotifyState::Status(&format!("running {stage}"))]);
        });
        match ended {
            Ok(outcome) => {
                let report = Report::from(outcome);
                console::print(&if global.json { format!("{}\n", report.json) } else { report.text });
            }
            Err(error) => log::error!("{error:#}"),
        }
        heartbeat.beat();
        let mut announced = None;
        loop {
            let every = *every.lock().expect("no panic while held");
            let gone = began.elapsed().max(elapsed(started, clock::now()));
            let wait = rest(every, gone).max(if announced.is_none() { MIN_PAUSE } else { Duration::ZERO });
            if wait.is_zero() {
                break;
            }
            if announced != Some(every) {
                notify(&[NotifyState::Status(&format!("waiting; next round in {}", span(wait)))]);
                announced = Some(every);
            }
            heartbeat.beat();
            if pipeline.cancel_token().wait(wait.min(MAX_SLEEP)) {
                break;
            }
        }
        if let Some(StopReason::Cancelled(name)) = pipeline.cancel_token().reason() {
            notify(&[NotifyState::Stopping]);
            log::info!("stopped by {name}");
            return Ok(Report::default());
        }
    }
}

/// Time until the next round, `gone` after the last one began.
fn rest(every: Duration, gone: Duration) -> Duration {
    every.saturating_sub(gone)
}

fn notify(states: &[NotifyState<'_>]) {
    // Without systemd there is no socket, which is not an error.
    let _ = sd_notify::notify(states);
}

/// Notifies systemd's watchdog as long as rounds make progress.
struct Heartbeat(Arc<Mutex<Instant>>);

impl Heartbeat {
    fn start() -> Result<Heartbeat> {
        let last = Arc::new(Mutex::new(Instant::now()));
        let Some(patience) = sd_notify::watchdog_enabled() else { return Ok(Heartbeat(last)) };
        let watched = last.clone();
        let beat = move || {
            loop {
                if watched.lock().expect("no panic while held").elapsed() < STUCK {
                    notify(&[NotifyState::Watchdog]);
                }
                std::thread::sleep(patience / 3);
            }
        };
        std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(beat)
            .context("cannot start the watchdog thread")?;
        Ok(Heartbeat(last))
    }

    fn beat(&self) {
        *self.0.lock().expect("no panic while held") = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_begin_a_fixed_time_apart_and_at_once_after_a_long_one() {
        let m = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(rest(m(60), m(20)), m(40));
        assert_eq!(rest(m(60), m(75)), Duration::ZERO);
        assert_eq!(rest(m(15), m(20)), Duration::ZERO);
    }
}
