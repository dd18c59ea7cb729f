//! Authors, from declarations and bylines.
//!
//! Every place that names authors makes a weighted claim; claims of the same names add up. Claims
//! below a threshold are dropped: many pages have no author, and the name of the site, of a
//! photographer or of a commenter is not one.

use html5ever::local_name;
use memchr::memmem;
use serde_json::Value;

use super::Page;
use super::marks::{self, AuthorMark, PageRegion};
use super::names::{self, NameContext, is_organisation, people};
use super::site::Site;
use super::text::{fold, label, spaced_label, tidy};
use crate::article::declared_text::DeclaredBody;
use crate::article::script_state;
use crate::declared_metadata::types;
use crate::extract::MAX_DRAWN_WORDS;
use crate::tree::{NodeId, Tree, is_inline, push_collapsed};

/// `<meta>` elements with author names, and their weights.
const METAS: &[(&str, f32)] = &[
    ("citation_author", 1.6),
    ("parsely-author", 1.0),
    ("sailthru.author", 1.0),
    ("sailthru.byline_name", 1.0),
    ("cxenseparse:author", 1.0),
    ("article:author_name", 1.0),
    ("byl", 1.0),
    ("byline", 1.0),
    ("author", 0.8),
    ("article:author", 0.7),
    ("og:article:author", 0.7),
    ("article_author", 0.7),
    ("mediator_author", 0.8),
    ("vr:author", 0.8),
    ("dc.creator", 0.7),
    ("dcterms.creator", 0.7),
    ("dc.creator.name", 0.7),
    ("creator", 0.5),
    ("twitter:author", 0.5),
    ("shareaholic:article_author_name", 0.8),
];

/// Minimum weight of an accepted claim.
const MIN_WEIGHT: f32 = 0.5;

/// Minimum weight of a claim that confirms a name of a longer list.
const MIN_CONFIRMING_WEIGHT: f32 = 0.6;

/// Where names are claimed to be those of the authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// On the page.
    Displayed,
    /// In a `<meta>`.
    Meta,
    /// In JSON-LD, labels of link previews, and elements and attributes that are not displayed.
    Structured,
}

impl Evidence {
    /// The share of the weight that remains if the page does not display the names. Blog software fills structured data
    /// with the account of the user who uploaded the page; `<meta>` is more often written by editors.
    fn undisplayed_share(self) -> f32 {
        match self {
            Evidence::Displayed => 1.0,
            Evidence::Meta => 0.6,
            Evidence::Structured => 0.1,
        }
    }
}

struct AuthorClaim {
    names: Vec<String>,
    folded: Vec<String>,
    weight: f32,
    /// What the weight is if the page does not display the names.
    undisplayed_weight: f32,
    /// Whether the names are displayed as those of the author.
    seen: bool,
    /// Whether the names are of the site or of organisations, which many pages declare as author next to a byline.
    is_site: bool,
}

impl AuthorClaim {
    /// Whether all names have a given and a family name.
    fn is_full(&self) -> bool {
        self.names.iter().all(|name| name.contains(' '))
    }
}

/// Distinct claims with their weights.
struct Claims<'a> {
    list: Vec<AuthorClaim>,
    site: &'a Site,
    folded_title: String,
}

impl Claims<'_> {
    fn add(&mut self, mut names: Vec<String>, weight: f32, evidence: Evidence) {
        let seen = evidence == Evidence::Displayed;
        names.retain(|name| fold(name) != self.folded_title);
        // An institution's name is often followed by its address.
        if names.first().is_some_and(|first| is_organisation(first) || self.site.is(first)) {
            names.truncate(1);
        }
        if names.is_empty() {
            return;
        }
        let mut folded: Vec<String> = names.iter().map(|name| fold(name)).collect();
        folded.sort();
        // Bloggers name their sites after themselves, so a displayed byline counts in full.
        let organisations =
            names.iter().filter(|name| is_organisation(name) || (!seen && self.site.resembles(name))).count();
        let is_site = names.iter().all(|name| is_organisation(name) || self.site.resembles(name) || self.site.is(name));
        let weight = if organisations == names.len() { weight * 0.5 } else { weight };
        let undisplayed_weight = weight * evidence.undisplayed_share();
        match self.list.iter_mut().find(|claim| claim.folded == folded) {
            Some(known) => {
                known.weight += weight;
                known.undisplayed_weight += undisplayed_weight;
                known.seen |= seen;
            }
            None => self.list.push(AuthorClaim { names, folded, weight, undisplayed_weight, seen, is_site }),
        }
    }
}

