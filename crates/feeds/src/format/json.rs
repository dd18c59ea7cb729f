//! JSON Feed 1.0 and 1.1, RSS converted to JSON, and post lists of WordPress.
//!
//! Members often have the wrong type, so they are coerced: a number to an identifier, a string to a list of tags.

use tidings_model::{Feed, FeedEntry, FeedFormat, Person};

use crate::address::Base;
use crate::html;
use crate::json::{self, Value};
use crate::limits::Limits;
use crate::read::NotAFeed;
use crate::repairs::Repairs;

use super::content::RichText;
use super::entry_builder::{CommonFields, DateField, EntryBuilder, LinkFit, person};
use super::newest::NewestEntries;

/// Parses a feed in JSON.
pub(crate) fn read(text: &str, url: &str, limits: &Limits, repairs: &mut Repairs) -> Result<Feed, NotAFeed> {
    let root = json::parse(text, limits, repairs).ok_or(NotAFeed::Json)?;
    let reader = Reader { base: Base::new(url), limits };
    let mut feed = match &root {
        Value::Array(posts) if posts.iter().any(is_post) => reader.posts(posts, repairs),
        root if root.get("rss").is_some_and(|rss| rss.get("channel").is_some()) => {
            let channel =
                root.get("rss").and_then(|rss| rss.get("channel")).expect("the guard has checked this member");
            reader.channel(channel, repairs)
        }
        root if is_json_feed(root) => reader.feed(root, repairs),
        _ => return Err(NotAFeed::Json),
    };
    feed.format = FeedFormat::Json;
    Ok(feed)
}

/// Detects a JSON Feed by its version or, if that is missing, by its items: many APIs have lists called `items`.
fn is_json_feed(root: &Value<'_>) -> bool {
    if let Some(version) = string(root, "version") {
        return version.contains("jsonfeed.org");
    }
    let telling = ["content_html", "content_text", "date_published", "date_modified", "external_url"];
    let items = root.get("items").map(Value::list).unwrap_or_default();
    items.iter().any(|item| telling.iter().any(|name| item.get(name).is_some()))
}

/// Detects a WordPress post: title and content are objects with a rendered form.
fn is_post(value: &Value<'_>) -> bool {
    value.get("link").is_some() && value.get("title").is_some_and(|title| title.get("rendered").is_some())
}

fn string<'v>(value: &'v Value<'_>, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::text).map(str::trim).filter(|text| !text.is_empty())
}

/// The text of a member that is a string, an object with a rendered form, or a list of these.
fn rendered<'v>(value: &'v Value<'_>, name: &str) -> Option<&'v str> {
    let member = value.get(name)?.list().first()?;
    let inner = || ["rendered", "#value", "$t", "_", "#text"].iter().find_map(|key| string(member, key));
    member.text().map(str::trim).filter(|text| !text.is_empty()).or_else(inner)
}

struct Reader<'l> {
    base: Base,
    limits: &'l Limits,
}

