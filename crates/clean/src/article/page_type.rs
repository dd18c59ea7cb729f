//! Types of pages, from what a page declares and from its URL.
//!
//! The main text of a forum is what other pages have as comments, and the main text of a listing is
//! what other pages have as teasers, so the type of the page is evidence for every block.

use serde_json::Value;
use url::Url;

use crate::declared_metadata::{DeclaredMetadata, is_article, types};

/// Evidence for the type of a page. Several may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageHints {
    /// It declares an article.
    pub article: bool,
    /// A thread of a forum, or a question with answers.
    pub forum: bool,
    /// Documentation, a manual or a wiki.
    pub documentation: bool,
    /// A product for sale.
    pub product: bool,
    /// A list of pages.
    pub listing: bool,
}

/// The type of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageType {
    /// An article, a blog post or another text of its own.
    Article,
    /// A thread of a forum, or a question with answers.
    Forum,
    /// Documentation, a manual or a wiki.
    Documentation,
    /// A product for sale.
    Product,
    /// A list of other pages.
    Listing,
}

/// A page with a lower share of its text outside links is a listing.
const MIN_UNLINKED_SHARE: f32 = 0.35;

impl PageType {
    /// The name used in documents.
    pub fn name(self) -> &'static str {
        match self {
            PageType::Article => "article",
            PageType::Forum => "forum",
            PageType::Documentation => "documentation",
            PageType::Product => "product",
            PageType::Listing => "listing",
        }
    }

    /// The type by the hints of a page and the share of its text inside links. Threads also declare an article and
    /// products also a review, so the rarer type decides.
    pub fn of(hints: PageHints, link_share: f32) -> PageType {
        match hints {
            PageHints { forum: true, .. } => PageType::Forum,
            PageHints { product: true, article: false, .. } => PageType::Product,
            PageHints { documentation: true, article: false, .. } => PageType::Documentation,
            PageHints { article: true, .. } => PageType::Article,
            _ if hints.listing || 1.0 - link_share < MIN_UNLINKED_SHARE => PageType::Listing,
            _ => PageType::Article,
        }
    }
}

/// Forum software, as in `<meta name=generator>`.
const FORUM_SOFTWARE: &[&str] = &[
    "phpbb",
    "vbulletin",
    "discourse",
    "xenforo",
    "mybb",
    "invision",
    "flarum",
    "vanilla",
    "smf",
    "nodebb",
    "discuz",
    "bbpress",
];
/// Documentation software.
const DOCUMENTATION_SOFTWARE: &[&str] = &[
    "sphinx",
    "docusaurus",
    "mkdocs",
    "gitbook",
    "vuepress",
    "vitepress",
    "doxygen",
    "mediawiki",
    "docutils",
    "antora",
    "readme",
    "starlight",
    "dokuwiki",
    "jsdoc",
    "javadoc",
    "mintlify",
    "hugo docs",
    "sphinx-build",
];
const FORUM_HOSTS: &[&str] =
    &["forum", "forums", "community", "discuss", "discourse", "board", "boards", "bbs", "answers"];
const DOCUMENTATION_HOSTS: &[&str] = &[
    "docs",
    "doc",
    "developer",
    "developers",
    "wiki",
    "help",
    "manual",
    "learn",
    "support",
    "api",
    "kb",
    "readthedocs",
];
const FORUM_STEPS: &[&str] = &[
    "forum",
    "forums",
    "thread",
    "threads",
    "topic",
    "topics",
    "viewtopic.php",
    "showthread.php",
    "questions",
    "discussion",
    "discussions",
    "viewtopic",
    "showthread",
    "showtopic",
    "board",
    "bbs",
    "foro",
    "foros",
    "talk",
    "td-p",
    "ubbthreads.php",
    "t",
    "q-a",
    "forumdisplay.php",
    "answers",
];
const DOCUMENTATION_STEPS: &[&str] = &[
    "docs",
    "doc",
    "documentation",
    "manual",
    "reference",
    "guide",
    "guides",
    "api",
    "wiki",
    "kb",
    "tutorial",
    "tutorials",
    "learn",
    "handbook",
    "faq",
    "library",
    "sdk",
    "man",
    "en-us",
];
const PRODUCT_STEPS: &[&str] =
    &["product", "products", "shop", "dp", "item", "p", "store", "produkt", "produkte", "producto", "prod"];
const LISTING_STEPS: &[&str] =
    &["category", "categories", "tag", "tags", "archive", "archives", "collections", "collection", "search", "list"];

impl PageHints {
    /// Reads the hints of a page.
    pub fn read(declared: &DeclaredMetadata<'_>, url: Option<&Url>) -> PageHints {
        let mut hints = PageHints::default();
        for object in declared.objects.iter().take(60) {
            hints.add_types(object);
            if let Some(entity) = object.get("mainEntity") {
                hints.add_types(entity);
            }
        }
        for kind in declared.meta("og:type") {
            hints.article |= kind.contains("article");
            hints.product |= kind.contains("product");
        }
        hints.product |= declared.meta("product:price:amount").next().is_some();
        if let Some(generator) = declared.meta("generator").next() {
            let generator = generator.to_ascii_lowercase();
            hints.forum |= FORUM_SOFTWARE.iter().any(|name| generator.contains(name));
            hints.documentation |= DOCUMENTATION_SOFTWARE.iter().any(|name| generator.contains(name));
        }
        if let Some(url) = url {
            hints.add_url(url);
        }
        hints
    }

    fn add_types(&mut self, object: &Value) {
        for kind in types(object) {
            match kind {
                "DiscussionForumPosting" | "QAPage" | "Question" => self.forum = true,
                "TechArticle" | "APIReference" => self.documentation = true,
                "Product" | "ProductGroup" | "IndividualProduct" => self.product = true,
                "CollectionPage" | "SearchResultsPage" | "ItemList" | "Blog" => self.listing = true,
                _ => self.article |= is_article(kind),
            }
        }
    }

    fn add_url(&mut self, url: &Url) {
        let is_among = |words: &[&str], word: &str| words.contains(&word);
        for label in url.host_str().unwrap_or_default().split('.').take(4) {
            self.forum |= is_among(FORUM_HOSTS, label) || label.contains("forum");
            self.documentation |= is_among(DOCUMENTATION_HOSTS, label);
        }
        let mut steps = 0;
        for step in url.path().split('/').filter(|step| !step.is_empty()).take(8) {
            let step = step.to_ascii_lowercase();
            self.forum |= is_among(FORUM_STEPS, &step);
            self.documentation |= is_among(DOCUMENTATION_STEPS, &step);
            self.product |= is_among(PRODUCT_STEPS, &step);
            self.listing |= is_among(LISTING_STEPS, &step);
            steps += 1;
        }
        self.listing |= steps == 0 && url.query().is_none();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(html: &str, url: &str) -> PageHints {
        let tree = crate::tree::parse(html);
        PageHints::read(&DeclaredMetadata::read(&tree), Url::parse(url).ok().as_ref())
    }

    #[test]
    fn pages_say_what_they_are() {
        assert!(hints("<meta name=generator content='phpBB 3'>", "https://gazette.example/x").forum);
        assert!(hints("", "https://forum.gazette.example/x").forum);
        assert!(hints("", "https://gazette.example/docs/start").documentation);
        assert!(hints("", "https://gazette.example/").listing);
        let product = r#"<script type="application/ld+json">{"@type":"Product","name":"Boat"}</script>"#;
        assert!(hints(product, "https://gazette.example/boat").product);
        assert_eq!(hints("", "https://gazette.example/2024/rain-in-may"), PageHints::default());
    }
}
