//! `tidings lang` as people and pipes use it.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn lang(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .arg("lang")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const GERMAN: &str = "Der Zug nach Wien fährt heute wegen eines Unwetters eine Stunde später ab, teilte die Bahn mit.";
const CZECH: &str = "Vlak do Vídně dnes kvůli bouřce odjede o hodinu později, oznámily dráhy v pondělí ráno.";

#[test]
fn a_text_on_standard_input_is_told_in_words() {
    let output = lang(&[], GERMAN);
    assert!(output.status.success());
    assert!(said(&output).starts_with("German (de), "), "{}", said(&output));
    assert!(said(&lang(&[], "12:30 +43")).starts_with("unknown (und)"));
    assert!(said(&lang(&[], "")).starts_with("unknown (und)"));
}

#[test]
fn paragraphs_are_told_apart_and_headings_follow_their_text() {
    let text = format!("Wien\n{GERMAN}\n{CZECH}\n{GERMAN}\n{GERMAN}\n");
    let shown = said(&lang(&["--paragraphs"], &text));
    let codes: Vec<&str> = shown.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(shown.starts_with("German (de)"), "{shown}");
    assert_eq!(codes, ["de", "de", "cs", "de", "de"], "{shown}");
}

#[test]
fn the_filter_answers_line_by_line() {
    let output = lang(
        &["--jsonl"],
        "{\"id\":\"a\",\"text\":\"Ceci n'est pas une pipe, dit le peintre.\"}\n{\"id\":2,\"text\":\"0\"}\nx\n",
    );
    assert_eq!(output.status.code(), Some(3), "one line was no question");
    let lines: Vec<serde_json::Value> = said(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["id"], &lines[0]["lang"]), (&"a".into(), &"fr".into()));
    assert!(lines[0]["score"].as_f64().unwrap() > 0.9);
    assert_eq!((&lines[1]["id"], &lines[1]["lang"]), (&2.into(), &"und".into()));
    assert!(lines[2]["error"].is_string());
}

#[test]
fn a_missing_file_is_a_failure_and_a_wrong_flag_is_misuse() {
    assert_eq!(lang(&["no-such-file.txt"], "").status.code(), Some(1));
    assert_eq!(lang(&["--jsonl", "--paragraphs"], "").status.code(), Some(2));
}