/// The authors of the page; empty if unknown.
pub fn choose(page: &Page<'_>, site: &Site, title: &str, heading: Option<NodeId>) -> Vec<String> {
    let mut claims = Claims { list: Vec::new(), site, folded_title: fold(title) };
    add_declared(page, &mut claims);
    for MarkedNames { names, weight, shown } in from_marks(page, heading) {
        claims.add(names, weight, if shown { Evidence::Displayed } else { Evidence::Structured });
    }
    if let Some((names, weight)) = from_bylines(page, heading) {
        claims.add(names, weight, Evidence::Displayed);
    }
    let mut claims = claims.list;
    discount_undisplayed(page, &mut claims);
    // Overlapping claims support each other.
    let support: Vec<f32> = claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            let others = claims.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, other)| if overlaps(claim, other) { other.weight * 0.4 } else { 0.0 }).sum::<f32>()
        })
        .collect();
    let mut best: Option<(f32, &AuthorClaim)> = None;
    let mut best_person: Option<(f32, &AuthorClaim)> = None;
    for (claim, support) in claims.iter().zip(support) {
        let weight = claim.weight + support;
        if weight >= MIN_WEIGHT && best.is_none_or(|(heaviest, _)| weight > heaviest) {
            best = Some((weight, claim));
        }
        let is_person = claim.seen && !claim.is_site && claim.is_full() && weight >= MIN_WEIGHT;
        if is_person && best_person.is_none_or(|(heaviest, _)| weight > heaviest) {
            best_person = Some((weight, claim));
        }
    }
    if best.is_some_and(|(_, claim)| claim.is_site) {
        best = best_person.or(best);
    }
    best.map(|(_, claim)| completed(claim, &claims).names.clone()).unwrap_or_default()
}

/// The claim of the same names and more, if each of the others is claimed elsewhere, too: one field often has the first
/// author only, and of the marked names each is a claim of its own.
fn completed<'c>(best: &'c AuthorClaim, claims: &'c [AuthorClaim]) -> &'c AuthorClaim {
    let has_all = |claim: &AuthorClaim| best.folded.iter().all(|name| claim.folded.contains(name));
    let confirmed = |name: &String, by: &AuthorClaim| {
        claims.iter().any(|claim| {
            !std::ptr::eq(claim, by) && claim.weight >= MIN_CONFIRMING_WEIGHT && claim.folded.contains(name)
        })
    };
    let longer = claims
        .iter()
        .filter(|claim| claim.names.len() > best.names.len() && claim.weight >= MIN_WEIGHT && has_all(claim));
    let complete =
        longer.filter(|claim| claim.folded.iter().all(|name| best.folded.contains(name) || confirmed(name, claim)));
    complete.max_by(|one, other| one.weight.total_cmp(&other.weight)).unwrap_or(best)
}

/// Adds the claims of JSON-LD and metas.
fn add_declared(page: &Page<'_>, claims: &mut Claims<'_>) {
    if let Some(authors) = page.article.and_then(|article| article.get("author").or_else(|| article.get("creator"))) {
        let (names, weight) = from_linked_data(page, authors);
        claims.add(names, weight, Evidence::Structured);
    }
    for (name, weight) in METAS {
        let mut names: Vec<String> = Vec::new();
        // Many values of one field are authors of other works, unless the field is defined for
        // lists.
        let listed = *name == "citation_author" || *name == "dc.creator";
        if !listed && page.declared.meta(name).nth(8).is_some() {
            continue;
        }
        for content in page.declared.meta(name).take(60) {
            let content = tidy(content);
            if listed {
                names.extend(family_name_first(&content));
            } else {
                names.extend(people(&content, NameContext::NameField));
            }
        }
        names.dedup();
        claims.add(names, *weight, Evidence::Meta);
    }
    for (label, data) in [("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2")] {
        let says_by = page.declared.meta(label).any(|label| names::says_by(label.trim()));
        if let Some(content) = page.declared.meta(data).next().filter(|_| says_by) {
            claims.add(people(&tidy(content), NameContext::NameField), 0.8, Evidence::Structured);
        }
    }
}

