//! Licence declared by the page.
//!
//! A corpus may be distributed only as far as its texts may, so a licence is stored with the place
//! that states it. More formal places take precedence. Creative Commons URLs are shortened to the
//! usual names.

use html5ever::local_name;
use tidings_model::Licence;

use super::marks::PageRegion;
use super::text::{label, tidy};
use super::{Page, strings};

/// The licence from the first place that states one.
pub fn read(page: &Page<'_>) -> Option<Licence> {
    from_linked_data(page)
        .or_else(|| from_links(page))
        .or_else(|| from_metas(page))
        .or_else(|| from_anchors(page))
        .or_else(|| from_text(page))
}

fn from_linked_data(page: &Page<'_>) -> Option<Licence> {
    let objects = page.article.into_iter().chain(page.declared.objects.iter().take(40).filter(|object| {
        crate::declared_metadata::types(object)
            .any(|kind| kind.ends_with("Page") || kind.ends_with("Work") || kind == "Dataset")
    }));
    let stated = objects.filter_map(|object| object.get("license").or_else(|| object.get("licence")));
    stated.flat_map(|value| strings(value, "url")).find_map(|stated| licence(stated, "", "json-ld"))
}

fn from_links(page: &Page<'_>) -> Option<Licence> {
    let links = page
        .declared
        .links
        .iter()
        .filter(|link| link.rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("license")));
    links
        .filter(|link| {
            page.marks.region(page.tree, link.node) != PageRegion::Foreign
                || page.tree.is(link.node, &local_name!("link"))
        })
        .find_map(|link| {
            let words = label(page.tree, link.node, 200).unwrap_or_default();
            licence(link.href, &words, "link")
        })
}

fn from_metas(page: &Page<'_>) -> Option<Licence> {
    ["dc.rights", "dcterms.rights", "dcterms.license", "dc.license", "license", "rights", "copyright"]
        .into_iter()
        .flat_map(|name| page.declared.meta(name).take(3))
        .find_map(|stated| licence(stated, "", "meta"))
}

/// A licence link without `rel` counts unless it belongs to an image or a comment.
fn from_anchors(page: &Page<'_>) -> Option<Licence> {
    let anchors = page.marks.licences.iter().filter(|(id, _)| page.marks.region(page.tree, *id) != PageRegion::Foreign);
    anchors.into_iter().find_map(|(_, href)| {
        creative_commons(href).map(|name| Licence { name, url: absolute(href), evidence: "anchor".to_owned() })
    })
}

/// A licence in plain text, such as "This text is licensed under CC BY 4.0". It must have a version, or say that it is
/// a licence: an article about licences names them too.
fn from_text(page: &Page<'_>) -> Option<Licence> {
    let texts = page.marks.licence_texts.iter().filter(|id| page.marks.region(page.tree, **id) != PageRegion::Foreign);
    texts.into_iter().find_map(|id| {
        let text = tidy(page.tree.as_text(*id)?);
        let name = spelled_out(&text)?;
        let lower = text.to_lowercase();
        let says_so =
            ["licen", "lizen", "licencia", "licenza", "licença", "лиценз"].iter().any(|word| lower.contains(word));
        let is_versioned = name.ends_with(|c: char| c.is_ascii_digit()) && name.contains('.');
        // A licence statement is a line, not a paragraph.
        (text.chars().count() <= MAX_STATEMENT_CHARS && (is_versioned || says_so)).then(|| Licence {
            name,
            url: String::new(),
            evidence: "text".to_owned(),
        })
    })
}

/// Maximum length of a licence statement.
const MAX_STATEMENT_CHARS: usize = 200;

fn licence(stated: &str, words: &str, evidence: &str) -> Option<Licence> {
    let stated = tidy(stated);
    let evidence = evidence.to_owned();
    if let Some(name) = creative_commons(&stated).or_else(|| spelled_out(&stated)) {
        let url = if stated.contains("://") && !stated.contains(' ') { stated } else { String::new() };
        return Some(Licence { name, url, evidence });
    }
    let is_address = stated.starts_with("http://") || stated.starts_with("https://");
    // A copyright line in a meta reserves rights and is not a licence.
    if !is_address || stated.len() > 300 {
        return None;
    }
    let words = tidy(words);
    let name = spelled_out(&words).unwrap_or(if words.is_empty() { stated.clone() } else { words });
    Some(Licence { name, url: stated, evidence })
}

fn absolute(href: &str) -> String {
    let href = href.trim();
    if href.starts_with("//") { format!("https:{href}") } else { href.to_owned() }
}

