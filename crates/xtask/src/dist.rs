//! A release: a static program as an archive and as a Debian package, wheels, sums, bill of materials, manifest. The program
//! has the models of the largest languages; those of the others are files beside it, or a wheel of their own.
//!
//! Every file depends on the sources, the lock file and the compiler only: paths of the building machine are replaced,
//! and times are those of the commit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::command::{cargo, exists, output, read, run, write};
use crate::packages::Graph;
use crate::{deb, models_wheel, packages, sbom};

/// Features of released programs and wheels.
const FEATURES: &str = "models-core,object-storage";

/// The namespace of signatures, so that a signature of something else is never taken for one of a release.
const NAMESPACE: &str = "tidings-release";

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Folder for the files of the release
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Profile to build with
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Target of the program
    #[arg(long, value_enum, default_value_t = Platform::Glibc)]
    target: Platform,
    /// Program that makes the wheel and the source distribution; without it, there are none
    #[arg(long, value_name = "MATURIN")]
    maturin: Option<PathBuf>,
    /// Private key of SSH that signs the manifest
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

pub fn run_dist(options: &Options) -> Result<()> {
    let graph = Graph::read()?;
    let version = graph
        .members()
        .find(|package| package.name == "tidings-cli")
        .map(|package| package.version.clone())
        .context("the workspace has no tidings-cli")?;
    let out = std::path::absolute(&options.out)?;
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    if fs::read_dir(&out)?.next().is_some() {
        bail!("{} is not empty; files of an older release would be signed with this one", out.display());
    }
    let platform = options.target;
    let epoch = source_date_epoch()?;
    let target_dir = target_dir()?;
    let program = build(platform, &options.profile, crate::root(), &target_dir, &epoch)?;

    let work = target_dir.join("xtask-dist");
    let _ = fs::remove_dir_all(&work);
    let name = format!("tidings-{version}-x86_64-linux");
    let made = work.join(&name);
    make_documents(&program, &made)?;
    fs::copy(&program, made.join("tidings")).context("cannot copy the program")?;
    add_models(&made.join("models"))?;
    archive(&work, &name, &out.join(format!("{name}.tar.gz")), &epoch)?;
    let tree = work.join("deb");
    deb::lay_out(&tree, &program, &made)?;
    add_models(&tree.join("usr/share/tidings/models"))?;
    deb::build(&tree, &version, &out.join(format!("tidings_{version}_amd64.deb")), &epoch)?;
    write(&out.join(format!("tidings-{version}.cdx.json")), sbom::bill(&graph, &version)?)?;
    if let Some(maturin) = &options.maturin {
        wheel(maturin, &options.profile, &out, &target_dir, &epoch)?;
        models_wheel::build(&version, &out)?;
        source_distribution(maturin, &version, &out, &work, &epoch)?;
    }
    manifest(&out, &version, options)?;
    for (path, bytes) in deb::files(&out)? {
        println!("{:>12}  {}", bytes, path.display());
    }
    Ok(())
}

/// A platform whose programs need no library of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Platform {
    /// glibc linked statically. Names of hosts are resolved by our own resolver, so NSS is not needed.
    #[value(name = "x86_64-unknown-linux-gnu")]
    Glibc,
    /// musl, for machines that build without a static glibc.
    #[value(name = "x86_64-unknown-linux-musl")]
    Musl,
}

impl Platform {
    /// The target as rustc names it.
    fn name(self) -> &'static str {
        match self {
            Platform::Glibc => "x86_64-unknown-linux-gnu",
            Platform::Musl => "x86_64-unknown-linux-musl",
        }
    }

    /// The features of the program. The allocator of musl takes one lock for all threads, and has none of the settings of
    /// `tidings_mapped::allocator`.
    fn features(self) -> String {
        match self {
            Platform::Glibc => FEATURES.to_owned(),
            Platform::Musl => format!("{FEATURES},mimalloc"),
        }
    }

    /// Checks that the machine can build for it, because the errors of compilers do not say what to install.
    fn check(self) -> Result<()> {
        if self == Platform::Musl && !exists("musl-gcc") {
            bail!("musl-gcc is missing (Debian: apt-get install musl-tools)");
        }
        let name = self.name();
        let query = ["--print", "target-libdir", "--target", name];
        let folder = String::from_utf8(output(Command::new("rustc").args(query))?)?;
        if !Path::new(folder.trim()).is_dir() {
            bail!("the standard library for {name} is missing (rustup target add {name})");
        }
        Ok(())
    }
}

/// Builds the program from the sources in `root`, so that its bytes do not depend on where they and the tools are.
pub fn build(platform: Platform, profile: &str, root: &Path, target_dir: &Path, epoch: &str) -> Result<PathBuf> {
    platform.check()?;
    let target = platform.name();
    let mut command = cargo();
    command.current_dir(root).args(["rustc", "--locked", "--package", "tidings-cli", "--bin", "tidings"]);
    command.args(["--profile", profile, "--no-default-features", "--features", &platform.features()]);
    command.args(["--target", target]).env("CARGO_TARGET_DIR", target_dir).env("CARGO_INCREMENTAL", "0");
    set_flags(&mut command, root, target_dir, epoch)?;
    // For the last step only, so that the wheel is linked from the same crates.
    command.args(["--", "-Ctarget-feature=+crt-static"]);
    run(&mut command)?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target_dir.join(target).join(folder).join("tidings"))
}

