//! Evidence from class names, ids, tags and ARIA roles.
//!
//! Publishers name their containers with a few dozen words that recur from site to site:
//! `share-bar`, `related`, `entry-content`. Each group of such words is a feature with a stated
//! reason. A group is evidence, not a verdict: an article about comments may have
//! `class="comments"`.

use std::collections::HashMap;
use std::sync::OnceLock;

use html5ever::{LocalName, local_name};

use super::comment_names;
use crate::tree::{NodeId, Tree};

/// A group of words in class names and ids that mark one kind of container.
pub struct NameGroup {
    /// Name of the group; part of the column names in the weight files.
    pub name: &'static str,
    /// WordStats that occur in `class` and `id`.
    pub words: &'static [&'static str],
    /// Content of such containers.
    pub because: &'static str,
}

macro_rules! groups {
    ($($name:ident: $words:expr, $because:literal;)*) => {
        /// All name groups. Their names are column names of the forests.
        pub const GROUPS: &[NameGroup] = &[$(NameGroup { name: stringify!($name), words: &$words, because: $because }),*];
    };
}

groups! {
    body: ["articlebody", "storybody", "entrycontent", "postcontent", "articlecontent", "postbody", "entrybody", "storycontent",
        "bodytext", "articletext", "artikeltext", "fliesstext", "richtext", "bodycopy", "contentbody", "newstext", "textbody",
        "maintext", "texto", "texte", "cuerpo", "corps"],
        "the running text of an article";
    article: ["article", "artikel", "articulo", "articolo", "artigo", "story", "post", "entry", "hentry", "beitrag", "news", "blogpost",
        "noticia", "nota", "blog", "single", "detail"],
        "the article as a whole, or one of many in a list";
    content: ["content", "inhalt", "contenido", "contenu", "conteudo", "main", "text", "prose", "copy", "wysiwyg", "editorial", "body",
        "paragraph", "rte", "markdown"],
        "what the page is about, in the widest sense";
    lead: ["lead", "intro", "summary", "standfirst", "dek", "abstract", "vorspann", "chapo", "excerpt", "subtitle", "subheadline",
        "subhead", "sommario", "sumario", "bajada", "anriss", "deck", "ingress", "description", "kicker", "introduction"],
        "the first sentences of an article, set apart, or the only ones a teaser has";
    title: ["title", "headline", "heading", "titel", "titulo", "titre", "titolo", "hed"],
        "headlines, of this page or another";
    byline: ["author", "authors", "byline", "autor", "autore", "auteur", "meta", "date", "datum", "fecha", "time", "timestamp", "published",
        "posted", "dateline", "publish", "info", "updated", "entrymeta", "postmeta", "reporter", "written"],
        "author and date";
    bio: ["bio", "biography", "about", "profile", "vcard", "authorbox", "portrait", "contributor", "avatar"],
        "a few sentences about the author";
    caption: ["caption", "figcaption", "bildunterschrift", "credit", "credits", "legend", "legende", "bu", "image", "img", "photo", "foto",
        "picture", "bild", "media", "figure", "thumbnail", "copyright"],
        "image captions";
    share: ["share", "sharing", "shares", "social", "facebook", "twitter", "whatsapp", "addthis", "shariff", "teilen", "bookmark", "follow",
        "like", "sociable", "sharethis", "pinterest", "linkedin", "tweet", "compartir", "partager"],
        "buttons, not prose";
    comment: ["comment", "comments", "kommentar", "kommentare", "commentaire", "commentaires", "comentarios", "comentario", "disqus", "reply",
        "respond", "replies", "discussion", "commentlist", "opinions", "reactions", "reader", "feedback"],
        "reader comments";
    related: ["related", "recommend", "recommended", "recommendation", "recommendations", "similar", "more", "also", "mehr", "weitere",
        "popular", "trending", "most", "mostread", "readmore", "outbrain", "taboola", "promo", "next", "prev", "previous", "latest",
        "recent", "recirc", "yarpp", "jp", "suggested", "further", "relacionadas", "relacionados", "verwandt", "thema", "topstories"],
        "other articles";
    teaser: ["teaser", "teasers", "card", "cards", "tile", "item", "items", "list", "listing", "grid", "slider", "carousel", "swiper", "slick",
        "thumb", "preview", "river", "feed", "archive", "row", "col"],
        "one of many similar containers";
    nav: ["nav", "navi", "navigation", "menu", "navbar", "breadcrumb", "breadcrumbs", "pagination", "pager", "skip", "topbar", "sitemap",
        "tabs", "tab", "submenu", "dropdown", "megamenu", "link", "links"],
        "links to other pages";
    footer: ["footer", "foot", "fuss", "colophon", "bottom", "legal", "imprint", "impressum", "disclaimer"],
        "the same on every page of the site";
    header: ["header", "head", "masthead", "banner", "top", "kopf", "hero", "logo", "brand"],
        "the same on every page of the site, or the top of the article";
    sidebar: ["sidebar", "aside", "side", "rail", "right", "widget", "widgets", "marginal", "secondary", "sidecol", "rightcol", "rechts",
        "textwidget"],
        "next to the article";
    ad: ["ad", "ads", "adv", "advert", "advertisement", "advertising", "werbung", "anzeige", "sponsor", "sponsored", "adsense", "dfp", "gpt",
        "partner", "commercial", "publicidad", "publicite", "affiliate", "promotion"],
        "advertising";
    newsletter: ["newsletter", "subscribe", "subscription", "signup", "abo", "abonnement", "optin", "mailchimp", "register", "registration",
        "email", "mail", "cta", "suscribete", "donate", "donation", "support"],
        "calls to action";
    paywall: ["paywall", "premium", "locked", "restricted", "regwall", "piano", "offer", "barrier", "gate", "gated"],
        "requests to pay";
    cookie: ["cookie", "cookies", "consent", "gdpr", "cmp", "privacy", "notice", "datenschutz", "onetrust", "ccpa", "didomi", "cybot"],
        "consent notices";
    popup: ["modal", "popup", "overlay", "dialog", "lightbox", "tooltip", "toast", "offcanvas", "drawer", "alert", "message", "noscript"],
        "laid over the page";
    tags: ["tag", "tags", "tagcloud", "keywords", "keyword", "topic", "topics", "category", "categories", "cat", "rubrik", "label", "labels",
        "taxonomy", "terms", "etiquetas"],
        "keywords and sections";
    form: ["form", "search", "login", "signin", "input", "button", "btn", "field", "suche", "buscador", "captcha", "password", "user"],
        "input forms";
    toc: ["toc", "contents", "outline", "inhaltsverzeichnis", "index", "anchors"],
        "table of contents";
    hidden: ["hidden", "hide", "invisible", "sr", "visuallyhidden", "screenreader", "none", "collapsed", "print", "noprint", "only"],
        "not shown, or not to everyone";
    quote: ["quote", "pullquote", "blockquote", "zitat", "cita", "citation"],
        "a sentence of the article repeated, or a source quoted";
    gallery: ["gallery", "slideshow", "video", "player", "audio", "podcast", "embed", "map", "galerie", "galeria", "bildstrecke", "playlist"],
        "captions of media";
    infobox: ["infobox", "box", "factbox", "facts", "kasten", "callout", "note", "highlight", "accordion", "faq"],
        "a separate text within the article";
    references: ["footnote", "footnotes", "references", "reference", "reflist", "bibliography", "sources", "source", "correction", "edit"],
        "sources and remarks";
    poll: ["rating", "stars", "vote", "poll", "quiz", "survey", "reviews", "score"],
        "polls and ratings";
    shop: ["price", "product", "shop", "cart", "buy", "sku", "amazon", "deal", "deals", "coupon", "checkout"],
        "products for sale";
    tool: ["tools", "tool", "toolbar", "actions", "utility", "font", "icon", "icons", "service", "services", "weather", "wetter", "stock"],
        "page controls";
    thread: ["forum", "thread", "topic", "message", "messages", "bbs", "viewtopic", "postbit", "question", "answer", "answers"],
        "forum posts, which are the main text of such pages";
    docs: ["doc", "docs", "documentation", "manual", "guide", "tutorial", "section", "chapter", "wiki", "page"],
        "documentation pages";
}

