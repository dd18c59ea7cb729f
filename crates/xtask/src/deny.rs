//! Checks of all dependencies against `deny.toml`: licences, duplicates, sources, bans.
//!
//! The file is that of cargo-deny, which also compares dependencies with the database of advisories and needs the network
//! for it. This check needs neither, runs in CI in a second, and reads the same lists.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::command::read;
use crate::packages::{Graph, Package};

#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// Licences that one package may have besides.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

impl Licenses {
    fn allowed_for(&self, package: &Package) -> Vec<String> {
        let exceptions = self.exceptions.iter().filter(|exception| exception.package == package.name);
        self.allow.iter().chain(exceptions.flat_map(|exception| &exception.allow)).cloned().collect()
    }
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Named>,
    skip: Vec<Named>,
}

/// A package with the reason for its rule; `name@version` or the name alone.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "crate")]
    package: String,
}

#[derive(Deserialize)]
struct Sources {
    #[serde(rename = "allow-registry")]
    allow_registry: Vec<String>,
}

pub fn run() -> Result<()> {
    let rules: Rules = toml::from_str(&String::from_utf8(read(&crate::root().join("deny.toml"))?)?)
        .context("cannot read deny.toml")?;
    let graph = Graph::read()?;
    let packages = graph.inside(&["tidings-cli", "tidings-python"]);
    let mut faults = licence_faults(&packages, &rules.licenses);
    faults.extend(ban_faults(&graph, &packages, &rules.bans));
    faults.extend(compiler_faults(&packages));
    for package in packages.iter().filter(|package| !package.is_own()) {
        let source = package.source.as_deref().unwrap_or_default();
        if !rules.sources.allow_registry.iter().any(|allowed| source.ends_with(allowed.as_str())) {
            faults.push(format!("{} comes from {source}, which deny.toml does not allow", package.name));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    println!("{} packages follow deny.toml", packages.len());
    Ok(())
}

fn licence_faults(packages: &[&Package], licenses: &Licenses) -> Vec<String> {
    let is_refused = |package: &&&Package| {
        !satisfied(package.license.as_deref().unwrap_or_default(), &licenses.allowed_for(package))
    };
    let fault = |package: &&Package| {
        let license = package.license.as_deref().unwrap_or("none");
        format!("{} {}: licence {license} is not among those that deny.toml allows", package.name, package.version)
    };
    packages.iter().filter(is_refused).map(fault).collect()
}

fn ban_faults(graph: &Graph, packages: &[&Package], bans: &Bans) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let names = |package: &Package, named: &Named| {
        named.package == package.name || named.package == format!("{}@{}", package.name, package.version)
    };
    let mut faults = Vec::new();
    for package in packages {
        if bans.deny.iter().any(|named| names(package, named)) {
            faults.push(format!("{} is banned, and needed by {}", package.name, graph.needed_by(package).join(", ")));
        }
        let newest = versions.get(package.name.as_str()).and_then(BTreeSet::last);
        let is_older = newest.is_some_and(|newest| *newest != package.version);
        if is_older && !bans.skip.iter().any(|named| names(package, named)) {
            let needed_by = graph.needed_by(package).join(", ");
            faults.push(format!("{} is there a second time as {}, for {needed_by}", package.name, package.version));
        }
    }
    faults
}

/// Packages that need a newer compiler than the workspace says (`rust-version`).
fn compiler_faults(packages: &[&Package]) -> Vec<String> {
    let version = |package: &Package| package.rust_version.as_deref().map(release);
    let Some(oldest) = packages.iter().filter(|package| package.is_own()).filter_map(|package| version(package)).min()
    else {
        return vec!["no package of the workspace has a rust-version".to_owned()];
    };
    let is_newer = |package: &&&Package| version(package).is_some_and(|needed| needed > oldest);
    let fault = |package: &&Package| {
        let needed = package.rust_version.as_deref().unwrap_or_default();
        let (major, minor, _) = oldest;
        format!("{} {} needs Rust {needed}, the workspace {major}.{minor}", package.name, package.version)
    };
    packages.iter().filter(is_newer).map(fault).collect()
}

/// The numbers of a release of Rust: 1.91 and 1.91.0 are the same.
fn release(version: &str) -> (u32, u32, u32) {
    let mut numbers = version.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

/// Returns true if the allowed licences satisfy an SPDX expression. `AND` binds closer than `OR`; the old `/` is `OR`.
fn satisfied(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let holds = either(&mut rest, allowed);
    holds && rest.is_empty()
}

fn either(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut holds = both(rest, allowed);
    while let Some(("OR", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        holds |= both(rest, allowed);
    }
    holds
}

fn both(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut holds = single(rest, allowed);
    while let Some(("AND", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        holds &= single(rest, allowed);
    }
    holds
}

/// One licence, with its exception, or an expression in parentheses.
fn single(rest: &mut &[&str], allowed: &[String]) -> bool {
    let Some((word, after)) = rest.split_first() else { return false };
    *rest = after;
    if *word == "(" {
        let holds = either(rest, allowed);
        let Some((&")", after)) = rest.split_first() else { return false };
        *rest = after;
        return holds;
    }
    let mut name = (*word).to_owned();
    if let [with, exception, after @ ..] = *rest
        && *with == "WITH"
    {
        name = format!("{name} WITH {exception}");
        *rest = after;
    }
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::tests::example;

    #[test]
    fn packages_that_need_a_newer_compiler_than_the_workspace_are_faults() {
        let graph = example();
        let mut packages: Vec<Package> = graph.inside(&["root"]).into_iter().cloned().collect();
        let faults = |packages: &[Package]| compiler_faults(&packages.iter().collect::<Vec<_>>());
        assert!(faults(&packages).is_empty());
        for (needed, is_fault) in [("1.80.0", false), ("1.9", false), ("1.80.1", true), ("1.100", true), ("2.0", true)]
        {
            packages[0].rust_version = Some(needed.to_owned());
            assert_eq!(faults(&packages).len(), usize::from(is_fault), "{needed}");
        }
        assert_eq!(faults(&packages), ["deep 1.0.0 needs Rust 2.0, the workspace 1.80"]);
    }

    #[test]
    fn expressions_hold_if_allowed_licences_satisfy_them() {
        let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for (expression, holds) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("MIT/GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 OR MIT AND ISC", true),
            ("(GPL-3.0 OR MIT) AND ISC", true),
            ("(GPL-3.0 OR MIT) AND Zlib", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("(MIT", false),
            ("MIT ISC", false),
            ("", false),
        ] {
            assert_eq!(satisfied(expression, &allowed), holds, "{expression}");
        }
    }
}
