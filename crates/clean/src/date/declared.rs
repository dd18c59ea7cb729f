//! Dates a page declares for machines: JSON-LD and `<meta>`.

use serde_json::Value;

use super::written::{Habit, stamp};
use super::{Candidate, Place, Role, Source};
use crate::facts::{Facts, is_article, types};

/// Values read of one page.
const MOST_DECLARED: usize = 40;

/// Names of `<meta>`, what they speak of, and how sure that is.
const METAS: [(&str, Source, Role); 74] = [
    ("article:published_time", Source::Meta, Role::Published),
    ("article:published", Source::Meta, Role::Published),
    ("article:publicationdate", Source::Meta, Role::Published),
    ("og:article:published_time", Source::Meta, Role::Published),
    ("og:published_time", Source::Meta, Role::Published),
    ("og:pubdate", Source::Meta, Role::Published),
    ("og:publish_date", Source::Meta, Role::Published),
    ("og:release_date", Source::Meta, Role::Published),
    ("rnews:datepublished", Source::Meta, Role::Published),
    ("datepublished", Source::Microdata, Role::Published),
    ("date_published", Source::Meta, Role::Published),
    ("parsely-pub-date", Source::Meta, Role::Published),
    ("sailthru.date", Source::Meta, Role::Published),
    ("cxenseparse:recs:publishtime", Source::Meta, Role::Published),
    ("cxenseparse:publishtime", Source::Meta, Role::Published),
    ("citation_publication_date", Source::Meta, Role::Published),
    ("citation_online_date", Source::Meta, Role::Published),
    ("citation_date", Source::Meta, Role::Published),
    ("pubdate", Source::Meta, Role::Published),
    ("publishdate", Source::Meta, Role::Published),
    ("publish_date", Source::Meta, Role::Published),
    ("publish-date", Source::Meta, Role::Published),
    ("published_date", Source::Meta, Role::Published),
    ("published-date", Source::Meta, Role::Published),
    ("publisheddate", Source::Meta, Role::Published),
    ("published", Source::Meta, Role::Published),
    ("published_time", Source::Meta, Role::Published),
    ("publication_date", Source::Meta, Role::Published),
    ("publication-date", Source::Meta, Role::Published),
    ("publicationdate", Source::Meta, Role::Published),
    ("article_date_original", Source::Meta, Role::Published),
    ("article.published", Source::Meta, Role::Published),
    ("article:post_date", Source::Meta, Role::Published),
    ("article:publish_date", Source::Meta, Role::Published),
    ("bt:pubdate", Source::Meta, Role::Published),
    ("gentime", Source::Meta, Role::Published),
    ("ptime", Source::Meta, Role::Published),
    ("shareaholic:article_published_time", Source::Meta, Role::Published),
    ("vr:published_time", Source::Meta, Role::Published),
    ("weibo:article:create_at", Source::Meta, Role::Published),
    ("originalpublicationdate", Source::Meta, Role::Published),
    ("video:release_date", Source::Meta, Role::Published),
    ("dc.date.issued", Source::Meta, Role::Published),
    ("dcterms.issued", Source::Meta, Role::Published),
    ("dcterms.created", Source::MetaPlain, Role::Published),
    ("dc.date.created", Source::MetaPlain, Role::Published),
    ("dc.created", Source::MetaPlain, Role::Published),
    ("dc.date.publication", Source::Meta, Role::Published),
    ("dc:created", Source::MetaPlain, Role::Published),
    ("dc.date", Source::MetaPlain, Role::Unclear),
    ("dcterms.date", Source::MetaPlain, Role::Unclear),
    ("dc:date", Source::MetaPlain, Role::Unclear),
    ("dcsext.articlefirstpublished", Source::Meta, Role::Published),
    ("date", Source::MetaPlain, Role::Unclear),
    ("article:date", Source::MetaPlain, Role::Unclear),
    ("article_date", Source::MetaPlain, Role::Unclear),
    ("article-date", Source::MetaPlain, Role::Unclear),
    ("created", Source::MetaPlain, Role::Published),
    ("creation_date", Source::MetaPlain, Role::Published),
    ("datecreated", Source::MetaPlain, Role::Published),
    ("article:created_time", Source::MetaPlain, Role::Published),
    ("timestamp", Source::MetaPlain, Role::Unclear),
    ("uploaddate", Source::MetaPlain, Role::Published),
    ("article:modified_time", Source::Meta, Role::Modified),
    ("article:modified", Source::Meta, Role::Modified),
    ("og:updated_time", Source::Meta, Role::Modified),
    ("datemodified", Source::Microdata, Role::Modified),
    ("lastmod", Source::Meta, Role::Modified),
    ("last-modified", Source::Meta, Role::Modified),
    ("modified", Source::Meta, Role::Modified),
    ("dc.date.modified", Source::Meta, Role::Modified),
    ("dcterms.modified", Source::Meta, Role::Modified),
    ("revised", Source::Meta, Role::Modified),
    ("utime", Source::Meta, Role::Modified),
];

