//! RSS 1.0 (RDF): the channel lists its items first and describes them afterwards.

use std::fmt::Write;

use super::Listing;
use crate::markup::{escaped, iso_date};
use crate::profile::FeedFormat;

pub fn write(listing: &Listing<'_>) -> String {
    let mut out = listing.xml_declaration();
    write_all(&mut out, listing).expect("writing to a string cannot fail");
    out
}

fn write_all(out: &mut String, listing: &Listing<'_>) -> std::fmt::Result {
    let (world, site) = (listing.world, listing.site);
    write!(
        out,
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\">\n\
         <channel rdf:about=\"{}\">\n<title>{}</title>\n<link>{}</link>\n<description>{}</description>\n\
         <dc:language>{}</dc:language>\n<items><rdf:Seq>\n",
        world.url(site, FeedFormat::Rss1.path()),
        escaped(&world.site_name(site)),
        world.url(site, "/"),
        escaped(world.grammar(site).label("news")),
        listing.profile.language,
    )?;
    for article in &listing.articles {
        writeln!(out, "<rdf:li rdf:resource=\"{}\"/>", escaped(&article.url))?;
    }
    out.push_str("</rdf:Seq></items>\n</channel>\n");
    for article in &listing.articles {
        writeln!(out, "<item rdf:about=\"{}\">", escaped(&article.url))?;
        writeln!(out, "<title>{}</title>", escaped(&article.title))?;
        writeln!(out, "<link>{}</link>", listing.link(article, false))?;
        writeln!(out, "<description>{}</description>", escaped(article.lead()))?;
        writeln!(out, "<dc:date>{}</dc:date>", iso_date(article.date, listing.profile.east))?;
        writeln!(out, "<dc:creator>{}</dc:creator>", escaped(&article.author))?;
        for topic in &article.topics {
            writeln!(out, "<dc:subject>{}</dc:subject>", escaped(topic))?;
        }
        if listing.profile.full_content {
            writeln!(out, "<content:encoded>{}</content:encoded>", escaped(&article.body_html()))?;
        }
        out.push_str("</item>\n");
    }
    out.push_str("</rdf:RDF>\n");
    Ok(())
}
