//! Types of names, from words in and before them.

use super::evidence::Text;
use super::words::{Role, Roles};

/// Type of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// A person.
    Person,
    /// An organisation: company, authority, party, club.
    Organisation,
    /// A place: country, city, river, street.
    Place,
}

impl NameKind {
    /// All types.
    pub const ALL: [NameKind; 3] = [NameKind::Person, NameKind::Organisation, NameKind::Place];

    /// The value of the attribute `type`.
    pub fn code(self) -> &'static str {
        match self {
            NameKind::Person => "PER",
            NameKind::Organisation => "ORG",
            NameKind::Place => "LOC",
        }
    }
}

/// The type of the tokens `start..end`, if their words or the word before make it sure.
pub(super) fn kind(text: &Text<'_>, start: usize, end: usize) -> Option<NameKind> {
    let whole = text.lower_text(start, end);
    let is_single = end - start == 1;
    // The lemma of a single word counts too: *в Москве*.
    let roles = text.words.roles(&whole).or(if is_single { text.roles(start) } else { Roles::default() });
    let has_title = text.follows_title(start);
    let is_place_name = roles.has(Role::PlaceName);
    if roles.has(Role::OrganisationName) {
        return Some(NameKind::Organisation);
    }
    if is_place_name && !(has_title && is_single && !text.is_inflecting()) {
        return Some(NameKind::Place);
    }
    let tokens: Vec<&str> = whole.split(' ').collect();
    let has = |role: Role| tokens.iter().any(|token| text.words.roles(token).has(role));
    if !is_single && tokens.last().is_some_and(|last| text.words.roles(last).has(Role::LegalForm)) {
        return Some(NameKind::Organisation);
    }
    let begins_as_person = text.roles(start).has(Role::GivenName);
    let is_organisation = (start..end).any(|index| text.is_organisation(index));
    if is_organisation && !(begins_as_person && end - start == 2) && !(is_single && has_title) {
        return Some(NameKind::Organisation);
    }
    if begins_as_person && !is_single {
        return Some(NameKind::Person);
    }
    if !is_single && (has(Role::Place) || text.words.is_place(&whole)) {
        return Some(NameKind::Place);
    }
    if is_single
        && text.words.place_endings.iter().any(|ending| whole.len() > ending.len() + 4 && whole.ends_with(ending))
    {
        return Some(NameKind::Place);
    }
    (has_title && text.agrees_with_title(start)).then_some(NameKind::Person)
}