macro_rules! roles {
    ($($name:ident),*) => {
        /// ElementRole of an element by its tag, its ARIA `role` or its attributes. The names are column
        /// names of the forests.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        #[repr(usize)]
        pub enum ElementRole { $($name),* }

        /// The names of the roles, in order.
        pub const ROLES: &[&str] = &[$(stringify!($name)),*];
    };
}

roles! {
    Article, Main, Aside, Nav, Header, Footer, Form, Figure, Caption, Table, Cell, List, Definition, Quote, Section, Link, Details,
    Noscript, Button, Hidden, Address, Heading, ArticleBody, Dialog, Pre, Complementary, Contentinfo, Span, Div, P, Item, Comments,
    Concealed
}

/// Index of the group called `name`; evaluated at compile time, so an unknown name does not compile.
pub(super) const fn group_index(name: &str) -> usize {
    let mut at = 0;
    while at < GROUPS.len() {
        if same_bytes(GROUPS[at].name.as_bytes(), name.as_bytes()) {
            return at;
        }
        at += 1;
    }
    panic!("there is no group with this name")
}

const fn same_bytes(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Number of groups and roles.
pub const EVIDENCE_COUNT: usize = GROUPS.len() + ROLES.len();

/// Distance to the nearest enclosing element of each group and role, the element itself being at 1;
/// 0 if there is none.
#[derive(Debug, Clone, Copy)]
pub struct AncestorDistances(pub [u8; EVIDENCE_COUNT]);

impl AncestorDistances {
    /// The distances at the root of a page.
    pub const NOTHING: AncestorDistances = AncestorDistances([0; EVIDENCE_COUNT]);

    /// Distance to the nearest container of a group; 0 if there is none.
    pub(super) fn group(&self, index: usize) -> u8 {
        self.0[index]
    }

    /// Returns whether the element or one of its ancestors has the role.
    pub fn role(&self, role: ElementRole) -> bool {
        self.0[GROUPS.len() + role as usize] > 0
    }

    /// The distances of a child element with the given evidence.
    pub fn below(&self, own: &ElementEvidence) -> AncestorDistances {
        let mut near = *self;
        for (place, distance) in near.0.iter_mut().enumerate() {
            if own.kinds >> place & 1 == 1 {
                *distance = 1;
            } else if *distance > 0 {
                *distance = distance.saturating_add(1);
            }
        }
        near
    }
}

/// Evidence of one element, without its ancestors.
#[derive(Debug, Clone, Copy, Default)]
pub struct ElementEvidence {
    /// One bit per group, then one per role.
    pub kinds: u128,
    /// Minimum and maximum lift of the words in its class and id.
    pub lift: (f32, f32),
    /// Fnv1a of tag and classes; equal for containers built from the same template.
    pub signature: u32,
}

impl ElementEvidence {
    /// Returns whether the element itself has the role.
    pub fn has_role(&self, role: ElementRole) -> bool {
        self.kinds & bit(role) != 0
    }
}

/// Reads the evidence of an element.
pub fn read(tree: &Tree, id: NodeId, lift: &impl Fn(u64) -> Option<f32>) -> ElementEvidence {
    let mut own = ElementEvidence::default();
    let Some(name) = tree.name(id) else { return own };
    let mut role = |role: ElementRole| own.kinds |= 1 << (GROUPS.len() + role as usize);
    if let Some(by_tag) = tag_role(name) {
        role(by_tag);
    }
    let mut signature = Fnv1a::new();
    signature.word(name);
    let mut range: Option<(f32, f32)> = None;
    for attribute in tree.attrs(id) {
        let value = &*attribute.value;
        match attribute.name.local {
            local_name!("class") | local_name!("id") => {
                let is_class = attribute.name.local == local_name!("class");
                let value = clip(value, MAX_NAME_BYTES);
                if is_class {
                    signature.word(value);
                }
                for token in container_names(name, value) {
                    names(token, |hash| {
                        if let Some(groups) = group_table().get(&hash) {
                            own.kinds |= u128::from(*groups);
                        }
                        if let Some(weight) = lift(hash) {
                            let (low, high) = range.unwrap_or((weight, weight));
                            range = Some((low.min(weight), high.max(weight)));
                        }
                    });
                    if comment_names::is_container(name, token) {
                        own.kinds |= bit(ElementRole::Comments);
                    }
                }
            }
            local_name!("itemtype") if value.ends_with("/Comment") || value.ends_with("/UserComments") => {
                own.kinds |= bit(ElementRole::Comments);
            }
            local_name!("hidden") => own.kinds |= bit(ElementRole::Hidden) | bit(ElementRole::Concealed),
            local_name!("style") if hides(clip(value, 512)) => {
                own.kinds |= bit(ElementRole::Hidden) | bit(ElementRole::Concealed);
            }
            local_name!("role") => {
                if let Some(declared) = declared_role(value) {
                    own.kinds |= bit(declared);
                }
            }
            local_name!("itemprop") if value.contains("articleBody") => own.kinds |= bit(ElementRole::ArticleBody),
            local_name!("itemprop") if value == "comment" => own.kinds |= bit(ElementRole::Comments),
            _ if &*attribute.name.local == "aria-hidden" && value == "true" => own.kinds |= bit(ElementRole::Hidden),
            _ => {}
        }
    }
    own.lift = range.unwrap_or_default();
    own.signature = signature.0 as u32;
    own
}

fn bit(role: ElementRole) -> u128 {
    1 << (GROUPS.len() + role as usize)
}

fn tag_role(name: &LocalName) -> Option<ElementRole> {
    Some(match *name {
        local_name!("article") => ElementRole::Article,
        local_name!("main") => ElementRole::Main,
        local_name!("aside") => ElementRole::Aside,
        local_name!("nav") | local_name!("menu") => ElementRole::Nav,
        local_name!("header") => ElementRole::Header,
        local_name!("footer") => ElementRole::Footer,
        local_name!("form") | local_name!("fieldset") | local_name!("label") => ElementRole::Form,
        local_name!("figure") => ElementRole::Figure,
        local_name!("figcaption") | local_name!("caption") => ElementRole::Caption,
        local_name!("table") => ElementRole::Table,
        local_name!("td") | local_name!("th") => ElementRole::Cell,
        local_name!("ul") | local_name!("ol") => ElementRole::List,
        local_name!("li") => ElementRole::Item,
        local_name!("dl") => ElementRole::Definition,
        local_name!("blockquote") => ElementRole::Quote,
        local_name!("section") => ElementRole::Section,
        local_name!("a") => ElementRole::Link,
        local_name!("details") => ElementRole::Details,
        local_name!("noscript") => ElementRole::Noscript,
        local_name!("button") => ElementRole::Button,
        local_name!("address") => ElementRole::Address,
        local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6") => ElementRole::Heading,
        local_name!("dialog") => ElementRole::Dialog,
        local_name!("pre") => ElementRole::Pre,
        local_name!("span") => ElementRole::Span,
        local_name!("div") => ElementRole::Div,
        local_name!("p") => ElementRole::P,
        _ => return None,
    })
}

fn declared_role(value: &str) -> Option<ElementRole> {
    Some(match value.trim() {
        "main" => ElementRole::Main,
        "article" => ElementRole::Article,
        "navigation" | "menu" | "menubar" | "tablist" => ElementRole::Nav,
        "complementary" => ElementRole::Complementary,
        "contentinfo" => ElementRole::Contentinfo,
        "banner" => ElementRole::Header,
        "dialog" | "alertdialog" | "alert" => ElementRole::Dialog,
        "search" | "form" => ElementRole::Form,
        "button" => ElementRole::Button,
        _ => return None,
    })
}

/// Returns true if an inline style in lower case hides its element.
pub(crate) fn hides(style: &str) -> bool {
    let mut rest = style;
    while let Some(found) = rest.find(':') {
        let property = rest[..found].trim_end();
        let value = rest[found + 1..].trim_start();
        if (property.ends_with("display") && value.starts_with("none"))
            || (property.ends_with("visibility") && value.starts_with("hidden"))
        {
            return true;
        }
        rest = &rest[found + 1..];
    }
    false
}

/// Maximum number of bytes of a `class` or `id` that are read.
pub const MAX_NAME_BYTES: usize = 512;

/// The names in a `class` or `id` that describe the container.
///
/// Blog software also writes the taxonomy of a post into the class of its container
/// (`category-biography tag-bio`): these name the topic, not the kind of container, so a post about
/// advertising is not taken for advertising.
pub fn container_names<'v>(element: &LocalName, value: &'v str) -> impl Iterator<Item = &'v str> {
    let holds_post =
        matches!(*element, local_name!("html") | local_name!("body") | local_name!("main") | local_name!("article"))
            || value.split_ascii_whitespace().any(marks_post);
    value.split_ascii_whitespace().filter(move |name| !(holds_post && is_taxonomy(name)))
}

