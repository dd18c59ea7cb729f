//! What is answered.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::room::{Room, document};
use crate::schema::fault;

/// On 3 sites, on 2 + 4 + … + 12 days.
const STORMS: u64 = 3 * 2 * 21;

/// A question to every endpoint, by its path.
fn questions(room: &Room) -> Vec<(&'static str, String)> {
    let documents = room.get("/api/v1/en/documents?size=1").is(200).json();
    let id = documents["rows"][0]["id"].as_str().unwrap();
    [
        ("/api/v1/corpora", ""),
        ("/api/v1/corpora-named", ""),
        ("/api/v1/feeds", ""),
        ("/api/v1/hosts", ""),
        ("/api/v1/{lang}/query", "?q=storm&fields=date,site,title&sort=right,date"),
        ("/api/v1/{lang}/count", "?q=storm&filter=site%3Da.example"),
        ("/api/v1/{lang}/freq", "?q=storm&by=site"),
        ("/api/v1/{lang}/colloc", "?q=storm"),
        ("/api/v1/{lang}/sketch", "?lemma=storm"),
        ("/api/v1/{lang}/words", "?regex=s.*&ngram=2"),
        ("/api/v1/{lang}/keywords", "?focus=date%3D2026-06"),
        ("/api/v1/{lang}/timeline", "?q=storm"),
        ("/api/v1/{lang}/trends", "?by=month&min=10"),
        ("/api/v1/{lang}/bursts", ""),
        ("/api/v1/{lang}/new-words", "?since=2026-06-01"),
        ("/api/v1/{lang}/documents", "?filter=date%3D2026-03"),
        ("/api/v1/{lang}/documents/{id}", ""),
    ]
    .map(|(path, query)| (path, path.replace("{lang}", "en").replace("{id}", id) + query))
    .into()
}

#[test]
fn every_endpoint_answers_as_the_openapi_document_says() {
    let room = Room::new();
    let document = room.get("/api/openapi.json").is(200).json();
    assert_eq!(document, tidings_serve::openapi());
    let paths = document["paths"].as_object().unwrap();
    let asked = questions(&room);
    assert_eq!(
        asked.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>(),
        paths.keys().map(String::as_str).collect()
    );
    for (path, question) in asked {
        let content = &paths[path]["get"]["responses"]["200"]["content"];
        let answer = room.get(&question).is(200).json();
        let wrong = fault(&content["application/json"]["schema"], &answer, path);
        assert_eq!(wrong, None);
        // The link asks the same again.
        let again = room.get(answer["link"].as_str().unwrap()).is(200).json();
        assert_eq!(again, answer, "{question}");
        if content["text/csv"].is_null() {
            continue;
        }
        let mark = if question.contains('?') { '&' } else { '?' };
        let lines = room.get(&format!("{question}{mark}format=jsonl")).is(200);
        let mut rows = 0;
        for line in lines.body.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(fault(&content["application/x-ndjson"]["schema"], &row, path), None);
            rows += 1;
        }
        let csv = room.get(&format!("{question}{mark}format=csv")).is(200);
        assert!(lines.whole && csv.whole && csv.head.contains("text/csv"), "{question}");
        assert_eq!(csv.body.lines().count(), rows + 1, "{question}");
        let is_about_a_home = ["/api/v1/corpora-named", "/api/v1/hosts"].contains(&path);
        assert!(rows > 0 || is_about_a_home, "{question} found nothing");
    }
}

