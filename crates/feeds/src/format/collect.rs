//! Builds a feed from the fields that the XML walker finds.
//!
//! The walker knows the start and end of elements; the collector assigns fields to the feed or to an entry.

use tidings_model::{Feed, FeedFormat, Person, UpdatePeriod, Weekday};

use crate::address::Base;
use crate::date;
use crate::entity::{self, Declared};
use crate::html;
use crate::limits::Limits;
use crate::markup::Attributes;
use crate::repairs::Repairs;

use super::content::{ContentKind, ElementContent, RichText};
use super::element::{ElementRole, PersonRole};
use super::entry_builder::{CommonFields, DateField, EntryBuilder, LinkFit, person};
use super::newest::NewestEntries;

/// A complete field.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) role: ElementRole,
    pub(super) attributes: &'a str,
    pub(super) inside: ElementContent<'a>,
    pub(super) kind: ContentKind,
}

/// The feed under construction.
pub(super) struct Collector<'l> {
    limits: &'l Limits,
    pub(super) repairs: Repairs,
    pub(super) declared: Declared,
    /// Base URLs of relative links, innermost last.
    bases: Vec<Base>,
    /// The nesting depth of the current field.
    pub(super) depth: usize,
    person: Option<(PersonRole, Person)>,
    entry: Option<EntryBuilder>,
    common: CommonFields,
    entries: NewestEntries,
    pub(super) feed: Feed,
}

impl<'l> Collector<'l> {
    pub(super) fn new(url: &str, limits: &'l Limits, repairs: Repairs) -> Self {
        Collector {
            limits,
            repairs,
            declared: Declared::default(),
            bases: vec![Base::new(url)],
            depth: 0,
            person: None,
            entry: None,
            common: CommonFields::default(),
            entries: NewestEntries::new(limits.max_entries),
            feed: Feed::default(),
        }
    }

    /// The innermost base URL.
    fn base(&self) -> &Base {
        self.bases.last().expect("the document's own base is never popped")
    }

    /// Enters an element with an `xml:base`.
    pub(super) fn push_base(&mut self, relative: &str) {
        let relative = entity::unescape(relative, &self.declared, &mut self.repairs);
        let inner = self.base().join(&relative);
        self.bases.push(inner);
    }

    /// Leaves an element with an `xml:base`.
    pub(super) fn pop_base(&mut self) {
        if self.bases.len() > 1 {
            self.bases.pop();
        }
    }

    /// Starts an entry and reads the attributes of its tag.
    pub(super) fn begin_entry(&mut self, attributes: &str) {
        let mut draft = EntryBuilder::default();
        if attributes.is_empty() {
            self.entry = Some(draft);
            return;
        }
        let get = |name| Attributes::get(attributes, name);
        draft.common.language = get("xml:lang").map(tag_of_language).filter(|tag| !tag.is_empty());
        let about = get("rdf:about").or_else(|| get("about")).map(str::trim);
        draft.about = about.map(|about| entity::unescape(about, &self.declared, &mut self.repairs).into_owned());
        // CDF has URL and date of the entry in its tag.
        if let Some(date) = get("lastmod") {
            draft.common.offer_date(DateField::Updated, date);
        }
        self.entry = Some(draft);
        if let Some(href) = get("href") {
            self.link(href, "", "");
        }
    }

    /// Starts a person with child elements.
    pub(super) fn begin_person(&mut self, person_role: PersonRole) {
        self.person = Some((person_role, Person::default()));
    }

    /// Finishes the current entry, if any.
    pub(super) fn finish_entry(&mut self) {
        let Some(draft) = self.entry.take() else {
            return;
        };
        let base = self.base();
        let entry = draft.finish(|link| base.resolve(link));
        self.entries.push(entry);
    }

    /// Finishes the current person, if any.
    pub(super) fn finish_person(&mut self) {
        if let Some((person_role, person)) = self.person.take() {
            self.offer_person(person_role, person);
        }
    }

    fn offer_person(&mut self, person_role: PersonRole, person: Person) {
        let limits = self.limits;
        match person_role {
            PersonRole::Other => {}
            person_role => self.common().offer_author(person, person_role == PersonRole::Editor, limits),
        }
    }

