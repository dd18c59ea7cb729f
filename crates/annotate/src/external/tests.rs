//! Tools as shell scripts: well-behaved, slow, crashing, hanging, and with wrong output.

use std::sync::Arc;
use std::thread;

use super::*;
use tidings_model::LayerKind;

/// Annotates every token with a lemma and the tag X.
const WELL_BEHAVED: &str = r#"while IFS= read -r line; do case "$line" in
    '<'?*'>') printf '%s\n' "$line";; *) printf '%s\t%s\tX\n' "$line" "lemma-of-$line";; esac; done"#;

fn shell(script: &str) -> Settings {
    let timeout = Duration::from_secs(20);
    Settings { timeout, ..Settings::new(["sh", "-c", script].map(str::to_owned).to_vec()) }
}

fn sentences(texts: &[&str]) -> Vec<Vec<Token>> {
    let token = |word: &str| Token { word: word.into(), space_after: true, ..Token::default() };
    texts.iter().map(|text| text.split(' ').map(token).collect()).collect()
}

fn annotate(tool: &External, texts: &[&str]) -> Result<Vec<(String, String)>, ToolError> {
    let mut sentences = sentences(texts);
    tool.annotate(&mut sentences.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>())?;
    Ok(sentences.into_iter().flatten().map(|token| (token.lemma.into(), token.tag.into())).collect())
}

fn fault(settings: Settings) -> String {
    annotate(&External::new("de", settings), &["es regnet .", "und <b> mehr"]).unwrap_err().to_string()
}

#[test]
fn a_tool_is_started_once_and_annotates_every_token() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let mut settings = shell(&format!("echo started >>'{}'; {WELL_BEHAVED}", starts.display()));
    settings.batch_sentences = 2;
    let tool = External::new("de", settings);
    let texts = ["es regnet .", "<b> < >", "Ende", "x", "y z"];
    for _ in 0..3 {
        let found = annotate(&tool, &texts).unwrap();
        assert_eq!(found[1], ("lemma-of-regnet".to_owned(), "X".to_owned()));
        assert_eq!(found.len(), 10);
        assert_eq!(found[3].0, "<b>", "a token that looks like markup is kept without a tag");
    }
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "started\n");
}

/// Marks words with a capital letter as names, and gives the length of each word.
const NAMES: &str = r#"while IFS= read -r line; do case "$line" in
    '<'?*'>') printf '%s\n' "$line";;
    [A-Z]*) printf '<ne type="PER">\n%s\t%s\n</ne>\n' "$line" "${#line}";;
    *) printf '%s\t%s\n' "$line" "${#line}";; esac; done"#;

#[test]
fn a_tool_may_give_further_layers_and_leaves_lemmas_and_tags_alone() {
    let layer = LayerDeclaration { name: "length".into(), kind: LayerKind::Number, origin: String::new() };
    let settings = Settings {
        columns: vec![Column::Word, Column::Further(0)],
        further: vec![layer],
        spans: vec!["ne".to_owned()],
        batch_sentences: 2,
        padding_sentences: 1,
        ..shell(NAMES)
    };
    let tool = External::new("en", settings.clone());
    assert_eq!((tool.gives(), tool.further_spans()), (TokenLayers::NONE, &["ne".to_owned()][..]));
    assert_ne!(tool.name(), External::new("en", Settings { spans: vec![], ..settings }).name());
    for _ in 0..2 {
        let mut sentences = sentences(&["Ann ran", "so", "did Bo"]);
        sentences[0][0].lemma = "ann".into();
        let mut all: Vec<&mut [Token]> = sentences.iter_mut().map(Vec::as_mut_slice).collect();
        let layers = tool.annotate_layers(&mut all).unwrap();
        assert_eq!(layers.columns[0].values, ["3", "3", "2", "3", "2"]);
        assert_eq!(layers.columns[0].layer.origin, tool.name());
        let name = |at| TokenSpan::new("ne", at, at + 1).with("type", "PER");
        assert_eq!((layers.spans, layers.tokens), (vec![name(0), name(4)], 5));
        assert_eq!((sentences[0][0].lemma.as_str(), sentences[0][1].lemma.as_str()), ("ann", ""));
    }
}

#[test]
fn the_example_of_further_layers_gives_lengths_and_spans() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/annotators/capitals-vertical.py");
    let python = std::env::var("TIDINGS_TOOLS").unwrap_or_else(|_| "python3".to_owned());
    if !std::process::Command::new(&python).arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return tidings_testing::skip(&format!("{python} does not run"));
    }
    let layer = LayerDeclaration { name: "length".into(), kind: LayerKind::Number, origin: String::new() };
    let settings = Settings {
        columns: vec![Column::Word, Column::Further(0)],
        further: vec![layer],
        spans: vec!["capitals".to_owned()],
        timeout: Duration::from_secs(60),
        ..Settings::new([python.as_str(), script].map(str::to_owned).to_vec())
    };
    let tool = External::new("en", settings);
    let mut sentences = sentences(&["Ann Lee ran", "so did Bo"]);
    let mut all: Vec<&mut [Token]> = sentences.iter_mut().map(Vec::as_mut_slice).collect();
    let layers = tool.annotate_layers(&mut all).unwrap();
    assert_eq!(layers.columns[0].values, ["3", "3", "3", "2", "3", "2"]);
    assert_eq!(layers.spans, [TokenSpan::new("capitals", 0, 2), TokenSpan::new("capitals", 5, 6)]);
}

