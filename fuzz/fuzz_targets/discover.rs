//! Feed discovery on arbitrary responses: it terminates within its request limit and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_feeds::discover::{Ladder, Options, read_opml, reduce};

fuzz_target!(|answer: &[u8]| {
    let _ = read_opml(answer);
    let mut ladder = Ladder::new("https://blog.site.example/section/page.html", Options::default()).expect("a valid URL");
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
