//! `view` and `first`: the lines of a concordance.

use serde_json::{Value, json};
use tidings_query::question::KwicToken;

use super::Bonito;
use crate::api_error::ApiError;
use crate::tools::ConcordancePage;

/// Lines of a page if the client names no number, as in Sketch Engine, and at most.
const USUAL_LINES: u64 = 20;
const MAX_LINES: u64 = 10_000;
/// Tokens on each side of a hit if nothing is said.
const USUAL_CONTEXT: u64 = 12;
const MAX_CONTEXT: u64 = 200;

/// The context of a side: tokens, or characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Tokens(u64),
    Characters(u64),
}

impl Context {
    /// Reads `-10`, `10` or `40#`.
    fn read(text: &str) -> Option<Context> {
        let text = text.trim_start_matches('-');
        match text.strip_suffix('#') {
            Some(number) => number.parse().ok().map(Context::Characters),
            None => text.parse().ok().map(Context::Tokens),
        }
    }

    /// The tokens that are enough.
    fn tokens(self) -> u64 {
        match self {
            Context::Tokens(tokens) => tokens.min(MAX_CONTEXT),
            // Words have two characters with their blank at least, but for punctuation.
            Context::Characters(characters) => (characters / 2 + 1).min(MAX_CONTEXT / 4),
        }
    }

    /// The tokens that are shown: from the hit outwards as long as they fit.
    fn cut(self, tokens: &[KwicToken], is_left: bool) -> &[KwicToken] {
        let fitting = match self {
            Context::Tokens(number) => number as usize,
            Context::Characters(most) => {
                let mut sum = 0;
                let lengths = |token: &KwicToken| token.word.chars().count() as u64 + u64::from(token.space_after);
                let fits = |token: &&KwicToken| {
                    sum += lengths(token);
                    sum <= most
                };
                match is_left {
                    true => tokens.iter().rev().take_while(fits).count(),
                    false => tokens.iter().take_while(fits).count(),
                }
            }
        };
        let fitting = fitting.min(tokens.len());
        if is_left { &tokens[tokens.len() - fitting..] } else { &tokens[..fitting] }
    }
}

