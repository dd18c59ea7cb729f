//! Comparison with html5ever's own tokenizer: the trees must be equal, node for node.

use std::io::{BufRead, BufReader};

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tokenizer::TokenizerOpts;
use html5ever::tree_builder::TreeBuilder;
use proptest::prelude::*;

use super::*;
use crate::tree::parse::{Limits, builder, parse_with};
use crate::tree::sink::Sink;
use crate::tree::tag::{is_dropped, is_formatting};
use crate::tree::{Data, Node, NodeId, Tree};

const NO_LIMITS: Limits = Limits { depth: u32::MAX, nodes: usize::MAX, bytes: usize::MAX, plain_bytes: 0 };

/// Tree builder after html5ever's tokenizer. Removes the attributes that our tokenizer drops, and
/// parse errors, which the tree builder takes for a token between `<pre>` and its first newline.
struct Filter(TreeBuilder<NodeId, Sink>);

impl TokenSink for Filter {
    type Handle = NodeId;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match &mut token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if tag.kind == TagKind::StartTag && !is_formatting(&tag.name) => {
                tag.attrs.retain(|attribute| !is_dropped(&attribute.name.local));
            }
            _ => {}
        }
        self.0.process_token(token, line)
    }

    fn end(&self) {
        self.0.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn reference(html: &str) -> Tree {
    // html5ever also drops a byte order mark wherever it pauses, for example after a script.
    let options = TokenizerOpts { discard_bom: false, ..Default::default() };
    let tokenizer = html5ever::tokenizer::Tokenizer::new(Filter(builder(html.len())), options);
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(html.strip_prefix(BYTE_ORDER_MARK).unwrap_or(html)));
    while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.0.sink.into_tree(false)
}

/// The comparable properties of a node.
fn properties(node: &Node) -> impl PartialEq + std::fmt::Debug + '_ {
    let (kind, name, attributes, text) = match &node.data {
        Data::Document => ("document", None, None, None),
        Data::Other => ("other", None, None, None),
        Data::Text(text) => ("text", None, None, Some(&**text)),
        Data::Element(name, attributes) => ("element", Some(name), Some(attributes), None),
    };
    let links = [node.parent, node.first_child, node.last_child, node.previous, node.next];
    (kind, name, attributes, text, links, node.depth)
}

/// The first difference between both trees.
fn difference(html: &str) -> Option<String> {
    let (ours, theirs) = (parse_with(html, NO_LIMITS), reference(html));
    let longest = ours.nodes.len().max(theirs.nodes.len());
    (0..longest).find_map(|place| {
        let (ours, theirs) = (ours.nodes.get(place).map(properties), theirs.nodes.get(place).map(properties));
        (ours != theirs).then(|| format!("node {place}:\n  ours   {ours:?}\n  theirs {theirs:?}"))
    })
}

fn assert_same(html: &str) {
    if let Some(difference) = difference(html) {
        panic!("{html:?} {difference}");
    }
}

/// Contexts for the snippets: the state of the tree builder changes the meaning of tokens.
const CONTEXTS: &[&str] = &[
    "",
    "<!doctype html><title>t</title><body><p>",
    "<pre>",
    "<table><tr><td>x</td>",
    "<table>",
    "<svg><g>",
    "<math><mi>",
    "<svg><foreignObject><div>",
    "<select><option>",
    "<frameset>",
    "<template>",
    "<textarea>",
    "<title>",
    "<style>",
    "<script>",
    "<script><!--",
    "<script><!--<script ",
    "<div a='",
    "<div a=",
    "<!--",
    "<!doctype html ",
];

