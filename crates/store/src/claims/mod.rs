//! Claims: which process does which unit of work, for several processes and machines on one home.
//!
//! A claim is a file `.claims/STAGE~UNIT~N`. It is made by creating a file that must not exist, which every file system
//! and object store can do atomically, and its holder appends a byte to it as a sign of life (a *beat*). A process of
//! the same machine that does not exist any more has lost its claims at once. A holder elsewhere has lost its claim when
//! another process saw no beat for the length of the lease by its own monotonic clock: the clocks of machines are never
//! compared, and a file never changes by itself.
//!
//! Whoever takes over a claim creates the file with the next number `N + 1`, which only one can, and then deletes the
//! old file. So a holder that was suspended finds that its file is gone or has a successor ([`Home::check_claims`]) and
//! stops before it publishes anything. Claims prevent double work; that a unit is right does not depend on them, because
//! units are published as a whole and two processes make the same bytes of the same input.

mod holder;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tidings_storage::file;

pub use self::holder::Holder;
pub(crate) use self::holder::random_id;
use crate::error::{Context, Error, Result};
use crate::home::{DRAFTS, Home};

/// The folder of claims in a home.
pub(crate) const FOLDER: &str = ".claims";
/// The stage of a claim on the whole home.
const WHOLE: &str = "home";
/// The unit of a stage that one process does as a whole.
pub const ALL_UNITS: &str = "all";
/// The time between two beats.
const BEAT: Duration = Duration::from_secs(10);
/// The time without a beat after which a holder on another machine counts as dead.
const LEASE: Duration = Duration::from_secs(120);
/// A shorter lease in a claim is not believed, and a longer one neither: the file may be damaged.
const LEASES_MS: std::ops::RangeInclusive<u64> = 20..=3_600_000;
/// The interval at which a claim of another machine is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A gap between two looks counts as no more than this, because the observer may have been suspended itself.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_secs(2);
/// The maximum length of a holder's line.
const MAX_LINE_BYTES: u64 = 4096;

/// The claims of the processes of a home, as one process knows them.
#[derive(Debug, Default)]
pub(crate) struct KnownClaims {
    /// The claims of this process.
    own: Mutex<Vec<Weak<OwnClaim>>>,
    /// The claims of other machines, by file.
    observed: Mutex<HashMap<PathBuf, Observation>>,
}

/// What is known of a claim on another machine.
#[derive(Debug, Clone)]
struct Observation {
    id: Option<String>,
    beats: u64,
    /// The time for which no beat was seen.
    still: Duration,
    last: Instant,
}

/// A claim of this process; released when it is dropped.
#[derive(Debug)]
pub struct Claim {
    own: Arc<OwnClaim>,
    /// Ends the thread of beats when it is dropped.
    _beats: mpsc::Sender<()>,
}

#[derive(Debug)]
struct OwnClaim {
    path: PathBuf,
    successor: PathBuf,
    holder: Holder,
}

/// A claim of another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherClaim {
    /// Its holder; `None` if it is just being written, or damaged.
    pub holder: Option<Holder>,
    /// Whether the holder is known to be alive. A holder on another machine may be dead: its beats must be awaited.
    pub is_alive: bool,
}

/// The result of an attempt to claim a unit.
#[derive(Debug)]
pub enum Attempt {
    /// The unit belongs to this process.
    Taken(Claim),
    /// Another process has it.
    Held(Box<OtherClaim>),
}

impl OtherClaim {
    /// The holder in a message.
    pub fn shown(&self) -> String {
        self.holder.as_ref().map_or_else(|| "unknown".to_owned(), Holder::shown)
    }
}

/// What an observer concludes about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Alive,
    Unknown,
    Dead,
}

/// A claim file.
struct ClaimFile {
    path: PathBuf,
    stage: String,
    unit: String,
    number: u64,
}

