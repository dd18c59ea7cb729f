//! What a crawl was asked for: seeds, scope, languages, topic. Kept in `crawl/NAME/order.toml`.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_crawl::shape;
use tidings_storage::write_atomic;
use url::Url;

use crate::shard::Shard;

/// The most parts of a crawl.
const MAX_SHARDS: u32 = 4096;

/// The part of the web that a crawl may enter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All sites.
    #[default]
    Web,
    /// The registered domains of the seeds.
    Site,
    /// The hosts of the seeds.
    Host,
}

/// The order of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Order {
    /// The part of the web that it may enter.
    pub scope: Scope,
    /// Languages whose text counts; empty for all.
    pub languages: Vec<String>,
    /// Top-level domains where the languages are expected, besides those of their countries.
    pub tld: Vec<String>,
    /// The part of the crawl on this machine, as `I/N`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Terms of which a page must have some; empty for pages of any topic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topic: Vec<String>,
    /// The URLs with which it began.
    pub seeds: BTreeSet<String>,
}

impl Order {
    /// The order of a crawl in a folder; an empty one if the crawl is new.
    pub fn read(folder: &Path) -> Result<Order> {
        let path = folder.join("order.toml");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                toml::from_str(&text).with_context(|| format!("{} is not the order of a crawl", path.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Order::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Saves the order.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = toml::to_string(self).context("cannot write the order of the crawl")?;
        Ok(write_atomic(&folder.join("order.toml"), text.as_bytes())?)
    }

    /// The part of the crawl on this machine, if there are several.
    pub fn shard(&self) -> Result<Option<Shard>> {
        self.shard.as_deref().map(|text| text.parse().map_err(anyhow::Error::msg)).transpose()
    }

    /// Makes the crawl one of several parts. It stays the same part for ever: its state lacks the links of the others.
    pub fn set_shard(&mut self, shard: Option<Shard>, is_begun: bool) -> Result<()> {
        let Some(shard) = shard else { return Ok(()) };
        if shard.count() > MAX_SHARDS {
            bail!("a crawl has at most {MAX_SHARDS} shards");
        }
        match self.shard()? {
            Some(before) if before != shard => {
                bail!("the crawl was begun as shard {before} and cannot become {shard}; go on with --shard {before}")
            }
            None if is_begun => bail!("the crawl was begun without --shard; begin another one with --name"),
            _ => self.shard = Some(shard.to_string()),
        }
        Ok(())
    }

    /// Whether text in a language counts.
    pub fn wants(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|code| code == language)
    }

    /// Whether the top-level domain of a host is one where a wanted language is expected.
    pub fn expects(&self, host: &str) -> bool {
        let tld = host.rsplit('.').next().unwrap_or_default();
        let of_language =
            |code: &String| tidings_lang::language(code).is_some_and(|known| known.site_tlds.contains(&tld));
        self.tld.iter().any(|known| known == tld) || self.languages.iter().any(of_language)
    }

    /// The bounds of the crawl.
    pub fn bounds(&self) -> Bounds {
        let parsed = self.seeds.iter().filter_map(|seed| Url::parse(seed).ok());
        let name = |url: Url| match self.scope {
            Scope::Host => url.host_str().unwrap_or_default().to_owned(),
            _ => shape::domain(&url).to_owned(),
        };
        Bounds { scope: self.scope, names: parsed.map(name).collect() }
    }
}

/// The bounds of a crawl.
#[derive(Debug, Clone)]
pub struct Bounds {
    scope: Scope,
    names: HashSet<String>,
}

impl Bounds {
    /// Whether a URL is inside.
    pub fn holds(&self, url: &Url) -> bool {
        match self.scope {
            Scope::Web => true,
            Scope::Site => self.names.contains(shape::domain(url)),
            Scope::Host => self.names.contains(url.host_str().unwrap_or_default()),
        }
    }
}

impl Bounds {
    /// Takes in the host or site of a URL.
    pub fn extend(&mut self, url: &Url) {
        match self.scope {
            Scope::Web => {}
            Scope::Site => _ = self.names.insert(shape::domain(url).to_owned()),
            Scope::Host => _ = self.names.insert(url.host_str().unwrap_or_default().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(scope: Scope) -> Order {
        Order { scope, seeds: ["https://blog.paper.co.uk/a".to_owned()].into(), ..Order::default() }
    }

    #[test]
    fn the_scope_bounds_a_crawl() {
        let inside = |scope, url: &str| order(scope).bounds().holds(&Url::parse(url).unwrap());
        assert!(inside(Scope::Web, "https://other.example/"));
        assert!(inside(Scope::Site, "https://www.paper.co.uk/") && !inside(Scope::Site, "https://other.co.uk/"));
        assert!(inside(Scope::Host, "https://blog.paper.co.uk/b") && !inside(Scope::Host, "https://www.paper.co.uk/"));
    }

    #[test]
    fn a_crawl_stays_the_part_that_it_was_begun_as() {
        let shard = |index| Shard::new(index, 3);
        let mut order = order(Scope::Web);
        order.set_shard(shard(2), false).unwrap();
        order.set_shard(None, true).unwrap();
        order.set_shard(shard(2), true).unwrap();
        assert_eq!(order.shard().unwrap(), shard(2));
        let error = order.set_shard(shard(1), true).unwrap_err().to_string();
        assert!(error.contains("begun as shard 2/3"), "{error}");
        assert!(Order::default().set_shard(shard(1), true).is_err());
        assert!(Order::default().set_shard(Shard::new(1, 5000), false).is_err());
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Order::read(folder.path()).unwrap(), Order::default());
        let order = Order { languages: vec!["de".into()], tld: vec!["li".into()], ..order(Scope::Site) };
        order.write(folder.path()).unwrap();
        assert_eq!(Order::read(folder.path()).unwrap(), order);
        assert!(order.expects("a.at") && order.expects("b.li") && !order.expects("c.fr"));
        assert!(order.wants("de") && !order.wants("fr") && Order::default().wants("fr"));
    }
}
