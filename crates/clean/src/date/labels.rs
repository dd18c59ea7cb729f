//! Words that tell what a date refers to: labels in text, and words in class names.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Meaning of a label next to a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Published, posted, written.
    Published,
    /// Updated, edited.
    Modified,
    /// Another event: copyright, registration, birth.
    Other,
}

/// Labels by word, from `languages/CODE/calendar.tsv`.
static LABELS: LazyLock<HashMap<&str, Label>> = LazyLock::new(|| {
    let keys = [("unrelated", Label::Other), ("published", Label::Published), ("modified", Label::Modified)];
    keys.into_iter().flat_map(|(key, label)| tidings_lang::calendar_words(key).map(move |word| (word, label))).collect()
});

/// Labels of Chinese, Japanese and Korean, which do not separate words.
static UNSPACED: LazyLock<Vec<(&str, Label)>> = LazyLock::new(|| {
    let keys = [("modified-within", Label::Modified), ("published-within", Label::Published)];
    keys.into_iter().flat_map(|(key, label)| tidings_lang::calendar_words(key).map(move |word| (word, label))).collect()
});

/// The meaning of the last known label in a text.
pub(super) fn label(text: &str) -> Option<Label> {
    if text.trim_ascii().is_empty() {
        return None;
    }
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '©')).rev().filter(|word| !word.is_empty());
    for word in words.take(8) {
        if let Some(label) = LABELS.get(word) {
            return Some(*label);
        }
        if !word.is_ascii()
            && let Some((_, label)) = UNSPACED.iter().find(|(known, _)| word.contains(known))
        {
            return Some(*label);
        }
    }
    None
}

/// The name contains a word for date.
pub(super) const DATE: u16 = 1;
/// The name contains a word for modification.
pub(super) const CHANGE: u16 = 2;
/// Menu, sidebar or footer.
pub(super) const EDGE: u16 = 4;
/// Teasers of other articles.
pub(super) const RELATED: u16 = 8;
/// DateParser comments.
pub(super) const COMMENT: u16 = 16;
/// Byline.
pub(super) const BYLINE: u16 = 32;
/// The article, or an element named like one.
pub(super) const ARTICLE: u16 = 64;
/// Inside a link.
pub(super) const LINK: u16 = 128;
/// Header of the site or of the article.
pub(super) const HEADER: u16 = 256;
/// The name contains a word for publication.
pub(super) const PUBLICATION: u16 = 512;
/// Events and calendars, whose dates are not the article's.
pub(super) const EVENT: u16 = 1024;

/// The marks of the names in a class or id attribute.
pub(super) fn marks(names: &str) -> u16 {
    let mut marks = 0;
    // Utility-class style sheets make some of these very long.
    for name in names.split_ascii_whitespace().take(12) {
        marks |= name_marks(name.as_bytes());
    }
    marks
}

fn name_marks(name: &[u8]) -> u16 {
    let mut marks = 0;
    let mut word = [0u8; 16];
    let mut length = 0;
    let mut upper_before = true;
    for (offset, b) in name.iter().take(64).chain(b" ").enumerate() {
        // camelCase separates words, too.
        let upper = b.is_ascii_uppercase();
        if !b.is_ascii_alphabetic() || upper && !upper_before {
            let word = &word[..length];
            if offset <= 5 && matches!(word, b"has" | b"with" | b"no" | b"is" | b"js" | b"col") {
                return 0;
            }
            marks |= word_marks(word);
            length = 0;
        }
        if b.is_ascii_alphabetic() && length < 16 {
            word[length] = b.to_ascii_lowercase();
            length += 1;
        }
        upper_before = upper;
    }
    marks
}

fn word_marks(word: &[u8]) -> u16 {
    match word {
        b"" => 0,
        b"date" | b"datum" | b"datetime" | b"dateline" | b"timestamp" | b"time" | b"fecha" | b"dato" | b"dt"
        | b"datestamp" | b"dates" | b"kiedy" | b"zeit" | b"day" => DATE,
        b"published" | b"publish" | b"pubdate" | b"posted" | b"pub" | b"publication" | b"created" | b"publishdate"
        | b"postdate" | b"publicado" | b"posttime" | b"pubtime" | b"publishtime" | b"veroeffentlicht" | b"erstellt"
        | b"entrydate" | b"articledate" | b"newsdate" | b"createdate" => DATE | PUBLICATION,
        b"update" | b"updated" | b"modified" | b"lastmod" | b"changed" | b"aktualisiert" | b"revised" | b"edited"
        | b"lastupdate" | b"lastmodified" | b"updatedate" => CHANGE,
        b"byline" | b"meta" | b"info" | b"author" | b"autor" | b"credits" | b"credit" | b"postmeta" | b"submitted"
        | b"details" | b"infos" | b"source" => BYLINE,
        b"footer" | b"sidebar" | b"nav" | b"navigation" | b"navbar" | b"menu" | b"breadcrumb" | b"breadcrumbs"
        | b"aside" | b"ticker" | b"cookie" | b"popup" | b"modal" | b"foot" | b"advert" | b"ads" | b"newsletter"
        | b"topbar" | b"sidenav" | b"marginalspalte" | b"copyright" | b"impressum" | b"rail" => EDGE,
        b"related" | b"recommended" | b"recommendations" | b"teaser" | b"teasers" | b"latest" | b"popular"
        | b"trending" | b"similar" | b"recent" | b"archive" | b"archives" | b"mostread" | b"carousel" | b"slider"
        | b"recirculation" | b"readmore" | b"outbrain" | b"taboola" | b"aktuelle" | b"weitere" => RELATED,
        b"comment" | b"comments" | b"commentlist" | b"kommentar" | b"kommentare" | b"disqus" | b"reply"
        | b"replies" | b"respond" | b"comentarios" | b"commentaires" => COMMENT,
        b"event" | b"events" | b"calendar" | b"kalender" | b"termin" | b"termine" | b"schedule" | b"tweet"
        | b"twitter" | b"biography" => EVENT,
        b"article" | b"hentry" | b"entry" | b"story" => ARTICLE,
        // artikeldatum, newsdate, dateposted, but not candidate or mandate.
        _ if word.ends_with(b"datum") || word.starts_with(b"datum") => DATE,
        _ if word.ends_with(b"date") && !matches!(word, b"candidate" | b"mandate" | b"validate" | b"consolidate") => {
            DATE
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_known_label_before_a_date_applies() {
        assert_eq!(label("Published: "), Some(Label::Published));
        assert_eq!(label("Von Karla Kolumna, aktualisiert am "), Some(Label::Modified));
        assert_eq!(label("公開日: "), Some(Label::Published));
        assert_eq!(label("© Example "), Some(Label::Other));
        assert_eq!(label("by Jane Doe on "), None);
    }

    #[test]
    fn class_names_are_split_into_words() {
        assert_eq!(marks("entry-date") & DATE, DATE);
        assert_eq!(marks("publishDate") & (DATE | PUBLICATION), DATE | PUBLICATION);
        assert_eq!(marks("artikeldatum"), DATE);
        assert_eq!(marks("candidate has-sidebar"), 0);
        assert_eq!(marks("Comments__list") & COMMENT, COMMENT);
    }
}