#[test]
fn several_processes_run_concurrently() {
    let tool = Arc::new(External::new("de", Settings { workers: 2, batch_sentences: 1, ..shell(WELL_BEHAVED) }));
    thread::scope(|scope| {
        for worker in 0..4 {
            let tool = Arc::clone(&tool);
            scope.spawn(move || {
                let text = format!("a{worker} b{worker}");
                let found = annotate(&tool, &[text.as_str(); 20]).unwrap();
                assert!(found.iter().all(|(lemma, _)| lemma.ends_with(&worker.to_string())), "{found:?}");
            });
        }
    });
    assert!(tool.pool.lock().unwrap().idle.len() <= 2);
}

#[test]
fn padding_flushes_a_tool_that_buffers_its_output() {
    // Writes a line only after it has read six more.
    let held = r#"n=0; while IFS= read -r line; do n=$((n+1)); eval "l$n=\$line"; m=$((n-6)); if [ $m -gt 0 ]; then
        eval "old=\$l$m"; printf '%s\tx\tX\n' "$old"; fi; done"#;
    let tool = External::new("de", Settings { padding_sentences: 4, ..shell(held) });
    for _ in 0..3 {
        assert_eq!(annotate(&tool, &["eins zwei", "drei"]).unwrap(), vec![("x".to_owned(), "X".to_owned()); 3]);
    }
}

#[test]
fn in_batch_mode_the_tool_answers_at_the_end_of_its_input() {
    let settings = Settings { mode: Mode::Batch, batch_sentences: 2, ..shell("sed 's/^\\([^<].*\\)$/\\1\\tl\\tN/'") };
    let tool = External::new("de", settings.clone());
    assert_eq!(annotate(&tool, &["a b", "c", "d"]).unwrap(), vec![("l".to_owned(), "N".to_owned()); 4]);
    let failing =
        Settings { command: shell("sed 's/$/\\tl\\tN/'; echo bad model >&2; exit 4").command, ..settings.clone() };
    let error = fault(failing);
    assert!(
        error.contains("exit status: 4") && error.contains("3 attempts") && error.contains("stderr: bad model"),
        "{error}"
    );
    let extra_output = Settings { command: shell("cat; echo more").command, ..settings };
    assert!(fault(extra_output).contains("“more” after the last token"));
}

#[test]
fn a_tool_that_exits_is_restarted_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script =
        format!("if ! [ -e '{0}' ]; then touch '{0}'; read -r line; exit 7; fi; {WELL_BEHAVED}", mark.display());
    let tool = External::new("de", shell(&script));
    assert_eq!(tool.restarts(), None);
    assert_eq!(annotate(&tool, &["a b"]).unwrap().len(), 2);
    assert_eq!(tool.restarts(), Some((1, "exit status: 7".to_owned())));
    let error = fault(shell("read -r line; echo 'no such model' >&2; exit 7"));
    assert!(error.contains("exit status: 7") && error.contains("0 of 6 tokens in 3 attempts"), "{error}");
    assert!(error.contains("stderr: no such model") && error.contains("the annotator of de, `sh -c"), "{error}");
    let error = fault(Settings::new(vec!["/nowhere/tagger".into()]));
    assert!(error.contains("/nowhere/tagger") && error.contains("cannot be started"), "{error}");
}

#[test]
fn a_tool_that_hangs_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! >'{}'; wait", pid.display());
    let error = fault(Settings { timeout: Duration::from_millis(300), ..shell(&script) });
    assert!(error.contains("timed out after 0.3 s (0 of 6 tokens)"), "{error}");
    let pid = std::fs::read_to_string(pid).unwrap();
    // A killed process remains a zombie until its parent waits for it.
    tidings_testing::until("the grandchild has ended", || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    });
}

#[test]
fn wrong_output_is_reported_with_its_line() {
    let cases = [
        ("while read -r line; do echo nonsense; done", "“nonsense” instead of the token “es”"),
        ("while read -r line; do printf '\\377\\n'; done", "not valid UTF-8"),
        ("tr -d '\\n' </dev/zero | tr '\\0' a", "a line longer than 64 KiB"),
        ("yes '<s>'", "too many lines without a token"),
        ("yes 'es\tes\tX'", "line 2 of its output: “es” instead of the token “regnet”"),
    ];
    for (script, what) in cases {
        let error = fault(shell(script));
        assert!(error.contains(what) && error.contains("every token exactly once"), "{script}: {error}");
    }
}

#[test]
fn a_tool_that_reads_nothing_times_out() {
    let many = vec!["a b c d e f g h i j k l m n o p q r s t u v w x y z"; 20_000];
    let settings = Settings { timeout: Duration::from_millis(300), batch_sentences: 20_000, ..shell("sleep 1000") };
    let error = annotate(&External::new("de", settings), &many).unwrap_err();
    assert!(matches!(error.fault, ToolFault::TimedOut { .. }), "{error}");
}

#[test]
fn the_name_contains_the_version_and_changes_with_relevant_settings() {
    let settings = Settings { version: "treetagger 3.2".into(), ..shell("cat") };
    let name = External::new("de", settings.clone()).name().to_owned();
    assert!(name.starts_with("external treetagger 3.2 "), "{name}");
    let patient = Settings { timeout: Duration::from_secs(999), workers: 7, ..settings.clone() };
    assert_eq!(External::new("de", patient).name(), name);
    let other = Settings { tags: [("NN".to_owned(), "NOUN".to_owned())].into(), ..settings };
    assert_ne!(External::new("de", other).name(), name);
    let command = |script: &str| shell(script).command;
    assert_eq!(version_of("de", &command("echo; echo 'tagger 1.2'; sleep 9")).unwrap(), "tagger 1.2");
    assert_eq!(version_of("de", &command("echo 'tagger 1.3' >&2")).unwrap(), "tagger 1.3");
    assert!(version_of("de", &command("exit 1")).unwrap_err().to_string().contains("exit status: 1"));
}