impl Bonito<'_> {
    pub(super) async fn view(&self) -> Result<Value, ApiError> {
        let known = [
            "pagesize",
            "fromp",
            "kwicleftctx",
            "kwicrightctx",
            "queryselector",
            "iquery",
            "cql",
            "word",
            "lemma",
            "phrase",
        ];
        self.check_names(&known)?;
        let query = self.query()?;
        let size = self.number("pagesize", USUAL_LINES)?.min(MAX_LINES);
        let page = self.number("fromp", 1)?.max(1);
        let context = |name: &'static str| match self.get(name) {
            None => Ok(Context::Tokens(USUAL_CONTEXT)),
            Some(text) => Context::read(text).ok_or_else(|| {
                ApiError::wrong(name, format!("{name} = {text}: give tokens or characters, as in -10 or 40#"))
            }),
        };
        let (left, right) = (context("kwicleftctx")?, context("kwicrightctx")?);
        let fields = self.references()?;
        let mut parameters = query.parameters();
        parameters.extend(self.scope());
        parameters.push(("context", left.tokens().max(right.tokens()).to_string()));
        parameters.push(("fields", fields.join(",")));
        let answer = self.page(parameters, query.sample, (page - 1).saturating_mul(size), size).await?;
        let hits = query.sample.map_or(answer.shown_hits(), |sample| sample.min(answer.shown_hits()));
        let part = |tokens: &[KwicToken], class: &str| json!([{ "str": text(tokens), "class": class }]);
        let lines = answer.lines.iter().map(|line| {
            let [before, node, behind] =
                [&line.left, &line.node, &line.right].map(|tokens| tokens.as_deref().unwrap_or_default());
            let field = |name: &String| line.fields.get(name).cloned().unwrap_or_default();
            let refs: Vec<String> = fields.iter().map(field).collect();
            json!({
                "toknum": line.position, "hitlen": node.len(), "linegroup": "_", "linegroup_id": 0,
                "Refs": refs, "Tbl_refs": refs, "ref": refs.join(","), "docid": line.document,
                "Left": part(left.cut(before, true), ""),
                "Kwic": part(node, "col0 coll"),
                "Right": part(right.cut(behind, false), ""),
                "Links": [],
            })
        });
        let pages = if size == 0 { 0 } else { hits.div_ceil(size) };
        Ok(json!({
            "Lines": lines.collect::<Vec<_>>(),
            "concsize": hits, "fullsize": answer.shown_hits(), "fromp": page, "pagesize": size, "numofpages": pages,
            "finished": i32::from(answer.is_exact()), "relsize": answer.per_million,
            "concordance_size_limit": MAX_LINES,
            "Desc": [{ "op": "Query", "arg": query.query, "nicearg": query.query, "tourl": "", "size": answer.shown_hits(),
                "rel": answer.per_million }],
            "gdex_scores": [], "port": 0, "righttoleft": false,
        }))
    }

    /// The fields of documents that `refs` names, as in `refs==doc.site,=doc.date`.
    fn references(&self) -> Result<Vec<String>, ApiError> {
        let names = self.get("refs").unwrap_or("=doc.site,=doc.date");
        let names = names.split(',').map(|name| name.trim_start_matches('='));
        let mut fields = Vec::new();
        for name in names.filter(|name| !name.is_empty() && *name != "#") {
            let field = name.strip_prefix("doc.").unwrap_or(name);
            if !self.corpus.fields.iter().any(|known| known == field) && field != "id" {
                let message = format!("refs: no field `{name}`; available: doc.{}", self.corpus.fields.join(", doc."));
                return Err(ApiError::wrong("refs", message));
            }
            fields.push(field.to_owned());
        }
        Ok(fields)
    }

    /// The lines behind the first `skip` ones.
    async fn page(
        &self,
        parameters: Vec<(&'static str, String)>,
        sample: Option<u64>,
        skip: u64,
        size: u64,
    ) -> Result<ConcordancePage, ApiError> {
        let ask = async |more: &[(&'static str, String)]| -> Result<ConcordancePage, ApiError> {
            let pairs = parameters.iter().chain(more).map(|(name, value)| (*name, value.as_str()));
            self.request.ask(self.lang(), "query", &pairs.collect::<Vec<_>>()).await
        };
        if let Some(sample) = sample {
            // A sample has no pages: it is drawn whole, the same each time.
            let mut answer = ask(&[("sample", sample.min(MAX_LINES).to_string())]).await?;
            answer.lines = answer.lines.into_iter().skip(skip as usize).take(size as usize).collect();
            return Ok(answer);
        }
        let first = ask(&[("size", if skip == 0 { size } else { 0 }.to_string())]).await?;
        if skip == 0 || skip >= first.shown_hits() {
            return Ok(first);
        }
        let cursor = format!("{}-{skip}", first.about.generation);
        let rest = ask(&[("size", size.to_string()), ("cursor", cursor), ("count", "false".to_owned())]).await?;
        Ok(ConcordancePage { lines: rest.lines, ..first })
    }
}

fn text(tokens: &[KwicToken]) -> String {
    tidings_query::question::text_of(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_has_tokens_or_characters() {
        assert_eq!(Context::read("-10"), Some(Context::Tokens(10)));
        assert_eq!(Context::read("40#"), Some(Context::Characters(40)));
        assert_eq!((Context::read("x"), Context::read("-4x#")), (None, None));
        let token = |word: &str| KwicToken {
            word: word.to_owned(),
            lemma: String::new(),
            tag: String::new(),
            feats: String::new(),
            layers: std::collections::BTreeMap::new(),
            space_after: true,
        };
        let tokens = ["one", "two", "three"].map(token);
        let words = |tokens: &[KwicToken]| tokens.iter().map(|token| token.word.clone()).collect::<Vec<_>>();
        assert_eq!(words(Context::Tokens(2).cut(&tokens, true)), ["two", "three"]);
        assert_eq!(words(Context::Characters(10).cut(&tokens, true)), ["two", "three"]);
        assert_eq!(words(Context::Characters(7).cut(&tokens, false)), ["one"]);
    }
}
