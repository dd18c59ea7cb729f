//! Answers of the endpoints, and their agreement with the OpenAPI document.

use std::collections::BTreeSet;

use serde_json::Value;
use tidings_serve::Settings;
use tidings_testing::until;

use crate::schema::fault;
use crate::test_server::{TestServer, document, weather};

/// On 3 sites, on 2 + 4 + … + 12 days.
const STORMS: u64 = 3 * 2 * 21;

/// A question to every endpoint, by its path.
fn questions(server: &TestServer) -> Vec<(&'static str, String)> {
    let documents = server.get("/api/v1/en/documents?size=1").is(200).json();
    let id = documents["rows"][0]["id"].as_str().unwrap();
    [
        ("/api/v1/server", ""),
        ("/api/v1/searches", ""),
        ("/api/v1/decisions", ""),
        ("/api/v1/sites", ""),
        ("/api/v1/corpora", ""),
        ("/api/v1/corpora-named", ""),
        ("/api/v1/feeds", ""),
        ("/api/v1/hosts", ""),
        ("/api/v1/sources", ""),
        ("/api/v1/crawls", ""),
        ("/api/v1/backfills", ""),
        ("/api/v1/collection", ""),
        ("/api/v1/collection/days", "?by=month"),
        ("/api/v1/collection/languages", ""),
        ("/api/v1/collection/revisions", "?url=http%3A%2F%2Fa.example%2F1&seen=2026-03-01"),
        ("/api/v1/{lang}/query", "?q=storm&fields=date,site,title&sort=right,date"),
        ("/api/v1/{lang}/parallel", "?q=storm&to=de&with=sea&fields=date,site"),
        ("/api/v1/{lang}/count", "?q=storm&filter=site%3Da.example"),
        ("/api/v1/{lang}/freq", "?q=storm&by=site"),
        ("/api/v1/{lang}/group", "?q=storm&by=lc,left1,site"),
        ("/api/v1/{lang}/crosstab", "?q=storm,rain&by=site,month"),
        ("/api/v1/{lang}/dispersion", "?q=storm&parts=5"),
        ("/api/v1/{lang}/colloc", "?q=storm"),
        ("/api/v1/{lang}/sketch", "?lemma=storm"),
        ("/api/v1/{lang}/sketch-diff", "?lemma=storm&other=rain"),
        ("/api/v1/{lang}/thesaurus", "?lemma=storm&min=1"),
        ("/api/v1/{lang}/words", "?regex=s.*&ngram=2"),
        ("/api/v1/{lang}/keywords", "?focus=date%3D2026-06"),
        ("/api/v1/{lang}/terms", "?focus=date%3C2026-06&names=true&min=1&min_documents=1"),
        ("/api/v1/{lang}/compare", "?before=date%3C%3D2026-02&after=date%3E%3D2026-05"),
        ("/api/v1/{lang}/meaning", "?before=date%3C%3D2026-02&after=date%3E%3D2026-05&min=1&fdr=1"),
        ("/api/v1/{lang}/timeline", "?q=storm"),
        ("/api/v1/{lang}/trends", "?by=month&min=10"),
        ("/api/v1/{lang}/seasons", "?by=week&min=10"),
        ("/api/v1/{lang}/steps", "?by=day&min=5&fdr=1&effect=1"),
        ("/api/v1/{lang}/bursts", "?by=week"),
        ("/api/v1/{lang}/new-words", "?since=2026-06-01"),
        ("/api/v1/{lang}/neologisms", "?since=2026-06-01&status=all"),
        ("/api/v1/{lang}/names", "?type=PER&since=2026-01-01"),
        ("/api/v1/{lang}/quotes", "?by=site"),
        ("/api/v1/{lang}/documents", "?filter=date%3D2026-03&q=storm"),
        ("/api/v1/{lang}/documents/{id}", "?q=storm"),
        ("/api/v1/{lang}/documents/{id}/context", "?position=1"),
    ]
    .map(|(path, query)| (path, path.replace("{lang}", "en").replace("{id}", id) + query))
    .into()
}