/// Returns whether a class is one that blog software gives to the container of a post or page.
fn marks_post(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    matches!(
        name,
        "hentry" | "h-entry" | "post" | "type-post" | "type-page" | "status-publish" | "single-post" | "node"
    ) || numbered("post-")
        || numbered("postid-")
        || numbered("page-id-")
        || numbered("node-")
}

/// Returns whether a class states the topic, author or state of a post.
fn is_taxonomy(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "tag-",
        "category-",
        "cat-",
        "post_tag-",
        "author-",
        "topic-",
        "section-",
        "term-",
        "genre-",
        "series-",
        "label-",
        "post-tag-",
        "post-category-",
        "taxonomy-",
        "rubrik-",
        "subject-",
        "tag_",
        "category_",
        "type-",
        "format-",
        "status-",
        "post-format-",
        "has-",
        "no-",
        "with-",
        "without-",
        "comments-",
    ];
    PREFIXES.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix))
}

fn clip(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn group_table() -> &'static HashMap<u64, u64, IdentityState> {
    static TABLE: OnceLock<HashMap<u64, u64, IdentityState>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<u64, u64, IdentityState> = HashMap::default();
        for (place, group) in GROUPS.iter().enumerate() {
            for word in group.words {
                *table.entry(Fnv1a::of(word)).or_default() |= 1 << place;
            }
        }
        table
    })
}

