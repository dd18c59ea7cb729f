//! The Debian package.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{read, run, write};

/// Creates the user of the services. Services are not started: a home must be made first.
const POSTINST: &str = "#!/bin/sh
set -e
if [ \"$1\" = configure ]; then
    if command -v systemd-sysusers >/dev/null; then
        systemd-sysusers tidings.conf
    elif ! getent passwd tidings >/dev/null; then
        useradd --system --home-dir /var/lib/tidings --shell /usr/sbin/nologin tidings
    fi
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
";
/// Stops the services before their program goes. The home in /var/lib/tidings stays, also on purge: pages cannot be
/// downloaded again.
const PRERM: &str = "#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then
    systemctl stop tidings.service tidings-run.timer tidings-serve.service tidings-metrics.timer || true
fi
";

/// Builds `FILE` from a folder that is laid out as the package installs it, without the parts for Debian.
pub fn build(tree: &Path, version: &str, file: &Path, epoch: &str) -> Result<()> {
    let installed_bytes: u64 = files(tree)?.iter().map(|(_, bytes)| bytes).sum();
    let control = format!(
        "Package: tidings
Version: {version}
Architecture: amd64
Maintainer: The Tidings contributors <tidings@example.org>
Installed-Size: {}
Suggests: systemd
Section: text
Priority: optional
Description: monitor corpora from the news web
 Polls feeds, downloads articles, extracts text and metadata, finds duplicates,
 annotates and indexes. The corpus is queried in a web interface, over HTTP or
 on the command line: concordances, frequencies over time, trends, collocations.
",
        installed_bytes.div_ceil(1024)
    );
    let debian = tree.join("DEBIAN");
    write(&debian.join("control"), control)?;
    for (name, script) in [("postinst", POSTINST), ("prerm", PRERM)] {
        write(&debian.join(name), script)?;
        fs::set_permissions(debian.join(name), fs::Permissions::from_mode(0o755))?;
    }
    // Compressed with xz, which every Debian and Ubuntu reads, in one thread, so that the bytes are always the same.
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "--threads-max=1", "-Zxz", "--build"])
        .arg(tree)
        .arg(file)
        .env("SOURCE_DATE_EPOCH", epoch))
    .context("cannot make the Debian package (Debian: apt-get install dpkg)")?;
    fs::remove_dir_all(debian).context("cannot remove the folder DEBIAN")
}

/// Lays out the files of the package: the program with its manual pages, completions, units, user and notices.
pub fn lay_out(tree: &Path, program: &Path, made: &Path) -> Result<()> {
    let packaging = crate::root().join("packaging");
    let copy = |from: &Path, to: &str, mode: u32| -> Result<()> {
        write(&tree.join(to), read(from)?)?;
        fs::set_permissions(tree.join(to), fs::Permissions::from_mode(mode)).context("cannot set permissions")
    };
    copy(program, "usr/bin/tidings", 0o755)?;
    for (unit, _) in files(&packaging.join("systemd"))? {
        let name = unit.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".sysusers") {
            copy(&unit, &format!("usr/lib/systemd/system/{name}"), 0o644)?;
        }
    }
    copy(&packaging.join("systemd/tidings.sysusers"), "usr/lib/sysusers.d/tidings.conf", 0o644)?;
    for (from, to) in [
        ("completions/tidings.bash", "usr/share/bash-completion/completions/tidings"),
        ("completions/_tidings", "usr/share/zsh/vendor-completions/_tidings"),
        ("completions/tidings.fish", "usr/share/fish/vendor_completions.d/tidings.fish"),
        ("NOTICES", "usr/share/doc/tidings/copyright"),
    ] {
        copy(&made.join(from), to, 0o644)?;
    }
    copy(&packaging.join("README.md"), "usr/share/doc/tidings/README.md", 0o644)?;
    for file in ["prometheus/tidings.rules.yml", "grafana/tidings.json", "cron/tidings"] {
        copy(&packaging.join(file), &format!("usr/share/doc/tidings/examples/{file}"), 0o644)?;
    }
    for (page, _) in files(&made.join("man"))? {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        copy(&page, &format!("usr/share/man/man1/{name}"), 0o644)?;
    }
    Ok(())
}

/// The files of a folder and below, sorted, with their sizes.
pub fn files(folder: &Path) -> Result<Vec<(std::path::PathBuf, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => found.extend(files(&entry.path())?),
            false => found.push((entry.path(), entry.metadata()?.len())),
        }
    }
    found.sort();
    Ok(found)
}
