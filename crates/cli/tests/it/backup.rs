//! `tidings backup` and `tidings restore`: a lost home is restored, and removed pages are not.

use std::fs;
use std::path::{Path, PathBuf};

use tidings_simweb::Spec;

use crate::clean::{mixed, put};
use crate::digest::{built, pages, tree};
use crate::support::{Corpus, copy_folder};

/// The files of a backup that hold pages.
fn saved_pages(backup: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![backup.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".jsonl.zst") && path.to_string_lossy().contains("/pages/") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_lost_home_is_restored_unchanged() {
    let corpus = Corpus::new(Spec { sites: 3, items_per_feed: 3, ..Spec::default() });
    corpus.run("run").ok();
    corpus.run("token add --name me").ok();
    let backup = corpus.beside("backup");
    let target = backup.display();
    corpus.run(&format!("backup {target}")).ok().says(" in the backup");
    let again = corpus.run(&format!("--json backup {target}")).ok().json();
    assert_eq!(again["copied_bytes"], 0, "{again}");

    // The next day adds pages: only those are copied.
    put(&corpus, "2026-03-02", "a.0", &pages(2));
    corpus.run("run --from clean").ok();
    let more = corpus.run(&format!("--json backup {target}")).ok().json();
    assert!(more["copied"].as_u64().unwrap() < 10, "{more}");
    corpus.run(&format!("backup {target} --verify")).ok().says("are intact");
    let (before, plan, asked) = (tree(&corpus), corpus.plan(), corpus.page_requests());

    corpus.run(&format!("restore {target} {}", corpus.home().display())).exits(1).says("is not empty");
    fs::remove_dir_all(corpus.home()).unwrap();
    corpus.run(&format!("restore {target} {}", corpus.home().display())).ok().says("run --from clean");
    corpus.run("run --from clean").ok();
    assert_eq!((tree(&corpus), corpus.plan()), (before, plan));
    corpus.run("token list").ok().says("me");
    corpus.run("fetch").ok().says("nothing to fetch");
    assert_eq!(corpus.page_requests(), asked, "no page was requested again");
    corpus.run("why --all --items").ok();
    corpus.run("audit").ok();

    // A bit that flips is found, and not restored.
    let victim = saved_pages(&backup).remove(0);
    let mut bytes = fs::read(&victim).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&victim, bytes).unwrap();
    corpus.run(&format!("backup {target} --verify")).exits(1).says("is damaged");
    let elsewhere = corpus.beside("elsewhere");
    corpus.run(&format!("restore {target} {}", elsewhere.display())).exits(1).says("its digest does not match");
    assert!(!elsewhere.join("tidings.toml").exists());
}

#[test]
fn a_backup_keeps_missing_pages_but_deletes_removed_ones() {
    let corpus = built();
    put(&corpus, "2026-03-04", "a.0", &mixed(400..402));
    let backup = corpus.beside("backup");
    let target = backup.display();
    corpus.run(&format!("backup {target}")).ok();
    assert_eq!(saved_pages(&backup).len(), 3);

    // A missing file is kept; one whose pages were removed is deleted.
    fs::remove_file(corpus.home().join("pages/2026-03-02/a.0.jsonl.zst")).unwrap();
    corpus
        .run(&format!("backup {target}"))
        .exits(3)
        .says("pages/2026-03-02/a.0.jsonl.zst is missing in the home; the backup keeps its copy");
    assert_eq!(saved_pages(&backup).len(), 3);
    // The rest cannot be made again without the missing pages, which is not the fault of the takedown.
    corpus.run("remove e.org/40* --reason asked").exits(1).says("pages/2026-03-02/a.0.jsonl.zst is missing");
    corpus.run("remove http://e.org/150 --reason asked").exits(1);
    corpus.run(&format!("backup {target}")).exits(3);
    assert_eq!(saved_pages(&backup).len(), 2);
    for path in saved_pages(&backup) {
        let text = crate::support::unpacked(&path);
        assert!(!text.contains("http://e.org/150\"") && !text.contains("http://e.org/40"), "{}", path.display());
    }
    corpus.run(&format!("backup {target} --verify")).ok();

    // An older backup does not restore pages removed since.
    let old = built();
    let older = old.beside("older");
    old.run(&format!("backup {}", older.display())).ok();
    let stones = corpus.home().join("removed.tsv");
    let home = corpus.beside("restored");
    corpus.run(&format!("restore {} {} --removed {}", older.display(), home.display(), stones.display())).ok();
    corpus.run(&format!("--home {} run --from clean", home.display())).ok();
    let list = corpus.run(&format!("--home {} pages", home.display())).ok().stdout;
    assert!(list.contains("http://e.org/151") && !list.contains("http://e.org/150"), "{list}");
    corpus.run(&format!("--home {} why http://e.org/150", home.display())).ok().says("reason: asked");

    // The backup of another home is not overwritten, nor is a home.
    let other = crate::clean::corpus();
    put(&other, "2026-03-09", "z.0", &mixed(0..2));
    other.run(&format!("backup {target}")).exits(1).says("a backup of another home");
    other.run(&format!("backup {}", other.home().join("inside").display())).exits(1).says("is inside the home");
    other.run(&format!("backup {}", corpus.home().display())).exits(1).says("is a home");
}

