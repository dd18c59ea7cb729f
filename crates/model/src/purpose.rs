//! Permitted uses of a document, derived from the publisher's statements.
//!
//! Publishers make statements in response headers, the page's head, robots.txt, tdmrep.json and licences. They are
//! stored as evidence ([`Rights`], [`Licence`]). This module reduces them to a list of [`Signal`]s, and one table
//! gives the meaning of each signal for each use. A refusal wins over any grant; without a signal the default of
//! the use applies. See docs/notes/rights.md for the reasons.

use crate::{Document, Licence, Rights};

/// The purpose of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Analysis by the collecting institution; nothing is passed on.
    #[default]
    Research,
    /// Publication to anyone.
    Public,
    /// Training of language models.
    Train,
}

impl Purpose {
    /// All purposes with their names.
    pub const ALL: [(&'static str, Purpose); 3] =
        [("research", Purpose::Research), ("public", Purpose::Public), ("train", Purpose::Train)];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Purpose::ALL.iter().find(|row| row.1 == self).map_or("research", |row| row.0)
    }
}

/// The amount of text that is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Whole documents in order, with metadata.
    Whole,
    /// Single sentences, shuffled and without their source.
    Sentences,
    /// Counts.
    Counts,
}

/// A statement of a publisher about use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// A licence that allows copying, changing and sharing: CC0, CC BY, CC BY-SA, public domain, MIT and others.
    OpenLicence,
    /// A Creative Commons licence that forbids derivatives or commercial use.
    LimitedLicence,
    /// TDM-Reservation 1, in tdmrep.json, a header or the page.
    TdmReserved,
    /// TDM-Reservation 0.
    TdmFree,
    /// The robots directive `noai`.
    NoAi,
    /// `train-ai=n`, `ai-train=no` or an older form.
    NoTraining,
    /// `train-ai=y`, `ai-train=yes`.
    Training,
    /// The robots directive `noarchive`.
    NoArchive,
    /// `nosnippet`, or `max-snippet:0`.
    NoSnippet,
    /// `noindex`, `none`, or `search=no`.
    NoIndex,
    /// Licence terms elsewhere that Tidings does not interpret: RSL in robots.txt, a TDM policy.
    TermsElsewhere,
    /// robots.txt blocks crawlers that are known to collect training data.
    ShutToTrainers,
    /// The corpus restricts it to counts and metadata.
    MetadataOnly,
    /// The corpus restricts it to single concordance lines.
    LinesOnly,
}

/// The meaning of a signal for a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The use is allowed.
    Grants,
    /// The use is forbidden.
    Refuses,
    /// The signal does not apply.
    Silent,
}
use Meaning::{Grants, Refuses, Silent};

/// Signals with their names in reports and their meanings: for research, whole texts in public, single sentences
/// in public, counts in public, training.
pub const TABLE: [(Signal, &str, [Meaning; 5]); 14] = [
    (Signal::OpenLicence, "open-licence", [Grants, Grants, Grants, Grants, Grants]),
    (Signal::LimitedLicence, "limited-licence", [Grants, Refuses, Silent, Silent, Refuses]),
    (Signal::TdmReserved, "tdm-reserved", [Silent, Refuses, Refuses, Silent, Refuses]),
    (Signal::TdmFree, "tdm-free", [Grants, Silent, Grants, Grants, Grants]),
    (Signal::NoAi, "noai", [Silent, Silent, Silent, Silent, Refuses]),
    (Signal::NoTraining, "no-training", [Silent, Silent, Silent, Silent, Refuses]),
    (Signal::Training, "training", [Silent, Silent, Silent, Silent, Grants]),
    (Signal::NoArchive, "noarchive", [Silent, Refuses, Silent, Silent, Silent]),
    (Signal::NoSnippet, "nosnippet", [Silent, Refuses, Refuses, Silent, Silent]),
    (Signal::NoIndex, "noindex", [Silent, Refuses, Refuses, Silent, Silent]),
    (Signal::TermsElsewhere, "terms-elsewhere", [Silent, Refuses, Silent, Silent, Refuses]),
    (Signal::ShutToTrainers, "shut-to-trainers", [Silent, Silent, Silent, Silent, Refuses]),
    (Signal::MetadataOnly, "metadata-only", [Silent, Refuses, Refuses, Silent, Refuses]),
    (Signal::LinesOnly, "lines-only", [Silent, Refuses, Silent, Silent, Refuses]),
];

