//! Walks over a document in any XML dialect and collects the feed.
//!
//! Feeds are shallow: a root, entries, and fields with text in them. The walker keeps a short
//! stack of open elements, and when a field opens it notes where and waits for the end tag, or
//! for anything that shows the end tag is missing. Nothing is copied until a field is complete.

use tidings_model::{Feed, FeedFormat, Person, Repair, UpdatePeriod, Weekday};

use crate::address::Base;
use crate::date;
use crate::entity::{self, Declared};
use crate::html;
use crate::limits::Limits;
use crate::markup::{Attributes, Token, Tokens};
use crate::mend::Mended;
use crate::read::NotAFeed;

use super::draft::{Common, DateSlot, Draft, Fit, person};
use super::value::{Inside, Kind, Prose, local};
use super::vocabulary::{Role, Space, Word, meaning, space_of_address, space_of_prefix};

/// More prefixes than this are noise; those that matter come first.
const MAX_PREFIXES: usize = 64;

/// Reads a feed from text, whatever stands around it.
pub(crate) fn read(
    text: &str,
    url: &str,
    limits: &Limits,
    mended: &mut Mended,
) -> Result<Feed, NotAFeed> {
    let mut walker = Walker::new(text, url, limits, *mended);
    walker.find_root()?;
    walker.walk();
    let feed = walker.finish(mended);
    Ok(feed)
}

/// A feed shown as text on a web page, with its marks escaped; gives it back as markup.
pub(crate) fn unwrap_escaped(text: &str) -> Option<String> {
    let at = ["&lt;?xml", "&lt;rss", "&lt;feed", "&lt;rdf:RDF"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()?;
    let inner = entity::unescape(&text[at..], &Declared::default(), &mut Mended::default());
    Some(inner.into_owned())
}

/// Whose fields are being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Feed,
    Entry,
    Person,
    /// A logo, a search box, the source of a copied entry: nothing in there is ours.
    Aside,
}

/// An open element.
#[derive(Debug)]
struct Frame<'a> {
    name: &'a str,
    word: Option<Word>,
    scope: Scope,
    /// The namespace of names without a prefix.
    space: Space,
    has_base: bool,
}

/// A field whose end tag we wait for.
#[derive(Debug)]
struct Capture<'a> {
    word: Word,
    name: &'a str,
    attributes: &'a str,
    from: usize,
    inside: Inside<'a>,
    kind: Kind,
    /// Elements of the same name inside.
    nested: usize,
    has_base: bool,
    space: Space,
}

struct Walker<'a> {
    text: &'a str,
    tokens: Tokens<'a>,
    limits: &'a Limits,
    mended: Mended,
    declared: Declared,
    prefixes: Vec<(&'a str, Space)>,
    bases: Vec<Base>,
    frames: Vec<Frame<'a>>,
    /// Elements too deep to keep.
    too_deep: usize,
    capture: Option<Capture<'a>>,
    person: Option<(Role, Person)>,
    entry: Option<Draft>,
    common: Common,
    feed: Feed,
    done: bool,
}

impl<'a> Walker<'a> {
    fn new(text: &'a str, url: &str, limits: &'a Limits, mended: Mended) -> Self {
        Walker {
            text,
            tokens: Tokens::new(text),
            limits,
            mended,
            declared: Declared::default(),
            prefixes: Vec::new(),
            bases: vec![Base::new(url)],
            frames: Vec::new(),
            too_deep: 0,
            capture: None,
            person: None,
            entry: None,
            common: Common::default(),
            feed: Feed::default(),
            done: false,
        }
    }

