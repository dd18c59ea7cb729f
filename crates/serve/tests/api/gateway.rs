//! A gateway over three shards, beside one server that has all documents.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tidings_serve::Settings;
use tidings_store::tokens::{self, Scope, Token};
use tidings_testing::until;

use super::changes::{JSON, change};
use super::test_server::TestServer;

pub const SECRET: &str = "0123456789abcdef0123456789abcdef";
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
    let speaker = ["Ann Lee", "Bo Ek", "Cy Orr", "she"][random.usize(..4)];
    let is_quoted = random.u32(..3) == 0;
    text.push_str("<s>\n");
    if is_quoted {
        let (kind, verb) = (["direct", "scare"][random.usize(..2)], ["say", "claim", ""][random.usize(..3)]);
        let _ = writeln!(text, "<quote kind=\"{kind}\" speaker=\"{speaker}\" verb=\"{verb}\">");
    }
    let (name, kind) = [("Ann Lee", "PER"), ("Oslo", "LOC"), ("Ann Lee", "ORG"), ("Acme", "")][random.usize(..4)];
    let _ = writeln!(text, "<ne name=\"{name}\" type=\"{kind}\" tokens=\"1\"/>\nAnn\tAnn\tPROPN");
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
    text.push_str(".\t.\tPUNCT\n");
    text.push_str(if is_quoted { "</quote>\n</s>\n" } else { "</s>\n" });
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

pub fn gateway_over(addresses: impl Iterator<Item = std::net::SocketAddr>, settings: Settings) -> TestServer {
    let shards = addresses.map(|address| format!("http://{address}").parse().unwrap()).collect();
    TestServer::with("", Settings { shards, shard_token: Some(SECRET.to_owned().into()), ..settings })
}

fn setup(seed: u64, settings: &Settings) -> Setup {
    setup_of(&samples(seed), settings)
}

