//! Annotators of others: any command that reads tokens on its standard input and writes them back with lemmas and tags.
//!
//! A tool is started once and kept, and gets sentences in batches. Nothing that it says is taken for granted: every line is held
//! against the token that it must be about, all waiting has an end, and a tool that dies is started anew, but not for ever.
//! What goes wrong costs the batch and says so; no token gets what was said about another.

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

use tidings_model::Token;
use xxhash_rust::xxh3::xxh3_64;

use self::process::{Process, ToolOutput};
use self::protocol::{Annotation, OutputReader, clean_word};
use crate::annotator::Annotator;

pub use self::protocol::{Column, Format};

/// How often a batch is tried with a tool that dies of it.
const MAX_TRIES: u32 = 3;
/// How long a tool may take to tell its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// When a tool gives back what it was overrides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As soon as it has it: the tool runs on from batch to batch.
    Stream,
    /// When its input ends: the tool is started for each batch.
    Batch,
}

/// How a tool is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it reads and writes.
    pub format: Format,
    /// What the columns of vertical text hold, the first of them the token.
    pub columns: Vec<Column>,
    /// When it answers.
    pub mode: Mode,
    /// Its version, as the user knows it.
    pub version: String,
    /// Other names for its tags; `V*` means all that begin with V, and the longest that fits decides.
    pub tags: BTreeMap<String, String>,
    /// How long a batch may take.
    pub timeout: Duration,
    /// Sentences of a batch.
    pub batch_sentences: usize,
    /// Short sentences that are sent behind each batch and forgotten: they push it through the tool's buffers.
    pub padding_sentences: usize,
    /// How many of the tool run at the same time, at most.
    pub workers: usize,
}

impl Settings {
    /// The fallback ones for a command.
    pub fn new(command: Vec<String>) -> Settings {
        Settings {
            command,
            format: Format::Vertical,
            columns: vec![Column::Word, Column::Lemma, Column::Tag, Column::Feats],
            mode: Mode::Stream,
            version: String::new(),
            tags: BTreeMap::new(),
            timeout: Duration::from_secs(60),
            batch_sentences: 500,
            padding_sentences: 0,
            workers: 1,
        }
    }

    /// The name that a tag of the tool has with us.
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

    /// What recipes call it: its version, and a digest of all that matters for what it says.
    fn name(&self) -> String {
        let own = self.command.first().map(|program| program.rsplit('/').next().unwrap_or(program)).unwrap_or_default();
        let version = if self.version.is_empty() { own } else { &self.version };
        let matters = format!("{:?}", (&self.command, self.format, &self.columns, self.mode, &self.tags));
        format!("external {version} {:08x}", xxh3_64(matters.as_bytes()) >> 32)
    }
}

/// What a tool did wrong.
#[derive(Debug, thiserror::Error)]
pub enum ToolFault {
    /// It could not be started.
    #[error("cannot be started: {0}; check the path of the program, and that it may be run")]
    Start(io::Error),
    /// It ended although it was not told to, or said that it failed.
    #[error("ended ({how}) after {tokens} of {of} tokens, {tries} times; try it by hand with the same input")]
    Exited {
        /// How.
        how: String,
        /// Tokens that it said something about.
        tokens: usize,
        /// Tokens of the batch.
        of: usize,
        /// How often it was tried.
        tries: u32,
    },
    /// It took too long.
    #[error(
        "was not done after {seconds} s ({tokens} of {of} tokens); it must write each sentence when it has read it: let it flush its \
         output, or set mode = \"batch\", or a longer timeout_s"
    )]
    TimedOut {
        /// How long.
        seconds: f64,
        /// Tokens that it said something about.
        tokens: usize,
        /// Tokens of the batch.
        of: usize,
    },
    /// It said something about other tokens than it was overrides.
    #[error("line {line} of its output: {what}; it must write every token once, unchanged and in the same order")]
    BadOutput {
        /// The line, since the tool was started.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// A tool that failed: which, for which language, how, and what it complained about.
#[derive(Debug, thiserror::Error)]
#[error("the annotator of {language}, `{command}`, {fault}{}", quoted_stderr(.stderr_tail))]
pub struct ToolError {
    /// The language.
    pub language: String,
    /// The command as it was started.
    pub command: String,
    /// What went wrong; part of what the error says, and therefore not its source.
    pub fault: ToolFault,
    /// The last lines of its standard error.
    pub stderr_tail: Vec<String>,
}

fn quoted_stderr(stderr_tail: &[String]) -> String {
    stderr_tail.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "\n  it annotation: {line}");
        text
    })
}

