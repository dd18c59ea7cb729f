//! Everything that can be asked: one table, from which the router and the OpenAPI document are made.

use crate::api_error::ApiError;
use crate::handler::{self, ApiRequest};
use crate::query_params::{Kind, Param};
use crate::response::{ClientGone, FORMATS, ResponseWriter};
use crate::schema::Schema;

/// How much work a request may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Answered in milliseconds, nearly always.
    Quick,
    /// May look at every token of the corpus.
    Heavy,
}

/// Why a request was not answered to its end.
pub(crate) enum RequestError {
    Rejected(ApiError),
    ClientGone,
    /// Time ran out; what was said so far is right, but not all.
    Timeout,
}

macro_rules! refused {
    ($($error:ty),*) => {$(
        impl From<$error> for RequestError {
            fn from(error: $error) -> RequestError {
                RequestError::Rejected(error.into())
            }
        }
    )*};
}

refused!(ApiError, tidings_query::engine::EngineError, tidings_store::Error, tidings_index::Error);

impl From<ClientGone> for RequestError {
    fn from(_: ClientGone) -> RequestError {
        RequestError::ClientGone
    }
}

/// Something that can be asked.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// Its name, for files, logs and the OpenAPI document.
    pub name: &'static str,
    /// Its address; what stands in braces is part of the request.
    pub path: &'static str,
    pub about: &'static str,
    pub lane: Lane,
    /// Its parameters, in groups that endpoints share.
    pub groups: &'static [&'static [Param]],
    /// The property of the answer that holds its rows; empty if there are none.
    pub rows: &'static str,
    pub answer: fn() -> Schema,
    pub run: fn(&ApiRequest<'_>, &mut ResponseWriter) -> Result<(), RequestError>,
}

impl Endpoint {
    pub fn params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        let own = || self.groups.iter().copied().flatten();
        let has_format = self.rows.is_empty() || own().any(|param| param.name == "format");
        own().chain(if has_format { &[][..] } else { FORMAT })
    }

    /// The values of the braces, if a path is of this endpoint.
    fn matches<'p>(&self, path: &'p str) -> Option<Vec<&'p str>> {
        let (mut wanted, mut params) = (self.path.split('/'), path.split('/'));
        let mut values = Vec::new();
        loop {
            match (wanted.next(), params.next()) {
                (None, None) => return Some(values),
                (Some(name), Some(value)) if name.starts_with('{') && !value.is_empty() => values.push(value),
                (Some(name), Some(value)) if name == value => {}
                _ => return None,
            }
        }
    }

    /// The endpoint of a path, and the values of its braces.
    pub fn find(path: &str) -> Option<(&'static Endpoint, Vec<&str>)> {
        ENDPOINTS.iter().find_map(|endpoint| Some((endpoint, endpoint.matches(path)?)))
    }
}

const fn param(name: &'static str, kind: Kind, default: Option<&'static str>, about: &'static str) -> Param {
    Param { name, kind, default, required: false, about }
}

const fn required(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Text, default: None, required: true, about }
}

const STEPS: Kind = Kind::Choice(handler::STEPS);

const FORMAT: &[Param] =
    &[param("format", Kind::Choice(FORMATS), Some("json"), "json in one piece, or rows as they come as jsonl or csv")];
const QUERY: &[Param] = &[required("q", "the query: a word, several words, or CQL")];
const PART: &[Param] = &[
    param("filter", Kind::Text, None, "only documents such as site=gazette.example date>=2026-01"),
    param("in", Kind::Text, None, "only documents of a virtual corpus, by its name"),
];
const PAGE: &[Param] = &[
    param("order", Kind::Choice(&["newest", "oldest"]), Some("newest"), "which day comes first"),
    param("size", Kind::Number(0, 1_000_000), None, "rows on a page: 20 if not given, all in a stream"),
    param("cursor", Kind::Text, None, "where the page begins: `next` of the answer before"),
];
const LINES: &[Param] = &[
    param("context", Kind::Number(0, handler::LONGEST_CONTEXT), Some("12"), "tokens on each side"),
    param("fields", Kind::Names, Some("date,site"), "fields of the documents, with commas between"),
    param("sort", Kind::Names, None, "sort by left, right, node or fields; several with commas between"),
    param("sample", Kind::Number(1, 200_000), None, "a random sample of so many hits instead of a page"),
    param("seed", Kind::Number(0, u64::MAX), Some("1"), "which sample"),
    param("longest", Kind::Flag, Some("false"), "of several matches that begin at one place, take the longest"),
    param("count", Kind::Flag, Some("true"), "whether all hits are counted, which may take longer than the page"),
];
const ATTRIBUTE: &[Param] = &[param("attribute", Kind::Attribute, Some("lc"), "what is counted")];
const NGRAM: &[Param] = &[param("ngram", Kind::Number(1, 5), Some("1"), "words in a row")];
const LIMIT: &[Param] = &[param("limit", Kind::Number(0, 10_000), Some("50"), "rows")];
const PUNCTUATION: &[Param] = &[param("punctuation", Kind::Flag, Some("false"), "punctuation too")];
const FDR: &[Param] = &[param("fdr", Kind::Share(0.0, 1.0), Some("0.05"), "the share of false ones that is admitted")];
const DIRECTION: &[Param] =
    &[param("direction", Kind::Choice(&["both", "rising", "falling"]), Some("both"), "which way")];