fn setup_of(samples: &[Sample], settings: &Settings) -> Setup {
    let one = TestServer::with(&joined(samples.iter()), settings.clone());
    let of_shard = |shard: usize| joined(samples.iter().filter(|sample| sample.shard == shard));
    let of_gateway = Settings { shard_token: Some(SECRET.to_owned().into()), ..Settings::default() };
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
fn mistakes_are_refused_as_by_one_index() {
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
    for question in [
        "trends?partial=1",
        "bursts?partial=1",
        "seasons?partial=1",
        "steps?partial=1",
        "new-words?since=2024-06-01&partial=1",
        "compare?before=date%3D2024-05&after=date%3D2024-06&partial=1",
        "keywords?focus=date%3D2024-06&partial=1",
        "names?since=2024-06-01&partial=1",
        "timeline?q=storm&panel=true&partial=1",
    ] {
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
    let settings = Settings { shard_token: Some(SECRET.to_owned().into()), ..Settings::default() };
    let shard = TestServer::with(&joined(samples(8).iter().take(20)), settings);
    let body = json!({ "generation": null, "scope": "admin", "is_private": true, "client": "", "time_limit_ms": 9000,
        "request": { "part": { "q": "storm" } } })
    .to_string();
    let post = |path: &str, header: &str, body: &str| post(&shard, path, header, body);
    let own = format!("Authorization: Bearer {SECRET}\r\n");
    for header in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic 0123456789abcdef0123456789abcdef\r\n"] {
        post("/api/v1/shard/en/schema", header, &body).is(401);
        post("/api/v1/shard", header, "{}").is(401);
    }
    post("/api/v1/shard/en/schema", &own, &body).is(200);
    post("/api/v1/shard/en/nosuch", &own, &body).is(404);
    post("/api/v1/shard/en/schema", &own, "nonsense").is(400);
    post("/api/v1/shard/en/count", &own, &body).is(400);
    let of_other = format!("{own}Tidings-Version: 0.0.1\r\n");
    let refused = post("/api/v1/shard/en/schema", &of_other, &body).is(426);
    assert!(refused.body.contains("version"), "{}", refused.body);
    shard.get_as("/api/v1/shard", SECRET).is(405);
    TestServer::with("", Settings::default()).get_as("/api/v1/shard", SECRET).is(404);
}

/// A post as a gateway sends it.
fn post(shard: &TestServer, path: &str, header: &str, body: &str) -> super::test_server::Got {
    let length = body.len();
    let head = format!("Host: localhost\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    shard.send(&format!("POST {path} HTTP/1.1\r\n{head}{body}"))
}

/// The version that shards state.
fn version() -> String {
    let settings = Settings { shard_token: Some(SECRET.to_owned().into()), ..Settings::default() };
    let shard = TestServer::with("", settings);
    let told = post(&shard, "/api/v1/shard", &format!("Authorization: Bearer {SECRET}\r\n"), "{}").is(200);
    told.header("tidings-version").expect("shards state their version").to_owned()
}

/// A server that answers gateways with the status and the body of a function of the part; nothing to let them wait.
fn false_shard(
    version: &str,
    answer: impl Fn(&str) -> Option<(&'static str, String)> + Send + 'static,
) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, version) = (listener.local_addr().unwrap(), version.to_owned());
    std::thread::spawn(move || {
        // Connections without an answer stay open.
        let mut waiting = Vec::new();
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
            let request = String::from_utf8_lossy(&request).into_owned();
            let part = request.split([' ', '/']).nth(6).unwrap_or_default();
            let Some((status, body)) = answer(part) else {
                waiting.push(stream);
                continue;
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ntidings-version: {version}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    address
}

/// What a shard tells of a corpus.
fn schema(generation: u64) -> String {
    json!({ "sum": { "generation": generation, "tokens": generation, "documents": generation, "fields": ["site"],
        "attributes": ["word", "lemma"], "features": {}, "layers": [], "spans": {}, "is_limited": [false, false] } })
    .to_string()
}

/// A server that tells a state and never has it when it is asked for.
fn restless_shard() -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let schemas = Arc::new(AtomicUsize::new(0));
    let count = schemas.clone();
    let address = false_shard(&version(), move |part| match part {
        "schema" => {
            count.fetch_add(1, Ordering::Relaxed);
            Some(("200 OK", schema(1)))
        }
        _ => Some(("409 Conflict", json!({ "error": "another state" }).to_string())),
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

/// Queries for every kind of search: words, patterns, names, and what only the whole corpus knows.
const SEARCHES: &[&str] = &[
    "storm",
    "the storm",
    "nosuchword",
    "[lemma=\"storm\"]",
    "[tag=\"DET\"] []",
    "[lc=\"word1.*\"]",
    "<ne/>",
    "[tag=\"NOUN\"] within <quote kind=\"direct\"/>",
    "[f(lemma)>150]",
    "[lc=\"word.*\" & f(lc)<=30]",
    "a:[] b:[tag=\"NOUN\"] :: f(a.lemma) > f(b.lemma)",
    "\"storm\" cut 7",
    "[tag=\"DET\"] [] cut 40",
    "[f(word)>60] cut 90",
];
const FILTERS: &[&str] = &[
    "",
    "date>=2024-06",
    "site=s1.example",
    "topic=sport",
    "site!=s2.example date<2024-12",
    "has('storm')",
    "!has('\"the\" []? \"storm\"') | topic=sport",
];
const ATTRIBUTES: &[&str] = &["word", "lc", "lemma", "tag"];

/// A request of names and values.
fn asked(path: &str, values: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    format!("{path}?{}", query.finish())
}

fn one_of<'t>(random: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[random.usize(..texts.len())]
}

/// A random question to an endpoint. A new endpoint needs questions here.
fn random_question(random: &mut Rng, name: &str, ids: &[String]) -> String {
    let (q, filter) = (one_of(random, SEARCHES), one_of(random, FILTERS));
    let (attribute, number) = (one_of(random, ATTRIBUTES), random.u32(1..60).to_string());
    let min = random.u32(1..6).to_string();
    let step = one_of(random, &["day", "week", "month", "quarter"]);
    let flag = one_of(random, &["", "true"]);
    let scope = ("filter", filter);
    match name {
        "query" => {
            let sort = one_of(random, &["", "", "right,left", "site,node", "1L.lemma", "good", "good,left", "topic"]);
            let sample = one_of(random, &["", "", "12", "5000"]);
            let order = one_of(random, &["newest", "oldest"]);
            asked(name, &[("q", q), scope, ("sort", sort), ("sample", sample), ("order", order), ("size", &number)])
        }
        "parallel" => asked(name, &[("q", q), scope, ("to", "de")]),
        "count" => asked(name, &[("q", q), scope]),
        "freq" => {
            let by = one_of(random, &["word", "lemma", "site", "date", "topic", "ne.name", "quote.speaker"]);
            asked(name, &[("q", q), scope, ("by", by), ("limit", &number)])
        }
        "group" => {
            let by = one_of(random, &["word,site", "lemma,left1", "month,right1.tag", "year,node"]);
            asked(name, &[("q", q), scope, ("by", by), ("min", &min), ("limit", &number)])
        }
        "crosstab" => {
            let by = one_of(random, &["site", "site,month", "topic,year", "day,site", "quarter"]);
            asked(name, &[("q", one_of(random, &["storm,came", "the", "word1,\"the storm\""])), scope, ("by", by)])
        }
        "dispersion" => asked(name, &[("q", q), scope, ("parts", &number)]),
        "colloc" => {
            let measure = one_of(random, &["log-dice", "log-likelihood", "t-score"]);
            let pos = one_of(random, &["", "", "NOUN", "VERB"]);
            let values = [
                ("q", q),
                scope,
                ("attribute", attribute),
                ("measure", measure),
                ("min", &*min),
                ("pos", pos),
                ("positions", flag),
            ];
            asked(name, &values)
        }
        "sketch" => {
            let lemma = one_of(random, &["storm", "come", "drought", "word7", "nosuchword"]);
            asked(name, &[("lemma", lemma), scope, ("min", &min), ("size", &number)])
        }
        "sketch-diff" => asked(name, &[("lemma", "storm"), ("other", "snow"), scope, ("min", &min)]),
        "thesaurus" => {
            let lemma = one_of(random, &["storm", "snow", "tariff", "word3", "nosuchword"]);
            asked(name, &[("lemma", lemma), scope, ("min", &min), ("limit", "12")])
        }
        "words" => {
            let (ngram, regex) = (one_of(random, &["1", "2", "3"]), one_of(random, &["", "s.*", ".*1"]));
            asked(name, &[scope, ("attribute", attribute), ("ngram", ngram), ("regex", regex), ("min", &min)])
        }
        "keywords" => {
            let focus = one_of(random, &["date>=2024-10", "site=s1.example", "topic=weather"]);
            let against = one_of(random, &["", "date<2024-08", "site!=s1.example"]);
            let ngram = one_of(random, &["1", "1", "2"]);
            let (measure, fdr) = (one_of(random, &["simple-maths", "log-likelihood"]), one_of(random, &["0.05", "1"]));
            asked(
                name,
                &[
                    ("focus", focus),
                    ("against", against),
                    scope,
                    ("attribute", attribute),
                    ("ngram", ngram),
                    ("measure", measure),
                    ("fdr", fdr),
                    ("min", &min),
                    ("panel", flag),
                ],
            )
        }
        "terms" => {
            let focus = one_of(random, &["date>=2024-10", "site=s1.example", "has('storm')"]);
            let against = one_of(random, &["", "date<2024-08", "site!=s1.example"]);
            let measure = one_of(random, &["simple-maths", "log-likelihood", "log-ratio"]);
            let documents = one_of(random, &["", "1", "9"]);
            let values = [
                ("focus", focus),
                ("against", against),
                scope,
                ("measure", measure),
                ("min", &*min),
                ("min_documents", documents),
                ("names", flag),
                ("panel", flag),
                ("limit", &number),
            ];
            asked(name, &values)
        }
        "compare" => {
            let (before, after) = *[
                ("date<2024-08", "date>=2024-08"),
                ("date<2024-10", "date>=2024-06"),
                ("site=s1.example", "site=s2.example"),
                ("date=2024-05", "date=2024-06"),
            ]
            .get(random.usize(..4))
            .unwrap();
            asked(
                name,
                &[
                    ("before", before),
                    ("after", after),
                    scope,
                    ("attribute", attribute),
                    ("min", &min),
                    ("fdr", "1"),
                    ("effect", "1"),
                    ("panel", flag),
                ],
            )
        }
        "meaning" => asked(name, &[("before", "date<2024-08"), ("after", "date>=2024-08"), scope, ("min", &min)]),
        "timeline" => {
            let several = format!("{q},{}", one_of(random, &["storm", "[] []{0,2} [lc=\"the\"]"]));
            let queries = if random.bool() { &several } else { q };
            asked(name, &[("q", queries), scope, ("by", step), ("panel", flag)])
        }
        "trends" | "steps" => {
            let fdr = one_of(random, &["0.2", "1"]);
            let values = [
                scope,
                ("attribute", attribute),
                ("by", "month"),
                ("min", &*min),
                ("fdr", fdr),
                ("effect", "1"),
                ("all_words", flag),
            ];
            asked(name, &values)
        }
        "seasons" => asked(name, &[scope, ("by", "month"), ("min", &min), ("fdr", "1"), ("effect", "1")]),
        "bursts" => asked(name, &[scope, ("by", one_of(random, &["week", "month"])), ("all_words", flag)]),
        "new-words" => {
            let since = one_of(random, &["2024-07-01", "2024-10-15", ""]);
            let form = one_of(random, &["", "word", "lemma"]);
            asked(
                name,
                &[
                    scope,
                    ("since", since),
                    ("attribute", form),
                    ("min_sites", "1"),
                    ("min_days", "1"),
                    ("min_documents", "2"),
                    ("fdr", one_of(random, &["0.05", "1"])),
                    ("names", flag),
                    ("known", "true"),
                ],
            )
        }
        "neologisms" => {
            let values = [
                scope,
                ("since", one_of(random, &["2024-07-01", "2024-10-15", ""])),
                ("attribute", one_of(random, &["", "word", "lemma"])),
                ("min_sites", "1"),
                ("min_days", "1"),
                ("min_documents", "2"),
                ("fdr", "1"),
                ("known", "true"),
                ("status", one_of(random, &["open", "all"])),
                ("limit", &number),
            ];
            asked(name, &values)
        }
        "names" => {
            let since = one_of(random, &["", "2024-03-01"]);
            let kind = one_of(random, &["", "PER", "LOC"]);
            asked(name, &[scope, ("since", since), ("type", kind), ("min_documents", &min)])
        }
        "quotes" => asked(name, &[scope, ("by", one_of(random, &["speaker", "verb", "site"])), ("pronouns", flag)]),
        "documents" => asked(name, &[("q", one_of(random, &["", q])), scope, ("size", &number)]),
        "document" => asked(&format!("documents/{}", ids[random.usize(..ids.len())]), &[("q", q)]),
        "context" => asked(&format!("documents/{}/context", ids[random.usize(..ids.len())]), &[("position", &min)]),
        _ => panic!("there are no random questions for the endpoint {name}: add some"),
    }
}

/// Questions that a gateway refuses.
pub const ONE_INDEX_ONLY: &[&str] = &["meaning", "parallel"];

#[test]
fn a_question_about_many_windows_of_documents_is_refused_by_a_gateway() {
    let setup = setup(11, &Settings::default());
    let mut random = Rng::with_seed(11);
    for name in ONE_INDEX_ONLY {
        let path = format!("/api/v1/en/{}", random_question(&mut random, name, &[]));
        // This corpus has one language.
        setup.one.get(&path).is(if *name == "parallel" { 404 } else { 200 });
        let refused = setup.gateway.get(&path).is(501).json();
        assert!(refused["error"].to_string().contains("whole corpus in one index"), "{refused}");
    }
}

#[test]
fn every_question_over_shards_has_the_answer_of_one_index() {
    for seed in [11, 12] {
        let setup = setup(seed, &Settings::default());
        let mut random = Rng::with_seed(seed);
        let listed = setup.one.get("/api/v1/en/documents?size=400").json();
        let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
        let ids: Vec<String> = listed["rows"].as_array().unwrap().iter().map(id).collect();
        let merged = |name: &str| !ONE_INDEX_ONLY.contains(&name);
        for question in tidings_query::question::QUESTIONS.iter().filter(|question| merged(question.name)) {
            let mut answered = 0;
            for _ in 0..8 {
                let path = format!("/api/v1/en/{}", random_question(&mut random, question.name, &ids));
                let [one, all] = [&setup.one, &setup.gateway].map(|server| server.get(&path));
                assert_eq!(one.status, all.status, "{path}: {} {}", one.body, all.body);
                answered += u32::from(one.status == 200);
                let (one, all) = (comparable(one.json()), comparable(all.json()));
                assert!(all == one || one["error"].is_string(), "{path}\nof shards: {all}\nof one:    {one}");
            }
            assert!(answered > 2, "{}: only {answered} questions were right", question.name);
        }
    }
}

#[test]
fn new_words_of_a_gateway_have_the_evidence_of_all_shards_and_its_own_decisions() {
    let setup = setup(11, &Settings::default());
    let asked = "/api/v1/en/neologisms?since=2024-10-15&min_sites=1&min_days=1&min_documents=2&fdr=1&known=true";
    let found = same(&setup, asked);
    let row = &found["rows"][0];
    assert!(row["hits"].as_u64() > Some(1) && row["sites"].as_u64() > Some(1), "{found}");
    assert!(row["citation"]["node"].is_string() && row["first_seen"].is_string(), "{row}");
    let word = row["value"].as_str().unwrap();
    let body = json!({ "lang": "en", "word": word, "status": "accepted", "note": "two papers" }).to_string();
    change(&setup.gateway, "POST", "/api/v1/decisions", JSON, &body).is(200);
    let accepted = setup.gateway.get(&format!("{asked}&status=accepted")).is(200).json();
    assert_eq!((&accepted["rows"][0]["value"], &accepted["rows"][0]["note"]), (&json!(word), &json!("two papers")));
    assert_eq!(accepted["rows"][0]["hits"], row["hits"]);
    let history = setup.gateway.get("/api/v1/decisions").is(200).json();
    assert_eq!(history["rows"][0]["word"], json!(word.to_lowercase()));
}

#[test]
fn every_endpoint_about_the_home_is_answered_from_the_homes_of_all_shards() {
    let setup = setup(13, &Settings::default());
    let openapi = setup.one.get("/api/openapi.json").json();
    let paths = openapi["paths"].as_object().unwrap().keys();
    let mut known = 0;
    for path in paths.filter(|path| path.starts_with("/api/v1/") && !path.contains('{')) {
        let asked = match path.as_str() {
            "/api/v1/collection/revisions" => format!("{path}?url=http://a.example/&seen=2026-01-01"),
            _ => path.clone(),
        };
        let answers = [&setup.one, &setup.gateway].map(|server| server.get(&asked).is(200).json());
        match path.as_str() {
            // Of the gateway itself.
            "/api/v1/server" | "/api/v1/corpora/named" | "/api/v1/searches" | "/api/v1/corpora-named" => {}
            // All homes of this test have the same feed.
            "/api/v1/feeds" => {
                let rows = answers[1]["rows"].as_array().unwrap();
                let shards: Vec<String> =
                    setup.shards.iter().flatten().map(|shard| format!("http://{}", shard.address)).collect();
                assert_eq!(rows.iter().map(|row| row["shard"].as_str().unwrap()).collect::<Vec<_>>(), shards);
                assert!(
                    rows.iter().all(|row| row["feed"] == "http://a.example/feed")
                        && answers[0]["rows"][0].get("shard").is_none()
                );
            }
            "/api/v1/collection" => assert_eq!(answers[1]["feeds"]["new"], json!(SHARDS)),
            "/api/v1/sources" => {
                let sources = |answer: &Value| answer["rows"][0]["sources"].as_u64().unwrap_or(0);
                assert_eq!(sources(&answers[1]), SHARDS as u64 * sources(&answers[0]));
            }
            _ => assert_eq!(comparable(answers[1].clone()), comparable(answers[0].clone()), "{path}"),
        }
        known += 1;
    }
    assert!(known >= 12, "only {known} endpoints were found");
}

#[test]
fn streams_and_sorted_lists_over_shards_are_as_long_as_those_of_one_index() {
    // More hits than are sorted, and more rows than are sent at once.
    let document = |day: u32, site: usize| {
        let mut text = format!(
            "<doc id=\"{day}-{site}\" url=\"http://s{site}.example/{day}\" title=\"News\" date=\"2024-01-{day:02}\" \
             site=\"s{site}.example\">\n<p>\n<s>\n"
        );
        let mut random = Rng::with_seed(u64::from(day) * 31 + site as u64);
        for _ in 0..2600 {
            let _ = writeln!(text, "the\tthe\tDET\nw{}\tw\tNOUN", random.u32(..500));
        }
        text.push_str("</s>\n</p>\n</doc>\n");
        Sample { day: format!("2024-01-{day:02}"), shard: site, text }
    };
    let samples: Vec<Sample> = (1..=27).flat_map(|day| (0..SHARDS).map(move |site| document(day, site))).collect();
    let setup = setup_of(&samples, &Settings::default());
    for question in ["query?q=the&sort=right&size=40&context=2", "query?q=the&sample=300&sort=left&context=2"] {
        let answer = same(&setup, &format!("/api/v1/en/{question}"));
        assert_eq!(answer["about"]["exactness"]["kind"], "sample", "{question}");
    }
    for question in ["query?q=the&format=csv&size=12000&context=1", "documents?format=jsonl"] {
        let path = format!("/api/v1/en/{question}");
        let [one, all] = [&setup.one, &setup.gateway].map(|server| server.get(&path).is(200));
        assert!(all.whole && all.body == one.body, "{question}: {} and {} bytes", all.body.len(), one.body.len());
    }
    let deep = same(&setup, "/api/v1/en/query?q=w7&size=3&context=0&order=oldest");
    assert!(deep["hits"].as_u64() > Some(100));
}

/// A way to a shard that can be cut and restored.
struct Line {
    address: std::net::SocketAddr,
    is_cut: Arc<AtomicBool>,
}

fn line_to(shard: std::net::SocketAddr) -> Line {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, is_cut) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
    let cut = is_cut.clone();
    let carry = |mut from: TcpStream, mut to: TcpStream, cut: Arc<AtomicBool>| {
        from.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while !cut.load(Ordering::Relaxed) {
                match from.read(&mut buffer) {
                    Ok(read) if read > 0 && to.write_all(&buffer[..read]).is_ok() => {}
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    _ => break,
                }
            }
            let _ = to.shutdown(std::net::Shutdown::Both);
            let _ = from.shutdown(std::net::Shutdown::Both);
        });
    };
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(client), false) = (client, cut.load(Ordering::Relaxed)) else { continue };
            let Ok(shard) = TcpStream::connect(shard) else { continue };
            carry(client.try_clone().unwrap(), shard.try_clone().unwrap(), cut.clone());
            carry(shard, client, cut.clone());
        }
    });
    Line { address, is_cut }
}

