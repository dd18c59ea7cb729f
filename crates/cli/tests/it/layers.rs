//! Lemmas and parts of speech: annotated by a tool and used in all queries.

use std::fs;

use crate::ask::weather;
use crate::serve::Server;
use crate::support::{Corpus, Ran};

/// A tagger of ten words with a default.
const TAGGER: &str = r#"
    BEGIN {
        FS = OFS = "\t"
        split("the/the/DET The/the/DET storm/storm/NOUN came/come/VERB from/from/ADP sea/sea/NOUN heatdome/heatdome/NOUN " \
            "arrived/arrive/VERB quiet/quiet/ADJ morning/morning/NOUN bakery/bakery/NOUN", rows, " ")
        for (row in rows) { split(rows[row], parts, "/"); lemma[parts[1]] = parts[2]; tag[parts[1]] = parts[3] }
    }
    /^<.+>$/ { print; fflush(); next }
    $1 in lemma { print $1, lemma[$1], tag[$1]; fflush(); next }
    { print $1, $1, "X"; fflush() }
"#;

/// The corpus of the weather, with tags.
fn tagged_weather() -> Corpus {
    let corpus = weather();
    fs::write(corpus.beside("tagger.awk"), TAGGER).unwrap();
    let settings = corpus.home().join("tidings.toml");
    let table = format!(
        "{}\n[annotate.external.en]\ncommand = ['awk', '-f', '{}']\nmode = 'batch'\nversion = 'ten words 1'\n",
        fs::read_to_string(&settings).unwrap(),
        corpus.beside("tagger.awk").display()
    );
    fs::write(settings, table).unwrap();
    corpus.run("annotate").ok().says("216 documents annotated");
    corpus.run("compile").ok();
    corpus
}

/// Runs the program with words split by a shell.
fn ask(corpus: &Corpus, words: &str) -> Ran {
    corpus.shell(&format!("exec \"$T\" {words}"))
}

#[test]
fn lemmas_and_tags_can_be_queried_by_every_verb() {
    let corpus = tagged_weather();
    let storms = 3 * 2 * 21;
    ask(&corpus, "corpus languages").ok().says("external ten words 1 ");
    ask(&corpus, "query '[lemma=\"come\" & pos=\"VERB\"]' --count").ok().says(&format!("{storms} hits"));
    ask(&corpus, "query '[pos=\"NOUN\"] [pos=\"VERB\"]' --count").ok().says(&format!("{} hits", storms + 36));
    ask(&corpus, "query '[lemma=\"come\"]' --show word,lemma,tag --size 1")
        .ok()
        .says("storm/storm/NOUN  came/come/VERB");
    let by_lemma = ask(&corpus, "--json freq '[pos=\"VERB\"]' --by lemma").ok().json();
    let rows: Vec<(&str, u64)> = by_lemma["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["value"].as_str().unwrap(), row["hits"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [("come", storms), ("arrive", 36)]);
    ask(&corpus, "freq '[lemma=\"storm\"]' --by tag").ok().says("NOUN");
    ask(&corpus, "words come --attribute lemma --csv").ok().says(&format!("come,{storms},"));
    ask(&corpus, "words VERB --attribute tag --csv").ok().says(&format!("VERB,{},", storms + 36));
    ask(&corpus, "words --ngram 2 --attribute lemma --limit 500").ok().says("storm come");
    ask(&corpus, "colloc storm --attribute lemma").ok().says("come");
    ask(&corpus, "keywords date=2026-06 --against 'date<2026-06' --attribute lemma").ok().says("arrive");
    ask(&corpus, "timeline '[lemma=\"come\"]' --by month").ok().says("2026-06");
    ask(&corpus, "trends --by month --rising --attribute lemma").ok().says("come");
    ask(&corpus, "new-words --since 2026-06-01 --attribute lemma").ok().says("heatdome");
}

#[test]
fn a_sketch_has_queries_for_its_hits_on_the_command_line_and_in_the_api() {
    let corpus = tagged_weather();
    let storms = 3 * 2 * 21;
    ask(&corpus, "sketch storm").ok().says("verbs with storm as subject (126)").says("come");
    ask(&corpus, "sketch come --examples").ok().says("subjects of come").says("The storm came from the sea.");
    ask(&corpus, "sketch come --csv").ok().says("come from …,sea,126,126,14.0,");
    let sketch = ask(&corpus, "--json sketch storm").ok().json();
    let row = &sketch["rows"][0];
    assert_eq!((row["value"].as_str(), row["together"].as_u64()), (Some("come"), Some(storms)));
    let query = row["query"].as_str().unwrap();
    ask(&corpus, &format!("query '{query}' --count")).ok().says(&format!("{storms} hits"));
    ask(&corpus, "sketch came").exits(1).says("it is a form of come");
    ask(&corpus, "sketch zzz").exits(1).says("there is no lemma “zzz”");
    ask(&corpus, "sketch storm --pos VERB").exits(1).says("is no VERB here; it is NOUN");

    let server = Server::start(&corpus, "");
    let same = server.json("/api/v1/en/sketch?lemma=storm", None);
    assert_eq!((&same["rows"][0]["value"], &same["rows"][0]["query"]), (&row["value"], &row["query"]));
    assert_eq!((&same["tags"], &same["hits"]), (&sketch["tags"], &sketch["hits"]));
    let csv = server.get("/api/v1/en/sketch?lemma=come&format=csv", None).2;
    assert!(csv.contains("relation,value,together,anywhere,score,query") && csv.contains("come from"), "{csv}");
    let corpora = server.json("/api/v1/corpora", None);
    let layer = corpora["corpora"][0]["layers"][0]["by"].as_str().unwrap();
    assert!(layer.starts_with("external ten words 1 "), "{layer}");
    let words = server.json("/api/v1/en/words?attribute=lemma&regex=come", None);
    assert_eq!(words["rows"][0]["hits"], storms);
    let lines = server.json("/api/v1/en/query?q=%5Bpos%3D%22VERB%22%5D&size=1", None);
    assert_eq!(lines["lines"][0]["node"][0]["tag"], "VERB");
}
