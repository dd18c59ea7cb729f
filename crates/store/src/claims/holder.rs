//! Who holds a claim: a process on a machine, and whether it still exists.

use std::fs;
use std::sync::OnceLock;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::home::rfc3339;

/// The first words of a claim, with the version of its format.
pub(super) const FORMAT: &str = "tidings claim 1";

/// A claim as its holder wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The format of this file.
    pub format: String,
    /// A random number of the claim.
    pub id: String,
    /// The stage, or `home` for the whole home.
    pub stage: String,
    /// The day or language.
    pub unit: String,
    /// The name of the host, for people.
    pub host: String,
    /// The boot of the host and the namespace of process numbers: where [`Holder::pid`] means something.
    pub machine: String,
    /// The process.
    pub pid: u32,
    /// The start of the process in ticks since boot, because numbers of processes are used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_start: Option<u64>,
    /// The time of the claim, for people.
    pub started: String,
    /// The time without a beat, in milliseconds, after which the holder counts as dead.
    pub lease_ms: u64,
    /// The folder of drafts of the holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<String>,
}

impl Holder {
    /// This process as the holder of a unit.
    pub(super) fn this(stage: &str, unit: &str, lease_ms: u64, drafts: Option<String>) -> Holder {
        let place = Place::this();
        Holder {
            format: FORMAT.to_owned(),
            id: random_id(),
            stage: stage.to_owned(),
            unit: unit.to_owned(),
            host: place.host.clone(),
            machine: place.machine.clone(),
            pid: std::process::id(),
            process_start: process_state(std::process::id()).map(|(_, start)| start),
            started: rfc3339(Timestamp::now()),
            lease_ms,
            drafts,
        }
    }

    /// The holder in the first line of a claim; `None` if it is damaged, of another version, or not written yet.
    pub(super) fn parse(bytes: &[u8]) -> Option<Holder> {
        let line = bytes.split(|byte| *byte == b'\n').next()?;
        let holder: Holder = serde_json::from_slice(line).ok()?;
        (holder.format == FORMAT).then_some(holder)
    }

    /// Whether the process exists; `None` if it is on another machine, or in another container.
    pub fn is_alive(&self) -> Option<bool> {
        let place = Place::this();
        if self.machine != place.machine || self.host != place.host {
            return None;
        }
        if !cfg!(target_os = "linux") {
            return (self.pid == std::process::id()).then_some(true);
        }
        Some(match process_state(self.pid) {
            Some((is_zombie, start)) => !is_zombie && self.process_start.is_none_or(|known| known == start),
            None => false,
        })
    }

    /// The process and its host in a message.
    pub fn shown(&self) -> String {
        // The file may be of another program: only its beginning is shown, without control characters.
        let clean: String = self.host.chars().filter(|c| !c.is_control()).take(64).collect();
        format!("{} on {clean}", self.pid)
    }
}

/// The machine of this process.
struct Place {
    host: String,
    machine: String,
}

impl Place {
    fn this() -> &'static Place {
        static PLACE: OnceLock<Place> = OnceLock::new();
        PLACE.get_or_init(|| {
            let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
            let host = line("/proc/sys/kernel/hostname").or_else(|| std::env::var("HOSTNAME").ok());
            let host = host.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned());
            // Containers of one machine share its boot, but not its numbers of processes.
            let space = fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default();
            let machine = format!("{} {space}", line("/proc/sys/kernel/random/boot_id").unwrap_or_default());
            Place { host, machine }
        })
    }
}

/// Whether a process has ended and was not waited for, and its start in ticks; `None` if there is no such process.
fn process_state(pid: u32) -> Option<(bool, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((matches!(state, "Z" | "X"), start))
}

/// A random number in hexadecimal.
pub(crate) fn random_id() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Without a source of randomness, the time and the process still tell claims apart.
        let mixed = (Timestamp::now().as_nanosecond() as u128) ^ (u128::from(std::process::id()) << 96);
        bytes = mixed.to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_one_that_ended_is_not() {
        let this = Holder::this("clean", "2026-03-01", 1000, None);
        assert_eq!(this.is_alive(), Some(true));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = Holder { pid: child.id(), process_start: None, ..this.clone() };
        // Also before it was waited for.
        while ended.is_alive() == Some(true) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(ended.is_alive(), Some(false));
        let reused = Holder { process_start: Some(1), ..this.clone() };
        assert_eq!(reused.is_alive(), Some(false), "another process has the number now");
        assert_eq!(Holder { host: "elsewhere".into(), ..this }.is_alive(), None);
    }

    #[test]
    fn a_claim_is_read_from_its_first_line_and_nothing_else_is_a_claim() {
        let this = Holder::this("clean", "2026-03-01", 1000, Some("draft-1".into()));
        let line = serde_json::to_string(&this).unwrap();
        assert_eq!(Holder::parse(format!("{line}\n....").as_bytes()), Some(this.clone()));
        for nonsense in ["", "....", "{}", "\n", &line.replace("claim 1", "claim 2")] {
            assert_eq!(Holder::parse(nonsense.as_bytes()), None, "{nonsense}");
        }
        let strange = Holder { host: "a\u{1b}[31m\n".into(), ..this };
        assert!(!strange.shown().contains('\u{1b}'));
    }
}
