//! `tidings tokenize`: plain text and streams of texts.

use serde_json::{Value, json};

use crate::piped::{self, Finished};
use crate::support::program;

fn tokenize(args: &str, input: impl AsRef<[u8]>) -> Finished {
    let mut command = program();
    command.arg("tokenize").args(args.split_whitespace());
    piped::run(command, input)
}

fn answers(said: &Finished) -> Vec<Value> {
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn text_is_printed_with_one_sentence_per_line() {
    let said = tokenize("--lang de", "Am 3. Mai kam Dr. Weiß. Er blieb (bis 18:30 Uhr).\n\nEine Überschrift\nText.");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let wanted = "Am 3. Mai kam Dr. Weiß .\nEr blieb ( bis 18:30 Uhr ) .\nEine Überschrift\nText .\n";
    assert_eq!(said.stdout, wanted);
}

#[test]
fn text_is_printed_with_one_token_per_line() {
    let said = tokenize("--lang fr --vertical", "L'été dure. Il coûte 10 000 euros.");
    assert_eq!(said.stdout, "L'\nété\ndure\n.\n\nIl\ncoûte\n10\u{a0}000\neuros\n.\n\n");
}

#[test]
fn texts_are_processed_in_order_each_in_its_language() {
    let texts = [
        json!({ "id": 1, "lang": "en", "text": "Dr. Ray didn't come. Why? See https://a.example/b?c=1." }),
        json!({ "id": "zwei", "lang": "deu", "text": "z.B. am 3. Mai" }),
        json!({ "id": null, "lang": "xx", "text": "" }),
        json!({ "id": [4], "text": "👩‍👩‍👧 #yes a@b.example" }),
    ];
    let lines: Vec<String> = texts.iter().map(Value::to_string).collect();
    let said = tokenize("--jsonl", lines.join("\n"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    let wanted = [
        json!({ "id": 1, "sentences": [["Dr.", "Ray", "didn't", "come", "."], ["Why", "?"], ["See", "https://a.example/b?c=1", "."]] }),
        json!({ "id": "zwei", "sentences": [["z.B.", "am", "3.", "Mai"]] }),
        json!({ "id": null, "sentences": [] }),
        json!({ "id": [4], "sentences": [["👩‍👩‍👧", "#yes", "a@b.example"]] }),
    ];
    assert_eq!(answers(&said), wanted);
}

#[test]
fn many_texts_keep_their_order() {
    let line = |n: usize| json!({ "id": n, "lang": "en", "text": "A word. ".repeat(n % 90) }).to_string() + "\n";
    let input: String = (0..3000).map(line).collect();
    for threads in ["1", "5"] {
        let said = tokenize(&format!("--jsonl --threads {threads}"), &input);
        let found = answers(&said);
        assert_eq!(found.len(), 3000);
        for (place, answer) in found.iter().enumerate() {
            assert_eq!(answer["id"], place);
            assert_eq!(answer["sentences"].as_array().unwrap().len(), place % 90);
        }
    }
}

#[test]
fn invalid_lines_are_reported() {
    let input = "\n{\"id\":1,\"lang\":\"en\",\"text\":\"Yes.\"}\nno\n{\"id\":2}\n{\"id\":3,\"text\":5}\n[]\n";
    let said = tokenize("--jsonl", input);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("4 lines could not be read"), "{}", said.stderr);
    let found = answers(&said);
    let ids: Vec<&Value> = found.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &Value::Null, &json!(2), &json!(3), &Value::Null]);
    assert!(found[1..].iter().all(|answer| answer["error"].is_string()));
    let said = tokenize("--lang en", b"Good.\n\xff\xfe\nGood again.\n");
    assert_eq!((said.code, said.stdout.as_str()), (3, "Good .\nGood again .\n"));
}

#[test]
fn plain_text_needs_a_language() {
    assert_eq!(tokenize("", "x").code, 2);
    assert_eq!(tokenize("--jsonl --vertical", "").code, 2);
}
