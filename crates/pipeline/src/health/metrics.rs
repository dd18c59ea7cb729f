//! The status of a home as metrics in the Prometheus text format.
//!
//! `tidings status --metrics` prints them or writes them for the textfile collector of the node exporter, and the server
//! adds them to `/metrics`. A figure that is unknown has no sample: nothing is 0 that was not counted.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use jiff::Timestamp;
use serde::Serialize;

use super::status::{self, StatusOutcome};
use crate::Pipeline;
use crate::stage::StageId;

/// Families of metrics, one after the other.
struct Text(String);

impl Text {
    fn family<V: Display>(&mut self, name: &str, about: &str, samples: impl IntoIterator<Item = (String, V)>) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = write!(self.0, "# HELP tidings_{name} {about}\n# TYPE tidings_{name} gauge\n");
        for (labels, value) in samples {
            let _ = writeln!(self.0, "tidings_{name}{labels} {value}");
        }
    }

    /// A family with one sample, if it is known.
    fn single<V: Display>(&mut self, name: &str, about: &str, value: Option<V>) {
        self.family(name, about, value.map(|value| (String::new(), value)));
    }
}

/// The metrics of a home as of now; of one that cannot be read, only that.
pub fn of_home(pipeline: &Pipeline) -> String {
    let status = status::status(pipeline).map_err(|error| log::warn!("cannot read the status of the home: {error:#}"));
    let mut text = Text(String::new());
    text.single("readable", "1 if the status of the home could be read.", Some(u8::from(status.is_ok())));
    text.0 + &status.as_ref().map(exposition).unwrap_or_default()
}

/// The metrics of a status.
fn exposition(status: &StatusOutcome) -> String {
    let mut text = Text(String::new());
    let health = &status.health;
    text.single("status_time_seconds", "When the status was read.", Some(seconds(health.now)));
    text.single("state", "State of the home: 0 OK, 1 warning, 2 critical.", Some(status.state as u8));
    alerts(&mut text, status);
    let feeds = &health.feeds;
    let by_state = [
        ("alive", feeds.alive),
        ("quiet", feeds.quiet),
        ("failing", feeds.failing),
        ("dead", feeds.dead),
        ("unasked", feeds.unasked),
    ];
    let sample = |(state, number): (&str, u64)| (format!("{{state=\"{state}\"}}"), number);
    text.family("feeds", "Feeds by state.", by_state.map(sample));
    text.single("feeds_late", "Feeds that are polled too late.", Some(feeds.late));
    text.single("feeds_below_baseline", "Feeds below their own baseline.", Some(health.falls.len()));
    stages(&mut text, status);
    harvest(&mut text, status);
    text.single("disk_free_bytes", "Free disk space.", health.disk.free);
    text.single("disk_growth_bytes_per_day", "Growth of the home.", health.disk.growth_per_day);
    text.single("disk_days_left", "Days until the disk is full and crawls stop.", health.disk.days_left);
    let damaged = health.damaged_files.len() + health.faulty_pages.len();
    text.single("damaged_files", "Files that are missing, changed or damaged.", Some(damaged));
    let tokens = health.indexes.iter().map(|(code, index)| (format!("{{language=\"{code}\"}}"), index.tokens));
    text.family("index_tokens", "Tokens that can be searched.", tokens);
    text.0
}

fn alerts(text: &mut Text, status: &StatusOutcome) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for alert in &status.alerts {
        let labels = format!("{{level=\"{}\",rule=\"{}\"}}", word(&alert.level), word(&alert.rule));
        *counts.entry(labels).or_default() += 1;
    }
    text.family("alerts", "Alerts by level and rule.", counts);
}

fn stages(text: &mut Text, status: &StatusOutcome) {
    let health = &status.health;
    let on = || StageId::ALL.iter().copied().filter(|stage| !health.stages.off.contains(stage));
    let times = |time: fn(&super::stages::StageState) -> Option<Timestamp>| {
        let at = move |stage: StageId| Some((stage_label(stage), seconds(time(&health.stages[stage])?)));
        on().filter_map(at).collect::<Vec<_>>()
    };
    text.family("stage_last_run_time_seconds", "Start of the last run of each stage.", times(|state| state.last_try));
    text.family(
        "stage_last_success_time_seconds",
        "Start of the last successful run of each stage.",
        times(|state| state.last_success),
    );
    let failed = on().map(|stage| (stage_label(stage), u8::from(health.stages[stage].trouble.is_some())));
    text.family("stage_failed", "1 if the last run of the stage failed.", failed);
}

fn harvest(text: &mut Text, status: &StatusOutcome) {
    let harvest = &status.health.harvest;
    text.single("harvest_seconds", "Time that the figures of the harvest cover.", Some(harvest.hours * 3600.0));
    text.single("harvest_pages", "Pages stored in this time.", Some(harvest.pages));
    text.single("harvest_failed_pages", "Pages that were tried in this time and not stored.", Some(harvest.failed));
    text.single("harvest_requests", "Requests in this time.", Some(harvest.requests));
    text.single("plan_waiting", "Pages that the last run left for later.", Some(harvest.left));
    text.single("newest_page_time_seconds", "End of the last run that stored pages.", harvest.newest_page.map(seconds));
    let oldest = status.health.oldest_unfound.map(seconds);
    text.single("oldest_unsearchable_page_time_seconds", "Age of the oldest page that is not searchable yet.", oldest);
}

fn stage_label(stage: StageId) -> String {
    format!("{{stage=\"{}\"}}", stage.name())
}

fn seconds(time: Timestamp) -> i64 {
    time.as_second()
}

/// The word of a unit variant, as JSON has it.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_have_no_sample() {
        let folder = tempfile::tempdir().unwrap();
        let text = of_home(&Pipeline::create(folder.path()).unwrap());
        assert!(text.contains("\ntidings_readable 1\n") && text.contains("\ntidings_state 1\n"), "{text}");
        assert!(text.contains("tidings_alerts{level=\"warning\",rule=\"never-run\"} 1\n"), "{text}");
        assert!(text.contains("tidings_feeds{state=\"dead\"} 0\n"), "{text}");
        assert!(text.contains("tidings_stage_failed{stage=\"fetch\"} 0\n"), "{text}");
        for unknown in ["stage_last_run", "disk_days_left", "newest_page", "index_tokens"] {
            assert!(!text.contains(unknown), "{unknown}: {text}");
        }
    }

    #[test]
    fn every_sample_belongs_to_the_family_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = of_home(&Pipeline::create(folder.path()).unwrap());
        let mut family = "";
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(declared) => family = declared.split(' ').next().unwrap(),
                None if line.starts_with('#') => {}
                None => {
                    let (name, value) = line.rsplit_once(' ').unwrap();
                    assert_eq!(name.split('{').next(), Some(family), "{line}");
                    assert!(value.parse::<f64>().is_ok(), "{line}");
                }
            }
        }
    }
}