    /// The common fields of the current entry or of the feed.
    fn common(&mut self) -> &mut CommonFields {
        match &mut self.entry {
            Some(entry) => &mut entry.common,
            None => &mut self.common,
        }
    }

    /// The default content type of a field.
    pub(super) fn default_kind(&self, role: ElementRole) -> ContentKind {
        let atom = self.feed.format == FeedFormat::Atom;
        match role {
            ElementRole::Description | ElementRole::Encoded => ContentKind::Html,
            ElementRole::Body => ContentKind::Xhtml,
            _ if atom => ContentKind::Text,
            _ => ContentKind::Guess,
        }
    }

    /// Reads fields stored in attributes. Returns true if the element has no further content.
    pub(super) fn read_attributes(&mut self, role: ElementRole, attributes: &str) -> bool {
        if attributes.is_empty() {
            return false;
        }
        let get = |name| Attributes::get(attributes, name);
        match role {
            ElementRole::Link => {
                let Some(href) = get("href") else {
                    return false;
                };
                let (rel, kind) = (get("rel").unwrap_or(""), get("type").unwrap_or(""));
                self.link(href, rel, kind);
                true
            }
            ElementRole::Category => {
                let Some(term) = get("term").or_else(|| get("text")).or_else(|| get("label")) else {
                    return false;
                };
                let term = entity::unescape(term, &self.declared, &mut self.repairs);
                self.category(&html::collapse(&term));
                // Podcast categories nest; the inner ones are categories too.
                true
            }
            // A container of alternative forms of the same text.
            ElementRole::Content => get("type").is_some_and(|kind| kind.starts_with("multipart/")),
            ElementRole::Enclosure => {
                if let Some(address) = get("url").or_else(|| get("href")) {
                    self.enclosure(address);
                }
                true
            }
            ElementRole::GeneratorAgent => {
                if let Some(agent) = get("rdf:resource") {
                    self.feed.generator.get_or_insert_with(|| agent.trim().to_string());
                }
                true
            }
            ElementRole::Licence => {
                let Some(address) = get("rdf:resource").or_else(|| get("href")) else {
                    return false;
                };
                self.licence(address);
                true
            }
            _ => false,
        }
    }

