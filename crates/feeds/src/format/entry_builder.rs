//! Builders of entries and feeds, which choose among candidates once all fields are known.

use jiff::Timestamp;
use tidings_model::{FeedEntry, Person};

use crate::address;
use crate::date;
use crate::limits::Limits;

use super::content::RichText;

/// The suitability of a link as the link of an entry or feed; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkFit {
    /// The link element of RSS.
    Plain,
    /// A web page with the relation `alternate`.
    Page,
    /// Another format with the relation `alternate`.
    OtherForm,
    /// Any other relation.
    Related,
}

/// Fields common to entries and feeds.
#[derive(Debug, Default)]
pub(super) struct CommonFields {
    pub(super) title: Option<(String, Option<String>)>,
    /// The depth of the title; deeper titles do not replace it.
    title_depth: usize,
    title_is_weak: bool,
    /// The best link so far and its depth; deeper links concern something else.
    pub(super) link: Option<(usize, LinkFit, String)>,
    pub(super) authors: Vec<Person>,
    pub(super) author_is_weak: bool,
    pub(super) published: Option<Timestamp>,
    pub(super) updated: Option<Timestamp>,
    pub(super) created: Option<Timestamp>,
    pub(super) unread_dates: Vec<String>,
    pub(super) language: Option<String>,
    pub(super) rights: Option<String>,
    pub(super) licence: Option<String>,
}

impl CommonFields {
    /// Adds a title candidate; the outermost wins, then the first.
    pub(super) fn offer_title(&mut self, prose: &RichText<'_>, depth: usize, weak: bool) {
        let better = match &self.title {
            None => true,
            Some((title, _)) if title.is_empty() => true,
            Some(_) if weak => false,
            Some(_) => self.title_is_weak || depth < self.title_depth,
        };
        if better {
            self.title = Some((prose.plain(), prose.markup()));
            self.title_depth = depth;
            self.title_is_weak = weak;
        }
    }

    /// Adds a link candidate; the best fit wins.
    pub(super) fn offer_link(&mut self, depth: usize, fit: LinkFit, link: String) {
        if self.link.as_ref().is_none_or(|(at, known, _)| (depth, fit) < (*at, *known)) {
            self.link = Some((depth, fit, link));
        }
    }

    /// Adds an author, without duplicates.
    pub(super) fn offer_author(&mut self, person: Person, weak: bool, limits: &Limits) {
        if person == Person::default() || (weak && !self.authors.is_empty()) {
            return;
        }
        if !weak && self.author_is_weak {
            self.authors.clear();
        }
        self.author_is_weak = weak;
        if self.authors.len() < limits.max_list && !self.authors.contains(&person) {
            self.authors.push(person);
        }
    }

    /// Parses a date into its field, or keeps it verbatim.
    pub(super) fn offer_date(&mut self, slot: DateField, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let Some(moment) = date::parse(text) else {
            if self.unread_dates.len() < 8 {
                self.unread_dates.push(text.chars().take(100).collect());
            }
            return;
        };
        let slot = match slot {
            DateField::Published => &mut self.published,
            DateField::Updated => &mut self.updated,
            DateField::Created => &mut self.created,
        };
        slot.get_or_insert(moment);
    }
}

/// The date fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum DateField {
    Published,
    Updated,
    Created,
}

/// An entry under construction.
#[derive(Debug, Default)]
pub(super) struct EntryBuilder {
    pub(super) common: CommonFields,
    pub(super) id: Option<String>,
    /// True if the identifier may serve as the link.
    pub(super) id_is_link: bool,
    /// True if the feed says that it is the link; then it may be relative.
    pub(super) id_is_permalink: bool,
    /// `rdf:about`, the fallback for identifier and link.
    pub(super) about: Option<String>,
    pub(super) orig_link: Option<String>,
    pub(super) summary: Option<(String, Option<String>)>,
    pub(super) content: Option<String>,
    /// True if the content is only a second summary.
    pub(super) content_is_weak: bool,
    pub(super) categories: Vec<String>,
    pub(super) comments: Option<String>,
    pub(super) enclosures: Vec<String>,
}

impl EntryBuilder {
    /// Adds a summary. The longer of two is the content, unless there is a proper one.
    pub(super) fn offer_summary(&mut self, prose: RichText<'_>) {
        if prose.value.trim().is_empty() {
            return;
        }
        match (&self.summary, &self.content) {
            (None, _) => self.summary = Some((prose.plain(), prose.markup())),
            (Some(_), None) => {
                self.content = Some(prose.html());
                self.content_is_weak = true;
            }
            _ => {}
        }
    }

