//! OPML, the exchange format of feed readers: a lenient parser and a writer.

use crate::charset;
use crate::entity::{self, Declared};
use crate::html;
use crate::markup::{Attributes, Token, Tokens};
use crate::repairs::Repairs;

/// The maximum number of outlines read from one list, and the maximum nesting depth.
const MAX_OUTLINES: usize = 1_000_000;
const MAX_DEPTH: usize = 64;

/// A feed in an OPML list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The feed URL.
    pub feed: String,
    /// The title in the list.
    pub title: String,
    /// The URL of its web page, or empty.
    pub site: String,
    /// The language tag in the list, or empty.
    pub language: String,
    /// The enclosing folders, outermost first, and its categories.
    pub labels: Vec<String>,
}

/// Reads the feeds of a list. Malformed outlines are skipped.
///
/// ```
/// let list = br#"<opml><body><outline text="News"><outline text="G" xmlUrl="https://g.example/feed"/></outline>"#;
/// let feeds = tidings_feeds::discover::read_opml(list);
/// assert_eq!((feeds[0].title.as_str(), feeds[0].labels[0].as_str()), ("G", "News"));
/// ```
pub fn read(body: &[u8]) -> Vec<Outline> {
    let decoded = charset::decode(body, None, &mut Repairs::default());
    let mut tokens = Tokens::new(&decoded.text);
    // Open folders; an outline that is a feed itself opens a nameless one.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut feeds = Vec::new();
    while let Some(token) = tokens.next("") {
        match token {
            Token::Start { name, attributes, empty } if name.eq_ignore_ascii_case("outline") => {
                let get = |wanted: &str| {
                    let found = Attributes::new(attributes).find(|(name, _)| name.eq_ignore_ascii_case(wanted));
                    let text =
                        found.map(|(_, value)| entity::unescape(value, &Declared::default(), &mut Repairs::default()));
                    html::collapse(&text.unwrap_or_default())
                };
                let title = [get("title"), get("text")].into_iter().find(|text| !text.is_empty()).unwrap_or_default();
                let feed = get("xmlUrl");
                if feed.is_empty() {
                    if !empty && open.len() < MAX_DEPTH {
                        open.push(Some(title).filter(|title| !title.is_empty()));
                    }
                    continue;
                }
                let categories = get("category");
                let categories = categories.split([',', '/']).map(str::trim).filter(|word| !word.is_empty());
                let mut labels: Vec<String> = open.iter().flatten().cloned().collect();
                labels.extend(categories.map(str::to_owned));
                labels.dedup();
                feeds.push(Outline { feed, title, site: get("htmlUrl"), language: get("language"), labels });
                if !empty && open.len() < MAX_DEPTH {
                    open.push(None);
                }
                if feeds.len() >= MAX_OUTLINES {
                    break;
                }
            }
            Token::End { name } if name.eq_ignore_ascii_case("outline") => {
                open.pop();
            }
            _ => {}
        }
    }
    feeds
}

/// Writes a list of feeds.
pub fn write(title: &str, feeds: &[Outline]) -> String {
    let attribute = |out: &mut String, name: &str, value: &str| {
        if !value.is_empty() {
            let mut escaped = String::new();
            html::escape_into(value, &mut escaped);
            out.push_str(&format!(" {name}=\"{}\"", escaped.replace('"', "&quot;")));
        }
    };
    let mut heading = String::new();
    html::escape_into(title, &mut heading);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n<head><title>{heading}</title></head>\n<body>\n"
    );
    for feed in feeds {
        out.push_str("<outline type=\"rss\"");
        let text = if feed.title.is_empty() { &feed.feed } else { &feed.title };
        attribute(&mut out, "text", text);
        attribute(&mut out, "xmlUrl", &feed.feed);
        attribute(&mut out, "htmlUrl", &feed.site);
        attribute(&mut out, "language", &feed.language);
        attribute(&mut out, "category", &feed.labels.join(","));
        out.push_str("/>\n");
    }
    out.push_str("</body>\n</opml>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_labels() {
        let list = br#"<?xml version="1.0"?><opml version="1.0"><body>
            <outline text="News"><outline text="Salt &amp; Co" xmlurl="https://a.example/feed" htmlUrl="https://a.example/"/>
              <outline title="Regional"><outline type="rss" text="B" xmlUrl="https://b.example/rss" category="/x,y"/></outline>
            </outline><outline text="C" xmlUrl="https://c.example/?a=1&amp;b=2"></outline></body></opml>"#;
        let feeds = read(list);
        let summary: Vec<_> = feeds.iter().map(|feed| (feed.title.as_str(), feed.labels.join("|"))).collect();
        assert_eq!(summary, [("Salt & Co", "News".into()), ("B", "News|Regional|x|y".into()), ("C", String::new())]);
        assert_eq!(feeds[2].feed, "https://c.example/?a=1&b=2");
        assert_eq!(feeds[0].site, "https://a.example/");
    }

    #[test]
    fn a_malformed_list_gives_its_readable_feeds() {
        let list = b"garbage <opml><outline text=x xmlUrl=https://a.example/feed><outline text='B' xmlUrl='https://b.example/'";
        assert_eq!(read(list)[0].feed, "https://a.example/feed");
        assert!(read(b"").is_empty());
        let deep = "<outline text=a>".repeat(100_000) + "<outline xmlUrl='https://a.example/f'/>";
        assert_eq!(read(deep.as_bytes()).len(), 1);
    }

    #[test]
    fn lists_round_trip() {
        let feed = Outline {
            feed: "https://a.example/?a=1&b=\"2\"".into(),
            title: "<Salt> & \"Pepper\"".into(),
            site: "https://a.example/".into(),
            language: "de".into(),
            labels: vec!["news".into(), "food".into()],
        };
        assert_eq!(read(write("My feeds", std::slice::from_ref(&feed)).as_bytes()), [feed]);
    }
}
