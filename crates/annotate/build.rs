//! Embeds the files of `models/registry.tsv` that the features choose: `models-all`, `models-core` or none.
//!
//! Writes `OUT_DIR/packs.rs`: the tables `TAGS` and `BOUNDARIES` of file names and bytes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let models = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is")).join("models");
    println!("cargo:rerun-if-changed={}", models.display());
    let registry = models.join("registry.tsv");
    let text =
        fs::read_to_string(&registry).unwrap_or_else(|error| panic!("cannot read {}: {error}", registry.display()));
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    // Sentence boundaries are small, and text must be split alike in all programs that have models at all.
    let is_chosen =
        |kind: &str, set: &str| has("MODELS_ALL") || has("MODELS_CORE") && (set == "core" || kind == "boundaries");
    let mut code = String::new();
    for (kind, name) in [("tags", "TAGS"), ("boundaries", "BOUNDARIES")] {
        let _ = writeln!(code, "/// Packs of {kind} by language.");
        let _ = writeln!(code, "pub static {name}: &[(&str, &[u8])] = &[");
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            if fields[0] == kind && is_chosen(kind, fields[3]) {
                let _ = writeln!(code, "    ({:?}, include_bytes!({:?})),", fields[1], models.join(fields[2]));
            }
        }
        code.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    fs::write(out.join("packs.rs"), code).expect("OUT_DIR is writable");
}