#[rustfmt::skip]
const SNIPPETS: &[&str] = &[
    // Texts.
    "a < b > c & d", "<", "<<p>", "< p>x", "<3 hearts", "a<", "a</", "a</>b", "a</ p>b", "a</3>b", "<>", "<=x>", "<\u{e9}t\u{e9}>",
    "\n\nx", "\r\nx\ry\r\r\nz\n\r", "a\r", "\r\n", " \t\x0c\n", "x\0y", "\0", "\0\0<p>\0", "a\u{feff}b", "\u{feff}\u{feff}x", "\u{a0} \u{3000}",
    "\u{fffe}\u{1}\u{7f}\u{85}", "\u{1f600}<b>\u{1f600}</b>", "]]>", "-->", "a\n<p>\n\nb</p>\n", "\n<pre>\n\nx</pre>", "<pre>\r\n\r\nx", "<listing>\nx",
    "<textarea>\n\nx</textarea>", "<pre></>\nx", "<pre>&#10;x", "<pre>&#10x", "<pre>\0\nx", "<pre><!-- -->\nx",
    // References.
    "&amp;&lt;&gt;&quot;&nbsp;&apos;", "&amp &lt &gt &copy &copyx", "&ampamp;", "&AMP;&Amp;&AMP", "&", "&;", "&&", "& amp;", "&a", "&am", "&nosuch;", "&nosuchnamethatisverylongindeedandgoeson;",
    "&notit;", "&notin;", "&noti", "&not", "&NotEqualTilde;", "&NotEqualTilde", "&fjlig;", "&CounterClockwiseContourIntegral;", "&CounterClockwiseContourIntegral", "&frac12;&frac12", "&sup1;&sup1&sup12", "&there4;&there4",
    "&#65;&#x41;&#X41;&#65&#x41", "&#", "&#x", "&#;", "&#x;", "&#xg;", "&#a;", "&#0;", "&#x0", "&#128;&#x80;&#159;&#x9F;&#129;", "&#xD800;&#xDFFF;", "&#x110000;&#99999999999999999999;&#x10FFFF;&#xFFFE;",
    "&#13;&#10;&#9;&#12;", "&#13\nx", "&#1;&#11;&#127;", "&#00000000065;", "&amp\r\nx", "&\r\n", "&am\0p;", "a&lt;b&gt;c", "&lt;p&gt;", "&Aacute&aacute;&AElig", "x&hellip;&mdash;&rsquo;y", "&\u{e9};",
    // Tags.
    "<p>x</p>", "<P>x</p>", "<DiV CLASS=X iD='Y'>", "</p>", "</br>", "</p a=b>", "<br/>", "<br / >", "<br/ / />", "<div/>x", "<p/a>", "<p/>/", "<a/b/c>", "<x-y.z:w_1>", "<p\0q>", "<p\u{e9}>", "<p\nq\n>", "<p\rq\r\n>", "<p\x0cq>",
    "<p<b>", "<p <b>", "<p a<b>", "<p", "<p ", "<p a", "<p a=", "<p a='", "<p a=\"x", "<p a=x", "<p a='x'", "<p /", "</p", "</p ", "<verylongtagnamethatisnotknown-to-anyone data-verylong-attribute-name=1>", "<image src=x>", "<isindex>",
    // Attributes.
    "<p a b c>", "<p a=1 a=2 A=3>", "<p a = 1 b\n=\n2>", "<p a=>", "<p a= >", "<p a=>x", "<p =a>", "<p ==>", "<p =>", "<p a==b>", "<p a=b=c>", "<p a='1'b='2'\"c\">", "<p a=\"1\"/>", "<p a=\"1\"/b>", "<p a=1/>", "<p a=1/ >", "<p a=/>",
    "<p a='\"' b=\"'\">", "<p 'a'>", "<p \"a\"=b>", "<p a=`b`>", "<p a=\"b<c>d\">", "<p a=b\"c'd<e`f>", "<p a='x\r\ny\rz'>", "<p a=x\ry>", "<p a='x\0y'>", "<p a=x\0y>", "<p a\0b=c>", "<p \0>", "<p \u{c9}=\u{c9}>",
    "<p a='&amp;&lt;'>", "<p a='&copy=1&copy;&copyx&copy'>", "<p a=&copy=1&copy;&copyx&copy>", "<p a=&amp>", "<p a='&amp'>", "<p a='&'>", "<p a=&>", "<p a='&not=' b='&not' c='&notit;' d='&notin;' e='&not1'>", "<p a='&#65;&#x41&#'>", "<p a='?x=1&y=2&lt=3&amp;z'>",
    "<p a=&#>", "<p a='&NotEqualTilde;'>", "<p a=\"&quot;\">", "<p srcset=x class=y onclick='z>'>w", "<a srcset=x onclick=y href=z>w</a>", "<svg viewBox='0 0' class=x><path d='M0' fill=red id=y /></svg>", "<p xlink:href=x xml:lang=y>", "<svg xlink:href=x definitionurl=y>",
    "<p a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2=x d3 d2=y d3 a0=z d4>",
    "<b class=x><b class=x><b class=x><b class=x></p><p>y", "<b onclick=1><b onclick=2><b onclick=3><b onclick=4><b onclick=5></p><p>y", "<html a=1><html b=2><body c=3><body a=4 c=5>", "<input type=hidden><input type=HIDDEN onclick=x><input>", "<table><input type='hid&#100;en'>",
    // Comments.
    "<!-- a -->b", "<!---->x", "<!-->x", "<!--->x", "<!----->x", "<!--a--!>x", "<!----!>x", "<!---!>x-->y", "<!--!>x-->y", "<!--a--!-->x", "<!--a--!b-->x", "<!--a--b-->x", "<!--a- ->b-->x", "<!--<!--a-->x", "<!--<!-->x", "<!--<!--->x", "<!--a<!-b-->x", "<!--a<!>b-->x", "<!--a\0b-->x", "<!--\0-->", "<!---\0-->",
    "<!--", "<!---", "<!----", "<!--a", "<!--a-", "<!--a--", "<!--a--!", "<!--a--!-", "<!--<", "<!--<!", "<!--<!-", "<!--<!--", "<!--a>b>c-->d", "<!-- -- -->x", "<!--a---->x", "<!--a->b", "<!--a-->b-->c",
    "<!>x", "<!a>x", "<!-a->x", "<!-", "<!", "<!a", "<!\0>", "<?xml version='1.0'?>x", "<?", "<?>x", "<?php echo '>' ?>x", "</ x>y", "</\0>y", "</!>", "</?", "<![if IE]>x<![endif]>", "<!--[if IE]>x<![endif]-->y", "<!--a\r\nb-->",
    // CDATA sections.
    "<![CDATA[x<p>&amp;]]>y", "<![CDATA[", "<![CDATA[]", "<![CDATA[]]", "<![CDATA[]]>", "<![CDATA[a]]]>b", "<![CDATA[a]]b]]>c", "<![CDATA[a\0b]]>", "<![CDATA[\0", "<![cdata[x]]>", "<![CDATA", "<svg><![CDATA[a>b]]>c</svg><![CDATA[d]]>e", "<math><mi><![CDATA[x]]>", "<svg><desc><![CDATA[x]]>", "<![CDATA[a\r\nb\rc]]>", "<![CDATA[x]>y]]>",
    // Document types.
    "<!doctype html><p><table>", "<!DOCTYPE HTML><p><table>", "<p><table>", "<!doctype><p><table>", "<!doctype ><p><table>", "<!doctype", "<!doctype ", "<!doctype h", "<!doctype html", "<!doctype html ", "<!doctypehtml><p><table>", "<!doctype\thtml\n><p><table>", "<!doctype html x><p><table>", "<!doctype html public><p><table>", "<!doctype html public ><p><table>",
    "<!doctype html system><p><table>", "<!doctype html publi", "<!doctype html PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\"><p><table>", "<!doctype html PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"><p><table>", "<!doctype html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN' 'x'><p><table>",
    "<!doctype html public\"-//W3C//DTD HTML 3.2//EN\"><p><table>", "<!doctype html PUBLIC '' ''><p><table>", "<!doctype html PUBLIC ''><p><table>", "<!doctype html PUBLIC 'a''b'><p><table>", "<!doctype html PUBLIC 'a' b><p><table>", "<!doctype html PUBLIC 'a>b'><p><table>", "<!doctype html PUBLIC 'a", "<!doctype html PUBLIC 'a'", "<!doctype html PUBLIC 'a' ", "<!doctype html PUBLIC 'a' 'b", "<!doctype html PUBLIC 'a' 'b>c'><p><table>",
    "<!doctype html PUBLIC 'a' 'b'c><p><table>", "<!doctype html PUBLIC 'a' 'b' ", "<!doctype html SYSTEM 'about:legacy-compat'><p><table>", "<!doctype html system\"x\" y><p><table>", "<!doctype html system x><p><table>", "<!doctype html SYSTEM 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd'><p><table>", "<!doctype html system 'x' y", "<!doctype html SYSTEM", "<!doctype html SYSTEM ", "<!doctype html x", "<!doctype ht\0ml><p><table>", "<!doctype \0><p><table>", "<!doctype html \0><p><table>", "<!doctype html PUBLIC '\0'><p><table>", "<!doctype html\r\npublic\r\n'html'><p><table>", "<!doctype svg><p><table>", "<!doctyp html><p><table>", "x<!doctype html><p><table>", "<!-- --><!doctype html><p><table>", " \n<!doctype html><p><table>",
    // Elements without markup.
    "<title>a<b>c</title>d", "<title>&amp;&lt;\0&nosuch</title>x", "<title></title>x", "<title>a</titl>b</title>c", "<title>a</titlex>b</title >c", "<title>a</TITLE\n>b", "<title>a</title/>b", "<title>a</title", "<title>a</title ", "<title>a</title x='>'>b", "<title>a</", "<title>a<", "<title>a</ title>b</title>", "<title>a<!--</title>-->b", "<textarea>a</textarea\x0c>b", "<textarea>\0</textarea>", "<title>a\r\nb</title\r>c", "<title>a</title\0>b</title>",
    "<style>a<b>&amp;\0c</style>d", "<style><!--</style>-->x", "<style></styl></style>", "<xmp>a<b></xmp>c", "<iframe>a<b>&lt;</iframe>c", "<noembed><p></noembed>x", "<noframes><p></noframes>x", "<noscript><p>x</noscript>y", "<head><noscript><style>a</style><p>x</noscript>y", "<plaintext>a<b></plaintext>\0c\r\nd", "<svg><style>a<b>c</style><title>d<i>e</title><script>f<g></script>", "<style>a</style", "<style>a</style\t", "<xmp>\n\nx",
    // Scripts.
    "<script>a<b&amp;</b></script>c", "<script>\0</script>", "<script></script>x", "<script/>x</script>y", "<SCRIPT>a</ScRiPt>b", "<script>a</scrip></script>b", "<script>a</scriptx></script>b", "<script>'</script>'", "<script><!--a--></script>b", "<script><!--a</script>b-->c", "<script><!--<script>a</script>b--></script>c", "<script><!--<script>a</script>b</script>c", "<script><!--<script>a--></script>b", "<script><!--<script>a--!></script>b</script>c", "<script><!--></script>b", "<script><!---></script>b", "<script><!-></script>b", "<script><!-- <scriptx></script>b", "<script><!-- <SCRIPT/></script>x</script>b", "<script><!-- <script </script >x</script>b", "<script><!--<script\n></script\t>a</script>b",
    "<script><!--<script>a</scriptx></script>b</script>c", "<script><!--<script><script></script></script>b", "<script><!--<script></script><script></script></script>b", "<script><!--\0-\0--\0<\0</\0</s\0--></script>b", "<script><!--<script>\0-\0--\0<\0</\0</s\0--></script>b", "<script><!--a--b---></script>c", "<script><!--<", "<script><!--</", "<script><!--</s", "<script><!--</script", "<script><!--<s", "<script><!--<script", "<script><!--<script>", "<script><!--<script><", "<script><!--<script></", "<script><!--<script></script", "<script><!--<script>-", "<script><!--<script>--", "<script><!-", "<script><!", "<script>a<", "<script>a</", "<script>a</s", "<script><!-<!--</script>b", "<script><<!--<<script></script>b</script>c", "<script><!--<script--></script>b", "<script><!--<a--></script>b", "<script>a\r\nb\rc</script\r\n>d", "<script><!--\r-\r--\r></script>b", "<script>a</script>\u{feff}b", "<meta charset=x>\u{feff}y", "<script><!--<script/--></script>b",
    // States that the tree builder requests.
    "<meta charset=utf-8>x", "<meta http-equiv=content-type content='text/html; charset=x'>y", "<annotation-xml encoding=text/html><p>x", "<math><annotation-xml encoding='text/HTML'><p>x", "<svg><font color=red>x", "<svg><font>x", "<svg><p>x", "<template shadowrootmode=open><p>x</template>y", "<div><template shadowrootmode=open><p>x</template></div>y", "<select><input>", "<table>a<b>c</table>d", "<table> <!-- -->\0 x</table>", "<table><tr> \n x &amp; y<td>z", "<colgroup> x", "<frameset> x &amp; <frame></frameset> y", "<body>\0<frameset>", "<p> <frameset>", "<a>1<p>2</a>3</p>", "<form><form><p form=x>", "</html> x <!-- y -->", "</body> </html>\n", "<ruby>a<rt>b<rp>c</ruby>", "<button><button>", "<h1><h2>x", "<option><optgroup><option>",
];