#[test]
fn a_power_failure_leaves_the_old_or_the_new_backup() {
    let corpus = built();
    let backup = corpus.beside("backup");
    let target = backup.display().to_string();
    corpus.run(&format!("backup {target}")).ok();
    put(&corpus, "2026-03-03", "a.0", &pages(3));
    fs::write(corpus.home().join("corpora.tsv"), "name\tfilter\nwinter\tdate>=2026-01-01\n").unwrap();
    let start = corpus.beside("start");
    copy_folder(&corpus.home(), &start);
    let first = corpus.beside("first");
    copy_folder(&backup, &first);
    let mut whole = Vec::new();
    corpus.cut_at_every_move(&format!("backup {target}"), &start, |at| {
        corpus.run(&format!("backup {target} --verify")).ok();
        let to = corpus.beside(&format!("restored-{at}"));
        corpus.run(&format!("restore {target} {}", to.display())).ok();
        whole.push(to.join("pages/2026-03-03").exists());
        fs::remove_dir_all(to).unwrap();
        let _ = fs::remove_dir_all(&backup);
        copy_folder(&first, &backup);
    });
    assert!(whole.contains(&false) && whole.is_sorted(), "{whole:?}");
    // An interrupted restore can be continued.
    corpus.run(&format!("backup {target}")).ok();
    let to = corpus.beside("stopped");
    for at in [3, 9, 15] {
        let mut command = corpus.command(&format!("restore {target} {}", to.display()));
        command.env("TIDINGS_CRASH_AT", at.to_string());
        corpus.launch(command).wait();
        assert!(!to.join("tidings.toml").exists());
    }
    corpus.run(&format!("restore {target} {}", to.display())).ok();
    corpus.run(&format!("--home {} run --from clean", to.display())).ok();
    let restored = corpus.run(&format!("--home {} --json digest", to.display())).ok().json();
    corpus.run("run --from clean").ok();
    assert_eq!(restored["digest"], corpus.run("--json digest").ok().json()["digest"]);
}

#[test]
fn a_backup_during_a_crawl_is_consistent() {
    let corpus = Corpus::with(Spec { sites: 4, items_per_feed: 6, ..Spec::default() }, &[("delay_s", "0.2")]);
    corpus.run("update --all").ok();
    let backup = corpus.beside("backup");
    let mut harvest = corpus.start("fetch");
    harvest.until(|| corpus.home().join("plan.journal.zst").exists() && corpus.page_requests().len() > 8);
    let taken = corpus.run(&format!("--json backup {}", backup.display())).ok().json();
    harvest.wait().ok();
    assert!(taken["under_way"].is_string(), "{taken}");
    let to = corpus.beside("restored");
    corpus.run(&format!("restore {} {}", backup.display(), to.display())).ok();
    corpus.run(&format!("--home {} why --all --items", to.display())).ok().says("no items are missing");
    corpus.run(&format!("backup {}", backup.display())).ok();
    let again = corpus.beside("again");
    corpus.run(&format!("restore {} {}", backup.display(), again.display())).ok();
    corpus.run(&format!("--home {} fetch --dry-run", again.display())).ok().says("nothing to fetch");
}
