//! What names and roles tell about an element.
//!
//! Publishers name their boxes for themselves, in a few dozen words that recur from site to site:
//! `share-bar`, `related`, `entry-content`. Each group of such words is a row with a reason. A group
//! is evidence, never a verdict: an article about comments may well lie in `class="comments"`.

use std::collections::HashMap;
use std::sync::OnceLock;

use html5ever::{LocalName, local_name};

use crate::tree::{NodeId, Tree};

/// A kind of box, the words it goes by, and why it matters.
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// The words of class and id.
    pub words: &'static [&'static str],
    /// What lies in such boxes.
    pub because: &'static str,
}

macro_rules! groups {
    ($($name:ident: $words:expr, $because:literal;)*) => {
        /// The groups, each with its words and its reason.
        pub const GROUPS: &[Group] = &[$(Group { name: stringify!($name), words: &$words, because: $because }),*];
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
        "who wrote it and when";
    bio: ["bio", "biography", "about", "profile", "vcard", "authorbox", "portrait", "contributor", "avatar"],
        "a few sentences about the author";
    caption: ["caption", "figcaption", "bildunterschrift", "credit", "credits", "legend", "legende", "bu", "image", "img", "photo", "foto",
        "picture", "bild", "media", "figure", "thumbnail", "copyright"],
        "words about a picture";
    share: ["share", "sharing", "shares", "social", "facebook", "twitter", "whatsapp", "addthis", "shariff", "teilen", "bookmark", "follow",
        "like", "sociable", "sharethis", "pinterest", "linkedin", "tweet", "compartir", "partager"],
        "buttons, not prose";
    comment: ["comment", "comments", "kommentar", "kommentare", "commentaire", "commentaires", "comentarios", "comentario", "disqus", "reply",
        "respond", "replies", "discussion", "commentlist", "opinions", "reactions", "reader", "feedback"],
        "what readers wrote";
    related: ["related", "recommend", "recommended", "recommendation", "recommendations", "similar", "more", "also", "mehr", "weitere",
        "popular", "trending", "most", "mostread", "readmore", "outbrain", "taboola", "promo", "next", "prev", "previous", "latest",
        "recent", "recirc", "yarpp", "jp", "suggested", "further", "relacionadas", "relacionados", "verwandt", "thema", "topstories"],
        "other articles";
    teaser: ["teaser", "teasers", "card", "cards", "tile", "item", "items", "list", "listing", "grid", "slider", "carousel", "swiper", "slick",
        "thumb", "preview", "river", "feed", "archive", "row", "col"],
        "one of many boxes alike";
    nav: ["nav", "navi", "navigation", "menu", "navbar", "breadcrumb", "breadcrumbs", "pagination", "pager", "skip", "topbar", "sitemap",
        "tabs", "tab", "submenu", "dropdown", "megamenu", "link", "links"],
        "ways to other pages";
    footer: ["footer", "foot", "fuss", "colophon", "bottom", "legal", "imprint", "impressum", "disclaimer"],
        "the same on every page of the site";
    header: ["header", "head", "masthead", "banner", "top", "kopf", "hero", "logo", "brand"],
        "the same on every page of the site, or the top of the article";
    sidebar: ["sidebar", "aside", "side", "rail", "right", "widget", "widgets", "marginal", "secondary", "sidecol", "rightcol", "rechts",
        "textwidget"],
        "beside the article";
    ad: ["ad", "ads", "adv", "advert", "advertisement", "advertising", "werbung", "anzeige", "sponsor", "sponsored", "adsense", "dfp", "gpt",
        "partner", "commercial", "publicidad", "publicite", "affiliate", "promotion"],
        "advertising";
    newsletter: ["newsletter", "subscribe", "subscription", "signup", "abo", "abonnement", "optin", "mailchimp", "register", "registration",
        "email", "mail", "cta", "suscribete", "donate", "donation", "support"],
        "asks the reader to do something";
    paywall: ["paywall", "premium", "locked", "restricted", "regwall", "piano", "offer", "barrier", "gate", "gated"],
        "asks the reader to pay";
    cookie: ["cookie", "cookies", "consent", "gdpr", "cmp", "privacy", "notice", "datenschutz", "onetrust", "ccpa", "didomi", "cybot"],
        "asks the reader to agree";
    popup: ["modal", "popup", "overlay", "dialog", "lightbox", "tooltip", "toast", "offcanvas", "drawer", "alert", "message", "noscript"],
        "laid over the page";
    tags: ["tag", "tags", "tagcloud", "keywords", "keyword", "topic", "topics", "category", "categories", "cat", "rubrik", "label", "labels",
        "taxonomy", "terms", "etiquetas"],
        "keywords and sections";
    form: ["form", "search", "login", "signin", "input", "button", "btn", "field", "suche", "buscador", "captcha", "password", "user"],
        "asks the reader to type";
    toc: ["toc", "contents", "outline", "inhaltsverzeichnis", "index", "anchors"],
        "headings listed once more";
    hidden: ["hidden", "hide", "invisible", "sr", "visuallyhidden", "screenreader", "none", "collapsed", "print", "noprint", "only"],
        "not shown, or not to everyone";
    quote: ["quote", "pullquote", "blockquote", "zitat", "cita", "citation"],
        "a sentence of the article repeated, or a source quoted";
    gallery: ["gallery", "slideshow", "video", "player", "audio", "podcast", "embed", "map", "galerie", "galeria", "bildstrecke", "playlist"],
        "words about media";
    infobox: ["infobox", "box", "factbox", "facts", "kasten", "callout", "note", "highlight", "accordion", "faq"],
        "a text within the text";
    references: ["footnote", "footnotes", "references", "reference", "reflist", "bibliography", "sources", "source", "correction", "edit"],
        "sources and remarks";
    poll: ["rating", "stars", "vote", "poll", "quiz", "survey", "reviews", "score"],
        "asks for an opinion";
    shop: ["price", "product", "shop", "cart", "buy", "sku", "amazon", "deal", "deals", "coupon", "checkout"],
        "for sale";
    tool: ["tools", "tool", "toolbar", "actions", "utility", "font", "icon", "icons", "service", "services", "weather", "wetter", "stock"],
        "handles for the page";
    thread: ["forum", "thread", "topic", "message", "messages", "bbs", "viewtopic", "postbit", "question", "answer", "answers"],
        "posts of a discussion that is itself the page's text";
    docs: ["doc", "docs", "documentation", "manual", "guide", "tutorial", "section", "chapter", "wiki", "page"],
        "pages that explain";
}

macro_rules! roles {
    ($($name:ident),*) => {
        /// What an element is by its tag, its role or its attributes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        #[repr(usize)]
        pub enum Role { $($name),* }

        /// The names of the roles.
        pub const ROLES: &[&str] = &[$(stringify!($name)),*];
    };
}

roles! {
    Article, Main, Aside, Nav, Header, Footer, Form, Figure, Caption, Table, Cell, List, Definition, Quote, Section, Link, Details,
    Noscript, Button, Hidden, Address, Heading, ArticleBody, Dialog, Pre, Complementary, Contentinfo, Span, Div, P, Item
}

/// The number of things an element can be near to.
pub const NEAR: usize = GROUPS.len() + ROLES.len();

/// For each group and role the distance to the nearest element of that kind, itself included, plus
/// one; zero where there is none.
#[derive(Debug, Clone, Copy)]
pub struct Near(pub [u8; NEAR]);

impl Near {
    /// At the top of a page nothing is near.
    pub const NOTHING: Near = Near([0; NEAR]);

    /// The distance to a box of that group, its own element being at one; zero where there is none.
    pub fn group(&self, name: &str) -> u8 {
        GROUPS.iter().position(|group| group.name == name).map_or(0, |place| self.0[place])
    }

    /// Whether there is such an element around.
    pub fn role(&self, role: Role) -> bool {
        self.0[GROUPS.len() + role as usize] > 0
    }

    /// What is near to an element, given what is near to its parent.
    pub fn below(&self, own: &Own) -> Near {
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

/// What an element says by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Own {
    /// One bit for each group and role.
    pub kinds: u128,
    /// The smallest and the largest weight of its words.
    pub odds: (f32, f32),
    /// A hash of its tag and classes, by which boxes alike are known.
    pub signature: u32,
}

/// Reads an element.
pub fn read(tree: &Tree, id: NodeId, weigh: &impl Fn(u64) -> Option<f32>) -> Own {
    let mut own = Own::default();
    let Some(name) = tree.name(id) else { return own };
    let mut role = |role: Role| own.kinds |= 1 << (GROUPS.len() + role as usize);
    if let Some(by_tag) = tag_role(name) {
        role(by_tag);
    }
    let mut signature = Hash::new();
    signature.word(name);
    let mut odds: Option<(f32, f32)> = None;
    for attribute in tree.attrs(id) {
        let value = &*attribute.value;
        match attribute.name.local {
            local_name!("class") | local_name!("id") => {
                let is_class = attribute.name.local == local_name!("class");
                let value = clip(value, 512);
                if is_class {
                    signature.word(value);
                }
                names(value, |hash| {
                    if let Some(groups) = group_table().get(&hash) {
                        own.kinds |= u128::from(*groups);
                    }
                    if let Some(weight) = weigh(hash) {
                        let (low, high) = odds.unwrap_or((weight, weight));
                        odds = Some((low.min(weight), high.max(weight)));
                    }
                });
            }
            local_name!("hidden") => own.kinds |= bit(Role::Hidden),
            local_name!("style") if hides(clip(value, 512)) => own.kinds |= bit(Role::Hidden),
            local_name!("role") => {
                if let Some(declared) = declared_role(value) {
                    own.kinds |= bit(declared);
                }
            }
            local_name!("itemprop") if value.contains("articleBody") => own.kinds |= bit(Role::ArticleBody),
            _ if &*attribute.name.local == "aria-hidden" && value == "true" => own.kinds |= bit(Role::Hidden),
            _ => {}
        }
    }
    own.odds = odds.unwrap_or_default();
    own.signature = signature.0 as u32;
    own
}

fn bit(role: Role) -> u128 {
    1 << (GROUPS.len() + role as usize)
}

fn tag_role(name: &LocalName) -> Option<Role> {
    Some(match *name {
        local_name!("article") => Role::Article,
        local_name!("main") => Role::Main,
        local_name!("aside") => Role::Aside,
        local_name!("nav") | local_name!("menu") => Role::Nav,
        local_name!("header") => Role::Header,
        local_name!("footer") => Role::Footer,
        local_name!("form") | local_name!("fieldset") | local_name!("label") => Role::Form,
        local_name!("figure") => Role::Figure,
        local_name!("figcaption") | local_name!("caption") => Role::Caption,
        local_name!("table") => Role::Table,
        local_name!("td") | local_name!("th") => Role::Cell,
        local_name!("ul") | local_name!("ol") => Role::List,
        local_name!("li") => Role::Item,
        local_name!("dl") => Role::Definition,
        local_name!("blockquote") => Role::Quote,
        local_name!("section") => Role::Section,
        local_name!("a") => Role::Link,
        local_name!("details") => Role::Details,
        local_name!("noscript") => Role::Noscript,
        local_name!("button") => Role::Button,
        local_name!("address") => Role::Address,
        local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6") => Role::Heading,
        local_name!("dialog") => Role::Dialog,
        local_name!("pre") => Role::Pre,
        local_name!("span") => Role::Span,
        local_name!("div") => Role::Div,
        local_name!("p") => Role::P,
        _ => return None,
    })
}

fn declared_role(value: &str) -> Option<Role> {
    Some(match value.trim() {
        "main" => Role::Main,
        "article" => Role::Article,
        "navigation" | "menu" | "menubar" | "tablist" => Role::Nav,
        "complementary" => Role::Complementary,
        "contentinfo" => Role::Contentinfo,
        "banner" => Role::Header,
        "dialog" | "alertdialog" | "alert" => Role::Dialog,
        "search" | "form" => Role::Form,
        "button" => Role::Button,
        _ => return None,
    })
}

fn hides(style: &str) -> bool {
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

fn clip(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn group_table() -> &'static HashMap<u64, u64, Plain> {
    static TABLE: OnceLock<HashMap<u64, u64, Plain>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<u64, u64, Plain> = HashMap::default();
        for (place, group) in GROUPS.iter().enumerate() {
            for word in group.words {
                *table.entry(Hash::of(word)).or_default() |= 1 << place;
            }
        }
        table
    })
}

/// Calls back with the hash of every name in a class or id, and of the words it is made of.
///
/// `mainContent entry-body_2` has the names `maincontent` and `entrybody` and the words `main`,
/// `content`, `entry`, `body`.
pub fn names(value: &str, mut found: impl FnMut(u64)) {
    for name in value.split_ascii_whitespace() {
        let (mut whole, mut word) = (Hash::new(), Hash::new());
        let (mut words, mut length) = (0, 0);
        let mut lower_before = false;
        for byte in name.bytes() {
            let parts = !(byte.is_ascii_alphabetic() || byte >= 0x80);
            if parts || (byte.is_ascii_uppercase() && lower_before) {
                if length > 1 {
                    found(word.0);
                    words += 1;
                }
                word = Hash::new();
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

/// FNV-1a: tables are looked up by hash, and names are short.
#[derive(Debug, Clone, Copy)]
pub struct Hash(pub u64);

impl Hash {
    /// The hash of nothing.
    pub fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Takes a byte.
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

    /// The hash of a name.
    pub fn of(text: &str) -> u64 {
        let mut hash = Hash::new();
        for byte in text.bytes() {
            hash.byte(byte);
        }
        hash.0
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::new()
    }
}

/// A hasher for what is hashed already.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl std::hash::BuildHasher for Plain {
    type Hasher = PlainHasher;

    fn build_hasher(&self) -> PlainHasher {
        PlainHasher(0)
    }
}

/// See [`Plain`].
#[derive(Debug, Clone, Copy)]
pub struct PlainHasher(u64);

impl std::hash::Hasher for PlainHasher {
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
        // The table takes its buckets from the low bits and its tags from the high ones.
        self.0 = u64::from(value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        let mut found = Vec::new();
        names("mainContent entry-body_2 x", |hash| found.push(hash));
        let expected = ["main", "content", "maincontent", "entry", "body", "entrybody"].map(Hash::of);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_style_that_hides_is_seen() {
        assert!(hides("color: red; display : none"));
        assert!(hides("visibility:hidden"));
        assert!(!hides("display:block;background:url(none)"));
    }
}