impl ClaimFile {
    fn parse(path: PathBuf) -> Option<ClaimFile> {
        let name = path.file_name()?.to_str()?;
        let mut parts = name.splitn(3, '~');
        let (stage, unit, number) = (parts.next()?, parts.next()?, parts.next()?);
        let (stage, unit, number) = (stage.to_owned(), unit.to_owned(), number.parse().ok()?);
        Some(ClaimFile { path, stage, unit, number })
    }

    /// The holder and the number of beats; `None` if the file is gone.
    fn read(&self) -> Result<Option<(Option<Holder>, u64)>> {
        let read = || -> io::Result<(Vec<u8>, u64)> {
            let file = file::no_follow().read(true).open(&self.path)?;
            let bytes = file.metadata()?.len();
            let mut line = Vec::new();
            file.take(MAX_LINE_BYTES).read_to_end(&mut line)?;
            Ok((line, bytes))
        };
        match read() {
            Ok((line, bytes)) => Ok(Some((Holder::parse(&line), bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Ok(Err(error).context("read", &self.path)?),
        }
    }
}

/// Creates a file with these bytes unless it exists; returns it open for appending. This is the one operation on which
/// claims depend: a conditional put serves as well.
fn create_new(path: &Path, bytes: &[u8]) -> Result<Option<File>> {
    match file::no_follow().create_new(true).append(true).open(path) {
        Ok(mut file) => {
            file.write_all(bytes).context("write", path)?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Ok(Err(error).context("create", path)?),
    }
}

/// A name in a file name: what is no plain name is given by its hash.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("{:016x}", xxhash_rust::xxh3::xxh3_64(name.as_bytes())),
    }
}

impl KnownClaims {
    fn own(&self) -> MutexGuard<'_, Vec<Weak<OwnClaim>>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Concludes from the beats of a claim whether its holder lives.
    fn judge(&self, claim: &ClaimFile, holder: Option<&Holder>, beats: u64, now: Instant) -> Verdict {
        match holder.and_then(Holder::is_alive) {
            Some(true) => return Verdict::Alive,
            Some(false) => return Verdict::Dead,
            None => {}
        }
        let lease = holder.map_or(LEASE.as_millis() as u64, |holder| holder.lease_ms);
        let lease = Duration::from_millis(lease.clamp(*LEASES_MS.start(), *LEASES_MS.end()));
        let id = holder.map(|holder| holder.id.clone());
        let mut observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let first = Observation { id: id.clone(), beats, still: Duration::ZERO, last: now };
        let Some(known) = observed.get_mut(&claim.path).filter(|known| known.id == id) else {
            observed.insert(claim.path.clone(), first);
            return Verdict::Unknown;
        };
        if known.beats != beats {
            *known = first;
            return Verdict::Alive;
        }
        known.still += now.saturating_duration_since(known.last).min(MOST_BETWEEN_LOOKS);
        known.last = now;
        if known.still >= lease { Verdict::Dead } else { Verdict::Unknown }
    }
}

impl Home {
    fn claims_folder(&self) -> PathBuf {
        self.root().join(FOLDER)
    }

    /// All claim files.
    fn claim_files(&self) -> Result<Vec<ClaimFile>> {
        Ok(file::files_in(&self.claims_folder())?.into_iter().filter_map(ClaimFile::parse).collect())
    }

    /// The claims that processes hold now. Those of processes that are known to be dead are left out: on this machine at
    /// once, on others when their lease has passed between calls.
    pub fn claims(&self) -> Result<Vec<Holder>> {
        let mut holders = Vec::new();
        for file in self.claim_files()? {
            let Some((Some(holder), beats)) = file.read()? else { continue };
            if self.known.judge(&file, Some(&holder), beats, Instant::now()) != Verdict::Dead {
                holders.push(holder);
            }
        }
        Ok(holders)
    }

    /// The name of a stage in claims: in the draft of a rebuild it is other work.
    pub fn claimed_stage(&self, stage: &str) -> String {
        if self.is_draft() { format!("rebuild-{stage}") } else { stage.to_owned() }
    }

    /// Claims a unit of a stage, unless another process has it or the whole home. The caller has the lock of a shard.
    pub fn claim(&self, stage: &str, unit: &str) -> Result<Attempt> {
        match self.try_claim(&self.claimed_stage(stage), unit)? {
            Attempt::Taken(claim) => match self.rival(|other| other.stage == WHOLE)? {
                None => Ok(Attempt::Taken(claim)),
                Some(rival) => Ok(Attempt::Held(Box::new(rival))),
            },
            held => Ok(held),
        }
    }

    /// Claims the whole home. The caller holds its exclusive lock, so that only processes of machines whose locks this
    /// one cannot see are in the way; they are waited for until it is known whether they live.
    pub(crate) fn claim_whole(&self) -> Result<Claim> {
        loop {
            let rival = match self.try_claim(WHOLE, ALL_UNITS)? {
                // Both make their claim first and then look for the other's, so at least one of them sees it.
                Attempt::Taken(claim) => match self.rival(|other| other.stage != WHOLE)? {
                    None => return Ok(claim),
                    Some(rival) => rival,
                },
                Attempt::Held(rival) => *rival,
            };
            if rival.is_alive {
                return Err(Error::Locked { root: self.root().to_owned(), pid: Some(rival.shown()) });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// The first claim of another process that `is_rival`. Claims of dead processes are deleted on the way.
    fn rival(&self, is_rival: impl Fn(&ClaimFile) -> bool) -> Result<Option<OtherClaim>> {
        for file in self.claim_files()?.into_iter().filter(is_rival) {
            let Some((holder, beats)) = file.read()? else { continue };
            if holder.as_ref().is_some_and(|holder| self.is_own(holder)) {
                continue;
            }
            match self.known.judge(&file, holder.as_ref(), beats, Instant::now()) {
                Verdict::Dead => self.bury(&file, holder)?,
                verdict => return Ok(Some(OtherClaim { holder, is_alive: verdict == Verdict::Alive })),
            }
        }
        Ok(None)
    }

    fn is_own(&self, holder: &Holder) -> bool {
        self.known.own().iter().filter_map(Weak::upgrade).any(|own| own.holder.id == holder.id)
    }

    /// Takes over the claim of a dead process and releases it.
    fn bury(&self, file: &ClaimFile, holder: Option<Holder>) -> Result<()> {
        drop(self.take_over(file, holder)?);
        Ok(())
    }

    fn try_claim(&self, stage: &str, unit: &str) -> Result<Attempt> {
        let (name, plain_unit) = (plain(stage), plain(unit));
        let folder = self.claims_folder();
        if !folder.is_dir() {
            // Claims are worth nothing after a power failure, so nothing of them is synced.
            fs::create_dir_all(&folder).context("create the folder", &folder)?;
        }
        let is_of_unit = |file: &ClaimFile| file.stage == name && file.unit == plain_unit;
        loop {
            // The claim with the highest number counts; a lower one is about to be deleted by who took it over.
            let newest = self.claim_files()?.into_iter().filter(is_of_unit).max_by_key(|file| file.number);
            let Some(newest) = newest else {
                let path = folder.join(format!("{name}~{plain_unit}~1"));
                match self.create_claim(&path, stage, unit)? {
                    Some(claim) => return Ok(Attempt::Taken(claim)),
                    None => continue,
                }
            };
            let Some((holder, beats)) = newest.read()? else { continue };
            match self.known.judge(&newest, holder.as_ref(), beats, Instant::now()) {
                Verdict::Dead => match self.take_over(&newest, holder)? {
                    Some(claim) => return Ok(Attempt::Taken(claim)),
                    None => continue,
                },
                verdict => {
                    let other = OtherClaim { holder, is_alive: verdict == Verdict::Alive };
                    return Ok(Attempt::Held(Box::new(other)));
                }
            }
        }
    }

    /// Takes over the claim of a dead process; `None` if another process was faster.
    fn take_over(&self, dead: &ClaimFile, holder: Option<Holder>) -> Result<Option<Claim>> {
        let next = dead.number.saturating_add(1);
        let path = self.claims_folder().join(format!("{}~{}~{next}", dead.stage, dead.unit));
        let (stage, unit) = match &holder {
            Some(holder) => (holder.stage.clone(), holder.unit.clone()),
            None => (dead.stage.clone(), dead.unit.clone()),
        };
        let Some(claim) = self.create_claim(&path, &stage, &unit)? else { return Ok(None) };
        // The file may have been released and claimed again since it was judged.
        let Some((now, _)) =
            dead.read()?.filter(|(now, _)| now.as_ref().map(|h| &h.id) == holder.as_ref().map(|h| &h.id))
        else {
            return Ok(None);
        };
        remove(&dead.path)?;
        if let Some(drafts) = now.and_then(|holder| holder.drafts) {
            self.remove_drafts(&drafts);
        }
        Ok(Some(claim))
    }

    fn create_claim(&self, path: &Path, stage: &str, unit: &str) -> Result<Option<Claim>> {
        let drafts = Some(self.draft_name()).filter(|name| name != DRAFTS);
        let holder = Holder::this(stage, unit, LEASE.as_millis() as u64, drafts);
        let line = serde_json::to_string(&holder).expect("claims serialise") + "\n";
        let Some(file) = create_new(path, line.as_bytes())? else { return Ok(None) };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (rest, number) = name.rsplit_once('~').expect("names of claims have a number");
        let next = number.parse::<u64>().unwrap_or_default().saturating_add(1);
        let successor = path.with_file_name(format!("{rest}~{next}"));
        let own = Arc::new(OwnClaim { path: path.to_owned(), successor, holder });
        let mut known = self.known.own();
        known.retain(|claim| claim.strong_count() > 0);
        known.push(Arc::downgrade(&own));
        Ok(Some(Claim { _beats: start_beats(file, BEAT), own }))
    }

    /// Returns an error if another process has taken over a claim of this home: it believes that this one is dead, and
    /// nothing more must be published.
    pub fn check_claims(&self) -> Result<()> {
        let own: Vec<Arc<OwnClaim>> = self.known.own().iter().filter_map(Weak::upgrade).collect();
        own.iter().try_for_each(|claim| claim.check())
    }

    /// Deletes the drafts of a process that is dead.
    fn remove_drafts(&self, name: &str) {
        // The name is from a file: it must not lead anywhere else.
        let is_drafts =
            name.strip_prefix(DRAFTS).is_some_and(|rest| rest.starts_with('-') && !rest.contains(['/', '\\']));
        if is_drafts {
            for root in [self.docs(), self.seen(), self.text(), self.index()] {
                // What cannot be deleted now is deleted by the next process that locks the whole home.
                let _ = fs::remove_dir_all(root.join(name));
            }
        }
    }
}

impl OwnClaim {
    fn check(&self) -> Result<()> {
        let file = ClaimFile { path: self.path.clone(), stage: String::new(), unit: String::new(), number: 0 };
        let is_ours = |holder: Option<Holder>| holder.is_some_and(|holder| holder.id == self.holder.id);
        let holds = file.read()?.is_some_and(|(holder, _)| is_ours(holder));
        if holds && !self.successor.exists() {
            return Ok(());
        }
        Err(Error::ClaimLost { stage: self.holder.stage.clone(), unit: self.holder.unit.clone() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The file of a claim that was lost is not ours to delete.
        if self.own.check().is_ok() {
            let _ = remove(&self.own.path);
        }
    }
}

/// Appends a byte to a claim at each interval until the sender is dropped.
fn start_beats(mut file: File, every: Duration) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    let beat = move || {
        while receiver.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            // A holder that cannot write loses its claim, and notices it before it publishes.
            let _ = file.write_all(b".");
        }
    };
    // Without a thread, the claim holds for the length of its lease.
    let _ = std::thread::Builder::new().name("claim".to_owned()).spawn(beat);
    sender
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
