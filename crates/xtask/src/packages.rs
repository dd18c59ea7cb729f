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
    /// The oldest compiler that its authors say builds it.
    pub rust_version: Option<String>,
    targets: Vec<Target>,
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

    /// Returns true for macros: code that runs in the compiler, and is not in the program.
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
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

#[derive(Debug, Clone, Deserialize)]
struct Target {
    kind: Vec<String>,
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
    ///
    /// Macros and what they need are among them, because parts of them may be copied into the code that they generate.
    pub fn inside(&self, roots: &[&str]) -> Vec<&Package> {
        self.reachable(roots, |_| true)
    }

    /// As [`Graph::inside`], without macros and what only they need.
    pub fn linked(&self, roots: &[&str]) -> Vec<&Package> {
        self.reachable(roots, |package| !package.is_macro())
    }

    fn reachable(&self, roots: &[&str], is_followed: impl Fn(&Package) -> bool) -> Vec<&Package> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&Package> = self.members().filter(|package| roots.contains(&&*package.name)).collect();
        while let Some(package) = open.pop() {
            if is_followed(package) && found.insert(&package.id) {
                open.extend(self.needs(package));
            }
        }
        sorted(found.into_iter().filter_map(|id| self.packages.get(id)))
    }

    /// The packages that this one needs itself, by name and version.
    pub fn direct(&self, package: &Package) -> Vec<&Package> {
        sorted(self.needs(package))
    }

    fn needs(&self, package: &Package) -> impl Iterator<Item = &Package> {
        self.needs.get(&package.id).into_iter().flatten().filter_map(|id| self.packages.get(id))
    }

    /// The names of packages that need this one.
    pub fn needed_by(&self, package: &Package) -> Vec<&str> {
        let needs_it = self.needs.iter().filter(|(_, needed)| needed.contains(&package.id));
        needs_it.filter_map(|(id, _)| self.packages.get(id)).map(|package| package.name.as_str()).collect()
    }
}

fn sorted<'a>(packages: impl Iterator<Item = &'a Package>) -> Vec<&'a Package> {
    let mut packages: Vec<&Package> = packages.collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// `root` needs `used` and the macro `derive`, which needs `syntax`; both need `deep`. `built` and `tested` are of its
    /// build script and tests.
    pub fn example() -> Graph {
        let package = |name: &str| {
            let source = if name == "root" { "null" } else { r#""registry""# };
            let kind = if name == "derive" { "proc-macro" } else { "lib" };
            format!(
                r#"{{"id": "{name}", "name": "{name}", "version": "1.0.0", "license": "MIT", "authors": [],
                "description": null, "repository": null, "rust_version": "1.80", "source": {source},
                "manifest_path": "/x/{name}/Cargo.toml", "publish": null, "targets": [{{"kind": ["{kind}"]}}]}}"#
            )
        };
        let edge = |(name, kind): &(&str, &str)| format!(r#"{{"pkg": "{name}", "dep_kinds": [{{"kind": {kind}}}]}}"#);
        let node = |(name, edges): &(&str, &[(&str, &str)])| {
            format!(r#"{{"id": "{name}", "deps": [{}]}}"#, edges.iter().map(edge).collect::<Vec<_>>().join(", "))
        };
        let nodes: [(&str, &[(&str, &str)]); 3] = [
            ("root", &[("used", "null"), ("derive", "null"), ("built", r#""build""#), ("tested", r#""dev""#)]),
            ("used", &[("deep", "null")]),
            ("derive", &[("syntax", "null"), ("deep", "null")]),
        ];
        let json = format!(
            r#"{{"packages": [{}], "workspace_members": ["root"], "resolve": {{"nodes": [{}]}}}}"#,
            ["root", "used", "deep", "built", "tested", "derive", "syntax"].map(package).join(", "),
            nodes.iter().map(node).collect::<Vec<_>>().join(", "),
        );
        Graph::parse(json.as_bytes()).unwrap()
    }

    fn names<'a>(packages: &[&'a Package]) -> Vec<&'a str> {
        packages.iter().map(|package| package.name.as_str()).collect()
    }

    #[test]
    fn packages_of_tests_and_build_scripts_are_not_inside_a_program() {
        let graph = example();
        assert_eq!(names(&graph.inside(&["root"])), ["deep", "derive", "root", "syntax", "used"]);
        assert!(graph.members().all(Package::is_own) && graph.inside(&["root"])[0].is_published());
    }

    #[test]
    fn macros_and_what_only_they_need_are_not_linked() {
        let graph = example();
        assert_eq!(names(&graph.linked(&["root"])), ["deep", "root", "used"]);
    }

    #[test]
    fn a_package_knows_what_it_needs_itself_and_what_needs_it() {
        let graph = example();
        let packages = graph.inside(&["root"]);
        assert_eq!(names(&graph.direct(packages[2])), ["derive", "used"]);
        assert_eq!(graph.needed_by(packages[0]), ["derive", "used"]);
    }
}
