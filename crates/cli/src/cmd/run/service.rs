//! Rounds for ever, as a service.
//!
//! Rounds begin a fixed time apart, by whichever clock says so first: the one that nobody sets stands still while
//! a machine sleeps, the one on the wall may be set back. systemd is told when we are ready, what we do, and
//! that we are alive; without systemd nobody is told and nothing else changes.

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

/// We never sleep longer at once, so that a clock that was set and a changed setting are noticed.
const NAP: Duration = Duration::from_secs(10);
/// A pause even where rounds take longer than their distance, for those who wait for the home.
const BREATH: Duration = Duration::from_secs(1);
/// A round that takes longer than this hangs: text stages may exceed their time by a day in hand, not by this.
const STUCK: Duration = Duration::from_secs(24 * 3600);

/// Goes on until somebody asks for an end.
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
        tell(&[NotifyState::Reloading, now]);
        match read_every() {
            Ok(()) => log::info!("SIGHUP: the settings were read again; the next stage works by them"),
            Err(error) => log::error!("SIGHUP: the settings are not taken over: {error:#}"),
        }
        tell(&[NotifyState::Ready]);
    });
    let heartbeat = Heartbeat::start()?;
    tell(&[NotifyState::Ready]);
    loop {
        let (began, started) = (Instant::now(), clock::now());
        heartbeat.beat();
        // Settings that cannot be read are a failure of the round: they may be mended before the next.
        let ended = super::one_round(args, pipeline, global, &|stage| {
            heartbeat.beat();
            tell(&[NotifyState::Status(&format!("at work: {stage}"))]);
        });
        match ended {
            Ok(outcome) => {
                let report = Report::from(outcome);
                console::print(&if global.json { format!("{}\n", report.json) } else { report.text });
            }
            Err(error) => log::error!("{error:#}"),
        }
        heartbeat.beat();
        let mut told = None;
        loop {
            let every = *every.lock().expect("no panic while held");
            let gone = began.elapsed().max(elapsed(started, clock::now()));
            let wait = rest(every, gone).max(if told.is_none() { BREATH } else { Duration::ZERO });
            if wait.is_zero() {
                break;
            }
            if told != Some(every) {
                tell(&[NotifyState::Status(&format!("waiting; the next round begins in {}", span(wait)))]);
                told = Some(every);
            }
            heartbeat.beat();
            if pipeline.cancel_token().wait(wait.min(NAP)) {
                break;
            }
        }
        if let Some(StopReason::Cancelled(name)) = pipeline.cancel_token().reason() {
            tell(&[NotifyState::Stopping]);
            log::info!("stopped by {name}");
            return Ok(Report::default());
        }
    }
}

/// How long to wait for the next round when so much time has gone since the last one began.
fn rest(every: Duration, gone: Duration) -> Duration {
    every.saturating_sub(gone)
}

fn tell(states: &[NotifyState<'_>]) {
    // Nobody listens where there is no systemd.
    let _ = sd_notify::notify(states);
}

/// Tells the watchdog that we are alive as long as rounds get ahead.
struct Heartbeat(Arc<Mutex<Instant>>);

impl Heartbeat {
    fn start() -> Result<Heartbeat> {
        let last = Arc::new(Mutex::new(Instant::now()));
        let Some(patience) = sd_notify::watchdog_enabled() else { return Ok(Heartbeat(last)) };
        let watched = last.clone();
        let beat = move || {
            loop {
                if watched.lock().expect("no panic while held").elapsed() < STUCK {
                    tell(&[NotifyState::Watchdog]);
                }
                std::thread::sleep(patience / 3);
            }
        };
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(beat).context("cannot start a thread")?;
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