#[test]
fn every_snippet_parses_equally_in_every_context_and_cut_anywhere() {
    assert!(SNIPPETS.len() > 300);
    let mut cases = 0;
    for snippet in SNIPPETS {
        for context in CONTEXTS {
            for end in (0..=snippet.len()).filter(|end| snippet.is_char_boundary(*end)) {
                assert_same(&[context, &snippet[..end]].concat());
                cases += 1;
            }
            assert_same(
                &[context, snippet, "&amp z</x>\n<p id=q>'\"></script></textarea></style></title>-->y"].concat(),
            );
            cases += 1;
        }
    }
    println!("{cases} cases of {} snippets", SNIPPETS.len());
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<", "</", ">", "/>", "<!", "<!-", "<!--", "-->", "--!>", "--", "-", "->", "!", "!>", "?", "<?", "/", "=", "'", "\"", "`", "&", ";", "#", "&#", "&#x", "]]>", "]", "<![CDATA[", "<!doctype", " html", " public ", " system ",
    " ", "\n", "\r", "\r\n", "\t", "\x0c", "\0", "\u{feff}", "\u{e9}", "\u{1f600}", "\u{fffd}",
    "a", "x", "B", "1", "amp", "not", "notin", "copy", "lt", "quot", "NotEqualTilde", "41", "80", "d800", "text",
    "&amp;", "&amp", "&not", "&notit;", "&nbsp;", "&lt;", "&#65;", "&#x41", "&#0;", "&#10;",
    "script", "style", "title", "textarea", "svg", "math", "table", "tr", "td", "p", "b", "i", "div", "span", "select", "template", "frameset", "xmp", "pre", "plaintext", "body", "html", "head", "br", "form", "mi", "foreignObject", "desc", "annotation-xml", "font",
    "<script>", "</script>", "<script ", "</script ", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>", "<svg>", "</svg>", "<math>", "</math>", "<table>", "</table>", "<tr>", "<td>", "<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<a href=x>", "</a>", "<div>", "</div>", "<select>", "</select>", "<option>", "<template>", "</template>", "<frameset>", "</frameset>", "<xmp>", "</xmp>", "<pre>", "</pre>", "<body>", "</body>", "<html>", "</html>", "<head>", "</head>", "<br>", "</br>", "<form>", "</form>", "<mi>", "<foreignObject>", "<desc>", "<noscript>", "</noscript>", "<iframe>", "</iframe>", "<button>", "<li>", "<h1>", "<input type=hidden>", "<meta charset=x>", "<!doctype html>", "<col>", "<caption>", "<image>", "<math><annotation-xml encoding=text/html>", "<svg><font color=x>",
    " a", " a=", " a='", " a=\"", " class=x", " type=hidden", " onclick=y", " srcset='z'", " A=b", " /", " encoding=text/html", " color=red", " =",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tag_soup_parses_equally(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..48)) {
        let html = pieces.concat();
        if let Some(difference) = difference(&html) {
            return Err(TestCaseError::fail(format!("{html:?} {difference}")));
        }
    }
}

