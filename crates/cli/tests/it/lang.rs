//! `tidings lang` as people and pipes use it.

use crate::piped::{self, Finished};
use crate::support::program;

fn lang(arguments: &[&str], input: &str) -> Finished {
    let mut command = program();
    command.arg("lang").args(arguments);
    piped::run(command, input)
}

const GERMAN: &str = "Der Zug nach Wien fährt heute wegen eines Unwetters eine Stunde später ab, teilte die Bahn mit.";
const CZECH: &str = "Vlak do Vídně dnes kvůli bouřce odjede o hodinu později, oznámily dráhy v pondělí ráno.";

#[test]
fn the_language_of_standard_input_is_printed() {
    let output = lang(&[], GERMAN);
    assert!(output.code == 0);
    assert!(output.stdout.starts_with("German (de), "), "{}", output.stdout);
    assert!(lang(&[], "12:30 +43").stdout.starts_with("unknown (und)"));
    assert!(lang(&[], "").stdout.starts_with("unknown (und)"));
}

#[test]
fn paragraphs_are_identified_and_headings_follow_their_text() {
    let text = format!("Wien\n{GERMAN}\n{CZECH}\n{GERMAN}\n{GERMAN}\n");
    let shown = lang(&["--paragraphs"], &text).stdout;
    let codes: Vec<&str> = shown.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(shown.starts_with("German (de)"), "{shown}");
    assert_eq!(codes, ["de", "de", "cs", "de", "de"], "{shown}");
}

#[test]
fn the_filter_processes_line_by_line() {
    let output = lang(
        &["--jsonl"],
        "{\"id\":\"a\",\"text\":\"Ceci n'est pas une pipe, dit le peintre.\"}\n{\"id\":2,\"text\":\"0\"}\nx\n",
    );
    assert_eq!(output.code, 3, "one line was invalid");
    let lines: Vec<serde_json::Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["id"], &lines[0]["lang"]), (&"a".into(), &"fr".into()));
    assert!(lines[0]["score"].as_f64().unwrap() > 0.9);
    assert_eq!((&lines[1]["id"], &lines[1]["lang"]), (&2.into(), &"und".into()));
    assert!(lines[2]["error"].is_string());
}

#[test]
fn a_missing_file_is_an_error_and_an_unknown_flag_a_usage_error() {
    assert_eq!(lang(&["no-such-file.txt"], "").code, 1);
    assert_eq!(lang(&["--jsonl", "--paragraphs"], "").code, 2);
}
