//! Reconstruction attack: an adversary with the API alone tries to put hidden documents together again.
//!
//! The corpus has 20 hidden documents of equal length. The adversary knows the public vocabulary and the metadata, tries
//! every endpoint, and guesses each token of each hidden document; a position it learns nothing about gets the most frequent
//! word. It must not do better than a guesser that knows the word frequencies of the hidden documents as a whole.
//!
//! The second test is stronger: a twin corpus has the same hidden words in another order and in other documents of the same
//! group. Every answer must be the same, byte for byte, so that no program could tell the two apart.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use tidings_query::question::{Parameter, ParameterKind, QUESTIONS};
use tidings_serve::{Settings, Tool};
use tidings_store::tokens::Scope;

use crate::gateway;
use crate::rights::token;
use crate::test_server::TestServer;

/// Hidden documents of each of two sites: one group each.
const HIDDEN: usize = 10;
/// Tokens of a hidden document.
const TOKENS: usize = 40;
/// Requests of the adversary; `TIDINGS_ATTACK_REQUESTS` sets more.
const REQUESTS: usize = 6_000;

/// A deterministic source of numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The vocabulary: the lower the number, the more frequent the word.
fn vocabulary() -> Vec<String> {
    let syllables = ["ka", "lo", "mi", "ne", "ru", "so", "ti", "vu"];
    (0..64).map(|at: usize| format!("{}{}", syllables[at / 8], syllables[at % 8])).collect()
}

fn text(numbers: &mut Numbers, words: &[String], tokens: usize) -> Vec<String> {
    let draw = |numbers: &mut Numbers| {
        let bound = numbers.below(words.len()) + 1;
        words[numbers.below(bound)].clone()
    };
    (0..tokens).map(|_| draw(numbers)).collect()
}

/// The texts of all documents by site: (site, availability, day, tokens).
struct Corpus {
    documents: Vec<(String, &'static str, String, Vec<String>)>,
}

impl Corpus {
    fn new() -> Corpus {
        let (mut numbers, words) = (Numbers(7), vocabulary());
        let mut documents = Vec::new();
        let mut add = |site: &str, availability, number: usize, tokens| {
            let day = format!("2026-0{}-{:02}", 1 + number / 20, 1 + number % 20);
            documents.push((site.to_owned(), availability, day, tokens));
        };
        for number in 0..60 {
            add("open.example", "open", number, text(&mut numbers, &words, 60));
        }
        for number in 0..HIDDEN {
            add("one.example", "metadata", number, text(&mut numbers, &words, TOKENS));
            add("two.example", "metadata", 20 + number, text(&mut numbers, &words, TOKENS));
        }
        Corpus { documents }
    }

