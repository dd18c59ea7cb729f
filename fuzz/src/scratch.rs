//! Files for parsers that open paths: one folder for the process, overwritten by each input.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tidings_store::Home;

/// The folder of this process. Run with `TMPDIR` on a memory file system.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    // libFuzzer ends the process without destructors, so the folder has the name of the process and run.sh removes it.
    FOLDER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("tidings-fuzz-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary folder can be written");
        path
    })
}

/// A file of this thread with these bytes. Each thread has its own, because tests run side by side.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = thread_folder().join(name);
    fs::write(&path, bytes).expect("the temporary folder can be written");
    path
}

fn thread_folder() -> PathBuf {
    let id: String = format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    let path = folder().join(id);
    fs::create_dir_all(&path).expect("the temporary folder can be written");
    path
}

/// A new empty folder of this thread in place of the last one of its name.
pub fn fresh_folder(name: &str) -> PathBuf {
    let path = thread_folder().join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the temporary folder can be written");
    path
}

/// A new home of this thread in place of the last one.
pub fn fresh_home(settings: &str) -> Home {
    let root = thread_folder().join("home");
    let _ = fs::remove_dir_all(&root);
    Home::create(&root, settings, "").expect("the temporary folder can be written");
    Home::at(&root).expect("it was just made")
}
