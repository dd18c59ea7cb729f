//! What a page says about itself: title, authors, site, topics, licence, addresses.
//!
//! The same things are said in many places, and seldom alike: JSON-LD, OpenGraph, Dublin Core,
//! microdata, headings, bylines. Each file here knows the places of one subject and weighs what
//! they say against one another; none trusts a single place because it is usually right.

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

use crate::facts::{Facts, is_article};
use crate::tree::Tree;
use marks::Marks;
pub use rights::rights;
use text::tidy;

/// A page and everything gathered about it; what each subject reads from.
struct Page<'a> {
    tree: &'a Tree,
    facts: &'a Facts<'a>,
    marks: Marks<'a>,
    url: Option<&'a Url>,
    /// The JSON-LD that describes the article, where there is some.
    article: Option<&'a Value>,
}

/// Reads what the page says about itself; `modified` is left to the dates.
pub fn read(tree: &Tree, facts: &Facts<'_>, url: Option<&Url>) -> PageMetadata {
    let mut page = Page { tree, facts, marks: Marks::read(tree), url, article: None };
    page.article = main_article(&page);
    let site = site::read(&page);
    let (title, heading) = title::choose(&page, &site);
    page.marks.see_from(tree, heading);
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

/// Of several articles in JSON-LD, the one whose headline the page shows.
fn main_article<'a>(page: &Page<'a>) -> Option<&'a Value> {
    let mut articles = page.facts.things_of(is_article).take(20);
    let first = articles.next();
    let Some(second) = articles.next() else {
        return first.or_else(|| {
            let nested = page.facts.things.iter().filter_map(|thing| thing.get("mainEntity"));
            nested
                .into_iter()
                .find(|thing| crate::facts::types(thing).any(|kind| is_article(kind) || kind == "Question"))
        });
    };
    let shown: Vec<String> = title::declared(page).map(|title| text::fold(&title)).collect();
    let agrees = |article: &Value| headline(article).is_some_and(|headline| shown.contains(&text::fold(&headline)));
    first.into_iter().chain([second]).chain(articles).find(|article| agrees(article)).or(first)
}

/// The headline of an article in JSON-LD.
fn headline(article: &Value) -> Option<String> {
    ["headline", "name"].iter().find_map(|key| article.get(key)?.as_str()).map(tidy).filter(|title| !title.is_empty())
}

/// The strings of a JSON value: itself, its elements, or the values of `key` in its objects.
fn strings<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    let one = |value: &'v Value| value.as_str().or_else(|| value.get(key)?.as_str());
    match value {
        Value::Array(values) => values.iter().take(100).filter_map(one).collect(),
        value => one(value).into_iter().collect(),
    }
}
