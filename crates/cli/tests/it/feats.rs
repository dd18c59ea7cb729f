//! Morphological features: imported with a treebank or from a tool, queried and exported.

use std::fs;
use std::path::Path;

use crate::clean::corpus;
use crate::serve::Server;
use crate::support::{Corpus, Ran, unpacked};

/// Two German sentences of a treebank, with unordered features and an invalid one.
const TREEBANK: &str = "# newdoc id = d1
# newpar
# sent_id = 1
1\tDie\tder\tDET\t_\tNumber=Plur|Definite=Def|Case=Nom\t_\t_\t_\t_
2\talten\talt\tADJ\t_\tCase=Nom|Degree=Pos|Number=Plur\t_\t_\t_\t_
3\tHäuser\tHaus\tNOUN\t_\tCase=Nom|Gender=Neut|Number=Plur\t_\t_\t_\t_
4\tstehen\tstehen\tVERB\t_\tMood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin\t_\t_\t_\t_
5-6\tam\t_\t_\t_\t_\t_\t_\t_\t_
5\tan\tan\tADP\t_\t_\t_\t_\t_\t_
6\tdem\tder\tDET\t_\tCase=Dat|Number=Sing\t_\t_\t_\t_
7\tUfer\tUfer\tNOUN\t_\tCase=Dat|Gender=Neut|Number=Sing\t_\t_\t_\tSpaceAfter=No
8\t.\t.\tPUNCT\t_\tsatzzeichen\t_\t_\t_\t_

# sent_id = 2
1\tFreunde\tFreund\tNOUN\t_\tCase=Acc,Nom|Gender=Masc|Number=Plur\t_\t_\t_\t_
2\tkommen\tkommen\tVERB\t_\tNumber=Plur|Person=3\t_\t_\t_\t_
3\theute\theute\tADV\t_\t_\t_\t_\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_

";

fn imported(corpus: &Corpus, file: &Path) {
    fs::write(corpus.home().join("tidings.toml"), "[annotate]\nduplicates = \"keep\"\n").unwrap();
    corpus.run(&format!("import {} --no-gate --date 2026-02-09 --language de", file.display())).ok();
    ["clean", "annotate", "compile"].iter().for_each(|verb| drop(corpus.run(verb).ok()));
}

/// Runs the program with words split by a shell.
fn ask(corpus: &Corpus, words: &str) -> Ran {
    corpus.shell(&format!("exec \"$T\" {words}"))
}

fn exported(corpus: &Corpus, format: &str, name: &str) -> String {
    let target = corpus.beside(name);
    corpus.run(&format!("export --format {format} --purpose research {}", target.display())).ok();
    fs::read_to_string(target).unwrap()
}

/// The lines about tokens.
fn rows(conllu: &str) -> Vec<&str> {
    conllu.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect()
}

