//! What a comparison of two parts of a corpus rests on.

use crate::trend::Step;

choices! {
    /// The units whose variation is the measure of chance.
    pub enum ContrastUnit {
        /// Quarters.
        Quarter = "quarter",
        /// Months.
        Month = "month",
        /// Weeks.
        Week = "week",
        /// Days.
        Day = "day",
        /// Documents: there are too few periods, or the parts share too few sites.
        Document = "document",
    }
}

impl ContrastUnit {
    /// The unit that is a time step; documents for steps that no test uses.
    pub(crate) fn of(step: Step) -> ContrastUnit {
        match step {
            Step::Quarter => ContrastUnit::Quarter,
            Step::Month => ContrastUnit::Month,
            Step::Week => ContrastUnit::Week,
            Step::Day => ContrastUnit::Day,
            Step::TenDays | Step::HalfYear | Step::Year => ContrastUnit::Document,
        }
    }

    /// The time step, unless documents are the units.
    pub(crate) fn step(self) -> Option<Step> {
        match self {
            ContrastUnit::Quarter => Some(Step::Quarter),
            ContrastUnit::Month => Some(Step::Month),
            ContrastUnit::Week => Some(Step::Week),
            ContrastUnit::Day => Some(Step::Day),
            ContrastUnit::Document => None,
        }
    }
}

answer! {
    /// What a comparison of two parts rests on.
    #[derive(Copy)]
    pub struct ContrastBasis {
        /// True if rates are compared within the sites of both parts, false if these have too little text.
        pub within_sites: bool,
        /// The units whose variation is the measure of chance.
        pub unit: ContrastUnit,
        /// Sites with text in both parts.
        pub sites: u64,
        /// Their share of the tokens, in the part in which it is smaller.
        pub shared: f64,
    }
}

/// The share of the tokens below which sites of one part are worth a remark.
const MOSTLY_SHARED: f64 = 0.9;

impl ContrastBasis {
    /// What a reader has to know to read the rows.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.within_sites && self.unit == ContrastUnit::Document {
            notes.push(
                "The parts are too short to compare days: chance is measured from document to document, and events \
                 are differences."
                    .to_owned(),
            );
        }
        notes.extend(self.notes_on_sites());
        notes
    }

    /// What a reader has to know of the sites of the parts.
    pub(super) fn notes_on_sites(&self) -> Vec<String> {
        let percent = (100.0 * self.shared).round();
        let mut notes = Vec::new();
        match (self.within_sites, self.sites) {
            (false, 0) => notes.push(
                "The parts have no site in common: a difference may be one between sites, and chance is measured from \
                 document to document."
                    .to_owned(),
            ),
            (false, _) => notes.push(format!(
                "The sites of both parts have only {percent} % of the tokens of one part: a difference may be one between \
                 sites, and chance is measured from document to document."
            )),
            (true, _) => {}
        }
        if self.within_sites && self.shared < MOSTLY_SHARED {
            notes.push(format!(
                "The list of sites changed: the sites of both parts, within which rates are compared, have {percent} % \
                 of the tokens of one part."
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basis_says_what_is_missing() {
        let whole = ContrastBasis { within_sites: true, unit: ContrastUnit::Month, sites: 20, shared: 0.97 };
        assert!(whole.notes().is_empty());
        let notes = |basis: ContrastBasis| basis.notes().join(" ");
        assert!(notes(ContrastBasis { shared: 0.5, ..whole }).contains("50 %"));
        assert!(notes(ContrastBasis { unit: ContrastUnit::Document, ..whole }).contains("too short"));
        let apart = ContrastBasis { within_sites: false, unit: ContrastUnit::Document, sites: 0, shared: 0.0 };
        assert!(notes(apart).contains("no site in common"));
        assert!(notes(ContrastBasis { sites: 2, shared: 0.1, ..apart }).contains("10 %"));
    }

    #[test]
    fn every_unit_of_time_is_a_step() {
        let steps = ContrastUnit::ALL.iter().filter_map(|unit| unit.step().map(|step| (unit, ContrastUnit::of(step))));
        assert!(steps.clone().count() == 4 && steps.clone().all(|(unit, same)| *unit == same));
    }
}