/// The annotator that a tool is.
pub struct External {
    language: String,
    name: String,
    settings: Settings,
    pool: Mutex<Pool>,
    returned: Condvar,
    /// Once is enough to say that its features are none.
    warned: Once,
}

/// Tools that wait for work, and how many are at work.
#[derive(Default)]
struct Pool {
    idle: Vec<Running>,
    busy: usize,
    /// How often one died and was started again, and of what the last time.
    restarts: u64,
    last_exit: String,
}

/// A tool that runs, and what it still owes us of the padding behind the last batch.
struct Running {
    process: Process,
    padding_pending: bool,
}

impl External {
    /// The annotator of a language. Nothing is started yet.
    pub fn new(language: &str, settings: Settings) -> External {
        External {
            language: language.to_owned(),
            name: settings.name(),
            settings,
            pool: Mutex::default(),
            returned: Condvar::new(),
            warned: Once::new(),
        }
    }

    fn error(&self, fault: ToolFault, stderr_tail: Vec<String>) -> ToolError {
        ToolError { language: self.language.clone(), command: self.settings.command.join(" "), fault, stderr_tail }
    }

    /// Annotates a batch; a tool that dies of it is tried again.
    fn batch(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        let words: Vec<Cow<'_, str>> = sentences
            .iter()
            .flat_map(|sentence| sentence.iter())
            .map(|token| Cow::Owned(clean_word(&token.word).into_owned()))
            .collect();
        let mut input = Vec::new();
        for sentence in sentences.iter() {
            let spaced = sentence.iter().map(|token| (token.word.as_str(), token.space_after));
            protocol::write(self.settings.format, spaced, &mut input);
        }
        for tries in 1.. {
            let mut running = self.acquire()?;
            match self.exchange(&mut running, &input, &words, tries) {
                Ok(annotation) => {
                    self.release(Some(running).filter(|_| self.settings.mode == Mode::Stream));
                    let tokens = sentences.iter_mut().flat_map(|sentence| sentence.iter_mut());
                    for (token, annotation) in tokens.zip(annotation) {
                        (token.lemma, token.tag, token.feats) = (annotation.lemma, annotation.tag, annotation.feats);
                    }
                    return Ok(());
                }
                Err(fault) => {
                    running.process.kill();
                    let stderr_tail = running.process.stderr_tail();
                    drop(running);
                    self.release(None);
                    match fault {
                        ToolFault::Exited { how, .. } if tries < MAX_TRIES => {
                            let mut pool = self.pool.lock().expect("no panic while held");
                            (pool.restarts, pool.last_exit) = (pool.restarts + 1, how);
                        }
                        fault => return Err(self.error(fault, stderr_tail)),
                    }
                }
            }
        }
        unreachable!("the last try returns")
    }

    /// A tool that nobody else uses.
    fn acquire(&self) -> Result<Running, ToolError> {
        let pool = self.pool.lock().expect("no panic while held");
        let is_full = |pool: &mut Pool| pool.idle.is_empty() && pool.busy >= self.settings.workers.max(1);
        let mut pool = self.returned.wait_while(pool, is_full).expect("no panic while held");
        pool.busy += 1;
        if let Some(running) = pool.idle.pop() {
            return Ok(running);
        }
        drop(pool);
        match Process::start(&self.settings.command) {
            Ok(process) => Ok(Running { process, padding_pending: false }),
            Err(error) => {
                self.release(None);
                Err(self.error(ToolFault::Start(error), Vec::new()))
            }
        }
    }

