//! Runs extractors as commands: pages in as JSON lines, results out the same way.
//!
//! Ours and theirs get the same bytes on standard input. A peer measures its CPU time by the page,
//! since half of its time may go into loading Python; a command is measured from outside, less a
//! run over no pages at all.

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

/// What an extractor says of one page.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Output {
    /// The page.
    pub id: String,
    /// Its main text.
    #[serde(deserialize_with = "or_default")]
    pub text: String,
    /// Its headline.
    pub title: Option<String>,
    /// The byline as one string, names parted by semicolons.
    #[serde(deserialize_with = "byline")]
    pub author: Option<String>,
    /// The names one by one.
    pub authors: Option<Vec<String>>,
    /// The day of publication.
    pub date: Option<String>,
    /// The paragraphs of the main text, where the extractor tells.
    pub paragraphs: Option<Vec<String>>,
    /// CPU time.
    pub ms: Option<f64>,
}

impl Output {
    /// The names of the people who wrote the page.
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

/// What an extractor made of a set.
#[derive(Debug)]
pub struct Results {
    /// By page.
    pub outputs: HashMap<String, Output>,
    /// CPU time a page.
    pub ms: f64,
}

/// Reads what a peer said before, or asks it.
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
            let (mut answer, _) = ask(command, samples, true)?;
            if let Some(path) = &cached {
                fs::create_dir_all(path.parent().expect("the name of a set was added to the folder"))?;
                let mut file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
                std::io::copy(&mut answer, &mut file)?;
                answer.rewind()?;
            }
            read(answer, script)?
        }
    };
    let times: Vec<f64> = outputs.values().filter_map(|output| output.ms).collect();
    let ms = times.iter().sum::<f64>() / times.len() as f64;
    complete(Results { outputs, ms }, samples, name)
}

/// Runs a command line over pages. `tell_language` passes on the language the page declares.
pub fn command(line: &str, samples: &[Sample], tell_language: bool) -> anyhow::Result<Results> {
    let command = || {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    };
    let (_, start_up) = ask(command(), &[], tell_language)?;
    let (answer, cpu) = ask(command(), samples, tell_language)?;
    let ms = cpu.saturating_sub(start_up).as_secs_f64() * 1000.0 / samples.len() as f64;
    let outputs = read(answer, Path::new(line))?;
    complete(Results { outputs, ms }, samples, line)
}

/// Gives pages to a command and waits; returns what it wrote and its CPU time.
fn ask(mut command: Command, samples: &[Sample], tell_language: bool) -> anyhow::Result<(File, Duration)> {
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
    let mut answer = tempfile::tempfile()?;
    let mut child = command
        .stdin(pages)
        .stdout(answer.try_clone()?)
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let end = child.wait4()?;
    ensure!(end.status.success(), "{} ended with {}", command.get_program().display(), end.status);
    answer.rewind()?;
    Ok((answer, end.rusage.utime + end.rusage.stime))
}

fn read(file: File, from: &Path) -> anyhow::Result<HashMap<String, Output>> {
    let mut outputs = HashMap::new();
    for line in BufReader::new(file).lines() {
        let output: Output =
            serde_json::from_str(&line?).with_context(|| format!("in the results of {}", from.display()))?;
        outputs.insert(output.id.clone(), output);
    }
    Ok(outputs)
}

/// A page without a result would count for nobody, so it must not happen.
fn complete(results: Results, samples: &[Sample], name: &str) -> anyhow::Result<Results> {
    if let Some(missing) = samples.iter().find(|sample| !results.outputs.contains_key(&sample.id)) {
        bail!("{name} said nothing of {}; if its results are cached, they are of other pages", missing.id);
    }
    Ok(results)
}
