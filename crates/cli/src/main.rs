//! `tidings`: the command line.

use std::process::ExitCode;

/// Tokens are small strings by the million. Freed bodies of answers stay in memory longer than with the system's
/// allocator, so it is not the default.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(tidings_cli::main(std::env::args_os()))
}
