//! Metrics in the Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tidings_query::engine::MemoryPool;

use crate::admission::QueueLoad;
use crate::corpus_registry::CorpusRegistry;
use crate::lanes::Lanes;

/// Histogram bounds of request times, in seconds.
const BOUNDS: [f64; 9] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Counters and histograms of the server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Requests by endpoint and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    times: Mutex<BTreeMap<&'static str, Times>>,
    /// Requests in flight.
    pub in_flight: AtomicU64,
    /// Open connections.
    pub connections: AtomicU64,
    /// Requests whose client disconnected before the response.
    pub abandoned: AtomicU64,
}

#[derive(Debug, Default, Clone)]
struct Times {
    buckets: [u64; BOUNDS.len()],
    sum_s: f64,
    count: u64,
}

impl Metrics {
    /// Records an answered request.
    pub fn answered(&self, endpoint: &'static str, status: u16, took: Duration) {
        *self.requests.lock().expect("no panic while held").entry((endpoint, status)).or_default() += 1;
        let mut times = self.times.lock().expect("no panic while held");
        let times = times.entry(endpoint).or_default();
        let took = took.as_secs_f64();
        for (bound, count) in BOUNDS.iter().zip(&mut times.buckets) {
            *count += u64::from(took <= *bound);
        }
        times.sum_s += took;
        times.count += 1;
    }

    /// The exposition text.
    pub fn text(&self, registry: &CorpusRegistry, lanes: &Lanes, memory: &MemoryPool) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, about: &str, lines: &[(String, String)]| {
            let _ = write!(text, "# HELP tidings_{name} {about}\n# TYPE tidings_{name} {kind}\n");
            for (labels, value) in lines {
                let _ = writeln!(text, "tidings_{name}{labels} {value}");
            }
        };
        let requests = self.requests.lock().expect("no panic while held").clone();
        let lines: Vec<_> = requests
            .iter()
            .map(|((endpoint, status), count)| {
                (format!("{{endpoint=\"{endpoint}\",status=\"{status}\"}}"), count.to_string())
            })
            .collect();
        family("requests_total", "counter", "Requests answered.", &lines);
        let times = self.times.lock().expect("no panic while held").clone();
        let mut lines = Vec::new();
        for (endpoint, times) in &times {
            let bounds = BOUNDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(times.buckets.iter().chain([&times.count])) {
                lines.push((format!("_bucket{{endpoint=\"{endpoint}\",le=\"{bound}\"}}"), count.to_string()));
            }
            lines.push((format!("_sum{{endpoint=\"{endpoint}\"}}"), times.sum_s.to_string()));
            lines.push((format!("_count{{endpoint=\"{endpoint}\"}}"), times.count.to_string()));
        }
        family("request_seconds", "histogram", "Time from request to start of response.", &lines);
        for (name, about, value) in [
            ("requests_under_way", "Requests in flight.", &self.in_flight),
            ("connections", "Open connections.", &self.connections),
        ] {
            family(name, "gauge", about, &[(String::new(), value.load(Relaxed).to_string())]);
        }
        let abandoned = self.abandoned.load(Relaxed).to_string();
        family(
            "requests_abandoned_total",
            "counter",
            "Requests whose client disconnected.",
            &[(String::new(), abandoned)],
        );
        let lanes: Vec<_> =
            lanes.loads().into_iter().map(|(lane, load)| (format!("{{lane=\"{lane}\"}}"), load)).collect();
        for (name, about, value) in [
            ("lane_places", "Requests that may run at once.", (|load| load.places) as fn(&QueueLoad) -> usize),
            ("lane_running", "Requests that run.", |load| load.running),
            ("lane_waiting", "Requests that wait for a place.", |load| load.waiting),
            ("lane_clients", "Clients whose requests run.", |load| load.clients),
        ] {
            let lines: Vec<_> = lanes.iter().map(|(labels, load)| (labels.clone(), value(load).to_string())).collect();
            family(name, "gauge", about, &lines);
        }
        let bytes = [("used", memory.taken()), ("limit", memory.bytes())];
        let lines = bytes.map(|(state, bytes)| (format!("{{state=\"{state}\"}}"), bytes.to_string()));
        family("question_memory_bytes", "gauge", "Memory that running questions have reserved, and its limit.", &lines);
        let corpora = registry.corpora();
        let of_corpora = |value: fn(&tidings_index::Snapshot) -> u64| -> Vec<(String, String)> {
            let line = |(code, engine): &(String, std::sync::Arc<tidings_query::engine::Engine>)| {
                (format!("{{corpus=\"{code}\"}}"), value(engine.snapshot()).to_string())
            };
            corpora.iter().map(line).collect()
        };
        family("corpus_tokens", "gauge", "Tokens in the index.", &of_corpora(|snapshot| snapshot.tokens()));
        family("corpus_documents", "gauge", "Documents in the index.", &of_corpora(|snapshot| snapshot.documents()));
        family("corpus_generation", "gauge", "Generation of the index.", &of_corpora(|snapshot| snapshot.generation()));
        text
    }
}
