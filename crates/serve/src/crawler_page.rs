//! The page about the crawler, for publishers: identity, behaviour, opt-out, and figures per host.
//!
//! The user agent links to it. It needs neither scripts nor a token.

use std::fmt::Write as _;

use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tidings_store::{Home, hosts, yields};
use url::form_urlencoded;

use crate::api_error::ApiError;
use crate::response::Body;
use crate::settings::Settings;

/// The longest host name (RFC 1035).
const LONGEST_HOST: usize = 253;

/// Crawl figures of a host.
#[derive(Debug, Default, PartialEq)]
struct Site {
    requests: u64,
    last_request: String,
    not_before: String,
    recent: yields::Yield,
}

/// Renders the page; `?host=NAME` adds the figures of a host.
pub(crate) fn page(home: &Home, settings: &Settings, query: &str) -> Result<Response<Body>, ApiError> {
    let params = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "host");
    let host = params.map(|(_, host)| host.trim().to_lowercase()).filter(|host| !host.is_empty());
    let host = host.filter(|host| host.len() <= LONGEST_HOST);
    let site = match &host {
        Some(host) => Some(look_up(home, host)?),
        None => None,
    };
    let mut response = Response::new(Body::of(html(settings, host.as_deref(), site.as_ref())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Ok(response)
}

fn look_up(home: &Home, host: &str) -> Result<Site, ApiError> {
    let mut site = Site::default();
    hosts::read(home, |row| {
        if row.host == host {
            (site.requests, site.last_request, site.not_before) = (row.requests, row.last_request, row.not_before);
        }
    })?;
    yields::read(home, |row| {
        if row.kind == "host" && row.name == host {
            site.recent = row.sum;
        }
    })?;
    Ok(site)
}

fn html(settings: &Settings, host: Option<&str>, site: Option<&Site>) -> String {
    let contact = match settings.contact.as_deref() {
        Some(contact) => format!("Write to <strong>{}</strong>; a person reads it.", escaped(contact)),
        None => "The owner of this server has not set a contact address.".to_owned(),
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Tidings, for publishers</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<main>\n\
         <h1>About the Tidings crawler</h1>\n\
         <p>Tidings collects articles listed in news feeds, for research on how language changes. It counts words and shows short excerpts around them; \
         it does not republish articles.</p>\n\
         <h2>How it behaves</h2>\n<ul>\n\
         <li>It sends one request at a time to a host and pauses between requests, longer if robots.txt or a response says so.</li>\n\
         <li>It reads robots.txt first and at least once a day, and requests nothing that is disallowed.</li>\n\
         <li>It uses ETag and Last-Modified, so that an unchanged feed costs you almost nothing.</li>\n\
         <li>It obeys 429, 503 and Retry-After, and text and data mining reservations (TDMRep).</li>\n</ul>\n\
         <h2>How to stop it</h2>\n<p>Add two lines to your robots.txt; they take effect within a day:</p>\n\
         <pre>User-agent: Tidings\nDisallow: /</pre>\n<p>To have stored articles removed, or for questions: {contact}</p>\n\
         <h2>Figures for your site</h2>\n<form action=\"/bot\">\n<label for=\"host\">Host, such as news.example</label>\n\
         <input id=\"host\" name=\"host\" value=\"{}\" maxlength=\"{LONGEST_HOST}\" required>\n<button>Show</button>\n</form>\n",
        escaped(host.unwrap_or_default()),
    );
    if let (Some(host), Some(site)) = (host, site) {
        page.push_str(&numbers(host, site));
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn numbers(host: &str, site: &Site) -> String {
    let host = escaped(host);
    if *site == Site::default() {
        return format!("<p>This crawler has never sent a request to {host}.</p>\n");
    }
    let mut table = format!("<table>\n<caption>{host}</caption>\n<tbody>\n");
    let mut row = |name: &str, value: String| {
        let _ = writeln!(table, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escaped(&value));
    };
    row("Requests in total", site.requests.to_string());
    row("Last request", site.last_request.clone());
    if !site.not_before.is_empty() {
        row("Next request not before", site.not_before.clone());
    }
    row("Pages in the last 30 days of collecting", site.recent.pages.to_string());
    row("Bytes (uncompressed)", site.recent.downloaded.to_string());
    row("Articles extracted", site.recent.documents.to_string());
    row("Bytes of article text", site.recent.clean.to_string());
    table.push_str("</tbody>\n</table>\n");
    table
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_are_escaped() {
        let page = html(&Settings::default(), Some("<script>\"'&"), Some(&Site::default()));
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;&quot;&#39;&amp;"), "{page}");
        assert!(page.contains("not set a contact address"));
    }

    #[test]
    fn figures_of_a_host_are_shown() {
        let site = Site { requests: 12, last_request: "2026-03-01T04:00:00.000Z".into(), ..Site::default() };
        let settings = Settings { contact: Some("corpus@example.org".into()), ..Settings::default() };
        let page = html(&settings, Some("news.example"), Some(&site));
        assert!(page.contains("<td>12</td>") && page.contains("2026-03-01") && page.contains("corpus@example.org"));
    }
}
