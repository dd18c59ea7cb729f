//! Boxes that are never the article, whatever their text looks like.
//!
//! The forests weigh; a rule forbids. So a rule must be right nearly always, which is tried on domains
//! that were left out, and it stands here with its reason and a page in `fixtures/pages` that asked
//! for it.

use super::evidence::{GROUPS, Role};
use super::features::Survey;

/// A kind of box that goes.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Why it goes.
    pub because: &'static str,
    /// Whether a block lies in one.
    applies: fn(&Place<'_>) -> bool,
}

/// The rules, in the order of asking.
pub const RULES: &[Rule] = &[Rule {
    name: "author-box",
    because: "a few sentences about the author are not by the author",
    applies: |place| place.is_named(&["bio", "byline"], 3) && !place.role(Role::Header),
}];

/// The first rule that forbids a block.
pub fn forbids(survey: &Survey, row: usize) -> Option<&'static Rule> {
    let place = Place { survey, row };
    RULES.iter().find(|rule| (rule.applies)(&place))
}

struct Place<'a> {
    survey: &'a Survey,
    row: usize,
}

impl Place<'_> {
    /// Whether one of the nearest elements is named by words of all these groups.
    fn is_named(&self, groups: &[&str], most: usize) -> bool {
        let bits = groups.iter().filter_map(|group| GROUPS.iter().position(|known| known.name == *group));
        let wanted = bits.fold(0u128, |bits, place| bits | 1 << place);
        let mut at = self.survey.home[self.row];
        (0..most).any(|_| {
            let around = &self.survey.boxes[at as usize];
            at = around.parent;
            around.own.kinds & wanted == wanted
        })
    }

    fn role(&self, role: Role) -> bool {
        self.survey.boxes[self.survey.home[self.row] as usize].near.role(role)
    }
}