/// The short name of a creativecommons.org URL.
fn creative_commons(address: &str) -> Option<String> {
    let lower = address.get(..address.len().min(300)).unwrap_or(address).to_ascii_lowercase();
    let (_, path) = lower.split_once("creativecommons.org/")?;
    let mut steps = path.split(['/', '?', '#', ' ']);
    let (kind, rights, version) = (steps.next()?, steps.next()?, steps.next().unwrap_or_default());
    let version = if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        version
    } else {
        ""
    };
    let short = match (kind, rights) {
        ("publicdomain", "zero") => "CC0".to_owned(),
        ("publicdomain", "mark") => "PDM".to_owned(),
        ("licenses", "publicdomain") => return Some("PDM".to_owned()),
        ("licenses", rights) if is_rights(rights) => format!("CC-{}", rights.to_ascii_uppercase()),
        _ => return None,
    };
    Some(if version.is_empty() { short } else { format!("{short}-{version}") })
}

/// Returns whether it is a licence code such as "by" or "by-nc-sa".
fn is_rights(rights: &str) -> bool {
    rights.starts_with("by") && rights.split('-').all(|right| matches!(right, "by" | "nc" | "nd" | "sa"))
}

/// Parses a Creative Commons licence in text: "CC BY-SA 4.0".
fn spelled_out(words: &str) -> Option<String> {
    let lower = words.get(..words.len().min(200)).unwrap_or_default().to_ascii_lowercase();
    let at = lower.find("cc by").or_else(|| lower.find("cc-by")).or_else(|| lower.find("cc0"))?;
    let mut pieces =
        lower[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|piece| !piece.is_empty());
    let first = pieces.next()?;
    let mut name = first.to_ascii_uppercase();
    for piece in pieces.take(6) {
        let version = piece.trim_end_matches('.');
        if matches!(piece, "by" | "nc" | "nd" | "sa") {
            name.push('-');
            name.push_str(&piece.to_ascii_uppercase());
        } else if version.contains('.') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            name.push('-');
            name.push_str(version);
            break;
        } else {
            break;
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;

    fn stated(html: &str) -> Option<(String, String)> {
        let tree = crate::tree::parse(html);
        metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), None)
            .licence
            .map(|licence| (licence.name, licence.evidence))
    }

    #[test]
    fn creative_commons_urls_become_short_names() {
        assert_eq!(creative_commons("https://creativecommons.org/licenses/by-sa/4.0/deed.de").unwrap(), "CC-BY-SA-4.0");
        assert_eq!(creative_commons("//CreativeCommons.org/publicdomain/zero/1.0/").unwrap(), "CC0-1.0");
        assert_eq!(creative_commons("https://creativecommons.org/about"), None);
        assert_eq!(spelled_out("Lizenz: CC BY-NC 3.0 DE").unwrap(), "CC-BY-NC-3.0");
    }

    #[test]
    fn the_evidence_of_a_licence_is_recorded() {
        let html = r#"<script type="application/ld+json">{"@type":"Article","license":"https://creativecommons.org/licenses/by/4.0/"}</script>"#;
        assert_eq!(stated(html).unwrap(), ("CC-BY-4.0".into(), "json-ld".into()));
        assert_eq!(stated("<a rel=license href=https://creativecommons.org/licenses/by/2.0/>x</a>").unwrap().1, "link");
        assert_eq!(stated("<meta name=dc.rights content='CC BY 4.0'>").unwrap(), ("CC-BY-4.0".into(), "meta".into()));
        assert_eq!(stated("<a href=https://creativecommons.org/licenses/by/2.0/>x</a>").unwrap().1, "anchor");
        assert_eq!(
            stated("<h1>Rain</h1><p>It rained.</p><p>Text: CC BY-SA 4.0</p>").unwrap(),
            ("CC-BY-SA-4.0".into(), "text".into())
        );
        assert_eq!(stated("<p>Lizenz: CC BY</p>").unwrap().0, "CC-BY");
        assert_eq!(stated("<p>Some choose CC BY and others nothing.</p>"), None);
    }

    #[test]
    fn image_licences_and_reserved_rights_are_ignored() {
        assert_eq!(
            stated(
                "<figure><figcaption><a href=https://creativecommons.org/licenses/by/2.0/>x</a></figcaption></figure>"
            ),
            None
        );
        assert_eq!(stated("<meta name=copyright content='(c) The Gazette, all rights reserved'>"), None);
    }
}
