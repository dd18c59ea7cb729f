//! A gateway over three shards, beside one server that has all documents.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use serde_json::{Value, json};
use tidings_serve::Settings;
use tidings_store::tokens::{self, Scope, Token};
use tidings_testing::until;

use super::test_server::TestServer;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const SHARDS: usize = 3;

/// A document with the number of its shard.
struct Sample {
    day: String,
    shard: usize,
    text: String,
}

/// Documents of seven sites over fourteen months: some words are rare, some rise, some burst, some come every winter.
fn samples(seed: u64) -> Vec<Sample> {
    let mut random = Rng::with_seed(seed);
    let mut found = Vec::new();
    for month in 0..14u32 {
        for number in 0..40u32 {
            let (year, of_year) = (2024 + month / 12, month % 12 + 1);
            let day = format!("{year}-{of_year:02}-{:02}", random.u32(1..=28));
            let site = random.usize(..7);
            let availability = ["", "open", "kwic", "metadata"][site % 4];
            let mut text = format!(
                "<doc id=\"{month}-{number}-{seed}\" url=\"http://s{site}.example/{month}/{number}\" title=\"News {number}\" \
                 date=\"{day}\" site=\"s{site}.example\" topic=\"{}\"",
                ["weather", "sport", ""][random.usize(..3)]
            );
            if !availability.is_empty() {
                let _ = write!(text, " availability=\"{availability}\"");
            }
            text.push_str(">\n<p>\n");
            for _ in 0..random.u32(2..6) {
                sentence(&mut random, month, &mut text);
            }
            text.push_str("</p>\n</doc>\n");
            found.push(Sample { day, shard: site % SHARDS, text });
        }
    }
    // The documents of a day are in the order of the shards.
    found.sort_by(|a, b| (&a.day, a.shard).cmp(&(&b.day, b.shard)));
    found
}

fn sentence(random: &mut Rng, month: u32, text: &mut String) {
    text.push_str("<s>\n<ne name=\"Ann Lee\" type=\"PER\" tokens=\"1\"/>\nAnn\tAnn\tPROPN\n");
    for _ in 0..random.u32(3..9) {
        let (word, lemma, tag) = match random.u32(..20) {
            0..=3 => ("the", "the", "DET"),
            4 => ("The", "the", "DET"),
            5 | 6 => ("storm", "storm", "NOUN"),
            7 => ("storms", "storm", "NOUN"),
            8 => ("came", "come", "VERB"),
            9 if month > random.u32(..14) => ("drought", "drought", "NOUN"),
            10 if month == 10 => ("heatdome", "heatdome", "NOUN"),
            11 if matches!(month % 12, 0 | 1 | 11) => ("snow", "snow", "NOUN"),
            12 if month >= 7 => ("tariff", "tariff", "NOUN"),
            13 => ("quickly", "quickly", "ADV"),
            _ => {
                let rare = format!("word{}", random.u32(..120));
                let _ = writeln!(text, "{rare}\t{rare}\tNOUN");
                continue;
            }
        };
        let _ = writeln!(text, "{word}\t{lemma}\t{tag}");
    }
    text.push_str(".\t.\tPUNCT\n</s>\n");
}

fn joined<'s>(samples: impl Iterator<Item = &'s Sample>) -> String {
    samples.map(|sample| sample.text.as_str()).collect()
}

/// One server with all documents, the shards, and a gateway over them.
struct Setup {
    one: TestServer,
    shards: Vec<Option<TestServer>>,
    gateway: TestServer,
}

fn gateway_over(addresses: impl Iterator<Item = std::net::SocketAddr>, settings: Settings) -> TestServer {
    let shards = addresses.map(|address| format!("http://{address}").parse().unwrap()).collect();
    TestServer::with("", Settings { shards, shard_token: Some(SECRET.to_owned()), ..settings })
}