/// Calls `found` with the hash of every name in a class or id attribute, and of the words in it.
///
/// `mainContent entry-body_2` has the names `maincontent` and `entrybody` and the words `main`,
/// `content`, `entry`, `body`.
pub fn names(value: &str, mut found: impl FnMut(u64)) {
    for name in value.split_ascii_whitespace() {
        let (mut whole, mut word) = (Fnv1a::new(), Fnv1a::new());
        let (mut words, mut length) = (0, 0);
        let mut lower_before = false;
        for byte in name.bytes() {
            let parts = !(byte.is_ascii_alphabetic() || byte >= 0x80);
            if parts || (byte.is_ascii_uppercase() && lower_before) {
                if length > 1 {
                    found(word.0);
                    words += 1;
                }
                word = Fnv1a::new();
                length = 0;
            }
            lower_before = byte.is_ascii_lowercase();
            if !parts {
                let lower = byte.to_ascii_lowercase();
                word.byte(lower);
                whole.byte(lower);
                length += 1;
            }
        }
        if length > 1 {
            found(word.0);
            words += 1;
        }
        if words > 1 {
            found(whole.0);
        }
    }
}

/// FNV-1a hash. The tables are keyed by hash, and names are short.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(pub u64);

impl Fnv1a {
    /// The hash of the empty string.
    pub fn new() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn word(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
        self.byte(0);
    }

