//! What a document may be used for, by what its publisher said.
//!
//! Publishers speak in many places: the server's headers, the page's head, robots.txt, tdmrep.json, a licence. What they
//! said is kept as evidence ([`Rights`], [`Licence`]). Here it is read as a short list of [`Signal`]s, and one table says
//! what each of them means for each use. A signal that refuses wins over any that grants; where nobody speaks, the use
//! decides. docs/notes/rights.md gives the reasons.

use crate::{Document, Licence, Rights};

/// What an export is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Analysis in the house of whoever collected it; nothing is passed on.
    #[default]
    Research,
    /// Publication: anybody may have it.
    Public,
    /// Training of models.
    Train,
}

impl Purpose {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Purpose); 3] =
        [("research", Purpose::Research), ("public", Purpose::Public), ("train", Purpose::Train)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Purpose::ALL.iter().find(|row| row.1 == self).map_or("research", |row| row.0)
    }
}

/// How much of a text leaves the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, in its order, with what is known about it.
    Whole,
    /// Single sentences, out of their order and without their source.
    Sentences,
    /// Counts.
    Counts,
}

/// Something that a publisher said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// A licence under which everybody may copy, change and pass on: CC0, CC BY, CC BY-SA, public domain, MIT and the like.
    OpenLicence,
    /// A Creative Commons licence that forbids changes or commerce.
    LimitedLicence,
    /// TDM-Reservation 1, by tdmrep.json, header or page.
    TdmReserved,
    /// TDM-Reservation 0.
    TdmFree,
    /// `noai` for robots.
    NoAi,
    /// `train-ai=n`, `ai-train=no` or one of their elder forms.
    NoTraining,
    /// `train-ai=y`, `ai-train=yes`.
    Training,
    /// `noarchive` for robots.
    NoArchive,
    /// `nosnippet`, or `max-snippet:0`.
    NoSnippet,
    /// `noindex`, `none`, or `search=no`.
    NoIndex,
    /// Terms of a licence elsewhere, which nobody here has read: RSL in robots.txt, a TDM policy.
    TermsElsewhere,
    /// robots.txt shuts out crawlers that are known to gather text for training.
    ShutToTrainers,
    /// The corpus keeps it for counts and metadata only.
    MetadataOnly,
    /// The corpus shows single lines of it only.
    LinesOnly,
}

/// What a signal means for a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It allows it.
    Grants,
    /// It forbids it.
    Refuses,
    /// It does not speak of it.
    Silent,
}
use Meaning::{Grants, Refuses, Silent};

/// A signal, its name in reports, and what it means: for research, for whole texts in public, for single sentences in
/// public, for counts in public, for training.
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

/// What holds where no signal speaks, in the order of the table's columns, and its name where that is no.
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

/// Whether a document with these signals may be used so; otherwise the name of what forbids it.
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

/// What the publisher of a document said; `availability` is what the corpus says about it.
pub fn signals(document: &Document, availability: Option<&str>) -> Vec<Signal> {
    let mut signals = of_rights(&document.rights);
    signals.extend(document.about.licence.as_ref().map(of_licence));
    signals.extend(match availability {
        None | Some("" | "open") => None,
        Some("kwic") => Some(Signal::LinesOnly),
        // A word that nobody knows allows nothing.
        Some(_) => Some(Signal::MetadataOnly),
    });
    signals.sort_unstable();
    signals.dedup();
    signals
}

/// What a licence amounts to. Words that are no licence we know are terms that somebody should read.
fn of_licence(licence: &Licence) -> Signal {
    // Where the page only links to a licence, its address ends in the name.
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

/// What the headers, the page and the files of its host say.
pub fn of_rights(rights: &Rights) -> Vec<Signal> {
    let mut signals = Vec::new();
    let said = |name: &str| [rights.page.get(name), rights.headers.get(name)].into_iter().flatten().map(String::as_str);
    // The nearer to the text, the later: the page supersedes the header, the header the file. Absence resets nothing,
    // and other values than 0 and 1 say nothing.
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

/// `noindex, max-snippet:0`, perhaps for a robot by name: what is said to one of them counts for us.
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

/// `train-ai=n, search=y`, perhaps behind a path: what is said of one path counts for all of a host.
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
            // Bots as such, or all of text and data mining: the widest word there is.
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

    /// What `signals` makes of evidence written as `place name: value`.
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
    fn every_signal_is_heard_wherever_it_is_said() {
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
                            let name = decided.expect_err("one of them refuses");
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
    fn silence_lets_research_and_training_go_on_and_publication_only_without_whole_texts() {
        let allowed = USES.map(|(purpose, extent)| decide(&[], purpose, extent));
        assert_eq!(allowed, [Ok(()), Err("no-licence"), Ok(()), Ok(()), Ok(())]);
    }

    #[test]
    fn what_the_corpus_itself_holds_back_does_not_leave_it() {
        let of = |word: &str| signals(&Document::default(), Some(word));
        assert_eq!(
            (of("open"), of("kwic"), of("metadata")),
            (vec![], vec![Signal::LinesOnly], vec![Signal::MetadataOnly])
        );
        assert_eq!(of("whatever"), [Signal::MetadataOnly]);
    }
}
