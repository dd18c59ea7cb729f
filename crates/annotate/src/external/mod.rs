//! Annotators of others: any command that reads tokens on its standard input and writes them back with lemmas and tags.
//!
//! A tool is started once and kept, and gets sentences in batches. Nothing that it says is taken for granted: every line is held
//! against the token that it must be about, all waiting has an end, and a tool that dies is started anew, but not for ever.
//! What goes wrong costs the batch and says so; no token gets what was said about another.

mod dialect;
mod process;
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

use self::dialect::{Listener, Said, form};
use self::process::{Heard, Process};
use crate::layer::Annotator;

pub use self::dialect::{Column, Format};

/// How often a batch is tried with a tool that dies of it.
const TRIES: u32 = 3;
/// How long a tool may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// When a tool gives back what it was given.
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
    /// The usual ones for a command.
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
    Died {
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
    Silent {
        /// How long.
        seconds: f64,
        /// Tokens that it said something about.
        tokens: usize,
        /// Tokens of the batch.
        of: usize,
    },
    /// It said something about other tokens than it was given.
    #[error("line {line} of its output: {what}; it must write every token once, unchanged and in the same order")]
    Lie {
        /// The line, since the tool was started.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// A tool that failed: which, for which language, how, and what it complained about.
#[derive(Debug, thiserror::Error)]
#[error("the annotator of {language}, `{command}`, {fault}{}", complaint(.last_words))]
pub struct ToolError {
    /// The language.
    pub language: String,
    /// The command as it was started.
    pub command: String,
    /// What went wrong; part of what the error says, and therefore not its source.
    pub fault: ToolFault,
    /// The last lines of its standard error.
    pub last_words: Vec<String>,
}

fn complaint(last_words: &[String]) -> String {
    last_words.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "\n  it said: {line}");
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
    last_death: String,
}

/// A tool that runs, and what it still owes us of the padding behind the last batch.
struct Running {
    process: Process,
    owes_padding: bool,
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

    fn error(&self, fault: ToolFault, last_words: Vec<String>) -> ToolError {
        ToolError { language: self.language.clone(), command: self.settings.command.join(" "), fault, last_words }
    }

    /// Annotates a batch; a tool that dies of it is tried again.
    fn batch(&self, sentences: &mut [&mut [Token]]) -> Result<(), ToolError> {
        let words: Vec<Cow<'_, str>> = sentences
            .iter()
            .flat_map(|sentence| sentence.iter())
            .map(|token| Cow::Owned(form(&token.word).into_owned()))
            .collect();
        let mut input = Vec::new();
        for sentence in sentences.iter() {
            let spaced = sentence.iter().map(|token| (token.word.as_str(), token.space_after));
            dialect::write(self.settings.format, spaced, &mut input);
        }
        for tries in 1.. {
            let mut running = self.take()?;
            match self.converse(&mut running, &input, &words, tries) {
                Ok(said) => {
                    self.give_back(Some(running).filter(|_| self.settings.mode == Mode::Stream));
                    let tokens = sentences.iter_mut().flat_map(|sentence| sentence.iter_mut());
                    for (token, said) in tokens.zip(said) {
                        (token.lemma, token.tag, token.feats) = (said.lemma, said.tag, said.feats);
                    }
                    return Ok(());
                }
                Err(fault) => {
                    running.process.kill();
                    let last_words = running.process.last_words();
                    drop(running);
                    self.give_back(None);
                    match fault {
                        ToolFault::Died { how, .. } if tries < TRIES => {
                            let mut pool = self.pool.lock().expect("no panic while held");
                            (pool.restarts, pool.last_death) = (pool.restarts + 1, how);
                        }
                        fault => return Err(self.error(fault, last_words)),
                    }
                }
            }
        }
        unreachable!("the last try returns")
    }

    /// A tool that nobody else uses.
    fn take(&self) -> Result<Running, ToolError> {
        let pool = self.pool.lock().expect("no panic while held");
        let is_full = |pool: &mut Pool| pool.idle.is_empty() && pool.busy >= self.settings.workers.max(1);
        let mut pool = self.returned.wait_while(pool, is_full).expect("no panic while held");
        pool.busy += 1;
        if let Some(running) = pool.idle.pop() {
            return Ok(running);
        }
        drop(pool);
        match Process::start(&self.settings.command) {
            Ok(process) => Ok(Running { process, owes_padding: false }),
            Err(error) => {
                self.give_back(None);
                Err(self.error(ToolFault::Start(error), Vec::new()))
            }
        }
    }

    fn give_back(&self, running: Option<Running>) {
        let mut pool = self.pool.lock().expect("no panic while held");
        pool.busy -= 1;
        pool.idle.extend(running);
        self.returned.notify_one();
    }

    /// Gives a tool a batch and hears what it says about every token.
    fn converse(
        &self,
        running: &mut Running,
        input: &[u8],
        words: &[Cow<'_, str>],
        tries: u32,
    ) -> Result<Vec<Said>, ToolFault> {
        let settings = &self.settings;
        let until = Instant::now() + settings.timeout;
        let padding: Vec<Cow<'_, str>> = vec![Cow::Borrowed("."); settings.padding_sentences];
        // What the tool owes may come only when more is sent.
        running.process.send(input.to_vec());
        if std::mem::take(&mut running.owes_padding) {
            let mut listener = Listener::new(settings, &padding);
            self.listen(&mut running.process, &mut listener, until, tries, words.len())?;
        }
        match settings.mode {
            Mode::Batch => running.process.end_input(),
            Mode::Stream if padding.is_empty() => {}
            Mode::Stream => {
                let mut out = Vec::new();
                padding
                    .iter()
                    .for_each(|word| dialect::write(settings.format, [(&**word, true)].into_iter(), &mut out));
                running.process.send(out);
                running.owes_padding = true;
            }
        }
        let mut listener = Listener::new(settings, words);
        self.listen(&mut running.process, &mut listener, until, tries, words.len())?;
        if settings.mode == Mode::Batch {
            self.hear_the_end(&mut running.process, &mut listener, until, tries)?;
        }
        if let Some(odd) = listener.odd_feats() {
            self.warned.call_once(|| {
                log::warn!(
                    "the annotator of {}, `{}`, says “{odd}” where features such as Case=Gen|Number=Plur belong; what is none is \
                     left out (name its columns, or see docs/how-to/taggers.md)",
                    self.language,
                    settings.command.join(" ")
                );
            });
        }
        Ok(listener.finish())
    }

    /// Listens until something was said about every token.
    fn listen(
        &self,
        process: &mut Process,
        listener: &mut Listener<'_>,
        until: Instant,
        tries: u32,
        of: usize,
    ) -> Result<(), ToolFault> {
        while !listener.is_done() {
            match process.hear(until) {
                Heard::Line(line) => hear(process, listener, &line)?,
                Heard::TooLong => return Err(lie(process, "a line without end".to_owned())),
                Heard::Silence => {
                    let seconds = self.settings.timeout.as_secs_f64();
                    return Err(ToolFault::Silent { seconds, tokens: listener.heard(), of });
                }
                Heard::End => {
                    let how = process.wait(Instant::now() + Duration::from_secs(1));
                    let how = how.map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
                    return Err(ToolFault::Died { how, tokens: listener.heard(), of, tries });
                }
            }
        }
        Ok(())
    }

    /// Behind the last token of a batch there is nothing but the end, and the tool must be content.
    fn hear_the_end(
        &self,
        process: &mut Process,
        listener: &mut Listener<'_>,
        until: Instant,
        tries: u32,
    ) -> Result<(), ToolFault> {
        let of = listener.heard();
        let silent = || ToolFault::Silent { seconds: self.settings.timeout.as_secs_f64(), tokens: of, of };
        loop {
            match process.hear(until) {
                Heard::Line(line) => hear(process, listener, &line)?,
                Heard::TooLong => return Err(lie(process, "a line without end".to_owned())),
                Heard::Silence => return Err(silent()),
                Heard::End => break,
            }
        }
        match process.wait(until) {
            None => Err(silent()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ToolFault::Died { how: status.to_string(), tokens: of, of, tries }),
        }
    }
}

fn hear(process: &Process, listener: &mut Listener<'_>, line: &[u8]) -> Result<(), ToolFault> {
    let text = str::from_utf8(line).map_err(|_| lie(process, "it is not UTF-8".to_owned()))?;
    listener.hear(text).map_err(|what| lie(process, what))
}

fn lie(process: &Process, what: String) -> ToolFault {
    ToolFault::Lie { line: process.lines, what }
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
        (pool.restarts > 0).then(|| (pool.restarts, pool.last_death.clone()))
    }
}

/// What a command says its version is: the first line that it writes.
pub fn version_of(language: &str, command: &[String]) -> Result<String, ToolError> {
    let error =
        |fault, last_words| ToolError { language: language.to_owned(), command: command.join(" "), fault, last_words };
    let mut process = Process::start(command).map_err(|fault| error(ToolFault::Start(fault), Vec::new()))?;
    process.end_input();
    let until = Instant::now() + VERSION_TIME;
    loop {
        let line = match process.hear(until) {
            Heard::Line(line) => String::from_utf8_lossy(&line).trim().to_owned(),
            Heard::TooLong => return Err(error(lie(&process, "a line without end".to_owned()), process.last_words())),
            Heard::Silence => {
                let seconds = VERSION_TIME.as_secs_f64();
                process.kill();
                return Err(error(ToolFault::Silent { seconds, tokens: 0, of: 0 }, process.last_words()));
            }
            Heard::End => {
                let how =
                    process.wait(until).map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
                // Some tell their version where others complain.
                let last_words = process.last_words();
                return match last_words.first() {
                    Some(line) => Ok(line.clone()),
                    None => Err(error(ToolFault::Died { how, tokens: 0, of: 0, tries: 1 }, last_words)),
                };
            }
        };
        if !line.is_empty() {
            return Ok(line.chars().filter(|c| !c.is_control()).take(80).collect());
        }
    }
}
