//! Person names in bylines.
//!
//! A byline is a name surrounded by "Von", "By", dates, roles, places, agencies and e-mail
//! addresses. The tables in [`super::vocabulary`] list what is not part of a name in common
//! languages; capitalisation decides the rest.

use memchr::memmem;

use super::text::fold;
use super::vocabulary::{
    BY, CONJUNCTIONS, DEGREES, ENDS, INSTITUTION, INTERFACE, LEAD, MONTHS, OFFICES, OTHER_ROLES, PARTICLES,
    PLACEHOLDERS, ROLES, SMALL, UNSPACED, UNSPACED_LABELS,
};

/// Strictness of name recognition, depending on the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameContext {
    /// Running text: at least two capitalised words.
    RunningText,
    /// Text marked as a byline: capitalised words.
    Byline,
    /// A field for names only: pen names and user names are allowed.
    NameField,
}

/// Returns whether a text node looks like the beginning of a byline: it starts or ends with a word
/// for "by".
pub fn opens_byline(text: &str) -> bool {
    // Most text nodes are indentation or paragraphs, and ruled out by length.
    let text = text.trim_ascii();
    if text.len() < 2 || text.len() > 160 {
        return false;
    }
    let text = text.trim().trim_start_matches(RULES);
    let first = text.split(char::is_whitespace).next().unwrap_or_default();
    if is_by(first) || unspaced(text).is_some() || after_date(text).is_some() {
        return true;
    }
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if last.len() < text.len() && text.len() < 80 && is_by(last) {
        return true;
    }
    let spoken = |by: &[u8]| memmem::find(text.as_bytes(), by).is_some();
    (8..100).contains(&text.len()) && (spoken(b" by ") || spoken(b" von ")) && is_lead(first)
}

/// Dashes that set off a byline, and the space after them.
const RULES: [char; 5] = ['-', '–', '—', '~', ' '];

/// The text after a word for "author" that is not followed by a space.
fn unspaced(text: &str) -> Option<&str> {
    if !text.starts_with(['作', '文', '记', '記', '撰', '글', 'A', 'T', 'D', 'P', 'V']) {
        return None;
    }
    UNSPACED.iter().find_map(|opening| text.strip_prefix(opening))
}

/// The text after a date and a dash: "11.12.2019 - Ann Lee".
fn after_date(text: &str) -> Option<&str> {
    if text.len() > 80 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let name = [" - ", " – ", " | ", " / ", " • ", " · "].iter().find_map(|dash| text.rsplit_once(dash))?.1;
    let dated = text.bytes().filter(u8::is_ascii_digit).count() >= 5;
    (dated && (2..=3).contains(&name.split_whitespace().count()) && !name.bytes().any(|byte| byte.is_ascii_digit()))
        .then_some(name)
}

/// First bytes of the words in [`BY`]; rules out most words at once.
static BY_BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut row = 0;
    while row < BY.len() {
        begins[BY[row].as_bytes()[0] as usize] = true;
        row += 1;
    }
    begins
};

fn is_by(word: &str) -> bool {
    let first = word.bytes().next().unwrap_or_default().to_ascii_lowercase();
    (2..=20).contains(&word.len()) && BY_BEGINS[usize::from(first)] && among(BY, word)
}

fn is_lead(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit()) || among(LEAD, word.trim_end_matches([':', ',', '.']))
}

/// Returns whether a table contains the word, ignoring ASCII case.
fn among(table: &[&str], word: &str) -> bool {
    table.iter().any(|known| known.len() == word.len() && known.eq_ignore_ascii_case(word))
}

/// Like [`among`], for words with capitals beyond ASCII.
fn among_folded(table: &[&str], word: &str) -> bool {
    let word = word.trim_matches([':', ',', '.', '(', ')', '*']);
    among(table, word) || (!word.is_ascii() && among(table, &word.to_lowercase()))
}

