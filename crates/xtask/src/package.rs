//! The crates as they would be published.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, run};
use crate::dist::target_dir;
use crate::packages::{Graph, Package};

/// The largest archive that crates.io takes.
const LIMIT_BYTES: u64 = 10 << 20;

/// Packages every crate that may be published. Without `verify` the archives are made and not built, which takes
/// seconds.
pub fn run_package(verify: bool) -> Result<()> {
    let graph = Graph::read()?;
    let published: Vec<&Package> = graph.members().filter(|package| package.is_published()).collect();
    for package in &published {
        if package.license.is_none() || package.description.is_none() {
            bail!("{} has no licence or no description", package.name);
        }
    }
    let mut command = cargo();
    command.args(["package", "--locked", "--allow-dirty", "--quiet"]);
    for package in &published {
        command.args(["--package", &package.name]);
    }
    if !verify {
        command.arg("--no-verify");
    }
    run(&mut command)?;
    let folder = target_dir()?.join("package");
    for package in &published {
        let file = folder.join(format!("{}-{}.crate", package.name, package.version));
        let bytes = fs::metadata(&file).with_context(|| format!("cargo made no {}", file.display()))?.len();
        if bytes > LIMIT_BYTES {
            eprintln!("{}: {bytes} bytes are more than crates.io takes; other registries and folders do", package.name);
        }
    }
    println!("{} crates are packaged in {}", published.len(), folder.display());
    Ok(())
}