/// The default without signals, in the order of the table's columns, and the name of the refusal.
const DEFAULTS: [Result<(), &str>; 5] = [Ok(()), Err("no-licence"), Ok(()), Ok(()), Ok(())];

fn column(purpose: Purpose, extent: Extent) -> usize {
    match (purpose, extent) {
        (Purpose::Research, _) => 0,
        (Purpose::Public, Extent::Whole) => 1,
        (Purpose::Public, Extent::Sentences) => 2,
        (Purpose::Public, Extent::Counts) => 3,
        (Purpose::Train, _) => 4,
    }
}

/// Decides a use by the signals of a document; returns the name of the refusing signal.
pub fn decide(signals: &[Signal], purpose: Purpose, extent: Extent) -> Result<(), &'static str> {
    let column = column(purpose, extent);
    let rows = TABLE.iter().filter(|(signal, ..)| signals.contains(signal));
    let mut granted = false;
    for (_, name, meanings) in rows {
        match meanings[column] {
            Refuses => return Err(name),
            Grants => granted = true,
            Silent => {}
        }
    }
    if granted { Ok(()) } else { DEFAULTS[column] }
}

/// The signals of a document. `availability` is the restriction set by the corpus.
pub fn signals(document: &Document, availability: Option<&str>) -> Vec<Signal> {
    let mut signals = of_rights(&document.rights);
    signals.extend(document.about.licence.as_ref().map(of_licence));
    signals.extend(match availability {
        None | Some("" | "open") => None,
        Some("kwic") => Some(Signal::LinesOnly),
        // An unknown value grants nothing.
        Some(_) => Some(Signal::MetadataOnly),
    });
    signals.sort_unstable();
    signals.dedup();
    signals
}

/// Classifies a licence. Unknown licences are terms that need reading.
fn of_licence(licence: &Licence) -> Signal {
    // If the page only links to a licence, its URL ends in the name.
    let name = licence.name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.to_ascii_uppercase().replace([' ', '_'], "-");
    let parts: Vec<&str> = name.split('-').collect();
    let has = |part: &str| parts.contains(&part);
    match () {
        () if has("CC0") || has("PDM") || name.starts_with("PUBLIC-DOMAIN") => Signal::OpenLicence,
        () if has("CC") && (has("NC") || has("ND")) => Signal::LimitedLicence,
        () if has("CC") && has("BY") => Signal::OpenLicence,
        () if ["MIT", "APACHE-2.0", "BSD-3-CLAUSE"].contains(&name.as_str()) => Signal::OpenLicence,
        () => Signal::TermsElsewhere,
    }
}

/// The signals in response headers, the page and the files of its host.
pub fn of_rights(rights: &Rights) -> Vec<Signal> {
    let mut signals = Vec::new();
    let said = |name: &str| [rights.page.get(name), rights.headers.get(name)].into_iter().flatten().map(String::as_str);
    // The page supersedes the header, the header supersedes tdmrep.json. Absence resets nothing, and values other
    // than 0 and 1 are ignored.
    let reservations = said("tdm-reservation").chain(rights.tdmrep.as_deref()).map(str::trim);
    match reservations.into_iter().find(|value| matches!(*value, "0" | "1")) {
        Some("1") => signals.push(Signal::TdmReserved),
        Some(_) => signals.push(Signal::TdmFree),
        None => {}
    }
    let has_policy = said("tdm-policy").next().is_some() || rights.tdmrep_policy.is_some();
    if has_policy || rights.headers.contains_key("license") {
        signals.push(Signal::TermsElsewhere);
    }
    for words in said("robots").chain(said("x-robots-tag")) {
        robots_words(words, &mut signals);
    }
    for words in said("content-usage").chain(said("content-signal")) {
        preferences(words, &mut signals);
    }
    let robots = rights.robots.as_ref();
    for line in robots.map(|robots| robots.usage.as_slice()).unwrap_or_default() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "content-usage" | "content-signal" => preferences(value, &mut signals),
            "license" => signals.push(Signal::TermsElsewhere),
            _ => {}
        }
    }
    signals
}