/// The text after the word for "by" in a text that [`opens_byline`], with the strictness that
/// applies there: "posted by" and dates only precede names, but a bare "by" may begin a sentence.
pub fn after_by(text: &str) -> Option<(&str, NameContext)> {
    if let Some(rest) = unspaced(text.trim_start()) {
        return Some((rest, NameContext::Byline));
    }
    if let Some(rest) = after_date(text.trim()) {
        return Some((rest, NameContext::RunningText));
    }
    let mut announced = NameContext::RunningText;
    let mut rest = text.trim_start().trim_start_matches(RULES);
    for _ in 0..12 {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        if word.is_empty() {
            return None;
        }
        if is_by(word) {
            return Some((
                tail.trim_start(),
                if word.ends_with([':', '：']) { NameContext::Byline } else { announced },
            ));
        }
        if !is_lead(word) && !is_month(word) {
            return None;
        }
        if !among(SMALL, word) {
            announced = NameContext::Byline;
        }
        rest = tail.trim_start();
    }
    None
}

/// Returns whether a label reads "written by" in a known language.
pub fn says_by(label: &str) -> bool {
    label.rsplit(char::is_whitespace).next().is_some_and(is_by)
}

/// Returns whether a text after a name begins with a comma or a conjunction.
pub fn continues_list(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with([',', ';', '&', '/', '、'])
        || text.split_whitespace().next().is_some_and(|word| among(CONJUNCTIONS, word))
}

/// The distinct names in a byline, in order.
pub fn people(byline: &str, context: NameContext) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in byline.split('\n').take(12) {
        if line.contains("://") || line.starts_with('/') {
            continue;
        }
        let before = names.len();
        if context == NameContext::NameField && is_institution(line) && !is_person_with_role(line) {
            names.push(line.trim().to_owned());
            continue;
        }
        for part in parts(line) {
            let is_first = names.len() == before;
            if !is_first && names[before].contains(' ') && (is_degree(&part) || has_role(&part)) {
                continue;
            }
            let Some(name) = clean(&part, context) else { continue };
            // After a full name, a single word after a comma is a place, an agency or a degree.
            if names.len() > before
                && !name.contains(' ')
                && names[before].contains(' ')
                && context < NameContext::NameField
            {
                continue;
            }
            if !names.iter().any(|known| fold(known) == fold(&name)) {
                names.push(name);
            }
        }
        if names.len() > 30 {
            break;
        }
    }
    // Of "Ann Lee" and "Ann Lee Politics", the shorter one is the name.
    let folded: Vec<(bool, String)> = names.iter().map(|name| (name.contains(' '), fold(name))).collect();
    let mut at = 0;
    names.retain(|_| {
        let (_, long) = &folded[at];
        at += 1;
        let begins =
            |(full, short): &(bool, String)| *full && short.len() < long.len() && long.starts_with(short.as_str());
        !folded.iter().any(begins)
    });
    names
}

/// Returns whether a part of a list is a title of the name before it: "PhD", "CFP®".
fn is_degree(part: &str) -> bool {
    let part = part.trim_matches(|c: char| !c.is_alphanumeric());
    !part.is_empty() && part.split([' ', '/']).all(|word| among(DEGREES, word.trim_end_matches(['.', '®', '™'])))
}

/// Returns whether a line is a name and a position: "Ann Lee, Director of Operations".
fn is_person_with_role(line: &str) -> bool {
    line.split_once(',').is_some_and(|(name, role)| name.contains(' ') && !is_institution(name) && has_role(role))
}

/// Returns whether a part of a list describes the name before it: "Director of Operations".
fn has_role(part: &str) -> bool {
    let mut words = part.split_whitespace();
    let first = words.next().unwrap_or_default();
    (among_folded(ROLES, first) || words.any(|word| among_folded(ROLES, word)))
        && !first.bytes().all(|b| b.is_ascii_digit())
}

