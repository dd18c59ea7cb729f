//! Atom 1.0.

use std::fmt::Write;

use super::{Listing, closed_off};
use crate::markup::{escaped, iso_date};
use crate::profile::FeedFormat;

pub fn write(listing: &Listing<'_>) -> String {
    let mut out = listing.xml_declaration();
    write_all(&mut out, listing).expect("writing to a string cannot fail");
    out
}

fn write_all(out: &mut String, listing: &Listing<'_>) -> std::fmt::Result {
    let (world, site, east) = (listing.world, listing.site, listing.profile.east);
    let updated = listing.articles.first().map_or(world.spec.start, |article| article.date);
    write!(
        out,
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\"{}>\n<title type=\"text\">{}</title>\n\
         <id>urn:simweb:{}:{site}</id>\n<updated>{}</updated>\n<link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<generator>simweb</generator>\n",
        listing.profile.language,
        listing.base(),
        escaped(&world.site_name(site)),
        world.spec.seed,
        iso_date(updated, east),
        world.url(site, FeedFormat::Atom.path()),
        world.url(site, "/"),
    )?;
    for article in &listing.articles {
        let link = listing.link(article, true);
        writeln!(out, "<entry>\n<id>urn:simweb:{}:{site}:{}</id>", world.spec.seed, article.number)?;
        // Titles may be text or escaped HTML; a reader that ignores the type shows entities.
        if site % 2 == 0 {
            writeln!(out, "<title>{}</title>", escaped(&article.title))?;
        } else {
            writeln!(out, "<title type=\"html\">{}</title>", escaped(&escaped(&article.title)))?;
        }
        // On some sites the link to the comments comes first.
        if site % 3 == 1 {
            let comments = format!("{}#comments", article.url);
            writeln!(out, "<link rel=\"replies\" type=\"text/html\" href=\"{}\"/>", escaped(&comments))?;
        }
        writeln!(out, "<link rel=\"alternate\" type=\"text/html\" href=\"{link}\"/>")?;
        writeln!(out, "<published>{}</published>", iso_date(article.date, east))?;
        writeln!(out, "<updated>{}</updated>", iso_date(listing.updated(article), east))?;
        writeln!(out, "<author><name>{}</name></author>", escaped(&article.author))?;
        for topic in &article.topics {
            writeln!(out, "<category term=\"{}\"/>", escaped(topic))?;
        }
        writeln!(out, "<summary type=\"html\">{}</summary>", escaped(&listing.description_html(article)))?;
        if listing.profile.full_content {
            writeln!(out, "<content type=\"html\"><![CDATA[{}]]></content>", closed_off(&article.body_html()))?;
        }
        out.push_str("</entry>\n");
    }
    out.push_str("</feed>\n");
    Ok(())
}