const CONFIDENCE: &[Param] =
    &[param("confidence", Kind::Share(0.5, 0.999_999), Some("0.95"), "the confidence of the bands")];
const DAYS: &[Param] = &[
    param("by", STEPS, Some("day"), "how long a step is"),
    param("since", Kind::Text, None, "the first day"),
    param("until", Kind::Text, None, "the last day"),
];
const PANEL: &[Param] = &[param("panel", Kind::Flag, Some("false"), "only sites that gave documents in every step")];

/// Everything that can be asked.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        name: "corpora",
        path: "/api/v1/corpora",
        about: "The corpora, one for each language, with their size and state",
        lane: Lane::Quick,
        groups: &[],
        rows: "corpora",
        answer: handler::collection::corpora_schema,
        run: handler::collection::corpora,
    },
    Endpoint {
        name: "corpora-named",
        path: "/api/v1/corpora-named",
        about: "Virtual corpora: filters with names, which `in` understands",
        lane: Lane::Quick,
        groups: &[],
        rows: "rows",
        answer: handler::collection::named_schema,
        run: handler::collection::named,
    },
    Endpoint {
        name: "feeds",
        path: "/api/v1/feeds",
        about: "How feeds do: when they last answered, what they bring, how much text comes of it",
        lane: Lane::Quick,
        groups: &[&[param("health", Kind::Choice(handler::collection::HEALTH), None, "only those that do so")]],
        rows: "rows",
        answer: handler::collection::feeds_schema,
        run: handler::collection::feeds,
    },
    Endpoint {
        name: "hosts",
        path: "/api/v1/hosts",
        about: "How much text comes of what each host sends",
        lane: Lane::Quick,
        groups: &[],
        rows: "rows",
        answer: handler::collection::hosts_schema,
        run: handler::collection::hosts,
    },
    Endpoint {
        name: "collection",
        path: "/api/v1/collection",
        about: "How the collection does as a whole, and where what was downloaded went",
        lane: Lane::Quick,
        groups: &[],
        rows: "rows",
        answer: handler::collection::collection_schema,
        run: handler::collection::collection,
    },
    Endpoint {
        name: "collection-days",
        path: "/api/v1/collection/days",
        about: "What was collected in time: runs, feeds that gave pages, bytes, documents, tokens",
        lane: Lane::Quick,
        groups: &[DAYS],
        rows: "rows",
        answer: handler::collection::days_schema,
        run: handler::collection::days,
    },
    Endpoint {
        name: "collection-languages",
        path: "/api/v1/collection/languages",
        about: "What was collected in time, by language",
        lane: Lane::Quick,
        groups: &[DAYS],
        rows: "rows",
        answer: handler::collection::languages_schema,
        run: handler::collection::languages,
    },
    Endpoint {
        name: "query",
        path: "/api/v1/{lang}/query",
        about: "Hits in their context, page by page",
        lane: Lane::Quick,
        groups: &[QUERY, PART, LINES, PAGE],
        rows: "lines",
        answer: handler::query::schema,
        run: handler::query::run,
    },
    Endpoint {
        name: "count",
        path: "/api/v1/{lang}/count",
        about: "How many hits there are",
        lane: Lane::Quick,
        groups: &[QUERY, PART],
        rows: "",
        answer: handler::counts::count_schema,
        run: handler::counts::count,
    },
    Endpoint {
        name: "freq",
        path: "/api/v1/{lang}/freq",
        about: "How often hits have each value of an attribute or a field",
        lane: Lane::Heavy,
        groups: &[
            QUERY,
            &[param(
                "by",
                Kind::Text,
                Some("lc"),
                "word, lc, lemma, tag, feats or a feature such as Case of the hit, or a field such as site, date, topic",
            )],
            PART,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::counts::freq_schema,
        run: handler::counts::freq,
    },
    Endpoint {
        name: "colloc",
        path: "/api/v1/{lang}/colloc",
        about: "What stands in the neighbourhood of hits",
        lane: Lane::Heavy,
        groups: &[
            QUERY,
            PART,
            ATTRIBUTE,
            &[
                param("left", Kind::Number(0, 1000), Some("5"), "tokens before the hit"),
                param("right", Kind::Number(0, 1000), Some("5"), "tokens behind it"),
                param("sentence", Kind::Flag, Some("false"), "the whole sentence instead"),
                param("measure", Kind::Choice(handler::ASSOCIATIONS), Some("logdice"), "by what rows are ordered"),
                param("min", Kind::Number(1, u64::MAX), Some("3"), "together at least so often"),
            ],
            PUNCTUATION,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::counts::colloc_schema,
        run: handler::counts::colloc,
    },
    Endpoint {
        name: "sketch",
        path: "/api/v1/{lang}/sketch",
        about: "What a word does: its collocates by grammatical relation, each with the query that gives the very hits",
        lane: Lane::Heavy,
        groups: &[
            &[
                required("lemma", "the lemma, as it is"),
                param("pos", Kind::Text, None, "its part of speech, such as NOUN; the most frequent one if not given"),
                param("min", Kind::Number(1, u64::MAX), Some("3"), "together at least so often"),
                param("size", Kind::Number(1, 1000), Some("12"), "rows for each relation"),
            ],
            PART,
        ],
        rows: "rows",
        answer: handler::sketch::schema,
        run: handler::sketch::run,
    },
    Endpoint {
        name: "words",
        path: "/api/v1/{lang}/words",
        about: "The words of the corpus, or its n-grams, with their frequencies",
        lane: Lane::Heavy,
        groups: &[
            &[
                param("regex", Kind::Text, None, "only those that match this regular expression, as a whole"),
                param("min", Kind::Number(1, u64::MAX), Some("1"), "at least so often"),
            ],
            PART,
            ATTRIBUTE,
            NGRAM,
            PUNCTUATION,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::words::words_schema,
        run: handler::words::words,
    },
    Endpoint {
        name: "keywords",
        path: "/api/v1/{lang}/keywords",
        about: "What is typical of one part of the corpus against another",
        lane: Lane::Heavy,
        groups: &[
            &[
                required("focus", "the documents in focus, a filter such as date>=2026-03"),
                param("against", Kind::Text, None, "the documents to compare with, a filter; all others if not given"),
                param("measure", Kind::Choice(handler::words::KEYNESS), Some("simple"), "by what rows are ordered"),
                param("add", Kind::Share(1e-9, 1e6), Some("1"), "what simple maths adds to both rates"),
                param("min", Kind::Number(1, u64::MAX), Some("5"), "at least so often in focus"),
            ],
            PART,
            ATTRIBUTE,
            NGRAM,
            PUNCTUATION,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::words::keywords_schema,
        run: handler::words::keywords,
    },
    Endpoint {
        name: "compare",
        path: "/api/v1/{lang}/compare",
        about: "Which words became more or less frequent from one part of the corpus to another",
        lane: Lane::Heavy,
        groups: &[
            &[
                required("before", "the documents to compare with, a filter such as date=2026-05"),
                required("after", "the documents in which words rose or fell, a filter such as date=2026-06"),
                param("min", Kind::Number(1, u64::MAX), Some("10"), "words in fewer documents are not tested"),
            ],
            PART,
            ATTRIBUTE,
            FDR,
            CONFIDENCE,
            DIRECTION,
            &[param("panel", Kind::Flag, Some("false"), "only sites that gave documents to both")],
            PUNCTUATION,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::time::compare_schema,
        run: handler::time::compare,
    },
    Endpoint {
        name: "timeline",
        path: "/api/v1/{lang}/timeline",
        about: "Hits in time, with what was collected beside them",
        lane: Lane::Quick,
        groups: &[QUERY, PART, &[param("by", STEPS, Some("month"), "how long a step is")], CONFIDENCE],
        rows: "points",
        answer: handler::time::timeline_schema,
        run: handler::time::timeline,
    },
    Endpoint {
        name: "trends",
        path: "/api/v1/{lang}/trends",
        about: "Which words rise or fall",
        lane: Lane::Heavy,
        groups: &[
            PART,
            ATTRIBUTE,
            &[
                param("by", STEPS, Some("quarter"), "how long a step is"),
                param("min", Kind::Number(1, u64::MAX), Some("30"), "words in fewer documents are not tested"),
            ],
            FDR,
            DIRECTION,
            PANEL,
            LIMIT,
        ],
        rows: "rows",
        answer: handler::time::trends_schema,
        run: handler::time::trends,
    },
    Endpoint {
        name: "bursts",
        path: "/api/v1/{lang}/bursts",
        about: "Words that were in the news for a while",
        lane: Lane::Heavy,
        groups: &[PART, ATTRIBUTE, &[param("by", STEPS, Some("week"), "how long a step is")], PANEL, LIMIT],
        rows: "rows",
        answer: handler::time::bursts_schema,
        run: handler::time::bursts,
    },
    Endpoint {
        name: "new-words",
        path: "/api/v1/{lang}/new-words",
        about: "Words that were not there before",
        lane: Lane::Heavy,
        groups: &[
            PART,
            &[
                param(
                    "since",
                    Kind::Text,
                    None,
                    "the first day of the window; the last quarter of the time if not given",
                ),
                param("attribute", Kind::Choice(&["word", "lemma"]), Some("word"), "what is looked at"),
                param(
                    "min_sites",
                    Kind::Number(1, 1 << 30),
                    Some("3"),
                    "on at least so many sites of different owners",
                ),
                param("min_days", Kind::Number(1, 1 << 30), Some("3"), "on at least so many days"),
                param("min_documents", Kind::Number(1, 1 << 30), Some("5"), "in at least so many documents"),
                param("names", Kind::Flag, Some("false"), "names too, by their capitals"),
            ],
            LIMIT,
            &[param(
                "format",
                Kind::Choice(&["json", "jsonl", "csv", "rss"]),
                Some("json"),
                "json in one piece, rows as jsonl or csv, or a feed (RSS 2.0)",
            )],
        ],
        rows: "rows",
        answer: handler::time::new_words_schema,
        run: handler::time::new_words,
    },
    Endpoint {
        name: "documents",
        path: "/api/v1/{lang}/documents",
        about: "Documents, by what is known about them",
        lane: Lane::Quick,
        groups: &[PART, PAGE, &[param("fields", Kind::Names, Some("site"), "fields, with commas between")]],
        rows: "rows",
        answer: handler::documents::many_schema,
        run: handler::documents::many,
    },
    Endpoint {
        name: "document",
        path: "/api/v1/{lang}/documents/{id}",
        about: "All that is known about a document, and its text where that may be seen",
        lane: Lane::Quick,
        groups: &[],
        rows: "",
        answer: handler::documents::one_schema,
        run: handler::documents::one,
    },
    Endpoint {
        name: "context",
        path: "/api/v1/{lang}/documents/{id}/context",
        about: "What stands around a token of a document, where lines of it may be seen",
        lane: Lane::Quick,
        groups: &[&[
            Param {
                required: true,
                ..param("position", Kind::Number(0, 1 << 32), None, "the number of the token, as lines have it")
            },
            param("unit", Kind::Choice(&["sentence", "paragraph"]), Some("sentence"), "what is shown"),
            param("around", Kind::Number(0, 100), Some("1"), "so many more before and behind"),
        ]],
        rows: "sentences",
        answer: handler::documents::context_schema,
        run: handler::documents::context,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_is_found_by_its_own_path() {
        for endpoint in ENDPOINTS {
            let path = endpoint.path.replace("{lang}", "en").replace("{id}", "0a");
            let (found, values) = Endpoint::find(&path).unwrap();
            assert_eq!(found.name, endpoint.name);
            assert_eq!(values.len(), endpoint.path.matches('{').count());
        }
        assert!(Endpoint::find("/api/v1/en/nothing").is_none() && Endpoint::find("/api/v1//query").is_none());
    }

    #[test]
    fn defaults_are_of_their_kinds_and_names_are_used_once() {
        for endpoint in ENDPOINTS {
            let text = endpoint
                .params()
                .filter(|param| param.required)
                .map(|param| format!("{}={}&", param.name, if param.kind == Kind::Text { "x" } else { "0" }));
            let params = crate::query_params::QueryParams::read(endpoint, &text.collect::<String>()).unwrap();
            for param in endpoint.params() {
                assert_eq!(endpoint.params().filter(|other| other.name == param.name).count(), 1, "{}", param.name);
                if let (Kind::Number(..), Some(_)) = (param.kind, param.default) {
                    assert!(params.number(param.name).is_some());
                }
                if let (Kind::Choice(words), Some(default)) = (param.kind, param.default) {
                    assert!(words.contains(&default), "{}.{}", endpoint.name, param.name);
                }
            }
        }
    }
}