/// Splits a line into parts, one per listed name.
fn parts(line: &str) -> Vec<String> {
    let mut flat = String::with_capacity(line.len());
    let mut depth = 0_u32;
    for c in line.chars().take(600) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => flat.push(c),
            _ => {}
        }
    }
    // An unclosed bracket must not swallow the rest.
    let flat = if depth > 0 { line.chars().take(600).collect() } else { flat };
    let mut parts = Vec::new();
    for listed in flat.split([';', '|', '•', '·', ',', '、', '，', '\t', '→']) {
        let words: Vec<&str> = listed.split_whitespace().collect();
        let mut start = 0;
        for at in 1..words.len() {
            if among(CONJUNCTIONS, words[at]) && at >= start + 2 && words.len() > at + 2 && begins_upper(words[at + 1])
            {
                parts.push(words[start..at].join(" "));
                start = at + 1;
            }
        }
        parts.push(words[start.min(words.len())..].join(" "));
    }
    parts
}

/// Returns whether a word with a full stop is not an initial or an abbreviation, which may be within a name.
fn ends_sentence(word: &str) -> bool {
    word.ends_with('.') && word.chars().count() > 4 && !among(PARTICLES, word) && !word[..word.len() - 1].contains('.')
}

fn begins_upper(word: &str) -> bool {
    word.chars().find(|c| c.is_alphabetic()).is_some_and(|c| !c.is_lowercase())
}

