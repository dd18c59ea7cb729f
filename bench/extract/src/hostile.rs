//! Pages that were made to be expensive.

/// A shape of page that costs some parser more than its size is worth.
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// Makes a page of about that many bytes.
    pub make: fn(usize) -> String,
}

/// Every shape.
pub const SHAPES: &[Shape] = &[
    Shape { name: "nested div", make: |bytes| "<div>".repeat(bytes / 5) },
    Shape { name: "nested lists", make: |bytes| "<ul><li>".repeat(bytes / 8) },
    Shape { name: "nested spans around words", make: |bytes| "<span>word ".repeat(bytes / 11) },
    Shape { name: "nested tables", make: |bytes| "<table><tr><td>x".repeat(bytes / 16) },
    Shape {
        name: "nested blockquotes with text",
        make: |bytes| "<blockquote>Quoted, and quoted again. ".repeat(bytes / 38),
    },
    Shape {
        name: "formatting never closed",
        make: |bytes| format!("{}<p>{}", "<b i><i b>".repeat(bytes / 40), "x</b><p>".repeat(bytes / 16)),
    },
    Shape { name: "formatting closed crosswise", make: |bytes| "<b><i><p>x</b></i>".repeat(bytes / 18) },
    Shape { name: "links never closed", make: |bytes| "<p><a href=x>word ".repeat(bytes / 18) },
    Shape {
        name: "one tag of many attributes",
        make: |bytes| format!("<p {}>text", (0..bytes / 9).map(|n| format!("a{n}=1 ")).collect::<String>()),
    },
    Shape {
        name: "tags of ever new attributes",
        make: |bytes| (0..bytes / 30).map(|number| format!("<p data-name-{number:09}=x>text")).collect(),
    },
    Shape {
        name: "attributes of the root",
        make: |bytes| (0..bytes / 14).map(|number| format!("<html x{number:06}>")).collect(),
    },
    Shape {
        name: "formatting of many attributes",
        make: |bytes| {
            let attributes = (0..600).map(|number| format!(" x{number}")).collect::<String>();
            (0..bytes / 2700).map(|number| format!("<b y{number}{attributes}>")).collect()
        },
    },
    Shape { name: "carriage returns", make: |bytes| format!("<p>{}", "\r".repeat(bytes)) },
    Shape {
        name: "tags of many classes",
        make: |bytes| format!("<p class=\"{}\">text", "share-bar ".repeat(bytes / 10)),
    },
    Shape { name: "a comment without end", make: |bytes| format!("<p>text</p><!--{}", "- x ".repeat(bytes / 4)) },
    Shape {
        name: "a script without end",
        make: |bytes| format!("<p>text</p><script>{}", "</scrip x ".repeat(bytes / 10)),
    },
    Shape { name: "scripts within comments", make: |bytes| "<script><!--<script></script>".repeat(bytes / 29) },
    Shape { name: "a title without end", make: |bytes| format!("<title>{}", "title ".repeat(bytes / 6)) },
    Shape { name: "one long paragraph", make: |bytes| format!("<p>{}", "Some words, and a stop. ".repeat(bytes / 24)) },
    Shape { name: "one long word", make: |bytes| format!("<p>{}", "a".repeat(bytes)) },
    Shape { name: "many short paragraphs", make: |bytes| "<p>One. ".repeat(bytes / 8) },
    Shape {
        name: "many paragraphs of one path",
        make: |bytes| format!("<article>{}", "<p>It was said that nothing would come of it.</p>".repeat(bytes / 48)),
    },
    Shape { name: "many empty elements", make: |bytes| "<i></i>".repeat(bytes / 7) },
    Shape { name: "line breaks", make: |bytes| "a<br>".repeat(bytes / 5) },
    Shape { name: "entities", make: |bytes| format!("<p>{}", "&amp;&#x41;&nosuch;".repeat(bytes / 19)) },
    Shape { name: "angle brackets", make: |bytes| "<".repeat(bytes) },
    Shape { name: "null characters", make: |bytes| "<p>\0".repeat(bytes / 4) },
    Shape { name: "rows of a table", make: |bytes| format!("<table>{}", "<tr><td>a<td>b<td>c".repeat(bytes / 19)) },
    Shape { name: "text in a table outside its cells", make: |bytes| format!("<table>{}", "x<b>y".repeat(bytes / 5)) },
    Shape { name: "templates", make: |bytes| "<template><p>x".repeat(bytes / 14) },
    Shape { name: "options", make: |bytes| format!("<select>{}", "<option>x".repeat(bytes / 9)) },
    Shape { name: "SVG", make: |bytes| format!("<svg>{}", "<g><path d='M0'>".repeat(bytes / 16)) },
    Shape {
        name: "JSON-LD nested",
        make: |bytes| format!("<script type=application/ld+json>{}</script>", "[".repeat(bytes)),
    },
    Shape {
        name: "JSON-LD wide",
        make: |bytes| {
            format!(
                "<script type=application/ld+json>[{}]</script><p>x",
                "{\"@type\":\"Article\",\"datePublished\":\"2020-01-01\"},".repeat(bytes / 50)
            )
        },
    },
    Shape {
        name: "JSON-LD body of markup",
        make: |bytes| {
            format!(
                "<script type=application/ld+json>{{\"@type\":\"Article\",\"articleBody\":\"{}\"}}</script><p>x",
                "<b>".repeat(bytes / 3)
            )
        },
    },
    Shape { name: "metas", make: |bytes| "<meta name=author content='A B'>".repeat(bytes / 32) },
    Shape { name: "times", make: |bytes| "<time datetime='2020-01-01'>1 Jan 2020</time>".repeat(bytes / 45) },
    Shape { name: "headings", make: |bytes| "<h1>Word on word</h1>".repeat(bytes / 21) },
    Shape { name: "digits", make: |bytes| format!("<p>{}", "12.03.2020 2020-01-01 ".repeat(bytes / 22)) },
    Shape { name: "styles", make: |bytes| format!("<p style=\"{}\">x", ":".repeat(bytes)) },
];
