//! Runs peers written in Python through `peers.py`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use tidings_train::score::Score;
use tidings_train::treebank::Sentence;

#[derive(Deserialize)]
struct Answer {
    /// CPU seconds.
    seconds: f64,
    /// Lemma and tag of each word by sentence, if the peer gives them.
    answers: Vec<Vec<(Option<String>, Option<String>)>>,
}

/// Score of a peer and the CPU seconds it took; `None` if it does not support the language.
pub fn run(python: &Path, peer: &str, language: &str, sentences: &[Sentence]) -> Result<Option<(Score, f64)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py");
    let mut child = Command::new(python)
        .args([script.as_os_str(), peer.as_ref(), language.as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", python.display()))?;
    let words: Vec<Vec<&str>> =
        sentences.iter().map(|sentence| sentence.iter().map(|gold| gold.form.as_str()).collect()).collect();
    child.stdin.take().context("the peer has no standard input")?.write_all(&serde_json::to_vec(&words)?)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{peer} failed on {language}");
    let Some(answer) = serde_json::from_slice::<Option<Answer>>(&output.stdout)? else { return Ok(None) };
    let mut score = Score::default();
    for (sentence, found) in sentences.iter().zip(&answer.answers) {
        for (gold, (lemma, tag)) in sentence.iter().zip(found) {
            score.add(gold, tag.as_deref(), lemma.as_deref(), None);
        }
    }
    Ok(Some((score, answer.seconds)))
}
