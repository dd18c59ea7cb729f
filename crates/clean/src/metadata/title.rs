//! Title of a page: the headline without the site name.
//!
//! A title appears in up to a dozen places: headings, metas for link previews, `<title>`. Each
//! place has a weight that reflects its precision; equal values add up, and the heaviest wins.

use html5ever::local_name;

use super::site::Site;
use super::text::{fold, label, tidy};
use super::{Page, headline};
use crate::metadata::marks::PageRegion;
use crate::tree::{NodeId, Tree};

/// `<meta>` elements with a title, and their weights.
const METAS: &[(&str, f32)] = &[
    ("citation_title", 1.6),
    ("parsely-title", 1.2),
    ("sailthru.title", 1.2),
    ("headline", 1.0),
    ("twitter:text:title", 1.0),
    ("og:title", 0.8),
    ("twitter:title", 0.35),
    ("dc.title", 0.6),
    ("dcterms.title", 0.6),
    ("title", 0.4),
    ("name", 0.3),
];

/// Separators between a headline and the site name in `<title>`.
const SEPARATORS: &[&str] = &[
    " | ", " - ", " – ", " — ", " » ", " « ", " · ", " • ", " :: ", " / ", " ‹ ", " › ", "|", " : ", ": ", "_", " > ",
    " < ", " ~ ", " // ", "｜", " ー ",
];

/// Separators between a section and a headline in declared titles.
const SECTION_SEPARATORS: &[&str] = &[" - ", " – ", " | ", " » ", " › "];

/// Marks that may open or close a quotation.
const QUOTES: [char; 8] = ['"', '\'', '„', '“', '”', '«', '»', '’'];

/// Minimum weight of a declared title to replace a heading with a note.
const MIN_FORM_WEIGHT: f32 = 0.8;

/// Weight of a place that repeats another of its kind.
const ECHO_WEIGHT: f32 = 0.15;
/// Weight of full agreement with the words of the URL.
const SLUG_WEIGHT: f32 = 0.8;
/// Weight of a heading that shares words with `<title>`.
const SHARED_WEIGHT: f32 = 0.6;

struct Candidate {
    text: String,
    folded: String,
    weight: f32,
    node: Option<NodeId>,
    /// Whether the text is displayed; displayed text is preferred to equal declared text.
    shown: bool,
}

/// Declared and displayed titles, for comparison with JSON-LD.
pub fn declared<'p>(page: &'p Page<'_>) -> impl Iterator<Item = String> + 'p {
    let metas = ["og:title", "twitter:title", "headline"]
        .into_iter()
        .filter_map(|name| page.declared.meta(name).next().map(tidy));
    metas.chain(page.declared.h1.iter().take(6).filter_map(|id| label(page.tree, *id, 400)).map(|text| tidy(&text)))
}

/// Distinct titles with their weights.
#[derive(Default)]
struct Candidates(Vec<Candidate>);

impl Candidates {
    fn add(&mut self, text: String, weight: f32, node: Option<NodeId>) {
        let folded = fold(&text);
        if folded.is_empty() {
            return;
        }
        match self.0.iter_mut().find(|candidate| candidate.folded == folded) {
            Some(known) => {
                known.weight += weight;
                if known.node.is_none() && node.is_some() {
                    known.node = node;
                    known.text = text;
                    known.shown = true;
                }
            }
            None => self.0.push(Candidate { text, folded, weight, shown: node.is_some(), node }),
        }
    }
}

/// The title, and the node that displays it.
pub fn choose(page: &Page<'_>, site: &Site) -> (String, Option<NodeId>) {
    let whole =
        page.declared.title.and_then(|id| label(page.tree, id, 2_000)).map(|text| tidy(&text)).unwrap_or_default();
    let mut candidates = Candidates::default();
    let first_heading = add_headings(page, site, &whole, &mut candidates);
    add_declared(page, site, &whole, &mut candidates);
    reweigh(page, site, &whole, &mut candidates.0);
    let mut best: Option<&Candidate> = None;
    for candidate in &candidates.0 {
        if best.is_none_or(|best| candidate.weight > best.weight) {
            best = Some(candidate);
        }
    }
    let Some(best) = best else { return (String::new(), None) };
    let best = better_form(best, &candidates.0, &whole);
    (best.text.clone(), best.node.or(first_heading))
}

