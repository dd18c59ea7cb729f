//! Adversarial and truncated pages neither panic nor hang.

use bench_extract::hostile::HOSTILE_PAGES;
use tidings_clean::{HtmlInput, Options, extract};

#[test]
fn adversarial_pages_are_read() {
    for shape in HOSTILE_PAGES {
        let html = (shape.make)(60_000);
        let _ = extract(
            &HtmlInput { html: &html, url: Some("https://example.org/2020/01/01/x"), ..HtmlInput::default() },
            &Options::default(),
        );
    }
}

#[test]
fn truncated_pages_are_read() {
    let page = "<!doctype html><html lang=de><head><title>Ü – ß</title><script type=application/ld+json>{\"@type\":\
        \"NewsArticle\",\"articleBody\":\"ä\"}</script></head><body><article class='post-Body'><h1>Übung</h1><p style='display:\
        none'>„Ja“, sagte er. <a href='/x?ä'>日本語</a><br><br>Ende.</p><pre> a\n b</pre><table><tr><td>1<td>2</table></article>";
    for end in 0..page.len() {
        if page.is_char_boundary(end) {
            let _ = extract(
                &HtmlInput { html: &page[..end], url: None, ..HtmlInput::default() },
                &Options { links: true, comments: true, ..Options::default() },
            );
        }
    }
}
