//! With `--cfg tidings_fuzz`: libFuzzer over the target that `TIDINGS_FUZZ` names.
//!
//! Without: `tidings-fuzz NAME FILE…` runs files through a target, for the analysis of a finding; `tidings-fuzz list`
//! prints the targets with their folders of seeds; `tidings-fuzz seeds` writes the seeds that are made by code.

#![cfg_attr(tidings_fuzz, no_main)]

#[cfg(tidings_fuzz)]
mod libfuzzer {
    use std::sync::OnceLock;

    use tidings_fuzz::{Target, by_name};

    fn target() -> &'static Target {
        static TARGET: OnceLock<&'static Target> = OnceLock::new();
        TARGET.get_or_init(|| {
            let name = std::env::var("TIDINGS_FUZZ").unwrap_or_default();
            by_name(&name).unwrap_or_else(|| panic!("TIDINGS_FUZZ={name} names no target"))
        })
    }

    libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (target().run)(bytes));
}

#[cfg(not(tidings_fuzz))]
fn main() -> std::process::ExitCode {
    use tidings_fuzz::{TARGETS, by_name, seeds};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.fixtures.join(" "))),
        ["seeds"] => seeds::write(),
        [name, ref files @ ..] if by_name(name).is_some() && !files.is_empty() => {
            let target = by_name(name).expect("the guard has found it");
            for file in files {
                match std::fs::read(file) {
                    Ok(bytes) => (target.run)(&bytes),
                    Err(error) => {
                        eprintln!("cannot read {file}: {error}");
                        return std::process::ExitCode::FAILURE;
                    }
                }
            }
        }
        _ => {
            eprintln!("usage: tidings-fuzz list | seeds | TARGET FILE...");
            return std::process::ExitCode::FAILURE;
        }
    }
    std::process::ExitCode::SUCCESS
}
