//! Suggestions for names that do not exist.

/// The maximum number of typos of a suggestion.
const MAX_TYPOS: usize = 2;

/// The known name that was probably meant: the closest by Damerau–Levenshtein distance, if it is close. Short names are
/// close only if most of their letters are right.
pub(crate) fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = name.to_lowercase();
    let most = MAX_TYPOS.min(name.chars().count() / 2);
    let distance = |candidate: &str| strsim::damerau_levenshtein(candidate, &name);
    known.into_iter().min_by_key(|candidate| distance(candidate)).filter(|closest| distance(closest) <= most)
}

/// Advice after an unknown name: the name that was probably meant and, in any case, all that exist.
pub(crate) fn advice<'k>(name: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    let all = known.clone().into_iter().collect::<Vec<_>>().join(", ");
    match closest(name, known) {
        Some(closest) => format!("did you mean {closest}? there are {all}"),
        None => format!("there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_few_typos_is_recognised_and_another_is_not() {
        let known = ["date", "site", "topic"];
        assert_eq!(closest("dat", known), Some("date"));
        assert_eq!(closest("Tpoic", known), Some("topic"));
        assert_eq!((closest("colour", known), closest("x", known)), (None, None));
        assert_eq!(advice("sit", known), "did you mean site? there are date, site, topic");
        assert_eq!(advice("colour", known), "there are date, site, topic");
    }
}
