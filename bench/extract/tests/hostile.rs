//! No page, however it was made, brings the extractor down or makes it slow.

use bench_extract::hostile::SHAPES;
use tidings_clean::{Options, Source, extract};

#[test]
fn pages_made_to_be_expensive_are_read() {
    for shape in SHAPES {
        let html = (shape.make)(60_000);
        let _ = extract(
            &Source { html: &html, url: Some("https://example.org/2020/01/01/x"), ..Source::default() },
            &Options::default(),
        );
    }
}

#[test]
fn pages_cut_anywhere_are_read() {
    let page = "<!doctype html><html lang=de><head><title>Ü – ß</title><script type=application/ld+json>{\"@type\":\
        \"NewsArticle\",\"articleBody\":\"ä\"}</script></head><body><article class='post-Body'><h1>Übung</h1><p style='display:\
        none'>„Ja“, sagte er. <a href='/x?ä'>日本語</a><br><br>Ende.</p><pre> a\n b</pre><table><tr><td>1<td>2</table></article>";
    for end in 0..page.len() {
        if page.is_char_boundary(end) {
            let _ = extract(
                &Source { html: &page[..end], url: None, ..Source::default() },
                &Options { links: true, comments: true, ..Options::default() },
            );
        }
    }
}