fn overlaps(one: &AuthorClaim, other: &AuthorClaim) -> bool {
    one.folded.iter().any(|name| {
        other.folded.iter().any(|known| {
            known == name
                || (known.len() > 4
                    && name.len() > 4
                    && (known.contains(name.as_str()) || name.contains(known.as_str())))
        })
    })
}

/// Whether a page that displays so many words has its article in data that scripts draw.
fn is_drawn_by_scripts(page: &Page<'_>, words: usize) -> bool {
    words <= MAX_DRAWN_WORDS
        && (DeclaredBody::read(page.declared).is_some_and(|body| body.replaces(words))
            || script_state::article(page.tree).is_some())
}

/// Reduces the weight of claims whose names the page does not display, unless scripts draw the page: such a page displays
/// nothing yet.
fn discount_undisplayed(page: &Page<'_>, claims: &mut [AuthorClaim]) {
    let mut sought: Vec<(usize, memmem::Finder<'_>)> = Vec::new();
    let unseen: Vec<usize> = (0..claims.len()).filter(|at| !claims[*at].seen).collect();
    for at in &unseen {
        // The first word: a family name alone is often of another person, and in many languages it comes first.
        let name = &claims[*at].names[0];
        let first = name.split(' ').find(|word| !word.ends_with('.')).unwrap_or(name);
        // Names are sometimes set in capitals, here or there.
        let initial = first.chars().next().map_or(0, char::len_utf8);
        let capitalised = format!("{}{}", &first[..initial], first[initial..].to_lowercase());
        for form in [first.to_uppercase(), capitalised, first.to_owned()] {
            sought.push((*at, memmem::Finder::new(&form).into_owned()));
        }
    }
    let tree = page.tree;
    let (mut words, mut counted) = (0, None);
    let mut at = Some(tree.body()).filter(|_| !sought.is_empty());
    while let Some(id) = at {
        let mut skip = false;
        if let Some(text) = tree.as_text(id) {
            if words <= MAX_DRAWN_WORDS && counted.replace(id) != Some(id) {
                words += text.split_whitespace().count();
            }
            let found = sought.iter().find(|(_, name)| name.find(text.as_bytes()).is_some()).map(|(claim, _)| *claim);
            if let Some(found) = found {
                sought.retain(|(claim, _)| *claim != found);
                if sought.is_empty() {
                    break;
                }
                continue; // the same text may contain names of another claim
            }
        } else if let Some(name) = tree.name(id) {
            skip = matches!(*name, local_name!("script") | local_name!("style") | local_name!("template"))
                || marks::hides(tree, id);
        }
        at = tree.following(id, tree.root(), skip);
    }
    if !sought.is_empty() && is_drawn_by_scripts(page, words) {
        return;
    }
    for claim in unseen.into_iter().filter(|claim| sought.iter().any(|(unseen, _)| unseen == claim)) {
        claims[claim].weight = claims[claim].undisplayed_weight;
    }
}

/// Parses "Lee, Ann", the order of library catalogues.
fn family_name_first(content: &str) -> Vec<String> {
    let mut halves = content.split(',');
    match (halves.next(), halves.next(), halves.next()) {
        (Some(family), Some(given), None)
            if family.split_whitespace().count() <= 3 && given.split_whitespace().count() <= 3 =>
        {
            people(&format!("{} {}", given.trim(), family.trim()), NameContext::NameField)
        }
        _ => people(content, NameContext::NameField),
    }
}

/// The names in the `author` of JSON-LD, with their weight.
fn from_linked_data(page: &Page<'_>, authors: &Value) -> (Vec<String>, f32) {
    let listed = match authors {
        Value::Array(listed) => listed.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (mut persons, mut organisations): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for author in listed.iter().take(30) {
        let author = resolve(page, author);
        let name = match author {
            Value::String(name) => Some(name.as_str()),
            Value::Object(_) => author.get("name").and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str())),
            _ => None,
        };
        let Some(name) = name else { continue };
        let names = people(&tidy(name), NameContext::NameField);
        let is_organisation = types(author).any(|kind| kind.ends_with("Organization"));
        if is_organisation { organisations.extend(names) } else { persons.extend(names) }
    }
    if persons.is_empty() { (organisations, 0.8) } else { (persons, 1.5) }
}

