//! Whatever a site answers, finding feeds ends: no panic, no endless climb.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_feeds::discover::{Ladder, Options, read_opml, reduce};

fuzz_target!(|answer: &[u8]| {
    let _ = read_opml(answer);
    let mut ladder = Ladder::new("https://blog.site.example/section/page.html", Options::default()).expect("an address");
    loop {
        let questions = ladder.next();
        if questions.is_empty() {
            break;
        }
        for question in questions {
            ladder.learn(&question, &reduce(answer, None, &question.url));
        }
    }
    assert!(ladder.requests() <= Options::default().max_requests);
});
