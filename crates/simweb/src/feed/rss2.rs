//! RSS 2.0.

use std::fmt::Write;

use super::{Listing, closed_off};
use crate::markup::{escaped, http_date};
use crate::profile::FeedFormat;

pub fn write(listing: &Listing<'_>) -> String {
    let (world, site) = (listing.world, listing.site);
    let mut out = listing.xml_declaration();
    let built = listing.articles.first().map_or(world.spec.start, |article| article.date);
    let head = write!(
        out,
        "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:content=\"http://purl.org/rss/1.0/modules/content/\"{}>\n<channel>\n<title>{}</title>\n<link>{}</link>\n\
         <description>{}</description>\n<language>{}</language>\n<lastBuildDate>{}</lastBuildDate>\n<ttl>60</ttl>\n\
         <atom:link href=\"{}\" rel=\"self\" type=\"application/rss+xml\"/>\n",
        listing.base(),
        escaped(&world.site_name(site)),
        world.url(site, "/"),
        escaped(world.grammar(site).label("news")),
        listing.profile.language,
        http_date(built),
        world.url(site, FeedFormat::Rss2.path()),
    );
    head.expect("writing to a string cannot fail");
    for article in &listing.articles {
        write_item(&mut out, listing, article).expect("writing to a string cannot fail");
    }
    out.push_str("</channel>\n</rss>\n");
    out
}

fn write_item(out: &mut String, listing: &Listing<'_>, article: &crate::Article) -> std::fmt::Result {
    let link = listing.link(article, true);
    writeln!(out, "<item>\n<title>{}</title>\n<link>{link}</link>", escaped(&article.title))?;
    // A third of the sites use GUIDs that are not URLs.
    if listing.site % 3 == 2 {
        writeln!(out, "<guid isPermaLink=\"false\">item-{}-{}</guid>", listing.site, article.number)?;
    } else {
        writeln!(out, "<guid isPermaLink=\"true\">{}</guid>", escaped(&article.url))?;
    }
    writeln!(out, "<pubDate>{}</pubDate>", http_date(article.date))?;
    writeln!(out, "<dc:creator>{}</dc:creator>", escaped(&article.author))?;
    for topic in &article.topics {
        writeln!(out, "<category>{}</category>", escaped(topic))?;
    }
    let description = listing.description_html(article);
    if listing.site.is_multiple_of(2) {
        writeln!(out, "<description>{}</description>", escaped(&description))?;
    } else {
        writeln!(out, "<description><![CDATA[{}]]></description>", closed_off(&description))?;
    }
    if listing.profile.full_content {
        writeln!(out, "<content:encoded><![CDATA[{}]]></content:encoded>", closed_off(&article.body_html()))?;
    }
    out.push_str("</item>\n");
    Ok(())
}