/// Resolves `{"@id": …}` to the object with that id.
fn resolve<'v>(page: &Page<'v>, value: &'v Value) -> &'v Value {
    let bare = value.as_object().is_some_and(|object| !object.contains_key("name"));
    let id = value.get("@id").and_then(Value::as_str).filter(|_| bare);
    let Some(id) = id else { return value };
    let found = page
        .declared
        .objects
        .iter()
        .find(|object| object.get("@id").and_then(Value::as_str) == Some(id) && object.get("name").is_some());
    found.unwrap_or(value)
}

/// Names in one or several elements marked as authors.
struct MarkedNames {
    names: Vec<String>,
    weight: f32,
    /// Whether the page displays them, rather than having them in attributes or hidden elements.
    shown: bool,
}

/// Names in elements marked as authors.
fn from_marks(page: &Page<'_>, heading: Option<NodeId>) -> Vec<MarkedNames> {
    let tree = page.tree;
    let mut around = None;
    let mut seen = Vec::new();
    for (at, (id, sign)) in page.marks.authors.iter().enumerate() {
        // A container around marked names repeats them.
        let inner = page.marks.authors[at + 1..]
            .iter()
            .take(8)
            .any(|(below, _)| tree.ancestors(*below).take(12).any(|above| above == *id));
        if inner && *sign != AuthorMark::Property {
            around = Some((*id, *sign));
            continue;
        }
        let boxed = around.filter(|(outer, _)| tree.ancestors(*id).take(12).any(|above| above == *outer));
        let sign = &boxed.map_or(*sign, |(_, outer)| outer.min(*sign));
        let place = page.marks.region(tree, *id);
        if place == PageRegion::Foreign {
            continue;
        }
        let (names, is_attribute) = read_mark(page, *id, *sign);
        if names.is_empty() {
            continue;
        }
        let shown = !is_attribute && !marks::is_hidden(tree, *id);
        let mut weight = match sign {
            AuthorMark::Property => 1.0,
            AuthorMark::Rel => 0.9,
            AuthorMark::Class => 0.9,
            AuthorMark::Address => 0.65,
            AuthorMark::User => 0.6,
        };
        let near = nearness(heading, *id);
        weight *= near;
        if place == PageRegion::Aside {
            weight *= if near > 0.8 && heading.is_some() { 0.6 } else { 0.4 };
        }
        seen.push((*id, (*sign, place, shown), names, weight));
        if seen.len() >= 24 {
            break;
        }
    }
    // Adjacent names in one region with one kind of mark form one byline.
    let mut claims: Vec<MarkedNames> = Vec::new();
    let mut last: Option<(NodeId, (AuthorMark, PageRegion, bool))> = None;
    for (id, sign, names, weight) in seen {
        let together = last.is_some_and(|(before, as_sign)| as_sign == sign && id.index() - before.index() < 16);
        match claims.last_mut() {
            Some(MarkedNames { names: gathered, weight: heaviest, .. }) if together => {
                for name in names {
                    // A single word next to full names is a date, a place or a button.
                    if !name.contains(' ') && gathered.iter().any(|known| known.contains(' ')) {
                        continue;
                    }
                    if !gathered.iter().any(|known| fold(known) == fold(&name)) {
                        gathered.push(name);
                    }
                }
                *heaviest = heaviest.max(weight);
            }
            _ => claims.push(MarkedNames { names, weight, shown: sign.2 }),
        }
        last = Some((id, sign));
    }
    // Repetition in teasers does not add weight.
    let mut distinct: Vec<MarkedNames> = Vec::new();
    for claim in claims {
        match distinct.iter_mut().find(|known| known.names == claim.names) {
            Some(known) => {
                known.weight = known.weight.max(claim.weight);
                known.shown |= claim.shown;
            }
            None => distinct.push(claim),
        }
    }
    distinct
}