#[test]
fn features_of_a_treebank_can_be_queried_and_exported() {
    let corpus = corpus();
    fs::write(corpus.beside("a.conllu"), TREEBANK).unwrap();
    imported(&corpus, &corpus.beside("a.conllu"));
    let text = unpacked(&corpus.home().join("text/de/2026-02-09.vert.zst"));
    assert!(text.contains("\nDie\tder\tDET\tCase=Nom|Definite=Def|Number=Plur\n"), "{text}");
    assert!(text.contains("\nam\tan+der\tADP+DET\t+Case=Dat|Number=Sing\n"), "{text}");
    assert!(text.contains("\n.\t.\tPUNCT\n") && !text.contains("satzzeichen"), "invalid features are omitted: {text}");

    for (query, hits) in [
        ("[Number=\"Plur\"]", 6),
        ("[pos=\"NOUN\" & Number!=\"Plur\"]", 1),
        ("[Number!=\"Plur\"]", 5),
        ("[Case=\"Nom\"]", 4),
        ("[Case=\"Gen|Dat\" & pos=\"NOUN\"]", 1),
        ("[Case=\"Dat\"]", 2),
        ("[Case=\".*\"]", 6),
        ("[feats=\"Case=Nom.*\"]", 3),
        ("[feats==\"Case=Dat|Gender=Neut|Number=Sing\"]", 1),
        ("[feats=\"\"]", 3),
        ("a:[pos=\"ADJ\"] b:[pos=\"NOUN\"] :: a.Case = b.Case & a.Number = b.Number", 1),
        ("a:[] b:[] :: a.Tense = b.Tense", 0),
    ] {
        let found = ask(&corpus, &format!("--json query '{query}' --count")).ok().json();
        assert_eq!(found["hits"], hits, "{query}");
    }
    ask(&corpus, "query '[Lemma=\"Haus\"]'").exits(2).says("did you mean lemma?");
    ask(&corpus, "query '[genus=\"Neut\"]'")
        .exits(2)
        .says("there are word, lc, lower, lemma, tag, pos, feats, and features");
    ask(&corpus, "query Häuser --show word,feats,Number").ok().says("Häuser/Case=Nom|Gender=Neut|Number=Plur/Plur");
    ask(&corpus, "freq '[pos=\"NOUN\"]' --by Case --csv").ok().says("Acc,Nom").says("Dat,1");
    ask(&corpus, "words --attribute Number --csv").ok().says("Plur,6").says("Sing,2");
    ask(&corpus, "words --attribute feats --csv --min 1").ok().says("Number=Plur|Person=3,1");
    ask(&corpus, "colloc Häuser --attribute Case --min 1").ok().says("Nom");
    ask(&corpus, "corpus languages").ok().says("word lc lemma tag feats");
    let known = ask(&corpus, "--json corpus languages").ok().json();
    assert_eq!(known[0]["features"]["Case"], serde_json::json!(["Acc", "Dat", "Nom"]));

    let conllu = exported(&corpus, "conllu", "back.conllu");
    let wanted: Vec<String> = rows(TREEBANK)
        .into_iter()
        .map(|row| row.replace("Number=Plur|Definite=Def|Case=Nom", "Case=Nom|Definite=Def|Number=Plur"))
        .collect();
    let wanted: Vec<String> = wanted
        .iter()
        .map(|row| row.replace("satzzeichen", "_").replace("5\tan\t", "5\t_\t").replace("6\tdem\t", "6\t_\t"))
        .collect();
    assert_eq!(rows(&conllu), wanted);
    let vertical = exported(&corpus, "vertical", "back.vert");
    assert!(vertical.contains("\nUfer\tUfer\tNOUN\tCase=Dat|Gender=Neut|Number=Sing\n"), "{vertical}");
    let registry = fs::read_to_string(corpus.beside("back.vert.registry")).unwrap();
    assert!(registry.contains("ATTRIBUTE feats {\n\tMULTIVALUE yes\n"), "{registry}");
    // A corpus of either is the same again.
    for name in ["back.conllu", "back.vert"] {
        let other = self::corpus();
        imported(&other, &corpus.beside(name));
        assert_eq!(rows(&exported(&other, "conllu", "again.conllu")), rows(&conllu), "{name}");
    }

    let server = Server::start(&corpus, "");
    let corpora = server.json("/api/v1/corpora", None);
    assert_eq!(corpora["corpora"][0]["attributes"][4], "feats");
    assert_eq!(corpora["corpora"][0]["features"]["Tense"][0], "Pres");
    let lines = server.json("/api/v1/de/query?q=%5BCase%3D%22Acc%22%5D", None);
    assert_eq!(lines["lines"][0]["node"][0]["feats"], "Case=Acc,Nom|Gender=Masc|Number=Plur");
    let counted = server.json("/api/v1/de/freq?q=%5Bpos%3D%22VERB%22%5D&by=Number", None);
    assert_eq!((&counted["rows"][0]["value"], &counted["rows"][0]["hits"]), (&"Plur".into(), &2.into()));
    let (status, _, body) = server.get("/api/v1/de/words?attribute=Number%5Bpsor%5D", None);
    assert!(status == 400 && body.contains("unknown attribute; there are Case"), "{body}");
    let (status, _, body) = server.get("/api/v1/de/words?attribute=number", None);
    assert!(status == 400 && body.contains("unknown attribute"), "{body}");
}

#[test]
fn features_of_a_tool_are_used_unless_disabled() {
    let corpus = corpus();
    fs::write(corpus.beside("a.txt"), "Häuser stehen.").unwrap();
    let tool = "[annotate.external.de]\nformat = 'conllu'\nmode = 'batch'\n\
        command = ['awk', 'BEGIN { FS = OFS = \"\\t\" } NF { $3 = \"l\"; $4 = \"NOUN\"; $6 = \"Number=Plur|Case=Nom\" } \
        $2 == \".\" { $6 = \"Sg\" } { print }']\n";
    fs::write(corpus.home().join("tidings.toml"), tool).unwrap();
    let tag = |more: &str| ask(&corpus, &format!("tag --lang de {more} <'{}'", corpus.beside("a.txt").display()));
    tag("")
        .ok()
        .says("1\tHäuser\tl\tNOUN\t_\tCase=Nom|Number=Plur\t_")
        .says("3\t.\tl\tNOUN\t_\t_\t_")
        .says("returned “Sg” instead of features such as Case=Gen|Number=Plur");
    fs::write(corpus.beside("a.txt"), "{\"id\":1,\"text\":\"Häuser.\"}\n").unwrap();
    tag("--jsonl")
        .ok()
        .says("\"upos\":\"NOUN\",\"feats\":\"Case=Nom|Number=Plur\",\"space\":false}")
        .says("\"upos\":\"NOUN\",\"space\":true}");
    fs::write(corpus.home().join("tidings.toml"), format!("[annotate]\nfeatures = false\n{tool}")).unwrap();
    let said = tag("--jsonl").ok();
    assert!(!said.stdout.contains("feats") && said.stdout.contains("NOUN"), "{}", said.stdout);
}
