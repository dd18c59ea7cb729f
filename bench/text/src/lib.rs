//! Scores of language identification.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use anyhow::{Context as _, Result};

/// Text with its gold language.
#[derive(Debug, Clone)]
pub struct LangItem {
    /// The text.
    pub text: String,
    /// ISO 639-3 code; `und` for noise.
    pub lang: String,
    /// One of short, sent, para, doc and noise.
    pub kind: String,
    /// Source of the text.
    pub src: String,
}

/// Reads items from JSON lines.
pub fn read(input: impl BufRead) -> Result<Vec<LangItem>> {
    input
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(&line?)?;
            let field =
                |name: &str| value[name].as_str().map(str::to_owned).with_context(|| format!("an item has no {name}"));
            Ok(LangItem { text: field("text")?, lang: field("lang")?, kind: field("kind")?, src: field("src")? })
        })
        .collect()
}

/// Languages with a national press.
pub const CORE: &str = "afr sqi amh ara hye aze eus bel ben bos bul mya cat zho hrv ces dan nld eng est tgl fin fra glg \
    kat deu ell guj hau heb hin hun isl ind gle ita jpn kan kaz khm kor kir lao lav lit mkd msa mal mlt mar mon nep nor \
    pus fas pol por pan ron rus srp sin slk slv som spa swa swe tam tel tha tur ukr urd uzb vie cym";

/// Groups of confusable languages.
pub const CLOSE: &[&str] =
    &["ces slk", "bos hrv srp", "nor dan swe", "ind msa", "por glg spa", "ukr rus bel", "zho yue"];

/// ISO 639-3 label of a language code; both standards of Norwegian are `nor`.
pub fn iso3_label(code: &str) -> &str {
    if matches!(code, "nb" | "nn" | "no") {
        return "nor";
    }
    if code.len() == 3 {
        return code;
    }
    let others = tidings_lang::language(code).map_or(&[][..], |language| &language.other_codes);
    others.iter().copied().find(|other| other.len() == 3).unwrap_or(code)
}

/// Macro-averaged F1 over these labels; items with other labels are left out.
pub fn macro_f1(pairs: &[(&str, &str)], labels: &BTreeSet<&str>) -> f64 {
    let pairs: Vec<_> = pairs.iter().filter(|(gold, _)| labels.contains(gold)).collect();
    let f1 = |label: &str| {
        let count = |test: &dyn Fn(&(&str, &str)) -> bool| pairs.iter().filter(|pair| test(pair)).count() as f64;
        let both = count(&|(gold, answer)| *gold == label && *answer == label);
        let either = count(&|(gold, _)| *gold == label) + count(&|(_, answer)| *answer == label);
        if either == 0.0 { 0.0 } else { 2.0 * both / either }
    };
    labels.iter().map(|label| f1(label)).sum::<f64>() / labels.len().max(1) as f64
}

/// Scores by source and kind: number of items, macro F1 over core labels, macro F1 over all labels.
pub fn scores<'a>(items: &'a [LangItem], answers: &'a [String]) -> BTreeMap<(&'a str, &'a str), (usize, f64, f64)> {
    let core: BTreeSet<&str> = CORE.split_whitespace().collect();
    let mut parts: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
    for (item, answer) in items.iter().zip(answers) {
        parts.entry((&item.src, &item.kind)).or_default().push((&item.lang, answer));
    }
    let score = |pairs: Vec<(&'a str, &'a str)>| {
        let all: BTreeSet<&str> = pairs.iter().map(|(gold, _)| *gold).collect();
        let core: BTreeSet<&str> = core.intersection(&all).copied().collect();
        (pairs.len(), macro_f1(&pairs, &core), macro_f1(&pairs, &all))
    };
    parts.into_iter().map(|(part, pairs)| (part, score(pairs))).collect()
}

/// Macro F1 over a group of confusable languages, for items of a kind.
pub fn close(items: &[LangItem], answers: &[String], group: &str, kind: &str) -> f64 {
    let labels: BTreeSet<&str> = group.split(' ').collect();
    let asked = items.iter().zip(answers).filter(|(item, _)| item.src == "ntrex" && item.kind == kind);
    let pairs: Vec<(&str, &str)> = asked.map(|(item, answer)| (item.lang.as_str(), answer.as_str())).collect();
    macro_f1(&pairs, &labels)
}

/// Share of noise items identified as `und`.
pub fn noise(items: &[LangItem], answers: &[String]) -> f64 {
    let noise: Vec<_> = items.iter().zip(answers).filter(|(item, _)| item.kind == "noise").collect();
    noise.iter().filter(|(_, answer)| *answer == "und").count() as f64 / noise.len().max(1) as f64
}