/// The names in a marked element, and whether they are in an attribute.
fn read_mark(page: &Page<'_>, id: NodeId, sign: AuthorMark) -> (Vec<String>, bool) {
    let tree = page.tree;
    // Microdata: the name within the person.
    if sign == AuthorMark::Property {
        for below in tree.descendants(id).take(60) {
            let named = tree
                .attr(below, &local_name!("itemprop"))
                .is_some_and(|property| property.split_ascii_whitespace().any(|word| word == "name"));
            if named {
                let content = tree.attr(below, &local_name!("content")).map(tidy);
                let is_attribute = content.is_some();
                let name = content.or_else(|| label(tree, below, 120)).unwrap_or_default();
                return (people(&name, NameContext::NameField), is_attribute);
            }
        }
    }
    if let Some(content) = tree.attr(id, &local_name!("content")) {
        return (people(&tidy(content), NameContext::NameField), true);
    }
    let Some(text) = spaced_label(tree, id, 240) else { return (Vec::new(), false) };
    // A single word that links to an author page is a name.
    let is_link = tree.is(id, &local_name!("a")) && !text.contains(char::is_whitespace);
    let context = if sign <= AuthorMark::Rel || is_link { NameContext::NameField } else { NameContext::Byline };
    (people(&text, context), false)
}

/// Factor for the distance between a name and the headline, in nodes.
fn nearness(heading: Option<NodeId>, id: NodeId) -> f32 {
    let Some(heading) = heading else { return 0.8 };
    match id.index() as i64 - heading.index() as i64 {
        0..120 => 1.0,
        120..300 => 0.7,
        -60..0 => 0.9,
        _ => 0.5,
    }
}

/// Names after "by" in running text.
fn from_bylines(page: &Page<'_>, heading: Option<NodeId>) -> Option<(Vec<String>, f32)> {
    let tree = page.tree;
    let mut best: Option<(Vec<String>, f32)> = None;
    for id in &page.marks.bylines {
        let Some((own, context)) = names::after_by(tree.as_text(*id).unwrap_or_default()) else { continue };
        let near = nearness(heading, *id);
        let weight = if context == NameContext::RunningText { 0.7 * near } else { 0.8 * near.max(0.65) };
        if best.as_ref().is_some_and(|(_, heaviest)| weight <= *heaviest)
            || page.marks.region(tree, *id) != PageRegion::Main
        {
            continue;
        }
        let mut names = people(&line_after(page, *id, own), context);
        if names.is_empty() && own.is_empty() {
            names = linked_user(page, *id);
        }
        if !names.is_empty() {
            best = Some((names, weight));
        }
    }
    best
}