/// Parses `noindex, max-snippet:0`, with an optional robot name: a directive to any robot counts.
fn robots_words(words: &str, signals: &mut Vec<Signal>) {
    for word in words.to_ascii_lowercase().split([',', ';']) {
        let word = word.trim();
        let bare: String = word.split_whitespace().collect();
        let last = bare.rsplit(':').next().unwrap_or_default();
        match last {
            _ if bare.ends_with("max-snippet:0") => signals.push(Signal::NoSnippet),
            "noai" => signals.push(Signal::NoAi),
            "noarchive" | "nocache" => signals.push(Signal::NoArchive),
            "nosnippet" => signals.push(Signal::NoSnippet),
            "noindex" => signals.push(Signal::NoIndex),
            "none" => signals.push(Signal::NoIndex),
            _ => {}
        }
    }
}

/// Parses `train-ai=n, search=y`, with an optional path: a preference for one path counts for the whole host.
fn preferences(words: &str, signals: &mut Vec<Signal>) {
    for pair in words.to_ascii_lowercase().split([',', ';', ' ']) {
        let Some((name, value)) = pair.trim().split_once('=') else { continue };
        let yes = match value.trim().trim_matches('"') {
            "y" | "yes" | "?1" | "1" => true,
            "n" | "no" | "?0" | "0" => false,
            _ => continue,
        };
        match (name.trim(), yes) {
            ("train-ai" | "ai-train" | "train-genai" | "genai" | "ai", false) => signals.push(Signal::NoTraining),
            ("train-ai" | "ai-train" | "train-genai", true) => signals.push(Signal::Training),
            ("search", false) => signals.push(Signal::NoIndex),
            // All bots, or text and data mining as a whole: the broadest categories.
            ("bots" | "tdm", false) => signals.push(Signal::TdmReserved),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RobotsEvidence;

    const USES: [(Purpose, Extent); 5] = [
        (Purpose::Research, Extent::Whole),
        (Purpose::Public, Extent::Whole),
        (Purpose::Public, Extent::Sentences),
        (Purpose::Public, Extent::Counts),
        (Purpose::Train, Extent::Whole),
    ];

    fn licence(name: &str) -> Licence {
        Licence { name: name.into(), url: String::new(), evidence: "link".into() }
    }

    /// Runs `signals` on evidence written as `place name: value`.
    fn heard(evidence: &[&str]) -> Vec<Signal> {
        let mut document = Document::default();
        for said in evidence {
            let (place, rest) = said.split_once(' ').unwrap();
            let (name, value) = rest.split_once(": ").unwrap_or((rest, ""));
            let rights = &mut document.rights;
            match place {
                "header" => drop(rights.headers.insert(name.into(), value.into())),
                "page" => drop(rights.page.insert(name.into(), value.into())),
                "robots.txt" => rights.robots.get_or_insert_with(RobotsEvidence::default).usage.push(rest.into()),
                "tdmrep" => rights.tdmrep = Some(rest.into()),
                "policy" => rights.tdmrep_policy = Some(rest.into()),
                "licence" => document.about.licence = Some(licence(rest)),
                other => panic!("{other}"),
            }
        }
        signals(&document, None)
    }

    #[test]
    fn every_signal_is_recognised_in_every_place() {
        use Signal::*;
        let cases: &[(&[&str], &[Signal])] = &[
            (&[], &[]),
            (&["tdmrep 1"], &[TdmReserved]),
            (&["tdmrep 0"], &[TdmFree]),
            (&["tdmrep 7"], &[]),
            (&["header tdm-reservation: 1"], &[TdmReserved]),
            (&["page tdm-reservation: 1"], &[TdmReserved]),
            (&["page tdm-reservation: maybe", "tdmrep 1"], &[TdmReserved]),
            (&["tdmrep 1", "header tdm-reservation: 0"], &[TdmFree]),
            (&["tdmrep 0", "header tdm-reservation: 0", "page tdm-reservation: 1"], &[TdmReserved]),
            (&["policy https://e.org/p"], &[TermsElsewhere]),
            (&["header tdm-policy: https://e.org/p"], &[TermsElsewhere]),
            (&["header license: <https://e.org/rsl>"], &[TermsElsewhere]),
            (&["robots.txt License: https://e.org/rsl.xml"], &[TermsElsewhere]),
            (&["header x-robots-tag: noai, noimageai"], &[NoAi]),
            (&["header x-robots-tag: googlebot: NOARCHIVE"], &[NoArchive]),
            (&["page robots: noindex,nosnippet"], &[NoSnippet, NoIndex]),
            (&["page robots: max-snippet: 0"], &[NoSnippet]),
            (&["page robots: index, follow, max-snippet:-1, max-image-preview:none2"], &[]),
            (&["page robots: none"], &[NoIndex]),
            (&["header content-usage: train-ai=n"], &[NoTraining]),
            (&["header content-usage: train-ai=y"], &[Training]),
            (&["robots.txt Content-Usage: /news/ train-ai=n"], &[NoTraining]),
            (&["robots.txt Content-Signal: search=yes, ai-train=no"], &[NoTraining]),
            (&["robots.txt Content-Signal: search=no,ai-train=yes"], &[Training, NoIndex]),
            (&["header content-signal: ai-input=yes"], &[]),
            (&["header content-usage: bots=n"], &[TdmReserved]),
            (&["licence CC-BY-4.0"], &[OpenLicence]),
            (&["licence CC0-1.0"], &[OpenLicence]),
            (&["licence CC-BY-NC-SA-4.0"], &[LimitedLicence]),
            (&["licence CC-BY-ND-4.0"], &[LimitedLicence]),
            (&["licence https://opensource.org/licenses/MIT"], &[OpenLicence]),
            (&["licence All rights reserved"], &[TermsElsewhere]),
        ];
        for (evidence, expected) in cases {
            assert_eq!(heard(evidence), *expected, "{evidence:?}");
        }
    }

    #[test]
    fn each_signal_alone_means_what_the_table_says() {
        for (signal, name, meanings) in TABLE {
            for (at, (purpose, extent)) in USES.into_iter().enumerate() {
                let expected = match meanings[at] {
                    Grants => Ok(()),
                    Refuses => Err(name),
                    Silent => DEFAULTS[at],
                };
                assert_eq!(decide(&[signal], purpose, extent), expected, "{name} for {purpose:?} {extent:?}");
            }
        }
    }

    #[test]
    fn of_any_two_signals_the_stricter_wins() {
        for (one, one_name, ones) in TABLE {
            for (other, other_name, others) in TABLE {
                for (at, (purpose, extent)) in USES.into_iter().enumerate() {
                    let decided = decide(&[one, other], purpose, extent);
                    match (ones[at], others[at]) {
                        (Refuses, _) | (_, Refuses) => {
                            let name = decided.expect_err("one of the two signals refuses");
                            assert!(name == one_name || name == other_name);
                        }
                        (Grants, _) | (_, Grants) => assert_eq!(decided, Ok(())),
                        (Silent, Silent) => assert_eq!(decided, DEFAULTS[at]),
                    }
                }
            }
        }
    }

    #[test]
    fn without_signals_research_and_training_are_allowed_and_publication_of_whole_texts_is_not() {
        let allowed = USES.map(|(purpose, extent)| decide(&[], purpose, extent));
        assert_eq!(allowed, [Ok(()), Err("no-licence"), Ok(()), Ok(()), Ok(())]);
    }

    #[test]
    fn restrictions_of_the_corpus_apply_to_every_purpose() {
        let of = |word: &str| signals(&Document::default(), Some(word));
        assert_eq!(
            (of("open"), of("kwic"), of("metadata")),
            (vec![], vec![Signal::LinesOnly], vec![Signal::MetadataOnly])
        );
        assert_eq!(of("whatever"), [Signal::MetadataOnly]);
    }
}
