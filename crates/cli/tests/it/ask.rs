//! Questions to the corpus, from the command line.

use std::fmt::Write as _;

use tidings_model::Page;

use crate::clean::{corpus, page, put};
use crate::serve::Server;
use crate::support::{Corpus, Ran};

/// A page of a site, published on a day, with its own text.
pub fn article(number: usize, site: &str, day: &str, text: &str) -> Page {
    let body = format!(
        "<html lang=en><head><meta charset=utf-8><title>News</title>\
         <meta property='article:published_time' content='{day}T08:00:00Z'></head><body><article><h1>News of the day</h1>\
         <p>{text} It was a quiet morning in the town, and nobody expected anything of it. The bakery on the corner \
         opened at six, as it does every day, and sold its last loaf before noon.</p></article></body></html>"
    );
    let url = format!("http://{site}/{number}");
    let downloaded = "2026-07-01T12:00:00.000Z".into();
    Page { url: url.clone(), final_url: url, downloaded, ..page(number, body.as_bytes(), "text/html; charset=utf-8") }
}

/// Six months of three sites; the storm grows, and in June a word is new.
pub fn weather() -> Corpus {
    let corpus = corpus();
    let mut pages = Vec::new();
    for month in 1..=6 {
        for day in 1..=12 {
            for (place, site) in ["a.example", "b.example", "c.example"].into_iter().enumerate() {
                let mut text = String::new();
                if day <= 2 * month {
                    text.push_str("The storm came from the sea. ");
                }
                if month == 6 {
                    let _ = write!(text, "Then the heatdome arrived over the {site} hills. ");
                }
                let number = month * 1000 + day * 10 + place;
                pages.push(article(number, site, &format!("2026-{month:02}-{:02}", day * 2), &text));
            }
        }
    }
    put(&corpus, "2026-07-01", "a.0", &pages);
    for stage in ["clean", "annotate", "compile"] {
        corpus.run(stage).ok();
    }
    corpus
}

/// Runs the program with words split by a shell.
fn ask(corpus: &Corpus, words: &str) -> Ran {
    corpus.shell(&format!("exec \"$T\" {words}"))
}

