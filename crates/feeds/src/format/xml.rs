//! The walker over XML feeds of any format.
//!
//! Feeds are shallow: a root, entries, and fields with text. The walker keeps a short stack of open elements. When
//! a field opens, it records the position and waits for the end tag, or for evidence that the end tag is missing.
//! Nothing is copied until a field is complete.

use tidings_model::{Feed, FeedFormat, Repair};

use crate::address::is_web;
use crate::entity::{self, Declared};
use crate::html;
use crate::limits::Limits;
use crate::markup::{Attributes, Token, Tokens};
use crate::read::NotAFeed;
use crate::repairs::Repairs;

use super::collect::{Collector, Field};
use super::content::{ContentKind, ElementContent, local};
use super::element::{ElementRole, Namespace, PersonRole, element_role, namespace_of_prefix, namespace_of_uri};

/// The maximum number of namespace prefixes.
const MAX_PREFIXES: usize = 64;

/// Parses a feed, ignoring surrounding text.
pub(crate) fn read(text: &str, url: &str, limits: &Limits, repairs: &mut Repairs) -> Result<Feed, NotAFeed> {
    let mut walker = XmlWalker::new(text, url, limits, *repairs);
    let in_front = walker.find_root()?;
    walker.walk();
    let (feed, noted) = walker.out.finish();
    // Images in web pages carry RDF metadata, which is not a feed.
    let empty = feed.entries.is_empty() && (feed.format == FeedFormat::Rdf || feed.title.is_empty());
    if let (Some(first), true) = (in_front, empty) {
        return Err(without_root(text, Some(first)));
    }
    *repairs = noted;
    repairs.extend(walker.tokens.repairs);
    Ok(feed)
}

/// Unescapes a feed shown as text in a web page.
///
/// The feed must be most of the page, or tutorials would become feeds.
pub(crate) fn unwrap_escaped(text: &str) -> Option<String> {
    let at = ["&lt;?xml", "&lt;rss", "&lt;feed", "&lt;rdf:RDF"].iter().filter_map(|mark| text.find(mark)).min()?;
    if at > text.len() / 2 {
        return None;
    }
    let inner = entity::unescape(&text[at..], &Declared::default(), &mut Repairs::default());
    Some(inner.into_owned())
}

/// Classifies a document without a feed root.
fn without_root(text: &str, first: Option<&str>) -> NotAFeed {
    let Some(name) = first else {
        let declares_html = text.trim_start().starts_with("<!");
        return if declares_html { NotAFeed::Html } else { NotAFeed::PlainText };
    };
    match local(name).to_ascii_lowercase().as_str() {
        "urlset" | "sitemapindex" => NotAFeed::Sitemap,
        "opml" => NotAFeed::Opml,
        lower if html::is_element(lower) => NotAFeed::Html,
        _ => NotAFeed::OtherXml { root: name.chars().take(60).collect() },
    }
}

/// The object whose fields are being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Feed,
    Entry,
    Person,
    /// A logo, a search box, the source of a copied entry: its fields are ignored.
    Aside,
}

/// An open element.
#[derive(Debug)]
struct Frame<'a> {
    name: &'a str,
    role: Option<ElementRole>,
    scope: Scope,
    /// The default namespace.
    namespace: Namespace,
    has_base: bool,
}

/// A field whose end tag has not been seen yet.
#[derive(Debug)]
struct Capture<'a> {
    field: Field<'a>,
    name: &'a str,
    from: usize,
    /// Open child elements of the same name.
    nested: usize,
    has_base: bool,
    namespace: Namespace,
}

struct XmlWalker<'a> {
    text: &'a str,
    tokens: Tokens<'a>,
    limits: &'a Limits,
    /// The feed under construction.
    out: Collector<'a>,
    prefixes: Vec<(&'a str, Namespace)>,
    frames: Vec<Frame<'a>>,
    /// The number of open elements beyond the depth limit.
    too_deep: usize,
    capture: Option<Capture<'a>>,
    /// True if the last tag was `<link/>`.
    after_empty_link: bool,
    done: bool,
}

impl<'a> XmlWalker<'a> {
    fn new(text: &'a str, url: &str, limits: &'a Limits, repairs: Repairs) -> Self {
        XmlWalker {
            text,
            tokens: Tokens::new(text),
            limits,
            out: Collector::new(url, limits, repairs),
            prefixes: Vec::new(),
            frames: Vec::new(),
            too_deep: 0,
            capture: None,
            after_empty_link: false,
            done: false,
        }
    }

