//! Runs peers written in Python through `peers.py`.

use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::score::Score;
use crate::treebank::{Document, Treebank};

#[derive(Deserialize)]
struct PeerOutput {
    /// CPU seconds for all documents.
    seconds: f64,
    /// Sentences by document, each a list of tokens.
    documents: Vec<Vec<Vec<String>>>,
}

/// Score of a peer on a treebank, and the CPU seconds it took.
pub fn run(python: &Path, peer: &str, treebank: &Treebank) -> Result<(Score, f64)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py");
    let mut child = Command::new(python)
        .args([script.as_os_str(), peer.as_ref(), treebank.language().as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", python.display()))?;
    let texts: Vec<&str> = treebank.documents.iter().map(|document| document.text.as_str()).collect();
    child.stdin.take().context("the peer has no standard input")?.write_all(&serde_json::to_vec(&texts)?)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{peer} failed on {}", treebank.name);
    let answer: PeerOutput = serde_json::from_slice(&output.stdout)?;
    let mut score = Score::default();
    for (document, sentences) in treebank.documents.iter().zip(&answer.documents) {
        score.add(document, &token_spans(document, sentences));
    }
    Ok((score, answer.seconds))
}

/// Finds the tokens in the text; tokens whose characters a peer changed are lost.
fn token_spans(document: &Document, sentences: &[Vec<String>]) -> Vec<Vec<Range<usize>>> {
    let text = &document.text;
    let mut from = 0;
    let mut found = Vec::new();
    for sentence in sentences {
        let mut tokens = Vec::new();
        for token in sentence.iter().map(|token| token.trim()).filter(|token| !token.is_empty()) {
            if let Some(at) = text[from..].find(token) {
                tokens.push(from + at..from + at + token.len());
                from += at + token.len();
            }
        }
        if !tokens.is_empty() {
            found.push(tokens);
        }
    }
    found
}
