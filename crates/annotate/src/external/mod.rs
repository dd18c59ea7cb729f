//! External annotators: any command that reads tokens from standard input and writes them back with
//! lemmas and tags, or with further layers.
//!
//! The tool is started once and gets sentences in batches. Its output is not trusted: every line is
//! checked against the expected token, every wait has a timeout, and a tool that exits is restarted
//! a limited number of times. An error discards the batch, so no token ever gets the annotation of
//! another.

mod process;
mod protocol;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::sync::{Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use tidings_model::{LayerColumn, LayerDeclaration, Token, TokenSpan};
use xxhash_rust::xxh3::xxh3_64;

use self::process::{Process, ToolOutput};
use self::protocol::{BatchAnnotation, OutputReader, clean_word};
use crate::annotator::{Annotator, SentenceLayers};
use crate::chain::TokenLayers;

pub use self::protocol::{Column, Format};

/// Attempts per batch if the tool exits.
const MAX_TRIES: u32 = 3;
/// Time limit for the version command.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Protocol for input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The tool answers each sentence as it reads it; it runs from batch to batch.
    Stream,
    /// The tool answers at the end of its input; it is started for each batch.
    Batch,
}

/// Settings of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Format of input and output.
    pub format: Format,
    /// Columns of vertical output; the first is the token.
    pub columns: Vec<Column>,
    /// Further token attributes, to which [`Column::Further`] refers.
    pub further: Vec<LayerDeclaration>,
    /// Names of the structures in vertical output that are spans.
    pub spans: Vec<String>,
    /// Protocol for input and output.
    pub mode: Mode,
    /// Version, as given by the user.
    pub version: String,
    /// Tag mapping; `V*` matches all tags that start with V, and the longest match wins.
    pub tags: BTreeMap<String, String>,
    /// Time limit for a batch.
    pub timeout: Duration,
    /// Sentences per batch.
    pub batch_sentences: usize,
    /// Short sentences sent after each batch to flush the tool's buffers; their annotation is
    /// discarded.
    pub padding_sentences: usize,
    /// Maximum number of concurrent processes.
    pub workers: usize,
}

impl Settings {
    /// Default settings for a command.
    pub fn new(command: Vec<String>) -> Settings {
        Settings {
            command,
            format: Format::Vertical,
            columns: vec![Column::Word, Column::Lemma, Column::Tag, Column::Feats],
            further: Vec::new(),
            spans: Vec::new(),
            mode: Mode::Stream,
            version: String::new(),
            tags: BTreeMap::new(),
            timeout: Duration::from_secs(60),
            batch_sentences: 500,
            padding_sentences: 0,
            workers: 1,
        }
    }

    /// Maps a tag of the tool.
    fn tag<'t>(&'t self, tag: &'t str) -> &'t str {
        if tag.is_empty() || self.tags.is_empty() {
            return tag;
        }
        if let Some(name) = self.tags.get(tag) {
            return name;
        }
        let fits = |key: &&String| key.strip_suffix('*').is_some_and(|start| tag.starts_with(start));
        let longest = self.tags.keys().filter(fits).max_by_key(|key| key.len());
        longest.and_then(|key| self.tags.get(key)).map_or(tag, String::as_str)
    }

    /// Lemmas, tags and features that the tool gives.
    fn gives(&self) -> TokenLayers {
        if self.format == Format::Conllu {
            return TokenLayers::ALL;
        }
        let has = |column: Column| self.columns.contains(&column);
        let (tags, features) = (has(Column::Tag), has(Column::Feats));
        let is_tagger = tags || features || has(Column::Lemma);
        match !is_tagger && (!self.further.is_empty() || !self.spans.is_empty()) {
            true => TokenLayers::NONE,
            false => TokenLayers { lemmas: true, tags, features },
        }
    }

    /// Name in recipes: the version, and a digest of the settings that affect the output. The
    /// digest covers the `Debug` names of enum variants, so renaming a variant makes existing text
    /// stale.
    fn name(&self) -> String {
        let own = self.command.first().map(|program| program.rsplit('/').next().unwrap_or(program)).unwrap_or_default();
        let version = if self.version.is_empty() { own } else { &self.version };
        let mut relevant = format!("{:?}", (&self.command, self.format, &self.columns, self.mode, &self.tags));
        // Names of tools without further layers are as before there were any.
        if !self.further.is_empty() || !self.spans.is_empty() {
            let _ = write!(relevant, "{:?}", (&self.further, &self.spans));
        }
        format!("external {version} {:08x}", xxh3_64(relevant.as_bytes()) >> 32)
    }
}

