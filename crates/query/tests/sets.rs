//! Union, intersection and difference of two results: of hits by operators of CQL, of documents by filters.

#[path = "common/documents.rs"]
mod documents;

use documents::document;
use std::collections::BTreeSet;
use tidings_index::{Day, build};
use tidings_query::engine::Engine;
use tidings_query::question::{ConcordanceRequest, DocumentsRequest, Parsed, Question, QuestionContext, Request};

/// Queries of one token each.
const QUERIES: [&str; 6] =
    [r#""a""#, r#""a|b""#, r#"(?<= "c") []"#, r#"[] (?= "d")"#, r#"MU(meet "a" "b" -2 2)"#, r#""missing""#];

type Set<T> = BTreeSet<T>;

fn hits(engine: &Engine, query: &str) -> Set<(String, u64)> {
    let mut request = ConcordanceRequest::example();
    request.search.q = Parsed::new(query).expect("a query");
    request.page.size = Some(10_000);
    let lines = request.answer(&QuestionContext::new(engine, "en")).expect("lines").body.lines;
    lines.into_iter().map(|line| (line.document, line.position.expect("a position").into())).collect()
}

fn documents_of(engine: &Engine, filter: &str) -> Set<String> {
    let mut request = DocumentsRequest::example();
    request.q = None;
    request.scope.filter = Some(Parsed::new(filter).expect("a filter"));
    request.page.size = Some(10_000);
    let rows = request.answer(&QuestionContext::new(engine, "en")).expect("documents").body.rows;
    rows.into_iter().map(|row| row.id).collect()
}

#[test]
fn results_are_united_intersected_and_subtracted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = fastrand::Rng::with_seed(27);
    let documents: Vec<_> = (0..60)
        .map(|number| {
            let words: Vec<&str> =
                (0..1 + random.usize(..8)).map(|_| ["a", "b", "c", "d"][random.usize(..4)]).collect();
            document(number, Day(20_000 + number as i32 / 7), "site.example", &words)
        })
        .collect();
    let engine = Engine::new(build(folder.path(), &documents).expect("an index"));
    let mut differ = 0;
    for one in QUERIES {
        for other in QUERIES {
            let (first, second) = (hits(&engine, one), hits(&engine, other));
            assert_eq!(hits(&engine, &format!("({one}) | ({other})")), &first | &second, "{one} or {other}");
            assert_eq!(hits(&engine, &format!("({one}) within ({other})")), &first & &second, "{one} and {other}");
            assert_eq!(hits(&engine, &format!("({one}) !within ({other})")), &first - &second, "{one} but not {other}");
            let (has, has_other) = (format!("has('{one}')"), format!("has('{other}')"));
            let of = |hits: &Set<(String, u64)>| -> Set<String> { hits.iter().map(|(id, _)| id.clone()).collect() };
            let (first, second) = (of(&first), of(&second));
            assert_eq!(documents_of(&engine, &format!("{has} | {has_other}")), &first | &second);
            assert_eq!(documents_of(&engine, &format!("{has} & {has_other}")), &first & &second);
            assert_eq!(documents_of(&engine, &format!("{has} & !{has_other}")), &first - &second);
            differ +=
                usize::from(!first.is_subset(&second) && !second.is_subset(&first) && !first.is_disjoint(&second));
        }
    }
    assert!(differ > 5, "most pairs are no test");
}
