//! Measures CPU time and memory on adversarial pages, each in its own process.

use std::process::Command;

use bench_extract::hostile::HOSTILE_PAGES;
use clap::Parser;
use tidings_clean::{HtmlInput, Options, extract};
use wait4::Wait4;

/// Measures adversarial pages.
#[derive(Parser)]
struct Args {
    /// Page sizes in bytes; several sizes show how the cost grows.
    #[arg(long, value_delimiter = ',', default_value = "1000000,10000000,50000000")]
    sizes: Vec<usize>,
    /// Extract one page and exit; used for the child processes.
    #[arg(long, hide = true)]
    shape: Option<usize>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Some(shape) = args.shape {
        let html = (HOSTILE_PAGES[shape].make)(args.sizes[0]);
        let document = extract(&HtmlInput { html: &html, url: None, ..HtmlInput::default() }, &Options::default());
        std::hint::black_box(&document);
        return Ok(());
    }
    println!("{:<36} {:>12} {:>10} {:>10}", "shape", "bytes", "CPU s", "MiB");
    let (mut slowest, mut largest) = (0.0f64, 0u64);
    for (place, shape) in HOSTILE_PAGES.iter().enumerate() {
        for size in &args.sizes {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("--shape").arg(place.to_string()).arg("--sizes").arg(size.to_string());
            let used = command.spawn()?.wait4()?;
            let seconds = (used.rusage.utime + used.rusage.stime).as_secs_f64();
            let mib = used.rusage.maxrss >> 20;
            let mark = if used.status.success() { "" } else { "  DIED" };
            println!("{:<36} {size:>12} {seconds:>10.2} {mib:>10}{mark}", shape.name);
            slowest = slowest.max(seconds);
            largest = largest.max(mib);
        }
    }
    println!("at most {slowest:.2} s and {largest} MiB");
    Ok(())
}
