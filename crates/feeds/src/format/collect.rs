//! Collects a feed from its fields, as the walker brings them.
//!
//! The walker knows where an element begins and ends; what a field means, and whether it belongs
//! to the feed or to an entry, is decided here.

use tidings_model::{Feed, FeedFormat, Person, Repair, UpdatePeriod, Weekday};

use crate::address::Base;
use crate::date;
use crate::entity::{self, Declared};
use crate::html;
use crate::limits::Limits;
use crate::markup::Attributes;
use crate::mend::Mended;

use super::draft::{Common, DateSlot, Draft, Fit, person};
use super::value::{Inside, Kind, Prose};
use super::vocabulary::{Role, Word};

/// A field of which the walker has seen the end.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) word: Word,
    pub(super) attributes: &'a str,
    pub(super) inside: Inside<'a>,
    pub(super) kind: Kind,
}

/// The feed so far.
pub(super) struct Collector<'l> {
    limits: &'l Limits,
    pub(super) mended: Mended,
    pub(super) declared: Declared,
    /// The addresses that relative links count from, the innermost last.
    bases: Vec<Base>,
    /// How deep the field at hand stands.
    pub(super) depth: usize,
    person: Option<(Role, Person)>,
    entry: Option<Draft>,
    common: Common,
    pub(super) feed: Feed,
}

impl<'l> Collector<'l> {
    pub(super) fn new(url: &str, limits: &'l Limits, mended: Mended) -> Self {
        Collector {
            limits,
            mended,
            declared: Declared::default(),
            bases: vec![Base::new(url)],
            depth: 0,
            person: None,
            entry: None,
            common: Common::default(),
            feed: Feed::default(),
        }
    }

    /// The base that counts here.
    fn base(&self) -> &Base {
        self.bases.last().expect("the document's own base is never popped")
    }

    /// Enters an element with an `xml:base` of its own.
    pub(super) fn push_base(&mut self, relative: &str) {
        let relative = entity::unescape(relative, &self.declared, &mut self.mended);
        let inner = self.base().join(&relative);
        self.bases.push(inner);
    }

    /// Leaves it again.
    pub(super) fn pop_base(&mut self) {
        if self.bases.len() > 1 {
            self.bases.pop();
        }
    }

    /// Begins an entry; its tag may say a few things already.
    pub(super) fn begin_entry(&mut self, attributes: &str) {
        let mut draft = Draft::default();
        if attributes.is_empty() {
            self.entry = Some(draft);
            return;
        }
        let get = |name| Attributes::get(attributes, name);
        draft.common.language = get("xml:lang").map(tag_of_language).filter(|tag| !tag.is_empty());
        let about = get("rdf:about").or_else(|| get("about")).map(str::trim);
        draft.about = about.map(|about| entity::unescape(about, &self.declared, &mut self.mended).into_owned());
        // CDF writes the entry's address and date into its tag.
        if let Some(date) = get("lastmod") {
            draft.common.offer_date(DateSlot::Updated, date);
        }
        self.entry = Some(draft);
        if let Some(href) = get("href") {
            self.link(href, "", "");
        }
    }

    /// Begins a person described by elements.
    pub(super) fn begin_person(&mut self, role: Role) {
        self.person = Some((role, Person::default()));
    }

    /// Completes the entry at hand, if there is one.
    pub(super) fn finish_entry(&mut self) {
        let Some(draft) = self.entry.take() else {
            return;
        };
        if self.feed.entries.len() >= self.limits.max_entries {
            self.mended.note(Repair::LimitReached);
            return;
        }
        let base = self.base();
        self.feed.entries.push(draft.finish(|link| base.resolve(link)));
    }

    /// Completes the person at hand, if there is one.
    pub(super) fn finish_person(&mut self) {
        if let Some((role, person)) = self.person.take() {
            self.offer_person(role, person);
        }
    }

    fn offer_person(&mut self, role: Role, person: Person) {
        let limits = self.limits;
        match role {
            Role::Other => {}
            role => self.common().offer_author(person, role == Role::Editor, limits),
        }
    }

    /// Where fields of the feed or of the current entry go.
    fn common(&mut self) -> &mut Common {
        match &mut self.entry {
            Some(entry) => &mut entry.common,
            None => &mut self.common,
        }
    }

    /// What kind of text a field holds if it does not say.
    pub(super) fn usual_kind(&self, word: Word) -> Kind {
        let atom = self.feed.format == FeedFormat::Atom;
        match word {
            Word::Description | Word::Encoded => Kind::Html,
            Word::Body => Kind::Xhtml,
            _ if atom => Kind::Text,
            _ => Kind::Guess,
        }
    }

