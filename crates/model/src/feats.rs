//! Morphological features as Universal Dependencies write them: `Case=Gen|Number=Plur`.
//!
//! Names begin with a capital letter and may have a layer in brackets (`Number[psor]`), values begin with a capital letter
//! or a digit, and several values of one feature are parted by commas. In canonical form names are in alphabetical order
//! whatever their case, each once, and so are the values of a name; whatever is compared or counted is compared in that form.
//! A token that stands for several words has the features of each, joined by `+`.

use std::borrow::Cow;

/// Nothing that describes one token is longer.
pub const MAX_BYTES: usize = 512;
/// No name of a feature is longer, its layer included.
pub const MAX_NAME_BYTES: usize = 31;

/// Features in canonical form; nothing if they are none. `_` and the empty text are the features of a word without any.
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

/// The features of one word in their order.
fn pairs(word: &str) -> Option<Vec<(&str, Cow<'_, str>)>> {
    if word.is_empty() || word == "_" {
        return Some(Vec::new());
    }
    let mut pairs: Vec<(&str, Cow<'_, str>)> = word.split('|').map(pair).collect::<Option<_>>()?;
    pairs.sort_by_cached_key(|(name, _)| (name.to_ascii_lowercase(), *name));
    let is_repeated = pairs.windows(2).any(|two| two[0].0 == two[1].0);
    (!is_repeated).then_some(pairs)
}

/// A feature and its values in their order.
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

/// Whether this may be the name of a feature: a capital letter, letters and digits, perhaps a layer in brackets.
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

/// The value of a feature; empty if there is none. Where a token stands for several words that have it, theirs joined by `+`.
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

/// Joins the features of the words that one token stands for; the empty text if none has any.
pub fn join<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let joined = words.into_iter().collect::<Vec<_>>().join("+");
    if joined.bytes().all(|byte| byte == b'+') { String::new() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_put_in_order_and_nonsense_is_refused() {
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
    fn a_feature_has_a_value_in_the_whole_token() {
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
        fn what_is_canonical_stays_as_it_is(text in "([A-Z][a-z]{0,2}(\\[[a-z]\\])?=[A-Z0-9][a-z]?(,[A-Z]x?)?[|+]?){0,4}") {
            if let Some(once) = canonical(&text) {
                proptest::prop_assert_eq!(canonical(&once), Some(Cow::Borrowed(&*once)));
            }
        }
    }
}
