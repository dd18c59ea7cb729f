//! `tidings licenses`: the licences of everything in the program.
//!
//! The notices of packages and data are made by `cargo xtask licenses`; the models tell their own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_lang::language_name;

use super::Report;
use crate::style::Style;
use crate::table::Table;

/// The notices, as `cargo xtask licenses` writes them.
const NOTICES: &str = include_str!("../../data/notices.json");
const OWN: &str = "MIT OR Apache-2.0";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The texts of all licences must go with the program when it is passed on: tidings licenses --full. Packages that only \
    the Python package contains are listed, too.\n\n\
    Exit codes: 0 printed, 1 no part has this name, 2 wrong usage."
)]
pub struct Args {
    /// Name, or a part of it
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print the texts of licences and notices
    #[arg(long)]
    full: bool,
}

#[derive(Deserialize)]
struct Notices {
    packages: Vec<Package>,
    texts: Vec<String>,
}

/// A package that is compiled into the program, or data in it.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: Option<String>,
    license: String,
    source: Option<String>,
    texts: Vec<usize>,
}

/// A part of the program in JSON.
#[derive(Serialize)]
struct Part {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    license: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The attribution that the licence asks for; models only.
    #[serde(skip_serializing_if = "Option::is_none")]
    attribution: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    #[serde(skip)]
    texts: Vec<usize>,
}

pub fn run(args: &Args) -> Result<Report> {
    let notices: Notices = serde_json::from_str(NOTICES)?;
    let mut parts = parts(notices.packages);
    if let Some(name) = &args.name {
        parts.retain(|part| part.name.to_lowercase().contains(&name.to_lowercase()));
    }
    let text = match (parts.is_empty(), args.full) {
        (true, _) => format!("No part of the program has the name {}.\n", args.name.as_deref().unwrap_or_default()),
        (false, false) => table(&parts),
        (false, true) => full(&parts, &notices.texts),
    };
    if args.full {
        for part in &mut parts {
            part.notices = part.texts.iter().map(|&text| notices.texts[text].clone()).collect();
        }
    }
    let failed = parts.is_empty();
    Ok(Report { text, json: serde_json::to_value(parts)?, failed, ..Report::default() })
}

/// The program itself, its models, then data and packages.
fn parts(packages: Vec<Package>) -> Vec<Part> {
    let own = Part {
        name: "tidings".to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        license: OWN.to_owned(),
        source: None,
        attribution: None,
        notices: Vec::new(),
        texts: Vec::new(),
    };
    let models = tidings_annotate::models().languages().map(|model| Part {
        name: format!("model of {}", language_name(&model.language).unwrap_or(&model.language)),
        version: None,
        license: model.licence(),
        source: None,
        attribution: Some(model.attribution()),
        notices: Vec::new(),
        texts: Vec::new(),
    });
    let packages = packages.into_iter().map(|package| Part {
        name: package.name,
        version: package.version,
        license: package.license,
        source: package.source,
        attribution: None,
        notices: Vec::new(),
        texts: package.texts,
    });
    std::iter::once(own).chain(models).chain(packages).collect()
}

fn table(parts: &[Part]) -> String {
    let mut table = Table::new(&["part", "version", "licence"]);
    for part in parts {
        let version = part.version.clone().unwrap_or_default();
        table.push(vec![part.name.clone(), version, part.license.clone()]);
    }
    table.text(Style::stdout())
}

/// The attributions of models, then every text once, under the names of the parts that it belongs to.
fn full(parts: &[Part], texts: &[String]) -> String {
    let mut out = String::new();
    let rule = "-".repeat(80);
    for part in parts {
        let _ = write!(out, "{}", part.name);
        for field in [&part.version, &Some(part.license.clone()), &part.source, &part.attribution].into_iter().flatten()
        {
            let _ = write!(out, ", {field}");
        }
        out.push('\n');
    }
    let used: BTreeSet<usize> = parts.iter().flat_map(|part| part.texts.iter().copied()).collect();
    for text in used {
        let owners = parts.iter().filter(|part| part.texts.contains(&text));
        let names: Vec<String> = owners
            .map(|part| format!("{} {}", part.name, part.version.as_deref().unwrap_or("")).trim().into())
            .collect();
        let _ = write!(out, "\n{rule}\n{}\n\n{}\n", names.join(", "), texts[text]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_a_licence_and_its_text() {
        let notices: Notices = serde_json::from_str(NOTICES).unwrap();
        assert!(notices.packages.len() > 150, "{}", notices.packages.len());
        for package in &notices.packages {
            assert!(!package.license.is_empty() && !package.texts.is_empty(), "{}", package.name);
            assert!(package.texts.iter().all(|&text| notices.texts[text].len() > 100), "{}", package.name);
        }
    }

    #[test]
    fn full_notices_name_models_and_print_each_text_once() {
        let args = Args { name: None, full: true };
        let text = run(&args).unwrap().text;
        assert!(text.contains("Trained on Universal Dependencies: UD_"));
        assert!(text.contains("jusText") && text.contains("\nzstd, "));
        let grants = text.matches("8. Limitation of Liability. In no event and under no legal theory").count();
        let packages = text.matches(", Apache-2.0").count();
        assert!(0 < grants && grants < packages, "{grants} copies of the Apache licence");
    }

    #[test]
    fn an_unknown_name_fails() {
        assert!(run(&Args { name: Some("no-such-package".to_owned()), full: false }).unwrap().failed);
    }
}