/// Failure of a tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolFault {
    /// The tool could not be started.
    #[error("cannot be started: {0}; check the path and the permissions of the program")]
    Start(io::Error),
    /// The tool exited before the end of the batch, or with an error status.
    #[error("exited ({how}) after {tokens} of {of} tokens in {tries} attempts; run it by hand with the same input")]
    Exited {
        /// Exit status.
        how: String,
        /// Tokens annotated so far.
        tokens: usize,
        /// Tokens of the batch.
        of: usize,
        /// Number of attempts.
        tries: u32,
    },
    /// The tool exceeded the time limit.
    #[error(
        "timed out after {seconds} s ({tokens} of {of} tokens); the tool must write each sentence as soon as it has read it: make it \
         flush its output, set mode = \"batch\", or raise timeout_s"
    )]
    TimedOut {
        /// Time limit.
        seconds: f64,
        /// Tokens annotated so far.
        tokens: usize,
        /// Tokens of the batch.
        of: usize,
    },
    /// The output does not match the input.
    #[error(
        "line {line} of its output: {what}; the tool must write every token exactly once, unchanged and in the same order"
    )]
    BadOutput {
        /// Line number, counted from the start of the tool.
        line: u64,
        /// Description of the mismatch.
        what: String,
    },
}

/// Failure of a tool with its language, command and last error output.
#[derive(Debug, thiserror::Error)]
#[error("the annotator of {language}, `{command}`, {fault}{}", quoted_stderr(.stderr_tail))]
pub struct ToolError {
    /// Language.
    pub language: String,
    /// Command line.
    pub command: String,
    /// The failure; it is part of the message and therefore not a `source`.
    pub fault: ToolFault,
    /// Last lines of standard error.
    pub stderr_tail: Vec<String>,
}

fn quoted_stderr(stderr_tail: &[String]) -> String {
    stderr_tail.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "\n  stderr: {line}");
        text
    })
}

/// Annotator that runs an external tool.
pub struct External {
    language: String,
    name: String,
    settings: Settings,
    gives: TokenLayers,
    pool: Mutex<Pool>,
    returned: Condvar,
    /// Limits the warning about invalid features to one.
    warned: Once,
}

/// Pool of processes.
#[derive(Default)]
struct Pool {
    idle: Vec<RunningTool>,
    busy: usize,
    /// Number of restarts, and the exit status before the last one.
    restarts: u64,
    last_exit: String,
}

/// Running process; `padding_pending` if the annotation of the last padding has not been read.
struct RunningTool {
    process: Process,
    padding_pending: bool,
}

impl External {
    /// Creates the annotator of a language. The tool is started on first use.
    pub fn new(language: &str, mut settings: Settings) -> External {
        let name = settings.name();
        settings.further.iter_mut().for_each(|layer| name.clone_into(&mut layer.origin));
        External {
            language: language.to_owned(),
            name,
            gives: settings.gives(),
            settings,
            pool: Mutex::default(),
            returned: Condvar::new(),
            warned: Once::new(),
        }
    }

    fn error(&self, fault: ToolFault, stderr_tail: Vec<String>) -> ToolError {
        ToolError { language: self.language.clone(), command: self.settings.command.join(" "), fault, stderr_tail }
    }

