//! Checks of the machine: file system, disk space, limits, clock, permissions, locks.

use std::os::linux::fs::MetadataExt as _;
use std::path::Path;

use anyhow::Result;
use rustix::process::{Resource, geteuid, getrlimit};
use tidings_model::clock;
use tidings_store::future::FutureTimes;
use tidings_store::{probe, runs};

use super::{Findings, Subject};
use crate::display::{bytes, count, grouped};
use crate::health::alerts::ago;
use crate::health::day_of;

/// File systems by their kernel magic number, with known problems.
const FILE_SYSTEMS: [(u64, &str, &str); 10] = [
    (0x6969, "NFS", "locks and renames are only as good as the server; keep the home on a local disk"),
    (0xFF53_4D42, "CIFS", "locks, hard links and fsync are not reliable there; keep the home on a local disk"),
    (0xFE53_4D42, "SMB2", "locks, hard links and fsync are not reliable there; keep the home on a local disk"),
    (0x0102_1997, "9P", "a folder of another machine; memory-mapped files are slow there"),
    (0x6573_5546, "FUSE", "whether fsync is reliable depends on the FUSE program"),
    (0x00C3_6400, "CephFS", "it works, but every fsync crosses the network"),
    (0x0102_1994, "tmpfs", "the files are in memory and lost after a restart; keep the home on a disk"),
    (0x8584_58F6, "ramfs", "the files are in memory and lost after a restart; keep the home on a disk"),
    (0x794C_7630, "overlay", "the files are lost with the container; mount a volume for the home"),
    (0x4D44, "FAT", "no hard links and no large files; keep the home on another file system"),
];

pub fn file_system(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let root = subject.home.root();
    let kind = rustix::fs::statfs(root).map_or(0, |stat| stat.f_type as u64 & 0xFFFF_FFFF);
    if let Some((_, name, remedy)) = FILE_SYSTEMS.iter().find(|row| row.0 == kind) {
        found.warn("file system", format!("the home is on {name}"), *remedy);
    }
    match probe::probe(subject.home) {
        Err(error) => found.fault(
            "file system",
            tidings_store::in_full(&error),
            "Tidings must be able to write in the home: check its owner and whether it is mounted read-only",
        ),
        Ok(abilities) => {
            for ability in abilities.iter().filter(|ability| ability.fault.is_some()) {
                let fault = ability.fault.as_deref().unwrap_or_default();
                found.fault(
                    "file system",
                    format!("{}: {fault}", ability.name),
                    "keep the home on a local file system",
                );
            }
            if abilities.iter().all(|ability| ability.fault.is_none()) {
                let names: Vec<&str> = abilities.iter().map(|ability| ability.name).collect();
                found.fine("file system", format!("{} work", names.join(", ")));
            }
        }
    }
    Ok(())
}

pub fn disk_space(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let Ok(stat) = rustix::fs::statvfs(subject.home.root()) else { return Ok(()) };
    let free = stat.f_bavail * stat.f_frsize;
    let least = subject.config.store.min_free_mib << 20;
    match free {
        _ if free < least => found.fault(
            "disk",
            format!("{} free, less than store.min_free_mib = {}", bytes(free as f64), least >> 20),
            "free some space; until then nothing is fetched",
        ),
        _ if free < 4 * least => {
            found.warn("disk", format!("{} free", bytes(free as f64)), "`tidings status` estimates how long it lasts");
        }
        _ => found.fine("disk", format!("{} free", bytes(free as f64))),
    }
    // Some file systems have no fixed number of inodes and report 0 of 0.
    if stat.f_files > 0 && stat.f_favail < 20_000 {
        let seen = format!("{} left", count(stat.f_favail, "inode"));
        found.warn("disk", seen, "every day needs a file per language and stage; delete small files elsewhere");
    }
    Ok(())
}

pub fn limits(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let config = &subject.config;
    // One per connection, one for its successor, and files besides.
    let needed = config.fetch.concurrency as u64 * 2 + 100;
    match getrlimit(Resource::Nofile).maximum {
        Some(most) if most < needed => found.warn(
            "open files",
            format!(
                "at most {}, but fetch.concurrency = {} needs {}",
                grouped(most),
                config.fetch.concurrency,
                grouped(needed)
            ),
            "raise LimitNOFILE of the service or `ulimit -Hn`, or lower fetch.concurrency",
        ),
        most => found.fine("open files", most.map_or("no limit".to_owned(), |most| format!("up to {}", grouped(most)))),
    }
    let stages = [
        ("fetch", config.fetch.memory_mib),
        ("clean", config.clean.memory_mib),
        ("dedup", config.dedup.memory_mib),
        ("index", config.index.memory_mib),
    ];
    let (stage, most) = stages.into_iter().max_by_key(|stage| stage.1).unwrap_or(("", 0));
    // A stage needs about the same amount again for code, models and work in progress.
    let wanted = (most as u64 * 2) << 20;
    if let Some(there) = memory() {
        let seen =
            format!("{} available to this machine or control group, {stage}.memory_mib = {most}", bytes(there as f64));
        match wanted > there {
            true => found.warn("memory", seen, format!("lower {stage}.memory_mib or provide more memory")),
            false => found.fine("memory", seen),
        }
    }
    Ok(())
}