/// Flags of the compilers of Rust and C that replace paths of this machine.
fn set_flags(command: &mut Command, root: &Path, target_dir: &Path, epoch: &str) -> Result<()> {
    let root = root.canonicalize().context("cannot find the root of the sources")?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    // The last that fits counts: the folder of the build may be below the root.
    let names = [(home.as_path(), "/cargo"), (root.as_path(), "/tidings"), (target_dir, "/target")];
    let mut flags = Vec::new();
    let mut c_flags = String::from("-O3");
    for (path, name) in names {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
        let _ = write!(c_flags, " -ffile-prefix-map={}={name}", path.display());
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command.env("CFLAGS", c_flags).env("SOURCE_DATE_EPOCH", epoch);
    Ok(())
}

/// The time of the last commit in seconds, or what the environment says.
pub fn source_date_epoch() -> Result<String> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(given);
    }
    let arguments = ["log", "-1", "--format=%ct"];
    let time = output(Command::new("git").args(arguments).current_dir(crate::root()))
        .context("cannot find the time of the last commit; outside a clone, set SOURCE_DATE_EPOCH")?;
    Ok(String::from_utf8(time)?.trim().to_owned())
}

pub fn target_dir() -> Result<PathBuf> {
    let given = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from);
    fs::create_dir_all(&given).with_context(|| format!("cannot create {}", given.display()))?;
    given.canonicalize().context("cannot find the target folder")
}

/// Copies the models that the program does not contain into a folder, with their licences.
fn add_models(folder: &Path) -> Result<()> {
    let packs = models_wheel::optional_packs()?;
    for pack in &packs {
        write(&folder.join(pack.path.file_name().unwrap_or_default()), read(&pack.path)?)?;
    }
    write(&folder.join("ATTRIBUTION"), models_wheel::attribution(&packs))
}

/// What the program prints about itself, beside the texts of the repository.
fn make_documents(program: &Path, folder: &Path) -> Result<()> {
    let tidings = |arguments: &[&str]| output(Command::new(program).args(arguments));
    for (shell, file) in [("bash", "tidings.bash"), ("zsh", "_tidings"), ("fish", "tidings.fish")] {
        write(&folder.join("completions").join(file), tidings(&["completions", shell])?)?;
    }
    run(Command::new(program).args(["man", "--dir"]).arg(folder.join("man")))?;
    write(&folder.join("NOTICES"), tidings(&["licenses", "--full"])?)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        write(&folder.join(file), read(&crate::root().join(file))?)?;
    }
    Ok(())
}

/// A gzipped archive with sorted names, without owners, and with the time of the commit.
fn archive(folder: &Path, name: &str, file: &Path, epoch: &str) -> Result<()> {
    let plain = folder.join("archive.tar");
    run(Command::new("tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"])
        .arg(format!("--mtime=@{epoch}"))
        .arg("-cf")
        .arg(&plain)
        .arg("-C")
        .arg(folder)
        .arg(name))?;
    let mut gzip = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut gzip, &read(&plain)?)?;
    fs::remove_file(&plain)?;
    write(file, gzip.finish()?)
}

/// The wheel.
fn wheel(maturin: &Path, profile: &str, out: &Path, target_dir: &Path, epoch: &str) -> Result<()> {
    let crate_dir = crate::root().join("crates/python");
    let mut command = Command::new(std::path::absolute(maturin)?);
    command.current_dir(&crate_dir).args(["build", "--locked", "--profile", profile]);
    command.args(["--no-default-features", "--features", FEATURES, "--target", Platform::Glibc.name()]);
    command.arg("--target-dir").arg(target_dir).arg("--out").arg(out).env("CARGO_INCREMENTAL", "0");
    set_flags(&mut command, crate::root(), target_dir, epoch)?;
    run(&mut command)
}

/// The source distribution of the Python package. maturin takes over the lock file of the whole workspace, with which
/// `--locked` fails, because some of its crates are not in the archive; here they leave the lock file.
fn source_distribution(maturin: &Path, version: &str, out: &Path, work: &Path, epoch: &str) -> Result<()> {
    let folder = work.join("sdist");
    let crate_dir = crate::root().join("crates/python");
    run(Command::new(std::path::absolute(maturin)?).current_dir(crate_dir).args(["sdist", "--out"]).arg(&folder))?;
    let name = format!("tidings-{version}");
    let file = format!("{name}.tar.gz");
    run(Command::new("tar").current_dir(&folder).arg("-xzf").arg(&file))?;
    // Only packages of the platform of releases were downloaded for the build.
    let metadata = ["metadata", "--offline", "--format-version=1", "--filter-platform", packages::PLATFORM];
    output(cargo().current_dir(folder.join(&name)).args(metadata))?;
    archive(&folder, &name, &out.join(file), epoch)
}

/// SHA-256 sums, and a manifest of all files with what they were made with.
fn manifest(out: &Path, version: &str, options: &Options) -> Result<()> {
    let mut sums = String::new();
    let mut files = Vec::new();
    for (path, bytes) in deb::files(out)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digest: String = Sha256::digest(read(&path)?).iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(sums, "{digest}  {name}");
        files.push(json!({ "name": name, "bytes": bytes, "sha256": digest }));
    }
    write(&out.join("SHA256SUMS"), sums)?;
    let line = |command: &mut Command| -> Result<String> { Ok(String::from_utf8(output(command)?)?.trim().to_owned()) };
    let root = crate::root();
    let manifest = json!({
        "name": "tidings",
        "version": version,
        "commit": line(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root)).ok(),
        "rustc": line(Command::new("rustc").arg("-V").current_dir(root))?,
        "target": options.target.name(),
        "features": options.target.features(),
        "profile": options.profile,
        "files": files,
    });
    let path = out.join("manifest.json");
    write(&path, format!("{manifest:#}\n"))?;
    if let Some(key) = &options.sign {
        run(Command::new("ssh-keygen").args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key).arg(&path))?;
    }
    Ok(())
}
