//! Sections of the site and keywords of the page.

use serde_json::Value;

use super::marks::{Place, Topic};
use super::site::Site;
use super::text::{fold, label, tidy};
use super::{Page, strings};

/// More topics than this say nothing.
const MOST: usize = 40;

/// Categories and tags.
pub fn read(page: &Page<'_>, site: &Site, title: &str) -> (Vec<String>, Vec<String>) {
    let unfit = |topic: &str| site.is(topic) || fold(topic) == fold(title);
    let mut categories = Topics::default();
    let mut tags = Topics::default();

    for (id, topic) in &page.marks.topics {
        if page.marks.place(page.tree, *id) != Place::Main {
            continue;
        }
        let Some(text) = label(page.tree, *id, 80) else { continue };
        let text = tidy(&text);
        // Dates and sentences are linked from the same boxes.
        let dated = text.bytes().filter(u8::is_ascii_digit).count() > 4;
        if dated || text.split(' ').count() > 6 {
            continue;
        }
        match topic {
            Topic::Category => categories.add(&text, 3),
            Topic::Tag => tags.add(&text, 3),
        }
    }
    for name in ["article:section", "parsely-section", "category"] {
        page.facts.meta(name).take(MOST).for_each(|section| categories.add(&tidy(section), 2));
    }
    if let Some(section) = page.article.and_then(|article| article.get("articleSection")) {
        strings(section, "name").into_iter().for_each(|section| categories.add(&tidy(section), 2));
    }
    page.facts.meta("article:tag").take(MOST).for_each(|tag| tags.add(&tidy(tag), 2));
    if let Some(keywords) = page.article.and_then(|article| article.get("keywords")) {
        let several = matches!(keywords, Value::Array(_));
        for keyword in strings(keywords, "name") {
            if several { tags.add(&tidy(keyword), 2) } else { tags.add_list(keyword, 2) }
        }
    }
    for name in ["news_keywords", "keywords", "parsely-tags", "sailthru.tags"] {
        page.facts.meta(name).take(3).for_each(|list| tags.add_list(list, 1));
    }
    (categories.best(&unfit), tags.best(&unfit))
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
        list.split([',', ';', '|', '、']).take(MOST).for_each(|topic| self.add(topic, rank));
    }

    /// What the best kind of evidence says.
    fn best(self, unfit: &impl Fn(&str) -> bool) -> Vec<String> {
        let Some(rank) = self.found.iter().filter(|(topic, _)| !unfit(topic)).map(|(_, rank)| *rank).max() else {
            return Vec::new();
        };
        let mut kept: Vec<String> = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for (topic, _) in self.found.into_iter().filter(|(_, of)| *of == rank).take(MOST) {
            let folded = fold(&topic);
            if !folded.is_empty() && !known.contains(&folded) && !unfit(&topic) {
                kept.push(topic);
                known.push(folded);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use crate::about;

    fn topics(html: &str) -> (Vec<String>, Vec<String>) {
        let tree = crate::tree::parse(html);
        let about = about::read(&tree, &crate::facts::Facts::read(&tree), None);
        (about.categories, about.tags)
    }

    #[test]
    fn links_say_whether_they_are_tags_or_categories() {
        let (categories, tags) = topics("<a rel='category tag'>Travel</a> <a rel=tag>Montauk</a><a rel=tag>Sea</a>");
        assert_eq!(categories, ["Travel"]);
        assert_eq!(tags, ["Montauk", "Sea"]);
    }

    #[test]
    fn lists_of_keywords_are_parted_and_each_is_kept_once() {
        assert_eq!(topics("<meta name=keywords content='Sea, sun; SEA,'>").1, ["Sea", "sun"]);
    }
}
