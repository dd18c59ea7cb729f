//! Settings of a harvest on several machines.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::shard::VIRTUAL_SHARDS;

/// The maximum number of machines.
const MAX_MACHINES: usize = 256;

/// The `[harvest]` table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct HarvestConfig {
    pub machine: String,
    pub machines: Vec<String>,
    pub exchange: String,
}

/// The machines of a harvest, each with its virtual shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machines {
    /// Their names.
    pub names: Vec<String>,
    /// This machine, counted from 1.
    pub this: u32,
    /// The machine of each virtual shard, counted from 1.
    pub table: Vec<u32>,
    /// The folder in which they exchange links.
    pub exchange: PathBuf,
}

impl HarvestConfig {
    /// The machines of the harvest; `None` if this one does it alone. The exchange folder is relative to `home`.
    pub fn machines(&self, home: &Path) -> Result<Option<Machines>> {
        if self.machines.is_empty() {
            return match self.machine.is_empty() && self.exchange.is_empty() {
                true => Ok(None),
                false => bail!("harvest.machines is empty; list all machines, such as machines = [\"a\", \"b\"]"),
            };
        }
        if self.machines.len() > MAX_MACHINES {
            bail!("harvest.machines lists {} machines; {MAX_MACHINES} are possible", self.machines.len());
        }
        let rows: Vec<(&str, Option<&str>)> = self
            .machines
            .iter()
            .map(|row| row.split_once(' ').map_or((row.as_str(), None), |(name, shards)| (name, Some(shards))))
            .collect();
        let names: Vec<String> = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
        for (at, name) in names.iter().enumerate() {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || name.starts_with('.') || name.len() > 64 || !name.chars().all(is_plain) {
                bail!("harvest.machines: `{name}` is no name for a machine; use letters, digits, `-`, `_` and `.`");
            }
            if names[..at].contains(name) {
                bail!(
                    "harvest.machines lists `{name}` twice; give its shards in one entry, such as \"{name} 0-99,200-299\""
                );
            }
        }
        let Some(this) = names.iter().position(|name| *name == self.machine) else {
            bail!(
                "harvest.machine = \"{}\" is not in harvest.machines ({}); each machine has its own name there",
                self.machine,
                names.join(", ")
            );
        };
        if self.exchange.is_empty() && names.len() > 1 {
            bail!(
                "harvest.exchange is empty; give the folder that all machines share, or what they copy to each other"
            );
        }
        let table = table(&rows)?;
        Ok(Some(Machines { names, this: this as u32 + 1, table, exchange: home.join(&self.exchange) }))
    }

    pub(super) fn check(&self) -> Result<()> {
        self.machines(Path::new("")).map(drop)
    }
}

/// The machine of each virtual shard.
fn table(rows: &[(&str, Option<&str>)]) -> Result<Vec<u32>> {
    let all = VIRTUAL_SHARDS as usize;
    if rows.iter().all(|(_, shards)| shards.is_none()) {
        return Ok((0..all).map(|shard| (shard * rows.len() / all) as u32 + 1).collect());
    }
    let mut table = vec![0; all];
    for (at, (name, shards)) in rows.iter().enumerate() {
        let Some(shards) = shards else {
            bail!("harvest.machines: `{name}` has no shards, and others have; give all of them or none");
        };
        // A machine that is to be taken out hands its waiting entries over first.
        for range in shards.split(',').filter(|range| *range != "none") {
            let (first, last) = parse(range).with_context(|| {
                format!("harvest.machines: `{range}` of `{name}` is no range of shards; give one such as 0-1365")
            })?;
            for (shard, machine) in table.iter_mut().enumerate().take(last + 1).skip(first) {
                if *machine != 0 {
                    bail!("harvest.machines: shard {shard} belongs to two machines");
                }
                *machine = at as u32 + 1;
            }
        }
    }
    match table.iter().position(|machine| *machine == 0) {
        Some(shard) => bail!("harvest.machines: shard {shard} belongs to no machine; all from 0 to {} must", all - 1),
        None => Ok(table),
    }
}

fn parse(range: &str) -> Option<(usize, usize)> {
    let (first, last) = range.trim().split_once('-').unwrap_or((range.trim(), range.trim()));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < VIRTUAL_SHARDS as usize).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(machine: &str, machines: &[&str]) -> HarvestConfig {
        HarvestConfig {
            machine: machine.into(),
            machines: machines.iter().map(|row| (*row).to_owned()).collect(),
            exchange: "exchange".into(),
        }
    }

    #[test]
    fn machines_without_shards_have_equal_parts() {
        let machines = config("b", &["a", "b", "c"]).machines(Path::new("/h")).unwrap().unwrap();
        assert_eq!((machines.this, machines.exchange), (2, PathBuf::from("/h/exchange")));
        let count = |machine| machines.table.iter().filter(|owner| **owner == machine).count();
        assert_eq!([count(1), count(2), count(3)], [1366, 1365, 1365]);
        assert_eq!(HarvestConfig::default().machines(Path::new("")).unwrap(), None);
    }

    #[test]
    fn a_table_of_shards_gives_each_its_machine() {
        let rows = ["a 0-9,4000-4095", "b 10-3999", "c none"];
        let machines = config("b", &rows).machines(Path::new("")).unwrap().unwrap();
        assert_eq!([0, 9, 10, 3999, 4000].map(|shard: usize| machines.table[shard]), [1, 1, 2, 2, 1]);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        let cases: [(&str, &[&str], &str); 9] = [
            ("d", &["a", "b"], "not in harvest.machines (a, b)"),
            ("", &["a", "b"], "not in harvest.machines"),
            ("a", &[], "list all machines"),
            ("a", &["a", "a"], "lists `a` twice"),
            ("a", &["a", "../b"], "no name for a machine"),
            ("a", &["a 0-4095", "b"], "`b` has no shards"),
            ("a", &["a 0-2000", "b 2000-4095"], "shard 2000 belongs to two"),
            ("a", &["a 0-2000", "b 2002-4095"], "shard 2001 belongs to no machine"),
            ("a", &["a 0-2000", "b 2001-5000"], "no range of shards"),
        ];
        for (machine, machines, expected) in cases {
            let error = format!("{:#}", config(machine, machines).machines(Path::new("")).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        let alone = HarvestConfig { exchange: String::new(), ..config("a", &["a", "b"]) };
        assert!(alone.check().unwrap_err().to_string().contains("harvest.exchange is empty"));
    }
}
