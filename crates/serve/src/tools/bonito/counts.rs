//! `wordlist`, `freqs` and `collx`: words, values of hits, and collocates with their counts.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Bonito;
use crate::api_error::ApiError;

/// Rows if the client names no number, and at most.
const USUAL_ROWS: u64 = 100;
const MAX_ROWS: u64 = 10_000;

/// The measures of collocations by the letters of Bonito.
const MEASURES: [(&str, &str, &str, &str); 7] = [
    ("t", "T-score", "t_score", "t-score"),
    ("m", "MI", "mi", "mi"),
    ("3", "MI3", "mi3", "mi3"),
    ("l", "log likelihood", "log_likelihood", "log-likelihood"),
    ("s", "min. sensitivity", "min_sensitivity", "min-sensitivity"),
    ("d", "logDice", "log_dice", "log-dice"),
    ("p", "MI.log_f", "mi_log_f", "mi-log-f"),
];

#[derive(Deserialize)]
struct Words {
    tokens: u64,
    values: u64,
    rows: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    value: String,
    hits: u64,
    documents: u64,
    per_million: Option<f64>,
}

#[derive(Deserialize)]
struct Groups {
    hits: u64,
    tokens: u64,
    values: u64,
    rows: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    values: Vec<String>,
    hits: u64,
    share: Option<f64>,
    per_million: Option<f64>,
}

#[derive(Deserialize)]
struct Collocates {
    hits: u64,
    collocates: u64,
    rows: Vec<Collocate>,
}

#[derive(Deserialize)]
struct Collocate {
    value: String,
    together: u64,
    hits: u64,
    scores: Map<String, Value>,
}