/// The pen name after a word for "by", if it links to the page of a user.
fn linked_user(page: &Page<'_>, id: NodeId) -> Vec<String> {
    let tree = page.tree;
    let after =
        std::iter::successors(tree.following(id, tree.root(), false), |node| tree.following(*node, tree.root(), false));
    let link = after.take(4).find(|node| tree.is(*node, &local_name!("a")));
    let address = link.and_then(|link| tree.attr(link, &local_name!("href")));
    match (link, address) {
        (Some(link), Some(address)) if marks::is_user_url(address) => {
            label(tree, link, 40).map(|name| people(&name, NameContext::NameField)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The rest of the line that begins in a text node, up to the next line break.
fn line_after(page: &Page<'_>, id: NodeId, own: &str) -> String {
    let tree = page.tree;
    let mut line = String::new();
    push_collapsed(&mut line, own);
    let mut at = tree.following(id, tree.root(), false);
    // A name that ends with its element is complete, unless the next text continues the list.
    let leaves = |next: NodeId| tree.ancestors(next).all(|above| Some(above) != tree.parent(id));
    let continues = |next: NodeId| first_text(tree, next).is_some_and(names::continues_list);
    if !own.is_empty() && at.is_some_and(|next| leaves(next) && !continues(next)) {
        return line;
    }
    for _ in 0..16 {
        let Some(node) = at else { break };
        if let Some(piece) = tree.as_text(node) {
            if line.len() + piece.len() > 200 {
                break;
            }
            push_collapsed(&mut line, piece);
        } else if let Some(name) = tree.name(node) {
            // "By" may have a container of its own; after a name, a new container starts something
            // else.
            if !line.trim().is_empty() && (!is_inline(name) || matches!(*name, local_name!("time"))) {
                break;
            }
        }
        let next = tree.following(node, tree.root(), false);
        let left_box = next.is_some_and(|next| {
            let before = tree.previous_sibling(next);
            before.and_then(|before| tree.name(before)).is_some_and(|name| !is_inline(name))
        });
        if left_box && !line.trim().is_empty() {
            break;
        }
        at = next;
    }
    line
}

/// The first text that is not blank in the next nodes, from `id` on.
fn first_text(tree: &Tree, id: NodeId) -> Option<&str> {
    std::iter::successors(Some(id), |node| tree.following(*node, tree.root(), false))
        .take(6)
        .find_map(|node| tree.as_text(node).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use crate::metadata;

    fn authors(html: &str) -> Vec<String> {
        let tree = crate::tree::parse(html);
        let url = url::Url::parse("https://www.gazette.example/a").unwrap();
        metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), Some(&url)).authors
    }

    #[test]
    fn people_in_linked_data_are_found_by_reference() {
        let html = r##"<script type="application/ld+json">{"@graph":[{"@type":"Article","author":{"@id":"#ann"}},
            {"@type":"Person","@id":"#ann","name":"Ann Lee"}]}</script><p>Ann Lee</p>"##;
        assert_eq!(authors(html), ["Ann Lee"]);
    }

    #[test]
    fn bylines_are_read_with_and_without_markup() {
        assert_eq!(
            authors("<h1>Rain</h1><p>Von <a href=/x>Ann Lee</a> und Bob Ray</p><p>It rained."),
            ["Ann Lee", "Bob Ray"]
        );
        assert_eq!(authors("<h1>Rain</h1><div class=byline>Ann Lee<div>Senior Editor</div></div>"), ["Ann Lee"]);
        assert_eq!(
            authors("<h1>Rain</h1><a rel=author>Ann Lee</a>, <a rel=author>Bob Ray</a>"),
            ["Ann Lee", "Bob Ray"]
        );
    }

    #[test]
    fn commenters_and_photographers_are_not_authors() {
        assert!(authors("<h1>Rain</h1><ol class=comments><li><cite class=author>Ann Lee</cite></ol>").is_empty());
        assert!(authors("<h1>Rain</h1><figure><figcaption>By Ann Lee</figcaption></figure>").is_empty());
    }

    #[test]
    fn containers_of_the_headline_do_not_affect_the_byline() {
        let html =
            "<div class=sidebar><h1>Rain</h1><a rel=author>Ann Lee</a></div><p class=teaser><a rel=author>Bob Ray</a>";
        assert_eq!(authors(html), ["Ann Lee"]);
    }

    #[test]
    fn a_name_after_the_date_near_the_headline_is_the_author() {
        assert_eq!(authors("<h1>Rain</h1><p>11.12.2019 - Ann Lee</p>"), ["Ann Lee"]);
    }

    const LINKED: &str = r#"<script type="application/ld+json">{"@type":"NewsArticle","author":{"@type":"Person","name":"Ann Lee"}}</script>"#;

    #[test]
    fn a_name_that_only_structured_data_has_is_not_an_author() {
        assert!(authors(&format!("{LINKED}<h1>Rain</h1><p>It rained.")).is_empty());
        let hidden =
            "<div class=author style='display: none'>Ann Lee</div><span itemprop=author content='Ann Lee'></span>";
        assert!(authors(&format!("{LINKED}<h1>Rain</h1>{hidden}<p>It rained.")).is_empty());
        for shown in ["<p>Ann Lee", "<p>By ANN LEE", "<p>All articles by Ann <b>Lee</b>"] {
            assert_eq!(authors(&format!("{LINKED}<h1>Rain</h1>{shown}<p>It rained.")), ["Ann Lee"], "{shown}");
        }
        let other = "<p>The mayor, Bob Lee, says so.";
        assert!(authors(&format!("{LINKED}<h1>Rain</h1>{other}")).is_empty());
        // A body that is hidden until the page has loaded.
        let page = LINKED.replace("Lee", "LEE") + "<body style='display:none'><h1>Rain</h1><p>Ann Lee reports.";
        assert_eq!(authors(&page), ["Ann LEE"]);
    }

    #[test]
    fn a_page_that_scripts_draw_has_the_authors_of_its_data() {
        let body = "It rained on the hills and in the valley for a whole day. ".repeat(12);
        let data = LINKED.replace("\"author\"", &format!("\"articleBody\":\"{body}\",\"author\""));
        assert_eq!(authors(&format!("{data}<div id=root></div>")), ["Ann Lee"]);
        let article = format!("{data}<h1>Rain</h1><p>{body}");
        assert!(authors(&article).is_empty(), "the article is displayed, and without the name");
    }

    #[test]
    fn a_byline_is_preferred_to_the_name_of_the_site() {
        let html = "<meta property=og:site_name content='The Gazette'><meta name=author content='The Gazette'>
            <script type='application/ld+json'>{\"@type\":\"NewsArticle\",\"author\":{\"name\":\"The Gazette\"}}</script>
            <h1>Rain</h1><p>The Gazette</p>";
        assert_eq!(authors(html), ["The Gazette"]);
        assert_eq!(authors(&format!("{html}<p class=byline>Ann Lee, Bob Ray</p>")), ["Ann Lee", "Bob Ray"]);
    }

    #[test]
    fn a_field_with_the_first_author_only_is_completed() {
        let html = format!(
            "{LINKED}<meta name=byl content='Ann Lee, Bob Ray'><h1>Rain</h1><a rel=author>Ann Lee</a>{}<a rel=author>Bob Ray</a>",
            "<p>1<p>2".repeat(10)
        );
        assert_eq!(authors(&html), ["Ann Lee", "Bob Ray"]);
        // Nothing else names the second one.
        let html = format!("{LINKED}<meta name=byl content='Ann Lee, Bob Ray'><h1>Rain</h1><a rel=author>Ann Lee</a>");
        assert_eq!(authors(&html), ["Ann Lee"]);
    }

    #[test]
    fn a_name_ends_with_its_element_unless_the_list_goes_on() {
        let html = |rest: &str| format!("<h1>Rain</h1><h2>Stars <span>6.11.2023 von Olga</span>{rest}</h2>");
        assert_eq!(authors(&html(" <span>Symbolbild imago</span>")), ["Olga"]);
        assert_eq!(
            authors("<h1>Rain</h1><p><span>Von Ann Lee</span> und <span>Bob Ray</span>"),
            ["Ann Lee", "Bob Ray"]
        );
    }

    #[test]
    fn a_pen_name_after_by_is_recognised_by_its_link() {
        let html = |link: &str| format!("<h1>Rain</h1><p>von <b><a href='{link}'>anne1</a></b> am 20.09.2020</p>");
        assert_eq!(authors(&html("/user/anne1.html")), ["anne1"]);
        assert!(authors(&html("/rain.html")).is_empty());
    }

    #[test]
    fn a_page_in_noscript_is_read() {
        let posts = "<div class=post>hello <b>there</b></div>".repeat(30);
        let page = |posts: &str| {
            format!("<h1>Rain</h1><noscript><span itemprop=author><b itemprop=name>anne1</b></span>{posts}</noscript>")
        };
        assert_eq!(authors(&page(&posts)), ["anne1"]);
        assert!(authors(&page("")).is_empty());
    }

    #[test]
    fn names_with_the_family_name_first_are_reordered() {
        assert_eq!(
            authors("<meta name=citation_author content='Lee, Ann'><meta name=citation_author content='Ray, Bob'>"),
            ["Ann Lee", "Bob Ray"]
        );
    }
}