    /// Adds a content candidate; the first proper one wins.
    pub(super) fn offer_content(&mut self, prose: RichText<'_>) {
        if prose.value.trim().is_empty() {
            return;
        }
        if self.content.is_none() || self.content_is_weak {
            self.content = Some(prose.html());
            self.content_is_weak = false;
        }
    }

    /// Adds a category, without duplicates.
    pub(super) fn offer_category(&mut self, category: &str, limits: &Limits) {
        let category = category.trim();
        if !category.is_empty()
            && self.categories.len() < limits.max_list
            && !self.categories.iter().any(|known| known == category)
        {
            self.categories.push(category.to_string());
        }
    }

    /// Chooses among the candidates and returns the entry.
    pub(super) fn finish(self, resolve: impl Fn(&str) -> Option<String>) -> FeedEntry {
        let common = self.common;
        let web = |link: &Option<String>| link.as_deref().is_some_and(address::is_web);
        let id_as_link = || match self.id.as_deref().filter(|_| self.id_is_link)? {
            id if address::is_web(id) => Some(id.to_owned()),
            // A path: words and numbers are identifiers, whatever the attribute says.
            id if self.id_is_permalink && id.contains('/') && !id.contains(char::is_whitespace) && !has_scheme(id) => {
                resolve(id)
            }
            _ => None,
        };
        let behind = Some(self.orig_link).filter(web).flatten();
        let given = common
            .link
            .map(|(_, _, link)| link)
            .or_else(id_as_link)
            .or_else(|| self.about.as_deref().filter(|about| address::is_web(about)).and_then(&resolve));
        let (link, tracker_link) = match behind {
            Some(behind) => (Some(behind), given),
            None => (given, None),
        };
        let (title, title_html) = common.title.unwrap_or_default();
        let (summary, summary_html) = match self.summary {
            Some((text, html)) => (Some(text), html),
            None => (None, None),
        };
        FeedEntry {
            tracker_link: tracker_link.filter(|tracker| Some(tracker) != link.as_ref()),
            link,
            id: self.id.or(self.about),
            title,
            title_html,
            summary,
            summary_html,
            content_html: self.content,
            authors: common.authors,
            categories: self.categories,
            published: common.published,
            updated: common.updated,
            created: common.created,
            unread_dates: common.unread_dates,
            language: common.language,
            rights: common.rights,
            licence: common.licence,
            comments: self.comments,
            enclosures: self.enclosures,
        }
    }
}

/// Returns true for `tag:`, `urn:` and the like.
fn has_scheme(text: &str) -> bool {
    let scheme = text.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.contains(':')
}

/// Parses `name (mail)`, `mail (name)`, `name <mail>` and plain forms.
pub(super) fn person(text: &str) -> Person {
    let text = text.trim();
    let is_mail = |part: &str| part.contains('@') && !part.contains(char::is_whitespace) && !part.contains('/');
    let clean = |part: &str| {
        part.trim().trim_start_matches("mailto:").trim_matches(['"', '<', '>', '(', ')']).trim().to_string()
    };
    for (open, close) in [('(', ')'), ('<', '>')] {
        let Some((outside, rest)) = text.split_once(open) else {
            continue;
        };
        let Some((inside, _)) = rest.split_once(close) else {
            continue;
        };
        let (outside, inside) = (clean(outside), clean(inside));
        if is_mail(&outside) {
            return Person { name: inside, email: Some(outside), uri: None };
        }
        if is_mail(&inside) {
            return Person { name: outside, email: Some(inside), uri: None };
        }
    }
    if is_mail(text) {
        return Person { name: String::new(), email: Some(clean(text)), uri: None };
    }
    Person { name: crate::html::collapse(text), ..Person::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_are_parsed_in_all_forms() {
        for text in ["Ann Bee (ann@a.example)", "ann@a.example (Ann Bee)", "Ann Bee <ann@a.example>"] {
            let person = person(text);
            assert_eq!((person.name.as_str(), person.email.as_deref()), ("Ann Bee", Some("ann@a.example")), "{text}");
        }
        assert_eq!(person("ann@a.example").email.as_deref(), Some("ann@a.example"));
        assert_eq!(person(" Ann \n Bee (editor)").name, "Ann Bee (editor)");
    }
}
