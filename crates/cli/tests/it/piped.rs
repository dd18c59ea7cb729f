//! Runs the program with bytes on its standard input and captures its output.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The exit code and the output of a finished command.
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command with `input` on its standard input.
pub fn run(mut command: Command, input: impl AsRef<[u8]>) -> Finished {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref();
    let out = std::thread::scope(|scope| {
        // A broken pipe is not a failure: a command may reject its arguments before it reads anything.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Finished {
        code: out.status.code().expect("no signal ended it"),
        stdout: String::from_utf8(out.stdout).expect("what is printed is UTF-8"),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}
