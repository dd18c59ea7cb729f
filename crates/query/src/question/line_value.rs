//! Values of a line of a concordance: attributes of the hit or of a token beside it, labelled tokens, fields of the document.
//!
//! Lines are sorted by them and counted by them, so that both understand the same names.

use crate::cql::Attribute;

/// The largest distance of a neighbour from the hit.
pub const MAX_NEIGHBOUR: u32 = 100;

/// A place of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinePlace {
    /// All tokens of the hit.
    Node,
    /// A token before the hit; 1 is the nearest.
    Left(u32),
    /// A token behind the hit; 1 is the nearest.
    Right(u32),
}

impl LinePlace {
    /// The place of a name: `node`, `left1`, `right2`, also `1L` and `2R`.
    pub fn named(name: &str) -> Option<LinePlace> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|number| is_number && (1..=MAX_NEIGHBOUR).contains(number))
        };
        let left = |name: &str| name.strip_prefix("left").or_else(|| name.strip_suffix(['L', 'l'])).and_then(number);
        let right = |name: &str| name.strip_prefix("right").or_else(|| name.strip_suffix(['R', 'r'])).and_then(number);
        match name {
            "node" => Some(LinePlace::Node),
            name => left(name).map(LinePlace::Left).or_else(|| right(name).map(LinePlace::Right)),
        }
    }

    /// The place of a name with the attribute after a point, if there is one: `left1.lemma`.
    pub fn with_attribute(name: &str) -> Option<(LinePlace, Option<Attribute>)> {
        match name.split_once('.') {
            None => LinePlace::named(name).map(|place| (place, None)),
            Some((place, attribute)) => LinePlace::named(place).zip(Attribute::named(attribute).map(Some)),
        }
    }

    /// The canonical name.
    pub fn name(&self) -> String {
        match self {
            LinePlace::Node => "node".to_owned(),
            LinePlace::Left(number) => format!("left{number}"),
            LinePlace::Right(number) => format!("right{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_names_of_both_habits() {
        assert_eq!(LinePlace::named("left2"), Some(LinePlace::Left(2)));
        assert_eq!(LinePlace::named("3R"), Some(LinePlace::Right(3)));
        assert_eq!(LinePlace::named("node"), Some(LinePlace::Node));
        for name in ["left", "left0", "left101", "leftx", "R", "site", "1x", ""] {
            assert_eq!(LinePlace::named(name), None, "{name}");
        }
        assert_eq!(LinePlace::with_attribute("1L.lemma"), Some((LinePlace::Left(1), Some(Attribute::Lemma))));
        assert_eq!(LinePlace::with_attribute("1L.Lemma"), None);
    }
}