impl Reader<'_> {
    fn feed(&self, root: &Value<'_>, repairs: &mut Repairs) -> Feed {
        let mut feed = Feed {
            version: string(root, "version").map(str::to_string),
            title: string(root, "title").map(html::collapse).unwrap_or_default(),
            subtitle: string(root, "description").map(html::collapse),
            site: self.link(root, "home_page_url"),
            self_link: self.link(root, "feed_url"),
            language: string(root, "language").map(str::to_string),
            authors: self.authors(root),
            ..Feed::default()
        };
        let hubs = root.get("hubs").map(Value::list).unwrap_or_default();
        feed.hubs = hubs.iter().take(self.limits.max_list).filter_map(|hub| self.link(hub, "url")).collect();
        let items = root.get("items").map(Value::list).unwrap_or_default();
        let objects = items.iter().filter(|item| matches!(item, Value::Object(_)));
        feed.entries = self.newest(objects.map(|item| self.item(item)), repairs);
        feed
    }

    fn item(&self, item: &Value<'_>) -> FeedEntry {
        let mut draft =
            EntryBuilder { id: string(item, "id").map(str::to_string), id_is_link: true, ..EntryBuilder::default() };
        for name in ["url", "external_url"] {
            if let Some(link) = self.link(item, name) {
                draft.common.offer_link(0, LinkFit::Page, link);
            }
        }
        if let Some(title) = string(item, "title") {
            draft.common.offer_title(&text(title), 0, false);
        }
        if let Some(summary) = string(item, "summary") {
            draft.offer_summary(text(summary));
        }
        if let Some(content) = string(item, "content_html") {
            draft.offer_content(markup(content));
        }
        if let Some(content) = string(item, "content_text") {
            draft.offer_content(text(content));
        }
        self.dates(&mut draft.common, item, ["date_published", "date_modified"]);
        draft.common.authors = self.authors(item);
        draft.common.language = string(item, "language").map(str::to_string);
        self.tags(&mut draft, item.get("tags"));
        let attachments = item.get("attachments").map(Value::list).unwrap_or_default();
        draft.enclosures = attachments.iter().take(self.limits.max_list).filter_map(|a| self.link(a, "url")).collect();
        draft.finish(|link| self.base.resolve(link))
    }

    /// Reads RSS converted to JSON.
    fn channel(&self, channel: &Value<'_>, repairs: &mut Repairs) -> Feed {
        let channel = channel.list().first().unwrap_or(channel);
        let mut feed = Feed {
            title: rendered(channel, "title").map(html::to_text).unwrap_or_default(),
            subtitle: rendered(channel, "description").map(html::to_text),
            site: rendered(channel, "link").and_then(|link| self.base.resolve(link)),
            language: rendered(channel, "language").map(str::to_string),
            generator: rendered(channel, "generator").map(str::to_string),
            ..Feed::default()
        };
        let items = channel.get("item").or_else(|| channel.get("items")).map(Value::list).unwrap_or_default();
        feed.entries = self.newest(items.iter().map(|item| self.channel_item(item)), repairs);
        feed
    }

    fn channel_item(&self, item: &Value<'_>) -> FeedEntry {
        let mut draft = EntryBuilder {
            id: rendered(item, "guid").map(str::to_string),
            id_is_link: true,
            ..EntryBuilder::default()
        };
        if let Some(link) = rendered(item, "link").and_then(|link| self.base.resolve(link)) {
            draft.common.offer_link(0, LinkFit::Page, link);
        }
        if let Some(title) = rendered(item, "title") {
            draft.common.offer_title(&markup_if(title), 0, false);
        }
        if let Some(summary) = rendered(item, "description") {
            draft.offer_summary(markup(summary));
        }
        if let Some(content) = rendered(item, "content:encoded") {
            draft.offer_content(markup(content));
        }
        self.dates(&mut draft.common, item, ["pubDate", "dc:date"]);
        if let Some(author) = rendered(item, "author").or_else(|| rendered(item, "dc:creator")) {
            draft.common.offer_author(person(author), false, self.limits);
        }
        self.tags(&mut draft, item.get("category"));
        draft.finish(|link| self.base.resolve(link))
    }

    /// Reads the post list of the WordPress API.
    fn posts(&self, posts: &[Value<'_>], repairs: &mut Repairs) -> Feed {
        let entries = posts.iter().filter(|post| is_post(post)).map(|post| {
            let mut draft = EntryBuilder {
                id: rendered(post, "guid").map(str::to_string),
                id_is_link: true,
                ..EntryBuilder::default()
            };
            if let Some(link) = self.link(post, "link") {
                draft.common.offer_link(0, LinkFit::Page, link);
            }
            if let Some(title) = rendered(post, "title") {
                draft.common.offer_title(&markup(title), 0, false);
            }
            if let Some(summary) = rendered(post, "excerpt") {
                draft.offer_summary(markup(summary));
            }
            if let Some(content) = rendered(post, "content") {
                draft.offer_content(markup(content));
            }
            self.dates(&mut draft.common, post, ["date_gmt", "modified_gmt"]);
            draft.finish(|link| self.base.resolve(link))
        });
        Feed { entries: self.newest(entries, repairs), ..Feed::default() }
    }

    /// The entries within the limit.
    fn newest(&self, entries: impl Iterator<Item = FeedEntry>, repairs: &mut Repairs) -> Vec<FeedEntry> {
        let mut newest = NewestEntries::new(self.limits.max_entries);
        entries.for_each(|entry| newest.push(entry));
        newest.finish(repairs)
    }

    fn link(&self, value: &Value<'_>, name: &str) -> Option<String> {
        string(value, name).and_then(|link| self.base.resolve(link))
    }

    fn dates(&self, common: &mut CommonFields, item: &Value<'_>, [published, updated]: [&str; 2]) {
        if let Some(date) = rendered(item, published) {
            common.offer_date(DateField::Published, date);
        }
        if let Some(date) = rendered(item, updated) {
            common.offer_date(DateField::Updated, date);
        }
    }

    /// Reads authors: a list in version 1.1, one in version 1.0; both may be plain strings.
    fn authors(&self, value: &Value<'_>) -> Vec<Person> {
        let mut common = CommonFields::default();
        for name in ["authors", "author"] {
            for author in value.get(name).map(Value::list).unwrap_or_default() {
                let found = match author.text() {
                    Some(text) => person(text),
                    None => Person {
                        name: string(author, "name").map(html::collapse).unwrap_or_default(),
                        email: string(author, "email").map(str::to_string),
                        uri: self.link(author, "url"),
                    },
                };
                common.offer_author(found, false, self.limits);
            }
        }
        common.authors
    }

    fn tags(&self, draft: &mut EntryBuilder, tags: Option<&Value<'_>>) {
        for tag in tags.map(Value::list).unwrap_or_default() {
            let name = tag.text().or_else(|| string(tag, "name")).or_else(|| string(tag, "#value"));
            draft.offer_category(name.unwrap_or(""), self.limits);
        }
    }
}

fn text(value: &str) -> RichText<'_> {
    RichText { value: value.into(), is_html: false }
}

fn markup(value: &str) -> RichText<'_> {
    RichText { value: value.into(), is_html: true }
}

fn markup_if(value: &str) -> RichText<'_> {
    RichText { value: value.into(), is_html: html::looks_like_html(value) }
}
