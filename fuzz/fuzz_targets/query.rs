//! Parsing arbitrary text as CQL or as a filter never panics, and a parsed query round-trips through
//! its printed form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_query::{Filter, cql};

fuzz_target!(|text: &str| {
    match cql::parse(text) {
        Ok(query) => assert_eq!(cql::parse(&query.to_string()).as_ref(), Ok(&query)),
        Err(error) => drop(error.render(text)),
    }
    if let Ok(filter) = text.parse::<Filter>() {
        assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
    }
});