#[test]
fn a_page_of_some_shards_is_not_followed_by_one_that_is_called_whole() {
    let setup = setup(14, &Settings::default());
    let line = line_to(setup.shards[2].as_ref().unwrap().address);
    let others = setup.shards[..2].iter().flatten().map(|shard| shard.address);
    let gateway = gateway_over(others.chain([line.address]), Settings::default());
    line.is_cut.store(true, Ordering::Relaxed);
    let path = "/api/v1/en/query?q=storm&size=10";
    let part = gateway.get(&format!("{path}&partial=1")).is(200).json();
    assert_eq!(part["about"]["exactness"]["kind"], "partial");
    let next = part["next"].as_str().unwrap();
    line.is_cut.store(false, Ordering::Relaxed);
    until("the shard is back", || gateway.get(path).status == 200);
    // The state of two shards is none that answers without partial=1 are made of.
    let refused = gateway.get(&format!("{path}&cursor={next}"));
    assert_eq!(refused.status, 400, "{}", refused.body);
    let follows = gateway.get(&format!("{path}&cursor={next}&partial=1"));
    let kind = follows.json()["about"]["exactness"]["kind"].clone();
    assert!(follows.status == 400 || kind == "partial", "{}", follows.body);
}

#[test]
fn a_shard_that_is_slow_is_named_or_left_out() {
    let setup = setup(15, &Settings::default());
    let version = version();
    let address = false_shard(&version, |part| (part == "schema").then(|| ("200 OK", schema(1))));
    let settings = Settings { time_limit: Duration::from_secs(10), ..Settings::default() };
    let gateway = gateway_over(setup.shards.iter().flatten().map(|shard| shard.address).chain([address]), settings);
    let refused = gateway.get("/api/v1/en/count?q=storm").is(503);
    assert!(refused.body.contains(&address.to_string()), "{}", refused.body);
    let part = gateway.get("/api/v1/en/count?q=storm&partial=1").is(200).json();
    assert_eq!(
        part["about"]["exactness"],
        json!({ "kind": "partial", "shards": 3, "of_shards": 4, "tokens": part["tokens"] })
    );
    assert_eq!(part["hits"], setup.gateway.get("/api/v1/en/count?q=storm").json()["hits"]);
}

