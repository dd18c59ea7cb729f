//! The set-up of requests whose URLs are all known at the start.

use std::collections::BTreeMap;

use anyhow::Result;
use tidings_fetch::{CrawlKind, JobSource, Settings};
use tidings_model::address;
use tidings_store::pages::PageWriter;

use super::CrawlWork;
use super::host_memory::{HostMemory, remembered_rules, require_contact};
use crate::context::RunContext;

impl<D: JobSource> CrawlWork<D> {
    /// Requests for URLs, whose places are the numbers of their jobs. Hosts keep their pauses and policies from earlier
    /// runs; no page is stored.
    pub fn of_urls<U: AsRef<str>>(
        context: &RunContext,
        kind: CrawlKind,
        settings: Settings,
        urls: impl IntoIterator<Item = U>,
        source: D,
    ) -> Result<CrawlWork<D>> {
        let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (job, url) in urls.into_iter().enumerate() {
            let url = address::normalise(url.as_ref(), None).unwrap_or_else(|| url.as_ref().to_owned());
            let host = address::host(&url).unwrap_or_default().to_ascii_lowercase();
            queues.entry(host).or_default().push(job as u32);
        }
        require_contact(&context.config, &context.home, queues.keys().map(String::as_str))?;
        let memory = HostMemory::load(context, kind, |host| queues.contains_key(host))?;
        let remembered = remembered_rules(context, |host| queues.contains_key(host))?;
        Ok(CrawlWork {
            kind,
            settings,
            all_hosts_idle_for: memory.all_hosts_idle_for,
            queues: memory.queues(queues),
            remembered,
            source,
            page_writer: PageWriter::open(&context.home, &context.run, None),
        })
    }
}
