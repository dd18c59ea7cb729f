//! The feeds of a site in four formats.
//!
//! All formats list the same articles. Variations that a reader must handle (tracking parameters, fragments, relative
//! links, markup in CDATA or in entities, a link to the comments before the link to the article) depend on the site and
//! not on the format.

mod atom;
mod json;
mod rss1;
mod rss2;

use crate::article::Article;
use crate::markup::escaped;
use crate::profile::{FeedFormat, LinkStyle, Profile};
use crate::world::{Extent, World};

/// The data of a feed, common to all formats.
struct Listing<'a> {
    world: &'a World,
    site: usize,
    profile: &'a Profile,
    articles: Vec<Article>,
}

impl Listing<'_> {
    /// The time of the last change of an article, as the feed has it.
    fn updated(&self, article: &Article) -> jiff::Timestamp {
        if self.world.revisions.is_restless(self.site) { self.world.clock.now() } else { article.updated }
    }

    /// The link to an article in the style of this site, escaped for XML.
    fn link(&self, article: &Article, knows_base: bool) -> String {
        let joint = if article.url.contains('?') { '&' } else { '?' };
        let link = match self.profile.links {
            LinkStyle::Plain => article.url.clone(),
            LinkStyle::Tracking => format!("{}{joint}utm_source=rss&utm_medium=feed", article.url),
            LinkStyle::Fragment => format!("{}#main", article.url),
            LinkStyle::Relative if knows_base => {
                let base = self.world.url(self.site, "");
                article.url.strip_prefix(&base).unwrap_or(&article.url).trim_start_matches('/').to_string()
            }
            LinkStyle::Relative => article.url.clone(),
        };
        escaped(&link)
    }

    /// The `xml:base` attribute, on sites with relative links.
    fn base(&self) -> String {
        match self.profile.links {
            LinkStyle::Relative => format!(" xml:base=\"{}\"", self.world.url(self.site, "/")),
            _ => String::new(),
        }
    }

    fn xml_declaration(&self) -> String {
        format!("<?xml version=\"1.0\" encoding=\"{}\"?>\n", self.profile.charset.name().to_lowercase())
    }

    /// The description of an article in a feed: a teaser with markup, or the full text.
    fn description_html(&self, article: &Article) -> String {
        format!(
            "<p>{}</p> <p><a href=\"{}\">{}</a></p>",
            escaped(article.lead()),
            escaped(&article.url),
            self.world.grammar(self.site).label("more")
        )
    }
}

/// Writes a site's feed as of now.
pub fn write(world: &World, site: usize, format: FeedFormat) -> String {
    let profile = world.profile(site);
    let extent = if profile.full_content { Extent::Whole } else { Extent::Head };
    let own = world.listed(site).map(|number| world.article(site, number, extent));
    let articles = own.chain(world.cross_listed(site, extent)).collect();
    let listing = Listing { world, site, profile, articles };
    match format {
        FeedFormat::Rss2 => rss2::write(&listing),
        FeedFormat::Rss1 => rss1::write(&listing),
        FeedFormat::Atom => atom::write(&listing),
        FeedFormat::Json => json::write(&listing),
    }
}

/// Writes a valid RSS feed of very many short items, all of them links to the few real articles.
pub fn write_huge(world: &World, site: usize, items: usize) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel><title>{}</title><link>{}</link><description>-</description>\n",
        escaped(&world.site_name(site)),
        world.url(site, "/"),
    );
    let date = crate::markup::http_date(world.spec.start);
    for number in 0..items {
        let link = world.url(site, &format!("/bulk/{number}"));
        out.push_str(&format!(
            "<item><title>Item {number}</title><link>{link}</link><guid>{link}</guid><pubDate>{date}</pubDate></item>\n"
        ));
    }
    out.push_str("</channel></rss>\n");
    out
}

/// Splits the end mark of a CDATA section, so that it can occur inside one.
fn closed_off(text: &str) -> String {
    text.replace("]]>", "]]]]><![CDATA[>")
}
