//! Benchmarks by name, and the key figures of their results: `bench/benchmarks.toml`.
//!
//! `cargo xtask bench` lists the benchmarks, `cargo xtask bench NAME` runs one, `cargo xtask bench --write` writes the table of
//! key figures in BENCHMARKS.md and their picture, and `--check` compares both with the results.

mod figures;
mod plot;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::command;
use figures::{Figure, Series};

const REGISTRY: &str = "bench/benchmarks.toml";
const RESULTS: &str = "bench/results";
const TABLE: &str = "BENCHMARKS.md";
const PICTURE: &str = "docs/pictures/benchmarks.svg";
/// The lines of BENCHMARKS.md between which the table stands.
const BEGIN: &str = "<!-- key figures: cargo xtask bench --write -->";
const END: &str = "<!-- end of key figures -->";

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Benchmarks to run; without any, the list is printed
    #[arg(value_name = "NAME", conflicts_with_all = ["write", "check"])]
    names: Vec<String>,
    /// Write the table of key figures and their picture
    #[arg(long, conflicts_with = "check")]
    write: bool,
    /// Check that the registry is complete and that the table and the picture are those of the results
    #[arg(long)]
    check: bool,
}

/// The file `bench/benchmarks.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    benchmark: Vec<Benchmark>,
    figure: Vec<Figure>,
}

/// A program that measures something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmark {
    name: String,
    measures: String,
    /// Run by `sh` in the root of the repository. `{out}` is the file for its results; what it prints without that is kept
    /// in `target/bench/NAME.txt`.
    command: String,
    /// About how long it takes on two cores.
    minutes: u32,
}

pub fn run_bench(options: &Options) -> Result<()> {
    let root = crate::root();
    let registry = Registry::read(&root.join(REGISTRY))?;
    if options.check {
        registry.check_complete(root)?;
        return write_figures(&registry, root, true);
    }
    if options.write {
        return write_figures(&registry, root, false);
    }
    if options.names.is_empty() {
        for benchmark in &registry.benchmark {
            println!("{:<18} {:>4} min  {}", benchmark.name, benchmark.minutes, benchmark.measures);
        }
        return Ok(());
    }
    let chosen: Vec<&Benchmark> = options.names.iter().map(|name| registry.find(name)).collect::<Result<_>>()?;
    chosen.into_iter().try_for_each(|benchmark| benchmark.run(root))
}

impl Registry {
    fn read(path: &Path) -> Result<Registry> {
        let text = String::from_utf8(command::read(path)?).context("the registry is no text")?;
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
    }

    fn find(&self, name: &str) -> Result<&Benchmark> {
        self.benchmark.iter().find(|benchmark| benchmark.name == name).with_context(|| {
            let names: Vec<&str> = self.benchmark.iter().map(|benchmark| benchmark.name.as_str()).collect();
            format!("there is no benchmark {name}; there are {}", names.join(", "))
        })
    }

    /// Every folder of `bench/` is run by a benchmark, names are unique, and every result has a date.
    fn check_complete(&self, root: &Path) -> Result<()> {
        let mut names = BTreeSet::new();
        if let Some(twice) = self.benchmark.iter().find(|benchmark| !names.insert(&benchmark.name)) {
            bail!("{REGISTRY} has two benchmarks {}", twice.name);
        }
        for folder in entries(&root.join("bench"))?.iter().filter(|path| path.is_dir()) {
            let name = file_name(folder);
            let is_run = |benchmark: &Benchmark| {
                let words: Vec<&str> = benchmark.command.split([' ', '/']).collect();
                [&*name, &*format!("bench-{name}"), &*format!("tidings-bench-{name}")]
                    .iter()
                    .any(|package| words.contains(package))
            };
            if name != "results" && !self.benchmark.iter().any(is_run) {
                bail!("{REGISTRY} has no benchmark that runs bench/{name}");
            }
        }
        for file in entries(&root.join(RESULTS))? {
            Series::date(&file_name(&file))?;
        }
        Ok(())
    }
}

impl Benchmark {
    fn run(&self, root: &Path) -> Result<()> {
        let today = String::from_utf8(command::output(Command::new("date").args(["-u", "+%F"]))?)?;
        let result = root.join(RESULTS).join(format!("{}-{}.json", today.trim(), self.name));
        let printed = root.join("target/bench").join(format!("{}.txt", self.name));
        eprintln!("{}: about {} minutes", self.name, self.minutes);
        let text = self.command.replace("{out}", &format!("'{}'", result.display()));
        // Shown while it runs, and kept. A failure of the command must not be hidden by `tee`.
        let script = format!("set -o pipefail; {{ {text}; }} | tee '{}'", printed.display());
        command::write(&printed, "")?;
        command::run(Command::new("bash").current_dir(root).args(["-c", &script]))?;
        if result.exists() {
            println!("{}", result.display());
        } else {
            println!("{}", printed.display());
        }
        Ok(())
    }
}

/// Writes or checks the table and the picture.
fn write_figures(registry: &Registry, root: &Path, check: bool) -> Result<()> {
    let series: Vec<Series> =
        registry.figure.iter().map(|figure| figure.read(&root.join(RESULTS))).collect::<Result<_>>()?;
    let page = root.join(TABLE);
    let text = String::from_utf8(command::read(&page)?).with_context(|| format!("{TABLE} is no text"))?;
    let with_table = replace_between(&text, &figures::table(&series))
        .with_context(|| format!("{TABLE} lacks the lines `{BEGIN}` and `{END}`"))?;
    for (path, content) in [(page, with_table), (root.join(PICTURE), plot::svg(&series))] {
        if !check {
            command::write(&path, content)?;
        } else if command::read(&path)? != content.as_bytes() {
            bail!("{} is not what the results say: run `cargo xtask bench --write`", path.display());
        }
    }
    Ok(())
}

fn replace_between(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = read().with_context(|| format!("cannot read {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_picture_are_those_of_the_results() {
        run_bench(&Options { names: Vec::new(), write: false, check: true }).unwrap();
    }

    #[test]
    fn an_unknown_benchmark_is_named_with_the_known_ones() {
        let registry = Registry::read(&crate::root().join(REGISTRY)).unwrap();
        let error = registry.find("trend").unwrap_err().to_string();
        assert!(error.starts_with("there is no benchmark trend; there are ") && error.contains("trends"), "{error}");
    }

    #[test]
    fn only_the_lines_between_the_marks_are_replaced() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(replace_between(&text, "new\n").unwrap(), format!("a\n{BEGIN}\n\nnew\n\n{END}\nb\n"));
        assert!(replace_between("a", "new").is_none());
    }
}