/// Another candidate that is the same title in a better form; `whole` is `<title>`.
fn better_form<'c>(best: &'c Candidate, candidates: &'c [Candidate], whole: &str) -> &'c Candidate {
    let is_better = |other: &&Candidate| {
        if best.shown {
            // A heading with a note behind: the number of comments or articles, the source of a link.
            return other.weight >= MIN_FORM_WEIGHT && best.text.strip_prefix(&other.text).is_some_and(is_note);
        }
        if !other.shown {
            return false;
        }
        // An attribute in double quotes ends at the first quote of the title.
        let is_cut = other.text.strip_prefix(&best.text).is_some_and(|rest| rest.trim_start().starts_with(QUOTES));
        let names_section = other.text.split_whitespace().nth(2).is_some()
            && whole.contains(&best.text)
            && SECTION_SEPARATORS.iter().any(|separator| {
                best.text.strip_suffix(&other.text).is_some_and(|section| section.ends_with(separator))
                    || best.text.strip_prefix(&other.text).is_some_and(|section| section.starts_with(separator))
            });
        is_cut || names_section
    };
    candidates.iter().filter(is_better).max_by(|one, other| one.weight.total_cmp(&other.weight)).unwrap_or(best)
}

/// Returns whether a text behind a title is in brackets, but for a number.
fn is_note(text: &str) -> bool {
    let text = text.trim().trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    text.len() > 2 && text.starts_with('(') && text.ends_with(')')
}

/// Adds the `<h1>` elements; returns the first.
fn add_headings(page: &Page<'_>, site: &Site, whole: &str, candidates: &mut Candidates) -> Option<NodeId> {
    let declared: Vec<String> = ["og:title", "twitter:title"]
        .iter()
        .filter_map(|name| page.declared.meta(name).next())
        .chain([whole])
        .map(fold)
        .collect();
    let is_front_page = page.url.is_none_or(|url| url.path().len() <= 1);
    let mut headings: Vec<(NodeId, String)> = (page.declared.h1.iter().take(12))
        .filter_map(|id| Some((*id, without_site(&without_kicker(page.tree, *id, &declared)?, site))))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let all = headings.len();
    headings.retain(|(id, _)| is_front_page || !links_to_front_page(page, *id));
    for (rank, (id, text)) in headings.iter().enumerate() {
        let weight = match (all, rank) {
            (1, _) => 1.5,
            (_, 0) => 0.7,
            (_, 1) => 0.6,
            _ => 0.4,
        };
        let weight = match page.marks.region(page.tree, *id) {
            PageRegion::Main => weight,
            PageRegion::Aside => weight * 0.6,
            PageRegion::Foreign => weight * 0.3,
        };
        // The last item of the breadcrumbs is a short form of the headline.
        match page.tree.ancestors(*id).take(3).any(|above| page.tree.is(above, &local_name!("li"))) {
            true => candidates.add(text.clone(), weight * 0.3, None),
            false => candidates.add(text.clone(), weight, Some(*id)),
        }
    }
    headings.first().map(|(id, _)| *id)
}