    fn release(&self, running: Option<Running>) {
        let mut pool = self.pool.lock().expect("no panic while held");
        pool.busy -= 1;
        pool.idle.extend(running);
        self.returned.notify_one();
    }

    /// Gives a tool a batch and hears what it says about every token.
    fn exchange(
        &self,
        running: &mut Running,
        input: &[u8],
        words: &[Cow<'_, str>],
        tries: u32,
    ) -> Result<Vec<Annotation>, ToolFault> {
        let settings = &self.settings;
        let deadline = Instant::now() + settings.timeout;
        let padding: Vec<Cow<'_, str>> = vec![Cow::Borrowed("."); settings.padding_sentences];
        // What the tool owes may come only when more is sent.
        running.process.send(input.to_vec());
        if std::mem::take(&mut running.padding_pending) {
            let mut reader = OutputReader::new(settings, &padding);
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
        let mut reader = OutputReader::new(settings, words);
        self.read_tokens(&mut running.process, &mut reader, deadline, tries, words.len())?;
        if settings.mode == Mode::Batch {
            self.read_to_exit(&mut running.process, &mut reader, deadline, tries)?;
        }
        if let Some(odd) = reader.invalid_feats() {
            self.warned.call_once(|| {
                log::warn!(
                    "the annotator of {}, `{}`, says “{odd}” where features such as Case=Gen|Number=Plur belong; what is none is \
                     left out (name its columns, or see docs/how-to/taggers.md)",
                    self.language,
                    settings.command.join(" ")
                );
            });
        }
        Ok(reader.finish())
    }

    /// Listens until something was said about every token.
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
                ToolOutput::TooLong => return Err(bad_output(process, "a line without end".to_owned())),
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

    /// Behind the last token of a batch there is nothing but the end, and the tool must be content.
    fn read_to_exit(
        &self,
        process: &mut Process,
        reader: &mut OutputReader<'_>,
        deadline: Instant,
        tries: u32,
    ) -> Result<(), ToolFault> {
        let of = reader.tokens_read();
        let silent = || ToolFault::TimedOut { seconds: self.settings.timeout.as_secs_f64(), tokens: of, of };
        loop {
            match process.read_line(deadline) {
                ToolOutput::Line(line) => read_line(process, reader, &line)?,
                ToolOutput::TooLong => return Err(bad_output(process, "a line without end".to_owned())),
                ToolOutput::Timeout => return Err(silent()),
                ToolOutput::End => break,
            }
        }
        match process.wait(deadline) {
            None => Err(silent()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ToolFault::Exited { how: status.to_string(), tokens: of, of, tries }),
        }
    }
}

fn read_line(process: &Process, reader: &mut OutputReader<'_>, line: &[u8]) -> Result<(), ToolFault> {
    let text = str::from_utf8(line).map_err(|_| bad_output(process, "it is not UTF-8".to_owned()))?;
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
        sentences.chunks_mut(self.settings.batch_sentences.max(1)).try_for_each(|batch| self.batch(batch))
    }

    fn restarts(&self) -> Option<(u64, String)> {
        let pool = self.pool.lock().expect("no panic while held");
        (pool.restarts > 0).then(|| (pool.restarts, pool.last_exit.clone()))
    }
}

/// What a command says its version is: the first line that it writes.
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
                return Err(error(bad_output(&process, "a line without end".to_owned()), process.stderr_tail()));
            }
            ToolOutput::Timeout => {
                let seconds = VERSION_TIMEOUT.as_secs_f64();
                process.kill();
                return Err(error(ToolFault::TimedOut { seconds, tokens: 0, of: 0 }, process.stderr_tail()));
            }
            ToolOutput::End => {
                let how =
                    process.wait(deadline).map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
                // Some tell their version where others complain.
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