    /// Annotates a batch and adds its further layers to `layers`; retries if the tool exits.
    fn batch(&self, sentences: &mut [&mut [Token]], layers: &mut SentenceLayers) -> Result<(), ToolError> {
        let words: Vec<Cow<'_, str>> = sentences
            .iter()
            .flat_map(|sentence| sentence.iter())
            .map(|token| Cow::Owned(clean_word(&token.word).into_owned()))
            .collect();
        let ends: Vec<usize> = sentences
            .iter()
            .scan(0, |end, sentence| {
                *end += sentence.len();
                Some(*end)
            })
            .collect();
        let mut input = Vec::new();
        for sentence in sentences.iter() {
            let spaced = sentence.iter().map(|token| (token.word.as_str(), token.space_after));
            protocol::write(self.settings.format, spaced, &mut input);
        }
        for tries in 1.. {
            let mut running = self.acquire()?;
            match self.exchange(&mut running, &input, &words, &ends, tries) {
                Ok(annotation) => {
                    self.release(Some(running).filter(|_| self.settings.mode == Mode::Stream));
                    self.apply(annotation, sentences, layers);
                    return Ok(());
                }
                Err(fault) => {
                    running.process.kill();
                    let stderr_tail = running.process.stderr_tail();
                    drop(running);
                    self.release(None);
                    match fault {
                        ToolFault::Exited { how, .. } if tries < MAX_TRIES => {
                            let mut pool = self.pool.lock().expect("no thread panics while holding the lock");
                            (pool.restarts, pool.last_exit) = (pool.restarts + 1, how);
                        }
                        fault => return Err(self.error(fault, stderr_tail)),
                    }
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Writes the annotation of a batch to its tokens and layers.
    fn apply(&self, annotation: BatchAnnotation, sentences: &mut [&mut [Token]], layers: &mut SentenceLayers) {
        let first = layers.tokens;
        layers.tokens += annotation.tokens.len() as u32;
        let tokens = sentences.iter_mut().flat_map(|sentence| sentence.iter_mut());
        for (token, annotation) in tokens.zip(annotation.tokens) {
            if self.gives != TokenLayers::NONE {
                (token.lemma, token.tag) = (annotation.lemma.into(), annotation.tag.into());
                token.feats = annotation.feats.into();
            }
            layers.columns.iter_mut().zip(annotation.further).for_each(|(column, value)| column.values.push(value));
        }
        let moved = |span: TokenSpan| TokenSpan { start: span.start + first, end: span.end + first, ..span };
        layers.spans.extend(annotation.spans.into_iter().map(moved));
    }

    /// Takes a process from the pool, or starts one; waits if all are busy.
    fn acquire(&self) -> Result<RunningTool, ToolError> {
        let pool = self.pool.lock().expect("no thread panics while holding the lock");
        let is_full = |pool: &mut Pool| pool.idle.is_empty() && pool.busy >= self.settings.workers.max(1);
        let mut pool = self.returned.wait_while(pool, is_full).expect("no thread panics while holding the lock");
        pool.busy += 1;
        if let Some(running) = pool.idle.pop() {
            return Ok(running);
        }
        drop(pool);
        match Process::start(&self.settings.command) {
            Ok(process) => Ok(RunningTool { process, padding_pending: false }),
            Err(error) => {
                self.release(None);
                Err(self.error(ToolFault::Start(error), Vec::new()))
            }
        }
    }

    fn release(&self, running: Option<RunningTool>) {
        let mut pool = self.pool.lock().expect("no thread panics while holding the lock");
        pool.busy -= 1;
        pool.idle.extend(running);
        self.returned.notify_one();
    }

    /// Sends a batch and reads the annotation of every token.
    fn exchange(
        &self,
        running: &mut RunningTool,
        input: &[u8],
        words: &[Cow<'_, str>],
        sentence_ends: &[usize],
        tries: u32,
    ) -> Result<BatchAnnotation, ToolFault> {
        let settings = &self.settings;
        let deadline = Instant::now() + settings.timeout;
        let padding: Vec<Cow<'_, str>> = vec![Cow::Borrowed("."); settings.padding_sentences];
        // Buffered padding may only arrive after more input.
        running.process.send(input.to_vec());
        if std::mem::take(&mut running.padding_pending) {
            let mut reader = OutputReader::new(settings, &padding, (1..=padding.len()).collect());
            self.read_tokens(&mut running.process, &mut reader, deadline, tries, words.len())?;
        }
        match settings.mode {
            Mode::Batch => running.process.end_input(),
            Mode::Stream if padding.is_empty() => {}
            Mode::Stream => {
                let mut out = Vec::new();
                padding
                    .iter()
                    .for_each(|word| protocol::write(settings.format, [(&**word, true)].into_iter(), &mut out));
                running.process.send(out);
                running.padding_pending = true;
            }
        }
        let mut reader = OutputReader::new(settings, words, sentence_ends.to_vec());
        self.read_tokens(&mut running.process, &mut reader, deadline, tries, words.len())?;
        if settings.mode == Mode::Batch {
            self.read_to_exit(&mut running.process, &mut reader, deadline, tries)?;
        }
        if let Some(invalid) = reader.invalid_feats() {
            self.warned.call_once(|| {
                log::warn!(
                    "the annotator of {}, `{}`, returned “{invalid}” instead of features such as Case=Gen|Number=Plur; invalid features \
                     are dropped (set `columns`, or see docs/how-to/taggers.md)",
                    self.language,
                    settings.command.join(" ")
                );
            });
        }
        Ok(reader.finish())
    }

    /// Reads lines until every token is annotated.
    fn read_tokens(
        &self,
        process: &mut Process,
        reader: &mut OutputReader<'_>,
        deadline: Instant,
        tries: u32,
        of: usize,
    ) -> Result<(), ToolFault> {
        while !reader.is_done() {
            match process.read_line(deadline) {
                ToolOutput::Line(line) => read_line(process, reader, &line)?,
                ToolOutput::TooLong => return Err(bad_output(process, "a line longer than 64 KiB".to_owned())),
                ToolOutput::Timeout => {
                    let seconds = self.settings.timeout.as_secs_f64();
                    return Err(ToolFault::TimedOut { seconds, tokens: reader.tokens_read(), of });
                }
                ToolOutput::End => {
                    let how = process.wait(Instant::now() + Duration::from_secs(1));
                    let how = how.map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
                    return Err(ToolFault::Exited { how, tokens: reader.tokens_read(), of, tries });
                }
            }
        }
        Ok(())
    }

    /// Reads to the end of the output of a batch and checks the exit status.
    fn read_to_exit(
        &self,
        process: &mut Process,
        reader: &mut OutputReader<'_>,
        deadline: Instant,
        tries: u32,
    ) -> Result<(), ToolFault> {
        let of = reader.tokens_read();
        let timed_out = || ToolFault::TimedOut { seconds: self.settings.timeout.as_secs_f64(), tokens: of, of };
        loop {
            match process.read_line(deadline) {
                ToolOutput::Line(line) => read_line(process, reader, &line)?,
                ToolOutput::TooLong => return Err(bad_output(process, "a line longer than 64 KiB".to_owned())),
                ToolOutput::Timeout => return Err(timed_out()),
                ToolOutput::End => break,
            }
        }
        match process.wait(deadline) {
            None => Err(timed_out()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ToolFault::Exited { how: status.to_string(), tokens: of, of, tries }),
        }
    }
}

fn read_line(process: &Process, reader: &mut OutputReader<'_>, line: &[u8]) -> Result<(), ToolFault> {
    let text = str::from_utf8(line).map_err(|_| bad_output(process, "not valid UTF-8".to_owned()))?;
    reader.read_line(text).map_err(|what| bad_output(process, what))
}

fn bad_output(process: &Process, what: String) -> ToolFault {
    ToolFault::BadOutput { line: process.lines, what }
}

impl Annotator for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn annotate(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        self.annotate_layers(sentences).map(drop)
    }

    fn gives(&self) -> TokenLayers {
        self.gives
    }

    fn further_columns(&self) -> &[LayerDeclaration] {
        &self.settings.further
    }

    fn further_spans(&self) -> &[String] {
        &self.settings.spans
    }

    fn annotate_layers(&self, sentences: &mut [&mut [Token]]) -> Result<SentenceLayers, ToolError> {
        let column = |layer: &LayerDeclaration| LayerColumn { layer: layer.clone(), values: Vec::new() };
        let columns = self.settings.further.iter().map(column).collect();
        let mut layers = SentenceLayers { columns, ..SentenceLayers::default() };
        for batch in sentences.chunks_mut(self.settings.batch_sentences.max(1)) {
            self.batch(batch, &mut layers)?;
        }
        Ok(layers)
    }

    fn restarts(&self) -> Option<(u64, String)> {
        let pool = self.pool.lock().expect("no thread panics while holding the lock");
        (pool.restarts > 0).then(|| (pool.restarts, pool.last_exit.clone()))
    }
}

/// Returns the version that a command reports: its first line of output.
pub fn version_of(language: &str, command: &[String]) -> Result<String, ToolError> {
    let error = |fault, stderr_tail| ToolError {
        language: language.to_owned(),
        command: command.join(" "),
        fault,
        stderr_tail,
    };
    let mut process = Process::start(command).map_err(|fault| error(ToolFault::Start(fault), Vec::new()))?;
    process.end_input();
    let deadline = Instant::now() + VERSION_TIMEOUT;
    loop {
        let line = match process.read_line(deadline) {
            ToolOutput::Line(line) => String::from_utf8_lossy(&line).trim().to_owned(),
            ToolOutput::TooLong => {
                return Err(error(bad_output(&process, "a line longer than 64 KiB".to_owned()), process.stderr_tail()));
            }
            ToolOutput::Timeout => {
                let seconds = VERSION_TIMEOUT.as_secs_f64();
                process.kill();
                return Err(error(ToolFault::TimedOut { seconds, tokens: 0, of: 0 }, process.stderr_tail()));
            }
            ToolOutput::End => {
                let how =
                    process.wait(deadline).map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
                // Some tools print their version to standard error.
                let stderr_tail = process.stderr_tail();
                return match stderr_tail.first() {
                    Some(line) => Ok(line.clone()),
                    None => Err(error(ToolFault::Exited { how, tokens: 0, of: 0, tries: 1 }, stderr_tail)),
                };
            }
        };
        if !line.is_empty() {
            return Ok(line.chars().filter(|c| !c.is_control()).take(80).collect());
        }
    }
}