/// Returns whether a heading is a link to the front page, and so the name of the site.
fn links_to_front_page(page: &Page<'_>, heading: NodeId) -> bool {
    let link = page.tree.descendants(heading).take(12).find(|id| page.tree.is(*id, &local_name!("a")));
    let address = link.and_then(|link| page.tree.attr(link, &local_name!("href"))).unwrap_or_default();
    let (Some(base), false) = (page.url, address.is_empty()) else { return false };
    base.join(address.trim()).is_ok_and(|target| {
        target.host_str().map(without_www) == base.host_str().map(without_www)
            && target.path().len() <= 1
            && target.fragment().is_none()
    })
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Adds JSON-LD, metas, elements marked as headlines, and `<title>`.
fn add_declared(page: &Page<'_>, site: &Site, whole: &str, candidates: &mut Candidates) {
    if let Some(text) = page.article.and_then(headline) {
        candidates.add(without_site(&text, site), 1.1, None);
    }
    // Previews and `<title>` are filled from one field, so agreement between them adds little.
    let mut previews: Vec<String> = Vec::new();
    for (name, weight) in METAS {
        if let Some(text) = page.declared.meta(name).map(tidy).find(|text| !text.is_empty()) {
            let text = without_site(&text, site);
            let repeated = previews.contains(&text);
            candidates.add(text.clone(), if repeated { ECHO_WEIGHT } else { *weight }, None);
            previews.push(text);
        }
    }
    for id in page.marks.headlines.iter().take(6) {
        if let Some(text) = label(page.tree, *id, 300).map(|text| tidy(&text)) {
            let weight = if page.marks.region(page.tree, *id) == PageRegion::Main { 0.35 } else { 0.1 };
            candidates.add(text, weight, Some(*id));
        }
    }
    let stripped = without_site(whole, site);
    let guessed = if stripped == whole { longest_part(whole) } else { stripped };
    let repeated = previews.contains(&guessed);
    candidates.add(guessed, if repeated { ECHO_WEIGHT * 2.0 } else { 0.6 }, None);
}

/// Adjusts the weights by agreement with the site name, `<title>` and the URL.
fn reweigh(page: &Page<'_>, site: &Site, whole: &str, candidates: &mut [Candidate]) {
    let slug = page.url.map(|url| slug_words(url.path())).unwrap_or_default();
    let tail = tail_of(whole).map(fold).unwrap_or_default();

    // The beginning of `<title>` was written for this page.
    let folded_whole = fold(whole);
    let whole_words = words_of(whole);
    for candidate in candidates {
        if site.is(&candidate.text) {
            candidate.weight *= 0.25;
        }
        if candidate.folded.len() >= 4 && folded_whole.starts_with(&candidate.folded) {
            candidate.weight += 0.4;
        } else if candidate.folded.len() >= 8 && folded_whole.contains(&candidate.folded) {
            candidate.weight += 0.25;
        }
        let words = words_of(&candidate.text);
        let addressed = dice(&words, &slug);
        candidate.weight += SLUG_WEIGHT * addressed;
        if candidate.folded == tail && addressed < 0.5 {
            // The end of `<title>` names the site, unless the URL contains the same words.
            candidate.weight *= 0.35;
        } else if candidate.shown && dice(&words, &whole_words) > 0.3 {
            // A heading that shares words with `<title>` belongs to this page, not to the site.
            candidate.weight += SHARED_WEIGHT;
        }
        if candidate.folded.chars().count() < 4 {
            candidate.weight *= 0.5;
        }
        // Longer than any headline.
        if candidate.text.chars().count() > 250 {
            candidate.weight *= 0.3;
        }
    }
}

/// The text of a heading without a kicker (the line above a headline) and a date.
///
/// A kicker is an element of its own. Whether it belongs to the headline is decided by `<title>`
/// and the link previews, or else by its class.
fn without_kicker(tree: &Tree, heading: NodeId, declared: &[String]) -> Option<String> {
    let text = tidy(&label(tree, heading, 600)?);
    let mut top = heading;
    // Descend through wrappers: a single link or span around everything.
    for _ in 0..4 {
        let mut children = tree.children(top).filter(|child| !is_blank(tree, *child));
        match (children.next(), children.next()) {
            (Some(only), None) if tree.name(only).is_some() => top = only,
            _ => break,
        }
    }
    let children: Vec<NodeId> = tree.children(top).filter(|child| !is_blank(tree, *child)).take(9).collect();
    if !(2..=8).contains(&children.len()) {
        return Some(text);
    }
    let folded = fold(&text);
    if declared.iter().any(|title| title.contains(&folded)) {
        return Some(text);
    }
    let pieces: Vec<String> =
        children.iter().filter_map(|child| label(tree, *child, 600)).map(|piece| tidy(&piece)).collect();
    // The parts after the first or before the last, if a preview contains them.
    let rest_from = |from: usize, to: usize| {
        tidy(pieces.get(from..to).unwrap_or_default().join(" ").trim_start_matches([':', ' ']))
    };
    for rest in [rest_from(1, pieces.len()), rest_from(0, pieces.len() - 1), rest_from(2, pieces.len())] {
        let folded = fold(&rest);
        if folded.len() >= 10 && declared.iter().any(|title| title.contains(&folded)) {
            return Some(rest);
        }
    }
    let is_kicker = |child: NodeId| {
        let class = tree.attr(child, &local_name!("class")).unwrap_or_default().to_ascii_lowercase();
        KICKERS.iter().any(|kicker| class.contains(kicker)) || tree.is(child, &local_name!("time"))
    };
    if is_kicker(children[0]) {
        return Some(rest_from(1, pieces.len())).filter(|rest| !rest.is_empty()).or(Some(text));
    }
    Some(text)
}

fn is_blank(tree: &Tree, id: NodeId) -> bool {
    match tree.as_text(id) {
        Some(text) => text.trim().is_empty(),
        None => tree
            .name(id)
            .is_none_or(|name| matches!(*name, local_name!("br") | local_name!("img") | local_name!("svg"))),
    }
}

/// Class names of kickers.
const KICKERS: &[&str] = &[
    "kicker",
    "topline",
    "overline",
    "dachzeile",
    "roofline",
    "eyebrow",
    "supertitle",
    "pretitle",
    "subline",
    "label",
    "prefix",
    "date",
    "invisible",
    "screen-reader",
    "sr-only",
    "visually-hidden",
];

/// The part of `<title>` after its last separator.
fn tail_of(whole: &str) -> Option<&str> {
    [" | ", " - ", " – ", " — ", " » ", " « ", " · ", " • "]
        .iter()
        .filter_map(|dash| whole.rsplit_once(dash))
        .map(|(_, tail)| tail)
        .min_by_key(|tail| tail.len())
}

/// The words of the longest of the last three path segments, if it consists of words.
fn slug_words(path: &str) -> Vec<String> {
    let longest = path.split('/').rev().take(3).max_by_key(|step| step.len()).unwrap_or_default();
    let words = words_of(longest);
    if words.len() < 3 { Vec::new() } else { words }
}

/// Words of at least three bytes, transliterated as in URLs.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3).take(30) {
        let mut plain = String::with_capacity(word.len() + 2);
        for c in word.chars().flat_map(char::to_lowercase) {
            match TRANSLITERATIONS.iter().find(|(accented, _)| accented.contains(c)) {
                Some((_, letters)) => plain.push_str(letters),
                None => plain.push(c),
            }
        }
        words.push(plain);
    }
    words
}

