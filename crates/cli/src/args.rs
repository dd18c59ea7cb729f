//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand};

use crate::cmd;

/// Turns web feeds into monitor corpora: find, fetch, keep, and see how language changes.
#[derive(Debug, Parser)]
#[command(name = "tidings", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "A corpus in five steps:\n  \
    tidings init news            make a home; put feed addresses into news/feeds.txt\n  \
    tidings update --home news   see what the feeds list\n  \
    tidings fetch --home news    download the articles, politely\n  \
    tidings clean --home news    make documents of them\n  \
    tidings plan --home news     see what became of each")]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

/// What every verb understands.
#[derive(Debug, Clone, clap::Args)]
pub struct Global {
    /// The home to work in [default: the nearest folder upwards with a tidings.toml]
    #[arg(long, global = true, value_name = "DIR", env = "TIDINGS_HOME")]
    pub home: Option<PathBuf>,
    /// Report as one JSON object on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Say less: errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

impl Global {
    /// How much to say: -1 for errors only, 0 for the usual, more for more.
    pub fn verbosity(&self) -> i8 {
        if self.quiet { -1 } else { self.verbose.min(2) as i8 }
    }
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Play ten years of a simulated world through the whole house, without any network
    Demo(cmd::demo::Args),
    /// Make a home: settings, an empty feed list and an empty plan
    Init(cmd::init::Args),
    /// Poll the feeds and add what is new to the plan
    Update(cmd::update::Args),
    /// Download the pages of the plan, politely
    Fetch(cmd::fetch::Args),
    /// Take in what others collected: archives, saved pages, texts, tokens, lists of feeds
    Import(cmd::import::Args),
    /// Make documents of the downloaded pages: their text, structure and metadata
    Clean(cmd::clean::Args),
    /// Find what was published before: duplicate paragraphs, sentences and documents, or many as a filter
    Dedup(cmd::dedup::Args),
    /// Join what several processes made with --shard
    Merge(cmd::merge::Args),
    /// Make what is derived from pages anew, from a stage on
    Rebuild(cmd::rebuild::Args),
    /// Copy what cannot be made again to another place; only what is new
    Backup(cmd::backup::Args),
    /// Make a home of a backup
    Restore(cmd::restore::Args),
    /// Print the digest of the corpus, by which two machines know that they hold the same
    Digest(cmd::digest::Args),
    /// Take a page, a host or all that looks so out of everything, and keep it out
    Remove(cmd::remove::Args),
    /// Print the text of web pages: files, folders, addresses, or a stream of them
    Extract(cmd::extract::Args),
    /// Find new feeds: of sites, in pages, archives, lists and streams of links; try and adopt them
    Discover(cmd::discover::Args),
    /// Print the plan, or the part of it you ask for
    Plan(cmd::plan::Args),
    /// List downloaded pages, or print the body of one
    Pages(cmd::pages::Args),
    /// Take settled entries out of the plan that left their feeds long ago
    Prune(cmd::prune::Args),
    /// Prove from the run logs how politely the web was asked
    Audit(cmd::audit::Args),
    /// Tell the fate of a page, a document, a feed or a host, stage by stage, or check that nothing vanished
    Why(cmd::why::Args),
    /// Show what a feed says, or read many as a filter
    Feed(cmd::feed::Args),
    /// Do everything that is due: update, fetch, clean, dedup, annotate, compile
    Run(cmd::run::Args),
    /// Show how the home is on one screen; the exit code tells monitors
    Status(cmd::status::Args),
    /// Write a page of charts about what was gathered, in one file
    Report(cmd::report::Args),
    /// Look for what could go wrong, and say what to do
    Doctor(cmd::doctor::Args),
    /// Make sentences of tokens of the documents
    Annotate(cmd::annotate::Args),
    /// Make the text searchable
    Compile(cmd::compile::Args),
    /// Show hits of a query in their context
    Query(cmd::query::concordance::Args),
    /// Count hits by an attribute or a field
    Freq(cmd::query::freq::Args),
    /// Show what stands beside hits
    Colloc(cmd::query::colloc::Args),
    /// Show what a word does: its collocates by grammatical relation
    Sketch(cmd::query::sketch::Args),
    /// List words or n-grams
    Words(cmd::query::words::Args),
    /// Show what is typical of a part of the corpus
    Keywords(cmd::query::keywords::Args),
    /// Show hits in time
    Timeline(cmd::query::timeline::Args),
    /// Show which words rise or fall
    Trends(cmd::query::trends::Args),
    /// Show words that were in the news for a while
    Bursts(cmd::query::bursts::Args),
    /// Show words that were not there before
    NewWords(cmd::query::new_words::Args),
    #[command(flatten)]
    Question(cmd::query::generic::QuestionCommand),
    /// Name a part of the corpus
    Corpus(cmd::query::corpus::Args),
    /// Write the corpus, or a part of it, for other programs: JSON lines, Parquet, CoNLL-U, TEI, WARC and others
    Export(cmd::export::Args),
    /// Open the corpus to browsers and programs: an HTTP API and a page
    Serve(cmd::serve::Args),
    /// Make, list and revoke tokens for those who may read text over the network
    Token(cmd::token::Args),
    /// Cut text into sentences and tokens, or many texts as a filter
    Tokenize(cmd::tokenize::Args),
    /// Give the words of texts their lemmas, parts of speech and features, or many texts as a filter
    Tag(cmd::tag::Args),
    /// Tell in which language texts are written, or many as a filter
    Lang(cmd::lang::Args),
    /// List the models of lemmas and parts of speech: languages, treebanks, licences, scores
    Models(cmd::models::Args),
    /// Print the settings in force
    Config(cmd::config::Args),
    /// Print completions for a shell
    Completions(cmd::shell::CompletionsArgs),
    /// Print the manual page, or write all of them to a folder
    Man(cmd::shell::ManArgs),
}
