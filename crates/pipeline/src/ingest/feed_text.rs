//! Full texts of feeds: which entries have one, which refusals they make up for, and which pages lack them.
//!
//! A feed's text is stored with a page only if the page does not have it, so that the storage of healthy sites does not
//! double. The comparison is a few substring searches, because it is made for every page of a full-text feed.

use std::collections::HashSet;

use tidings_model::{FeedEntry, Page, Status};

/// The letters that a full text has at least, in bytes: about 100 English words. Teasers have some 50.
const MIN_LETTER_BYTES: usize = 500;
/// The maximum size of the HTML of a text.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// The maximum size of the texts that one processor puts into the journal of a run.
const MAX_RUN_BYTES: usize = 64 << 20;

/// The number of passages of the feed's text that are looked for in a page, and of those that must be there.
const PASSAGES: usize = 8;
const MIN_PASSAGES: usize = 5;
/// The length of a passage in characters.
const PASSAGE_CHARS: usize = 32;

/// The texts that a processor may still put into the journal.
pub(super) struct TextBudget(usize);

impl Default for TextBudget {
    fn default() -> TextBudget {
        TextBudget(MAX_RUN_BYTES)
    }
}

impl TextBudget {
    /// The full text of an entry, if it has one and the entry was not in the feed at the last poll.
    pub(super) fn text_of<'a>(&mut self, entry: &'a FeedEntry, key: u32, known: &HashSet<u32>) -> Option<&'a str> {
        let html = entry.content_html.as_deref().filter(|_| !known.contains(&(key & 0xff_ffff)))?;
        if html.len() > MAX_TEXT_BYTES || html.len() > self.0 || !is_full_text(html) {
            return None;
        }
        self.0 -= html.len();
        Some(html)
    }
}

/// Returns true if an HTML text is long enough for an article and is not cut off.
fn is_full_text(html: &str) -> bool {
    const TAIL_CHARS: usize = 60;
    let letters = letters(html);
    let text = tidings_feeds::visible_text(html);
    let tail: String = text.chars().rev().take(TAIL_CHARS).collect();
    // The tail is reversed.
    let has_mark = ["]…[", "]...["].iter().any(|mark| tail.contains(mark));
    let is_cut_off = has_mark || ["…", "..."].iter().any(|mark| text.trim_end().ends_with(mark));
    letters.len() >= MIN_LETTER_BYTES && !is_cut_off
}

/// Returns true if the text of the feed may take the place of a page with this status: the server refuses the page, or
/// it is gone. Failures of the network and of the server may pass.
pub(crate) fn makes_up_for(status: &Status) -> bool {
    matches!(status, Status::Http(401 | 402 | 403 | 404 | 410 | 451))
}

/// Returns true if a page does not have the text of the feed.
pub(super) fn is_lacking(page: &Page, html: &str) -> bool {
    let host = tidings_model::address::host(&page.final_url);
    let (decoded, _) = tidings_clean::decode::decode(&page.body, Some(&page.content_type), host);
    let (whole, text): (String, Vec<char>) = (letters(&decoded), letters(html).chars().collect());
    let Some(last) = text.len().checked_sub(PASSAGE_CHARS) else { return false };
    // The beginning is on every stub, so the passages are from the last three quarters.
    let first = last / 4;
    let passages = (0..PASSAGES).map(|number| first + (last - first) * number / (PASSAGES - 1));
    let found = passages.filter(|at| {
        let passage: String = text[*at..at + PASSAGE_CHARS].iter().collect();
        whole.contains(&passage)
    });
    found.count() < MIN_PASSAGES
}

/// The letters of an HTML text in lower case, without tags, scripts, styles, character references and spaces, in which
/// feed and page may differ.
fn letters(html: &str) -> String {
    let mut letters = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        push_letters(&rest[..at], &mut letters);
        rest = &rest[at..];
        rest = match rest.as_bytes()[0] {
            b'<' => after_tag(rest),
            _ => after_reference(rest),
        };
    }
    push_letters(rest, &mut letters);
    letters
}

fn push_letters(text: &str, letters: &mut String) {
    letters.extend(text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase));
}

