//! The packages that a program consists of, as `cargo metadata` knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::command::{cargo, output};

/// The platform of released programs. Packages for other platforms are not in them.
pub const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// A package.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    id: String,
    pub name: String,
    pub version: String,
    /// SPDX expression.
    pub license: Option<String>,
    pub authors: Vec<String>,
    pub description: Option<String>,
    pub repository: Option<String>,
    /// The registry; None for packages of the workspace.
    pub source: Option<String>,
    manifest_path: PathBuf,
    /// None: every registry may publish it.
    publish: Option<Vec<String>>,
}

impl Package {
    /// The folder of its sources.
    pub fn folder(&self) -> PathBuf {
        self.manifest_path.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// Returns true for a package of this workspace.
    pub fn is_own(&self) -> bool {
        self.source.is_none()
    }

    /// Returns true if a registry may publish it.
    pub fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

/// All packages and what each needs.
pub struct Graph {
    packages: BTreeMap<String, Package>,
    members: Vec<String>,
    /// Packages that are compiled into a package, by its identifier. Build scripts and tests are not.
    needs: BTreeMap<String, Vec<String>>,
}

impl Graph {
    /// Asks cargo. The lock file must be up to date.
    pub fn read() -> Result<Graph> {
        let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM];
        Graph::parse(&output(cargo().args(arguments))?)
    }

    fn parse(json: &[u8]) -> Result<Graph> {
        let metadata: Metadata = serde_json::from_slice(json).context("cannot read the output of cargo metadata")?;
        let is_compiled_in = |edge: &&Edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let needs = metadata.resolve.nodes.into_iter().map(|node| {
            let needed = node.deps.iter().filter(is_compiled_in).map(|edge| edge.pkg.clone()).collect();
            (node.id, needed)
        });
        Ok(Graph {
            needs: needs.collect(),
            packages: metadata.packages.into_iter().map(|package| (package.id.clone(), package)).collect(),
            members: metadata.workspace_members,
        })
    }

    /// The packages of the workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.members.iter().filter_map(|id| self.packages.get(id))
    }

    /// The packages inside these packages of the workspace and themselves, by name and version.
    pub fn inside(&self, roots: &[&str]) -> Vec<&Package> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> =
            self.members().filter(|package| roots.contains(&package.name.as_str())).map(|root| &*root.id).collect();
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(self.needs.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        let mut packages: Vec<&Package> = found.into_iter().filter_map(|id| self.packages.get(id)).collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        packages
    }

    /// The names of packages that need this one.
    pub fn needed_by(&self, package: &Package) -> Vec<&str> {
        let needs_it = self.needs.iter().filter(|(_, needed)| needed.contains(&package.id));
        needs_it.filter_map(|(id, _)| self.packages.get(id)).map(|package| package.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_tests_and_build_scripts_are_not_inside_a_program() {
        let package = |name: &str, source: &str| {
            format!(
                r#"{{"id": "{name}", "name": "{name}", "version": "1.0.0", "license": "MIT", "authors": [],
                "description": null, "repository": null, "source": {source}, "manifest_path": "/x/{name}/Cargo.toml",
                "publish": null}}"#
            )
        };
        let edge = |name: &str, kind: &str| format!(r#"{{"pkg": "{name}", "dep_kinds": [{{"kind": {kind}}}]}}"#);
        let json = format!(
            r#"{{"packages": [{}], "workspace_members": ["root"], "resolve": {{"nodes": [
                {{"id": "root", "deps": [{}, {}, {}]}}, {{"id": "used", "deps": [{}]}}]}}}}"#,
            ["root", "used", "deep", "built", "tested"]
                .map(|name| package(name, if name == "root" { "null" } else { r#""registry""# }))
                .join(", "),
            edge("used", "null"),
            edge("built", r#""build""#),
            edge("tested", r#""dev""#),
            edge("deep", "null"),
        );
        let graph = Graph::parse(json.as_bytes()).unwrap();
        let names: Vec<&str> = graph.inside(&["root"]).iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["deep", "root", "used"]);
        let deep = graph.inside(&["root"])[0];
        assert_eq!(graph.needed_by(deep), ["used"]);
        assert!(graph.members().all(Package::is_own) && deep.is_published());
    }
}