    /// Skips to the element that makes this a feed; everything before it is junk.
    fn find_root(&mut self) -> Result<(), NotAFeed> {
        let mut first: Option<&'a str> = None;
        let mut junk = false;
        while let Some(token) = self.tokens.next("") {
            match token {
                Token::Doctype(text) => self.learn(text),
                Token::Start {
                    name,
                    attributes,
                    empty,
                } => {
                    let word = self.word_outside(name);
                    let format = match word {
                        Some(Word::Root(format)) => Some(format),
                        Some(Word::Channel) if first.is_none() => Some(FeedFormat::Rss),
                        Some(Word::Item) if first.is_none() => Some(FeedFormat::Atom),
                        _ => None,
                    };
                    let Some(format) = format else {
                        first.get_or_insert(name);
                        junk = true;
                        continue;
                    };
                    self.feed.format = format;
                    if junk {
                        self.mended.note(Repair::LeadingJunk);
                    }
                    self.open_root(name, attributes, word, empty);
                    return Ok(());
                }
                Token::Text(text) => junk |= !text.trim().is_empty(),
                _ => {}
            }
        }
        Err(
            match first.map(|name| (name, local(name).to_ascii_lowercase())) {
                None if self.text.trim_start().starts_with("<!") => NotAFeed::Html,
                None => NotAFeed::PlainText,
                Some((name, lower)) => match lower.as_str() {
                    "urlset" | "sitemapindex" => NotAFeed::Sitemap,
                    "opml" => NotAFeed::Opml,
                    lower if html::is_element(lower) => NotAFeed::Html,
                    _ => NotAFeed::OtherXml {
                        root: name.chars().take(60).collect(),
                    },
                },
            },
        )
    }

    fn word_outside(&self, name: &str) -> Option<Word> {
        let mut buffer = [0; 32];
        meaning(Space::Core, lower(local(name), &mut buffer))
    }

    fn learn(&mut self, doctype: &str) {
        self.declared.learn(doctype, &mut self.mended);
    }

    fn open_root(&mut self, name: &'a str, attributes: &'a str, word: Option<Word>, empty: bool) {
        self.feed.version =
            Attributes::get(attributes, "version").map(|v| v.chars().take(20).collect());
        let (space, has_base) = self.scan_attributes(attributes, Space::Core);
        // Whatever the default namespace is, the root's own children are feed words.
        let space = if space == Space::Other {
            Space::Core
        } else {
            space
        };
        self.set_language(attributes);
        let scope = if word == Some(Word::Item) {
            Scope::Entry
        } else {
            Scope::Feed
        };
        if scope == Scope::Entry {
            self.entry = Some(Draft::default());
        }
        self.frames.push(Frame {
            name,
            word,
            scope,
            space,
            has_base,
        });
        self.done = empty;
    }

    fn walk(&mut self) {
        while !self.done {
            let open = self.capture.as_ref().map_or("", |capture| capture.name);
            let Some(token) = self.tokens.next(open) else {
                break;
            };
            match token {
                Token::Start {
                    name,
                    attributes,
                    empty,
                } => self.start(name, attributes, empty),
                Token::End { name } => self.end(name),
                Token::Text(_) | Token::Cdata(_) => {
                    if let Some(capture) = &mut self.capture {
                        capture.inside.text(token);
                    }
                }
                Token::Doctype(text) => self.learn(text),
                Token::Instruction(_) => {}
            }
        }
        if !self.done {
            self.mended.note(Repair::Truncated);
        }
        if self.capture.is_some() {
            self.close_capture(self.text.len());
        }
        while !self.frames.is_empty() {
            self.pop();
        }
    }

    fn top(&self) -> (Scope, Space) {
        self.frames
            .last()
            .map_or((Scope::Feed, Space::Core), |frame| {
                (frame.scope, frame.space)
            })
    }

    /// The meaning of a name, if it has one for us.
    fn word(&mut self, name: &str, default: Space) -> Option<Word> {
        let mut buffer = [0; 32];
        let (space, local) = match name.split_once(':') {
            None => (default, name),
            Some((prefix, local)) => (self.space(prefix)?, local),
        };
        meaning(space, lower(local, &mut buffer))
    }

    /// The namespace of a prefix: the declared one, or the one it customarily stands for.
    fn space(&mut self, prefix: &str) -> Option<Space> {
        let mut known = self.prefixes.iter().rev();
        if let Some((_, space)) = known.find(|(known, _)| known.eq_ignore_ascii_case(prefix)) {
            return Some(*space);
        }
        let customary = space_of_prefix(prefix)?;
        self.mended.note(Repair::UndeclaredPrefix);
        Some(customary)
    }

