//! Rows of the scheduler's state as lines of text.
//!
//! Most domains of a large crawl were only met: they have a name, a few hints and URLs that wait. Their rows are short,
//! tab-separated lines, because a crawl that goes on reads all of them before its first request. Rows with evidence or
//! a reason are JSON.

use std::fmt::Write as _;

use crate::policy::{DomainHints, Evidence};
use crate::steward::{DomainRow, Row, SectionRow};

/// Appends the line of a row.
pub(crate) fn write(row: &Row, text: &mut String) {
    match row {
        Row::Domain(row) if row.closed.is_none() && row.evidence == Evidence::default() => write_domain(row, text),
        Row::Section(row) if !row.arm && row.closed.is_none() && row.evidence == Evidence::default() => {
            let _ = write!(text, "s\t{}\t{}", row.section, row.waiting);
        }
        row => text.push_str(&serde_json::to_string(row).expect("rows serialise into memory")),
    }
    text.push('\n');
}

fn write_domain(DomainRow { name, hints, source, confirmed, links, .. }: &DomainRow, text: &mut String) {
    let DomainHints { tld_language, link_language, source_yield, host_len, distance } = *hints;
    let flags = u8::from(*confirmed) | u8::from(tld_language) << 1 | u8::from(link_language) << 2;
    let _ = write!(text, "d\t{name}\t{source}\t{flags}\t{host_len}\t{distance}\t{source_yield}");
    if *links != (0, 0.0) {
        let _ = write!(text, "\t{}\t{}", links.0, links.1);
    }
}

/// Shows the rows of a text. A short row of a section belongs to the last domain before it; lines of a later release
/// are left out.
pub(crate) fn for_each(text: &str, mut see: impl FnMut(Row)) {
    let mut domain = String::new();
    for line in text.lines() {
        let row = match line.split_once('\t') {
            Some(("d", fields)) => parse_domain(fields).map(Row::Domain),
            Some(("s", fields)) => parse_section(fields, &domain).map(Row::Section),
            _ => serde_json::from_str(line).ok(),
        };
        if let Some(Row::Domain(row)) = &row {
            domain.clone_from(&row.name);
        }
        row.into_iter().for_each(&mut see);
    }
}

fn parse_domain(fields: &str) -> Option<DomainRow> {
    let mut fields = fields.split('\t');
    let (name, source) = (fields.next()?.to_owned(), fields.next()?.to_owned());
    let flags: u8 = fields.next()?.parse().ok()?;
    let (host_len, distance) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let source_yield = fields.next()?.parse().ok()?;
    let links = match fields.next() {
        Some(links) => (links.parse().ok()?, fields.next()?.parse().ok()?),
        None => (0, 0.0),
    };
    let is_set = |bit: u8| flags >> bit & 1 == 1;
    let hints = DomainHints { tld_language: is_set(1), link_language: is_set(2), source_yield, host_len, distance };
    Some(DomainRow { name, source, confirmed: is_set(0), hints, links, ..DomainRow::default() })
}

fn parse_section(fields: &str, domain: &str) -> Option<SectionRow> {
    let (section, waiting) = fields.rsplit_once('\t')?;
    let (section, waiting) = (section.to_owned(), waiting.parse().ok()?);
    Some(SectionRow { domain: domain.to_owned(), section, waiting, ..SectionRow::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steward::CloseReason;

    fn round_trip(rows: &[Row]) -> String {
        let mut text = String::new();
        rows.iter().for_each(|row| write(row, &mut text));
        let mut read = Vec::new();
        for_each(&text, |row| read.push(row));
        assert_eq!(read, rows, "{text}");
        text
    }

    #[test]
    fn rows_round_trip_and_those_without_evidence_are_short() {
        let hints =
            DomainHints { tld_language: true, link_language: false, source_yield: 0.12, host_len: 14, distance: 3 };
        let met = DomainRow {
            name: "a.example".into(),
            source: "b.example".into(),
            hints,
            links: (3, 0.25),
            ..DomainRow::default()
        };
        let seed = DomainRow { confirmed: true, source: String::new(), links: (0, 0.0), ..met.clone() };
        let waits = SectionRow {
            domain: "a.example".into(),
            section: "www.a.example/news/*?id".into(),
            waiting: 7,
            ..SectionRow::default()
        };
        let closed = SectionRow { closed: Some(CloseReason::Floor), ..waits.clone() };
        let known = Evidence { pages: 3, bytes: 9, value: 0.1, ..Evidence::default() };
        let rows = [
            Row::Domain(met),
            Row::Section(waits.clone()),
            Row::Section(closed),
            Row::Domain(seed.clone()),
            Row::Section(SectionRow { arm: true, ..waits.clone() }),
            Row::Domain(DomainRow { evidence: known, ..seed }),
            Row::Section(SectionRow { evidence: known, ..waits }),
        ];
        let text = round_trip(&rows);
        assert_eq!(text.lines().next(), Some("d\ta.example\tb.example\t2\t14\t3\t0.12\t3\t0.25"));
        assert_eq!(text.lines().filter(|line| line.starts_with('{')).count(), 4, "{text}");
    }

    #[test]
    fn rows_of_earlier_releases_are_read() {
        let text = "{\"domain\":{\"name\":\"a.example\",\"source\":\"\",\"links\":[2,0.5]}}\n\
                    {\"section\":{\"domain\":\"a.example\",\"section\":\"a.example/x/*\",\"waiting\":4}}\nx\ty\n";
        let mut rows = Vec::new();
        for_each(text, |row| rows.push(row));
        assert!(matches!(&rows[..], [Row::Domain(one), Row::Section(two)]
            if one.links == (2, 0.5) && two.waiting == 4 && two.domain == "a.example"));
    }
}
