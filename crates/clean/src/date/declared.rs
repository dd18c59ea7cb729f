//! Declared dates: JSON-LD and `<meta>`.

use serde_json::Value;

use super::locale::DateLocale;
use super::parse::machine_date;
use super::{Candidate, DatePosition, DateRole, DateSource};
use crate::declared_metadata::{DeclaredMetadata, is_article, types};

/// Maximum number of values read per page.
const MAX_DECLARED: usize = 40;

/// Names of `<meta>` elements with their source class and event.
const METAS: [(&str, DateSource, DateRole); 74] = [
    ("article:published_time", DateSource::Meta, DateRole::Published),
    ("article:published", DateSource::Meta, DateRole::Published),
    ("article:publicationdate", DateSource::Meta, DateRole::Published),
    ("og:article:published_time", DateSource::Meta, DateRole::Published),
    ("og:published_time", DateSource::Meta, DateRole::Published),
    ("og:pubdate", DateSource::Meta, DateRole::Published),
    ("og:publish_date", DateSource::Meta, DateRole::Published),
    ("og:release_date", DateSource::Meta, DateRole::Published),
    ("rnews:datepublished", DateSource::Meta, DateRole::Published),
    ("datepublished", DateSource::Microdata, DateRole::Published),
    ("date_published", DateSource::Meta, DateRole::Published),
    ("parsely-pub-date", DateSource::Meta, DateRole::Published),
    ("sailthru.date", DateSource::Meta, DateRole::Published),
    ("cxenseparse:recs:publishtime", DateSource::Meta, DateRole::Published),
    ("cxenseparse:publishtime", DateSource::Meta, DateRole::Published),
    ("citation_publication_date", DateSource::Meta, DateRole::Published),
    ("citation_online_date", DateSource::Meta, DateRole::Published),
    ("citation_date", DateSource::Meta, DateRole::Published),
    ("pubdate", DateSource::Meta, DateRole::Published),
    ("publishdate", DateSource::Meta, DateRole::Published),
    ("publish_date", DateSource::Meta, DateRole::Published),
    ("publish-date", DateSource::Meta, DateRole::Published),
    ("published_date", DateSource::Meta, DateRole::Published),
    ("published-date", DateSource::Meta, DateRole::Published),
    ("publisheddate", DateSource::Meta, DateRole::Published),
    ("published", DateSource::Meta, DateRole::Published),
    ("published_time", DateSource::Meta, DateRole::Published),
    ("publication_date", DateSource::Meta, DateRole::Published),
    ("publication-date", DateSource::Meta, DateRole::Published),
    ("publicationdate", DateSource::Meta, DateRole::Published),
    ("article_date_original", DateSource::Meta, DateRole::Published),
    ("article.published", DateSource::Meta, DateRole::Published),
    ("article:post_date", DateSource::Meta, DateRole::Published),
    ("article:publish_date", DateSource::Meta, DateRole::Published),
    ("bt:pubdate", DateSource::Meta, DateRole::Published),
    ("gentime", DateSource::Meta, DateRole::Published),
    ("ptime", DateSource::Meta, DateRole::Published),
    ("shareaholic:article_published_time", DateSource::Meta, DateRole::Published),
    ("vr:published_time", DateSource::Meta, DateRole::Published),
    ("weibo:article:create_at", DateSource::Meta, DateRole::Published),
    ("originalpublicationdate", DateSource::Meta, DateRole::Published),
    ("video:release_date", DateSource::Meta, DateRole::Published),
    ("dc.date.issued", DateSource::Meta, DateRole::Published),
    ("dcterms.issued", DateSource::Meta, DateRole::Published),
    ("dcterms.created", DateSource::MetaPlain, DateRole::Published),
    ("dc.date.created", DateSource::MetaPlain, DateRole::Published),
    ("dc.created", DateSource::MetaPlain, DateRole::Published),
    ("dc.date.publication", DateSource::Meta, DateRole::Published),
    ("dc:created", DateSource::MetaPlain, DateRole::Published),
    ("dc.date", DateSource::MetaPlain, DateRole::Unclear),
    ("dcterms.date", DateSource::MetaPlain, DateRole::Unclear),
    ("dc:date", DateSource::MetaPlain, DateRole::Unclear),
    ("dcsext.articlefirstpublished", DateSource::Meta, DateRole::Published),
    ("date", DateSource::MetaPlain, DateRole::Unclear),
    ("article:date", DateSource::MetaPlain, DateRole::Unclear),
    ("article_date", DateSource::MetaPlain, DateRole::Unclear),
    ("article-date", DateSource::MetaPlain, DateRole::Unclear),
    ("created", DateSource::MetaPlain, DateRole::Published),
    ("creation_date", DateSource::MetaPlain, DateRole::Published),
    ("datecreated", DateSource::MetaPlain, DateRole::Published),
    ("article:created_time", DateSource::MetaPlain, DateRole::Published),
    ("timestamp", DateSource::MetaPlain, DateRole::Unclear),
    ("uploaddate", DateSource::MetaPlain, DateRole::Published),
    ("article:modified_time", DateSource::Meta, DateRole::Modified),
    ("article:modified", DateSource::Meta, DateRole::Modified),
    ("og:updated_time", DateSource::Meta, DateRole::Modified),
    ("datemodified", DateSource::Microdata, DateRole::Modified),
    ("lastmod", DateSource::Meta, DateRole::Modified),
    ("last-modified", DateSource::Meta, DateRole::Modified),
    ("modified", DateSource::Meta, DateRole::Modified),
    ("dc.date.modified", DateSource::Meta, DateRole::Modified),
    ("dcterms.modified", DateSource::Meta, DateRole::Modified),
    ("revised", DateSource::Meta, DateRole::Modified),
    ("utime", DateSource::Meta, DateRole::Modified),
];

