//! Hostile documents: parsing time must be linear in their size.
//!
//! Each shape is parsed small and eight times as large. Linear time takes eight times as long, quadratic time
//! sixty-four times; the threshold is in between (see `tidings_testing::superlinear`).

use tidings_feeds::{Limits, Repair, read, read_with};

const URL: &str = "https://gazette.example/feed";
const SMALL: usize = 4_000;
const FACTOR: u32 = 8;

fn item(inside: &str) -> String {
    format!("<rss><channel><item>{inside}<title>t</title></item></channel></rss>")
}

/// A name and a generator of documents of a given size.
type HostileShape = (&'static str, fn(usize) -> String);

const SHAPES: &[HostileShape] = &[
    ("attributes of one element", |n| {
        let attributes: String = (0..n).map(|i| format!(" a{i}=\"{i}\"")).collect();
        item(&format!("<link{attributes}>x</link><category{attributes}/>"))
    }),
    ("the same attribute", |n| item(&format!("<link{}>x</link>", " rel=\"self\"".repeat(n)))),
    ("attributes without values", |n| item(&format!("<link{}>x</link>", " a".repeat(n)))),
    ("namespaces on the root", |n| {
        let spaces: String = (0..n).map(|i| format!(" xmlns:n{i}=\"http://purl.org/dc/elements/1.1/\"")).collect();
        format!("<rss{spaces}><channel>{}</channel></rss>", "<n1:title>x</n1:title>".repeat(n))
    }),
    ("a namespace on every element", |n| {
        item(&(0..n).map(|i| format!("<n{i}:a xmlns:n{i}=\"urn:{i}\">x</n{i}:a>")).collect::<String>())
    }),
    ("nesting", |n| item(&format!("{}{}", "<a>".repeat(n), "</a>".repeat(n)))),
    ("nesting without end tags", |n| item(&"<a><b><c>".repeat(n))),
    ("nesting in a field", |n| item(&format!("<description>{}x", "<div>".repeat(n)))),
    ("nested items", |n| format!("<rss>{}", "<item><title>".repeat(n))),
    ("nested people", |n| item(&"<author><name>".repeat(n))),
    ("stray end tags under deep nesting", |n| item(&format!("{}{}", "<a>".repeat(300), "</b>".repeat(n)))),
    ("bases", |n| item(&"<a xml:base=\"x/\">".repeat(n))),
    ("bases of siblings", |n| item(&"<link xml:base=\"x/\">y</link>".repeat(n))),
    ("categories", |n| item(&(0..n).map(|i| format!("<category>{i}</category>")).collect::<String>())),
    ("authors", |n| item(&(0..n).map(|i| format!("<dc:creator>{i}</dc:creator>")).collect::<String>())),
    ("enclosures", |n| item(&"<enclosure url=\"a\"/>".repeat(n))),
    ("titles", |n| item(&"<title>x</title>".repeat(n))),
    ("descriptions", |n| item(&"<description>x &amp; y</description>".repeat(n))),
    ("unread dates", |n| item(&"<pubDate>yesterday</pubDate>".repeat(n))),
    ("a long date", |n| item(&format!("<pubDate>{}</pubDate>", "Mon, 1 Jan ".repeat(n)))),
    ("a date of digits", |n| item(&format!("<pubDate>{}</pubDate>", "1".repeat(n)))),
    ("references", |n| item(&format!("<description>{}</description>", "&amp;".repeat(n)))),
    ("references twice escaped", |n| item(&format!("<title>{}</title>", "&amp;amp;".repeat(n)))),
    ("ampersands", |n| item(&format!("<title>{}</title>", "&".repeat(n)))),
    ("references without an end", |n| item(&format!("<title>{}</title>", "&#1&#x&a".repeat(n)))),
    ("less-than signs", |n| item(&format!("<title>{}", "<".repeat(n)))),
    ("tags without an end", |n| item(&format!("<title>{}", "<a".repeat(n)))),
    ("tags with a quote and no end", |n| item(&"<a b=\"".repeat(n))),
    ("tags in quotes", |n| item(&format!("{}<", "<a x=\"<a \" x='<b '".repeat(n)))),
    ("tags with mixed quotes", |n| item(&"<a b=\"'<c d='\"".repeat(n))),
    ("end tags without an end", |n| item(&"</a".repeat(n))),
    ("comments without an end", |n| item(&"<!-- x ".repeat(n))),
    ("comments", |n| item(&format!("<title>{}</title>", "<!-- x -->".repeat(n)))),
    ("cdata without an end", |n| item(&format!("<title>{}", "<![CDATA[x".repeat(n)))),
    ("cdata without an end, closed", |n| item(&"<title><![CDATA[x</title>".repeat(n))),
    ("cdata in cdata", |n| item(&format!("<title>{}]]></title>", "<![CDATA[".repeat(n)))),
    ("cdata in cdata, one end far away", |n| item(&format!("{}]]>", "<title><![CDATA[<![CDATA[</title>".repeat(n)))),
    ("cdata ends", |n| item(&format!("<title>{}</title>", "<![CDATA[a<![CDATA[b]]>".repeat(n)))),
    ("instructions without an end", |n| item(&"<?x ".repeat(n))),
    ("instructions, one end far away", |n| item(&format!("{}?>", "<?x <a>".repeat(n)))),
    ("document types", |n| format!("{}{}", "<!DOCTYPE a [".repeat(n), item(""))),
    ("document types without an end", |n| format!("{}{}", "<!DOCTYPE a".repeat(n), item(""))),
    ("declared entities", |n| {
        let entities: String = (0..n).map(|i| format!("<!ENTITY e{i} \"x\">")).collect();
        format!("<!DOCTYPE a [{entities}]>{}", item(&format!("<title>{}</title>", "&e9;".repeat(n))))
    }),
    ("entity bomb", |n| {
        let bomb: String =
            (1..30).map(|i| format!("<!ENTITY l{i} \"{}\">", format!("&l{};", i - 1).repeat(10))).collect();
        format!("<!DOCTYPE a [<!ENTITY l0 \"lol\">{bomb}]>{}", item(&format!("<title>{}</title>", "&l29;".repeat(n))))
    }),
    ("html around nothing", |n| format!("<html>{}", "<p>text <b>x</b>".repeat(n))),
    ("escaped feeds", |n| format!("<html>{}", "&lt;rss".repeat(n))),
    ("items", |n| format!("<rss><channel>{}", "<item><title>x</title><link>/y</link></item>".repeat(n))),
    ("entries", |n| format!("<feed>{}", "<entry><link href='/y'/><id>z</id></entry>".repeat(n))),
    ("hubs", |n| format!("<feed>{}", "<link rel='hub' href='/y'/>".repeat(n))),
    ("skipped hours", |n| format!("<rss><channel>{}", "<hour>1</hour>".repeat(n))),
    ("white space", |n| format!("{}{}", " \n".repeat(n), item(""))),
    ("letters of two bytes", |n| item(&format!("<title>{}</title>", "Ã¤".repeat(n)))),
    ("json brackets", |n| "[".repeat(n)),
    ("json objects", |n| "{\"a\":".repeat(n)),
    ("json quotes", |n| format!("{{\"items\":[{}", "\"\\".repeat(n))),
    ("json members", |n| {
        let members: String = (0..n).map(|i| format!("\"m{i}\":{i},")).collect();
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{{{members}}}]}}")
    }),
    ("json tags", |n| {
        let tags: String = (0..n).map(|i| format!("\"t{i}\",")).collect();
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{{\"tags\":[{tags}]}}]}}")
    }),
];