    /// The hash of a string.
    pub fn of(text: &str) -> u64 {
        let mut hash = Fnv1a::new();
        for byte in text.bytes() {
            hash.byte(byte);
        }
        hash.0
    }
}

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a::new()
    }
}

/// Builds hashers that return the key itself; the keys are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdentityState;

impl std::hash::BuildHasher for IdentityState {
    type Hasher = IdentityHasher;

    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher(0)
    }
}

/// See [`IdentityState`].
#[derive(Debug, Clone, Copy)]
pub struct IdentityHasher(u64);

impl std::hash::Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write_u32(&mut self, value: u32) {
        // hashbrown takes the bucket from the low bits and the tag from the high ones, so an
        // integer key must be spread over both (Fibonacci hashing).
        self.0 = u64::from(value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_split_into_words() {
        let mut found = Vec::new();
        names("mainContent entry-body_2 x", |hash| found.push(hash));
        let expected = ["main", "content", "maincontent", "entry", "body", "entrybody"].map(Fnv1a::of);
        assert_eq!(found, expected);
    }

    #[test]
    fn styles_that_hide_an_element_are_detected() {
        assert!(hides("color: red; display : none"));
        assert!(hides("visibility:hidden"));
        assert!(!hides("display:block;background:url(none)"));
    }
}
