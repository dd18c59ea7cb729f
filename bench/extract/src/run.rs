//! Runs extractors as commands that read and write JSON lines.
//!
//! All get the same bytes on standard input. A peer measures its own CPU time per page, since
//! loading Python may take half of the total; a command is measured from outside, minus a run over
//! no pages.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Deserializer};
use wait4::Wait4;

use crate::score;
use crate::sets::Sample;

/// Result of an extractor for one page.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Output {
    /// Id of the page.
    pub id: String,
    /// Main text.
    #[serde(deserialize_with = "or_default")]
    pub text: String,
    /// Title.
    pub title: Option<String>,
    /// Authors as one string, separated by semicolons.
    #[serde(deserialize_with = "byline")]
    pub author: Option<String>,
    /// Authors as a list.
    pub authors: Option<Vec<String>>,
    /// Publication date.
    pub date: Option<String>,
    /// Paragraphs of the main text, if the extractor provides them.
    pub paragraphs: Option<Vec<String>>,
    /// CPU time.
    pub ms: Option<f64>,
}

impl Output {
    /// The authors, from either field.
    pub fn names(&self) -> Vec<String> {
        match &self.authors {
            Some(names) => names.clone(),
            None => self.author.as_deref().map(score::split_authors).unwrap_or_default(),
        }
    }
}

fn or_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn byline<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Byline {
        One(String),
        Several(Vec<String>),
    }
    Ok(Option::deserialize(deserializer)?.map(|byline| match byline {
        Byline::One(name) => name,
        Byline::Several(names) => names.join(";"),
    }))
}

/// Results of an extractor for a set.
#[derive(Debug)]
pub struct Results {
    /// Results by page id.
    pub outputs: HashMap<String, Output>,
    /// Mean CPU time per page.
    pub ms: f64,
}

/// Loads cached results of a peer, or runs it.
pub fn peer(
    python: &Path,
    script: &Path,
    name: &str,
    set: &str,
    samples: &[Sample],
    cache: Option<&Path>,
) -> anyhow::Result<Results> {
    let cached = cache.map(|folder| folder.join(format!("{set}.{name}.jsonl")));
    let outputs = match &cached {
        Some(path) if path.exists() => read(File::open(path)?, path)?,
        _ => {
            let mut command = Command::new(python);
            command.arg(script).arg(name).stderr(Stdio::null());
            let (mut output, _) = run(command, samples, true)?;
            if let Some(path) = &cached {
                fs::create_dir_all(path.parent().expect("the path has a parent folder"))?;
                let mut file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
                std::io::copy(&mut output, &mut file)?;
                output.rewind()?;
            }
            read(output, script)?
        }
    };
    let times: Vec<f64> = outputs.values().filter_map(|output| output.ms).collect();
    let ms = times.iter().sum::<f64>() / times.len() as f64;
    complete(Results { outputs, ms }, samples, name)
}

/// Runs a command line over pages. `tell_language` passes the declared language.
pub fn command(line: &str, samples: &[Sample], tell_language: bool) -> anyhow::Result<Results> {
    let command = || {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    };
    let (_, start_up) = run(command(), &[], tell_language)?;
    let (output, cpu) = run(command(), samples, tell_language)?;
    let ms = cpu.saturating_sub(start_up).as_secs_f64() * 1000.0 / samples.len() as f64;
    let outputs = read(output, Path::new(line))?;
    complete(Results { outputs, ms }, samples, line)
}

/// Runs a command over pages; returns its output and CPU time.
fn run(mut command: Command, samples: &[Sample], tell_language: bool) -> anyhow::Result<(File, Duration)> {
    let mut pages = BufWriter::new(tempfile::tempfile()?);
    for sample in samples {
        let mut page = serde_json::json!({ "id": sample.id, "url": sample.url, "html": sample.html });
        if tell_language {
            page["lang"] = sample.lang.clone().into();
        }
        serde_json::to_writer(&mut pages, &page)?;
        pages.write_all(b"\n")?;
    }
    let mut pages = pages.into_inner()?;
    pages.rewind()?;
    let mut output = tempfile::tempfile()?;
    let mut child = command
        .stdin(pages)
        .stdout(output.try_clone()?)
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let end = child.wait4()?;
    ensure!(end.status.success(), "{} exited with {}", command.get_program().display(), end.status);
    output.rewind()?;
    Ok((output, end.rusage.utime + end.rusage.stime))
}

fn read(file: File, from: &Path) -> anyhow::Result<HashMap<String, Output>> {
    let mut outputs = HashMap::new();
    for line in BufReader::new(file).lines() {
        let output: Output =
            serde_json::from_str(&line?).with_context(|| format!("invalid result of {}", from.display()))?;
        outputs.insert(output.id.clone(), output);
    }
    Ok(outputs)
}

/// Fails if a page has no result, since it would distort the scores.
fn complete(results: Results, samples: &[Sample], name: &str) -> anyhow::Result<Results> {
    if let Some(missing) = samples.iter().find(|sample| !results.outputs.contains_key(&sample.id)) {
        bail!("{name} has no result for {}; delete its cached results if the pages changed", missing.id);
    }
    Ok(results)
}
