//! `tidings tag`: plain text and streams of texts.

use std::fs;

use serde_json::{Value, json};

use crate::piped::{self, Finished};
use crate::support::program;

fn tag(args: &[&str], input: impl AsRef<[u8]>) -> Finished {
    let mut command = program();
    command.arg("tag").args(args).env_remove("TIDINGS_HOME");
    piped::run(command, input)
}

#[test]
fn text_is_printed_as_conllu() {
    let said = tag(&["--lang", "xx"], "Aa bb. Cc!\n\nDd\n");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let row = |number: u32, form: &str, misc: &str| {
        format!("{number}\t{form}\t{}\t_\t_\t_\t_\t_\t_\t{misc}\n", form.to_lowercase())
    };
    let wanted = [
        "# sent_id = 1\n# text = Aa bb.\n".to_owned(),
        row(1, "Aa", "_") + &row(2, "bb", "SpaceAfter=No") + &row(3, ".", "_"),
        "\n# sent_id = 2\n# text = Cc!\n".to_owned(),
        row(1, "Cc", "SpaceAfter=No") + &row(2, "!", "_"),
        "\n# sent_id = 3\n# text = Dd\n".to_owned(),
        row(1, "Dd", "_"),
        "\n".to_owned(),
    ];
    assert_eq!(said.stdout, wanted.concat());
}

#[test]
fn texts_are_processed_in_order_each_in_its_language() {
    let german = "Der Zug nach Wien fährt heute später ab, weil es in der Nacht geschneit hat.";
    let texts = [
        json!({ "id": 1, "lang": "xx", "text": "Aa bb." }),
        json!({ "id": "zwei", "text": german }),
        json!({ "id": null, "lang": "en", "text": "" }),
        json!({ "id": 4 }),
    ];
    let lines: Vec<String> = texts.iter().map(Value::to_string).collect();
    let said = tag(&["--jsonl"], lines.join("\n") + "\nnonsense\n");
    assert_eq!(said.code, 3, "{}", said.stderr);
    let got: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let word = |form: &str, space| json!({ "form": form, "lemma": form.to_lowercase(), "upos": "", "space": space });
    let sentence = json!([[word("Aa", true), word("bb", false), word(".", true)]]);
    assert_eq!(got[0], json!({ "id": 1, "lang": "xx", "sentences": sentence }));
    assert_eq!((&got[1]["id"], &got[1]["lang"]), (&json!("zwei"), &json!("de")));
    assert_eq!(got[1]["sentences"][0][1]["form"], "Zug");
    assert_eq!(got[2]["sentences"], json!([]));
    assert_eq!(got[3], json!({ "id": 4, "error": "text is missing" }));
    assert!(got[4]["error"].as_str().unwrap().contains("not a JSON object"));
    // With one thread or several, the lines are the same.
    let many = (lines[..2].join("\n") + "\n").repeat(300);
    assert_eq!(tag(&["--jsonl", "--threads", "1"], &many).stdout, tag(&["--jsonl", "--threads", "3"], &many).stdout);
}

#[test]
fn the_tools_of_a_home_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    program().args(["init", home]).output().unwrap();
    let table = "[annotate.external.de]\nformat = 'conllu'\nmode = 'batch'\n\
        command = ['awk', 'BEGIN { FS = OFS = \"\\t\" } NF { $3 = \"l\"; $4 = \"NOUN\" } { print }']\n";
    fs::write(folder.path().join("tidings.toml"), table).unwrap();
    let said = tag(&["--home", home, "--lang", "deu"], "Regen fällt.");
    assert!(said.stdout.contains("1\tRegen\tl\tNOUN\t"), "{}{}", said.stdout, said.stderr);
    fs::write(folder.path().join("tidings.toml"), "[annotate.external.de]\ncommand = ['false']\n").unwrap();
    let said = tag(&["--home", home, "--lang", "de"], "Regen fällt.");
    assert!(said.code == 1 && said.stderr.contains("the annotator of de, `false`, exited"), "{}", said.stderr);
}

#[test]
fn the_example_annotators_work_if_their_tools_are_installed() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/annotators");
    let python = std::env::var("TIDINGS_TOOLS").unwrap_or_else(|_| "python3".to_owned());
    let tools = [
        (
            "simplemma",
            "simplemma-vertical.py', 'en",
            "en",
            "columns = ['word', 'lemma']",
            "The rivers rose.",
            "rivers\triver\t",
        ),
        ("HanTa", "hanta-vertical.py', 'ger", "de", "", "Die Kinder spielten.", "Kinder\tKind\t"),
        ("pymorphy3", "pymorphy-conllu.py", "ru", "format = 'conllu'", "Дети играли.", "играли\tиграть\tVERB\t"),
        ("MeCab", "mecab-vertical.py", "ja", "", "子供が遊んだ。", "遊ん\t遊ぶ\t"),
    ];
    for (module, script, language, more, text, wanted) in tools {
        // MeCab is a program and not a Python module.
        let check = match module {
            "MeCab" => "import subprocess; subprocess.run(['mecab', '--version'], check=True)".to_owned(),
            module => format!("import {module}"),
        };
        let is_there = std::process::Command::new(&python).args(["-c", &check]).output();
        if !is_there.is_ok_and(|ran| ran.status.success()) {
            tidings_testing::skip(&format!("{python} finds no {module}"));
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        program().args(["init", home]).output().unwrap();
        let table = format!("[annotate.external.{language}]\ncommand = ['{python}', '{examples}/{script}']\n{more}\n");
        fs::write(folder.path().join("tidings.toml"), table).unwrap();
        let said = tag(&["--home", home, "--lang", language], text);
        assert!(said.code == 0 && said.stdout.contains(wanted), "{module}: {}{}", said.stdout, said.stderr);
    }
}