#[test]
fn answers_are_what_the_engine_counts() {
    let room = Room::new();
    assert_eq!(room.get("/api/v1/en/count?q=storm").json()["hits"], STORMS);
    let timeline = room.get("/api/v1/en/timeline?q=storm").json();
    let hits: Vec<u64> = timeline["points"].as_array().unwrap().iter().map(|p| p["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [6, 12, 18, 24, 30, 36]);
    let words = room.get("/api/v1/en/new-words?since=2026-06-01").json();
    assert_eq!(
        (words["rows"][0]["value"].as_str(), words["about"]["generation"].as_u64()),
        (Some("heatdome"), Some(1))
    );
    let corpora = room.get("/api/v1/corpora").json();
    assert_eq!(corpora["corpora"][0]["documents"], 216);
    assert_eq!(corpora["corpora"][0]["last_day"], "2026-06-24");
    let csv = room.get("/api/v1/en/freq?q=storm&by=site&format=csv").body;
    assert!(csv.starts_with("value,hits,tokens,per_million\r\na.example,42,"), "{csv}");
    let csv = room.get("/api/v1/en/query?q=storm&format=csv&context=2&order=oldest").body;
    assert!(csv.starts_with("document,date,site,restricted,position,left,node,right\r\n"), "{csv}");
    assert_eq!(csv.lines().count() as u64, STORMS + 1);
    assert!(csv.contains(",The,storm,came from\r\n"), "{csv}");
    let head = room.get("/api/v1/en/query?q=storm&format=jsonl&size=1").head;
    assert!(head.contains("tidings-about:") && head.contains("\"generation\":1"), "{head}");
}

#[test]
fn pages_follow_each_other_and_a_new_generation_does_not_disturb_them() {
    let room = Room::new();
    let mut seen = BTreeSet::new();
    let mut next = String::new();
    let mut pages = 0;
    loop {
        let page = room.get(&format!("/api/v1/en/query?q=storm&size=50{next}")).is(200).json();
        for line in page["lines"].as_array().unwrap() {
            assert!(seen.insert((line["document"].to_string(), line["position"].as_u64())));
        }
        assert_eq!(page["about"]["generation"], 1);
        pages += 1;
        if pages == 1 {
            room.add(&document("2026-07-01", "a.example", "", "The storm came again ."));
            until_generation(&room, 2);
        }
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!((seen.len() as u64, pages), (STORMS, 3));
    assert_eq!(room.get("/api/v1/en/count?q=storm").json()["hits"], STORMS + 1);
    room.get("/api/v1/en/query?q=storm&cursor=77-20").is(400);
}

#[test]
fn an_index_that_is_made_anew_is_not_taken_for_the_old_one() {
    let room = Room::new();
    assert_eq!(room.get("/api/v1/en/count?q=storm").json()["hits"], STORMS);
    // The same generation, and files of the same names.
    std::fs::remove_dir_all(room.home().index()).unwrap();
    room.add(&document("2026-07-01", "a.example", "", "The storm came again ."));
    let came = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        room.get("/api/v1/en/count?q=storm").json()["hits"] == 1
    });
    assert!(came);
    assert_eq!(room.get("/api/v1/en/count?q=again").json()["about"]["generation"], 1);
}

/// The server looks at the home once a second.
fn until_generation(room: &Room, generation: u64) {
    for _ in 0..200 {
        if room.get("/api/v1/corpora").json()["corpora"][0]["generation"] == generation {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the new generation never came");
}

#[test]
fn virtual_corpora_are_asked_by_name() {
    let room = Room::new();
    let spring = tidings_store::corpora::Named { name: "spring".into(), filter: "date>=2026-03 date<=2026-05".into() };
    tidings_store::corpora::write(&room.home(), vec![spring]).unwrap();
    assert_eq!(room.get("/api/v1/en/count?q=storm&in=spring").is(200).json()["hits"], 18 + 24 + 30);
    assert_eq!(room.get("/api/v1/corpora-named").json()["rows"][0]["name"], "spring");
    assert!(room.get("/api/v1/en/count?q=storm&in=winter").is(404).body.contains("there are spring"));
}

#[test]
fn the_page_asks_nobody_else() {
    let room = Room::new();
    for path in ["/", "/app.js", "/app.css"] {
        let file = room.get(path).is(200);
        let allowed = file.body.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !allowed.contains("http://") && !allowed.contains("https://") && !allowed.contains("style=\""),
            "{path}"
        );
        assert!(file.head.contains("content-security-policy: default-src 'self'"), "{}", file.head);
        assert!(file.head.contains("nosniff") && file.head.contains("no-referrer"));
    }
    room.get("/healthz").is(200);
    room.get("/api/v1/en/count?q=storm").is(200);
    let metrics = room.get("/metrics").is(200).body;
    assert!(metrics.contains("tidings_requests_total{endpoint=\"count\",status=\"200\"} 1\n"), "{metrics}");
    assert!(metrics.contains("tidings_request_seconds_bucket{endpoint=\"count\",le=\"+Inf\"} 1\n"), "{metrics}");
}