    /// The same corpus with the hidden words of each site in another order, and the texts in other documents of the site.
    fn twin(&self) -> Corpus {
        let mut documents = self.documents.clone();
        let mut numbers = Numbers(11);
        for site in ["one.example", "two.example"] {
            let places: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].0 == site).collect();
            let mut texts: Vec<Vec<String>> = places.iter().map(|at| documents[*at].3.clone()).collect();
            texts.iter_mut().for_each(|tokens| numbers.shuffle(tokens));
            texts.rotate_left(3);
            places.into_iter().zip(texts).for_each(|(at, tokens)| documents[at].3 = tokens);
        }
        Corpus { documents }
    }

    fn vertical(&self) -> String {
        let mut vertical = String::new();
        for (site, availability, day, tokens) in &self.documents {
            let _ = writeln!(
                vertical,
                "<doc id=\"{site}{day}\" url=\"http://{site}/{day}\" title=\"News\" date=\"{day}\" site=\"{site}\" \
                 availability=\"{availability}\">\n<p>"
            );
            for sentence in tokens.chunks(8) {
                vertical.push_str("<s>\n");
                // Names and quotations tell as much as the words themselves.
                let _ = writeln!(vertical, "<quote kind=\"direct\" speaker=\"{0}\" verb=\"{0}\">", sentence[0]);
                for (at, word) in sentence.iter().enumerate() {
                    let _ = writeln!(vertical, "<ne name=\"{word}\" type=\"PER\" tokens=\"1\"/>");
                    let _ = writeln!(vertical, "{word}\t{word}\t{}", ["NOUN", "VERB", "ADJ"][at % 3]);
                }
                vertical.push_str("</quote>\n</s>\n");
            }
            vertical.push_str("</p>\n</doc>\n");
        }
        vertical
    }

    fn hidden(&self) -> impl Iterator<Item = &(String, &'static str, String, Vec<String>)> {
        self.documents.iter().filter(|(_, availability, ..)| *availability == "metadata")
    }

    fn serve(&self) -> TestServer {
        let server = TestServer::with_translations(&self.vertical(), Corpus::settings());
        server.freeze("before");
        server
    }

    fn settings() -> Settings {
        Settings { public: true, requests_per_minute: 0, tools: Tool::ALL.to_vec(), ..Settings::default() }
    }

    /// A gateway over one shard for each site, with the shards.
    fn serve_in_shards(&self) -> (TestServer, Vec<TestServer>) {
        let shard = |site: &str| {
            let documents = self.documents.iter().filter(|(of, ..)| of == site).cloned().collect();
            let token = Some(gateway::SECRET.to_owned().into());
            TestServer::with(&Corpus { documents }.vertical(), Settings { shard_token: token, ..Settings::default() })
        };
        let shards: Vec<TestServer> = ["open.example", "one.example", "two.example"].map(shard).into_iter().collect();
        let gateway = gateway::gateway_over(shards.iter().map(|shard| shard.address), Corpus::settings());
        (gateway, shards)
    }

    /// The tokens that the best constant guess for each site gets right: what word frequencies alone are worth.
    fn chance(&self) -> usize {
        let mut sites: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (site, _, _, tokens) in self.hidden() {
            let counts = sites.entry(site).or_default();
            tokens.iter().for_each(|token| *counts.entry(token).or_default() += 1);
        }
        sites.values().filter_map(|counts| counts.values().max()).sum()
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => escaped.push(byte as char),
            false => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    escaped
}

/// The API as the adversary sees it: answers, and no more of them than the budget allows.
struct Api<'s> {
    /// The servers, each with a token of the adversary; empty for none.
    servers: Vec<(&'s TestServer, String)>,
    left: Cell<usize>,
    differences: RefCell<Vec<String>>,
    /// Requests that were answered, without their parameters.
    answered: RefCell<BTreeSet<String>>,
}

