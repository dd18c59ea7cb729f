//! The bill of materials of the program in the format CycloneDX 1.6.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::packages::{Graph, Package};

/// The bill of `tidings-cli`: every package that is compiled into it, with licence, origin and what it needs itself.
/// Packages that run in the compiler only (macros) have the scope `excluded`.
pub fn bill(graph: &Graph, version: &str) -> Result<String> {
    bill_of(graph, PROGRAM, version)
}

const PROGRAM: &str = "tidings-cli";

fn bill_of(graph: &Graph, program: &str, version: &str) -> Result<String> {
    let packages = graph.inside(&[program]);
    let linked: BTreeSet<String> = graph.linked(&[program]).into_iter().map(package_url).collect();
    let components: Vec<Value> = packages
        .iter()
        .filter(|package| package.name != program)
        .map(|package| component(package, linked.contains(&package_url(package))))
        .collect();
    let dependencies: Vec<Value> = packages
        .iter()
        .map(|package| {
            let needed: Vec<String> = graph.direct(package).into_iter().map(package_url).collect();
            json!({ "ref": package_url(package), "dependsOn": needed })
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": format!("pkg:cargo/{program}@{version}"),
                "name": "tidings",
                "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&bill).context("cannot write the bill of materials")? + "\n")
}

fn package_url(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package, is_linked: bool) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": package_url(package),
        "name": package.name,
        "version": package.version,
        "purl": package_url(package),
        "scope": if is_linked { "required" } else { "excluded" },
        // SPDX knows no `/`.
        "licenses": [{ "expression": package.license.as_deref().unwrap_or("NOASSERTION").replace('/', " OR ") }],
    });
    if let Some(description) = &package.description {
        component["description"] = description.trim().into();
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::tests::example;

    #[test]
    fn a_bill_tells_direct_from_transitive_dependencies_and_macros_from_linked_packages() {
        let bill: Value = serde_json::from_str(&bill_of(&example(), "root", "1.0.0").unwrap()).unwrap();
        let scopes: Vec<(&str, &str)> = bill["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| (component["name"].as_str().unwrap(), component["scope"].as_str().unwrap()))
            .collect();
        let expected = [("deep", "required"), ("derive", "excluded"), ("syntax", "excluded"), ("used", "required")];
        assert_eq!(scopes, expected);
        let needs = |name: &str| {
            let is_it = |row: &&Value| row["ref"] == format!("pkg:cargo/{name}@1.0.0");
            bill["dependencies"].as_array().unwrap().iter().find(is_it).unwrap()["dependsOn"].clone()
        };
        assert_eq!(needs("root"), json!(["pkg:cargo/derive@1.0.0", "pkg:cargo/used@1.0.0"]));
        assert_eq!(needs("used"), json!(["pkg:cargo/deep@1.0.0"]));
        assert_eq!(needs("deep"), json!([]));
        assert_eq!(bill["metadata"]["component"]["bom-ref"], "pkg:cargo/root@1.0.0");
    }
}
