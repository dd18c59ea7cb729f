//! A corpus for a test: its own home, its own web, and the program.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tidings_model::Page;
use tidings_simweb::{Fault, Host, Politeness, RequestKind, SimWeb, Site, Spec};
use tidings_store::runs;
use tidings_testing::WATCHDOG;

/// Clocks tick in milliseconds and pauses are cut to them.
const TICK_US: u64 = 2_000;

/// Answers that a client does not wait for to the end.
const LEFT_IN_THE_MIDDLE: &[Fault] =
    &[Fault::Hang, Fault::Drip, Fault::Endless, Fault::Video, Fault::GzipBomb, Fault::HugeHeaders];

/// A home, and the web that it harvests.
pub struct Corpus {
    folder: TempDir,
    runs: AtomicU32,
    /// The web.
    pub web: SimWeb,
}

/// A line of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub age: u32,
    pub status: String,
    pub retries: u32,
    pub seen: String,
    pub published: String,
    pub feed: String,
    pub url: String,
    pub title: String,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The peak memory of the process, in KiB.
    pub peak_kib: u64,
}

/// An active run.
pub struct Running {
    child: Child,
    began: Instant,
    stdout: PathBuf,
    stderr: PathBuf,
    peak_kib: u64,
}

/// Settings for fast tests: short delays, short timeouts, small pages.
pub fn settings(more: &[(&str, &str)]) -> String {
    let mut table: BTreeMap<&str, &str> = [
        ("delay_s", "0.05"),
        ("feed_delay_s", "0.05"),
        ("connect_timeout_s", "5.0"),
        ("answer_timeout_s", "3.0"),
        ("total_timeout_s", "5.0"),
        ("max_page_mib", "2"),
        ("allow_private", "['127.1.0.0/16']"),
    ]
    .into();
    table.extend(more.iter().copied());
    let lines: String = table.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("[fetch]\n{lines}\n[store]\nmin_free_mib = 16\n")
}

impl Corpus {
    /// A corpus of all feeds of a web, with the default settings.
    pub fn new(spec: Spec) -> Corpus {
        Corpus::with(spec, &[])
    }