#[test]
fn every_endpoint_answers_as_the_openapi_document_says() {
    let server = TestServer::with_translations(&weather(), Settings::default());
    let document = server.get("/api/openapi.json").is(200).json();
    assert_eq!(document, tidings_serve::openapi());
    let paths = document["paths"].as_object().unwrap();
    let asked = questions(&server);
    assert_eq!(
        asked.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>(),
        paths.keys().map(String::as_str).collect()
    );
    for (path, question) in asked {
        let content = &paths[path]["get"]["responses"]["200"]["content"];
        let answer = server.get(&question).is(200).json();
        let wrong = fault(&document, &content["application/json"]["schema"], &answer, path);
        assert_eq!(wrong, None);
        // The link asks the same again.
        let again = server.get(answer["link"].as_str().unwrap()).is(200).json();
        assert_eq!(again, answer, "{question}");
        if content["text/csv"].is_null() {
            continue;
        }
        let mark = if question.contains('?') { '&' } else { '?' };
        let lines = server.get(&format!("{question}{mark}format=jsonl")).is(200);
        let mut rows = 0;
        for line in lines.body.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(fault(&document, &content["application/x-ndjson"]["schema"], &row, path), None);
            rows += 1;
        }
        let csv = server.get(&format!("{question}{mark}format=csv")).is(200);
        assert!(lines.whole && csv.whole && csv.head.contains("text/csv"), "{question}");
        assert_eq!(csv.body.lines().count(), rows + 1, "{question}");
        let is_about_a_home = !path.contains("{lang}");
        // The corpus has half a year of three sentences: no season, no two words with several contexts in common, and no word
        // that changes beside the topic.
        let needs_more_text = ["/seasons", "/thesaurus", "/meaning"].iter().any(|end| path.ends_with(end));
        assert!(rows > 0 || is_about_a_home || needs_more_text, "{question} found nothing");
    }
}

#[test]
fn the_examples_of_the_openapi_document_are_answered() {
    let server = TestServer::with_translations(&weather(), Settings::default());
    let document = server.get("/api/openapi.json").is(200).json();
    let documents = server.get("/api/v1/en/documents?size=1").is(200).json();
    let id = documents["rows"][0]["id"].as_str().unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["get"];
        let name: String = (operation["operationId"].as_str().unwrap().split('-'))
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .collect();
        let example = &document["components"]["schemas"][format!("{name}Request")]["examples"][0];
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            match (&example[name], parameter["in"] == "query") {
                (Value::String(text), true) => _ = query.append_pair(name, text),
                (Value::Array(names), true) => {
                    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    query.append_pair(name, &names.join(","));
                }
                (Value::Null, _) | (_, false) => {}
                (value, true) => _ = query.append_pair(name, &value.to_string()),
            }
        }
        let path = path.replace("{lang}", "en").replace("{id}", id);
        server.get(&format!("{path}?{}", query.finish())).is(200);
    }
}

#[test]
fn former_spellings_are_accepted_and_links_have_the_canonical_ones() {
    let server = TestServer::new();
    let spellings = [
        ("colloc?q=storm&measure=", ["ll", "log_likelihood", "log-likelihood"]),
        ("colloc?q=storm&min=4&measure=", ["mi.log-f", "mi_log_f", "mi-log-f"]),
        ("keywords?focus=date%3D2026-06&measure=", ["chi2", "chi_square", "chi-square"]),
        ("timeline?q=storm&by=", ["10days", "ten_days", "ten-days"]),
    ];
    for (path, names) in spellings {
        let answers = names.map(|name| server.get(&format!("/api/v1/en/{path}{name}")).is(200).json());
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{path}");
        assert!(answers[0]["link"].as_str().unwrap().contains(&format!("={}", names[2])), "{}", answers[0]["link"]);
    }
}

