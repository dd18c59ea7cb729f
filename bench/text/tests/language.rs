//! What was reached stays reached: skipped where the development data is not at hand.

use std::io::BufReader;
use std::process::{Command, Stdio};

use bench_text::{folded, noise, read, scores};
use tidings_lang::{Hints, identify};

#[test]
fn languages_are_told_apart_as_well_as_before() {
    let packed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/text-dev/langid/langid-dev.jsonl.xz");
    if !std::path::Path::new(packed).exists() {
        eprintln!("skipped: no development data");
        return;
    }
    let mut child =
        Command::new("xz").args(["-dc", packed]).stdout(Stdio::piped()).spawn().expect("xz unpacks the items");
    let items = read(BufReader::new(child.stdout.take().expect("it was piped"))).expect("items are JSON lines");
    child.wait().expect("xz ends");
    let answers: Vec<String> =
        items.iter().map(|item| folded(identify(&item.text, Hints::default()).lang).to_owned()).collect();
    let scores = scores(&items, &answers);
    for (kind, core, all) in PINNED {
        let (_, got_core, got_all) = scores[&("ntrex", *kind)];
        assert!(got_core >= *core && got_all >= *all, "{kind}: {got_core:.4}, {got_all:.4}");
    }
    assert!(noise(&items, &answers) >= 0.95);
}

/// Kind, macro-F1 over core labels and over all. The weights were fitted to these items; fitted to
/// four fifths and asked about the last they reach 0.931, 0.988, 0.996 and 0.993 over core labels.
const PINNED: &[(&str, f64, f64)] =
    &[("short", 0.935, 0.83), ("sent", 0.987, 0.90), ("para", 0.996, 0.91), ("doc", 0.994, 0.91)];