    /// A corpus with some settings of its own.
    pub fn with(spec: Spec, more: &[(&str, &str)]) -> Corpus {
        let web = SimWeb::start(spec).expect("the web starts");
        let corpus = Corpus { folder: tempfile::tempdir().expect("a temporary folder"), runs: AtomicU32::new(0), web };
        let home = corpus.home();
        corpus.run(&format!("init {}", home.display())).ok();
        fs::write(home.join("tidings.toml"), settings(more)).unwrap();
        fs::write(home.join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
        corpus
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A path next to the home.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with arguments separated by spaces, in the home.
    pub fn command(&self, args: &str) -> Command {
        let mut command = program();
        command.args(args.split_whitespace()).env("TIDINGS_HOME", self.home());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &str) -> Ran {
        self.start(args).wait()
    }

    /// Runs the program to its end, with its clock set to a time.
    pub fn run_at(&self, time: jiff::Timestamp, args: &str) -> Ran {
        let mut command = self.command(args);
        command.env("TIDINGS_CLOCK", time.to_string());
        self.launch(command).wait()
    }

    /// Runs a shell script in which `$T` is the program, in the home.
    pub fn shell(&self, script: &str) -> Ran {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_tidings");
        command.args(["-c", script]).env("T", program).env("TIDINGS_HOME", self.home());
        self.launch(command).wait()
    }

    /// Starts the program.
    pub fn start(&self, args: &str) -> Running {
        self.launch(self.command(args))
    }

    /// Runs the program as a user who can read the home but not write to it.
    ///
    /// Root can write everywhere, so a test that runs as root does this as another user, with a copy of the program
    /// that this user can read.
    pub fn run_without_write_permission(&self, args: &str) -> Ran {
        const NOBODY: u32 = 65534;
        let mut command = self.command(args);
        if rustix::process::geteuid().is_root() {
            set_mode(self.folder.path(), 0o755);
            self.set_modes(0o755, 0o644);
            let copy = self.beside("tidings");
            if !copy.exists() {
                fs::copy(env!("CARGO_BIN_EXE_tidings"), &copy).unwrap();
            }
            let mut reader = Command::new(copy);
            reader.args(command.get_args()).env_clear().env("TIDINGS_HOME", self.home()).uid(NOBODY).gid(NOBODY);
            command = reader;
        } else {
            self.set_modes(0o555, 0o444);
        }
        let ran = self.launch(command).wait();
        self.set_modes(0o755, 0o644);
        ran
    }

    /// Sets the permissions of all folders and all files of the home.
    fn set_modes(&self, of_folders: u32, of_files: u32) {
        fn set(path: &Path, of_folders: u32, of_files: u32) {
            if !path.is_dir() {
                return set_mode(path, of_files);
            }
            // A folder must be open while its contents are changed.
            set_mode(path, 0o755);
            for entry in fs::read_dir(path).unwrap() {
                set(&entry.unwrap().path(), of_folders, of_files);
            }
            set_mode(path, of_folders);
        }
        set(&self.home(), of_folders, of_files);
    }

    /// Starts a command.
    pub fn launch(&self, mut command: Command) -> Running {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let [stdout, stderr] = ["out", "err"].map(|ending| self.beside(&format!("run-{number}.{ending}")));
        let child = command
            .current_dir(self.folder.path())
            .stdin(std::process::Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .spawn()
            .expect("the program starts");
        Running { child, began: Instant::now(), stdout, stderr, peak_kib: 0 }
    }

    /// Runs a verb from a prepared state again and again, with a power failure at its first durable operation, its
    /// second and so on, until it ends. `look` inspects the home after each failure.
    pub fn cut_at_every_move(&self, verb: &str, prepared: &Path, mut look: impl FnMut(u32)) {
        for at in 1.. {
            assert!(at < 300, "the run did not end");
            self.restore(prepared);
            let mut command = self.command(verb);
            command.env("TIDINGS_CRASH_AT", at.to_string());
            let ran = self.launch(command).wait();
            match ran.code {
                Some(0) => {
                    assert!(at > 6, "a run has many operations");
                    break;
                }
                Some(code) => panic!("move {at}: exit code {code}: {}", ran.stderr),
                None => look(at),
            }
        }
    }

    /// Replaces the home by that of another corpus.
    pub fn restore(&self, from: &Path) {
        let _ = fs::remove_dir_all(self.home());
        copy_folder(from, &self.home());
    }

    /// The plan as the program prints it, with its eight columns.
    pub fn plan(&self) -> Vec<Entry> {
        self.run("plan").ok().stdout.lines().map(Entry::parse).collect()
    }

    /// The status of every address in the plan.
    pub fn statuses(&self) -> BTreeMap<String, String> {
        let plan = self.plan();
        let statuses: BTreeMap<String, String> =
            plan.iter().map(|entry| (entry.url.clone(), entry.status.clone())).collect();
        assert_eq!(statuses.len(), plan.len(), "a URL is in the plan twice");
        statuses
    }

    /// The statuses of the pages of a site, each once.
    pub fn statuses_of(&self, site: usize) -> Vec<(String, u32)> {
        let address = self.web.site(site).address();
        let statuses: BTreeSet<(String, u32)> = self
            .plan()
            .into_iter()
            .filter(|entry| entry.url.contains(&format!("//{address}:")))
            .map(|entry| (entry.status, entry.retries))
            .collect();
        statuses.into_iter().collect()
    }

    /// All published pages; every line must be valid, and every page occur once.
    pub fn pages(&self) -> HashMap<String, Page> {
        let mut pages = HashMap::new();
        for path in self.files("pages", ".jsonl.zst") {
            for line in unpacked(&path).lines() {
                let page: Page = serde_json::from_str(line).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                let url = page.url.clone();
                assert!(pages.insert(url.clone(), page).is_none(), "{url} was stored twice");
            }
        }
        pages
    }

    /// The records in the journal of a run; empty when it was applied.
    pub fn journal(&self) -> Vec<Value> {
        let Ok(file) = File::open(self.home().join("plan.journal.zst")) else { return Vec::new() };
        let mut text = Vec::new();
        // The last frame may be incomplete.
        let _ = zstd::Decoder::new(file).unwrap().read_to_end(&mut text);
        String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The lines of a table in `state/`, by column.
    pub fn state(&self, name: &str) -> Vec<HashMap<String, String>> {
        let text = fs::read_to_string(self.home().join("state").join(name)).unwrap();
        let mut lines = text.lines().filter(|line| !line.starts_with("##"));
        let columns: Vec<String> =
            lines.next().unwrap_or_default().trim_start_matches('#').trim().split('\t').map(str::to_owned).collect();
        lines.map(|line| columns.iter().cloned().zip(line.split('\t').map(str::to_owned)).collect()).collect()
    }

    /// The state of a feed.
    pub fn feed_state(&self, feed: &str) -> HashMap<String, String> {
        let found = self.state("feeds.tsv").into_iter().find(|row| row["feed"] == feed);
        found.unwrap_or_else(|| panic!("no state of {feed}"))
    }

    /// All files under a folder of the home whose names end so.
    pub fn files(&self, folder: &str, ending: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect_files(&self.home().join(folder), &mut found);
        found.retain(|path| path.to_string_lossy().ends_with(ending));
        found.sort();
        found
    }

    /// The texts of the logs of a verb's runs, oldest first.
    pub fn run_logs(&self, verb: &str) -> Vec<String> {
        let home = tidings_store::Home::at(&self.home()).unwrap();
        let text = |run: &runs::LoggedRun| {
            let mut text = String::new();
            runs::read(run, |line| text.extend([line, "\n"])).unwrap();
            text
        };
        runs::all(&home).unwrap().iter().filter(|run| run.verb() == verb).map(text).collect()
    }

    /// URLs of the articles that the healthy sites list now.
    pub fn healthy_articles(&self) -> BTreeSet<String> {
        self.web.healthy_sites().flat_map(|site| addresses(&site)).collect()
    }

    /// Checks that there are no files that only an active run or a crash leaves.
    pub fn is_tidy(&self) {
        for path in self.files("", "") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let litter = name.ends_with(".part") || name.ends_with(".tmp") || name.contains("journal");
            assert!(!litter, "{} was left behind", path.display());
        }
    }

    /// Checks the politeness at every host: one request at a time, delays, no disallowed, early or private requests.
    pub fn was_polite(&self, delay: Duration) -> Politeness {
        self.manners(delay, false)
    }

    /// The same when clients were killed.
    pub fn was_polite_across_crashes(&self, delay: Duration) -> Politeness {
        self.manners(delay, true)
    }

    fn manners(&self, delay: Duration, killed: bool) -> Politeness {
        let manners = self.web.politeness();
        let due = (delay.as_micros() as u64).saturating_sub(TICK_US);
        for (host, shown) in &manners.hosts {
            let faults = self.faults(*host);
            let name = format!("{host:?} {faults}");
            // On a busy machine the server notices a closed connection late, so only the starts of requests can be
            // compared.
            if killed || LEFT_IN_THE_MIDDLE.iter().any(|fault| faults.contains(fault.name())) {
                let gap = shown.smallest_start_gap_us.unwrap_or(u64::MAX);
                assert!(gap >= due, "{name}: {gap} µs from one request to the next, {due} were due");
            } else {
                assert!(shown.max_in_flight <= 1, "{name}: two requests at once");
                let gap = shown.smallest_gap_us.unwrap_or(u64::MAX);
                assert!(gap >= due, "{name}: a pause of {gap} µs, {due} were due");
            }
        }
        assert_eq!(manners.disallowed, 0, "robots.txt was not obeyed");
        assert_eq!(manners.early_for_crawl_delay, 0, "Crawl-delay was not kept");
        let early = manners.hosts.iter().filter(|(_, shown)| shown.early_for_retry_after > 0);
        let early: Vec<String> = early.map(|(host, _)| format!("{host:?} {}", self.faults(*host))).collect();
        assert!(early.is_empty(), "Retry-After was not kept at {early:?}");
        assert_eq!(manners.internal, 0, "a private address was contacted");
        manners
    }

    fn faults(&self, host: Host) -> String {
        let Host::Site(site) = host else { return String::new() };
        self.web.site(site).faults().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The number of requests for each article.
    pub fn page_requests(&self) -> HashMap<(Ipv4Addr, String), u32> {
        let mut counts = HashMap::new();
        for request in self.web.requests().iter().filter(|request| request.kind == RequestKind::Page) {
            *counts.entry((request.address, request.path.to_string())).or_default() += 1;
        }
        counts
    }

    /// The number of requests for a URL.
    pub fn asked_for(&self, url: &str) -> u32 {
        self.page_requests().get(&place(url)).copied().unwrap_or(0)
    }

    /// Checks that no article was requested more than once.
    pub fn asked_nothing_twice(&self) {
        let twice: Vec<_> = self.page_requests().into_iter().filter(|(_, count)| *count > 1).collect();
        assert!(twice.is_empty(), "requested twice: {twice:?}");
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The host and path of an address.
pub fn place(url: &str) -> (Ipv4Addr, String) {
    let rest = url.split_once("://").expect("an absolute address").1;
    let (authority, path) = rest.split_at(rest.find('/').expect("every address has a path"));
    let host = authority.split(':').next().unwrap_or_default();
    (host.parse().expect("hosts are numbers here"), path.to_owned())
}

/// The URLs in the feed of a site.
pub fn addresses(site: &Site<'_>) -> Vec<String> {
    site.listed().map(|article| article.url).collect()
}

/// The program, without settings from the environment of the test.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TIDINGS_")) {
        command.env_remove(name);
    }
    command
}

/// The body and the head of a response to a simple client.
pub fn server_says(url: &str) -> (String, Vec<u8>) {
    let (host, path) = place(url);
    let port = url.split_once("://").unwrap().1.split('/').next().unwrap().split(':').nth(1).unwrap();
    let mut stream = TcpStream::connect((host, port.parse().unwrap())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer has a head");
    (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end + 4..].to_vec())
}

/// A file's text, unpacked.
pub fn unpacked(path: &Path) -> String {
    let file = File::open(path).unwrap();
    let bytes = zstd::stream::decode_all(file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(bytes).unwrap()
}

fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect_files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Copies a folder with everything in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

impl Entry {
    fn parse(line: &str) -> Entry {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[age, status, retries, seen, published, feed, url, title] = &fields[..] else {
            panic!("{} columns instead of eight: {line}", fields.len());
        };
        let [status, seen, published, feed, url, title] =
            [status, seen, published, feed, url, title].map(str::to_owned);
        let [age, retries] = [age, retries].map(|number| number.parse().expect("a number"));
        Entry { age, status, retries, seen, published, feed, url, title }
    }
}

impl Running {
    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("children have numbers");
        kill_process(pid, signal).expect("the child is still there");
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.look();
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until a condition holds, or the run ends.
    pub fn until(&mut self, mut so: impl FnMut() -> bool) {
        while !so() && !self.has_ended() {
            assert!(self.began.elapsed() < WATCHDOG, "the condition was never met");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn look(&mut self) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        self.peak_kib = self.peak_kib.max(kib.unwrap_or(0));
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ran {
        let code = loop {
            self.look();
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            if self.began.elapsed() > WATCHDOG {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("it did not end; it said: {}", fs::read_to_string(&self.stderr).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let [stdout, stderr] = [&self.stdout, &self.stderr]
            .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned());
        Ran { code, stdout, stderr, peak_kib: self.peak_kib }
    }
}

impl Drop for Running {
    /// Kills the process if the test did not wait for it: a failed test must not leave a server or a loop behind.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ran {
    /// It did its work.
    #[track_caller]
    pub fn ok(self) -> Ran {
        self.exits(0)
    }

    /// It ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "it said: {}{}", self.stdout, self.stderr);
        self
    }

    /// Checks that the output contains a text.
    #[track_caller]
    pub fn says(self, words: &str) -> Ran {
        assert!(self.stdout.contains(words) || self.stderr.contains(words), "{}{}", self.stdout, self.stderr);
        self
    }

    /// The output with `--json`.
    #[track_caller]
    pub fn json(&self) -> Value {
        let mut lines = self.stdout.lines();
        let line = lines.next().unwrap_or_default();
        assert_eq!(lines.next(), None, "more than one line of JSON");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}