#[test]
fn answers_are_what_the_engine_counts() {
    let server = TestServer::new();
    assert_eq!(server.get("/api/v1/en/count?q=storm").json()["hits"], STORMS);
    let timeline = server.get("/api/v1/en/timeline?q=storm&by=month").json();
    let hits: Vec<u64> = timeline["points"].as_array().unwrap().iter().map(|p| p["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [6, 12, 18, 24, 30, 36]);
    let both = server.get("/api/v1/en/timeline?q=storm&q=heatdome&by=month").json();
    assert_eq!(both, server.get("/api/v1/en/timeline?q=storm,heatdome&by=month").json());
    let points_of = |at: usize| -> Vec<&serde_json::Value> {
        let points = both["points"].as_array().unwrap().iter();
        points.filter(|point| point["query"] == both["queries"][at]).collect()
    };
    let (storm, dome) = (points_of(0), points_of(1));
    assert!(storm.iter().map(|point| point["hits"].as_u64().unwrap()).eq(hits), "{both}");
    let share = |point: &serde_json::Value| point["query_share"].as_f64().unwrap();
    assert_eq!((share(storm[0]), share(dome[0])), (1.0, 0.0));
    assert!(share(dome[5]) > 0.0 && (share(storm[5]) + share(dome[5]) - 1.0).abs() < 1e-9, "{both}");
    let words = server.get("/api/v1/en/new-words?since=2026-06-01").json();
    assert_eq!(
        (words["rows"][0]["value"].as_str(), words["about"]["generation"].as_u64()),
        (Some("heatdome"), Some(1))
    );
    let corpora = server.get("/api/v1/corpora").json();
    assert_eq!(corpora["corpora"][0]["documents"], 216);
    assert_eq!(corpora["corpora"][0]["last_day"], "2026-06-24");
    let csv = server.get("/api/v1/en/freq?q=storm&by=site&format=csv").body;
    let head = "value,hits,hit_documents,documents,document_share,tokens,per_million\r\n";
    assert!(csv.starts_with(&format!("{head}a.example,42,,,,1566,")), "{csv}");
    let csv = server.get("/api/v1/en/query?q=storm&format=csv&context=2&order=oldest").body;
    assert!(csv.starts_with("document,date,site,restricted,position,left,node,right\r\n"), "{csv}");
    assert_eq!(csv.lines().count() as u64, STORMS + 1);
    assert!(csv.contains(",The,storm,came from\r\n"), "{csv}");
    let head = server.get("/api/v1/en/query?q=storm&format=jsonl&size=1").head;
    assert!(head.contains("tidings-about:") && head.contains("\"generation\":1"), "{head}");
}

#[test]
fn periods_are_compared_with_bands_and_tests() {
    let server = TestServer::new();
    let path = "/api/v1/en/compare?before=date%3C%3D2026-02&after=date%3E%3D2026-05";
    let found = server.get(path).is(200).json();
    let row = |value: &str| {
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|row| row["value"] == value).unwrap_or_else(|| panic!("{value} is not in {found}")).clone()
    };
    let storm = row("storm");
    assert_eq!((storm["before"].as_u64(), storm["after"].as_u64()), (Some(6 + 12), Some(30 + 36)));
    assert_eq!(storm["after_documents"], 66);
    let [ratio, low, q] = [&storm["log_ratio"], &storm["band"]["low"], &storm["q"]].map(|v| v.as_f64().unwrap());
    assert!(ratio > 1.5 && low > 0.5 && low < ratio && q < 0.05, "{storm}");
    assert!(row("nothing")["log_ratio"].as_f64().unwrap() < 0.0);
    assert!(!found["rows"].as_array().unwrap().iter().any(|row| row["value"] == "town"), "{found}");
    let falling = server.get(&format!("{path}&direction=falling&panel=true")).is(200).json();
    assert_eq!((falling["rows"].as_array().unwrap().len(), falling["rows"][0]["value"].as_str()), (1, Some("nothing")));
    assert!(falling["about"]["filter"].as_str().unwrap().contains("a.example"));
}

#[test]
fn a_line_can_be_widened_to_sentences_and_paragraphs() {
    let server = TestServer::new();
    let line = server.get("/api/v1/en/query?q=quiet&size=1").json()["lines"][0].clone();
    let path = format!("/api/v1/en/documents/{}/context", line["document"].as_str().unwrap());
    let position = &line["position"];
    let shown = |query: &str| {
        let found = server.get(&format!("{path}?position={position}{query}")).is(200).json();
        let text = |sentence: &Value| {
            let words = sentence["tokens"].as_array().unwrap().iter();
            words.map(|token| token["word"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        found["sentences"].as_array().unwrap().iter().map(text).collect::<Vec<String>>()
    };
    assert_eq!(shown("&around=0"), ["It was a quiet morning in the town ."]);
    assert_eq!(shown("").len(), 3);
    assert_eq!(shown("&unit=paragraph&around=0"), shown(""));
    assert!(server.get(&format!("{path}?position=5000")).is(400).body.contains("no token of this number"));
    server.get(&format!("{path}?unit=sentence")).is(400);
}

#[test]
fn zero_hits_differ_from_nothing_collected() {
    let points = |server: &TestServer, query: &str| {
        server.get(&format!("/api/v1/en/timeline?q=storm{query}")).is(200).json()["points"].clone()
    };
    let months = points(&TestServer::new(), "&by=month");
    assert_eq!((months[0]["days"].as_u64(), months[0]["days_with_documents"].as_u64()), (Some(31), Some(12)));
    assert!(months[0]["days_with_runs"].is_null() && months[0]["health"].as_f64().unwrap() > 0.3);
    let server = TestServer::new();
    tidings_store::runs::RunLog::create(&server.home(), "20260203T040000000Z-fetch").unwrap().publish().unwrap();
    let days = server.get("/api/v1/collection/days").is(200).json();
    assert_eq!((days["rows"][0]["bin"].as_str(), days["rows"][0]["runs"].as_u64()), (Some("2026-02-03"), Some(1)));
    let days = points(&server, "&by=day&filter=date%3E%3D2026-02");
    let day = |name: &str| days.as_array().unwrap().iter().find(|point| point["bin"] == name).unwrap().clone();
    let (silent, closed) = (day("2026-02-24"), day("2026-02-25"));
    assert_eq!((silent["hits"].as_u64(), silent["health"].as_f64()), (Some(0), Some(1.0)));
    assert_eq!((closed["per_million"].as_f64(), closed["health"].as_f64()), (None, Some(0.0)));
    assert_eq!((day("2026-02-03")["days_with_runs"].as_u64(), closed["days_with_runs"].as_u64()), (Some(1), Some(0)));
}

#[test]
fn the_revisions_of_a_page_are_listed_unless_they_are_hidden() {
    use tidings_store::docs::{DayDraft, Recipe};
    let server = TestServer::new();
    let home = server.home();
    let times = ["2026-03-01T10:00:00.000Z", "2026-03-02T10:00:00.000Z"];
    for (day, at, revises) in [("2026-03-01", times[0], &times[..0]), ("2026-03-02", times[1], &times[..1])] {
        let url = "http://a.example/1";
        let line = serde_json::json!({"id": at, "url": url, "title": day, "downloaded": at, "revises": revises});
        let mut draft = DayDraft::create(&home, Recipe::new(day, "p", "e", Value::Null)).unwrap();
        draft.push("en", format!("{line}\n").as_bytes()).unwrap();
        draft.supersede(url, &revises.iter().map(|time| (*time).to_owned()).collect::<Vec<_>>());
        draft.publish(1).unwrap();
    }
    let titles = |seen: &str| {
        let path = format!("/api/v1/collection/revisions?url=http%3A%2F%2Fa.example%2F1&seen={seen}");
        let rows = server.get(&path).is(200).json()["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles("2026-03-02"), ["2026-03-01", "2026-03-02"]);
    assert!(titles("2026-03-01").is_empty(), "the newest revision is of another day");
    server.get("/api/v1/collection/revisions?url=x&seen=soon").is(400);
    tidings_store::hidden::write(&home, &["http://a.example/1".to_owned()].into()).unwrap();
    assert!(titles("2026-03-02").is_empty());
}

/// A day of pages in a home: of five pages, two documents in German and one in English.
fn collected(home: &tidings_store::Home) {
    use tidings_store::docs::{DayDraft, Recipe};
    use tidings_store::text::{MadeText, TextDraft, TextRecipe};
    let yielded = |documents, clean| tidings_store::yields::Yield { pages: 1, documents, downloaded: 1000, clean };
    let mut day = DayDraft::create(home, Recipe::new("2026-03-01", "p", "e", Value::Null)).unwrap();
    for lang in ["de", "de", "en"] {
        day.push(lang, b"{}\n").unwrap();
        day.count("http://a.example/feed", "a.example", yielded(1, 100));
    }
    for reason in ["no-text", "no-text"] {
        day.drop_page(reason, b"{}\n").unwrap();
        day.count("http://b.example/feed", "b.example", yielded(0, 0));
    }
    day.publish(5).unwrap();
    let mut text = TextDraft::create(home, TextRecipe::new("2026-03-01", "p", "a", Value::Null)).unwrap();
    for (language, tokens) in [("de", 40), ("en", 50)] {
        let made = MadeText { text: "<doc>\n</doc>\n".to_owned(), tokens, ..MadeText::default() };
        text.push(language, made).unwrap();
    }
    text.push("en", MadeText::default()).unwrap();
    text.publish(3).unwrap();
    tidings_store::yields::summarise(home).unwrap();
}

#[test]
fn the_funnel_loses_nothing() {
    let server = TestServer::new();
    collected(&server.home());
    let found = server.get("/api/v1/collection").is(200).json();
    assert_eq!((found["feeds"]["new"].as_u64(), found["feeds"]["dead"].as_u64()), (Some(1), Some(0)));
    assert_eq!((found["pages"].as_u64(), found["downloaded_bytes"].as_u64()), (Some(5), Some(5000)));
    assert_eq!((found["clean_bytes"].as_u64(), found["tokens"].as_u64()), (Some(300), Some(90)));
    let rows = found["rows"].as_array().unwrap();
    let items = |step: &str, reason: &str| {
        rows.iter().find(|row| row["step"] == step && row["reason"] == reason).map(|row| row["items"].as_u64().unwrap())
    };
    assert_eq!((items("clean", ""), items("clean", "no-text")), (Some(3), Some(2)));
    assert_eq!((items("annotate", ""), items("annotate", "duplicate")), (Some(2), Some(1)));
    let csv = server.get("/api/v1/collection/languages?by=month&format=csv").is(200).body;
    assert_eq!(csv, "bin,language,documents,kept,tokens\r\n2026-03,de,2,1,40\r\n2026-03,en,1,1,50\r\n");
    assert!(
        server.get("/api/v1/collection/days?since=2026-03-02").is(200).json()["rows"].as_array().unwrap().is_empty()
    );
    assert!(server.get("/api/v1/collection/days?since=soon").is(400).body.contains("give a day"));
    let hosts = server.get("/api/v1/hosts").is(200).json();
    assert_eq!(
        (hosts["rows"][0]["yield"]["rate"].as_f64(), hosts["rows"][1]["host"].as_str()),
        (Some(0.1), Some("b.example"))
    );
    let sources = server.get("/api/v1/sources").is(200).json();
    let of_feeds = &sources["rows"][0];
    assert_eq!((&of_feeds["kind"], &of_feeds["yield"]["pages"]), (&"feed".into(), &5.into()), "{sources}");
    assert_eq!(server.get("/api/v1/crawls").is(200).json()["rows"], serde_json::json!([]));
    assert_eq!(server.get("/api/v1/backfills").is(200).json()["rows"], serde_json::json!([]));
    assert!(server.get("/api/v1/feeds?health=dead").is(200).json()["rows"].as_array().unwrap().is_empty());
    assert_eq!(server.get("/api/v1/feeds?health=new").is(200).json()["rows"][0]["health"], "new");
}

#[test]
fn pages_follow_each_other_and_a_new_generation_does_not_disturb_them() {
    let server = TestServer::new();
    let mut seen = BTreeSet::new();
    let mut next = String::new();
    let mut pages = 0;
    loop {
        let page = server.get(&format!("/api/v1/en/query?q=storm&size=50{next}")).is(200).json();
        for line in page["lines"].as_array().unwrap() {
            assert!(seen.insert((line["document"].to_string(), line["position"].as_u64())));
        }
        assert_eq!(page["about"]["generation"], 1);
        pages += 1;
        if pages == 1 {
            server.add(&document("2026-07-01", "a.example", "", "The storm came again ."));
            server.until_generation(2);
        }
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!((seen.len() as u64, pages), (STORMS, 3));
    assert_eq!(server.get("/api/v1/en/count?q=storm").json()["hits"], STORMS + 1);
    server.get("/api/v1/en/query?q=storm&cursor=77-20").is(400);
}

#[test]
fn a_rebuilt_index_is_not_taken_for_the_old_one() {
    let server = TestServer::new();
    assert_eq!(server.get("/api/v1/en/count?q=storm").json()["hits"], STORMS);
    // The same generation, and files of the same names.
    std::fs::remove_dir_all(server.home().index()).unwrap();
    server.add(&document("2026-07-01", "a.example", "", "The storm came again ."));
    until("the new index is served", || server.get("/api/v1/en/count?q=storm").json()["hits"] == 1);
    assert_eq!(server.get("/api/v1/en/count?q=again").json()["about"]["generation"], 1);
}

#[test]
fn virtual_corpora_are_selected_by_name() {
    let server = TestServer::new();
    let spring = tidings_store::virtual_corpora::VirtualCorpus {
        name: "spring".into(),
        filter: "date>=2026-03 date<=2026-05".into(),
    };
    tidings_store::virtual_corpora::write(&server.home(), vec![spring]).unwrap();
    assert_eq!(server.get("/api/v1/en/count?q=storm&in=spring").is(200).json()["hits"], 18 + 24 + 30);
    assert_eq!(server.get("/api/v1/corpora-named").json()["rows"][0]["name"], "spring");
    assert!(server.get("/api/v1/en/count?q=storm&in=winter").is(404).body.contains("available: spring"));
}

#[test]
fn the_page_makes_no_third_party_requests() {
    let server = TestServer::new();
    for path in ["/", "/app.js", "/style.css", "/icon.svg"] {
        let file = server.get(path).is(200);
        // A name space, and the example in a form.
        let allowed = file.body.replace("http://www.w3.org/2000/svg", "").replace("https://www.bugle.example/", "");
        assert!(
            !allowed.contains("http://") && !allowed.contains("https://") && !allowed.contains("style=\""),
            "{path}"
        );
        assert!(file.head.contains("content-security-policy: default-src 'none'"), "{}", file.head);
        assert!(file.head.contains("nosniff") && file.head.contains("no-referrer"));
    }
    server.get("/healthz").is(200);
    let publishers = server.get("/bot").is(200).body;
    assert!(publishers.contains("Disallow: /") && publishers.contains("href=\"/style.css\""));
    server.get("/style.css").is(200);
    assert!(server.get("/bot?host=%3Cb%3E").is(200).body.contains("has never sent a request to &lt;b&gt;"));
    server.get("/api/v1/en/count?q=storm").is(200);
    let metrics = server.get("/metrics").is(200).body;
    assert!(metrics.contains("tidings_requests_total{endpoint=\"count\",status=\"200\"} 1\n"), "{metrics}");
    assert!(metrics.contains("tidings_request_seconds_bucket{endpoint=\"count\",le=\"+Inf\"} 1\n"), "{metrics}");
}