/// Collects dates from `<meta>`.
pub(super) fn metas(declared: &DeclaredMetadata<'_>, locale: DateLocale, candidates: &mut Vec<Candidate>) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, content) in declared.metas.iter().take(400) {
        if candidates.len() >= MAX_DECLARED {
            return;
        }
        let Some((name, source, role)) = METAS.iter().find(|(known, ..)| known == name) else { continue };
        // Further values of one name belong to other articles.
        if seen.contains(name) {
            continue;
        }
        if let Some(stamp) = machine_date(content, locale) {
            seen.push(name);
            candidates.push(Candidate::of(stamp, *source, *role, DatePosition::Head));
            // Some software writes month-first dates in any locale.
            candidates
                .extend(stamp.other.map(|day| Candidate::on(day, DateSource::Swapped, *role, DatePosition::Head)));
        }
    }
}

const FIELDS: [(&str, DateRole); 6] = [
    ("datePublished", DateRole::Published),
    ("dateCreated", DateRole::Unclear),
    ("datePosted", DateRole::Published),
    ("uploadDate", DateRole::Unclear),
    ("dateModified", DateRole::Modified),
    ("dateUpdated", DateRole::Modified),
];

/// Collects dates from JSON-LD, from the article of this page and not from recommended ones.
pub(super) fn linked_data(
    declared: &DeclaredMetadata<'_>,
    url: Option<&str>,
    locale: DateLocale,
    candidates: &mut Vec<Candidate>,
) {
    let mut articles: Vec<&Value> = Vec::new();
    let mut pages: Vec<&Value> = Vec::new();
    let mut others: Vec<&Value> = Vec::new();
    for object in &declared.objects {
        sort(object, &mut articles, &mut pages, &mut others);
        for key in ["mainEntity", "mainEntityOfPage", "hasPart"] {
            match object.get(key) {
                Some(Value::Array(list)) => {
                    list.iter().take(3).for_each(|part| sort(part, &mut articles, &mut pages, &mut others));
                }
                Some(part @ Value::Object(_)) => sort(part, &mut articles, &mut pages, &mut others),
                _ => {}
            }
        }
    }
    // Of several articles, the one with this URL, or else the first.
    if let Some(own) = articles.iter().position(|article| url.is_some_and(|url| is_about(article, url))) {
        articles.swap(0, own);
    }
    let several = articles.len() > 3;
    for (list, source) in
        [(articles, DateSource::LdArticle), (pages, DateSource::LdPage), (others, DateSource::LdOther)]
    {
        let Some(object) = list.first() else { continue };
        let source = if several && source == DateSource::LdArticle { DateSource::LdOther } else { source };
        for (field, role) in FIELDS {
            let value = match object.get(field) {
                Some(Value::Array(values)) => values.first(),
                value => value,
            };
            if let Some(stamp) = value.and_then(Value::as_str).and_then(|text| machine_date(text, locale)) {
                candidates.push(Candidate::of(stamp, source, role, DatePosition::Head));
            }
        }
    }
}

fn sort<'v>(object: &'v Value, articles: &mut Vec<&'v Value>, pages: &mut Vec<&'v Value>, others: &mut Vec<&'v Value>) {
    if !FIELDS.iter().any(|(field, _)| object.get(field).is_some()) || articles.len() + pages.len() + others.len() > 60
    {
        return;
    }
    if types(object).any(|kind| matches!(kind, "Comment" | "Event" | "Person" | "Organization" | "WebSite")) {
        return;
    }
    let list = if types(object).any(|kind| is_article(kind) || matches!(kind, "Question" | "LiveBlog")) {
        articles
    } else if types(object).any(|kind| kind.ends_with("Page")) {
        pages
    } else {
        others
    };
    list.push(object);
}

/// Returns whether an object declares that URL as its own.
fn is_about(object: &Value, url: &str) -> bool {
    let bare = |address: &str| -> String {
        let address = address.split(['?', '#']).next().unwrap_or_default();
        let address = address.split_once("://").map_or(address, |(_, rest)| rest);
        address.trim_end_matches('/').trim_start_matches("www.").to_string()
    };
    let own = bare(url);
    let page = object.get("mainEntityOfPage");
    let named = [object.get("url"), object.get("@id"), page, page.and_then(|page| page.get("@id"))];
    named.into_iter().flatten().filter_map(Value::as_str).any(|address| bare(address) == own)
}
