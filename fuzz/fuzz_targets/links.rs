//! Finding feed links in arbitrary HTML never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|page: &[u8]| {
    let _ = tidings_feeds::links::find(page, "https://feeds.example/2026/page");
});
