//! A harvest on several machines: each asks its own hosts, and hands over what it finds about the others.
//!
//! Every machine has a home of its own and the same settings but for its name. The owner of a host is the machine of its
//! registered domain, by hash and table; sites that share an IP address have one owner, see
//! `ShardMap`. Entries and redirects that lead to a host of another machine are
//! entries of the own plan first, so that a crash loses none, and are then sent as files.

pub(crate) mod outbox;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use tidings_feeds::discover::registrable;
use tidings_fetch::Partition;
use tidings_model::address;
use tidings_store::machines::{self, DomainOwner};

use crate::config::Machines;
use crate::context::RunContext;
use crate::crawl::sharding::{Division, ShardMap};

/// Feeds that have moved to a host of another machine: the address in the list, and the new one.
pub(crate) type MovedFeeds = Arc<Mutex<Vec<(String, String)>>>;

/// Reads a file of another machine as an update does, without taking it in; returns the number of its lines.
pub fn check_exchange_file(path: &Path) -> Result<usize> {
    Ok(outbox::read(path)?.len())
}

/// The part of this machine in a harvest on several ones.
pub(crate) struct HarvestPart {
    machines: Machines,
    map: Arc<ShardMap>,
}

impl HarvestPart {
    /// The part of this machine; `None` if it does all of the harvest.
    pub(crate) fn open(context: &RunContext) -> Result<Option<HarvestPart>> {
        let Some(machines) = context.config.harvest.machines(context.home.root())? else { return Ok(None) };
        let shared = context.config.fetch.for_pages(0)?.shared_networks;
        let division = Division::Table { machine: machines.this, machines: machines.table.clone().into() };
        let part = HarvestPart { map: Arc::new(ShardMap::new(division, shared)), machines };
        for row in machines::read(&context.home)?.into_values() {
            match part.machines.names.iter().position(|name| *name == row.machine) {
                Some(at) if at as u32 + 1 == part.machines.this => part.map.settle(&row.domain),
                Some(at) => part.map.hand_over(&row.domain, at as u32 + 1),
                // A machine that is not in the list any more has no domains.
                None => {}
            }
        }
        Ok(Some(part))
    }

    /// The hosts of this machine, for the crawler.
    pub(crate) fn partition(&self) -> Arc<dyn Partition> {
        self.map.clone()
    }

    /// The other machine that asks the host of a URL; `None` if this one does.
    pub(crate) fn destination(&self, url: &str) -> Option<u32> {
        let host = address::host(url)?.to_ascii_lowercase();
        self.map.destination(registrable(&host).unwrap_or(&host))
    }

    /// Whether this machine asks the host of a URL.
    pub(crate) fn owns(&self, url: &str) -> bool {
        self.destination(url).is_none()
    }

    fn name(&self, machine: u32) -> &str {
        &self.machines.names[machine as usize - 1]
    }

    /// Stores which domains have changed their machine and which were asked here. Returns the domains that were handed
    /// over and whose machines were not told.
    fn save(&self, context: &RunContext) -> Result<Vec<(String, u32)>> {
        let mut rows = machines::read(&context.home)?;
        let before = rows.clone();
        let row = |domain: &str, machine: u32| DomainOwner {
            domain: domain.to_owned(),
            machine: self.name(machine).to_owned(),
            told: String::new(),
        };
        for domain in self.map.settled_domains() {
            rows.insert(domain.clone(), row(&domain, self.machines.this));
        }
        let mut untold = Vec::new();
        for (domain, machine) in self.map.handed_over_domains() {
            let known = rows.get(&domain).is_some_and(|known| known.machine == self.name(machine));
            if !known {
                rows.insert(domain.clone(), row(&domain, machine));
            }
            if rows[&domain].told.is_empty() {
                untold.push((domain, machine));
            }
        }
        self.replace(context, before, rows)?;
        Ok(untold)
    }

    fn note_told(&self, context: &RunContext, told: &[(String, u32)]) -> Result<()> {
        let mut rows = machines::read(&context.home)?;
        let before = rows.clone();
        for (domain, _) in told {
            if let Some(row) = rows.get_mut(domain) {
                row.told = "yes".to_owned();
            }
        }
        self.replace(context, before, rows)
    }

    fn replace(
        &self,
        context: &RunContext,
        before: BTreeMap<String, DomainOwner>,
        rows: BTreeMap<String, DomainOwner>,
    ) -> Result<()> {
        match before == rows {
            true => Ok(()),
            false => Ok(machines::write(&context.home, rows)?),
        }
    }
}

#[cfg(test)]
mod tests;
