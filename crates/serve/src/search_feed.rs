//! The feed of a saved search: documents with new hits, as RSS 2.0 or JSON Feed 1.1.

use std::fmt::Write as _;
use std::sync::Arc;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use jiff::civil::Date;
use serde_json::{Value, json};
use tidings_store::saved_searches::{self, SavedSearch};
use url::form_urlencoded::Serializer;

use crate::api_error::ApiError;
use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::handler::searches::may_see;
use crate::query_params::QueryParams;
use crate::respond;
use crate::response::{Body, Format, ResponseOptions};
use crate::rss::{element, escaped};
use crate::server::AppState;

/// The hits that a feed is made of.
const HITS: &str = "100";
/// The tokens on each side of a hit.
const CONTEXT: &str = "25";

/// A document with hits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    id: String,
    title: String,
    site: String,
    url: String,
    date: String,
    /// The hits in their context.
    lines: Vec<String>,
}

/// The name of the search whose feed a path is.
pub(crate) fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix("/api/v1/searches/")?.strip_suffix("/feed").filter(|name| !name.contains('/'))
}

/// Answers with the newest hits of a saved search that the client may read.
pub(crate) async fn answer(
    state: &Arc<AppState>,
    name: &str,
    query: &str,
    base: &str,
    client: &Client,
) -> Result<Response<Body>, ApiError> {
    may_see(client.right)?;
    let is_json = match query {
        "" | "format=rss" => false,
        "format=json" => true,
        _ => return Err(ApiError::wrong("format", "a feed takes format=rss or format=json and nothing else")),
    };
    let known = saved_searches::read(&state.registry.home)?;
    let search = known.into_iter().find(|search| search.name == name);
    let search = search.ok_or_else(|| ApiError::unknown(format!("there is no saved search `{name}`")))?;
    let endpoint_path = format!("/api/v1/{}/query", search.lang);
    let (endpoint, _) = Endpoint::find(&endpoint_path).ok_or_else(|| ApiError::unknown("no such corpus"))?;
    let params = QueryParams::read(endpoint, std::slice::from_ref(&search.lang), &asked(&search))?;
    let options = ResponseOptions {
        format: Format::Json,
        link: endpoint_path,
        base: base.to_owned(),
        gzip: false,
        state: String::new(),
    };
    let found = respond::run(state, endpoint, params, vec![search.lang.clone()], options, client).await?;
    let Body::Whole(Some(bytes)) = found.body() else {
        return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "no answer to the saved search"));
    };
    let found: Value = serde_json::from_slice(bytes)
        .map_err(|error| ApiError::broken("cannot read the answer to the saved search", &error))?;
    let items = items(&found);
    let (text, kind) = match is_json {
        true => (json_feed(&search, &items, base).to_string(), "application/feed+json"),
        false => (rss_feed(&search, &items, base), "application/rss+xml; charset=utf-8"),
    };
    let mut response = Response::new(Body::of(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// The parameters of the query for the newest hits.
fn asked(search: &SavedSearch) -> String {
    let mut asked = Serializer::new(String::new());
    asked.append_pair("q", &search.query).append_pair("size", HITS).append_pair("context", CONTEXT);
    asked.append_pair("fields", "date,site,title,url").append_pair("count", "false");
    if !search.filter.is_empty() {
        asked.append_pair("filter", &search.filter);
    }
    asked.finish()
}

/// The documents of the lines of an answer, in their order.
fn items(answer: &Value) -> Vec<Item> {
    let text = |tokens: &Value| {
        let mut text = String::new();
        for token in tokens.as_array().into_iter().flatten() {
            text.push_str(token["word"].as_str().unwrap_or_default());
            if token["space_after"] == true {
                text.push(' ');
            }
        }
        text
    };
    let mut items: Vec<Item> = Vec::new();
    for line in answer["lines"].as_array().into_iter().flatten() {
        let field = |name: &str| line["fields"][name].as_str().unwrap_or_default().to_owned();
        let id = line["document"].as_str().unwrap_or_default();
        let shown = format!("… {}{}{} …", text(&line["left"]), text(&line["node"]), text(&line["right"]));
        match items.iter_mut().find(|item| item.id == id) {
            Some(item) => item.lines.push(shown),
            None => items.push(Item {
                id: id.to_owned(),
                title: field("title"),
                site: field("site"),
                url: field("url"),
                date: field("date"),
                lines: vec![shown],
            }),
        }
    }
    items
}

/// The address of a document in the page, with the hits of the search.
fn page(base: &str, search: &SavedSearch, pairs: &[(&str, &str)]) -> String {
    let query = Serializer::new(String::new()).append_pair("lang", &search.lang).extend_pairs(pairs).finish();
    format!("{base}/?{query}")
}

fn document_page(base: &str, search: &SavedSearch, item: &Item) -> String {
    page(base, search, &[("view", "document"), ("id", &item.id), ("q", &search.query)])
}

fn rss_feed(search: &SavedSearch, items: &[Item], base: &str) -> String {
    let mut feed = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n");
    element(&mut feed, "title", &format!("Tidings: {}", search.name));
    element(&mut feed, "link", &page(base, search, &[("q", &search.query)]));
    element(&mut feed, "description", &format!("Documents with hits of {}", search.query));
    element(&mut feed, "language", &search.lang);
    element(&mut feed, "generator", concat!("Tidings ", env!("CARGO_PKG_VERSION")));
    for item in items {
        feed.push_str("<item>\n");
        element(&mut feed, "title", &format!("{} ({})", item.title, item.site));
        element(&mut feed, "link", &document_page(base, search, item));
        element(&mut feed, "description", &item.lines.join("\n"));
        if let Ok(day) = item.date.parse::<Date>() {
            element(&mut feed, "pubDate", &day.strftime("%a, %d %b %Y 00:00:00 +0000").to_string());
        }
        let _ = writeln!(
            feed,
            "<guid isPermaLink=\"false\">{}</guid>",
            escaped(&format!("tidings:{}:{}", search.name, item.id))
        );
        feed.push_str("</item>\n");
    }
    feed.push_str("</channel>\n</rss>\n");
    feed
}

fn json_feed(search: &SavedSearch, items: &[Item], base: &str) -> Value {
    let item = |item: &Item| {
        json!({
            "id": format!("tidings:{}:{}", search.name, item.id),
            "url": document_page(base, search, item),
            "external_url": item.url,
            "title": format!("{} ({})", item.title, item.site),
            "content_text": item.lines.join("\n"),
            "date_published": format!("{}T00:00:00Z", item.date),
        })
    };
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": format!("Tidings: {}", search.name),
        "home_page_url": page(base, search, &[("q", &search.query)]),
        "description": format!("Documents with hits of {}", search.query),
        "language": search.lang,
        "items": items.iter().map(item).collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> SavedSearch {
        SavedSearch { name: "storms".into(), lang: "en".into(), query: "storm & <x>".into(), ..SavedSearch::default() }
    }

    #[test]
    fn paths_of_feeds_have_one_name() {
        assert_eq!(name_of("/api/v1/searches/storms/feed"), Some("storms"));
        assert_eq!(name_of("/api/v1/searches/a/b/feed"), None);
        assert_eq!(name_of("/api/v1/searches/storms"), None);
    }

    #[test]
    fn hits_of_one_document_are_one_item_and_markup_is_escaped() {
        let token = |word: &str| json!({ "word": word, "space_after": true });
        let line = |id: &str| {
            json!({ "document": id, "fields": { "date": "2026-06-02", "site": "a.example", "title": "A <b>", "url": "https://a.example/1" },
                "left": [token("The")], "node": [token("storm")], "right": [token("came")] })
        };
        let items = items(&json!({ "lines": [line("01"), line("01"), line("02")] }));
        assert_eq!(items.iter().map(|item| item.lines.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(items[0].lines[0], "… The storm came  …");
        let rss = rss_feed(&search(), &items, "https://corpus.example");
        assert!(rss.contains("<title>A &lt;b&gt; (a.example)</title>"), "{rss}");
        assert!(rss.contains("https://corpus.example/?lang=en&amp;view=document&amp;id=01"), "{rss}");
        assert_eq!(rss.matches("<item>").count(), 2);
        let feed = json_feed(&search(), &items, "https://corpus.example");
        assert_eq!(feed["items"][1]["id"], "tidings:storms:02");
        assert_eq!(feed["items"][0]["date_published"], "2026-06-02T00:00:00Z");
    }
}