    /// Whether an element belongs to a vocabulary of feeds and so to no text.
    fn is_extension(&mut self, name: &str) -> bool {
        let space = name
            .split_once(':')
            .and_then(|(prefix, _)| self.space(prefix));
        space.is_some_and(|space| !matches!(space, Space::Xhtml | Space::Other))
    }

    /// Takes namespace declarations and `xml:base` from a tag.
    fn scan_attributes(&mut self, attributes: &'a str, inherited: Space) -> (Space, bool) {
        let mut space = inherited;
        let mut has_base = false;
        if !attributes.contains("xml") && !attributes.contains("XML") {
            return (space, false);
        }
        for (key, value) in Attributes::new(attributes) {
            if key.eq_ignore_ascii_case("xmlns") {
                // An unknown default namespace is a publisher's whim, not another vocabulary.
                space = space_of_address(value).unwrap_or(Space::Core);
            } else if let Some(prefix) = key
                .strip_prefix("xmlns:")
                .or_else(|| key.strip_prefix("XMLNS:"))
            {
                let known = space_of_address(value)
                    .or_else(|| space_of_prefix(prefix))
                    .unwrap_or(Space::Other);
                if self.prefixes.len() < MAX_PREFIXES
                    && self
                        .prefixes
                        .iter()
                        .rev()
                        .find(|(p, _)| *p == prefix)
                        .is_none_or(|(_, s)| *s != known)
                {
                    self.prefixes.push((prefix, known));
                }
            } else if key.eq_ignore_ascii_case("xml:base") && !has_base {
                let base = entity::unescape(value, &self.declared, &mut self.mended);
                let outer = self
                    .bases
                    .last()
                    .expect("the document's own base is never popped");
                let inner = outer.join(&base);
                self.bases.push(inner);
                has_base = true;
            }
        }
        (space, has_base)
    }

    fn start(&mut self, name: &'a str, attributes: &'a str, empty: bool) {
        if let Some(capture) = &self.capture {
            let (kind, outer, space) = (capture.kind, capture.word, capture.space);
            let word = self.word(name, space);
            let missing = match word {
                Some(word) => interrupts(word, name, kind, outer),
                None => !is_rich(outer) && self.is_extension(name),
            };
            if !missing {
                let capture = self.capture.as_mut().expect("looked at above");
                if !empty && capture.name == name {
                    capture.nested += 1;
                }
                capture.inside.element();
                return;
            }
            if let (Word::Person(role), Some(Word::Name | Word::Email | Word::Uri)) = (outer, word)
            {
                self.open_person(role);
            } else {
                self.mended.note(Repair::MissingEndTag);
                let at = self.tokens.token_start();
                self.close_capture(at);
            }
        }
        let (scope, inherited) = self.top();
        let (space, has_base) = self.scan_attributes(attributes, inherited);
        let word = self.word(name, space);
        let mut inner = scope;
        match word {
            Some(Word::Item) if scope != Scope::Aside => {
                self.begin_entry(name, attributes, empty, space, has_base);
                return;
            }
            Some(Word::Aside | Word::Source) => inner = Scope::Aside,
            Some(Word::Channel) if scope == Scope::Feed => {
                self.set_language(attributes);
                // CDF writes the channel's address into its tag.
                if let Some(href) = Attributes::get(attributes, "href") {
                    self.link(href, "", "");
                }
            }
            Some(word) if scope != Scope::Aside && self.is_field(word, scope) => {
                if self.read_attributes(word, attributes) || empty {
                    self.drop_base(has_base);
                    if !empty {
                        // The tag has said it all; its text is of no interest.
                        self.push(Frame {
                            name,
                            word: None,
                            scope,
                            space,
                            has_base: false,
                        });
                    }
                    return;
                }
                let kind = Kind::of(attributes, self.usual_kind(word));
                let from = self.tokens.position();
                let inside = Inside::default();
                self.capture = Some(Capture {
                    word,
                    name,
                    attributes,
                    from,
                    inside,
                    kind,
                    nested: 0,
                    has_base,
                    space,
                });
                return;
            }
            _ => {}
        }
        if empty {
            self.drop_base(has_base);
        } else {
            self.push(Frame {
                name,
                word,
                scope: inner,
                space,
                has_base,
            });
        }
    }