    /// Reads fields that live in attributes. True if nothing more is to be expected.
    pub(super) fn read_attributes(&mut self, word: Word, attributes: &str) -> bool {
        if attributes.is_empty() {
            return false;
        }
        let get = |name| Attributes::get(attributes, name);
        match word {
            Word::Link => {
                let Some(href) = get("href") else {
                    return false;
                };
                let (rel, kind) = (get("rel").unwrap_or(""), get("type").unwrap_or(""));
                self.link(href, rel, kind);
                true
            }
            Word::Category => {
                let Some(term) = get("term").or_else(|| get("text")).or_else(|| get("label")) else {
                    return false;
                };
                let term = entity::unescape(term, &self.declared, &mut self.mended);
                self.category(&html::collapse(&term));
                // Podcast categories nest; the inner ones are categories too.
                true
            }
            // A container of the same text in several forms, each in its own element.
            Word::Content => get("type").is_some_and(|kind| kind.starts_with("multipart/")),
            Word::Enclosure => {
                if let Some(address) = get("url").or_else(|| get("href")) {
                    self.enclosure(address);
                }
                true
            }
            Word::GeneratorAgent => {
                if let Some(agent) = get("rdf:resource") {
                    self.feed.generator.get_or_insert_with(|| agent.trim().to_string());
                }
                true
            }
            Word::Licence => {
                let Some(address) = get("rdf:resource").or_else(|| get("href")) else {
                    return false;
                };
                self.licence(address);
                true
            }
            _ => false,
        }
    }