impl Bonito<'_> {
    async fn question<T: serde::de::DeserializeOwned>(
        &self,
        question: &str,
        mut parameters: Vec<(&'static str, String)>,
    ) -> Result<T, ApiError> {
        parameters.extend(self.scope());
        let pairs: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.request.ask(self.lang(), question, &pairs).await
    }

    pub(super) async fn wordlist(&self) -> Result<Value, ApiError> {
        let known = [
            "wlattr",
            "wlpat",
            "wlminfreq",
            "wlmaxitems",
            "wlsort",
            "wlnums",
            "wltype",
            "wlpage",
            "include_nonwords",
            "wlicase",
            "relfreq",
            "reldocf",
            "wlstruct_attr1",
        ];
        self.check_names(&known)?;
        let only = |name: &'static str, allowed: &[&str]| match self.get(name).filter(|value| !allowed.contains(value))
        {
            None => Ok(()),
            Some(value) => {
                Err(ApiError::wrong(name, format!("{name} = {value} is not supported; use {}", allowed.join(" or "))))
            }
        };
        only("wlsort", &["f", "frq", "freq"])?;
        only("wlnums", &["frq", "docf", "frq,docf", "relfreq"])?;
        only("wltype", &["simple"])?;
        only("wlicase", &["0"])?;
        let attribute = self.attribute(self.get("wlattr").unwrap_or("word"))?;
        let (size, page) = (self.number("wlmaxitems", USUAL_ROWS)?, self.number("wlpage", 1)?.max(1));
        let least = self.number("wlminfreq", 5)?.max(1);
        // Pages are parts of the longest list.
        let rows = size.saturating_mul(page).saturating_add(1).min(MAX_ROWS);
        let mut parameters = vec![("attribute", attribute), ("min", least.to_string()), ("limit", rows.to_string())];
        parameters.push(("punctuation", (self.get("include_nonwords") == Some("1")).to_string()));
        parameters.extend(self.get("wlpat").filter(|pattern| *pattern != ".*").map(|p| ("regex", p.to_owned())));
        let words: Words = self.question("words", parameters).await?;
        let first = size.saturating_mul(page - 1) as usize;
        let has_more = words.rows.len() as u64 > size.saturating_mul(page);
        let item = |word: &Word| {
            json!({ "str": word.value, "freq": word.hits, "frq": word.hits, "docf": word.documents, "relfreq": word.per_million,
                "fpm": word.per_million })
        };
        Ok(json!({
            "Items": words.rows.iter().skip(first).take(size as usize).map(item).collect::<Vec<_>>(),
            "total": words.values, "totalfrq": words.tokens, "lastpage": i32::from(!has_more), "wllimit": MAX_ROWS,
            "frtp": "", "note": "",
        }))
    }

    pub(super) async fn freqs(&self) -> Result<Value, ApiError> {
        self.check_names(&["fcrit", "fmaxitems", "flimit", "freq_sort", "fpage", "group", "ml"])?;
        if let Some(sort) = self.get("freq_sort").filter(|sort| !["freq", "frq"].contains(sort)) {
            return Err(ApiError::wrong("freq_sort", format!("freq_sort = {sort} is not supported; use freq")));
        }
        let query = self.query()?;
        if query.with.is_some() || query.without.is_some() || query.sample.is_some() {
            return Err(ApiError::wrong(
                "q",
                "frequencies are counted of a query alone; filters and samples are for view",
            ));
        }
        let (size, page) = (self.number("fmaxitems", USUAL_ROWS)?, self.number("fpage", 1)?.max(1));
        let (mut blocks, mut per_million) = (Vec::new(), None);
        for criterion in self.request.all("fcrit") {
            let by = self.criterion(criterion)?;
            let rows = size.saturating_mul(page).min(MAX_ROWS);
            let mut parameters = vec![("q", query.query.clone()), ("by", by.join(",")), ("limit", rows.to_string())];
            parameters.extend(self.get("flimit").filter(|least| *least != "0").map(|least| ("min", least.to_owned())));
            let groups: Groups = self.question("group", parameters).await?;
            per_million = tidings_query::measure::per_million(groups.hits as f64, groups.tokens as f64);
            let most = groups.rows.first().map_or(1, |row| row.hits.max(1));
            let item = |row: &Group| {
                let words: Vec<Value> = row.values.iter().map(|value| json!({ "n": value })).collect();
                json!({ "Word": words, "frq": row.hits, "freq": row.hits, "fpm": row.per_million, "rel": row.per_million,
                    "poc": row.share.map(|share| share * 100.0), "norm": groups.tokens, "freqbar": row.hits * 100 / most,
                    "pfilter_list": [], "nfilter_list": [] })
            };
            let mut head: Vec<Value> =
                by.iter().enumerate().map(|(at, name)| json!({ "n": name, "s": at, "id": criterion })).collect();
            head.push(json!({ "n": "Frequency", "s": "freq", "id": "freq" }));
            let first = size.saturating_mul(page - 1) as usize;
            blocks.push(json!({
                "Head": head,
                "Items": groups.rows.iter().skip(first).map(item).collect::<Vec<_>>(),
                "total": groups.values, "totalfrq": groups.hits, "lastpage": i32::from(groups.values <= rows),
            }));
            if blocks.len() > 8 {
                return Err(ApiError::wrong("fcrit", "more than 8 criteria"));
            }
        }
        if blocks.is_empty() {
            return Err(ApiError::wrong("fcrit", "a criterion is missing, as in fcrit=lemma/ 0"));
        }
        let (hits, rate) = (blocks[0]["totalfrq"].clone(), per_million);
        Ok(json!({
            "Blocks": blocks, "concsize": hits, "fullsize": hits, "fcrit": self.request.all("fcrit").collect::<Vec<_>>(),
            "Desc": [{ "op": "Query", "arg": query.query, "nicearg": query.query, "size": hits, "rel": rate }],
        }))
    }

    /// The places of a criterion: `lemma/ 0~0>0 tag/ -1<0 doc.site 0` are the lemma of the hit, the tag before it, the site.
    fn criterion(&self, text: &str) -> Result<Vec<String>, ApiError> {
        let wrong = |part: &str| {
            let message = format!(
                "fcrit: cannot read `{part}`; write an attribute and a place, as in word/ 0~0>0 (the hit), lemma/ -1<0 (one token \
                 before it), tag/ 1>0 (behind it), or doc.site 0"
            );
            ApiError::wrong("fcrit", message)
        };
        let parts: Vec<&str> = text.split_whitespace().collect();
        let mut by = Vec::new();
        for pair in parts.chunks(2) {
            let [name, place] = pair else { return Err(wrong(text)) };
            if let Some(field) = name.strip_prefix("doc.") {
                if !self.corpus.fields.iter().any(|known| known == field) {
                    let message = format!("no field `{name}`; available: doc.{}", self.corpus.fields.join(", doc."));
                    return Err(ApiError::wrong("fcrit", message));
                }
                by.push(field.to_owned());
                continue;
            }
            let (name, flags) = name.split_once('/').unwrap_or((name, ""));
            let attribute = match (name, flags) {
                ("word", "i" | "ie" | "ei") => "lc".to_owned(),
                (_, "" | "e") => self.attribute(name)?,
                _ => return Err(wrong(pair[0])),
            };
            by.push(match *place {
                "0" | "0<0" | "0>0" | "0~0>0" | "0<0~0>0" => format!("node.{attribute}"),
                place => {
                    let number = place.split(['<', '>']).next().unwrap_or_default();
                    let is_left = number.starts_with('-') && !place.contains('>');
                    let distance: u32 = number.trim_start_matches('-').parse().map_err(|_| wrong(place))?;
                    match is_left {
                        true if (1..=100).contains(&distance) => format!("left{distance}.{attribute}"),
                        false if (1..=100).contains(&distance) && !number.starts_with('-') => {
                            format!("right{distance}.{attribute}")
                        }
                        _ => return Err(wrong(place)),
                    }
                }
            });
        }
        Ok(by)
    }

    pub(super) async fn collx(&self) -> Result<Value, ApiError> {
        self.check_names(&["cattr", "cfromw", "ctow", "cminfreq", "cminbgr", "cmaxitems", "cbgrfns", "csortfn"])?;
        let query = self.query()?;
        if query.with.is_some() || query.without.is_some() || query.sample.is_some() {
            return Err(ApiError::wrong(
                "q",
                "collocates are counted of a query alone; filters and samples are for view",
            ));
        }
        let side = |name: &'static str, usual: i64| -> Result<i64, ApiError> {
            self.get(name).map_or(Ok(usual), |text| {
                text.parse().map_err(|_| ApiError::wrong(name, format!("{name} = {text}: give a whole number")))
            })
        };
        let (from, to) = (side("cfromw", -5)?, side("ctow", 5)?);
        if from > 0 || to < 0 {
            let message =
                "the window must begin before the hit or at it and end behind it or at it, as in cfromw=-5, ctow=5";
            return Err(ApiError::wrong("cfromw", message));
        }
        // Bonito has two limits: occurrences in the corpus, and together with the hit.
        let (least, least_together) = (self.number("cminfreq", 5)?, self.number("cminbgr", 3)?);
        let letters = self.get("cbgrfns").unwrap_or("mtd").to_owned();
        let order = self.get("csortfn").unwrap_or("d").to_owned();
        let measure = |letter: &str| MEASURES.iter().find(|(known, ..)| *known == letter);
        let shown: Option<Vec<_>> = letters.chars().filter(|c| *c != ',').map(|c| measure(&c.to_string())).collect();
        let (Some(shown), Some(order)) = (shown, measure(&order)) else {
            let known: Vec<String> = MEASURES.iter().map(|(letter, name, ..)| format!("{letter} ({name})")).collect();
            return Err(ApiError::wrong("cbgrfns", format!("cbgrfns and csortfn take {}", known.join(", "))));
        };
        let size = self.number("cmaxitems", USUAL_ROWS)?.min(MAX_ROWS);
        let attribute = self.attribute(self.get("cattr").unwrap_or("word"))?;
        let parameters = vec![
            ("q", query.query.clone()),
            ("attribute", attribute.clone()),
            ("left", from.unsigned_abs().to_string()),
            ("right", to.to_string()),
            ("min", least_together.max(1).to_string()),
            ("measure", order.3.to_owned()),
            ("limit", MAX_ROWS.to_string()),
            ("punctuation", "true".to_owned()),
        ];
        let found: Collocates = self.question("colloc", parameters).await?;
        let item = |row: &Collocate| {
            let stats: Vec<Value> = shown
                .iter()
                .map(|(_, name, field, _)| json!({ "n": name, "s": row.scores.get(*field).cloned().unwrap_or_default() }))
                .collect();
            json!({ "str": row.value, "freq": row.together, "coll_freq": row.hits, "Stats": stats, "pfilter": "", "nfilter": "" })
        };
        let mut head = vec![json!({ "n": attribute, "s": "" }), json!({ "n": "Cooccurrences", "s": "f" })];
        head.extend(shown.iter().map(|(letter, name, ..)| json!({ "n": name, "s": letter })));
        let rows = found.rows.iter().filter(|row| row.hits >= least);
        Ok(json!({
            "Head": head,
            "Items": rows.take(size as usize).map(item).collect::<Vec<_>>(),
            "concsize": found.hits, "total": found.collocates, "lastpage": 1, "wllimit": MAX_ROWS,
            "Desc": [{ "op": "Query", "arg": query.query, "nicearg": query.query, "size": found.hits, "rel": null }],
        }))
    }
}