    fn push(&mut self, frame: Frame<'a>) {
        if self.frames.len() < self.limits.max_depth {
            self.frames.push(frame);
        } else {
            self.mended.note(Repair::LimitReached);
            self.drop_base(frame.has_base);
            self.too_deep += 1;
        }
    }

    fn drop_base(&mut self, has_base: bool) {
        if has_base {
            self.bases.pop();
        }
    }

    fn end(&mut self, name: &'a str) {
        if let Some(capture) = &mut self.capture {
            if capture.name.eq_ignore_ascii_case(name) {
                if capture.nested > 0 {
                    capture.nested -= 1;
                    capture.inside.element();
                } else {
                    self.close_capture(self.tokens.token_start());
                }
                return;
            }
            let structural = |frame: &Frame<'_>| {
                matches!(frame.word, Some(Word::Item | Word::Channel | Word::Root(_)))
                    || frame.scope == Scope::Person
            };
            if !self
                .frames
                .iter()
                .rev()
                .any(|f| f.name.eq_ignore_ascii_case(name) && structural(f))
            {
                if capture.inside.markup {
                    capture.inside.element();
                } else {
                    self.mended.note(Repair::StrayEndTag);
                    capture.inside.cut();
                }
                return;
            }
            self.mended.note(Repair::MissingEndTag);
            self.close_capture(self.tokens.token_start());
        }
        let Some(at) = self
            .frames
            .iter()
            .rposition(|frame| frame.name.eq_ignore_ascii_case(name))
        else {
            if self.too_deep > 0 {
                self.too_deep -= 1;
            } else {
                self.mended.note(Repair::StrayEndTag);
            }
            return;
        };
        if self.too_deep > 0 && at + 1 == self.frames.len() && self.frames[at].word.is_none() {
            self.too_deep -= 1;
            return;
        }
        self.too_deep = 0;
        if at + 1 < self.frames.len() {
            self.mended.note(Repair::MissingEndTag);
        }
        while self.frames.len() > at {
            self.pop();
        }
        self.done = self.frames.is_empty();
    }

    fn pop(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.drop_base(frame.has_base);
        match frame.word {
            Some(Word::Item) => self.finish_entry(),
            Some(Word::Person(_)) => self.finish_person(),
            _ => {}
        }
    }

    fn begin_entry(
        &mut self,
        name: &'a str,
        attributes: &'a str,
        empty: bool,
        space: Space,
        has_base: bool,
    ) {
        if let Some(at) = self
            .frames
            .iter()
            .rposition(|frame| frame.word == Some(Word::Item))
        {
            // Entries do not contain entries: the end tag of the last one is missing.
            self.mended.note(Repair::MissingEndTag);
            let base = has_base.then(|| self.bases.pop()).flatten();
            while self.frames.len() > at {
                self.pop();
            }
            self.bases.extend(base);
        }
        let mut draft = Draft::default();
        let mut about = None;
        if !attributes.is_empty() {
            about = Attributes::get(attributes, "rdf:about")
                .or_else(|| Attributes::get(attributes, "about"));
            draft.common.language = Attributes::get(attributes, "xml:lang")
                .map(tag_of_language)
                .filter(|l| !l.is_empty());
        }
        draft.about = about.map(|about| {
            entity::unescape(about.trim(), &self.declared, &mut self.mended).into_owned()
        });
        self.entry = Some(draft);
        // CDF writes the entry's address and date into its tag.
        if let Some(href) = Attributes::get(attributes, "href") {
            self.link(href, "", "");
        }
        if let (Some(date), Some(entry)) = (Attributes::get(attributes, "lastmod"), &mut self.entry)
        {
            entry.common.offer_date(DateSlot::Updated, date);
        }
        self.frames.push(Frame {
            name,
            word: Some(Word::Item),
            scope: Scope::Entry,
            space,
            has_base,
        });
        if empty {
            self.pop();
        }
    }

    fn finish_entry(&mut self) {
        let Some(draft) = self.entry.take() else {
            return;
        };
        if self.feed.entries.len() >= self.limits.max_entries {
            self.mended.note(Repair::LimitReached);
            return;
        }
        let base = self
            .bases
            .last()
            .expect("the document's own base is never popped");
        self.feed
            .entries
            .push(draft.finish(|link| base.resolve(link)));
    }

    fn open_person(&mut self, role: Role) {
        let Some(capture) = self.capture.take() else {
            return;
        };
        self.person = Some((role, Person::default()));
        let (name, space, has_base) = (capture.name, capture.space, capture.has_base);
        let word = Some(Word::Person(role));
        self.push(Frame {
            name,
            word,
            scope: Scope::Person,
            space,
            has_base,
        });
    }

    fn finish_person(&mut self) {
        if let Some((role, person)) = self.person.take() {
            self.offer_person(role, person);
        }
    }

    fn offer_person(&mut self, role: Role, person: Person) {
        let limits = self.limits;
        match role {
            Role::Other => {}
            role => self
                .common()
                .offer_author(person, role == Role::Editor, limits),
        }
    }

    /// Where fields of the feed or of the current entry go.
    fn common(&mut self) -> &mut Common {
        match &mut self.entry {
            Some(entry) => &mut entry.common,
            None => &mut self.common,
        }
    }

    /// Whether a word is a field here: parts of a person only in a person, and nothing else there.
    fn is_field(&self, word: Word, scope: Scope) -> bool {
        let part = matches!(word, Word::Name | Word::Email | Word::Uri);
        match scope {
            Scope::Person => part,
            _ => !part && !matches!(word, Word::Root(_) | Word::Channel | Word::Item),
        }
    }

    /// What kind of text a field holds if it does not say.
    fn usual_kind(&self, word: Word) -> Kind {
        let atom = self.feed.format == FeedFormat::Atom;
        match word {
            Word::Description | Word::Encoded => Kind::Html,
            Word::Body => Kind::Xhtml,
            _ if atom => Kind::Text,
            _ => Kind::Guess,
        }
    }

    /// Reads fields that live in attributes. True if nothing more is to be expected.
    fn read_attributes(&mut self, word: Word, attributes: &'a str) -> bool {
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
                let Some(term) = get("term").or_else(|| get("text")).or_else(|| get("label"))
                else {
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
                    self.feed
                        .generator
                        .get_or_insert_with(|| agent.trim().to_string());
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

    fn close_capture(&mut self, to: usize) {
        let Some(mut capture) = self.capture.take() else {
            return;
        };
        let raw = &self.text[capture.from..to];
        let raw = if raw.len() > self.limits.max_field_bytes {
            self.mended.note(Repair::LimitReached);
            capture.inside.cut();
            &raw[..boundary(raw, self.limits.max_field_bytes)]
        } else {
            raw
        };
        self.field(&capture, raw);
        self.drop_base(capture.has_base);
    }

    fn field(&mut self, capture: &Capture<'a>, raw: &'a str) {
        let word = capture.word;
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
            let prose = capture
                .inside
                .prose(raw, capture.kind, &self.declared, &mut self.mended);
            self.prose(word, prose);
            return;
        }
        let text = capture.inside.plain(raw, &self.declared, &mut self.mended);
        let text = text.as_ref();
        if text.is_empty() {
            return;
        }
        match word {
            Word::Link => {
                let get = |name| Attributes::get(capture.attributes, name).unwrap_or("");
                let fit = if get("rel").is_empty() {
                    Fit::Plain
                } else {
                    Fit::Page
                };
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
                let permanent = Attributes::get(capture.attributes, "isPermaLink");
                if let Some(entry) = &mut self.entry {
                    entry.id.get_or_insert_with(|| text.to_string());
                    entry.id_is_link =
                        permanent.is_none_or(|value| value.trim().eq_ignore_ascii_case("true"));
                }
            }
            Word::Published => self.common().offer_date(DateSlot::Published, text),
            Word::Updated => self.common().offer_date(DateSlot::Updated, text),
            Word::Created => self.common().offer_date(DateSlot::Created, text),
            Word::Person(role) => {
                let plain = if html::looks_like_html(text) {
                    html::to_text(text)
                } else {
                    text.to_string()
                };
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

    fn prose(&mut self, word: Word, prose: Prose<'a>) {
        let depth = self.frames.len();
        if word == Word::Title || word == Word::MediaTitle {
            self.common()
                .offer_title(&prose, depth, word == Word::MediaTitle);
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
        let base = self
            .bases
            .last()
            .expect("the document's own base is never popped");
        let Some((_, person)) = &mut self.person else {
            return;
        };
        match word {
            Word::Name => person.name = html::collapse(text),
            Word::Email => person.email = Some(text.to_string()),
            _ => person.uri = base.resolve(text),
        }
    }

    fn pace(&mut self, word: Word, text: &str) {
        let pace = &mut self.feed.pace;
        match word {
            Word::Ttl => pace.ttl_minutes = text.parse().ok(),
            Word::SkipHour => {
                // Some count to 24; both ends mean midnight.
                let hour = text
                    .parse::<u8>()
                    .ok()
                    .filter(|hour| *hour <= 24)
                    .map(|hour| hour % 24);
                pace.skip_hours
                    .extend(hour.filter(|hour| !pace.skip_hours.contains(hour)));
            }
            Word::SkipDay => {
                pace.skip_days
                    .extend(weekday(text).filter(|day| !pace.skip_days.contains(day)));
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
        self.bases
            .last()
            .expect("the document's own base is never popped")
            .resolve(address)
    }

    /// A link as an attribute gives it.
    fn link(&mut self, href: &str, rel: &str, kind: &str) {
        let href = entity::unescape(href, &self.declared, &mut self.mended).into_owned();
        self.link_of(&href, rel, kind, Fit::Page);
    }

    /// A link, by its relation to the feed or entry; `page` is how well a web page fits.
    fn link_of(&mut self, href: &str, rel: &str, kind: &str, page: Fit) {
        let Some(link) = self.resolve(href) else {
            return;
        };
        let rel = rel.trim().to_ascii_lowercase();
        let rel = rel
            .strip_prefix("http://www.iana.org/assignments/relation/")
            .unwrap_or(&rel);
        let kind = kind.trim().to_ascii_lowercase();
        let depth = self.frames.len();
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

    fn set_language(&mut self, attributes: &str) {
        if let Some(tag) = Attributes::get(attributes, "xml:lang")
            .map(tag_of_language)
            .filter(|tag| !tag.is_empty())
        {
            self.common.language.get_or_insert(tag);
        }
    }

    fn finish(mut self, mended: &mut Mended) -> Feed {
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
        *mended = self.mended;
        mended.also(self.tokens.mended);
        feed
    }
}

/// Whether an element inside a field shows that the field's end tag is missing.
fn interrupts(word: Word, name: &str, kind: Kind, outer: Word) -> bool {
    match (outer, word) {
        (Word::Person(_), Word::Name | Word::Email | Word::Uri) => true,
        (_, Word::Name | Word::Email | Word::Uri | Word::SkipDay | Word::SkipHour) => false,
        (_, Word::Root(_) | Word::Channel) => false,
        _ if word == outer => false,
        // Names that HTML has too may be part of a text, but not of an address or a title.
        _ => !(is_rich(outer) && (kind == Kind::Xhtml || html::is_element(local(name)))),
    }
}

/// Whether a field may well have elements inside.
fn is_rich(word: Word) -> bool {
    matches!(
        word,
        Word::Description | Word::Summary | Word::Content | Word::Encoded | Word::Body
    )
}

/// The last place to cut a string that is not inside a character.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Lower case without allocating; names longer than any we know come out empty.
fn lower<'b>(name: &'b str, buffer: &'b mut [u8; 32]) -> &'b str {
    if !name.bytes().any(|b| b.is_ascii_uppercase()) {
        return name;
    }
    let Some(part) = buffer.get_mut(..name.len()) else {
        return "";
    };
    part.copy_from_slice(name.as_bytes());
    part.make_ascii_lowercase();
    std::str::from_utf8(part).unwrap_or("")
}

/// A language tag with hyphens, as everyone but old Java writes it.
fn tag_of_language(text: &str) -> String {
    text.trim()
        .chars()
        .take(40)
        .collect::<String>()
        .replace('_', "-")
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