/// Strips everything around a name; `None` if no name remains.
fn clean(part: &str, context: NameContext) -> Option<String> {
    let words: Vec<&str> = part.split_whitespace().take(24).collect();
    let is_other =
        |at: usize| among_folded(OTHER_ROLES, words[at]) && words.get(at + 1).is_some_and(|next| is_by(next));
    if (0..words.len().min(6)).any(is_other) {
        return None;
    }
    let mut start = 0;
    // Everything up to the last "by" belongs to the opening of the byline.
    for at in 0..words.len().min(8) {
        let opening =
            words[..at].iter().all(|word| is_lead(word) || is_month(word) || is_by(word) || among_folded(ROLES, word));
        if opening && is_by(words[at]) && (at + 1 < words.len()) {
            start = at + 1;
        }
    }
    while start < words.len()
        && (words[start].ends_with(':')
            || (is_lead(words[start]) && context < NameContext::NameField)
            || words[start].chars().all(|c| !c.is_alphanumeric()))
    {
        start += 1;
    }
    let mut end = words.len();
    for at in start + 1..words.len() {
        let word = words[at];
        let bare = word.trim_end_matches([',', ':', '.']);
        let stops = (at > start + 1 && matches!(word, "For" | "FOR" | "AT" | "IN"))
            || (among(ENDS, bare)
                && !begins_upper(word)
                && !(among(PARTICLES, word)
                    && at + 1 < words.len()
                    && begins_upper(words[at + 1])
                    && !among(&["in", "aus", "am", "on", "im"], word)))
            || (word.bytes().any(|byte| byte.is_ascii_digit()) && at > start)
            || word.contains('@')
            || (at > start + 1 && among_folded(ROLES, bare))
            || (context < NameContext::NameField && at > start && ends_sentence(words[at - 1]));
        if stops {
            end = at;
            break;
        }
    }
    let mut words: Vec<&str> = words[start.min(end)..end].to_vec();
    // "Staff Writer Ann Lee"
    while words.len() > 2 && words[0].rsplit('-').next().is_some_and(|role| among_folded(ROLES, role)) {
        words.remove(0);
    }
    if let Some(last) = words.last_mut().filter(|last| ends_sentence(last)) {
        *last = last.trim_end_matches('.');
    }
    if words.is_empty() || words.len() > 6 || words.last().is_some_and(|word| is_by(word)) {
        return None;
    }
    let mut name = words.join(" ");
    // "Ann Lee/dpa": an agency after a full name.
    if let Some((person, agency)) = name.split_once('/')
        && person.contains(' ')
        && !agency.contains(' ')
    {
        name.truncate(person.len());
    }
    let name = name.trim_matches(|c: char| r#",:;-–—|"“”„*><»«~="#.contains(c) || c.is_whitespace());
    let name = name.trim_start_matches(['.', '@']);
    is_name(name, context).then(|| name.to_owned())
}

fn is_month(word: &str) -> bool {
    let word = word.trim_matches([',', '.', ':']).to_lowercase();
    MONTHS.contains(&word.as_str())
}

fn is_name(name: &str, context: NameContext) -> bool {
    let length = name.chars().count();
    if !(2..=60).contains(&length) || !name.chars().any(char::is_alphabetic) {
        return false;
    }
    if name.contains("://")
        || name.contains("www.")
        || name.contains('@')
        || name.contains(['{', '}', '<', '>', '?', '!', '=', '#', '%', '$', '\\', '…'])
    {
        return false;
    }
    if name.split_once('/').is_some_and(|(host, _)| is_domain(host)) {
        return false;
    }
    if PLACEHOLDERS.contains(&fold(name).as_str()) {
        return false;
    }
    if !name.is_ascii() && UNSPACED_LABELS.iter().any(|label| name.contains(label)) {
        return false;
    }
    let words: Vec<&str> = name.split(' ').collect();
    if words.iter().any(|word| among_folded(INTERFACE, word)) && (context < NameContext::NameField || words.len() <= 2)
    {
        return false;
    }
    if words.iter().any(|word| among_folded(ROLES, word)) && (context < NameContext::NameField || words.len() == 1) {
        return false;
    }
    if words.iter().all(|word| is_month(word) || is_lead(word)) && context < NameContext::NameField {
        return false;
    }
    let digits = name.chars().any(|c| c.is_ascii_digit());
    if context == NameContext::NameField {
        return true;
    }
    if digits && (words.len() > 1 || context == NameContext::RunningText) {
        return false;
    }
    let caseless = name.chars().filter(|c| c.is_alphabetic()).all(|c| !c.is_uppercase() && !c.is_lowercase());
    if caseless {
        return length <= 24;
    }
    let shaped = words
        .iter()
        .enumerate()
        .all(|(at, word)| begins_upper(word) || (among(PARTICLES, word) && at + 1 < words.len()));
    let capitals = words.iter().filter(|word| begins_upper(word) && word.chars().any(char::is_alphabetic)).count();
    shaped && capitals >= if context == NameContext::RunningText { 2 } else { 1 }
}

/// Returns whether a line names an institution, whose parts are not names: "Amt für …".
fn is_institution(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let joined = line.split_whitespace().any(|word| among(INSTITUTION, word));
    let by = line.split_whitespace().next().is_some_and(is_by);
    joined && !by && (3..=12).contains(&words) && line.len() <= 120
}

fn is_domain(name: &str) -> bool {
    let Some((host, suffix)) = name.rsplit_once('.') else { return false };
    host.len() > 1
        && !name.contains(' ')
        && (2..=4).contains(&suffix.len())
        && suffix.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns whether a name is that of an organisation rather than a person.
pub fn is_organisation(name: &str) -> bool {
    name.split([' ', '-', '.', '_']).any(|word| among_folded(OFFICES, word)) || is_institution(name) || is_domain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(byline: &str) -> Vec<String> {
        people(byline, NameContext::Byline)
    }

    #[test]
    fn the_word_for_by_is_not_part_of_the_name() {
        for byline in [
            "By Ann Lee",
            "Von Ann Lee",
            "par Ann Lee",
            "Written by Ann Lee",
            "Eine Kolumne von Ann Lee",
            "Autor: Ann Lee",
            "Publicado por Ann Lee",
        ] {
            assert_eq!(some(byline), ["Ann Lee"], "{byline}");
        }
    }

    #[test]
    fn several_authors_are_separated() {
        assert_eq!(some("Von Ann Lee und Bob Ray"), ["Ann Lee", "Bob Ray"]);
        assert_eq!(some("By Ann Lee, Bob Ray and Cid van Dam"), ["Ann Lee", "Bob Ray", "Cid van Dam"]);
        assert_eq!(some("Ann Lee; Bob Ray; Ann Lee"), ["Ann Lee", "Bob Ray"]);
    }

    #[test]
    fn roles_places_dates_and_urls_are_dropped() {
        assert_eq!(some("Ann Lee, Senior Reporter"), ["Ann Lee"]);
        assert_eq!(some("Von Ann Lee, Berlin"), ["Ann Lee"]);
        assert_eq!(some("26.12.2019 von Ann Lee"), ["Ann Lee"]);
        assert_eq!(some("October 19, 2019 by Ann Lee"), ["Ann Lee"]);
        assert_eq!(some("Ann Lee ann@example.org"), ["Ann Lee"]);
        assert_eq!(some("Ann Lee (dpa)"), ["Ann Lee"]);
    }

    #[test]
    fn sentences_are_not_names() {
        assert_eq!(people("Von Anfang an war klar, dass es so kommt", NameContext::RunningText), Vec::<String>::new());
        assert_eq!(people("By the way", NameContext::RunningText), Vec::<String>::new());
    }

    #[test]
    fn user_names_are_accepted_in_name_fields_only() {
        assert_eq!(people("jazz4ever", NameContext::NameField), ["jazz4ever"]);
        assert_eq!(people("jazz forever", NameContext::Byline), Vec::<String>::new());
        assert_eq!(people("admin", NameContext::NameField), Vec::<String>::new());
    }

    #[test]
    fn words_of_interfaces_and_labels_are_not_names() {
        for text in ["Suche", "Login", "Home Page", "Newsletter abonnieren", "责任编辑：苏亮", "来源：日报", "Sign in"]
        {
            assert_eq!(some(text), Vec::<String>::new(), "{text}");
            assert_eq!(people(text, NameContext::NameField), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn degrees_and_positions_in_a_list_are_not_names() {
        for text in ["Ann Lee, PhD", "Ann Lee, CFP®", "Ann Lee, Ph.D., M.D.", "Ann Lee, Sr. Director of Operations"] {
            assert_eq!(people(text, NameContext::NameField), ["Ann Lee"], "{text}");
        }
        assert_eq!(people("Ann Lee, MD, Bob Ray, RN", NameContext::NameField), ["Ann Lee", "Bob Ray"]);
    }

    #[test]
    fn editors_translators_and_profiles_are_not_authors() {
        for text in ["Revised Edition Edited by Ann Lee", "Translated by Ann Lee", "facebook.com/gazette"] {
            assert_eq!(people(text, NameContext::NameField), Vec::<String>::new(), "{text}");
        }
        assert_eq!(people("Ann Lee/dpa", NameContext::NameField), ["Ann Lee"]);
    }

    #[test]
    fn a_byline_for_a_newspaper_is_not_the_name_of_an_institution() {
        let byline = "By Ann Lee And Bob Ray For The Gazette On Sunday";
        assert_eq!(people(byline, NameContext::NameField), ["Ann Lee", "Bob Ray"]);
        assert_eq!(people("Amt für Umwelt", NameContext::NameField), ["Amt für Umwelt"]);
    }

    #[test]
    fn a_byline_may_be_set_off_by_dashes_and_ends_with_the_sentence() {
        assert_eq!(after_by("---- by Ann Lee"), Some(("Ann Lee", NameContext::RunningText)));
        assert!(opens_byline("– von Ann Lee"));
        assert_eq!(some("by Anna Kotn. This Weather"), ["Anna Kotn"]);
        assert_eq!(some("by Prof. Ann Lee"), ["Prof. Ann Lee"]);
    }

    #[test]
    fn malformed_bylines_terminate() {
        assert!(people(&"(".repeat(10_000), NameContext::NameField).is_empty());
        assert!(people(&"A B and ".repeat(10_000), NameContext::NameField).len() <= 40);
    }
}
