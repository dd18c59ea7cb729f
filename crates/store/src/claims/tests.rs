//! Claims of this process, of dead processes, and of other machines, whose claims are written by the test.

use super::*;
use crate::testing::home;

const DAY: &str = "2026-03-01";

/// A holder on another machine, whose lease ends soon.
fn foreign(stage: &str, unit: &str) -> Holder {
    let this = Holder::this(stage, unit, 50, None);
    Holder { host: "elsewhere".into(), machine: "another boot".into(), ..this }
}

fn write(home: &Home, number: u64, holder: &Holder) -> PathBuf {
    let folder = home.claims_folder();
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}~{}~{number}", plain(&holder.stage), plain(&holder.unit)));
    fs::write(&path, serde_json::to_string(holder).unwrap() + "\n").unwrap();
    path
}

fn beat(path: &Path) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(b".").unwrap();
}

fn taken(attempt: Result<Attempt>) -> Claim {
    match attempt.unwrap() {
        Attempt::Taken(claim) => claim,
        Attempt::Held(other) => panic!("held by {other:?}"),
    }
}

fn held(attempt: Result<Attempt>) -> OtherClaim {
    match attempt.unwrap() {
        Attempt::Held(other) => *other,
        Attempt::Taken(claim) => panic!("taken: {claim:?}"),
    }
}

/// A process that has ended.
fn dead() -> Holder {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    Holder { pid: child.id(), process_start: Some(1), ..Holder::this("clean", DAY, 60_000, Some("draft-2".into())) }
}