#[test]
fn web_pages_parse_equally() {
    let Some(folder) = tidings_testing::data("extract-dev") else { return };
    let files = std::fs::read_dir(folder).expect("the path is a folder");
    // Debug builds compare a sample of the pages, release builds all of them.
    let every = if cfg!(debug_assertions) { 20 } else { 1 };
    let (mut pages, mut bytes) = (0, 0);
    for path in files.flatten().map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "zst"))
    {
        let mut decoder =
            zstd::Decoder::new(std::fs::File::open(&path).expect("the file exists")).expect("the file is zstd");
        decoder.window_log_max(27).expect("the window size is valid");
        for (line, text) in BufReader::with_capacity(1 << 20, decoder).lines().enumerate().step_by(every) {
            // One data set was written by Python's json module, which allows NaN.
            let text = text.expect("lines are text").replace(": NaN", ": null");
            let page: serde_json::Value = serde_json::from_str(&text).expect("lines are JSON");
            let html = page["html"].as_str().unwrap_or_default();
            if let Some(difference) = difference(html) {
                panic!("{} line {}: {difference}", path.display(), line + 1);
            }
            pages += 1;
            bytes += html.len();
        }
    }
    println!("{pages} pages of {bytes} bytes in all");
}

#[test]
fn a_token_cut_by_the_byte_limit_is_read_without_structure() {
    let limits = Limits { bytes: 60, ..Limits::default() };
    let text = |html: &str| {
        let tree = parse_with(html, limits);
        assert!(tree.capped, "{html}");
        tree.text(tree.body())
    };
    let long = "word ".repeat(20);
    assert_eq!(text(&format!("<p>one</p><p>{long}</p>")), format!("one {}", long.trim_end()));
    assert_eq!(text(&format!("<p>one</p>5 > 4 &amp; {long}")), format!("one 5 > 4 & {}", long.trim_end()));
    assert_eq!(text(&format!("<p>one</p><textarea>{long}</textarea>")), format!("one {}", long.trim_end()));
    assert_eq!(text(&format!("<p>one</p><script>{long}</script><p>two</p>")), "one two");
    assert_eq!(text(&format!("<p>one</p><!-- {long} --><p>two</p>")), "one two");
    assert_eq!(text(&format!("<p>one</p><p title='{long}'>two</p>")), "one two");
}

#[test]
fn the_rest_after_a_limit_is_located_in_the_original_page() {
    let limits = Limits { depth: 6, ..Limits::default() };
    let tree = parse_with("\u{feff}<p>a\r\n\rb\r\n<div><div><div><div>\r\nc <p>\r\nd", limits);
    assert!(tree.capped);
    assert_eq!(tree.text(tree.body()), "a b c d");
}

#[test]
fn a_tag_with_too_many_attributes_keeps_the_first() {
    let html: String = (0..100_000).map(|number| format!(" x{number}={number} x1")).collect();
    let tree = parse_with(&format!("<p{html}>word"), Limits::default());
    assert!(!tree.capped);
    let paragraph = tree.find(&html5ever::local_name!("p")).expect("the page has a paragraph");
    assert_eq!(tree.attrs(paragraph).len(), 4000);
    assert_eq!(&*tree.attrs(paragraph)[3999].value, "3999");
}
