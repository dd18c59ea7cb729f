//! Key figures: numbers in the files of results, by date.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::command;

/// A number that is followed from result to result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is, with its unit.
    pub name: String,
    pub better: Better,
    /// The goal of the project, if there is one.
    pub target: Option<f64>,
    pub value: Vec<Source>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
}

/// Where a value of a figure stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A file in `bench/results`; its name begins with the date.
    file: String,
    /// Keys, separated by `/`. `*` means all members, `KEY=VALUE` the members with this value.
    at: String,
    /// A number by which that at `at` is divided.
    over: Option<String>,
    /// What several members are made one of.
    #[serde(default)]
    fold: Fold,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fold {
    /// There is just one.
    #[default]
    One,
    Mean,
    Least,
    Most,
}

/// A figure with its values by date.
#[derive(Debug, Clone)]
pub struct Series {
    pub figure: Figure,
    pub values: BTreeMap<String, f64>,
}

impl Figure {
    pub fn read(&self, results: &Path) -> Result<Series> {
        let mut values = BTreeMap::new();
        for source in &self.value {
            let path = results.join(&source.file);
            let result: Value = serde_json::from_slice(&command::read(&path)?)
                .with_context(|| format!("{} is no JSON", source.file))?;
            let value = source.read(&result).with_context(|| format!("{}: {}", self.name, source.file))?;
            if values.insert(Series::date(&source.file)?, value).is_some() {
                bail!("{}: two values of one day", self.name);
            }
        }
        if values.is_empty() {
            bail!("{} has no value", self.name);
        }
        Ok(Series { figure: self.clone(), values })
    }
}

impl Source {
    fn read(&self, result: &Value) -> Result<f64> {
        let value = self.fold.apply(numbers(result, &self.at)?).with_context(|| self.at.clone())?;
        match &self.over {
            None => Ok(value),
            Some(over) => Ok(value / self.fold.apply(numbers(result, over)?).with_context(|| over.clone())?),
        }
    }
}

impl Fold {
    fn apply(self, numbers: Vec<f64>) -> Result<f64> {
        let count = numbers.len();
        match self {
            Fold::One if count != 1 => bail!("{count} numbers; say how to fold them"),
            Fold::One | Fold::Mean => Ok(numbers.iter().sum::<f64>() / count as f64),
            Fold::Least => Ok(numbers.into_iter().fold(f64::INFINITY, f64::min)),
            Fold::Most => Ok(numbers.into_iter().fold(f64::NEG_INFINITY, f64::max)),
        }
    }
}

/// The numbers at a path, at least one. Members that lack the rest of the path are left out behind `*`.
fn numbers(result: &Value, path: &str) -> Result<Vec<f64>> {
    let mut found = vec![result];
    for key in path.split('/').filter(|key| !key.is_empty()) {
        found = found.into_iter().flat_map(|value| members(value, key)).collect();
        if found.is_empty() {
            bail!("nothing is at {key} of {path}");
        }
    }
    found.into_iter().map(|value| value.as_f64().with_context(|| format!("{path}: {value} is no number"))).collect()
}

fn members<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    let all = || match value {
        Value::Array(values) => values.iter().collect(),
        Value::Object(values) => values.values().collect(),
        _ => Vec::new(),
    };
    if key == "*" {
        return all();
    }
    if let Some((name, wanted)) = key.split_once('=') {
        return all().into_iter().filter(|member| member[name].as_str() == Some(wanted)).collect();
    }
    match value {
        Value::Array(values) => key.parse().ok().and_then(|at: usize| values.get(at)).into_iter().collect(),
        _ => value.get(key).into_iter().collect(),
    }
}

impl Series {
    /// The date at the beginning of the name of a result.
    pub fn date(file: &str) -> Result<String> {
        let date = file.get(..10).unwrap_or_default();
        let is_date =
            date.char_indices().all(|(at, c)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() });
        if date.len() != 10 || !is_date || !file.ends_with(".json") {
            bail!("bench/results/{file} is not named DATE-NAME.json");
        }
        Ok(date.to_owned())
    }

    pub fn newest(&self) -> (&str, f64) {
        let (date, value) = self.values.last_key_value().expect("a series has a value");
        (date, *value)
    }

    /// Whether the newest value reaches the target.
    pub fn reaches(&self) -> Option<bool> {
        let (_, value) = self.newest();
        self.figure.target.map(|target| match self.figure.better {
            Better::Higher => value >= target,
            Better::Lower => value <= target,
        })
    }
}

/// A number with as many digits as are worth reading.
pub fn shown(value: f64) -> String {
    let digits = match value.abs() {
        large if large >= 100.0 => 0,
        medium if medium >= 10.0 => 1,
        small if small >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The table of BENCHMARKS.md.
pub fn table(series: &[Series]) -> String {
    let mut table =
        String::from("| figure | target | newest | of | before | |\n| --- | --: | --: | --- | --- | --- |\n");
    for one in series {
        let (date, value) = one.newest();
        let earlier: Vec<String> = one.values.values().map(|value| shown(*value)).collect();
        let target = match (one.figure.target, one.figure.better) {
            (None, _) => String::new(),
            (Some(target), Better::Higher) => format!("≥ {}", shown(target)),
            (Some(target), Better::Lower) => format!("≤ {}", shown(target)),
        };
        let verdict = match one.reaches() {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "",
        };
        let before = earlier[..earlier.len() - 1].join(", ");
        let _ =
            writeln!(table, "| {} | {target} | {} | {date} | {before} | {verdict} |", one.figure.name, shown(value));
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source(at: &str, fold: Fold) -> Source {
        Source { file: "2026-01-01-x.json".to_owned(), at: at.to_owned(), over: None, fold }
    }

    #[test]
    fn a_path_names_one_number_all_or_those_with_a_value() {
        let result = json!({"rows": [{"rule": "a", "n": 1}, {"rule": "b", "n": 4}, {"rule": "b", "n": 6}], "all": 8});
        let read = |at, fold| source(at, fold).read(&result).ok();
        assert_eq!(read("all", Fold::One), Some(8.0));
        assert_eq!(read("rows/0/n", Fold::One), Some(1.0));
        assert_eq!(read("rows/rule=b/n", Fold::Mean), Some(5.0));
        assert_eq!(read("rows/*/n", Fold::Most), Some(6.0));
        assert_eq!(read("rows/*/n", Fold::Least), Some(1.0));
        assert_eq!(read("rows/*/n", Fold::One), None, "three are not one");
        assert_eq!(read("rows/rule=c/n", Fold::Mean), None);
        assert_eq!(read("rows/0/rule", Fold::One), None, "a word is no number");
        let ratio = Source { over: Some("all".to_owned()), ..source("rows/1/n", Fold::One) };
        assert_eq!(ratio.read(&result).unwrap(), 0.5);
    }

    #[test]
    fn a_table_says_whether_targets_are_reached() {
        let figure = Figure { name: "loss".to_owned(), better: Better::Lower, target: Some(0.05), value: Vec::new() };
        let values = BTreeMap::from([("2026-01-01".to_owned(), 0.125), ("2026-02-01".to_owned(), 0.05)]);
        let table = table(&[Series { figure, values }]);
        assert!(table.ends_with("| loss | ≤ 0.05 | 0.05 | 2026-02-01 | 0.125 | reached |\n"), "{table}");
    }

    #[test]
    fn results_are_named_by_their_date() {
        assert_eq!(Series::date("2026-11-19-trends.json").unwrap(), "2026-11-19");
        assert!(Series::date("trends.json").is_err());
        assert!(Series::date("2026-11-19-trends.txt").is_err());
    }
}