/// Looks at a claim until its holder counts as dead.
fn take_when_dead(home: &Home) -> Claim {
    loop {
        match home.claim("clean", DAY).unwrap() {
            Attempt::Taken(claim) => return claim,
            Attempt::Held(other) => assert!(!other.is_alive),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_unit_has_one_holder_and_is_free_after_it() {
    let (_folder, home) = home();
    let claim = taken(home.claim("clean", DAY));
    let other = held(home.for_shard("2-of-2").claim("clean", DAY));
    assert!(other.is_alive && other.shown().starts_with(&std::process::id().to_string()));
    let others = [taken(home.claim("clean", "2026-03-02")), taken(home.claim("annotate", DAY))];
    let mut shown: Vec<_> = home.claims().unwrap().into_iter().map(|holder| (holder.stage, holder.unit)).collect();
    shown.sort();
    let expected = [("annotate", DAY), ("clean", DAY), ("clean", "2026-03-02")];
    assert_eq!(shown, expected.map(|(stage, unit)| (stage.to_owned(), unit.to_owned())));
    drop((claim, others));
    assert!(home.claim_files().unwrap().is_empty());
    taken(home.claim("clean", DAY));
}

#[test]
fn of_many_threads_one_gets_each_claim() {
    let (_folder, home) = home();
    for round in 0..20 {
        let dead = dead();
        // Half of the rounds take over the claim of a dead process.
        let _ = (round % 2 == 0).then(|| write(&home, 7, &dead));
        let barrier = std::sync::Barrier::new(4);
        let claims: Vec<Option<Claim>> = std::thread::scope(|scope| {
            let attempt = || {
                let home = home.for_shard("x");
                barrier.wait();
                match home.claim("clean", DAY).unwrap() {
                    Attempt::Taken(claim) => Some(claim),
                    Attempt::Held(_) => None,
                }
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(attempt)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(claims.iter().flatten().count(), 1, "round {round}");
    }
}

#[test]
fn the_claim_of_a_process_that_ended_here_is_taken_over_at_once_with_its_drafts() {
    let (_folder, home) = home();
    for key in ["docs/draft-2/de.tmp", "text/draft-2/de.tmp", "docs/draft-3/de.tmp", "docs/de/1"] {
        home.storage().put_atomic(key, b"half").unwrap();
    }
    let path = write(&home, 1, &dead());
    assert!(home.claims().unwrap().is_empty(), "a dead process is not shown");
    let claim = taken(home.claim("clean", DAY));
    assert!(!path.exists());
    let left = ["docs/draft-2/de.tmp", "text/draft-2/de.tmp", "docs/draft-3/de.tmp", "docs/de/1"]
        .map(|key| home.file_bytes(key).unwrap().is_some());
    assert_eq!(left, [false, false, true, true]);
    drop(claim);
    assert!(home.claim_files().unwrap().is_empty());
}

#[test]
fn drafts_of_a_claim_cannot_name_other_folders() {
    let (_folder, home) = home();
    for name in ["", "de", "draft", "draft-/../de", "../docs", "draft/../de"] {
        home.storage().put_atomic("docs/de/1", b"text").unwrap();
        write(&home, 1, &Holder { drafts: Some(name.into()), ..dead() });
        drop(taken(home.claim("clean", DAY)));
        assert!(home.file_bytes("docs/de/1").unwrap().is_some(), "{name}");
    }
}

#[test]
fn a_holder_on_another_machine_keeps_its_claim_while_it_beats() {
    let (_folder, home) = home();
    let path = write(&home, 1, &Holder { lease_ms: 10_000, ..foreign("clean", DAY) });
    assert!(!held(home.claim("clean", DAY)).is_alive, "not known yet");
    beat(&path);
    let other = held(home.claim("clean", DAY));
    assert!(other.is_alive && other.shown().ends_with(" on elsewhere"));
    assert!(path.exists());
}

#[test]
fn a_holder_on_another_machine_without_a_beat_for_its_lease_is_dead() {
    let (_folder, home) = home();
    let path = write(&home, 3, &foreign("clean", DAY));
    let claim = take_when_dead(&home);
    assert!(!path.exists() && claim.own.path.ends_with("clean~2026-03-01~4"));
    home.check_claims().unwrap();
}

#[test]
fn a_gap_between_two_looks_is_no_proof_of_death() {
    let (_folder, home) = home();
    let holder = Holder { lease_ms: 60_000, ..foreign("clean", DAY) };
    let file = ClaimFile::parse(write(&home, 1, &holder)).unwrap();
    let now = Instant::now();
    assert_eq!(home.known.judge(&file, Some(&holder), 0, now), Verdict::Unknown);
    // The observer was suspended for an hour.
    let later = now + Duration::from_secs(3600);
    assert_eq!(home.known.judge(&file, Some(&holder), 0, later), Verdict::Unknown);
    let look = |number: u64| home.known.judge(&file, Some(&holder), 0, later + Duration::from_secs(2 * number));
    let verdicts: Vec<Verdict> = (1..=40).map(look).collect();
    assert_eq!(verdicts.last(), Some(&Verdict::Dead));
    assert_eq!(home.known.judge(&file, Some(&holder), 1, later + Duration::from_secs(90)), Verdict::Alive);
}

#[test]
fn a_claim_that_nothing_can_be_read_from_is_respected_until_its_lease_ends() {
    let (_folder, home) = home();
    fs::create_dir_all(home.claims_folder()).unwrap();
    let path = home.claims_folder().join("clean~2026-03-01~1");
    fs::write(&path, "").unwrap();
    assert_eq!(held(home.claim("clean", DAY)), OtherClaim { holder: None, is_alive: false });
    let file = ClaimFile::parse(path).unwrap();
    let start = Instant::now();
    let look = |number: u64| home.known.judge(&file, None, 0, start + Duration::from_secs(2 * number));
    let verdicts: Vec<Verdict> = (1..=61).map(look).collect();
    assert_eq!(verdicts.last(), Some(&Verdict::Dead));
}

#[test]
fn a_holder_that_lost_its_claim_publishes_nothing_and_deletes_nothing() {
    let (_folder, home) = home();
    home.storage().put_atomic("docs/recipes/2026-03-01.json", b"{}").unwrap();
    let claim = taken(home.claim("clean", DAY));
    home.check_claims().unwrap();
    // Another machine has taken over, and has not deleted the old file yet.
    let next = write(&home, 2, &foreign("clean", DAY));
    for _ in 0..2 {
        let error = crate::docs::forget(&home, DAY).unwrap_err().to_string();
        assert!(error.contains("has taken over clean 2026-03-01"), "{error}");
        fs::remove_file(&claim.own.path).or_else(|_| fs::remove_file(&next)).unwrap();
    }
    // A third one has a claim with the old name.
    let third = write(&home, 1, &foreign("clean", DAY));
    assert!(home.check_claims().is_err());
    drop(claim);
    assert!(third.exists());
    assert!(home.file_bytes("docs/recipes/2026-03-01.json").unwrap().is_some());
}

#[test]
fn a_claim_that_was_released_and_made_again_since_it_was_judged_is_not_taken_over() {
    let (_folder, home) = home();
    let dead = dead();
    let path = write(&home, 1, &dead);
    let judged = ClaimFile::parse(path.clone()).unwrap();
    let fresh = Holder { lease_ms: 60_000, ..foreign("clean", DAY) };
    write(&home, 1, &fresh);
    assert!(home.take_over(&judged, Some(dead)).unwrap().is_none());
    assert_eq!(home.claim_files().unwrap().len(), 1);
    assert_eq!(ClaimFile::parse(path).unwrap().read().unwrap().unwrap().0, Some(fresh));
}

#[test]
fn the_whole_home_and_units_of_another_machine_exclude_each_other() {
    let (_folder, home) = home();
    let unit = write(&home, 1, &Holder { lease_ms: 60_000, ..foreign("annotate", DAY) });
    let error = std::thread::scope(|scope| {
        let locking = scope.spawn(|| home.lock().unwrap_err());
        while !locking.is_finished() {
            beat(&unit);
            std::thread::sleep(Duration::from_millis(20));
        }
        locking.join().unwrap().to_string()
    });
    assert!(error.contains("on elsewhere"), "{error}");
    assert_eq!(home.claim_files().unwrap().len(), 1, "the claim on the home was released");
    fs::remove_file(unit).unwrap();
    let whole = write(&home, 1, &Holder { lease_ms: 60_000, ..foreign(WHOLE, ALL_UNITS) });
    held(home.claim("clean", DAY));
    fs::remove_file(whole).unwrap();
    let lock = home.lock().unwrap();
    assert!(home.for_shard("1-of-2").claim("clean", DAY).is_ok_and(|attempt| matches!(attempt, Attempt::Held(_))));
    drop(lock);
    taken(home.claim("clean", DAY));
}

#[test]
fn a_machine_that_died_with_the_whole_home_is_waited_for_until_its_lease_ends() {
    let (_folder, home) = home();
    write(&home, 1, &foreign(WHOLE, ALL_UNITS));
    write(&home, 1, &foreign("clean", DAY));
    write(&home, 1, &dead());
    drop(home.lock().unwrap());
    assert!(home.claim_files().unwrap().is_empty());
}

#[test]
fn a_holder_beats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claim");
    let beats = start_beats(create_new(&path, b"x\n").unwrap().unwrap(), Duration::from_millis(1));
    assert!(create_new(&path, b"y\n").unwrap().is_none());
    while fs::metadata(&path).unwrap().len() < 4 {
        std::thread::yield_now();
    }
    drop(beats);
    assert!(fs::read(&path).unwrap().starts_with(b"x\n.."));
}

#[test]
fn units_with_strange_names_have_plain_files() {
    let (_folder, home) = home();
    let units = ["../plan.tsv", "a~1", "", "übermorgen", &"x".repeat(300)];
    let claims: Vec<Claim> = units.iter().map(|unit| taken(home.claim("clean", unit))).collect();
    assert_eq!(home.claim_files().unwrap().len(), units.len());
    drop(claims);
}
