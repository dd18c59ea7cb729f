//! Tasks of the repository: `cargo xtask TASK`.
//!
//! | task | result |
//! |---|---|
//! | `licenses` | notices of all packages in the program, which `tidings licenses` prints |
//! | `deny` | licences, duplicates and banned packages, compared with `deny.toml` |
//! | `book` | the documentation as a searchable book |
//! | `package` | the crates as they would be published |
//! | `dist` | what a release consists of: programs, Debian package, wheels, sums, bill of materials, signed manifest |
//! | `reproduce` | two builds in two folders, compared byte by byte |
//! | `bench` | benchmarks by name, and the table and picture of their key figures |

mod bench;
mod book;
mod command;
mod deb;
mod deny;
mod dist;
mod licenses;
mod models_wheel;
mod package;
mod packages;
mod reproduce;
mod sbom;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser;

/// Tasks of the repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Write the notices of all packages in the program
    Licenses {
        /// Compare with the committed file instead of writing it
        #[arg(long)]
        check: bool,
    },
    /// Check licences, duplicates, sources and bans of all dependencies against deny.toml
    Deny,
    /// Build the documentation as a book
    Book {
        /// The program mdbook
        #[arg(long, default_value = "mdbook")]
        mdbook: PathBuf,
        /// New folder for the book
        #[arg(long, value_name = "DIR", default_value = "target/book")]
        out: PathBuf,
    },
    /// Package all crates that can be published, without building them again
    Package {
        /// Build each package from its archive
        #[arg(long)]
        verify: bool,
    },
    /// Build a release
    Dist(dist::Options),
    /// Build twice in different folders and compare
    Reproduce {
        /// Profile to build with
        #[arg(long, default_value = "release")]
        profile: String,
        /// Target of the program
        #[arg(long, value_enum, default_value_t = dist::Platform::Glibc)]
        target: dist::Platform,
        /// Folder for both copies and their builds
        #[arg(long, value_name = "DIR")]
        folder: PathBuf,
    },
    /// Run benchmarks by name, and write the table and picture of their key figures
    Bench(bench::Options),
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn main() -> Result<()> {
    match Task::parse() {
        Task::Licenses { check } => licenses::run(check),
        Task::Deny => deny::run(),
        Task::Book { mdbook, out } => book::build(&mdbook, &out),
        Task::Package { verify } => package::run_package(verify),
        Task::Dist(options) => dist::run_dist(&options),
        Task::Reproduce { profile, target, folder } => reproduce::run_reproduce(target, &profile, &folder),
        Task::Bench(options) => bench::run_bench(&options),
    }
}
