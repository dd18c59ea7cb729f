//! Pronouns as speakers: *“…,” she said*.
//!
//! A pronoun of the third person singular stands for the one person whose name the paragraph and the one before it have. If
//! they have none or several, the pronoun stays as it is, and lists of speakers leave it out.

use tidings_model::TokenSpan;

use super::text::Text;
use crate::layers::names::{NAME, NameKind, TYPE};

/// The most tokens between a name and a pronoun that stands for it.
const MAX_DISTANCE: usize = 250;

/// Returns true for pronouns that stand for one person: third person singular, not neuter.
fn stands_for_person(text: &Text<'_>, at: usize) -> bool {
    let token = text.token(at);
    let has = |feature: &str| token.feats.split(['|', '+']).any(|one| one == feature);
    text.tag(at) == "PRON" && has("Person=3") && !has("Number=Plur") && !has("Gender=Neut")
}

/// The name of the person that a pronoun stands for; `names` are all names in reading order.
pub(super) fn antecedent<'s>(text: &Text<'_>, names: &[&'s TokenSpan], at: usize) -> Option<&'s str> {
    if !stands_for_person(text, at) {
        return None;
    }
    let number = text.paragraphs.partition_point(|paragraph| paragraph.end <= at);
    let start = text.paragraphs.get(number.saturating_sub(1))?.start.max(at.saturating_sub(MAX_DISTANCE));
    let first = names.partition_point(|name| (name.end as usize) <= start);
    let before = names[first..].iter().take_while(|name| (name.start as usize) < at);
    let mut persons = before.filter(|name| name.attribute(TYPE) == Some(NameKind::Person.code()));
    let person = persons.next()?.attribute(NAME).filter(|name| !name.is_empty())?;
    persons.all(|other| other.attribute(NAME) == Some(person)).then_some(person)
}

/// A pronoun as the value of an attribute: in lower case, without what is contracted with it (*we’re*).
pub(super) fn value(word: &str) -> String {
    let rest = word.split(['\'', '’']).next().filter(|rest| !rest.is_empty());
    rest.unwrap_or(word).to_lowercase()
}