impl<'s> Api<'s> {
    fn new(servers: Vec<(&'s TestServer, String)>, requests: usize) -> Api<'s> {
        let budget = std::env::var("TIDINGS_ATTACK_REQUESTS").ok().and_then(|text| text.parse().ok());
        Api {
            servers,
            left: Cell::new(budget.unwrap_or(requests)),
            differences: RefCell::default(),
            answered: RefCell::default(),
        }
    }

    /// The answer of a path below the corpus, or of one that begins with `/`. With twins, both are asked and compared.
    fn body(&self, path: &str) -> Option<String> {
        self.left.set(self.left.get().checked_sub(1)?);
        let mut answers = self.servers.iter().map(|(server, token)| {
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/en/{path}") };
            let got = if token.is_empty() { server.get(&path) } else { server.get_as(&path, token) };
            // A gateway refuses questions that cannot be put together from shards.
            assert!(got.status < 500 || got.status == 501, "{path}: {got:?}");
            (got.status, got.body)
        });
        let (status, body) = answers.next()?;
        if answers.any(|other| other != (status, body.clone())) {
            self.differences.borrow_mut().push(path.to_owned());
        }
        if status == 200 {
            self.answered.borrow_mut().insert(path.split('?').next().unwrap_or_default().to_owned());
        }
        (status == 200).then_some(body)
    }

    fn json(&self, path: &str) -> Option<Value> {
        self.body(path).and_then(|body| serde_json::from_str(&body).ok())
    }

    fn number(&self, path: &str, field: &str) -> u64 {
        self.json(path).and_then(|answer| answer[field].as_u64()).unwrap_or(0)
    }
}

/// A hidden document as the adversary sees it, with the tokens found so far.
struct Target {
    id: String,
    site: String,
    tokens: Vec<Option<String>>,
}

impl Target {
    fn filter(&self) -> String {
        escaped(&format!("id={}", self.id))
    }

    fn learn(&mut self, at: usize, word: &str) {
        if let Some(token) = self.tokens.get_mut(at) {
            token.get_or_insert_with(|| word.to_owned());
        }
    }
}

fn targets(api: &Api<'_>) -> Vec<Target> {
    let listed =
        api.json("documents?size=200&order=oldest&filter=availability%3Dmetadata").expect("metadata are public");
    let rows = listed["rows"].as_array().expect("rows");
    let target = |row: &Value| Target {
        id: row["id"].as_str().unwrap_or_default().to_owned(),
        site: row["fields"]["site"].as_str().unwrap_or_default().to_owned(),
        tokens: vec![None; row["tokens"].as_u64().unwrap_or(0) as usize],
    };
    rows.iter().map(target).collect()
}

fn rows(answer: Option<Value>, rows: &str) -> Vec<Value> {
    answer.and_then(|answer| answer[rows].as_array().cloned()).unwrap_or_default()
}

/// C1: with `q=[]` and a window of 1000 tokens, the co-occurrences of a word tell its place.
fn collocates(api: &Api<'_>, target: &mut Target) {
    let path = format!(
        "colloc?q=%5B%5D&filter={}&left=0&right=1000&attribute=word&punctuation=true&limit=10000&min=1",
        target.filter()
    );
    for row in rows(api.json(&path), "rows") {
        // A word with one occurrence at place p has p tokens before it.
        if let (Some(word), Some(together), Some(1)) =
            (row["value"].as_str(), row["together"].as_u64(), row["hits"].as_u64())
        {
            target.learn(together as usize, word);
        }
    }
}

/// A way to count the hits of a query in one document.
type Count<'a> = &'a dyn Fn(&Api<'_>, &str, &Target) -> u64;

/// C2: bisects a token by counts of a query that names its place.
fn bisect(api: &Api<'_>, target: &mut Target, at: usize, place: &str, count: Count<'_>) {
    let words = vocabulary();
    let mut rest = &words[..];
    let asked = |words: &[String]| {
        let tests: Vec<String> = words.iter().map(|word| format!("word==\"{word}\"")).collect();
        escaped(&place.replace("TESTS", &tests.join("|")))
    };
    if count(api, &asked(rest), target) == 0 {
        return;
    }
    while rest.len() > 1 {
        let (one, other) = rest.split_at(rest.len() / 2);
        rest = if count(api, &asked(one), target) > 0 { one } else { other };
    }
    target.learn(at, &rest[0]);
}

/// A way to count a word in a document, with its state.
type WordCount = Box<dyn Fn(&Api<'_>, &str, &Target) -> u64>;

/// The ways to count in one document: each endpoint, by a filter, by a difference of filters, and inside of the query.
fn counts() -> Vec<(&'static str, WordCount)> {
    let by = |path: &'static str, field: &'static str| -> WordCount {
        Box::new(move |api, query, target| api.number(&format!("{path}q={query}&filter={}", target.filter()), field))
    };
    vec![
        ("count", by("count?", "hits")),
        ("query", by("query?size=1&", "hits")),
        ("withheld", by("query?size=1&", "withheld")),
        ("sample", by("query?sample=1&", "hits")),
        ("freq", by("freq?by=site&", "hits")),
        ("freq by word", by("freq?by=word&", "hits")),
        ("timeline", by("timeline?by=day&", "hits")),
        ("colloc", by("colloc?", "hits")),
        (
            "lines",
            Box::new(|api, query, target| {
                rows(api.json(&format!("query?q={query}&filter={}", target.filter())), "lines").len() as u64
            }),
        ),
        (
            "difference of filters",
            Box::new(|api, query, target| {
                let all = api.number(&format!("count?q={query}"), "hits");
                let others =
                    api.number(&format!("count?q={query}&filter={}", escaped(&format!("id!={}", target.id))), "hits");
                all.saturating_sub(others)
            }),
        ),
        (
            "difference of sites",
            Box::new(|api, query, target| {
                let site = escaped(&format!("site={}", target.site));
                let others = escaped(&format!("site={} id!={}", target.site, target.id));
                let all = api.number(&format!("count?q={query}&filter={site}"), "hits");
                all.saturating_sub(api.number(&format!("count?q={query}&filter={others}"), "hits"))
            }),
        ),
        (
            "within",
            Box::new(|api, query, target| {
                let within = escaped(&format!(" within <doc id=\"{}\"/>", target.id));
                api.number(&format!("count?q={query}{within}"), "hits")
            }),
        ),
    ]
}

/// Chains n-grams of one document that overlap.
fn ngrams(api: &Api<'_>, target: &mut Target) {
    let path = format!("words?ngram=5&min=1&limit=10000&punctuation=true&filter={}", target.filter());
    let grams: Vec<Vec<String>> = rows(api.json(&path), "rows")
        .iter()
        .filter_map(|row| Some(row["value"].as_str()?.split(' ').map(str::to_owned).collect()))
        .collect();
    // Sentences have eight tokens: a chain of four n-grams is one, and sentences come in an unknown order.
    for gram in grams {
        let Some(first) = gram.first() else { continue };
        for at in (0..target.tokens.len()).step_by(8) {
            if target.tokens[at].as_deref() == Some(first) {
                gram.iter().enumerate().for_each(|(offset, word)| target.learn(at + offset, word));
            }
        }
    }
}

/// Reads text wherever an endpoint shows some.
fn shown(api: &Api<'_>, target: &mut Target) {
    if let Some(document) = api.json(&format!("documents/{}", target.id)) {
        let text: Vec<String> =
            rows(Some(document), "paragraphs").iter().filter_map(|p| p.as_str().map(str::to_owned)).collect();
        text.join(" ").split(' ').enumerate().for_each(|(at, word)| target.learn(at, word.trim()));
    }
    for at in (0..target.tokens.len()).step_by(8) {
        for sentence in rows(api.json(&format!("documents/{}/context?position={at}&around=5", target.id)), "sentences")
        {
            let start = sentence["position"].as_u64().unwrap_or(0) as usize;
            let tokens = sentence["tokens"].as_array().cloned().unwrap_or_default();
            let words = tokens.iter().filter_map(|token| token["word"].as_str());
            words.enumerate().for_each(|(offset, word)| target.learn(start + offset, word));
        }
    }
    for options in ["", "&sort=right", "&sort=left,node", "&sample=50", "&order=oldest", "&size=100&context=200"] {
        for line in rows(api.json(&format!("query?q=%5B%5D&filter={}{options}", target.filter())), "lines") {
            let Some(position) = line["position"].as_u64() else { continue };
            let node = line["node"].as_array().cloned().unwrap_or_default();
            let words = node.iter().filter_map(|token| token["word"].as_str());
            words.enumerate().for_each(|(offset, word)| target.learn(position as usize + offset, word));
        }
    }
    for format in ["jsonl", "csv"] {
        // A stream has its own way to make lines; any word of the node is a finding.
        let body = api.body(&format!("query?q=%5B%5D&filter={}&format={format}", target.filter())).unwrap_or_default();
        for (at, line) in body.lines().filter(|line| line.contains("\"node\"")).enumerate() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            line["node"][0]["word"].as_str().into_iter().for_each(|word| target.learn(at, word));
        }
    }
}

/// Questions whose answers may depend on the text of one document. What they say is not put together here: the twin test
/// compares them.
fn probes(target: &Target, words: &[String]) -> Vec<String> {
    let (filter, not) = (target.filter(), escaped(&format!("id!={}", target.id)));
    let (a, b) = (&words[0], &words[words.len() / 2]);
    let all = "limit=10000&punctuation=true";
    let mut probes = vec![
        format!("documents?q={a}&filter={filter}"),
        format!("documents?q={a}&size=1000"),
        format!("parallel?q={a}&to=de&filter={filter}&size=1000"),
        format!("parallel?q=%5B%5D&to=de&with={a}&size=1000"),
        format!("parallel?q=%5B%5D&to=de&without={b}&filter={not}&size=1000"),
        format!("documents?filter={}&size=1000", escaped(&format!("has('{a} {b}')"))),
        format!("documents?filter={}&size=1000", escaped(&format!("!has('{a}')"))),
        format!("count?q=%5B%5D&filter={}", escaped(&format!("id={} & has('{a}')", target.id))),
        format!("count?q=%5B%5D&filter={}", escaped(&format!("id={} | !has('{a} []? {b}')", target.id))),
        format!("words?{all}&filter={}", escaped(&format!("has('{a}') | site={}", target.site))),
        format!("timeline?q={b}&by=day&filter={}", escaped(&format!("!has('{a}') & site={}", target.site))),
        format!("keywords?focus={}&min=1&fdr=0&{all}", escaped(&format!("has('{a}') | id={}", target.id))),
        format!("documents/{}?q={a}", target.id),
        format!("words?{all}&filter={filter}"),
        format!("words?{all}&filter={not}"),
        format!("words?{all}&attribute=tag&filter={filter}"),
        format!("words?ngram=2&min=1&{all}&filter={not}"),
        format!("keywords?focus={filter}&min=1&fdr=0&{all}"),
        format!("keywords?focus={filter}&min=1&ngram=2&{all}"),
        format!("keywords?focus={not}&against={filter}&min=1&fdr=0&{all}"),
        format!("terms?focus={filter}&min=1&min_documents=1&names=true&limit=10000"),
        format!("terms?focus={not}&against={filter}&min=1&min_documents=1&names=true&limit=10000"),
        format!("compare?before={filter}&after={not}&min=1&fdr=1&effect=1&{all}"),
        format!("meaning?before={filter}&after={not}&min=1&fdr=1&collocates=50&limit=10000"),
        format!("trends?by=day&min=1&fdr=1&effect=1&limit=10000&filter={}", escaped(&format!("site={}", target.site))),
        format!("seasons?by=day&min=1&fdr=1&effect=1&limit=10000&filter={not}"),
        format!("steps?by=day&min=1&fdr=1&effect=1&limit=10000&filter={}", escaped(&format!("site={}", target.site))),
        "bursts?by=day&limit=10000".to_owned(),
        "bursts?by=week&limit=10000&filter=".to_owned() + &not,
        format!("new-words?since=2026-02-01&min_sites=1&min_days=1&min_documents=1&names=true&filter={not}"),
        format!("names?limit=10000&filter={filter}"),
        format!("names?since=2026-02-01&limit=10000&filter={not}"),
        format!("quotes?pronouns=true&limit=10000&filter={filter}"),
        format!("quotes?by=verb&limit=10000&filter={not}"),
        format!("freq?q=%3Cne%2F%3E&by=ne.name&limit=10000&filter={filter}"),
        format!("count?q=%3Cne%20name%3D%3D%22{a}%22%2F%3E&filter={filter}"),
        format!("count?q=%3Cquote%3E%20{a}&filter={filter}"),
        format!("sketch?lemma={a}&min=1&filter={filter}"),
        format!("sketch?lemma={b}&min=1"),
        format!("sketch-diff?lemma={a}&other={b}&min=1&filter={filter}"),
        format!("thesaurus?lemma={a}&min=1&filter={filter}"),
        format!("group?q={a}&by=lc,right1,right2,id&limit=10000"),
        format!("group?q=%5B%5D&by=word,left1,date&limit=10000&filter={filter}"),
        format!("dispersion?q={a}&parts=1000"),
        format!("dispersion?q={a}&parts=1000&filter={filter}"),
        format!("query?q={a}&with={b}&window=1"),
        format!("count?q=MU(meet%20%22{a}%22%20%22{b}%22%201%201)&filter={filter}"),
        format!("count?q=%22{a}%22%20(%3F%3D%20%22{b}%22)&filter={filter}"),
        format!("count?q=%22{a}%22%20expand%20right%20to%201&filter={filter}"),
        format!("colloc?q={a}&min=1&left=1&right=0&{all}"),
        format!("colloc?q={a}&min=1&positions=true&pos=NOUN&{all}"),
        format!("colloc?q=%5B%5D&min=1&left=3&right=3&positions=true&{all}&filter={filter}"),
        format!("colloc?q={a}&min=1&sentence=true&{all}&filter={filter}"),
        format!("freq?q={a}&by=id&limit=10000"),
        format!("freq?q={a}&by=date&limit=10000"),
        format!("freq?q={a}&by=url&limit=10000"),
        format!("freq?q=%5B%5D&by=word&limit=10000&filter={filter}"),
        format!("freq?q=%5B%5D%5B%5D&by=word&limit=10000"),
        format!("timeline?q={a}&by=day"),
        format!("timeline?q={a}&by=day&documents=true"),
        format!("freq?q={a}&by=site&documents=true"),
        format!("freq?q={a}&by=word&documents=true"),
        format!("crosstab?q={a},%5B%5D&by=site,day&limit=10000"),
        format!("timeline?q={a}&by=week&filter={not}"),
        format!("query?q={b}&sort=site&size=100"),
        format!("query?q={b}&sort=right&size=100"),
        format!("query?q={a}&size=1000&fields=id,url"),
        format!("query?q={a}&sample=20&seed=3"),
        format!("query?q={a}&format=jsonl"),
        format!("query?q={a}&count=false&cursor=1-5"),
        format!("documents?filter={filter}&fields=site,availability"),
        format!("words?{all}&as_of=before"),
        format!("words?{all}&filter={filter}&as_of=before"),
        format!("query?q={a}&size=1000&as_of=before"),
        format!("documents?q={a}&size=1000&as_of=before"),
        format!("documents/{}?q={a}&as_of=before", target.id),
        format!("timeline?q={a}&by=day&as_of=before"),
        format!("count?q={a}&filter={}", escaped("seen<=2026-01-05")),
        format!("count?q={a}&filter={}", escaped("date<=2026-01-05 | date>=2026-02-07")),
    ];
    let queries = [
        format!("\"{a}\" \"{b}\""),
        format!("<s> \"{a}\""),
        format!("\"{a}\" </doc>"),
        format!("(\"{a}\" | \"{b}\"){{2}}"),
        "a:[] []{0,5} b:[] :: a.word = b.word".to_owned(),
        "[word=\"k.*\"] []{3} [word=\"s.*\"]".to_owned(),
        format!("\"{a}\" within <s/> containing \"{b}\""),
        format!("[word=\"{a}\"] within <doc site=\"{}\"/>", target.site),
        format!("!\"{a}\" \"{b}\""),
    ];
    probes.extend(queries.iter().map(|query| format!("count?q={}", escaped(query))));
    probes.extend(queries.iter().map(|query| format!("freq?q={}&by=word&filter={filter}", escaped(query))));
    probes
}

/// Paths of the protocols of other tools, each of which must be answered.
const TOOL_PATHS: &[&str] = &[
    "/fcs",
    "/bonito/run.cgi/view",
    "/bonito/run.cgi/first",
    "/bonito/run.cgi/wordlist",
    "/bonito/run.cgi/freqs",
    "/bonito/run.cgi/collx",
    "/korap/en/api/v1.0/search",
    "/korap/en/api/v1.0/statistics",
];

/// Requests by the protocols of other tools, which put questions of their own together.
fn requests_of_tools(target: &Target, words: &[String]) -> Vec<String> {
    let (a, b) = (&words[0], &words[1]);
    let within = |query: &str| escaped(&format!("q{query} within <doc id=\"{}\"/>", target.id));
    let mut requests = Vec::new();
    for query in [a.clone(), format!("\"{a} {b}\""), format!("{a} OR {b}")] {
        requests.push(format!("/fcs?query={}&maximumRecords=1000", escaped(&query)));
    }
    let advanced = escaped(&format!("[word=\"{a}\"] []{{0,3}} [lemma=\"{b}\"]"));
    requests.push(format!("/fcs?queryType=fcs&query={advanced}&maximumRecords=1000&startRecord=1"));
    for query in ["[]".to_owned(), format!("\"{a}\""), format!("\"{a}\" \"{b}\""), format!("<s> \"{a}\"")] {
        let q = within(&query);
        let all = "cminfreq=1&cminbgr=1&cmaxitems=10000";
        requests.push(format!("/bonito/run.cgi/view?corpname=en&q={q}&pagesize=1000&kwicleftctx=-40&kwicrightctx=40"));
        requests.push(format!("/bonito/run.cgi/first?corpname=en&queryselector=cqlrow&cql={}", &q["q".len()..]));
        requests.push(format!("/bonito/run.cgi/view?corpname=en&q={q}&q=P-5%205%201%20%22{b}%22"));
        requests.push(format!("/bonito/run.cgi/collx?corpname=en&q={q}&cattr=word&cfromw=-50&ctow=50&{all}"));
        for criterion in ["word/%200~0%3E0", "word/%20-1%3C0", "doc.id%200", "doc.date%200"] {
            requests.push(format!("/bonito/run.cgi/freqs?corpname=en&q={q}&fcrit={criterion}&flimit=0"));
        }
        let selected = escaped(&format!("site = {} & id = {}", target.site, target.id));
        for (definition, count) in [(selected, 50), (escaped(&format!("id != {}", target.id)), 0)] {
            let q = escaped(&query);
            requests.push(format!("/korap/en/api/v1.0/search?q={q}&cq={definition}&count={count}&context=20-t,20-t"));
            requests.push(format!("/korap/en/api/v1.0/statistics?cq={definition}"));
        }
    }
    for attribute in ["word", "lemma", "tag"] {
        requests.push(format!("/bonito/run.cgi/wordlist?corpname=en&wlattr={attribute}&wlminfreq=1&wlmaxitems=10000"));
    }
    requests
}

/// Requests to every question there is, so that a new one is attacked as soon as it exists: the lowest thresholds and the
/// longest answers, over one document or all others, and one parameter after the other at each kind of value.
fn requests_to_every_question(target: &Target, words: &[String]) -> Vec<String> {
    let mut requests = Vec::new();
    for question in QUESTIONS {
        let parameters = (question.parameters)();
        let mut base: BTreeMap<&str, String> = BTreeMap::new();
        for parameter in &parameters {
            let value = match &parameter.kind {
                ParameterKind::Integer(range) if parameter.name.starts_with("min") => Some(range.start().to_string()),
                ParameterKind::Integer(range) if parameter.name == "limit" => Some(range.end().to_string()),
                ParameterKind::Number(range) if ["fdr", "effect"].contains(&parameter.name.as_str()) => {
                    Some(range.end().to_string())
                }
                _ if parameter.name == "id" => Some(target.id.clone()),
                _ if parameter.required => values_of(parameter, target, words).into_iter().next(),
                _ => None,
            };
            value.into_iter().for_each(|value| drop(base.insert(parameter.name.as_str(), value)));
        }
        let mut push = |values: &BTreeMap<&str, String>| {
            let mut values = values.clone();
            let path = match values.remove("id") {
                Some(id) => question.path.replace("{id}", &id),
                None => question.path.to_owned(),
            };
            let values = values.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
            requests.push(format!("{path}?{}", values.collect::<Vec<_>>().join("&")));
        };
        push(&base);
        let has_filter = parameters.iter().any(|parameter| parameter.name == "filter");
        for filter in [format!("id={}", target.id), format!("id!={}", target.id)] {
            let mut base = base.clone();
            if has_filter {
                base.insert("filter", filter);
                push(&base);
            }
            for parameter in parameters.iter().filter(|parameter| !["id", "filter"].contains(&parameter.name.as_str()))
            {
                for value in values_of(parameter, target, words) {
                    let mut values = base.clone();
                    values.insert(&parameter.name, value);
                    push(&values);
                }
            }
        }
    }
    requests
}

/// Values of each kind that a parameter takes.
fn values_of(parameter: &Parameter, target: &Target, words: &[String]) -> Vec<String> {
    let (a, b) = (&words[0], &words[1]);
    match &parameter.kind {
        ParameterKind::Text if parameter.name == "to" => vec!["de".to_owned()],
        ParameterKind::Text => [a.as_str(), "2026-01", "week"].map(str::to_owned).to_vec(),
        ParameterKind::Cql => vec![a.clone(), format!("\"{a}\" []{{0,3}} \"{b}\""), "<doc> []{3}".to_owned()],
        ParameterKind::Queries => vec![format!("{a},{b}"), format!("[],\"{a} {b}\"")],
        ParameterKind::Filter => vec![format!("id={}", target.id), format!("site={} id!={}", target.site, target.id)],
        ParameterKind::Date => ["2026-01-05", "2026-02-07"].map(str::to_owned).to_vec(),
        ParameterKind::Attribute => ["word", "lc", "lemma", "tag"].map(str::to_owned).to_vec(),
        ParameterKind::Integer(range) => vec![range.start().to_string(), (*range.end()).min(1000).to_string()],
        ParameterKind::Number(range) => vec![range.start().to_string(), range.end().to_string()],
        ParameterKind::Flag => ["true", "false"].map(str::to_owned).to_vec(),
        ParameterKind::Names => ["site", "id", "day", "word,right1", "site,day"].map(str::to_owned).to_vec(),
        ParameterKind::Choice { names, .. } => names.clone(),
    }
}

/// Runs all attacks within the budget; returns the targets with what was found.
fn attack(api: &Api<'_>) -> Vec<Target> {
    let (mut targets, words) = (targets(api), vocabulary());
    let mut numbers = Numbers(3);
    let counts = counts();
    for (number, target) in targets.iter_mut().enumerate() {
        collocates(api, target);
        shown(api, target);
        for (name, count) in &counts {
            for at in 0..3 {
                let at = at + 3 * (number % 5);
                for place in [format!("<doc> []{{{at}}} [TESTS]"), format!("[TESTS] []{{{}}} </doc>", TOKENS - 1 - at)]
                {
                    bisect(api, target, at, &place, &**count);
                }
            }
            let _ = name;
        }
        ngrams(api, target);
        let a = words[numbers.below(words.len())].clone();
        let b = words[numbers.below(words.len())].clone();
        let words = [a, b];
        probes(target, &words).iter().for_each(|probe| drop(api.body(probe)));
        // One document of each site.
        if number % HIDDEN == 0 {
            requests_to_every_question(target, &words).iter().for_each(|request| drop(api.body(request)));
            requests_of_tools(target, &words).iter().for_each(|request| drop(api.body(request)));
        }
    }
    // What is left of the budget goes to tokens that are not known yet.
    for target in &mut targets {
        for at in 0..target.tokens.len() {
            if target.tokens[at].is_none() {
                bisect(api, target, at, &format!("<doc> []{{{at}}} [TESTS]"), &*counts[0].1);
            }
        }
    }
    targets
}

#[test]
fn an_adversary_recovers_no_more_than_chance_from_hidden_documents() {
    let corpus = Corpus::new();
    recovers_no_more_than_chance(&corpus, &corpus.serve(), REQUESTS);
}

#[test]
fn an_adversary_recovers_no_more_than_chance_through_a_gateway() {
    let corpus = Corpus::new();
    let (gateway, _shards) = corpus.serve_in_shards();
    recovers_no_more_than_chance(&corpus, &gateway, REQUESTS / 2);
}

fn recovers_no_more_than_chance(corpus: &Corpus, server: &TestServer, requests: usize) {
    let targets = attack(&Api::new(vec![(server, String::new())], requests));
    assert_eq!(targets.len(), 2 * HIDDEN);
    let usual = &vocabulary()[0];
    let mut recovered = 0;
    for target in &targets {
        let truth = corpus.hidden().find(|(site, _, day, _)| target.is(site, day, server)).expect("a hidden document");
        let guess = target.tokens.iter().map(|token| token.as_ref().unwrap_or(usual));
        recovered += guess.zip(&truth.3).filter(|(guess, truth)| guess == truth).count();
    }
    let (chance, all) = (corpus.chance(), 2 * HIDDEN * TOKENS);
    assert!(recovered <= chance, "{recovered} of {all} tokens recovered; word frequencies alone give {chance}");
}

impl Target {
    /// Returns true if the target is the document of a site and a day.
    fn is(&self, site: &str, day: &str, server: &TestServer) -> bool {
        let row = server.get(&format!("/api/v1/en/documents/{}", self.id)).json();
        self.site == site && row["date"] == day
    }
}

#[test]
fn answers_do_not_depend_on_the_order_of_hidden_words_or_on_the_document_they_are_in() {
    let corpus = Corpus::new();
    are_the_same([&corpus.serve(), &corpus.twin().serve()], REQUESTS, &[]);
}

#[test]
fn answers_of_a_gateway_do_not_depend_on_the_order_of_hidden_words_or_on_the_document_they_are_in() {
    let corpus = Corpus::new();
    let ((one, _shards), (twin, _twins)) = (corpus.serve_in_shards(), corpus.twin().serve_in_shards());
    are_the_same([&one, &twin], REQUESTS / 4, gateway::ONE_INDEX_ONLY);
}

/// Compares the answers of two servers to all questions but those that they refuse.
fn are_the_same(servers: [&TestServer; 2], requests: usize, refused: &[&str]) {
    let visitor = Api::new(servers.map(|server| (server, String::new())).to_vec(), requests);
    let tokens = servers.map(|server| token(server, Scope::Text, 1));
    let reader = Api::new(servers.into_iter().zip(tokens).collect(), requests);
    for api in [visitor, reader] {
        attack(&api);
        let differences: BTreeSet<String> = api.differences.into_inner().into_iter().collect();
        let some: Vec<&String> = differences.iter().take(20).collect();
        assert!(differences.is_empty(), "{} answers differ, such as {some:?}", differences.len());
        let answered = api.answered.into_inner();
        let was_answered = |path: &str| {
            let (before, after) = path.split_once("{id}").unwrap_or((path, ""));
            answered.iter().any(|known| match path.contains('{') {
                true => known.starts_with(before) && known.ends_with(after) && known.len() > before.len() + after.len(),
                false => known == path,
            })
        };
        for question in QUESTIONS.iter().filter(|question| !refused.contains(&question.name)) {
            assert!(was_answered(question.path), "no request to {} was answered: {answered:?}", question.name);
        }
        for path in TOOL_PATHS {
            assert!(was_answered(path), "no request to {path} was answered: {answered:?}");
        }
    }
}