/// Reads `<meta>`.
pub(super) fn metas(facts: &Facts<'_>, habit: Habit, candidates: &mut Vec<Candidate>) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, content) in facts.metas.iter().take(400) {
        if candidates.len() >= MOST_DECLARED {
            return;
        }
        let Some((name, source, role)) = METAS.iter().find(|(known, ..)| known == name) else { continue };
        // Further values of one name belong to other articles.
        if seen.contains(name) {
            continue;
        }
        if let Some(stamp) = stamp(content, habit) {
            seen.push(name);
            candidates.push(Candidate::of(stamp, *source, *role, Place::Head));
            // Programs write the American order in other countries, too.
            candidates.extend(stamp.other.map(|day| Candidate::on(day, Source::Swapped, *role, Place::Head)));
        }
    }
}

const FIELDS: [(&str, Role); 6] = [
    ("datePublished", Role::Published),
    ("dateCreated", Role::Unclear),
    ("datePosted", Role::Published),
    ("uploadDate", Role::Unclear),
    ("dateModified", Role::Modified),
    ("dateUpdated", Role::Modified),
];

/// Reads JSON-LD: the article of this page, not those it recommends.
pub(super) fn linked_data(facts: &Facts<'_>, url: Option<&str>, habit: Habit, candidates: &mut Vec<Candidate>) {
    let mut articles: Vec<&Value> = Vec::new();
    let mut pages: Vec<&Value> = Vec::new();
    let mut others: Vec<&Value> = Vec::new();
    for thing in &facts.things {
        sort(thing, &mut articles, &mut pages, &mut others);
        for key in ["mainEntity", "mainEntityOfPage", "hasPart"] {
            match thing.get(key) {
                Some(Value::Array(list)) => {
                    list.iter().take(3).for_each(|part| sort(part, &mut articles, &mut pages, &mut others));
                }
                Some(part @ Value::Object(_)) => sort(part, &mut articles, &mut pages, &mut others),
                _ => {}
            }
        }
    }
    // Several articles: the one at this address, or the first.
    if let Some(own) = articles.iter().position(|article| url.is_some_and(|url| speaks_of(article, url))) {
        articles.swap(0, own);
    }
    let several = articles.len() > 3;
    for (list, source) in [(articles, Source::LdArticle), (pages, Source::LdPage), (others, Source::LdOther)] {
        let Some(thing) = list.first() else { continue };
        let source = if several && source == Source::LdArticle { Source::LdOther } else { source };
        for (field, role) in FIELDS {
            let value = match thing.get(field) {
                Some(Value::Array(values)) => values.first(),
                value => value,
            };
            if let Some(stamp) = value.and_then(Value::as_str).and_then(|text| stamp(text, habit)) {
                candidates.push(Candidate::of(stamp, source, role, Place::Head));
            }
        }
    }
}

fn sort<'v>(thing: &'v Value, articles: &mut Vec<&'v Value>, pages: &mut Vec<&'v Value>, others: &mut Vec<&'v Value>) {
    if !FIELDS.iter().any(|(field, _)| thing.get(field).is_some()) || articles.len() + pages.len() + others.len() > 60 {
        return;
    }
    if types(thing).any(|kind| matches!(kind, "Comment" | "Event" | "Person" | "Organization" | "WebSite")) {
        return;
    }
    let list = if types(thing).any(|kind| is_article(kind) || matches!(kind, "Question" | "LiveBlog")) {
        articles
    } else if types(thing).any(|kind| kind.ends_with("Page")) {
        pages
    } else {
        others
    };
    list.push(thing);
}

/// Whether an object names that address as its own.
fn speaks_of(thing: &Value, url: &str) -> bool {
    let bare = |address: &str| -> String {
        let address = address.split(['?', '#']).next().unwrap_or_default();
        let address = address.split_once("://").map_or(address, |(_, rest)| rest);
        address.trim_end_matches('/').trim_start_matches("www.").to_string()
    };
    let own = bare(url);
    let page = thing.get("mainEntityOfPage");
    let named = [thing.get("url"), thing.get("@id"), page, page.and_then(|page| page.get("@id"))];
    named.into_iter().flatten().filter_map(Value::as_str).any(|address| bare(address) == own)
}
