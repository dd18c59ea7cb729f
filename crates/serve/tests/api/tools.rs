//! Protocols of other tools: CLARIN FCS, Bonito, KorAP.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use tidings_serve::{Settings, Tool};

use crate::gateway;
use crate::test_server::{Got, TestServer, document, weather};

fn settings() -> Settings {
    Settings { tools: Tool::ALL.to_vec(), ..Settings::default() }
}

fn server() -> TestServer {
    TestServer::with(&weather(), settings())
}

fn public() -> TestServer {
    TestServer::with(&weather(), Settings { public: true, requests_per_minute: 0, ..settings() })
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Checks that a body is one well-formed element, and returns the texts of the elements of a name.
#[track_caller]
fn texts(body: &str, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(body);
    let (mut found, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {body}")) {
            Event::Start(element) => {
                open.push(element.name().as_ref().to_owned());
                if element.name().as_ref() == name {
                    found.push(String::new());
                }
            }
            Event::End(element) => assert_eq!(open.pop().as_deref(), Some(element.name().as_ref())),
            Event::Text(text) if open.last().is_some_and(|open| open == name) => {
                found.last_mut().unwrap().push_str(text.as_ref());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{body}");
    found
}

fn fcs(server: &TestServer, parameters: &str) -> Got {
    let got = server.get(&format!("/fcs?{parameters}")).is(200);
    assert_eq!(got.header("content-type"), Some("application/sru+xml; charset=utf-8"));
    got
}

/// The number of records that a search has, and the URIs of its diagnostics.
fn found(server: &TestServer, parameters: &str) -> (u64, Vec<String>) {
    let body = fcs(server, parameters).body;
    let number = texts(&body, "sru:numberOfRecords").first().map_or(0, |number| number.parse().unwrap());
    (number, texts(&body, "diag:uri"))
}

fn hits(server: &TestServer, query: &str) -> u64 {
    server.get(&format!("/api/v1/en/count?q={}", escaped(query))).is(200).json()["hits"].as_u64().unwrap()
}

#[test]
fn tools_are_off_unless_the_settings_name_them() {
    let server = TestServer::new();
    for path in ["/fcs", "/bonito/run.cgi/view?corpname=en&q=qx", "/korap/en/api/v1.0/search?q=x"] {
        assert!(server.get(path).is(404).body.contains("serve.tools"), "{path}");
    }
}

#[test]
fn fcs_explains_the_server_and_on_request_its_resources() {
    let server = server();
    let body = fcs(&server, "").body;
    assert!(!body.contains("EndpointDescription"), "only on request");
    assert_eq!(texts(&body, "sru:recordSchema"), ["http://explain.z3950.org/dtd/2.0/"]);
    let body = fcs(&server, "operation=explain&version=1.2&x-fcs-endpoint-description=true").body;
    assert!(body.contains("xmlns:sru=\"http://www.loc.gov/zing/srw/\"") && body.contains("recordPacking"));
    assert_eq!(texts(&body, "ed:Capability").len(), 2);
    assert_eq!(texts(&body, "ed:Language"), ["eng"]);
    assert_eq!(texts(&body, "ed:SupportedLayer"), ["text", "lemma", "pos"]);
    assert!(body.contains("pid=\"http://localhost/?lang=en\"") && body.contains("ref=\"word lemma pos\""), "{body}");
}

#[test]
fn fcs_finds_what_the_api_finds_one_record_for_each_hit() {
    let server = server();
    for (kind, query, ours) in [
        ("cql", "storm", "\"storm\""),
        ("cql", "Storm", "\"Storm\""),
        ("cql", "\"the sea\"", "\"the\" \"sea\""),
        ("cql", "storm OR heatdome", "\"storm\" | \"heatdome\""),
        (
            "cql",
            "storm AND heatdome",
            "\"storm\" | \"heatdome\" within (<s/> containing \"storm\" containing \"heatdome\")",
        ),
        ("cql", "storm NOT heatdome", "\"storm\" within (<s/> !containing \"heatdome\")"),
        ("fcs", "[lemma = \"storm\"]", "[lemma=\"storm\"]"),
        ("fcs", "[pos = \"NOUN\"] \"came\" within s", "[tag=\"NOUN\"] \"came\" within <s/>"),
        ("fcs", "\"STORM\"/c", "[word=\"storm\"%c]"),
        ("fcs", "[]{2} \"sea\"", "[]{2} \"sea\""),
    ] {
        let (number, diagnostics) = found(&server, &format!("queryType={kind}&query={}", escaped(query)));
        assert_eq!((number, diagnostics.len()), (hits(&server, ours), 0), "{query}");
    }
    let body = fcs(&server, "query=storm&maximumRecords=3").body;
    assert_eq!(
        (texts(&body, "hits:Hit"), texts(&body, "sru:nextRecordPosition")),
        (vec!["storm".to_owned(); 3], vec!["4".to_owned()])
    );
    assert_eq!(texts(&body, "sru:recordPosition"), ["1", "2", "3"]);
    assert!(texts(&body, "hits:Result")[0].contains("The "), "{body}");
    let spans = texts(&body, "adv:Span");
    assert!(spans.contains(&"NOUN".to_owned()) && spans.contains(&"came".to_owned()), "{spans:?}");
    assert_eq!(body.matches("highlight=\"h1\">storm<").count(), 6, "the layers word and lemma of each hit");
    let old = fcs(&server, "operation=searchRetrieve&version=1.2&query=storm&maximumRecords=1").body;
    assert!(texts(&old, "hits:Hit") == ["storm"] && !old.contains("adv:"), "{old}");
}

#[test]
fn fcs_pages_have_every_record_once() {
    let server = server();
    let (mut start, mut references) = (1, Vec::new());
    loop {
        let body = fcs(&server, &format!("query=storm&maximumRecords=50&startRecord={start}")).body;
        references
            .extend(body.match_indices(" ref=\"http").map(|(at, _)| body[at..].split('"').nth(1).unwrap().to_owned()));
        match texts(&body, "sru:nextRecordPosition").first() {
            Some(next) => start = next.parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(references.len() as u64, hits(&server, "\"storm\""));
    references.sort();
    references.dedup();
    assert_eq!(references.len() as u64, hits(&server, "\"storm\""), "each document has one hit");
}

#[test]
fn fcs_takes_forms_by_post() {
    let form = "operation=searchRetrieve&query=storm&maximumRecords=1";
    let request = format!(
        "POST /fcs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    );
    assert_eq!(texts(&server().send(&request).is(200).body, "hits:Hit"), ["storm"]);
}

#[test]
fn fcs_answers_what_it_cannot_do_with_the_diagnostic_for_it() {
    let server = server();
    for (parameters, uri) in [
        ("operation=scan&scanClause=x", "info:srw/diagnostic/1/4"),
        ("operation=nothing", "info:srw/diagnostic/1/4"),
        ("operation=searchRetrieve&version=9.9&query=x", "info:srw/diagnostic/1/5"),
        ("operation=searchRetrieve", "info:srw/diagnostic/1/7"),
        ("query=x&nonsense=1", "info:srw/diagnostic/1/8"),
        ("query=x&startRecord=0", "info:srw/diagnostic/1/6"),
        ("query=x&maximumRecords=-1", "info:srw/diagnostic/1/6"),
        ("query=storm&startRecord=100000", "info:srw/diagnostic/1/61"),
        ("query=x&recordSchema=marc", "info:srw/diagnostic/1/66"),
        ("query=x&recordXMLEscaping=string", "info:srw/diagnostic/1/71"),
        ("query=x&queryType=sql", "info:srw/diagnostic/1/6"),
        ("query=%22", "info:srw/diagnostic/1/10"),
        ("query=dc.title%3Dx", "info:srw/diagnostic/1/16"),
        ("query=a%20prox%20b", "info:srw/diagnostic/1/37"),
        ("queryType=fcs&query=%5B", "http://clarin.eu/fcs/diagnostic/10"),
        ("queryType=fcs&query=%22%28%22", "info:srw/diagnostic/1/47"),
        ("query=x&x-fcs-context=http%3A%2F%2Fnobody.example", "http://clarin.eu/fcs/diagnostic/1"),
        ("query=x&x-fcs-dataviews=cmdi", "http://clarin.eu/fcs/diagnostic/4"),
    ] {
        let (_, diagnostics) = found(&server, parameters);
        assert!(diagnostics.contains(&uri.to_owned()), "{parameters}: {diagnostics:?}");
    }
    let context = format!("query=storm&x-fcs-context={}", escaped("http://localhost/?lang=en"));
    assert_eq!(found(&server, &context), (hits(&server, "\"storm\""), Vec::new()));
    let body = fcs(&server, &format!("query={}", escaped("\"<&>\u{1}\""))).body;
    assert_eq!(texts(&body, "sru:numberOfRecords"), ["0"]);
}

#[test]
fn tools_show_what_the_client_may_read() {
    let server = public();
    let body = fcs(&server, "query=storm&maximumRecords=1000").body;
    let (number, records) = (texts(&body, "sru:numberOfRecords")[0].clone(), texts(&body, "sru:recordPosition").len());
    assert_eq!(number, records.to_string());
    assert!(body.contains("http://a.example/") && !body.contains("b.example"), "{body}");
    assert_eq!(number, "42", "the hits of the open site");
    let lines = bonito(&server, "view", "corpname=en&q=q%22storm%22&pagesize=1000&refs=%3Ddoc.site");
    assert_eq!(lines["concsize"], 42);
    assert!(lines["Lines"].as_array().unwrap().iter().all(|line| line["Refs"][0] == "a.example"), "{lines}");
    let matches = server.get("/korap/en/api/v1.0/search?q=%22storm%22&count=1000").is(200).json();
    assert_eq!(matches["meta"]["totalResults"], 42);
    assert!(matches["matches"].as_array().unwrap().iter().all(|hit| hit["corpusTitle"] == "a.example"));
    let two = "q%22the%22%20%22sea%22";
    let api = server
        .get("/api/v1/en/colloc?q=%22the%22%20%22sea%22&min=1&punctuation=true&attribute=word&limit=10000")
        .json();
    let tool = bonito(&server, "collx", &format!("corpname=en&q={two}&cminfreq=1&cminbgr=1&cmaxitems=10000"));
    assert_eq!(tool["concsize"], api["hits"], "positions are counted in readable documents only");
}

#[test]
fn tools_ask_a_gateway_as_they_ask_a_server() {
    let token = || Some(gateway::SECRET.to_owned().into());
    let shard = |site: &str| {
        let text: String =
            (1..=9).map(|day| document(&format!("2026-01-0{day}"), site, "open", "The storm came .")).collect();
        TestServer::with(&text, Settings { shard_token: token(), ..Settings::default() })
    };
    let shards = ["a.example", "b.example"].map(shard);
    let gateway = gateway::gateway_over(shards.iter().map(|shard| shard.address), settings());
    assert_eq!(found(&gateway, "query=storm"), (18, Vec::new()));
    assert_eq!(
        bonito(&gateway, "view", "corpname=en&q=q%22storm%22&fromp=2&pagesize=10")["Lines"].as_array().unwrap().len(),
        8
    );
}

fn bonito(server: &TestServer, method: &str, parameters: &str) -> Value {
    server.get(&format!("/bonito/run.cgi/{method}?{parameters}")).is(200).json()
}

#[test]
fn bonito_shows_lines_with_their_context_and_references() {
    let server = server();
    let answer = bonito(
        &server,
        "view",
        "corpname=preloaded/en&q=q%5Blemma%3D%22storm%22%5D&pagesize=5&kwicleftctx=-1&kwicrightctx=2&refs=%3Ddoc.site,doc.date",
    );
    assert_eq!(
        (answer["concsize"].as_u64(), answer["Lines"].as_array().unwrap().len()),
        (Some(hits(&server, "{storm}")), 5)
    );
    let line = &answer["Lines"][0];
    assert_eq!(
        (&line["Kwic"][0]["str"], &line["Left"][0]["str"], &line["Right"][0]["str"]),
        (&json!("storm "), &json!("The "), &json!("came from "))
    );
    assert_eq!(line["Refs"].as_array().unwrap().len(), 2);
    assert_eq!((&answer["request"]["corpname"], &answer["numofpages"]), (&json!("preloaded/en"), &json!(26)));
    let second = bonito(&server, "view", "corpname=en&q=q%5Blemma%3D%22storm%22%5D&pagesize=5&fromp=2");
    assert_ne!(second["Lines"][0]["docid"], line["docid"]);
    for (form, query) in [
        ("queryselector=iqueryrow&iquery=Storm", "{storm}"),
        ("queryselector=cqlrow&cql=%5B%5D", "[]"),
        ("queryselector=wordrow&word=The", "\"The\""),
        ("queryselector=lemmarow&lemma=storm", "{storm}"),
        ("queryselector=phraserow&phrase=the%20sea", "\"the\" \"sea\""),
        ("q=q%22storm%22&q=P-5%205%201%20%22heatdome%22", "MU(meet \"storm\" \"heatdome\" -5 5)"),
        ("q=q%22storm%22&q=N-5%205%201%20%22heatdome%22", "MU(meet \"storm\" !\"heatdome\" -5 5)"),
    ] {
        assert_eq!(
            bonito(&server, "first", &format!("corpname=en&{form}"))["concsize"],
            hits(&server, query),
            "{form}"
        );
    }
    let sample = bonito(&server, "view", "corpname=en&q=q%22storm%22&q=r7");
    assert_eq!((sample["Lines"].as_array().unwrap().len(), &sample["concsize"]), (7, &json!(7)));
}

#[test]
fn bonito_counts_words_values_and_collocates_as_the_api_does() {
    let server = server();
    let words = bonito(&server, "wordlist", "corpname=en&wlattr=lemma&wlminfreq=1&wlmaxitems=5");
    let api = server.get("/api/v1/en/words?attribute=lemma&limit=5").is(200).json();
    let pair = |word: &Value, name: &str| (word["str"].clone(), word[name].clone());
    let ours: Vec<_> = words["Items"].as_array().unwrap().iter().map(|word| pair(word, "frq")).collect();
    let theirs: Vec<_> =
        api["rows"].as_array().unwrap().iter().map(|row| (row["value"].clone(), row["hits"].clone())).collect();
    assert_eq!((ours, &words["total"]), (theirs, &api["values"]));
    let freqs =
        bonito(&server, "freqs", "corpname=en&q=q%22storm%22&fcrit=word/%200~0%3E0%20tag/%20-1%3C0&fcrit=doc.site%200");
    let blocks = freqs["Blocks"].as_array().unwrap();
    assert_eq!((blocks.len(), &blocks[0]["Items"][0]["Word"]), (2, &json!([{ "n": "storm" }, { "n": "X" }])));
    assert_eq!(blocks[0]["Head"][0]["id"], "word/ 0~0>0 tag/ -1<0");
    let sites: Vec<&Value> = blocks[1]["Items"].as_array().unwrap().iter().map(|item| &item["frq"]).collect();
    assert_eq!(sites, [&json!(42), &json!(42), &json!(42)]);
    let found = bonito(
        &server,
        "collx",
        "corpname=en&q=q%22storm%22&cattr=lemma&cfromw=-2&ctow=2&cbgrfns=td&csortfn=t&cminfreq=1&cminbgr=1",
    );
    let api = server
        .get("/api/v1/en/colloc?q=%22storm%22&attribute=lemma&left=2&right=2&min=1&measure=t-score&punctuation=true")
        .json();
    let (ours, theirs) = (&found["Items"][0], &api["rows"][0]);
    assert_eq!(
        (&ours["str"], &ours["freq"], &ours["coll_freq"]),
        (&theirs["value"], &theirs["together"], &theirs["hits"])
    );
    assert_eq!(
        ours["Stats"],
        json!([{ "n": "T-score", "s": theirs["scores"]["t_score"] }, { "n": "logDice", "s": theirs["scores"]["log_dice"] }])
    );
    let info = bonito(&server, "corp_info", "corpname=en&struct_attr_stats=1");
    assert_eq!((&info["sizes"]["doccount"], &info["sizes"]["sentcount"]), (&json!("216"), &json!("648")));
    assert!(info["structures"][0]["attributes"].as_array().unwrap().iter().any(|field| field["name"] == "site"));
}

#[test]
fn bonito_refuses_by_name_what_it_does_not_do() {
    let server = server();
    for (method, parameters, part) in [
        ("view", "corpname=xx&q=qa", "corpname is one of en"),
        ("view", "corpname=en", "a query is missing"),
        ("view", "corpname=en&q=q%5B", "expected"),
        ("view", "corpname=en&q=qa&q=s*", "the operation `s*` is not supported"),
        ("view", "corpname=en&q=qa&sskey=rc", "the parameter `sskey` is not supported"),
        ("view", "corpname=en&q=qa&refs=doc.nothing", "no field `doc.nothing`"),
        ("view", "corpname=en&q=qa&usesubcorp=nothing", "there is no virtual corpus yet"),
        ("view", "corpname=en&q=qa&format=xml", "format=xml is not supported"),
        ("wordlist", "corpname=en&wlattr=nothing", "no attribute `nothing`"),
        ("wordlist", "corpname=en&wlsort=arf", "wlsort = arf is not supported"),
        ("freqs", "corpname=en&q=qa", "a criterion is missing"),
        ("freqs", "corpname=en&q=qa&fcrit=word", "cannot read `word`"),
        ("freqs", "corpname=en&q=qa&fcrit=word/r%200", "cannot read `word/r`"),
        ("collx", "corpname=en&q=qa&cbgrfns=x", "cbgrfns and csortfn take t (T-score)"),
        ("collx", "corpname=en&q=qa&cfromw=2", "the window must begin"),
        ("thes", "corpname=en", "unknown method `thes`"),
    ] {
        let error = bonito(&server, method, parameters)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(part), "{method}?{parameters}: {error}");
    }
    let secret = bonito(&server, "view", "corpname=xx&q=qa&api_key=s3cret&username=u").to_string();
    assert!(!secret.contains("s3cret"), "{secret}");
}

#[test]
fn korap_definitions_of_virtual_corpora_select_documents() {
    let server = server();
    let search = |parameters: &str| server.get(&format!("/korap/en/api/v1.0/search?{parameters}"));
    let total = |definition: &str| {
        let answer = search(&format!("q=%22storm%22&count=0&cq={}", escaped(definition))).is(200).json();
        answer["meta"]["totalResults"].as_u64().unwrap()
    };
    let filtered = |filter: &str| {
        let path = format!("/api/v1/en/count?q=%22storm%22&filter={}", escaped(filter));
        server.get(&path).is(200).json()["hits"].as_u64().unwrap()
    };
    for (definition, filter) in [
        ("pubDate since 2026-03", "date>=2026-03"),
        ("pubDate since 2026-03 & corpusTitle = \"a.example\"", "date>=2026-03 site=a.example"),
        (
            "corpusTitle != a.example & (pubDate in 2026-01 | pubDate until 2026-02-10)",
            "site!=a.example & (date=2026-01 | date<=2026-02-10)",
        ),
        ("site = /[ab].example/", "site=\"[ab].example\""),
    ] {
        assert_eq!(total(definition), filtered(filter), "{definition}");
    }
    let error = search("q=%22storm%22&cq=pubdate%20since%202026").is(400).json();
    assert!(error["errors"][0][1].as_str().unwrap().contains("did you mean pubDate?"), "{error}");
    assert!(search("q=storm&ql=cosmas2").is(400).body.contains("use cqp, fcsql or cql"));
    assert!(search("q=storm&nonsense=1").is(400).body.contains("`nonsense` is not supported"));
    server.get("/korap/xx/api/v1.0/search?q=a").is(404);
    let page = search("q=%5Blemma%3D%22storm%22%5D&ql=fcsql&count=2&offset=4&context=2-t,2-t").is(200).json();
    assert_eq!((page["meta"]["startIndex"].as_u64(), page["matches"].as_array().unwrap().len()), (Some(4), 2));
    let snippet = page["matches"][0]["snippet"].as_str().unwrap();
    assert!(snippet.contains("<span class=\"match\"><mark>storm</mark></span>"), "{snippet}");
    let statistics = server.get("/korap/en/api/v1.0/statistics?cq=corpusTitle%20%3D%20a.example").is(200).json();
    assert_eq!((statistics["documents"].as_u64(), statistics["sentences"].as_u64()), (Some(72), Some(216)));
}
