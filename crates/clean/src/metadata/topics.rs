//! Categories and tags.

use serde_json::Value;

use super::marks::{PageRegion, TopicKind};
use super::site::Site;
use super::text::{fold, label, tidy};
use super::{Page, strings};

/// Maximum number of topics.
const MAX_TOPICS: usize = 40;

/// The categories and tags of a page.
pub fn read(page: &Page<'_>, site: &Site, title: &str) -> (Vec<String>, Vec<String>) {
    let is_excluded = |topic: &str| site.is(topic) || fold(topic) == fold(title);
    let mut categories = Topics::default();
    let mut tags = Topics::default();

    for (id, topic) in &page.marks.topics {
        if page.marks.region(page.tree, *id) != PageRegion::Main {
            continue;
        }
        let Some(text) = label(page.tree, *id, 80) else { continue };
        let text = tidy(&text);
        // The same containers also link dates and sentences.
        let dated = text.bytes().filter(u8::is_ascii_digit).count() > 4;
        if dated || text.split(' ').count() > 6 {
            continue;
        }
        match topic {
            TopicKind::Category => categories.add(&text, 3),
            TopicKind::Tag => tags.add(&text, 3),
        }
    }
    for name in ["article:section", "parsely-section", "category"] {
        page.declared.meta(name).take(MAX_TOPICS).for_each(|section| categories.add(&tidy(section), 2));
    }
    if let Some(section) = page.article.and_then(|article| article.get("articleSection")) {
        strings(section, "name").into_iter().for_each(|section| categories.add(&tidy(section), 2));
    }
    page.declared.meta("article:tag").take(MAX_TOPICS).for_each(|tag| tags.add(&tidy(tag), 2));
    if let Some(keywords) = page.article.and_then(|article| article.get("keywords")) {
        let several = matches!(keywords, Value::Array(_));
        for keyword in strings(keywords, "name") {
            if several { tags.add(&tidy(keyword), 2) } else { tags.add_list(keyword, 2) }
        }
    }
    for name in ["news_keywords", "keywords", "parsely-tags", "sailthru.tags"] {
        page.declared.meta(name).take(3).for_each(|list| tags.add_list(list, 1));
    }
    (categories.best(&is_excluded), tags.best(&is_excluded))
}

#[derive(Default)]
struct Topics {
    found: Vec<(String, u8)>,
}

impl Topics {
    fn add(&mut self, topic: &str, rank: u8) {
        let topic = topic
            .trim_matches(|c: char| matches!(c, ',' | ';' | '#' | '|' | '/' | '>' | '»' | '•') || c.is_whitespace());
        if self.found.len() < 200
            && !topic.is_empty()
            && topic.chars().count() <= 60
            && topic.chars().any(char::is_alphabetic)
            && !topic.contains("{{")
        {
            self.found.push((topic.to_owned(), rank));
        }
    }

    fn add_list(&mut self, list: &str, rank: u8) {
        let list = tidy(list);
        list.split([',', ';', '|', '、']).take(MAX_TOPICS).for_each(|topic| self.add(topic, rank));
    }

    /// The topics with the most reliable kind of evidence.
    fn best(self, is_excluded: &impl Fn(&str) -> bool) -> Vec<String> {
        let Some(rank) = self.found.iter().filter(|(topic, _)| !is_excluded(topic)).map(|(_, rank)| *rank).max() else {
            return Vec::new();
        };
        let mut kept: Vec<String> = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for (topic, _) in self.found.into_iter().filter(|(_, of)| *of == rank).take(MAX_TOPICS) {
            let folded = fold(&topic);
            if !folded.is_empty() && !known.contains(&folded) && !is_excluded(&topic) {
                kept.push(topic);
                known.push(folded);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use crate::metadata;

    fn topics(html: &str) -> (Vec<String>, Vec<String>) {
        let tree = crate::tree::parse(html);
        let about = metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), None);
        (about.categories, about.tags)
    }

    #[test]
    fn links_are_classified_as_tags_or_categories() {
        let (categories, tags) = topics("<a rel='category tag'>Travel</a> <a rel=tag>Montauk</a><a rel=tag>Sea</a>");
        assert_eq!(categories, ["Travel"]);
        assert_eq!(tags, ["Montauk", "Sea"]);
    }

    #[test]
    fn keyword_lists_are_split_and_deduplicated() {
        assert_eq!(topics("<meta name=keywords content='Sea, sun; SEA,'>").1, ["Sea", "sun"]);
    }
}