    /// Adds a complete field.
    pub(super) fn field<'a>(&mut self, field: &Field<'a>, raw: &'a str) {
        let role = field.role;
        if let ElementRole::Title
        | ElementRole::MediaTitle
        | ElementRole::Subtitle
        | ElementRole::Description
        | ElementRole::Summary
        | ElementRole::Content
        | ElementRole::Encoded
        | ElementRole::Body
        | ElementRole::Rights = role
        {
            let prose = field.inside.prose(raw, field.kind, &self.declared, &mut self.repairs);
            self.prose(role, prose);
            return;
        }
        let text = field.inside.plain(raw, &self.declared, &mut self.repairs);
        let text = text.as_ref();
        if text.is_empty() {
            return;
        }
        match role {
            ElementRole::Link => {
                let get = |name| Attributes::get(field.attributes, name).unwrap_or("");
                let fit = if get("rel").is_empty() { LinkFit::Plain } else { LinkFit::Page };
                self.link_of(text, get("rel"), get("type"), fit);
            }
            ElementRole::OrigLink => {
                let link = self.resolve(text);
                if let Some(entry) = &mut self.entry {
                    entry.orig_link = link;
                }
            }
            ElementRole::Comments => {
                let link = self.resolve(text);
                if let Some(entry) = &mut self.entry {
                    entry.comments = link;
                }
            }
            ElementRole::Enclosure => self.enclosure(text),
            ElementRole::Id => {
                let permanent = Attributes::get(field.attributes, "isPermaLink");
                if let Some(entry) = &mut self.entry {
                    entry.id.get_or_insert_with(|| text.to_string());
                    let is_true = |value: &str| value.trim().eq_ignore_ascii_case("true");
                    entry.id_is_link = permanent.is_none_or(is_true);
                    entry.id_is_permalink = permanent.is_some_and(is_true);
                }
            }
            ElementRole::Published => self.common().offer_date(DateField::Published, text),
            ElementRole::Updated => self.common().offer_date(DateField::Updated, text),
            ElementRole::Created => self.common().offer_date(DateField::Created, text),
            ElementRole::Person(person_role) => {
                let plain = if html::looks_like_html(text) { html::to_text(text) } else { text.to_string() };
                self.offer_person(person_role, person(&plain));
            }
            ElementRole::Name | ElementRole::Email | ElementRole::Uri => self.person_part(role, text),
            ElementRole::Category => self.category(&html::collapse(text)),
            ElementRole::Keywords => {
                for keyword in text.split(',') {
                    self.category(&html::collapse(keyword));
                }
            }
            ElementRole::Language => {
                let tag = text.chars().take(40).collect();
                self.common().language = Some(tag);
            }
            ElementRole::Licence => self.licence(text),
            ElementRole::Generator | ElementRole::GeneratorAgent if self.entry.is_none() => {
                self.feed.generator = Some(html::collapse(text));
            }
            _ if self.entry.is_none() => self.pace(role, text),
            _ => {}
        }
    }

    fn prose(&mut self, role: ElementRole, prose: RichText<'_>) {
        let depth = self.depth;
        if role == ElementRole::Title || role == ElementRole::MediaTitle {
            self.common().offer_title(&prose, depth, role == ElementRole::MediaTitle);
            return;
        }
        if role == ElementRole::Rights {
            let plain = prose.plain();
            if !plain.is_empty() {
                self.common().rights.get_or_insert(plain);
            }
            return;
        }
        match (&mut self.entry, role) {
            (Some(entry), ElementRole::Description | ElementRole::Summary) => entry.offer_summary(prose),
            (Some(entry), ElementRole::Content | ElementRole::Encoded | ElementRole::Body) => {
                entry.offer_content(prose)
            }
            (None, ElementRole::Description | ElementRole::Subtitle | ElementRole::Summary) => {
                let plain = prose.plain();
                if !plain.is_empty() {
                    self.feed.subtitle.get_or_insert(plain);
                }
            }
            _ => {}
        }
    }

    fn person_part(&mut self, role: ElementRole, text: &str) {
        // Some feeds list all names in one author.
        if role == ElementRole::Name
            && let Some((person_role, person)) = self.person.take_if(|(_, person)| !person.name.is_empty())
        {
            self.offer_person(person_role, person);
            self.begin_person(person_role);
        }
        let address = (role == ElementRole::Uri).then(|| self.resolve(text)).flatten();
        let Some((_, person)) = &mut self.person else {
            return;
        };
        match role {
            ElementRole::Name => person.name = html::collapse(text),
            ElementRole::Email => person.email = Some(text.to_string()),
            _ => person.uri = address,
        }
    }

    fn pace(&mut self, role: ElementRole, text: &str) {
        let pace = &mut self.feed.pace;
        match role {
            ElementRole::Ttl => pace.ttl_minutes = text.parse().ok(),
            ElementRole::SkipHour => {
                // Some feeds count to 24; both ends mean midnight.
                let hour = text.parse::<u8>().ok().filter(|hour| *hour <= 24).map(|hour| hour % 24);
                pace.skip_hours.extend(hour.filter(|hour| !pace.skip_hours.contains(hour)));
            }
            ElementRole::SkipDay => {
                pace.skip_days.extend(weekday(text).filter(|day| !pace.skip_days.contains(day)));
            }
            ElementRole::UpdatePeriod => {
                pace.update_period = match text.to_ascii_lowercase().as_str() {
                    "hourly" => Some(UpdatePeriod::Hourly),
                    "daily" => Some(UpdatePeriod::Daily),
                    "weekly" => Some(UpdatePeriod::Weekly),
                    "monthly" => Some(UpdatePeriod::Monthly),
                    "yearly" => Some(UpdatePeriod::Yearly),
                    _ => None,
                }
            }
            ElementRole::UpdateFrequency => pace.update_frequency = text.parse().ok(),
            ElementRole::UpdateBase => pace.update_base = date::parse(text),
            _ => {}
        }
    }

    fn resolve(&self, address: &str) -> Option<String> {
        self.base().resolve(address)
    }

    /// Adds a link given by attributes.
    pub(super) fn link(&mut self, href: &str, rel: &str, kind: &str) {
        let href = entity::unescape(href, &self.declared, &mut self.repairs).into_owned();
        self.link_of(&href, rel, kind, LinkFit::Page);
    }

    /// Adds a link by its relation; `page` is the fit of a web page.
    fn link_of(&mut self, href: &str, rel: &str, kind: &str, page: LinkFit) {
        let Some(link) = self.resolve(href) else {
            return;
        };
        let rel = rel.trim().to_ascii_lowercase();
        let rel = rel.strip_prefix("http://www.iana.org/assignments/relation/").unwrap_or(&rel);
        let kind = kind.trim().to_ascii_lowercase();
        let depth = self.depth;
        match rel {
            "" | "alternate" => {
                let is_page = kind.is_empty() || kind.contains("html");
                let fit = if is_page { page } else { LinkFit::OtherForm };
                self.common().offer_link(depth, fit, link);
            }
            "enclosure" => self.enclosure(&link),
            "license" | "licence" | "copyright" => self.licence(&link),
            "self" if self.entry.is_none() => {
                self.feed.self_link.get_or_insert(link);
            }
            "hub" if self.entry.is_none() && self.feed.hubs.len() < self.limits.max_list => {
                self.feed.hubs.push(link);
            }
            "replies" => {
                if let Some(entry) = &mut self.entry {
                    entry.comments.get_or_insert(link);
                }
            }
            "related" | "via" | "canonical" => self.common().offer_link(depth, LinkFit::Related, link),
            _ => {}
        }
    }

    fn enclosure(&mut self, address: &str) {
        let address = entity::unescape(address, &self.declared, &mut self.repairs);
        let link = self.resolve(&address);
        if let (Some(entry), Some(link)) = (&mut self.entry, link)
            && entry.enclosures.len() < self.limits.max_list
        {
            entry.enclosures.push(link);
        }
    }

    fn licence(&mut self, address: &str) {
        let address = entity::unescape(address, &self.declared, &mut self.repairs);
        if let Some(link) = self.resolve(&address) {
            self.common().licence.get_or_insert(link);
        }
    }

    fn category(&mut self, category: &str) {
        let limits = self.limits;
        if let Some(entry) = &mut self.entry {
            entry.offer_category(category, limits);
        }
    }

    /// Sets the language of the feed from a tag.
    pub(super) fn set_language(&mut self, attributes: &str) {
        if let Some(tag) = Attributes::get(attributes, "xml:lang").map(tag_of_language).filter(|tag| !tag.is_empty()) {
            self.common.language.get_or_insert(tag);
        }
    }

    /// Returns the feed and the repairs.
    pub(super) fn finish(mut self) -> (Feed, Repairs) {
        self.finish_entry();
        let common = self.common;
        let mut feed = self.feed;
        feed.entries = self.entries.finish(&mut self.repairs);
        feed.title = common.title.map(|(title, _)| title).unwrap_or_default();
        feed.site = common.link.map(|(_, _, link)| link);
        feed.authors = common.authors;
        feed.published = common.published;
        feed.updated = common.updated.or(common.created);
        feed.language = common.language;
        feed.rights = common.rights;
        feed.licence = common.licence;
        (feed, self.repairs)
    }
}

/// Normalises a language tag to hyphens.
fn tag_of_language(text: &str) -> String {
    text.trim().chars().take(40).collect::<String>().replace('_', "-")
}

fn weekday(text: &str) -> Option<Weekday> {
    let lower = text.trim().to_ascii_lowercase();
    Some(match lower.get(..3)? {
        "mon" => Weekday::Monday,
        "tue" => Weekday::Tuesday,
        "wed" => Weekday::Wednesday,
        "thu" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        "sun" => Weekday::Sunday,
        _ => return None,
    })
}
