//! The line of a waiting URL, in runs and journals.

use std::fmt::Write as _;

use tidings_model::LinkRegion;

use crate::queue::WaitingUrl;

/// What is kept of a waiting URL. Domain and section follow from the place of the line, or from the URL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UrlLine {
    pub(crate) url: Box<str>,
    pub(crate) region: LinkRegion,
    /// The clean share of the linking page in hundredths.
    pub(crate) source_percent: u8,
    pub(crate) day: Option<i32>,
    pub(crate) depth: u16,
}

impl UrlLine {
    pub(crate) fn of(url: &WaitingUrl) -> UrlLine {
        UrlLine {
            url: url.url.as_str().into(),
            region: url.region,
            source_percent: (url.source_yield.clamp(0.0, 1.0) * 100.0).round() as u8,
            day: url.day,
            depth: url.depth,
        }
    }

    pub(crate) fn waiting(self, domain: &str, section: &str) -> WaitingUrl {
        WaitingUrl {
            url: self.url.into(),
            domain: domain.to_owned(),
            section: section.to_owned(),
            region: self.region,
            source_yield: f32::from(self.source_percent) / 100.0,
            day: self.day,
            depth: self.depth,
        }
    }

    pub(crate) fn rank(&self) -> u64 {
        crate::rank::of_parts(&self.url, self.region, f32::from(self.source_percent) / 100.0, self.day)
    }

    /// Appends the fields after the URL, tab-separated; trailing defaults are left out.
    pub(crate) fn write_fields(&self, line: &mut String) {
        let day = self.day.map(|day| day.to_string()).unwrap_or_default();
        let _ = write!(line, "{}{}\t{}\t{day}", region_letter(self.region), self.source_percent, self.depth);
        while line.ends_with('\t') {
            line.pop();
        }
    }

    /// Reads the fields that [`UrlLine::write_fields`] wrote.
    pub(crate) fn parse(url: Box<str>, fields: &str) -> Option<UrlLine> {
        let mut fields = fields.split('\t');
        let first = fields.next()?;
        let region = region(first.as_bytes().first().copied()?)?;
        let source_percent = first.get(1..)?.parse().ok()?;
        let depth = fields.next()?.parse().ok()?;
        let day = fields.next().filter(|day| !day.is_empty()).map(str::parse).transpose().ok()?;
        Some(UrlLine { url, region, source_percent, day, depth })
    }
}

fn region_letter(region: LinkRegion) -> char {
    match region {
        LinkRegion::Text => 't',
        LinkRegion::List => 'l',
        LinkRegion::Navigation => 'n',
    }
}

fn region(letter: u8) -> Option<LinkRegion> {
    Some(match letter {
        b't' => LinkRegion::Text,
        b'l' => LinkRegion::List,
        b'n' => LinkRegion::Navigation,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::waiting;

    #[test]
    fn a_line_round_trips() {
        for day in [None, Some(19_000)] {
            let url = WaitingUrl { source_yield: 0.25, day, depth: 3, ..waiting("http://a.example/x") };
            let line = UrlLine::of(&url);
            let mut fields = String::new();
            line.write_fields(&mut fields);
            assert_eq!(fields.matches('\t').count(), 1 + usize::from(day.is_some()));
            let read = UrlLine::parse(line.url.clone(), &fields).unwrap();
            assert_eq!(read.waiting(&url.domain, &url.section), url);
        }
        assert_eq!(UrlLine::parse("u".into(), "x1\t0"), None);
        assert_eq!(UrlLine::parse("u".into(), ""), None);
    }
}
