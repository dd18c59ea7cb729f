//! Feed discovery ends whatever a site responds: no panic, no endless probing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_feeds::discover::{ProbeSequence, ProbeOptions, read_opml, reduce};

fuzz_target!(|answer: &[u8]| {
    let _ = read_opml(answer);
    let mut sequence = ProbeSequence::new("https://blog.site.example/section/page.html", ProbeOptions::default()).expect("a valid URL");
    loop {
        let requests = sequence.next();
        if requests.is_empty() {
            break;
        }
        for request in requests {
            sequence.record(&request, &reduce(answer, None, &request.url));
        }
    }
    assert!(sequence.requests() <= ProbeOptions::default().max_requests);
});