#[test]
fn a_server_that_is_no_shard_or_of_another_version_is_named_and_not_left_out() {
    let setup = setup(16, &Settings::default());
    let no_shard = TestServer::with(&joined(samples(16).iter().take(5)), Settings::default());
    let other = false_shard("0.0.1", |_| Some(("200 OK", schema(1))));
    for address in [no_shard.address, other] {
        let shards = setup.shards.iter().flatten().map(|shard| shard.address).chain([address]);
        let gateway = gateway_over(shards, Settings::default());
        let refused = gateway.get("/api/v1/en/count?q=storm").is(503);
        assert!(refused.body.contains(&address.to_string()) && refused.body.contains("version"), "{}", refused.body);
    }
}

#[test]
fn a_hostile_shard_is_refused_or_believed_and_breaks_nothing() {
    let setup = setup(17, &Settings::default());
    let version = version();
    let huge = u64::MAX;
    let answers: Vec<(&str, String)> = vec![
        ("words", json!({ "sum": [{ "storm": [huge, huge] }, huge] }).to_string()),
        ("count", json!({ "sum": [huge, huge], "hidden": [huge, huge] }).to_string()),
        (
            "timeline",
            json!({ "sum": { "hits": { "5": huge }, "unseen": [], "days": { "5": [huge, huge] }, "sites": {} } })
                .to_string(),
        ),
        ("volume", json!({ "sum": { "2147483647": [1, 1], "-2147483648": [1, 1] } }).to_string()),
        (
            "places",
            json!({ "sum": { "documents": huge, "days": { "2147483647": [huge, [4_294_967_295u32]] } } }).to_string(),
        ),
        ("candidates", json!({ "sum": ["storm"] }).to_string()),
        (
            "cells",
            json!({ "sum": { "sites": ["x", "y"], "volume": [[huge, huge], [1, 1], [1, 1], [1, 1]],
            "words": [["storm", [[9, 9, 9, 9], [0, 4_000_000_000u32, 1, 1]]]] } })
            .to_string(),
        ),
        (
            "page",
            json!({ "sum": { "counts": { "tokens": huge, "hits": huge, "withheld": huge }, "all": huge, "hits": [
            { "day": 2_147_483_647, "rank": 0, "keys": [], "place": [4_294_967_295u32, 0, 0], "line": null }] } })
            .to_string(),
        ),
        ("near", "[[[[[[".repeat(1000)),
    ];
    let address = false_shard(&version, move |part| {
        let known = answers.iter().find(|(name, _)| *name == part).map(|(_, body)| body.clone());
        Some(match part {
            "schema" => ("200 OK", schema(huge)),
            _ => ("200 OK", known.unwrap_or_else(|| "{\"sum\":[]}".to_owned())),
        })
    });
    let shards = setup.shards.iter().flatten().map(|shard| shard.address).chain([address]);
    let gateway = gateway_over(shards, Settings::default());
    for question in [
        "words",
        "count?q=storm",
        "timeline?q=storm&by=year",
        "dispersion?q=storm",
        "trends?by=month&min=2",
        "query?q=storm",
        "query?q=storm&sort=left",
        "colloc?q=storm",
        "documents",
        "names",
        "quotes",
        "sketch?lemma=storm",
        "thesaurus?lemma=storm",
        "new-words?since=2024-06-01",
        "compare?before=date%3D2024-05&after=date%3D2024-06",
    ] {
        let answer = gateway.get(&format!("/api/v1/en/{question}"));
        // An answer, or an error that says what is wrong; never one of the program.
        assert!(answer.whole && answer.status != 500 && answer.status != 0, "{question}: {answer:?}");
    }
    gateway.get("/healthz").is(200);
}