/// Hostile web pages for the feed link finder.
const PAGES: &[HostileShape] = &[
    ("anchors", |n| (0..n).map(|i| format!("<a href=\"/feed/{i}\">RSS</a>")).collect()),
    ("anchors without an end", |n| "<a href=/feed><img alt=rss>".repeat(n)),
    ("attributes of an anchor", |n| format!("<a{} href=/feed>x</a>", " class=rss".repeat(n))),
    ("a long base", |n| format!("<base href=\"/{}/\">{}", "x/".repeat(n), "<a href=feed>RSS</a>".repeat(n))),
    ("long addresses", |n| format!("<a href=\"/{}\">RSS</a>", "feed/".repeat(n))),
    ("scripts without an end", |n| "<script><a href=/feed>".repeat(n)),
    ("text in an anchor", |n| format!("<a href=/feed>{}", "rss <b>".repeat(n))),
    ("declared feeds", |n| {
        (0..n).map(|i| format!("<link rel=alternate type=application/rss+xml href=/{i}/feed>")).collect()
    }),
];

fn check(shapes: &[HostileShape], read: impl Fn(&str)) {
    let grows = |shape: fn(usize) -> String| tidings_testing::superlinear(shape, SMALL, FACTOR, |text| read(text));
    let slow: Vec<String> =
        shapes.iter().filter_map(|(name, shape)| Some(format!("{name}: {}", grows(*shape)?))).collect();
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn parsing_feeds_takes_linear_time() {
    check(SHAPES, |text| drop(std::hint::black_box(read(text.as_bytes(), None, URL))));
}

#[test]
fn finding_links_takes_linear_time() {
    check(PAGES, |text| drop(std::hint::black_box(tidings_feeds::links::find(text.as_bytes(), URL))));
}

#[test]
fn an_entity_bomb_is_not_expanded() {
    let (_, bomb) = SHAPES.iter().find(|(name, _)| *name == "entity bomb").expect("it is in the table");
    let feed = read(bomb(1000).as_bytes(), None, URL).expect("it is a feed");
    assert!(feed.entries[0].title.len() < 100_000);
}

#[test]
fn limits_apply_and_are_reported() {
    let limits = Limits { max_entries: 10, ..Limits::default() };
    let text = format!("<rss><channel>{}</channel></rss>", "<item><title>x</title></item>".repeat(50));
    let feed = read_with(text.as_bytes(), None, URL, &limits).expect("it is a feed");
    assert_eq!(feed.entries.len(), 10);
    assert_eq!(feed.repairs, [Repair::TooManyEntries]);

    let limits = Limits { max_bytes: 300, ..Limits::default() };
    let feed = read_with(text.as_bytes(), None, URL, &limits).expect("it is a feed");
    assert_eq!(feed.entries.len(), 10);
    assert!(feed.repairs.contains(&Repair::LimitReached));

    let limits = Limits { max_field_bytes: 5, ..Limits::default() };
    let text = "<rss><channel><item><title>Käsekuchen</title></item></channel></rss>";
    let feed = read_with(text.as_bytes(), None, URL, &limits).expect("it is a feed");
    assert_eq!(feed.entries[0].title, "Käse");
}

#[test]
fn of_half_a_million_entries_the_newest_fifty_thousand_are_kept_and_said() {
    let item = |at: i64| {
        let day = jiff::Timestamp::from_second(1_700_000_000 + at).expect("it is in range");
        format!("<item><title>{at}</title><pubDate>{day}</pubDate></item>")
    };
    let items: String = (0..500_000).map(item).collect();
    let feed = read(format!("<rss><channel>{items}</channel></rss>").as_bytes(), None, URL).expect("it is a feed");
    assert_eq!((feed.entries.len(), feed.entries[0].title.as_str()), (50_000, "450000"), "this feed appends");
    assert_eq!(feed.repairs, [Repair::TooManyEntries]);

    let items = "<item><title>x</title></item>".repeat(50_000);
    let feed = read(format!("<rss><channel>{items}</channel></rss>").as_bytes(), None, URL).expect("it is a feed");
    assert_eq!((feed.entries.len(), feed.repairs.len()), (50_000, 0));
}

#[test]
fn a_json_feed_of_many_entries_is_limited_too() {
    let items = r#"{"id":"1","content_text":"x"},"#.repeat(600_000);
    let text = format!(r#"{{"version":"https://jsonfeed.org/version/1.1","items":[{items}]}}"#);
    let feed = read(text.as_bytes(), None, URL).expect("it is a feed");
    assert_eq!(feed.entries.len(), 50_000);
    assert_eq!(feed.repairs, [Repair::LimitReached, Repair::TooManyEntries]);
}