fn setup(seed: u64, settings: &Settings) -> Setup {
    let samples = samples(seed);
    let one = TestServer::with(&joined(samples.iter()), settings.clone());
    let of_shard = |shard: usize| joined(samples.iter().filter(|sample| sample.shard == shard));
    let of_gateway = Settings { shard_token: Some(SECRET.to_owned()), ..Settings::default() };
    let shards: Vec<Option<TestServer>> =
        (0..SHARDS).map(|shard| Some(TestServer::with(&of_shard(shard), of_gateway.clone()))).collect();
    let gateway = gateway_over(shards.iter().flatten().map(|shard| shard.address), settings.clone());
    Setup { one, shards, gateway }
}

/// A link whose cursor has only its row.
fn without_generation(link: &str) -> String {
    match link.split_once("cursor=") {
        Some((before, cursor)) => {
            format!("{before}cursor={}", cursor.split_once('-').map_or(cursor, |(_, first)| first))
        }
        None => link.to_owned(),
    }
}

/// An answer without the state of the corpus, which is that of another index.
fn comparable(mut answer: Value) -> Value {
    if let Some(about) = answer["about"].as_object_mut() {
        about.remove("generation");
    }
    if let Some(link) = answer["link"].as_str() {
        answer["link"] = json!(without_generation(link));
    }
    if let Some(next) = answer["next"].as_str() {
        answer["next"] = json!(next.split_once('-').map(|(_, first)| first));
    }
    for row in answer["corpora"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        row.retain(|name, _| !["generation", "digest", "layers"].contains(&name.as_str()));
    }
    answer
}

/// Every kind of question that shards answer together.
const QUESTIONS: &[&str] = &[
    "count?q=storm",
    "count?q=%5Blemma%3D%22storm%22%5D",
    "count?q=%5Btag%3D%22DET%22%5D+%5B%5D&filter=date%3E%3D2024-06",
    "count?q=nosuchword",
    "freq?q=%5Btag%3D%22NOUN%22%5D&by=lc&limit=40",
    "freq?q=%5Btag%3D%22DET%22%5D+%5B%5D&by=lemma&limit=30",
    "freq?q=storm&by=site",
    "freq?q=storm&by=date&limit=1000",
    "freq?q=storm&by=topic",
    "freq?q=ann&by=ne.name",
    "group?q=%5Blemma%3D%22storm%22%5D&by=word,left1,site&limit=60",
    "group?q=storm&by=month,right1.lemma&min=2",
    "words?limit=300",
    "words?attribute=lemma&min=3&punctuation=true",
    "words?regex=word1.*&filter=site%3Ds1.example",
    "words?ngram=2&min=2&limit=500",
    "timeline?q=storm",
    "timeline?q=storm&by=month&documents=true",
    "freq?q=storm&by=site&documents=true",
    "freq?q=storm&by=word&documents=true",
    "crosstab?q=storm,%5Blemma%3D%22drought%22%5D&by=site,month",
    "timeline?q=storm&by=day",
    "timeline?q=the+storm&by=month&confidence=0.9",
    "timeline?q=drought&by=quarter&panel=true",
    "colloc?q=storm&min=1&limit=200",
    "colloc?q=%5Btag%3D%22VERB%22%5D&attribute=lemma&measure=log-likelihood&left=2&right=0",
    "colloc?q=snow&sentence=true&min=2",
    "query?q=storm",
    "query?q=storm&order=oldest&size=50&context=3&fields=date,site,title,topic",
    "query?q=%5Btag%3D%22DET%22%5D+%5B%5D&longest=true&count=false",
    "query?q=drought&with=storm&window=8",
    "query?q=storm&sort=right,left&size=60",
    "query?q=storm&sort=site,node,1L.lemma&size=60",
    "query?q=storm&sort=topic&size=100",
    "query?q=storm&sample=15&seed=7",
    "query?q=the&sample=40&sort=right",
    "query?q=heatdome&sample=5000",
    "documents",
    "documents?order=oldest&size=30&fields=site,topic",
    "documents?q=heatdome&filter=date%3E%3D2024-03&size=100",
    "trends?by=month&min=5&effect=1",
    "trends?min=3&all_words=true&fdr=1&limit=500&effect=1",
    "trends?by=month&min=4&attribute=lemma&panel=true&fdr=0.9&effect=1",
    "seasons?min=5&fdr=1&effect=1",
    "steps?min=5&fdr=1&effect=1&limit=200",
    "bursts?by=week",
    "bursts?by=month&all_words=true&limit=200",
];

