//! Adversarial pages that are expensive to parse.

/// A family of adversarial pages of any size.
pub struct HostilePage {
    /// Name of the family.
    pub name: &'static str,
    /// Generates a page of about that many bytes.
    pub make: fn(usize) -> String,
}

/// All families.
pub const HOSTILE_PAGES: &[HostilePage] = &[
    HostilePage { name: "nested div", make: |bytes| "<div>".repeat(bytes / 5) },
    HostilePage { name: "nested lists", make: |bytes| "<ul><li>".repeat(bytes / 8) },
    HostilePage { name: "nested spans around words", make: |bytes| "<span>word ".repeat(bytes / 11) },
    HostilePage { name: "nested tables", make: |bytes| "<table><tr><td>x".repeat(bytes / 16) },
    HostilePage {
        name: "nested blockquotes with text",
        make: |bytes| "<blockquote>Quoted, and quoted again. ".repeat(bytes / 38),
    },
    HostilePage {
        name: "formatting never closed",
        make: |bytes| format!("{}<p>{}", "<b i><i b>".repeat(bytes / 40), "x</b><p>".repeat(bytes / 16)),
    },
    HostilePage { name: "formatting closed crosswise", make: |bytes| "<b><i><p>x</b></i>".repeat(bytes / 18) },
    HostilePage { name: "links never closed", make: |bytes| "<p><a href=x>word ".repeat(bytes / 18) },
    HostilePage {
        name: "one tag of many attributes",
        make: |bytes| format!("<p {}>text", (0..bytes / 9).map(|n| format!("a{n}=1 ")).collect::<String>()),
    },
    HostilePage {
        name: "tags of ever new attributes",
        make: |bytes| (0..bytes / 30).map(|number| format!("<p data-name-{number:09}=x>text")).collect(),
    },
    HostilePage {
        name: "attributes of the root",
        make: |bytes| (0..bytes / 14).map(|number| format!("<html x{number:06}>")).collect(),
    },
    HostilePage {
        name: "formatting of many attributes",
        make: |bytes| {
            let attributes = (0..600).map(|number| format!(" x{number}")).collect::<String>();
            (0..bytes / 2700).map(|number| format!("<b y{number}{attributes}>")).collect()
        },
    },
    HostilePage { name: "carriage returns", make: |bytes| format!("<p>{}", "\r".repeat(bytes)) },
    HostilePage {
        name: "tags of many classes",
        make: |bytes| format!("<p class=\"{}\">text", "share-bar ".repeat(bytes / 10)),
    },
    HostilePage { name: "a comment without end", make: |bytes| format!("<p>text</p><!--{}", "- x ".repeat(bytes / 4)) },
    HostilePage {
        name: "a script without end",
        make: |bytes| format!("<p>text</p><script>{}", "</scrip x ".repeat(bytes / 10)),
    },
    HostilePage { name: "scripts within comments", make: |bytes| "<script><!--<script></script>".repeat(bytes / 29) },
    HostilePage { name: "a title without end", make: |bytes| format!("<title>{}", "title ".repeat(bytes / 6)) },
    HostilePage {
        name: "one long paragraph",
        make: |bytes| format!("<p>{}", "Some words, and a stop. ".repeat(bytes / 24)),
    },
    HostilePage { name: "one long word", make: |bytes| format!("<p>{}", "a".repeat(bytes)) },
    HostilePage { name: "many short paragraphs", make: |bytes| "<p>One. ".repeat(bytes / 8) },
    HostilePage {
        name: "many paragraphs of one path",
        make: |bytes| format!("<article>{}", "<p>It was said that nothing would come of it.</p>".repeat(bytes / 48)),
    },
    HostilePage { name: "many empty elements", make: |bytes| "<i></i>".repeat(bytes / 7) },
    HostilePage { name: "line breaks", make: |bytes| "a<br>".repeat(bytes / 5) },
    HostilePage { name: "entities", make: |bytes| format!("<p>{}", "&amp;&#x41;&nosuch;".repeat(bytes / 19)) },
    HostilePage { name: "angle brackets", make: |bytes| "<".repeat(bytes) },
    HostilePage { name: "null characters", make: |bytes| "<p>\0".repeat(bytes / 4) },
    HostilePage {
        name: "rows of a table",
        make: |bytes| format!("<table>{}", "<tr><td>a<td>b<td>c".repeat(bytes / 19)),
    },
    HostilePage {
        name: "text in a table outside its cells",
        make: |bytes| format!("<table>{}", "x<b>y".repeat(bytes / 5)),
    },
    HostilePage { name: "templates", make: |bytes| "<template><p>x".repeat(bytes / 14) },
    HostilePage { name: "options", make: |bytes| format!("<select>{}", "<option>x".repeat(bytes / 9)) },
    HostilePage { name: "SVG", make: |bytes| format!("<svg>{}", "<g><path d='M0'>".repeat(bytes / 16)) },
    HostilePage {
        name: "JSON-LD nested",
        make: |bytes| format!("<script type=application/ld+json>{}</script>", "[".repeat(bytes)),
    },
    HostilePage {
        name: "JSON-LD wide",
        make: |bytes| {
            format!(
                "<script type=application/ld+json>[{}]</script><p>x",
                "{\"@type\":\"Article\",\"datePublished\":\"2020-01-01\"},".repeat(bytes / 50)
            )
        },
    },
    HostilePage {
        name: "JSON-LD body of markup",
        make: |bytes| {
            format!(
                "<script type=application/ld+json>{{\"@type\":\"Article\",\"articleBody\":\"{}\"}}</script><p>x",
                "<b>".repeat(bytes / 3)
            )
        },
    },
    HostilePage { name: "metas", make: |bytes| "<meta name=author content='A B'>".repeat(bytes / 32) },
    HostilePage { name: "times", make: |bytes| "<time datetime='2020-01-01'>1 Jan 2020</time>".repeat(bytes / 45) },
    HostilePage { name: "headings", make: |bytes| "<h1>Word on word</h1>".repeat(bytes / 21) },
    HostilePage { name: "digits", make: |bytes| format!("<p>{}", "12.03.2020 2020-01-01 ".repeat(bytes / 22)) },
    HostilePage { name: "styles", make: |bytes| format!("<p style=\"{}\">x", ":".repeat(bytes)) },
];
