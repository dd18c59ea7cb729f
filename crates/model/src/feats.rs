//! Morphological features in the notation of Universal Dependencies: `Case=Gen|Number=Plur`.
//!
//! Names begin with a capital letter and may have a layer in brackets (`Number[psor]`). Values begin with a
//! capital letter or a digit; several values of one feature are separated by commas. In canonical form, names and
//! the values of a name are unique and in alphabetical order, ignoring case; only canonical forms are compared and
//! counted. A token of several words has the features of each, joined by `+`.

use std::borrow::Cow;

/// The maximum length of the features of one token.
pub const MAX_BYTES: usize = 512;
/// The maximum length of a feature name, including its layer.
pub const MAX_NAME_BYTES: usize = 31;

/// Returns features in canonical form, or `None` if they are malformed. `_` and the empty string mean no features.
pub fn canonical(text: &str) -> Option<Cow<'_, str>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    if text.is_empty() || text == "_" {
        return Some(Cow::Borrowed(""));
    }
    let words: Vec<Vec<(&str, Cow<'_, str>)>> = text.split('+').map(pairs).collect::<Option<_>>()?;
    if words.iter().all(Vec::is_empty) {
        return Some(Cow::Borrowed(""));
    }
    let mut ordered = String::with_capacity(text.len());
    for (index, word) in words.iter().enumerate() {
        ordered.push_str(if index > 0 { "+" } else { "" });
        for (index, (name, value)) in word.iter().enumerate() {
            ordered.push_str(if index > 0 { "|" } else { "" });
            ordered.push_str(name);
            ordered.push('=');
            ordered.push_str(value);
        }
    }
    Some(if ordered == text { Cow::Borrowed(text) } else { Cow::Owned(ordered) })
}

/// The features of one word, sorted.
fn pairs(word: &str) -> Option<Vec<(&str, Cow<'_, str>)>> {
    if word.is_empty() || word == "_" {
        return Some(Vec::new());
    }
    let mut pairs: Vec<(&str, Cow<'_, str>)> = word.split('|').map(pair).collect::<Option<_>>()?;
    pairs.sort_by_cached_key(|(name, _)| (name.to_ascii_lowercase(), *name));
    let is_repeated = pairs.windows(2).any(|two| two[0].0 == two[1].0);
    (!is_repeated).then_some(pairs)
}

/// A feature with its values sorted.
fn pair(text: &str) -> Option<(&str, Cow<'_, str>)> {
    let (name, value) = text.split_once('=')?;
    let mut values: Vec<&str> = value.split(',').collect();
    if !is_name(name) || !values.iter().all(|value| is_value(value)) {
        return None;
    }
    if values.is_sorted_by(|a, b| a < b) {
        return Some((name, Cow::Borrowed(value)));
    }
    values.sort_unstable();
    values.dedup();
    Some((name, Cow::Owned(values.join(","))))
}

/// Returns true for a valid feature name: a capital letter, then letters and digits, then an optional layer in
/// brackets.
pub fn is_name(name: &str) -> bool {
    let (plain, layer) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((plain, layer)) => (plain, Some(layer)),
        None => (name, None),
    };
    let is_layer =
        |layer: &str| !layer.is_empty() && layer.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.len() <= MAX_NAME_BYTES
        && plain.starts_with(|c: char| c.is_ascii_uppercase())
        && plain.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && layer.is_none_or(is_layer)
}

fn is_value(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The value of a feature, or the empty string. Values of a token of several words are joined by `+`.
pub fn value<'f>(feats: &'f str, name: &str) -> Cow<'f, str> {
    let mut values = feats.split(['+', '|']).filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    match (values.next(), values.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(first), Some(second)) => {
            let rest: Vec<&str> = [first, second].into_iter().chain(values).collect();
            Cow::Owned(rest.join("+"))
        }
    }
}

/// Joins the features of the words of one token; empty if none has any.
pub fn join<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let joined = words.into_iter().collect::<Vec<_>>().join("+");
    if joined.bytes().all(|byte| byte == b'+') { String::new() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_sorted_and_malformed_ones_are_rejected() {
        let cases = [
            ("Case=Gen|Number=Plur", Some("Case=Gen|Number=Plur")),
            ("Number=Plur|Case=Gen", Some("Case=Gen|Number=Plur")),
            ("VerbForm=Fin|Aspect=Perf,Imp", Some("Aspect=Imp,Perf|VerbForm=Fin")),
            ("Number[psor]=Sing|Number=Plur", Some("Number=Plur|Number[psor]=Sing")),
            ("NumType=Card|Number=Sing", Some("Number=Sing|NumType=Card")),
            ("Person=3", Some("Person=3")),
            ("_", Some("")),
            ("", Some("")),
            ("_+Number=Sing|Definite=Def", Some("+Definite=Def|Number=Sing")),
            ("_+_", Some("")),
            ("Case=Gen|Case=Dat", None),
            ("case=Gen", None),
            ("Case=gen", None),
            ("Case=", None),
            ("Case", None),
            ("nom|sg", None),
            ("Case=Gen|", None),
            ("Number[]=Sing", None),
            ("0.731", None),
        ];
        for (given, wanted) in cases {
            assert_eq!(canonical(given).as_deref(), wanted, "{given}");
        }
        assert_eq!(canonical(&"Case=Gen+".repeat(100)), None, "too long");
    }

    #[test]
    fn the_value_of_a_token_of_several_words_is_joined() {
        assert_eq!(value("Case=Gen|Number=Plur", "Number"), "Plur");
        assert_eq!(value("Number[psor]=Sing", "Number"), "");
        assert_eq!(value("Number[psor]=Sing", "Number[psor]"), "Sing");
        assert_eq!(value("Case=Gen+Case=Dat|Number=Sing", "Case"), "Gen+Dat");
        assert_eq!(value("+Number=Sing", "Number"), "Sing");
        assert_eq!(value("", "Number"), "");
        assert_eq!(join(["", "Number=Sing"]), "+Number=Sing");
        assert_eq!(join(["", ""]), "");
    }

    proptest::proptest! {
        #[test]
        fn canonical_is_idempotent(text in "([A-Z][a-z]{0,2}(\\[[a-z]\\])?=[A-Z0-9][a-z]?(,[A-Z]x?)?[|+]?){0,4}") {
            if let Some(once) = canonical(&text) {
                proptest::prop_assert_eq!(canonical(&once), Some(Cow::Borrowed(&*once)));
            }
        }
    }
}