#[track_caller]
fn same(setup: &Setup, path: &str) -> Value {
    let [one, all] = [&setup.one, &setup.gateway].map(|server| server.get(path));
    assert_eq!(one.status, all.status, "{path}: {} {}", one.body, all.body);
    let (one, all) = (comparable(one.json()), comparable(all.json()));
    assert_eq!(all, one, "{path}");
    one
}

#[test]
fn answers_over_shards_are_those_of_one_index() {
    for seed in [1, 2] {
        let setup = setup(seed, &Settings::default());
        for question in QUESTIONS {
            same(&setup, &format!("/api/v1/en/{question}"));
        }
        same(&setup, "/api/v1/corpora");
        same(&setup, "/api/v1/sites");
        for path in ["query?q=storm&format=csv&size=200", "words?format=jsonl&limit=100"] {
            let path = format!("/api/v1/en/{path}");
            assert_eq!(setup.gateway.get(&path).is(200).body, setup.one.get(&path).is(200).body, "{path}");
        }
        let found =
            ["trends?by=month&min=5&effect=1&fdr=0.2", "bursts?by=month&all_words=true", "colloc?q=storm&min=1"];
        for question in found {
            let answer = same(&setup, &format!("/api/v1/en/{question}"));
            assert!(answer["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{question} has no rows: {answer}");
        }
    }
}

#[test]
fn pages_and_documents_follow_each_other_as_in_one_index() {
    let setup = setup(3, &Settings::default());
    for question in ["query?q=the&size=17", "documents?size=23", "query?q=storm&sort=left&size=19&order=oldest"] {
        let mut pages = 0;
        let mut cursors = [String::new(), String::new()];
        loop {
            let answers = [(&setup.one, &cursors[0]), (&setup.gateway, &cursors[1])]
                .map(|(server, cursor)| server.get(&format!("/api/v1/en/{question}{cursor}")).is(200).json());
            assert_eq!(comparable(answers[1].clone()), comparable(answers[0].clone()), "{question}, page {pages}");
            pages += 1;
            let next = answers.map(|answer| answer["next"].as_str().map(|next| format!("&cursor={next}")));
            let [Some(one), Some(all)] = next else { break };
            cursors = [one, all];
        }
        assert!(pages > 3, "{question}");
    }
    let rows = setup.one.get("/api/v1/en/documents?size=40").json()["rows"].clone();
    for row in rows.as_array().unwrap().iter().step_by(7) {
        let id = row["id"].as_str().unwrap();
        same(&setup, &format!("/api/v1/en/documents/{id}?q=storm"));
        same(&setup, &format!("/api/v1/en/documents/{id}/context?position=3"));
    }
    setup.gateway.get("/api/v1/en/documents/0123456789abcdef0123456789abcdef").is(404);
}

#[test]
fn mistakes_are_refused_as_by_one_index_and_what_cannot_be_merged_says_so() {
    let setup = setup(4, &Settings::default());
    for question in [
        "count?q=%5Bnosuch%3D%22a%22%5D",
        "count?q=%5B",
        "count?q=storm&filter=colour%3Dred",
        "freq?q=storm&by=colour",
        "words?attribute=Case",
        "query?q=storm&sort=colour",
        "query?q=storm&size=100000",
        "count?q=storm&in=nosuch",
        "count?q=storm&cursor=1",
    ] {
        let path = format!("/api/v1/en/{question}");
        let [one, all] = [&setup.one, &setup.gateway].map(|server| server.get(&path).status);
        assert_eq!((one / 100, one), (4, all), "{path}");
    }
    setup.gateway.get("/api/v1/xx/count?q=storm").is(404);
    for question in [
        "sketch?lemma=storm",
        "thesaurus?lemma=storm",
        "new-words",
        "count?q=%5Bf(lemma)%3E3%5D",
        "count?q=%22storm%22+cut+3",
        "query?q=storm&sort=good",
    ] {
        let refused = setup.gateway.get(&format!("/api/v1/en/{question}")).is(501);
        assert!(refused.body.contains("shards"), "{question}: {}", refused.body);
    }
    setup.gateway.get("/api/v1/feeds").is(501);
}

#[test]
fn a_shard_that_is_gone_is_named_and_never_left_out_silently() {
    let mut setup = setup(5, &Settings::default());
    let whole = setup.gateway.get("/api/v1/en/count?q=storm").is(200).json();
    let gone = setup.shards[1].take().unwrap();
    let address = gone.address;
    drop(gone);
    until("the shard is gone", || setup.gateway.get("/api/v1/en/count?q=storm").status == 503);
    for question in ["count?q=storm", "words", "trends", "query?q=storm"] {
        let refused = setup.gateway.get(&format!("/api/v1/en/{question}"));
        assert!(refused.status == 503 && refused.body.contains(&address.to_string()), "{question}: {refused:?}");
    }
    let part = setup.gateway.get("/api/v1/en/count?q=storm&partial=1").is(200).json();
    let exactness = &part["about"]["exactness"];
    assert_eq!(
        (&exactness["kind"], &exactness["shards"], &exactness["of_shards"]),
        (&json!("partial"), &json!(2), &json!(3))
    );
    assert!(part["hits"].as_u64() < whole["hits"].as_u64() && part["tokens"] == exactness["tokens"], "{part}");
    assert!(part["about"]["warning"].as_str().is_some_and(|warning| warning.contains("2 of 3 shards")), "{part}");
    for question in ["trends?partial=1", "bursts?partial=1", "seasons?partial=1", "steps?partial=1"] {
        let refused = setup.gateway.get(&format!("/api/v1/en/{question}")).is(503);
        assert!(refused.body.contains("2 of 3 shards"), "{question}: {}", refused.body);
    }
    setup.one.get("/api/v1/en/count?q=storm&partial=1").is(400);
}

#[test]
fn a_shard_that_grows_shows_in_new_answers_and_pages_keep_their_state() {
    let setup = setup(6, &Settings::default());
    let first = setup.gateway.get("/api/v1/en/query?q=storm&size=10").is(200).json();
    let shard = setup.shards[0].as_ref().unwrap();
    shard.add(&super::test_server::document("2026-03-01", "s0.example", "open", "The storm came from the sea ."));
    until("the new document is counted", || {
        setup.gateway.get("/api/v1/en/count?q=storm").json()["hits"].as_u64()
            == first["hits"].as_u64().map(|hits| hits + 1)
    });
    let next = first["next"].as_str().unwrap();
    let second = setup.gateway.get(&format!("/api/v1/en/query?q=storm&size=10&cursor={next}")).is(200).json();
    assert_eq!((&second["hits"], &second["about"]["generation"]), (&first["hits"], &first["about"]["generation"]));
    setup.gateway.get("/api/v1/en/query?q=storm&cursor=99999-10").is(400);
}

#[test]
fn rights_of_clients_hold_across_the_gateway() {
    let settings = Settings { public: true, ..Settings::default() };
    let setup = setup(7, &settings);
    let token = |server: &TestServer, scope| {
        let (token, secret) = Token::make("reader", scope, jiff::Timestamp::now(), None).unwrap();
        tokens::write(&server.home(), vec![token]).unwrap();
        secret
    };
    for scope in [None, Some(Scope::Text), Some(Scope::Admin)] {
        let secrets = [&setup.one, &setup.gateway].map(|server| scope.map(|scope| token(server, scope)));
        for question in [
            "count?q=storm",
            "count?q=the+storm",
            "words?limit=50",
            "words?ngram=2&min=1",
            "freq?q=storm&by=site",
            "timeline?q=storm&by=month",
            "query?q=storm&size=40",
            "query?q=storm&sample=9",
            "documents?q=storm&size=40",
            "colloc?q=storm&min=1",
            "trends?by=month&min=4&fdr=1&effect=1",
        ] {
            let path = format!("/api/v1/en/{question}");
            let ask = |server: &TestServer, secret: &Option<String>| match secret {
                None => server.get(&path),
                Some(secret) => server.get_as(&path, secret),
            };
            let mut answers = None;
            // Tokens are read once a second.
            until("the token is known", || {
                let found = [ask(&setup.one, &secrets[0]), ask(&setup.gateway, &secrets[1])];
                let is_known = found.iter().all(|answer| answer.status != 401);
                answers = Some(found);
                is_known
            });
            let [one, all] = answers.unwrap().map(|answer| comparable(answer.is(200).json()));
            assert_eq!(all, one, "{scope:?} {path}");
        }
    }
}

#[test]
fn parts_are_for_the_gateway_only() {
    let settings = Settings { shard_token: Some(SECRET.to_owned()), ..Settings::default() };
    let shard = TestServer::with(&joined(samples(8).iter().take(20)), settings);
    let body = json!({ "generation": null, "scope": "admin", "is_private": true, "client": "", "time_limit_ms": 9000,
        "request": { "q": "storm" } })
    .to_string();
    let post = |path: &str, header: &str, body: &str| {
        let length = body.len();
        let head = format!("Host: localhost\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        shard.send(&format!("POST {path} HTTP/1.1\r\n{head}{body}"))
    };
    let own = format!("Authorization: Bearer {SECRET}\r\n");
    for header in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic 0123456789abcdef0123456789abcdef\r\n"] {
        post("/api/v1/shard/en/schema", header, &body).is(401);
        post("/api/v1/shard", header, "{}").is(401);
    }
    post("/api/v1/shard/en/schema", &own, &body).is(200);
    post("/api/v1/shard/en/nosuch", &own, &body).is(404);
    post("/api/v1/shard/en/schema", &own, "nonsense").is(400);
    post("/api/v1/shard/en/count", &own, &body).is(400);
    shard.get_as("/api/v1/shard", SECRET).is(405);
    TestServer::with("", Settings::default()).get_as("/api/v1/shard", SECRET).is(404);
}

/// A server that tells a state and never has it when it is asked for.
fn restless_shard() -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, schemas) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = schemas.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !request.ends_with(b"}") {
                match stream.read(&mut buffer) {
                    Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
                    _ => break,
                }
            }
            let is_schema = String::from_utf8_lossy(&request).starts_with("POST /api/v1/shard/en/schema");
            let (status, body) = match is_schema {
                true => {
                    count.fetch_add(1, Ordering::Relaxed);
                    (
                        "200 OK",
                        json!({ "sum": { "generation": 1, "tokens": 1, "documents": 1, "fields": [], "attributes": ["word"],
                        "features": {}, "layers": [], "spans": {}, "is_limited": [false, false] } }),
                    )
                }
                false => ("409 Conflict", json!({ "error": "another state" })),
            };
            let body = body.to_string();
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    (address, schemas)
}

#[test]
fn a_shard_that_changes_again_and_again_is_asked_three_times() {
    let (address, schemas) = restless_shard();
    let gateway = gateway_over([address].into_iter(), Settings::default());
    let refused = gateway.get("/api/v1/en/count?q=storm").is(503);
    assert!(refused.body.contains("changed"), "{}", refused.body);
    assert_eq!(schemas.load(Ordering::Relaxed), 3);
}