/// Transliterations used in URLs.
const TRANSLITERATIONS: &[(&str, &str)] = &[
    ("ä", "ae"),
    ("ö", "oe"),
    ("ü", "ue"),
    ("ß", "ss"),
    ("àáâãå", "a"),
    ("èéêë", "e"),
    ("ìíîï", "i"),
    ("òóôõø", "o"),
    ("ùúû", "u"),
    ("ç", "c"),
    ("ñ", "n"),
];

/// Dice coefficient of two word lists.
fn dice(one: &[String], other: &[String]) -> f32 {
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let common = one.iter().filter(|word| other.contains(word)).count();
    2.0 * common as f32 / (one.len() + other.len()) as f32
}

/// The text without a leading date and a leading or trailing site name.
fn without_site(text: &str, site: &Site) -> String {
    let mut text = without_date(text).to_owned();
    for _ in 0..3 {
        let before = text.len();
        for separator in SEPARATORS {
            if let Some((head, tail)) = text.rsplit_once(separator)
                && !head.trim().is_empty()
                && (site.is(tail) || (separator.len() > 1 && site.resembles(tail)))
            {
                text = head.trim().to_owned();
                break;
            }
            if let Some((head, tail)) = text.split_once(separator)
                && !tail.trim().is_empty()
                && site.is(head)
            {
                text = tail.trim().to_owned();
                break;
            }
        }
        if text.len() == before {
            break;
        }
    }
    text
}

/// The text after a date in numbers and a dash: "23.01.2022 - Rain".
fn without_date(text: &str) -> &str {
    let date = text.split(' ').next().unwrap_or_default();
    let is_date = (8..=10).contains(&date.len())
        && date.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'/'))
        && date.bytes().filter(u8::is_ascii_digit).count() >= 6;
    let rest = text[date.len()..].trim_start();
    match rest.strip_prefix(['-', '–', '|', ':']) {
        Some(title) if is_date && title.starts_with(' ') => title.trim_start(),
        _ => text,
    }
}

