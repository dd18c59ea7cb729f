//! The command line: global options and the list of commands.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand};

use crate::{cmd, help};

/// Build corpora of dated news text from web feeds, and query how language changes
#[derive(Debug, Parser)]
#[command(name = "tidings", version, max_term_width = 100, propagate_version = true)]
#[command(disable_help_subcommand = true, help_template = help::short())]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Options of all commands.
#[derive(Debug, Clone, clap::Args)]
pub struct Global {
    /// Home [default: nearest parent folder with tidings.toml]
    #[arg(long, global = true, value_name = "DIR", env = "TIDINGS_HOME", hide_env_values = true, display_order = 900)]
    pub home: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true, display_order = 901)]
    pub json: bool,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 902)]
    pub quiet: bool,
    /// Print more messages; -vv prints all of them
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 903)]
    pub verbose: u8,
}

impl Global {
    /// The log level: -1 for errors only, 0 by default, 1 and 2 for more.
    pub fn verbosity(&self) -> i8 {
        if self.quiet { -1 } else { self.verbose.min(2) as i8 }
    }
}

/// The commands. [`help::GROUPS`] puts each of them in a group.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Build a demo corpus from ten years of simulated news, offline
    Demo(cmd::demo::Args),
    /// Create a home: the folder with the settings, feeds and data of a corpus
    Init(cmd::init::Args),
    /// Print the effective settings
    Config(cmd::config::Args),
    /// Check the home and the machine for problems, and suggest fixes
    Doctor(cmd::doctor::Args),

    /// Find the feeds of websites, and add them to the feed list
    Discover(cmd::discover::Args),
    /// Poll the feeds and add new articles to the plan
    Update(cmd::update::Args),
    /// Follow links to text-rich sites and pages, or find the old articles of sites (--archive)
    Crawl(cmd::crawl::Args),
    /// Download the pages in the plan, with a delay between requests to a host
    Fetch(cmd::fetch::Args),
    /// Import web archives, saved pages, texts, annotated texts and feed lists
    Import(cmd::import::Args),
    /// Print the plan: every article that the feeds listed, with its status
    Plan(cmd::plan::Args),
    /// List the downloaded pages, or print one
    Pages(cmd::pages::Args),

    /// Run all stages that are due: update, fetch, clean, dedup, annotate, compile
    Run(cmd::run::Args),
    /// Extract documents from the downloaded pages: text, structure and metadata
    Clean(cmd::clean::Args),
    /// Find duplicate documents, paragraphs and sentences
    Dedup(cmd::dedup::Args),
    /// Tokenize, lemmatize and tag the documents
    Annotate(cmd::annotate::Args),
    /// Build the index that queries use
    Compile(cmd::compile::Args),
    /// Combine the results of processes that ran with --shard
    Merge(cmd::merge::Args),
    /// Rebuild derived data from the stored pages
    Rebuild(cmd::rebuild::Args),

    /// Search with CQL and show hits in context (concordance)
    Query(cmd::query::concordance::Args),
    /// Show hits with the sentences of their translations (parallel concordance)
    Parallel(cmd::query::parallel::Args),
    /// Count hits by word form, lemma, site, date or another field
    Freq(cmd::query::freq::Args),
    /// Count several queries by source and time, with shares of documents and of queries
    Crosstab(cmd::query::crosstab::Args),
    /// List the collocations of a word or query
    Colloc(cmd::query::colloc::Args),
    /// Show the word sketch of a lemma: collocations by grammatical relation
    Sketch(cmd::query::sketch::Args),
    /// List words or n-grams with their frequencies
    Words(cmd::query::words::Args),
    /// List the keywords of a subcorpus compared with another one
    Keywords(cmd::query::keywords::Args),
    /// List terms of several words that are typical of a subcorpus
    Terms(cmd::query::terms::Args),
    /// Show the frequency of a query over time
    Timeline(cmd::query::timeline::Args),
    /// List words whose frequency rises or falls
    Trends(cmd::query::trends::Args),
    /// List words that were in the news for a while
    Bursts(cmd::query::bursts::Args),
    #[command(flatten)]
    Question(cmd::query::generic::QuestionCommand),
    /// List words that did not occur before a date
    NewWords(cmd::query::new_words::Args),
    /// Judge candidates for new words: first citation, spread, decisions, exclusion lists
    Neologisms(cmd::query::neologisms::Args),
    /// List the names of persons, organisations and places
    Names(cmd::query::names::Args),
    /// List who is quoted, with which verbs, and how much each source quotes
    Quotes(cmd::query::quotes::Args),
    /// Save filters as named subcorpora, and list the languages of the corpus
    Corpus(cmd::query::corpus::Args),
    /// Find or add documents that are translations of each other, for `parallel` and exports of pairs
    Pairs(cmd::pairs::Args),
    /// Save searches with a feed of new hits each, and webhooks that `run` notifies of them
    Searches(cmd::searches::Args),

    /// Start the web interface and the HTTP API
    Serve(cmd::serve::Args),
    /// Export documents as JSON lines, Parquet, CoNLL-U, TEI, WARC and other formats
    Export(cmd::export::Args),
    /// Write an HTML page with charts about the collection
    Report(cmd::report::Args),
    /// Create, list and revoke access tokens of the HTTP API
    Token(cmd::token::Args),

    /// Show the state of feeds, stages and disk; the exit code is for monitoring
    Status(cmd::status::Args),
    /// Explain what happened to a page, document, feed or host, stage by stage
    Why(cmd::why::Args),
    /// List pages that changed after their first download, with old and new headlines
    Revisions(cmd::revisions::Args),
    /// Check delays per host and IP address, robots.txt and missing logs from the request logs
    Audit(cmd::audit::Args),
    /// Delete pages by URL, host or pattern, and block them (takedown)
    Remove(cmd::remove::Args),
    /// Back up pages, settings and state; copies only what is new
    Backup(cmd::backup::Args),
    /// Restore a home from a backup
    Restore(cmd::restore::Args),
    /// Print a checksum of the corpus
    Digest(cmd::digest::Args),
    /// Remove finished entries from the plan that left their feeds long ago
    Prune(cmd::prune::Args),

    /// Show the contents of a feed
    Feed(cmd::feed::Args),
    /// Extract the text of web pages: files, folders, URLs or JSON lines
    Extract(cmd::extract::Args),
    /// Identify the language of texts
    Lang(cmd::lang::Args),
    /// Split text into sentences and tokens
    Tokenize(cmd::tokenize::Args),
    /// Lemmatize and tag text
    Tag(cmd::tag::Args),
    /// List, check and install tagging models: languages, treebanks, licences, accuracy
    Models(cmd::models::Args),

    /// List the licences of everything in the program; --full prints their texts
    Licenses(cmd::licenses::Args),
    /// Print the help of the program or of a command; --all lists all commands
    Help(cmd::help::Args),
    /// Print a completion script for a shell
    Completions(cmd::shell::CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(cmd::shell::ManArgs),
}

impl Verb {
    /// Whether the command does work whose outcome `--quiet` leaves out, rather than printing what was asked for.
    pub fn is_work(&self) -> bool {
        matches!(
            self,
            Verb::Demo(_)
                | Verb::Init(_)
                | Verb::Update(_)
                | Verb::Crawl(_)
                | Verb::Fetch(_)
                | Verb::Import(_)
                | Verb::Run(_)
                | Verb::Clean(_)
                | Verb::Annotate(_)
                | Verb::Compile(_)
                | Verb::Merge(_)
                | Verb::Rebuild(_)
                | Verb::Backup(_)
                | Verb::Restore(_)
                | Verb::Prune(_)
        )
    }
}
