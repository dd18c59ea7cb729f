//! Where the requests of a crawl go, by the truth of the graph: what a page is, and what of it is kept as a document.

use serde::{Deserialize, Serialize};
use tidings_simweb::graph::{SiteClass, UrlTruth};

/// Counts of requests by what they bring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// robots.txt.
    pub robots: u64,
    /// Text of the language that was not known.
    pub new_text: u64,
    /// Text of the language that another page has.
    pub duplicates: u64,
    /// Pages of mirrors.
    pub mirrors: u64,
    /// Text made by machines.
    pub machine: u64,
    /// Text in another language.
    pub foreign: u64,
    /// Pages of sections without text.
    pub no_text: u64,
    /// Front pages and lists.
    pub hubs: u64,
    /// URLs inside traps.
    pub traps: u64,
    /// Link farms, parked domains, imprints, redirects, errors.
    pub other: u64,
}

impl Spending {
    /// Counts a page. `gained` says whether it brought new text by the truth.
    pub fn add(&mut self, truth: Option<&UrlTruth>, is_hub: bool, gained: bool, language: &str) {
        *self.count_of(truth, is_hub, gained, language) += 1;
    }

    fn count_of(&mut self, truth: Option<&UrlTruth>, is_hub: bool, gained: bool, language: &str) -> &mut u64 {
        let Some(truth) = truth else { return &mut self.other };
        if gained {
            return &mut self.new_text;
        }
        match truth.class {
            _ if truth.trap.is_some() => &mut self.traps,
            SiteClass::Mirror => &mut self.mirrors,
            SiteClass::Machine => &mut self.machine,
            _ if is_hub => &mut self.hubs,
            _ if truth.section.is_none() => &mut self.other,
            _ if truth.language != language => &mut self.foreign,
            _ if truth.cluster.is_some() => &mut self.duplicates,
            _ => &mut self.no_text,
        }
    }
}

/// Pages of machine-made text and link farms that are kept as documents, and pages of text that are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCounts {
    /// Pages of sites with machine-made text, in the language of the crawl.
    pub machine_pages: u64,
    /// Those that are documents.
    pub machine_documents: u64,
    /// Pages of link farms and parked domains.
    pub farm_pages: u64,
    /// Those that are documents.
    pub farm_documents: u64,
    /// Pages with text by people in the language of the crawl.
    pub good_pages: u64,
    /// Those that are no documents.
    pub good_refused: u64,
    /// All documents.
    pub documents: u64,
    /// Sites with machine-made text that were closed because their texts are filled templates or generated.
    pub machine_sites_closed: u64,
    /// Other sites that were closed for it.
    pub good_sites_closed: u64,
}

impl GateCounts {
    /// Counts a page.
    pub fn page(&mut self, truth: Option<&UrlTruth>, is_document: bool, language: &str) {
        self.documents += u64::from(is_document);
        let Some(truth) = truth else { return };
        match truth.class {
            SiteClass::Machine if truth.section.is_some() && truth.language == language => {
                self.machine_pages += 1;
                self.machine_documents += u64::from(is_document);
            }
            SiteClass::LinkFarm | SiteClass::Parked => {
                self.farm_pages += 1;
                self.farm_documents += u64::from(is_document);
            }
            _ if truth.cluster.is_some() && truth.language == language => {
                self.good_pages += 1;
                self.good_refused += u64::from(!is_document);
            }
            _ => {}
        }
    }

    /// Counts a site that is closed for filled templates or generated text.
    pub fn closed(&mut self, truth: Option<&UrlTruth>) {
        match truth.map(|truth| truth.class) {
            Some(SiteClass::Machine) => self.machine_sites_closed += 1,
            _ => self.good_sites_closed += 1,
        }
    }
}