/// The longest part between separators; site names are shorter than headlines.
fn longest_part(text: &str) -> String {
    let mut best = text;
    for separator in [" | ", " - ", " – ", " — ", " » ", " · ", " • ", "|", " :: "] {
        if text.contains(separator) {
            best = text.split(separator).fold("", |best, part| if part.len() > best.len() { part } else { best });
            break;
        }
    }
    best.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::metadata;

    fn title(html: &str) -> String {
        let tree = crate::tree::parse(html);
        let url = url::Url::parse("https://www.gazette.example/a").unwrap();
        metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), Some(&url)).title
    }

    #[test]
    fn the_site_name_is_removed_from_the_title() {
        assert_eq!(
            title("<title>Rain in May | The Gazette</title><meta property=og:site_name content='The Gazette'>"),
            "Rain in May"
        );
        assert_eq!(title("<title>Gazette: Rain in May</title>"), "Rain in May");
    }

    #[test]
    fn a_logo_in_a_heading_is_not_the_title() {
        assert_eq!(title("<title>Rain in May - Gazette</title><h1>Gazette</h1><h1>Rain in May</h1>"), "Rain in May");
    }

    #[test]
    fn agreeing_places_outweigh_a_single_one() {
        let html = "<meta property=og:title content='Rain in May'><title>Rain in May</title>
            <script type='application/ld+json'>{\"@type\":\"NewsArticle\",\"headline\":\"Rain in May\"}</script><h1>Weather</h1>";
        assert_eq!(title(html), "Rain in May");
    }

    #[test]
    fn a_kicker_is_not_part_of_the_title() {
        let html = "<title>Rain in May at last</title><h1><span>Weather</span> <span>Rain in May at last</span></h1>";
        assert_eq!(title(html), "Rain in May at last");
        assert_eq!(title("<h1><span class=kicker>Weather</span> Rain in May</h1>"), "Rain in May");
        assert_eq!(title("<h1><span>Rain</span> in May</h1>"), "Rain in May");
    }

    #[test]
    fn a_heading_that_links_to_the_front_page_is_not_the_title() {
        let html = |link: &str| {
            format!(
                "<title>Four Years » Blog Archive » Small integers in May</title><h1><a href='{link}'>Four Years</a></h1>"
            )
        };
        for link in ["/", "https://gazette.example", "https://www.gazette.example/?lang=de"] {
            assert_eq!(title(&html(link)), "Small integers in May", "{link}");
        }
        assert_eq!(
            title("<title>Small</title><h1><a href='/a'>Small integers in May</a></h1>"),
            "Small integers in May"
        );
    }

    #[test]
    fn a_declared_title_that_was_cut_at_a_quote_yields_to_the_heading() {
        let html =
            "<meta property=og:title content='The mayor says '><meta name=twitter:title content='The mayor says '>
            <script type='application/ld+json'>{\"@type\":\"NewsArticle\",\"headline\":\"The mayor says\"}</script>
            <h2 class=entry-title>The mayor says \"It rains\" again</h2>";
        assert_eq!(title(html), "The mayor says \"It rains\" again");
    }

    #[test]
    fn a_declared_title_with_a_section_yields_to_the_heading() {
        let html = |declared: &str, heading: &str| {
            format!(
                "<title>Office - {declared}</title><meta name=title content='{declared}'><meta property=og:title
                content='{declared}'><meta property=og:site_name content=Office><h1>Office</h1><h1>{heading}</h1>"
            )
        };
        assert_eq!(title(&html("Press 2022 - Rain in May", "Rain in May")), "Rain in May");
    }

    #[test]
    fn notes_behind_a_heading_and_dates_before_it_are_not_part_of_the_title() {
        let html = |heading: &str| {
            format!("<title>Rain in May</title><meta property=og:title content='Rain in May'><h1>{heading}</h1>")
        };
        assert_eq!(title(&html("Rain in May (158 items)")), "Rain in May");
        assert_eq!(title(&html("Rain in May (gazette.example) 87")), "Rain in May");
        assert_eq!(title(&html("Rain in May (and June) is rare")), "Rain in May (and June) is rare");
        assert_eq!(title("<h1>23.01.2022 - Rain in May</h1>"), "Rain in May");
        assert_eq!(title("<h1>2022 - a year of rain</h1>"), "2022 - a year of rain");
    }

    #[test]
    fn the_last_item_of_breadcrumbs_is_not_preferred_to_declared_titles() {
        let html = "<title>Power plants: towers blown up - Gazette</title>
            <meta property=og:title content='Power plants: towers blown up'><ol><li><h1>Towers blown up</h1></li></ol>";
        assert_eq!(title(html), "Power plants: towers blown up");
    }

    #[test]
    fn a_page_without_a_title_has_none() {
        assert_eq!(title("<p>hello"), "");
    }
}