/// The markup after a tag; after the end tag, if the content of its element is not text.
fn after_tag(markup: &str) -> &str {
    let end_of_tag = |markup: &'_ str| markup.find('>').map_or(markup.len(), |at| at + 1);
    for name in ["<script", "<style"] {
        if markup.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            let closing = format!("</{}", &name[1..]);
            let found = markup
                .char_indices()
                .map(|(at, _)| at)
                .find(|at| markup[*at..].get(..closing.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(&closing)));
            let rest = &markup[found.unwrap_or(markup.len())..];
            return &rest[end_of_tag(rest)..];
        }
    }
    &markup[end_of_tag(markup)..]
}

/// The markup after a character reference, or after an ampersand.
fn after_reference(markup: &str) -> &str {
    const MAX_CHARS: usize = 12;
    let end = markup.bytes().take(MAX_CHARS).position(|byte| byte == b';');
    &markup[end.map_or(1, |at| at + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{article, page};

    fn entry(html: &str) -> FeedEntry {
        FeedEntry { content_html: Some(html.to_owned()), ..FeedEntry::default() }
    }

    fn body_of(html: &str) -> &str {
        &html[html.find("<p>").unwrap()..html.find("</article>").unwrap()]
    }

    /// A page of two hundred words, and its text.
    fn whole_page() -> String {
        article("ferry").replace("</article>", &format!("{}</article>", body_of(&article("museum"))))
    }

    fn full_text() -> String {
        body_of(&whole_page()).to_owned()
    }

    #[test]
    fn a_long_text_of_a_new_entry_is_a_full_text_and_a_teaser_is_not() {
        let has_text = |html: &str, known: &[u32]| {
            let known = known.iter().copied().collect();
            TextBudget::default().text_of(&entry(html), 0x0100_0007, &known).is_some()
        };
        assert!(has_text(&full_text(), &[]));
        assert!(!has_text(&full_text(), &[7]), "it was in the feed before");
        assert!(!has_text("<p>The council decided on Monday that the ferry will return.</p>", &[]));
        assert!(!has_text(&format!("{}<p>And so on [&#8230;] <a>Read more</a></p>", full_text()), &[]));
        assert!(!has_text(&full_text().repeat(400), &[]), "too large");
        assert_eq!(TextBudget::default().text_of(&FeedEntry::default(), 1, &HashSet::new()), None);
    }

    #[test]
    fn the_texts_of_a_run_are_bounded() {
        let (entry, mut budget) = (entry(&full_text()), TextBudget(2 * full_text().len()));
        let mut next = || budget.text_of(&entry, 1, &HashSet::new()).is_some();
        assert_eq!([next(), next(), next()], [true, true, false]);
    }

    #[test]
    fn refusals_are_made_up_for_and_troubles_of_the_server_are_not() {
        let statuses = [401, 403, 404, 410, 451, 429, 500, 503].map(|code| makes_up_for(&Status::Http(code)));
        assert_eq!(statuses, [true, true, true, true, true, false, false, false]);
        assert!(!makes_up_for(&Status::failed("robots")) && !makes_up_for(&Status::failed("timeout")));
    }

    #[test]
    fn a_page_with_the_text_does_not_lack_it_whatever_its_markup() {
        let url = "https://gazette.example/1";
        let whole = whole_page();
        assert!(!is_lacking(&page(url, &whole), &full_text()));
        let marked = whole.replace("the ", "<b>the</b>&nbsp;").replace(" of", "\n<script>if (1 < 2) {}</script>of");
        assert!(!is_lacking(&page(url, &marked), &full_text()));
        let stub = &whole[..whole.find("According").unwrap()];
        assert!(is_lacking(&page(url, stub), &full_text()));
        assert!(is_lacking(&page(url, "<p>Before you continue</p>"), &full_text()));
    }

    #[test]
    fn letters_are_those_of_the_visible_text() {
        assert_eq!(letters("A<b>b</b> &amp; C1&nbsp;<SCRIPT>x<y</SCRIPT >d & é<style>p{}</style"), "abcdé");
        assert_eq!(letters("a<script>never closed"), "a");
    }
}