    /// Skips to the root element of the feed. Returns the first element before it, if any.
    fn find_root(&mut self) -> Result<Option<&'a str>, NotAFeed> {
        let mut first: Option<&'a str> = None;
        let mut junk = false;
        while let Some(token) = self.tokens.next("") {
            match token {
                Token::Doctype(text) => self.learn(text),
                Token::Start { name, attributes, empty } => {
                    let role = self.role_outside(name);
                    let format = match role {
                        Some(ElementRole::Root(format)) => Some(format),
                        Some(ElementRole::Channel) if first.is_none() => Some(FeedFormat::Rss),
                        Some(ElementRole::Item) if first.is_none() => Some(FeedFormat::Atom),
                        _ => None,
                    };
                    let Some(format) = format else {
                        first.get_or_insert(name);
                        junk = true;
                        continue;
                    };
                    self.out.feed.format = format;
                    if junk {
                        self.out.repairs.add(Repair::LeadingJunk);
                    }
                    self.open_root(name, attributes, role, empty);
                    return Ok(first);
                }
                Token::Text(text) => junk |= !text.trim().is_empty(),
                _ => {}
            }
        }
        Err(without_root(self.text, first))
    }

    fn role_outside(&self, name: &str) -> Option<ElementRole> {
        let mut buffer = [0; 32];
        element_role(Namespace::Core, lower(local(name), &mut buffer))
    }

    fn learn(&mut self, doctype: &str) {
        self.out.declared.learn(doctype, &mut self.out.repairs);
    }

    fn open_root(&mut self, name: &'a str, attributes: &'a str, role: Option<ElementRole>, empty: bool) {
        self.out.feed.version = Attributes::get(attributes, "version").map(|v| v.chars().take(20).collect());
        let (_, has_base) = self.scan_attributes(attributes, Namespace::Core);
        // Children of the root are feed elements whatever the default namespace.
        self.out.set_language(attributes);
        let scope = if role == Some(ElementRole::Item) { Scope::Entry } else { Scope::Feed };
        if scope == Scope::Entry {
            self.out.begin_entry(attributes);
        }
        self.frames.push(Frame { name, role, scope, namespace: Namespace::Core, has_base });
        self.done = empty;
    }

    fn walk(&mut self) {
        while !self.done {
            let open = self.capture.as_ref().map_or("", |capture| capture.name);
            let Some(token) = self.tokens.next(open) else {
                break;
            };
            match token {
                Token::Start { name, attributes, empty } => self.start(name, attributes, empty),
                Token::End { name } => self.end(name),
                Token::Text(text) | Token::Cdata(text) => {
                    if let Some(capture) = &mut self.capture {
                        capture.field.inside.text(token);
                    } else if self.after_empty_link && !text.trim().is_empty() {
                        self.link_outside(text);
                    }
                }
                Token::Doctype(text) => self.learn(text),
                Token::Instruction(_) => {}
            }
        }
        if !self.done {
            self.out.repairs.add(Repair::Truncated);
        }
        if self.capture.is_some() {
            self.close_capture(self.text.len());
        }
        while !self.frames.is_empty() {
            self.pop();
        }
    }

    fn top(&self) -> (Scope, Namespace) {
        self.frames.last().map_or((Scope::Feed, Namespace::Core), |frame| (frame.scope, frame.namespace))
    }

    /// The role of an element, if it is known.
    fn role(&mut self, name: &str, default: Namespace) -> Option<ElementRole> {
        let mut buffer = [0; 32];
        match name.split_once(':') {
            Some((prefix, local)) => element_role(self.namespace(prefix)?, lower(local, &mut buffer)),
            // Default namespaces are often declared wrongly.
            None => {
                let name = lower(name, &mut buffer);
                element_role(default, name).or_else(|| element_role(Namespace::Core, name))
            }
        }
    }

    /// The namespace of a prefix: declared, or else conventional.
    fn namespace(&mut self, prefix: &str) -> Option<Namespace> {
        let mut known = self.prefixes.iter().rev();
        if let Some((_, namespace)) = known.find(|(known, _)| known.eq_ignore_ascii_case(prefix)) {
            return Some(*namespace);
        }
        let customary = namespace_of_prefix(prefix)?;
        self.out.repairs.add(Repair::UndeclaredPrefix);
        Some(customary)
    }

    /// Returns true for elements of a feed extension, which are never part of a text.
    fn is_extension(&mut self, name: &str) -> bool {
        let namespace = name.split_once(':').and_then(|(prefix, _)| self.namespace(prefix));
        namespace.is_some_and(|namespace| !matches!(namespace, Namespace::Xhtml | Namespace::Other))
    }

    /// Reads namespace declarations and `xml:base` of a tag.
    fn scan_attributes(&mut self, attributes: &'a str, inherited: Namespace) -> (Namespace, bool) {
        let mut namespace = inherited;
        let mut has_base = false;
        if !attributes.contains("xml") && !attributes.contains("XML") {
            return (namespace, false);
        }
        for (key, value) in Attributes::new(attributes) {
            if key.eq_ignore_ascii_case("xmlns") {
                // An unknown default namespace does not change the meaning of elements.
                namespace = namespace_of_uri(value).unwrap_or(Namespace::Core);
            } else if let Some(prefix) = key.strip_prefix("xmlns:").or_else(|| key.strip_prefix("XMLNS:")) {
                let known = namespace_of_uri(value).or_else(|| namespace_of_prefix(prefix)).unwrap_or(Namespace::Other);
                if self.prefixes.len() < MAX_PREFIXES
                    && self.prefixes.iter().rev().find(|(p, _)| *p == prefix).is_none_or(|(_, s)| *s != known)
                {
                    self.prefixes.push((prefix, known));
                }
            } else if key.eq_ignore_ascii_case("xml:base") && !has_base {
                self.out.push_base(value);
                has_base = true;
            }
        }
        (namespace, has_base)
    }

    fn start(&mut self, name: &'a str, attributes: &'a str, empty: bool) {
        if let Some(capture) = &self.capture {
            let (kind, outer, namespace) = (capture.field.kind, capture.field.role, capture.namespace);
            let role = self.role(name, namespace);
            let missing = match role {
                Some(role) => interrupts(role, name, kind, outer),
                None => !is_rich(outer) && self.is_extension(name),
            };
            if !missing {
                let capture = self.capture.as_mut().expect("a capture was found above");
                if !empty && capture.name == name {
                    capture.nested += 1;
                }
                capture.field.inside.element();
                return;
            }
            if let (ElementRole::Person(person_role), Some(ElementRole::Name | ElementRole::Email | ElementRole::Uri)) =
                (outer, role)
            {
                self.open_person(person_role);
            } else {
                self.out.repairs.add(Repair::MissingEndTag);
                let at = self.tokens.token_start();
                self.close_capture(at);
            }
        }
        self.out.depth = self.frames.len();
        self.after_empty_link = false;
        let (scope, inherited) = self.top();
        let (namespace, has_base) = self.scan_attributes(attributes, inherited);
        let role = self.role(name, namespace);
        let mut inner = scope;
        match role {
            Some(ElementRole::Item) if scope != Scope::Aside => {
                self.begin_entry(name, attributes, empty, namespace, has_base);
                return;
            }
            Some(ElementRole::Aside | ElementRole::Source) => inner = Scope::Aside,
            Some(ElementRole::Channel) if scope == Scope::Feed => {
                self.out.set_language(attributes);
                // CDF has the URL of the channel in its tag.
                if let Some(href) = Attributes::get(attributes, "href") {
                    self.out.link(href, "", "");
                }
            }
            Some(role) if scope != Scope::Aside && self.is_field(role, scope) => {
                let said = self.out.read_attributes(role, attributes);
                if said || empty {
                    self.after_empty_link = role == ElementRole::Link && !said;
                    self.drop_base(has_base);
                    if !empty {
                        // The attributes are complete; ignore the text.
                        self.push(Frame { name, role: None, scope, namespace, has_base: false });
                    }
                    return;
                }
                let kind = ContentKind::of(attributes, self.out.default_kind(role));
                let inside = ElementContent::default();
                self.capture = Some(Capture {
                    field: Field { role, attributes, inside, kind },
                    name,
                    from: self.tokens.position(),
                    nested: 0,
                    has_base,
                    namespace,
                });
                return;
            }
            _ => {}
        }
        if empty {
            self.drop_base(has_base);
        } else {
            self.push(Frame { name, role, scope: inner, namespace, has_base });
        }
    }

    /// Takes the URL after `<link/>` as a link: an HTML serializer has emptied the element.
    fn link_outside(&mut self, text: &str) {
        self.after_empty_link = false;
        if is_web(text.trim()) {
            self.out.link(text.trim(), "", "");
        }
    }

    fn push(&mut self, frame: Frame<'a>) {
        if self.frames.len() < self.limits.max_depth {
            self.frames.push(frame);
        } else {
            self.out.repairs.add(Repair::LimitReached);
            self.drop_base(frame.has_base);
            self.too_deep += 1;
        }
    }

    fn drop_base(&mut self, has_base: bool) {
        if has_base {
            self.out.pop_base();
        }
    }

    fn end(&mut self, name: &'a str) {
        if let Some(capture) = &mut self.capture {
            if capture.name.eq_ignore_ascii_case(name) {
                if capture.nested > 0 {
                    capture.nested -= 1;
                    capture.field.inside.element();
                } else {
                    self.close_capture(self.tokens.token_start());
                }
                return;
            }
            let structural = |frame: &Frame<'_>| {
                matches!(frame.role, Some(ElementRole::Item | ElementRole::Channel | ElementRole::Root(_)))
                    || frame.scope == Scope::Person
            };
            if !self.frames.iter().rev().any(|f| f.name.eq_ignore_ascii_case(name) && structural(f)) {
                if capture.field.inside.markup {
                    capture.field.inside.element();
                } else {
                    self.out.repairs.add(Repair::StrayEndTag);
                    capture.field.inside.cut();
                }
                return;
            }
            self.out.repairs.add(Repair::MissingEndTag);
            self.close_capture(self.tokens.token_start());
        }
        let Some(at) = self.frames.iter().rposition(|frame| frame.name.eq_ignore_ascii_case(name)) else {
            if self.too_deep > 0 {
                self.too_deep -= 1;
            } else {
                self.out.repairs.add(Repair::StrayEndTag);
            }
            return;
        };
        if self.too_deep > 0 && at + 1 == self.frames.len() && self.frames[at].role.is_none() {
            self.too_deep -= 1;
            return;
        }
        self.too_deep = 0;
        if at + 1 < self.frames.len() {
            self.out.repairs.add(Repair::MissingEndTag);
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
        match frame.role {
            Some(ElementRole::Item) => self.out.finish_entry(),
            Some(ElementRole::Person(_)) => self.out.finish_person(),
            _ => {}
        }
    }

    fn begin_entry(
        &mut self,
        name: &'a str,
        attributes: &'a str,
        empty: bool,
        namespace: Namespace,
        mut has_base: bool,
    ) {
        if let Some(at) = self.frames.iter().rposition(|frame| frame.role == Some(ElementRole::Item)) {
            // Entries do not nest: the end tag of the previous one is missing.
            self.out.repairs.add(Repair::MissingEndTag);
            // The base of the new entry is on top of that of the old one; push it again.
            self.drop_base(has_base);
            while self.frames.len() > at {
                self.pop();
            }
            has_base = false;
            if let Some(base) = Attributes::get(attributes, "xml:base") {
                self.out.push_base(base);
                has_base = true;
            }
        }
        self.out.begin_entry(attributes);
        self.frames.push(Frame { name, role: Some(ElementRole::Item), scope: Scope::Entry, namespace, has_base });
        if empty {
            self.pop();
        }
    }

    fn open_person(&mut self, person_role: PersonRole) {
        let Some(capture) = self.capture.take() else {
            return;
        };
        self.out.begin_person(person_role);
        let (name, namespace, has_base) = (capture.name, capture.namespace, capture.has_base);
        let role = Some(ElementRole::Person(person_role));
        self.push(Frame { name, role, scope: Scope::Person, namespace, has_base });
    }

    /// Returns true if an element is a field in this scope: parts of a person occur only in a person, and nothing
    /// else there.
    fn is_field(&self, role: ElementRole, scope: Scope) -> bool {
        let part = matches!(role, ElementRole::Name | ElementRole::Email | ElementRole::Uri);
        match scope {
            Scope::Person => part,
            _ => !part && !matches!(role, ElementRole::Root(_) | ElementRole::Channel | ElementRole::Item),
        }
    }

    fn close_capture(&mut self, to: usize) {
        let Some(mut capture) = self.capture.take() else {
            return;
        };
        let raw = &self.text[capture.from..to];
        let raw = if raw.len() > self.limits.max_field_bytes {
            self.out.repairs.add(Repair::LimitReached);
            capture.field.inside.cut();
            &raw[..boundary(raw, self.limits.max_field_bytes)]
        } else {
            raw
        };
        self.out.depth = self.frames.len();
        self.out.field(&capture.field, raw);
        self.drop_base(capture.has_base);
    }
}

/// Returns true if an element inside a field shows that the field's end tag is missing.
fn interrupts(role: ElementRole, name: &str, kind: ContentKind, outer: ElementRole) -> bool {
    match (outer, role) {
        (ElementRole::Person(_), ElementRole::Name | ElementRole::Email | ElementRole::Uri) => true,
        (
            _,
            ElementRole::Name | ElementRole::Email | ElementRole::Uri | ElementRole::SkipDay | ElementRole::SkipHour,
        ) => false,
        (_, ElementRole::Root(_) | ElementRole::Channel) => false,
        _ if role == outer => false,
        // Elements that HTML also has may be part of a text, but not of a URL or title.
        _ => !(is_rich(outer) && (kind == ContentKind::Xhtml || html::is_element(local(name)))),
    }
}

/// Returns true for fields that may contain elements.
fn is_rich(role: ElementRole) -> bool {
    matches!(
        role,
        ElementRole::Description
            | ElementRole::Summary
            | ElementRole::Content
            | ElementRole::Encoded
            | ElementRole::Body
    )
}

/// The last character boundary up to a position.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Lowercases without allocating; names longer than the buffer become empty.
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
