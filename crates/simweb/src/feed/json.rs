//! JSON Feed 1.1. It has no base for relative links, so sites with relative links use absolute ones here.

use serde_json::{Value, json};

use super::Listing;
use crate::markup::iso_date;
use crate::profile::{FeedFormat, LinkStyle};

pub fn write(listing: &Listing<'_>) -> String {
    let (world, site) = (listing.world, listing.site);
    let items: Vec<Value> = listing.articles.iter().map(|article| item(listing, article)).collect();
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": world.site_name(site),
        "home_page_url": world.url(site, "/"),
        "feed_url": world.url(site, FeedFormat::Json.path()),
        "language": listing.profile.language,
        "items": items,
    });
    format!("{feed:#}\n")
}

fn item(listing: &Listing<'_>, article: &crate::Article) -> Value {
    let joint = if article.url.contains('?') { '&' } else { '?' };
    let url = match listing.profile.links {
        LinkStyle::Tracking => format!("{}{joint}utm_source=rss&utm_medium=feed", article.url),
        LinkStyle::Fragment => format!("{}#main", article.url),
        LinkStyle::Plain | LinkStyle::Relative => article.url.clone(),
    };
    let mut item = json!({
        "id": article.url,
        "url": url,
        "title": article.title,
        "summary": article.lead(),
        "date_published": iso_date(article.date, listing.profile.east),
        "date_modified": iso_date(listing.updated(article), listing.profile.east),
        "authors": [{ "name": article.author }],
        "tags": article.topics,
    });
    if listing.profile.full_content {
        item["content_html"] = article.body_html().into();
    } else {
        item["content_text"] = article.lead().into();
    }
    item
}