/// The available memory: of the machine or of the control group.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(group.unwrap_or(total).min(total))
}

pub fn clock(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let now = clock::now();
    let newest = runs::newest_first(subject.home)?.next().transpose()?;
    let remedy = "synchronise the clock (timedatectl set-ntp true); days and delays depend on it";
    let ahead = future_times(subject, found)?;
    match newest {
        _ if day_of(now).year() < BUILT_YEAR => {
            found.fault("clock", format!("the clock says {now:.0}"), remedy);
        }
        _ if !ahead.is_empty() => {}
        Some(run) if run.began() <= now => {
            let began = ago(run.began(), now);
            found.fine("clock", format!("{now:.0}; the last run ({}) began {began}; days are UTC days", run.verb()));
        }
        _ => found.fine("clock", format!("{now:.0}; days are UTC days")),
    }
    let service = std::path::Path::new("/run/systemd/timesync");
    if service.is_dir() && !service.join("synchronized").exists() {
        found.warn("clock", "it is not synchronised yet", remedy);
    }
    Ok(())
}

/// Reports remembered times in the future, and deletes them if asked to. Returns those that are left.
fn future_times(subject: &Subject<'_>, found: &mut Findings) -> Result<FutureTimes> {
    let (now, wait) = (clock::now(), subject.config.feeds.longest_poll_wait());
    let ahead = FutureTimes::count(subject.home, now, wait)?;
    if ahead.is_empty() {
        return Ok(ahead);
    }
    let times = format!(
        "times of {}, {} and {}",
        count(ahead.feeds, "feed"),
        count(ahead.hosts, "host"),
        count(ahead.pages, "page")
    );
    if subject.options.repair {
        let _lock = subject.home.lock()?;
        FutureTimes::repair(subject.home, now, wait)?;
        found.fine("clock", format!("repaired: {times} were in the future and are forgotten"));
        return Ok(FutureTimes::default());
    }
    let last_run = ahead.last_run.map(|at| format!(", and a run began at {at:.0}")).unwrap_or_default();
    found.fault(
        "clock",
        format!("the clock says {now:.0}, but {times} are later{last_run}"),
        "if the clock is wrong, synchronise it (timedatectl set-ntp true); if it was ahead and is right now, run \
         `tidings doctor --repair`",
    );
    Ok(ahead)
}

/// A clock before this year is wrong.
const BUILT_YEAR: i16 = 2026;

pub fn permissions(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let me = geteuid().as_raw();
    let others = probe::files_of_others(subject.home, me);
    match others.first() {
        Some(first) => found.warn(
            "owner",
            format!("{} owned by other users, such as {first}", count(others.len() as u64, "file")),
            "always run Tidings as the same user; use `chown -R USER` on the home to correct it",
        ),
        None if me == 0 => found.warn(
            "owner",
            "running as root",
            "Tidings does not need root; use a dedicated user (packaging/README.md)",
        ),
        None => found.fine("owner", "all files belong to the current user"),
    }
    readers(subject, found);
    Ok(())
}

/// Reports a home, or tokens in it, that other users of the machine can read.
fn readers(subject: &Subject<'_>, found: &mut Findings) {
    let root = subject.home.root();
    let tokens = root.join("tokens.tsv");
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.st_mode() & 0o777);
    let (home, secret) = (mode(root), mode(&tokens));
    if home & 0o007 != 0 {
        found.warn(
            "readers",
            format!("every user of this machine can read the home (mode {home:04o})"),
            format!("run `chmod o-rwx {}`, unless its texts are meant for all of them", root.display()),
        );
    }
    if secret & 0o077 != 0 {
        found.warn(
            "readers",
            format!("other users can read the digests of the access tokens (mode {secret:04o})"),
            format!("run `chmod 600 {}`", tokens.display()),
        );
    }
    if home & 0o007 == 0 && secret & 0o077 == 0 {
        found.fine("readers", "other users of this machine cannot read the home");
    }
}

pub fn locks(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    // Reads the kernel's list of locks: trying the lock would hold it for a moment.
    let held = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    for path in subject.home.lock_files() {
        let Ok(meta) = std::fs::metadata(&path) else { continue };
        let name = subject.home.shown(&path);
        let pid = std::fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
        let inode = format!(":{} ", meta.st_ino());
        match held.lines().any(|line| line.contains(&inode)) {
            true => found.fine("lock", format!("{name} is locked by an active run (process {pid})")),
            false => found.fine("lock", format!("{name} is free")),
        }
    }
    if subject.home.has_journal() && !held.is_empty() {
        found.fine("journal", "present: a run is active, or was interrupted and the next run applies its results");
    }
    Ok(())
}
