//! Two builds in two folders, which must give the same bytes.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use sha2::{Digest as _, Sha256};

use crate::command::{read, run};
use crate::dist::{self, Platform};

/// Builds the last commit in two folders whose paths differ in length, and compares the programs.
pub fn run_reproduce(platform: Platform, profile: &str, folder: &Path) -> Result<()> {
    let epoch = dist::source_date_epoch()?;
    let mut digests = Vec::new();
    for name in ["one", "another-place"] {
        let sources = std::path::absolute(folder)?.join(name);
        run(Command::new("git")
            .args(["clone", "--quiet", "--shared"])
            .arg(crate::root().canonicalize()?)
            .arg(&sources))?;
        let program = dist::build(platform, profile, &sources, &sources.join("target"), &epoch)?;
        let bytes = read(&program)?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{digest}  {} bytes  {}", bytes.len(), program.display());
        digests.push(digest);
    }
    if digests[0] != digests[1] {
        bail!("the two builds differ; `diffoscope` shows where");
    }
    Ok(())
}