    /// Takes a complete field.
    pub(super) fn field<'a>(&mut self, field: &Field<'a>, raw: &'a str) {
        let word = field.word;
        if let Word::Title
        | Word::MediaTitle
        | Word::Subtitle
        | Word::Description
        | Word::Summary
        | Word::Content
        | Word::Encoded
        | Word::Body
        | Word::Rights = word
        {
            let prose = field.inside.prose(raw, field.kind, &self.declared, &mut self.mended);
            self.prose(word, prose);
            return;
        }
        let text = field.inside.plain(raw, &self.declared, &mut self.mended);
        let text = text.as_ref();
        if text.is_empty() {
            return;
        }
        match word {
            Word::Link => {
                let get = |name| Attributes::get(field.attributes, name).unwrap_or("");
                let fit = if get("rel").is_empty() { Fit::Plain } else { Fit::Page };
                self.link_of(text, get("rel"), get("type"), fit);
            }
            Word::OrigLink => {
                let link = self.resolve(text);
                if let Some(entry) = &mut self.entry {
                    entry.orig_link = link;
                }
            }
            Word::Comments => {
                let link = self.resolve(text);
                if let Some(entry) = &mut self.entry {
                    entry.comments = link;
                }
            }
            Word::Enclosure => self.enclosure(text),
            Word::Id => {
                let permanent = Attributes::get(field.attributes, "isPermaLink");
                if let Some(entry) = &mut self.entry {
                    entry.id.get_or_insert_with(|| text.to_string());
                    entry.id_is_link = permanent.is_none_or(|value| value.trim().eq_ignore_ascii_case("true"));
                }
            }
            Word::Published => self.common().offer_date(DateSlot::Published, text),
            Word::Updated => self.common().offer_date(DateSlot::Updated, text),
            Word::Created => self.common().offer_date(DateSlot::Created, text),
            Word::Person(role) => {
                let plain = if html::looks_like_html(text) { html::to_text(text) } else { text.to_string() };
                self.offer_person(role, person(&plain));
            }
            Word::Name | Word::Email | Word::Uri => self.person_part(word, text),
            Word::Category => self.category(&html::collapse(text)),
            Word::Keywords => {
                for keyword in text.split(',') {
                    self.category(&html::collapse(keyword));
                }
            }
            Word::Language => {
                let tag = text.chars().take(40).collect();
                self.common().language = Some(tag);
            }
            Word::Licence => self.licence(text),
            Word::Generator | Word::GeneratorAgent if self.entry.is_none() => {
                self.feed.generator = Some(html::collapse(text));
            }
            _ if self.entry.is_none() => self.pace(word, text),
            _ => {}
        }
    }

    fn prose(&mut self, word: Word, prose: Prose<'_>) {
        let depth = self.depth;
        if word == Word::Title || word == Word::MediaTitle {
            self.common().offer_title(&prose, depth, word == Word::MediaTitle);
            return;
        }
        if word == Word::Rights {
            let plain = prose.plain();
            if !plain.is_empty() {
                self.common().rights.get_or_insert(plain);
            }
            return;
        }
        match (&mut self.entry, word) {
            (Some(entry), Word::Description | Word::Summary) => entry.offer_summary(prose),
            (Some(entry), Word::Content | Word::Encoded | Word::Body) => entry.offer_content(prose),
            (None, Word::Description | Word::Subtitle | Word::Summary) => {
                let plain = prose.plain();
                if !plain.is_empty() {
                    self.feed.subtitle.get_or_insert(plain);
                }
            }
            _ => {}
        }
    }

    fn person_part(&mut self, word: Word, text: &str) {
        let address = (word == Word::Uri).then(|| self.resolve(text)).flatten();
        let Some((_, person)) = &mut self.person else {
            return;
        };
        match word {
            Word::Name => person.name = html::collapse(text),
            Word::Email => person.email = Some(text.to_string()),
            _ => person.uri = address,
        }
    }

    fn pace(&mut self, word: Word, text: &str) {
        let pace = &mut self.feed.pace;
        match word {
            Word::Ttl => pace.ttl_minutes = text.parse().ok(),
            Word::SkipHour => {
                // Some count to 24; both ends mean midnight.
                let hour = text.parse::<u8>().ok().filter(|hour| *hour <= 24).map(|hour| hour % 24);
                pace.skip_hours.extend(hour.filter(|hour| !pace.skip_hours.contains(hour)));
            }
            Word::SkipDay => {
                pace.skip_days.extend(weekday(text).filter(|day| !pace.skip_days.contains(day)));
            }
            Word::UpdatePeriod => {
                pace.update_period = match text.to_ascii_lowercase().as_str() {
                    "hourly" => Some(UpdatePeriod::Hourly),
                    "daily" => Some(UpdatePeriod::Daily),
                    "weekly" => Some(UpdatePeriod::Weekly),
                    "monthly" => Some(UpdatePeriod::Monthly),
                    "yearly" => Some(UpdatePeriod::Yearly),
                    _ => None,
                }
            }
            Word::UpdateFrequency => pace.update_frequency = text.parse().ok(),
            Word::UpdateBase => pace.update_base = date::parse(text),
            _ => {}
        }
    }

    fn resolve(&self, address: &str) -> Option<String> {
        self.base().resolve(address)
    }

    /// A link as an attribute gives it.
    pub(super) fn link(&mut self, href: &str, rel: &str, kind: &str) {
        let href = entity::unescape(href, &self.declared, &mut self.mended).into_owned();
        self.link_of(&href, rel, kind, Fit::Page);
    }

    /// A link, by its relation to the feed or entry; `page` is how well a web page fits.
    fn link_of(&mut self, href: &str, rel: &str, kind: &str, page: Fit) {
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
                let fit = if is_page { page } else { Fit::OtherForm };
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
            "related" | "via" | "canonical" => self.common().offer_link(depth, Fit::Related, link),
            _ => {}
        }
    }

    fn enclosure(&mut self, address: &str) {
        let address = entity::unescape(address, &self.declared, &mut self.mended);
        let link = self.resolve(&address);
        if let (Some(entry), Some(link)) = (&mut self.entry, link)
            && entry.enclosures.len() < self.limits.max_list
        {
            entry.enclosures.push(link);
        }
    }

    fn licence(&mut self, address: &str) {
        let address = entity::unescape(address, &self.declared, &mut self.mended);
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

    /// Takes the language of the whole feed from a tag.
    pub(super) fn set_language(&mut self, attributes: &str) {
        if let Some(tag) = Attributes::get(attributes, "xml:lang").map(tag_of_language).filter(|tag| !tag.is_empty()) {
            self.common.language.get_or_insert(tag);
        }
    }

    /// Gives the feed and what was mended in it.
    pub(super) fn finish(mut self) -> (Feed, Mended) {
        self.finish_entry();
        let common = self.common;
        let mut feed = self.feed;
        feed.title = common.title.map(|(title, _)| title).unwrap_or_default();
        feed.site = common.link.map(|(_, _, link)| link);
        feed.authors = common.authors;
        feed.published = common.published;
        feed.updated = common.updated.or(common.created);
        feed.language = common.language;
        feed.rights = common.rights;
        feed.licence = common.licence;
        (feed, self.mended)
    }
}

/// A language tag with hyphens, as everyone but old Java writes it.
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
