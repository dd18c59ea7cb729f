//! The declared title, description and article body, as word sets to compare blocks with.

use serde_json::Value;

use super::blocks;
use super::features::flag;
use super::words::{WordSet, each_trigram, each_word, word_set};
use crate::declared_metadata::{DeclaredMetadata, is_article};
use crate::tree::Tree;

/// The words of the title, without the site name.
pub(super) fn title_words(tree: &Tree, declared: &DeclaredMetadata<'_>) -> WordSet {
    let social = declared.meta("og:title").chain(declared.meta("twitter:title")).next().map(str::to_owned);
    let title = social.or_else(|| declared.title.map(|title| tree.text(title))).unwrap_or_default();
    word_set(without_site(&title[..title.floor_char_boundary(1000)]))
}

/// Removes the site name from a title. It is the shorter part before or after a bar or dash.
fn without_site(title: &str) -> &str {
    let parts = [" | ", " - ", " – ", " — ", " · ", " :: ", " » "].iter().filter_map(|bar| {
        let (first, last) = (title.split(*bar).next()?, title.rsplit(*bar).next()?);
        (first.len() < title.len()).then_some(if first.len() >= last.len() { first } else { last })
    });
    parts.min_by_key(|part| part.len()).filter(|part| part.len() * 2 >= title.len()).unwrap_or(title)
}

/// The words of the description.
pub(super) fn description_words(declared: &DeclaredMetadata<'_>) -> WordSet {
    let description = declared.meta("og:description").chain(declared.meta("description")).next().unwrap_or_default();
    word_set(&description[..description.floor_char_boundary(2000)])
}

/// Word trigrams of the `articleBody` in JSON-LD.
pub(super) struct BodyTrigrams {
    runs: WordSet,
    pub(super) words: f32,
}

/// The longest `articleBody` in JSON-LD as plain text.
fn declared_body(declared: &DeclaredMetadata<'_>) -> Option<String> {
    let bodies = declared.objects_of(is_article).filter_map(|object| object.get("articleBody").and_then(Value::as_str));
    bodies.max_by_key(|body| body.len()).filter(|body| body.len() >= 200).map(plain)
}

/// The article body that a page declares in JSON-LD.
#[derive(Debug, Clone)]
pub struct DeclaredBody {
    /// Its text, one paragraph per line.
    pub text: String,
    words: f32,
}

/// A declared body with fewer words is a teaser.
const MIN_DECLARED_WORDS: f32 = 80.0;

impl DeclaredBody {
    /// The declared body of a page, unless it is only a teaser.
    pub fn read(declared: &DeclaredMetadata<'_>) -> Option<DeclaredBody> {
        let text = declared_body(declared)?;
        let mut words = 0.0;
        each_word(&text, |_, _, weight| words += weight);
        (words >= MIN_DECLARED_WORDS).then_some(DeclaredBody { text, words })
    }

    /// Returns whether the page shows so few words that the declared body is the article.
    pub fn replaces(&self, shown_words: usize) -> bool {
        (shown_words as f32) < 0.4 * self.words
    }
}

/// Plain text of a value that may contain HTML, possibly escaped once more.
fn plain(value: &str) -> String {
    let mut text = value.to_owned();
    for _ in 0..2 {
        if !text.contains(['<', '&']) {
            break;
        }
        let blocks = blocks::segment(&crate::tree::parse(&text));
        text = blocks.list.iter().map(|block| block.text(&blocks)).collect::<Vec<_>>().join("\n");
    }
    text
}

/// The trigrams of the declared article body.
pub(super) fn body_trigrams(declared: &DeclaredMetadata<'_>) -> Option<BodyTrigrams> {
    let body = &declared_body(declared)?;
    let mut words = 0.0;
    let mut runs = WordSet::default();
    each_trigram(body, |run| {
        runs.insert(run);
        words += 1.0;
    });
    Some(BodyTrigrams { runs, words })
}

impl BodyTrigrams {
    /// Share of a text's trigrams that occur in the body.
    pub(super) fn share(&self, text: &str) -> f32 {
        let (mut all, mut shared) = (0.0f32, 0.0);
        each_trigram(text, |run| {
            all += 1.0;
            shared += flag(self.runs.contains(&run));
        });
        shared / all.max(1.0)
    }
}