#[test]
fn queries_run_from_the_command_line() {
    let corpus = weather();
    // On 3 sites, on 2 + 4 + … + 12 days.
    let storms = 3 * 2 * 21;
    ask(&corpus, "query storm --limit 3").ok().says(&format!("{storms} hits, ")).says("came from the sea");
    let found = ask(&corpus, "--json query storm --limit 2 --oldest").ok().json();
    assert_eq!((found["hits"].as_u64(), found["lines"].as_array().unwrap().len()), (Some(storms), 2));
    assert_eq!(found["lines"][0]["fields"]["date"], "2026-01-02");
    assert_eq!(
        ask(&corpus, "--json query storm --sample 5 --seed 9").ok().json()["about"]["exactness"]["of_hits"],
        storms
    );
    ask(&corpus, "query storm --sort left --limit 2").ok().says("storm");
    ask(&corpus, "query storm --explain").ok().says("list");
    ask(&corpus, "query storm --count --filter site=a.example").ok().says(&format!("{} hits", storms / 3));
    ask(&corpus, "query '[word=\"st.*\"] within <doc date=\"2026-02\"/>' --count").ok().says("12 hits");

    let by_site = ask(&corpus, "--json freq storm --by site").ok().json();
    assert_eq!(by_site["rows"][0]["hits"], storms / 3);
    ask(&corpus, "colloc storm --min 10").ok().says("sea");
    // The storm came from the sea.
    let places = ask(&corpus, "--json colloc storm --left 1 --right 4 --positions --all-words").ok().json();
    let rows = places["rows"].as_array().unwrap();
    let from = rows.iter().find(|row| row["value"] == "from").unwrap();
    assert_eq!(from["positions"], serde_json::json!([0, 0, storms, 0, 0]));
    ask(&corpus, "colloc storm --left 1 --right 4 --positions").ok().says("+3");
    ask(&corpus, "colloc storm --sentence --positions").exits(2).says("not in sentences");
    ask(&corpus, "words \"hea.*\" --csv").ok().says("heatdome,36,36,");
    ask(&corpus, "words --ngram 2 --limit 500").ok().says("the storm");
    ask(&corpus, "keywords date=2026-06 --against 'date<2026-06'").ok().says("heatdome");
    ask(&corpus, "keywords date=2026-06 --ngram 2 --min 3").ok().says("heatdome arrive ");

    let timeline = ask(&corpus, "--json timeline storm --by month").ok().json();
    let hits: Vec<u64> = timeline["points"].as_array().unwrap().iter().map(|p| p["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [6, 12, 18, 24, 30, 36]);
    ask(&corpus, "timeline storm --by month").ok().says("2026-06").says("█");
    ask(&corpus, "timeline storm heatdome --by month").ok().says("of 2 queries").says("heatdome  2026-06");
    let several = ask(&corpus, "--json timeline storm heatdome --by month").ok().json();
    assert_eq!(several["points"].as_array().unwrap().len(), 12);
    assert_eq!(several, ask(&corpus, "--json timeline storm,heatdome --by month").ok().json());
    assert!(ask(&corpus, "timeline storm heatdome --csv").ok().stdout.starts_with("bin,query,hits,"));
    ask(&corpus, "timeline storm --by month --panel").ok().says("on sites that were there all the time");
    ask(&corpus, "keywords date=2026-06 --against date=2026-05 --panel").ok().says("heatdome");
    ask(&corpus, "timeline storm --by week").ok().says("(nothing collected)");
    ask(&corpus, "trends --by month --rising").ok().says("storm");
    assert!(!ask(&corpus, "trends --by month --falling").ok().stdout.contains("storm"));
    ask(&corpus, "trends --by month --panel").ok().says("storm");
    ask(&corpus, "new-words --since 2026-06-01").ok().says("heatdome").says("2026-06-02");

    // Documents with a hit are a subcorpus of every question, and can be saved and exported.
    ask(&corpus, "corpus save stormy \"has('storm') date>=2026-05\"").ok();
    ask(&corpus, "query heatdome --in stormy --count").ok().says("36 hits");
    assert_eq!(ask(&corpus, "--json documents --in stormy").ok().json()["documents"], 30 + 36);
    assert_eq!(ask(&corpus, "--json documents --filter \"!has('storm')\"").ok().json()["documents"], 216 - storms);
    let exported = ask(&corpus, "export --in stormy --format jsonl -").ok().stdout;
    assert_eq!(exported.lines().count(), 30 + 36, "{exported}");
    ask(&corpus, "corpus remove stormy").ok();
    ask(&corpus, "query storm --filter \"has('[lemma=')\"").exits(2).says("in the query of has(…)");
    ask(&corpus, "query 'storm within <doc has(\"sea\")/>'").exits(2).says("a condition of filters");

    ask(&corpus, "corpus save spring \"date>=2026-03 date<=2026-05\"").ok();
    ask(&corpus, "query storm --in spring --count").ok().says("72 hits");
    ask(&corpus, "corpus list").ok().says("spring");
    ask(&corpus, "corpus remove spring").ok();
    ask(&corpus, "query storm --in spring").exits(1).says("no virtual corpora yet");
}

#[test]
fn an_answer_that_is_cut_off_exits_with_3_and_shows_no_zeros() {
    let corpus = weather();
    let cut = ask(&corpus, "timeline '[] [lc=\"the\"]' --by month --time-limit 0.000001").exits(3);
    assert!(cut.stderr.contains("cut off after 0.000001 s: 0 of "), "{}", cut.stderr);
    assert!(cut.stdout.contains("(not searched)") && cut.stdout.contains("at least 0 hits"), "{}", cut.stdout);
    let count = ask(&corpus, "count '[] [lc=\"the\"]' --time-limit 0").exits(3);
    assert!(count.stdout.contains("at least 0"), "{}", count.stdout);
    let json = ask(&corpus, "--json timeline '[] [lc=\"the\"]' --by month --time-limit 0.000001").exits(3).json();
    assert_eq!(json["about"]["exactness"]["kind"], "cut-off");
    assert!(json["points"].as_array().unwrap().iter().all(|p| p["hits"].is_null() && p["per_million"].is_null()));
    for words in [
        "query '[] storm'",
        "count '[] storm'",
        "freq '[] storm' --csv",
        "colloc '[] storm'",
        "words",
        "words --ngram 2",
        "trends",
        "seasons",
        "steps",
        "bursts",
        "new-words --since 2026-06-01",
        "keywords date=2026-06",
        "compare date=2026-05 date=2026-06",
    ] {
        let cut = ask(&corpus, &format!("{words} --time-limit 0")).exits(3);
        // The limit is looked at after a document at the earliest.
        assert!(cut.stderr.contains("cut off after 0 s: "), "{words}: {}", cut.stderr);
        assert!(cut.stderr.contains(" tokens seen"), "{words}: {}", cut.stderr);
    }
}

#[test]
fn unknown_names_in_questions_are_errors_with_suggestions() {
    let corpus = weather();
    for (words, message) in [
        ("documents --filter foo=bar", "unknown field foo"),
        ("compare date=2026-06 dat=2026-05", "did you mean date?"),
        ("freq storm --by colour", "unknown attribute or field"),
        ("query storm --sort lft", "did you mean left?"),
        ("query storm --fields titel", "did you mean title?"),
        ("query storm --show colour", "unknown attribute"),
        ("freq storm --by colour.name", "unknown attribute or field"),
        ("count '<colour/>'", "no document of this corpus has spans <colour> (there are s, p, doc"),
        ("query storm --show Colour", "unknown attribute"),
        ("count 'MU(meet \"a\" \"b\")'", "expected the window of meet"),
        ("count \"'storm'\"", "double quotes"),
    ] {
        let refused = ask(&corpus, words);
        assert!(refused.stderr.contains(message), "{words}: {}", refused.stderr);
        assert!(refused.stdout.is_empty(), "{words}: {}", refused.stdout);
    }
    ask(&corpus, "count storm --filter site=nowhere.example").ok();
}

/// The body of a response with chunked transfer coding.
fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("chunks begin with their size");
        body.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}

#[test]
fn the_command_line_and_the_api_give_the_same_answers() {
    let corpus = weather();
    let server = Server::start(&corpus, "");
    let questions = [
        ("query storm --limit 2 --sort left", "query?q=storm&size=2&sort=left"),
        ("count storm --filter site=a.example", "count?q=storm&filter=site%3Da.example"),
        ("freq storm --by site", "freq?q=storm&by=site"),
        ("colloc storm --measure ll", "colloc?q=storm&measure=log-likelihood"),
        ("words 'hea.*'", "words?regex=hea.*"),
        ("words --ngram 2", "words?ngram=2"),
        ("keywords date=2026-06 --measure chi-square", "keywords?focus=date%3D2026-06&measure=chi2"),
        ("compare 'date<=2026-02' 'date>=2026-05'", "compare?before=date%3C%3D2026-02&after=date%3E%3D2026-05"),
        ("timeline storm --by 10days", "timeline?q=storm&by=ten_days"),
        ("trends --by month --min 10 --rising", "trends?by=month&min=10&direction=rising"),
        ("seasons --by week", "seasons?by=week"),
        ("steps --by day --min 5 --fdr 1", "steps?by=day&min=5&fdr=1"),
        ("bursts --by month", "bursts?by=month"),
        ("trends --bursts --by month", "bursts?by=month"),
        ("new-words --since 2026-06-01", "new-words?since=2026-06-01"),
        ("freq storm --by site --documents", "freq?q=storm&by=site&documents=true"),
        ("timeline storm --by month --documents", "timeline?q=storm&by=month&documents=true"),
        ("crosstab storm,rain --by site,month", "crosstab?q=storm,rain&by=site,month"),
        ("keywords date=2026-06 --unit documents", "keywords?focus=date%3D2026-06&unit=documents"),
        ("neologisms --since 2026-06-01 --status all", "neologisms?since=2026-06-01&status=all"),
        ("documents --limit 2 --order oldest", "documents?size=2&order=oldest"),
    ];
    let digest = ask(&corpus, "--json digest --lang en").ok().json()["digest"].clone();
    assert!(digest.is_string());
    for (command, path) in questions {
        let mut over_http = server.json(&format!("/api/v1/en/{path}"), None);
        over_http.as_object_mut().unwrap().remove("link");
        let mut printed = ask(&corpus, &format!("--json {command}")).ok().json();
        let provenance = printed.as_object_mut().unwrap().remove("provenance").unwrap();
        assert_eq!(provenance["digest"], digest, "{command}");
        assert!(provenance["program"].as_str().unwrap().starts_with("tidings "), "{command}");
        assert_eq!(printed, over_http, "{command}");
        // Tables of both are the same bytes: names of columns, order, and numbers without rounding or separators.
        if !path.starts_with("count") {
            let (_, _, csv) = server.get(&format!("/api/v1/en/{path}&format=csv"), None);
            assert_eq!(ask(&corpus, &format!("{command} --csv")).ok().stdout, unchunked(&csv), "{command}");
        }
    }
    ask(&corpus, "count storm").ok().says("126");
    ask(&corpus, "documents --limit 2").ok().says("availability").says("c.example");
    ask(&corpus, "compare 'date<=2026-02' 'date>=2026-05' --csv").ok().says("value,before,after,before_documents");
}

#[test]
fn invalid_queries_are_explained() {
    let corpus = corpus();
    ask(&corpus, "query storm").exits(1).says("no index yet");
    let corpus = weather();
    ask(&corpus, "query '[lema=\"x\"]'").exits(2).says("did you mean lemma?").says("^^^^");
    ask(&corpus, "query '[word=\"(\"]'").exits(2).says("invalid query");
    ask(&corpus, "query storm --filter \"date>=\"").exits(2).says("invalid filter");
    ask(&corpus, "query storm --lang xx").exits(2).says("available: en");
    ask(&corpus, "timeline storm --by fortnight").exits(2).says("half-year");
    ask(&corpus, "new-words --since 2020-01-01").exits(2).says("everything would be new");
    ask(&corpus, "corpus save \"a/b\" site=x").exits(2).says("invalid corpus name");
    ask(&corpus, "query storm --filter sitee=a.example").exits(2).says("did you mean site?");
    ask(&corpus, "freq storm --by sitee").exits(2).says("did you mean site?");
    ask(&corpus, "revisions --since soon").exits(2).says("is not a day");
    ask(&corpus, "query zzz").ok().says("0 hits");
}

#[test]
fn hits_and_errors_are_coloured_if_the_output_wants_it() {
    let corpus = weather();
    let plain = ask(&corpus, "query storm --limit 1").ok();
    assert!(!plain.stdout.contains('\u{1b}'), "a file is no terminal: {}", plain.stdout);
    let forced = corpus.shell("CLICOLOR_FORCE=1 exec \"$T\" query storm --limit 1").ok();
    assert!(forced.stdout.contains("\u{1b}[1;31mstorm\u{1b}[0m"), "{:?}", forced.stdout);
    let csv = corpus.shell("CLICOLOR_FORCE=1 exec \"$T\" query storm --limit 1 --csv").ok();
    assert!(!csv.stdout.contains('\u{1b}'), "CSV is data: {:?}", csv.stdout);
    let failed = corpus.shell("CLICOLOR_FORCE=1 exec \"$T\" query '[lema=\"x\"]'").exits(2);
    assert!(failed.stderr.contains("\u{1b}[1;31merror:\u{1b}[0m"), "{:?}", failed.stderr);
    let without = corpus.shell("NO_COLOR=1 CLICOLOR_FORCE=1 exec \"$T\" query '[lema=\"x\"]'").exits(2);
    assert!(without.stderr.contains("error: ") && !without.stderr.contains('\u{1b}'), "{:?}", without.stderr);
}

#[test]
fn a_frozen_state_is_asked_from_the_command_line_and_over_http() {
    let corpus = weather();
    let server = Server::start(&corpus, "");
    let frozen = ask(&corpus, "corpus freeze spring").ok();
    assert!(frozen.stdout.contains("froze en state") && frozen.stdout.contains("checksum "), "{frozen:?}");
    let questions = ["count storm", "timeline storm --by month", "words --limit 5"];
    let cited = questions.map(|question| ask(&corpus, &format!("--json {question} --as-of spring")).ok().json());
    let before = questions.map(|question| ask(&corpus, &format!("--json {question}")).ok().json());
    assert_eq!(cited[0]["provenance"], before[0]["provenance"], "the checksum is that of the text then");
    assert_eq!(cited[0]["hits"], before[0]["hits"]);
    let over_http = server.json("/api/v1/en/count?q=storm&as_of=spring", None);
    assert_eq!((&over_http["hits"], &over_http["about"]), (&cited[0]["hits"], &cited[0]["about"]));
    // A protocol of another tool is off unless the settings name it.
    assert_eq!(server.get("/fcs", None).0, 404);
    let shown = ask(&corpus, "count storm --as-of spring").ok().stdout;
    assert!(shown.contains("as spring"), "{shown}");
    assert!(ask(&corpus, "corpus states").ok().stdout.contains("spring"));
    assert!(ask(&corpus, "status").stdout.contains("1 state, with files that only they have: spring"));
    let wrong = ask(&corpus, "count storm --as-of autumn").exits(2);
    assert!(wrong.stderr.contains("there are spring"), "{wrong:?}");
    assert!(ask(&corpus, "corpus unfreeze spring").ok().stdout.contains("deleted the frozen state spring"));
    ask(&corpus, "count storm --as-of spring").exits(2);
}
