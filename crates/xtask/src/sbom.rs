//! The bill of materials of the program in the format CycloneDX 1.6.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::packages::{Graph, Package};

/// The bill of `tidings-cli`: every package that is compiled into it, with licence and origin.
pub fn bill(graph: &Graph, version: &str) -> Result<String> {
    let packages = graph.inside(&["tidings-cli"]);
    let components: Vec<Value> =
        packages.iter().filter(|package| package.name != "tidings-cli").map(|package| component(package)).collect();
    let depends_on: Vec<String> = packages.iter().map(|package| package_url(package)).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": format!("pkg:cargo/tidings-cli@{version}"),
                "name": "tidings",
                "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
        "dependencies": [{ "ref": format!("pkg:cargo/tidings-cli@{version}"),
            "dependsOn": depends_on.iter().filter(|url| !url.contains("/tidings-cli@")).collect::<Vec<_>>() }],
    });
    Ok(serde_json::to_string_pretty(&bill).context("cannot write the bill of materials")? + "\n")
}

fn package_url(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": package_url(package),
        "name": package.name,
        "version": package.version,
        "purl": package_url(package),
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
