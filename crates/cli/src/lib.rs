//! The command line `tidings`, as a library: the binary and the Python package run the same function.
//!
//! One file per command under `cmd`; messages, progress and exit codes here.

mod args;
mod chart;
mod cmd;
mod console;
mod help;
mod signals;
mod style;
mod table;

use std::ffi::OsString;

use clap::Parser;

use args::{Args, Verb};
use tidings_pipeline::usage_error::UsageError;
use tidings_query::question::QuestionError;

/// The logger that [`main`] installs. A program that has installed one of its own passes messages on to it.
pub fn logger() -> &'static dyn log::Log {
    &console::LOGGER
}

/// Runs the command that the arguments name, the program's name first. Prints its output, and returns the exit code.
/// Wrong usage ends the process.
///
/// SIGPIPE must be ignored, as the standard library and Python do; a closed pipe (`| head`) is noticed when printing.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let args = Args::parse_from(arguments);
    console::set_verbosity(args.global.verbosity());
    let json = args.global.json;
    // The outcome of work is a message; the answer to a question is what was asked for.
    let is_silent = args.global.quiet && args.verb.is_work();
    // A server answers with buffers of very different sizes over months, and returns what it can.
    if !matches!(args.verb, Verb::Serve(_)) {
        tidings_mapped::allocator::keep_freed_memory();
    }
    match run(args) {
        Ok(report) => {
            if json && !report.json.is_null() {
                console::print(&format!("{}\n", report.json));
            } else if !report.text.is_empty() && (!is_silent || report.failed || report.partly) {
                console::print(&report.text);
            }
            match (report.failed, report.partly) {
                (true, _) => 1,
                (false, true) => 3,
                (false, false) => 0,
            }
        }
        Err(error) => {
            log::error!("{error:#}");
            if json {
                console::print(&format!("{}\n", serde_json::json!({ "done": false, "error": format!("{error:#}") })));
            }
            if is_wrong_usage(&error) { 2 } else { 1 }
        }
    }
}

/// Whether an error is about what was asked for: a wrong query, an unknown field, a name that does not exist.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let question = cause.downcast_ref::<QuestionError>();
        cause.is::<UsageError>()
            || matches!(question, Some(QuestionError::Parameter { .. } | QuestionError::Syntax { .. }))
    })
}

fn run(args: Args) -> anyhow::Result<cmd::Report> {
    let global = &args.global;
    match args.verb {
        Verb::Demo(args) => cmd::demo::run(&args),
        Verb::Init(args) => cmd::init::run(&args),
        Verb::Update(args) => cmd::update::run(&args, global),
        Verb::Fetch(args) => cmd::fetch::run(&args, global),
        Verb::Import(args) => cmd::import::run(&args, global),
        Verb::Run(args) => cmd::run::run(&args, global),
        Verb::Status(args) => cmd::status::run(&args, global),
        Verb::Report(args) => cmd::report::run(&args, global),
        Verb::Doctor(args) => cmd::doctor::run(&args, global),
        Verb::Clean(args) => cmd::clean::run(&args, global),
        Verb::Dedup(args) => cmd::dedup::run(&args, global),
        Verb::Merge(_) => cmd::merge::run(global),
        Verb::Rebuild(args) => cmd::rebuild::run(&args, global),
        Verb::Backup(args) => cmd::backup::run(&args, global),
        Verb::Restore(args) => cmd::restore::run(&args),
        Verb::Digest(args) => cmd::digest::run(&args, global),
        Verb::Remove(args) => cmd::remove::run(&args, global),
        Verb::Extract(args) => cmd::extract::run(&args, global),
        Verb::Crawl(args) => cmd::crawl::run(&args, global),
        Verb::Discover(args) => cmd::discover::run(&args, global),
        Verb::Plan(args) => cmd::plan::run(&args, global),
        Verb::Pages(args) => cmd::pages::run(&args, global),
        Verb::Prune(args) => cmd::prune::run(&args, global),
        Verb::Revisions(args) => cmd::revisions::run(&args, global),
        Verb::Audit(args) => cmd::audit::run(&args, global),
        Verb::Why(args) => cmd::why::run(&args, global),
        Verb::Feed(args) => cmd::feed::run(&args, global),
        Verb::Annotate(args) => cmd::annotate::run(&args, global),
        Verb::Compile(args) => cmd::compile::run(&args, global),
        Verb::Query(args) => cmd::query::concordance::run(&args, global),
        Verb::Neologisms(args) => cmd::query::neologisms::run(&args, global),
        Verb::Parallel(args) => cmd::query::parallel::run(&args, global),
        Verb::Pairs(args) => cmd::pairs::run(&args, global),
        Verb::Freq(args) => cmd::query::freq::run(&args, global),
        Verb::Crosstab(args) => cmd::query::crosstab::run(&args, global),
        Verb::Colloc(args) => cmd::query::colloc::run(&args, global),
        Verb::Sketch(args) => cmd::query::sketch::run(&args, global),
        Verb::Words(args) => cmd::query::words::run(&args, global),
        Verb::Terms(args) => cmd::query::terms::run(&args, global),
        Verb::Keywords(args) => cmd::query::keywords::run(&args, global),
        Verb::Timeline(args) => cmd::query::timeline::run(&args, global),
        Verb::Trends(args) => cmd::query::trends::run(&args, global),
        Verb::Bursts(args) => cmd::query::bursts::run(&args, global),
        Verb::Question(command) => cmd::query::generic::run(&command, global),
        Verb::NewWords(args) => cmd::query::new_words::run(&args, global),
        Verb::Names(args) => cmd::query::names::run(&args, global),
        Verb::Quotes(args) => cmd::query::quotes::run(&args, global),
        Verb::Corpus(args) => cmd::query::corpus::run(&args, global),
        Verb::Searches(args) => cmd::searches::run(&args, global),
        Verb::Export(args) => cmd::export::run(&args, global),
        Verb::Serve(args) => cmd::serve::run(&args, global),
        Verb::Token(args) => cmd::token::run(&args, global),
        Verb::Tokenize(args) => cmd::tokenize::run(&args),
        Verb::Tag(args) => cmd::tag::run(&args, global),
        Verb::Lang(args) => cmd::lang::run(&args),
        Verb::Config(args) => cmd::config::run(&args, global),
        Verb::Models(args) => cmd::models::run(&args, global),
        Verb::Licenses(args) => cmd::licenses::run(&args),
        Verb::Help(args) => cmd::help::run(&args),
        Verb::Completions(args) => cmd::shell::completions(&args),
        Verb::Man(args) => cmd::shell::man(&args),
    }
}
