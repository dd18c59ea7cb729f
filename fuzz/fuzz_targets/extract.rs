//! Extraction from arbitrary bytes with several content types and presets never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, Preset, justext::JustextOptions};
use tidings_model::Page;

fuzz_target!(|bytes: &[u8]| {
    let (first, body) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let preset = match first % 4 {
        0 => Preset::Balanced,
        1 => Preset::Precision,
        2 => Preset::Recall,
        _ => Preset::Justext(JustextOptions::production()),
    };
    let page = Page {
        url: "https://gazette.example/2026/11/15/page".into(),
        content_type: if first & 4 == 0 { "text/html".into() } else { "text/html; charset=shift_jis".into() },
        published: "2026-11-14T08:00:00Z".into(),
        downloaded: "2026-11-15T08:00:00Z".into(),
        body: body.to_vec(),
        ..Page::default()
    };
    let options = Options { preset, links: first & 8 != 0, comments: first & 16 != 0, stubs: true };
    let _ = tidings_clean::clean(&page, &options, &PostprocessOptions::default());
});
