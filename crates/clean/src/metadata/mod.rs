//! Metadata of a page: title, authors, site, topics, licence, URLs.
//!
//! The same information appears in many places, often with different values: JSON-LD, OpenGraph,
//! Dublin Core, microdata, headings, bylines. Each module collects the candidates for one field and
//! weighs them against each other; no single place is trusted because it is usually right.

mod authors;
mod licence;
mod links;
mod marks;
mod names;
mod rights;
mod site;
mod text;
mod title;
mod topics;
mod vocabulary;

use serde_json::Value;
use tidings_model::PageMetadata;
use url::Url;

use crate::declared_metadata::{DeclaredMetadata, is_article};
use crate::tree::Tree;
pub(crate) use links::tag as language_tag;
use marks::MarkedNodes;
pub use rights::rights;
use text::tidy;

/// A page with everything the field modules read from.
struct Page<'a> {
    tree: &'a Tree,
    declared: &'a DeclaredMetadata<'a>,
    marks: MarkedNodes<'a>,
    url: Option<&'a Url>,
    /// The JSON-LD object of the article.
    article: Option<&'a Value>,
}

/// Reads the metadata of a page. `modified` is left to [`crate::date`].
pub fn read(tree: &Tree, declared: &DeclaredMetadata<'_>, url: Option<&Url>) -> PageMetadata {
    let mut page = Page { tree, declared, marks: MarkedNodes::read(tree), url, article: None };
    page.article = main_article(&page);
    let site = site::read(&page);
    let (title, heading) = title::choose(&page, &site);
    page.marks.set_headline(tree, heading);
    let authors = authors::choose(&page, &site, &title, heading);
    let (categories, tags) = topics::read(&page, &site, &title);
    PageMetadata {
        authors,
        description: links::description(&page),
        categories,
        tags,
        language: links::language(&page),
        licence: licence::read(&page),
        canonical: links::canonical(&page),
        alternates: links::alternates(&page),
        image: links::image(&page),
        site_name: site.name,
        title,
        ..PageMetadata::default()
    }
}

/// The JSON-LD article of the page: of several, the one whose headline the page shows.
fn main_article<'a>(page: &Page<'a>) -> Option<&'a Value> {
    let mut articles = page.declared.objects_of(is_article).take(20);
    let first = articles.next();
    let Some(second) = articles.next() else {
        return first.or_else(|| {
            let nested = page.declared.objects.iter().filter_map(|object| object.get("mainEntity"));
            nested.into_iter().find(|object| {
                crate::declared_metadata::types(object).any(|kind| is_article(kind) || kind == "Question")
            })
        });
    };
    let shown: Vec<String> = title::declared(page).map(|title| text::fold(&title)).collect();
    let agrees = |article: &Value| headline(article).is_some_and(|headline| shown.contains(&text::fold(&headline)));
    first.into_iter().chain([second]).chain(articles).find(|article| agrees(article)).or(first)
}

/// The headline of a JSON-LD article.
fn headline(article: &Value) -> Option<String> {
    ["headline", "name"].iter().find_map(|key| article.get(key)?.as_str()).map(tidy).filter(|title| !title.is_empty())
}

/// The strings of a JSON value: itself, its elements, or `key` of its objects.
fn strings<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    let one = |value: &'v Value| value.as_str().or_else(|| value.get(key)?.as_str());
    match value {
        Value::Array(values) => values.iter().take(100).filter_map(one).collect(),
        value => one(value).into_iter().collect(),
    }
}
