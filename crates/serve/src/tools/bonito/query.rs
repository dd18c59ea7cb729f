//! The query of a request of Bonito: `q=q[…]`, further operations on its result, or the fields of the form.

use super::Bonito;
use crate::api_error::ApiError;

/// A query with the operations that follow it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BonitoQuery {
    pub query: String,
    /// Conditions on the neighbourhood: with or without a query, in a window.
    pub with: Option<String>,
    pub without: Option<String>,
    pub window: Option<u32>,
    /// The size of a random sample.
    pub sample: Option<u64>,
}

impl BonitoQuery {
    /// The parameters of questions about hits.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = vec![("q", self.query.clone())];
        parameters.extend(self.with.clone().map(|query| ("with", query)));
        parameters.extend(self.without.clone().map(|query| ("without", query)));
        parameters.extend(self.window.map(|window| ("window", window.to_string())));
        parameters
    }
}

fn unsupported(operation: &str) -> ApiError {
    let operation: String = operation.chars().take(60).collect();
    let message = format!(
        "the operation `{operation}` is not supported; there are q[…] (a query), aATTRIBUTE,[…], r100 (a sample), and P-5 5 1 […] \
         or N-5 5 1 […] (lines with or without a query near the hit)"
    );
    ApiError::wrong("q", message)
}

/// Reads the operations of the parameter `q`.
pub(super) fn operations<'o>(mut operations: impl Iterator<Item = &'o str>) -> Result<BonitoQuery, ApiError> {
    let first = operations.next().unwrap_or_default();
    let query = match first.split_at_checked(1) {
        Some(("q", query)) => query,
        // A default attribute, which queries of the API do not have: strings are words.
        Some(("a", rest)) => match rest.split_once(',') {
            Some(("word", query)) => query,
            Some((attribute, _)) => {
                let message = format!("the default attribute {attribute} is not supported; write [{attribute}=\"…\"]");
                return Err(ApiError::wrong("q", message));
            }
            None => return Err(unsupported(first)),
        },
        _ => return Err(unsupported(first)),
    };
    let mut found = BonitoQuery { query: query.to_owned(), ..BonitoQuery::default() };
    for operation in operations {
        let (kind, rest) = operation.split_at_checked(1).ok_or_else(|| unsupported(operation))?;
        match kind {
            "r" => found.sample = Some(rest.parse().map_err(|_| unsupported(operation))?),
            "P" | "N" | "p" | "n" => {
                let mut parts = rest.splitn(4, ' ');
                let numbers: Vec<i32> = parts.by_ref().take(3).filter_map(|number| number.parse().ok()).collect();
                let [left, right, 1] = numbers[..] else { return Err(unsupported(operation)) };
                let query = parts.next().ok_or_else(|| unsupported(operation))?;
                let window = u32::try_from(right).ok().filter(|window| (1..=100).contains(window) && left == -right);
                let Some(window) = window.filter(|window| found.window.is_none_or(|known| known == *window)) else {
                    let message = format!(
                        "{operation}: a window has as many tokens before the hit as behind it, as in P-5 5 1 […]"
                    );
                    return Err(ApiError::wrong("q", message));
                };
                found.window = Some(window);
                let place = if kind.eq_ignore_ascii_case("p") { &mut found.with } else { &mut found.without };
                if place.replace(query.to_owned()).is_some() {
                    return Err(unsupported(operation));
                }
            }
            _ => return Err(unsupported(operation)),
        }
    }
    Ok(found)
}

impl Bonito<'_> {
    /// The query of the request.
    pub(super) fn query(&self) -> Result<BonitoQuery, ApiError> {
        if self.request.all("q").next().is_some() {
            return operations(self.request.all("q"));
        }
        let words = |text: &str| {
            let tokens = text.split_whitespace().map(|word| format!("[lc={}]", string(&word.to_lowercase())));
            tokens.collect::<Vec<_>>().join(" ")
        };
        let query = match self.get("queryselector").unwrap_or("iqueryrow") {
            "cqlrow" => self.get("cql").map(str::to_owned),
            "wordrow" => self.get("word").map(|word| format!("[word={}]", string(word))),
            "lemmarow" => self.get("lemma").map(|lemma| format!("[lemma={}]", string(lemma))),
            "phraserow" => self.get("phrase").map(words),
            // The simple query finds the lemma and the word, in any case.
            "iqueryrow" => self.get("iquery").map(|text| {
                let has_lemmas = self.corpus.attributes.iter().any(|name| name == "lemma");
                let token = |word: &str| match has_lemmas {
                    true => format!("[lc={} | lemma={}%c]", string(&word.to_lowercase()), string(word)),
                    false => format!("[lc={}]", string(&word.to_lowercase())),
                };
                text.split_whitespace().map(token).collect::<Vec<_>>().join(" ")
            }),
            other => {
                let message = format!(
                    "queryselector={other} is not supported; use cqlrow, wordrow, lemmarow, phraserow or iqueryrow"
                );
                return Err(ApiError::wrong("queryselector", message));
            }
        };
        let query =
            query.ok_or_else(|| ApiError::wrong("q", "a query is missing: q=q[…], or queryselector with its field"))?;
        Ok(BonitoQuery { query, ..BonitoQuery::default() })
    }

    /// The scope of all questions: the virtual corpus.
    pub(super) fn scope(&self) -> Vec<(&'static str, String)> {
        self.get("usesubcorp").map(|name| ("in", name.to_owned())).into_iter().collect()
    }
}

/// A regular expression as a string of CQL, from a field of a form.
fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_follow_a_query() {
        let read = |all: &[&str]| operations(all.iter().copied());
        let query = |query: &str| BonitoQuery { query: query.to_owned(), ..BonitoQuery::default() };
        assert_eq!(read(&["q[lemma=\"x\"]"]).unwrap(), query("[lemma=\"x\"]"));
        assert_eq!(read(&["aword,\"x\""]).unwrap(), query("\"x\""));
        let found = read(&["q\"x\"", "r10", "P-5 5 1 [word=\"a b\"]", "N-5 5 1 \"c\""]).unwrap();
        assert_eq!((found.sample, found.window), (Some(10), Some(5)));
        assert_eq!((found.with.as_deref(), found.without.as_deref()), (Some("[word=\"a b\"]"), Some("\"c\"")));
        for wrong in
            [&["x"][..], &[], &["alemma,\"x\""], &["qx", "s*"], &["qx", "P-5 4 1 \"a\""], &["qx", "P-5 5 2 \"a\""]]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(read(&["qx", "P-5 5 1 \"a\"", "N-3 3 1 \"b\""]).is_err(), "the API has one window");
    }

    #[test]
    fn fields_of_forms_stay_strings() {
        assert_eq!(string("a\"b\\"), "\"a\\\"b\\\\\"");
    }
}
