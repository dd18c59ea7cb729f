//! Paths that are not UTF-8: every verb works in a home with such a path, and with other such paths.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tidings_simweb::{SimWeb, Spec};
use tidings_testing::until;

use crate::support::{program, settings};

/// A home whose name is not UTF-8, and a folder with such a name next to it.
struct Odd {
    folder: tempfile::TempDir,
    web: SimWeb,
}

impl Odd {
    fn new() -> Odd {
        let web = SimWeb::start(Spec { sites: 3, items_per_feed: 4, ..Spec::default() }).unwrap();
        let odd = Odd { folder: tempfile::tempdir().unwrap(), web };
        odd.ok(&["init".as_ref(), odd.home().as_os_str()]);
        fs::write(odd.home().join("tidings.toml"), settings(&[])).unwrap();
        fs::write(odd.home().join("feeds.txt"), odd.web.feeds().join("\n")).unwrap();
        fs::create_dir(odd.folder.path().join(OsStr::from_bytes(b"o\xff"))).unwrap();
        odd
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join(OsStr::from_bytes(b"h\xff"))
    }

    /// A path in the folder next to the home.
    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(OsStr::from_bytes(b"o\xff")).join(name)
    }

    fn command(&self, args: &[&OsStr]) -> Command {
        let mut command = program();
        command.args(args).env("TIDINGS_HOME", self.home()).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program; returns its output and exit code.
    #[track_caller]
    fn run(&self, args: &[&OsStr]) -> (String, Option<i32>) {
        let ran = self.command(args).output().unwrap();
        let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(!said.contains("UTF-8") && !said.contains("panicked"), "{args:?}: {said}");
        (said, ran.status.code())
    }

    #[track_caller]
    fn ok(&self, args: &[&OsStr]) -> String {
        let (said, code) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    /// Runs a verb with arguments separated by spaces, followed by a path if there is one.
    #[track_caller]
    fn does(&self, verb: &str, path: Option<&Path>) -> String {
        let mut args: Vec<&OsStr> = verb.split(' ').map(OsStr::new).collect();
        args.extend(path.map(Path::as_os_str));
        self.ok(&args)
    }
}

#[test]
fn stages_and_views_work_in_a_home_whose_path_is_not_utf8() {
    let odd = Odd::new();
    odd.does("update --all", None);
    for stage in ["fetch", "clean", "dedup", "annotate", "compile", "merge", "run", "rebuild --from clean"] {
        odd.does(stage, None);
    }
    odd.does("discover --from pages", None);
    let url = odd.web.articles().next().unwrap().url;
    for look in
        ["plan", "pages", "audit", "digest", "config", "corpus languages", "words --lang en", "why --all", "prune"]
    {
        assert!(!odd.does(look, None).is_empty(), "{look} says nothing");
    }
    // Warnings are not failures.
    for look in ["status", "doctor", "doctor --thorough"] {
        let (said, code) = odd.run(&look.split(' ').map(OsStr::new).collect::<Vec<_>>());
        assert!(matches!(code, Some(0 | 3)), "{look}: {said}");
    }
    assert!(odd.does(&format!("why {url}"), None).contains("fetched"));
    odd.does("corpus save all date>=2000", None);
    assert!(odd.does("corpus list", None).contains("all"));
    assert!(odd.does("query the --lang en", None).contains("the"));
    odd.does("token add --name reader", None);
    odd.does("--json status", None);
    // The same by option and from inside the home.
    odd.ok(&["--home".as_ref(), odd.home().as_os_str(), "plan".as_ref()]);
    let inside = odd.command(&["digest".as_ref()]).env_remove("TIDINGS_HOME").current_dir(odd.home()).output().unwrap();
    assert!(inside.status.success(), "{}", String::from_utf8_lossy(&inside.stderr));
    let host = odd.web.site(0).address();
    odd.does(&format!("remove {host} --reason test"), None);
    assert!(!odd.does("pages", None).contains(&format!("//{host}:")));
}

#[test]
fn imports_and_exports_work_in_a_home_whose_path_is_not_utf8() {
    let odd = Odd::new();
    odd.does("run", None);
    odd.does("report --out", Some(&odd.beside("report.html")));
    odd.does("discover --opml-out", Some(&odd.beside("feeds.opml")));
    odd.does("discover --opml", Some(&odd.beside("feeds.opml")));
    for (format, name) in [
        ("jsonl", "all.jsonl"),
        ("conllu", "all.conllu"),
        ("vertical", "all.vert"),
        ("tei", "all.xml"),
        ("warc", "all.warc.gz"),
        ("parquet", "all.parquet"),
    ] {
        odd.does(&format!("export --format {format}"), Some(&odd.beside(name)));
        assert!(odd.beside(name).exists(), "{name}");
    }
    odd.does("backup", Some(&odd.beside("backup")));
    odd.does("backup --verify", Some(&odd.beside("backup")));
    let restored = odd.beside("restored");
    odd.ok(&["restore".as_ref(), odd.beside("backup").as_os_str(), restored.as_os_str()]);
    odd.ok(&["--home".as_ref(), restored.as_os_str(), "run".as_ref(), "--from".as_ref(), "clean".as_ref()]);
    let digest = |home: &Path| odd.ok(&["--home".as_ref(), home.as_os_str(), "digest".as_ref()]);
    assert_eq!(digest(&restored), digest(&odd.home()));
    // The exports are imported into another such home.
    let other = odd.beside("other");
    odd.ok(&["init".as_ref(), other.as_os_str()]);
    for name in ["all.jsonl", "all.warc.gz"] {
        let file = odd.beside(name);
        odd.ok(&["--home".as_ref(), other.as_os_str(), "import".as_ref(), file.as_os_str()]);
    }
    odd.ok(&["--home".as_ref(), other.as_os_str(), "run".as_ref(), "--from".as_ref(), "clean".as_ref()]);
}

#[test]
fn a_home_whose_path_is_not_utf8_is_served() {
    let odd = Odd::new();
    odd.does("run", None);
    let said = odd.beside("said");
    let mut serve = odd.command(&["serve", "--port", "0"].map(OsStr::new));
    serve.stdout(fs::File::create(&said).unwrap()).stderr(Stdio::null());
    let mut child = serve.spawn().unwrap();
    until("the server listens", || {
        assert!(child.try_wait().unwrap().is_none(), "the server ended");
        fs::read_to_string(&said).unwrap().contains("listening at")
    });
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
}
