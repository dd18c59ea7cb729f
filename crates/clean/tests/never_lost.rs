//! No name, wrapper or attribute makes the article of a page disappear, and nothing comes twice.

use std::collections::HashMap;

use tidings_clean::{HtmlInput, Options, Preset, extract};

const PARAGRAPHS: [&str; 6] = [
    "The river rose again during the night, and the fire brigade had to close two of the roads into the old town.",
    "By the morning the water stood in the cellars of forty houses, said the mayor, who had not slept at all.",
    "Volunteers filled sandbags on the market square until the rain stopped shortly after nine.",
    "The school stays closed until Thursday, and the buses take the longer way over the northern bridge.",
    "Insurers expect damage of several million, although nobody has counted the flooded gardens yet.",
    "“We have seen worse,” said a neighbour of eighty-one years, “but never in a month of May.”",
];

/// A page with the article inside `open` and `close`, and the usual rest around it.
fn page(open: &str, close: &str) -> String {
    let article: String = PARAGRAPHS.iter().map(|text| format!("<p>{text}</p>")).collect();
    format!(
        "<!doctype html><html lang=en><head><title>River rises | The Gazette</title></head><body>\
         <header><a href=/>The Gazette</a></header><nav><ul><li><a href=/news>News</a></li><li><a href=/sport>Sport</a></li>\
         <li><a href=/weather>Weather</a></li></ul></nav>{open}<h1>River rises</h1>{article}{close}\
         <aside><h2>Most read</h2><ul><li><a href=/a>Whale seen off the pier</a></li><li><a href=/b>Bakery closes</a></li></ul>\
         </aside><footer><p>© 2024 The Gazette. All rights reserved.</p></footer></body></html>"
    )
}

fn text(html: &str, preset: Preset) -> String {
    let options = Options { preset, ..Options::default() };
    let input = HtmlInput { html, url: Some("https://gazette.example/2024/river-rises"), ..HtmlInput::default() };
    extract(&input, &options).map(|document| document.text()).unwrap_or_default()
}

/// F1 of the words of a text and the article.
fn f1(text: &str) -> f64 {
    let count = |text: &str| {
        let mut counts: HashMap<String, i32> = HashMap::new();
        text.split_whitespace().for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
        counts
    };
    let (ours, gold) = (count(text), count(&PARAGRAPHS.join(" ")));
    let shared: i32 = ours.iter().map(|(word, times)| (*times).min(gold.get(word).copied().unwrap_or(0))).sum();
    2.0 * f64::from(shared) / f64::from(ours.values().sum::<i32>() + gold.values().sum::<i32>())
}

const NAMES: [&str; 24] = [
    "tag-bio",
    "category-biography",
    "tag-comments",
    "category-newsletter",
    "author-about",
    "tag-advertising",
    "category-cookies",
    "post-17",
    "comments",
    "comment",
    "related",
    "sidebar",
    "widget",
    "hidden",
    "popup",
    "ad",
    "promo",
    "teaser",
    "menu",
    "footer",
    "share",
    "author bio",
    "byline vcard profile",
    "comments-open has-comments",
];

#[test]
fn no_class_makes_the_article_disappear() {
    let wrappers: [(&str, &str); 9] = [
        ("<article class='{}'>", "</article>"),
        ("<main><article class='{}'>", "</article></main>"),
        ("<article class='post type-post status-publish hentry {}'>", "</article>"),
        ("<main class='{}'>", "</main>"),
        ("<div class='{}'>", "</div>"),
        ("<div id='{}'>", "</div>"),
        ("<section class='{}'><div class='entry-content'>", "</div></section>"),
        ("<main><div class='{}'>", "</div></main>"),
        ("<div class='{}'><div><article>", "</article></div></div>"),
    ];
    let mut lost = Vec::new();
    for name in NAMES {
        for (open, close) in wrappers {
            let html = page(&open.replace("{}", name), close);
            for preset in [Preset::Balanced, Preset::Precision, Preset::Recall] {
                let f = f1(&text(&html, preset));
                if f < 0.5 {
                    lost.push(format!("{open} {name} {}: {f:.2}", preset.name()));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} variants: {lost:#?}", lost.len());
}

#[test]
fn the_taxonomy_of_a_post_does_not_change_its_text() {
    let plain = text(&page("<article class='post hentry'>", "</article>"), Preset::Balanced);
    for name in ["tag-bio author-about", "category-biography", "tag-comments", "category-newsletter", "tag-advertising"]
    {
        let tagged = text(&page(&format!("<article class='post hentry {name}'>"), "</article>"), Preset::Balanced);
        assert_eq!(tagged, plain, "{name}");
    }
}

#[test]
fn hidden_copies_are_not_text() {
    let copy = PARAGRAPHS.join(" ");
    let paragraphs: String = PARAGRAPHS.iter().map(|text| format!("<p>{text}</p>")).collect();
    for hidden in [
        format!("<div hidden>{paragraphs}</div>"),
        format!("<div style='display:none'>{copy}</div>"),
        format!("<div itemprop=articleBody style='display: none'>{copy}</div>"),
        format!("<div aria-hidden=true>{copy}</div>"),
        "<div hidden><p>Sign in to follow this author, and get a message for each of the new articles.</p></div>"
            .to_owned(),
    ] {
        let text = text(&page(&format!("{hidden}<article>"), "</article>"), Preset::Balanced);
        assert!(f1(&text) > 0.95, "{hidden}: {text}");
    }
}

#[test]
fn a_hidden_article_is_text_if_the_page_shows_no_other() {
    for (open, close) in [
        ("<article><div class=paywalled style='display:none'>", "</div></article>"),
        ("<div hidden><article>", "</article></div>"),
        ("<div style='visibility:hidden'>", "</div>"),
    ] {
        assert!(f1(&text(&page(open, close), Preset::Balanced)) > 0.9, "{open}");
    }
}

#[test]
fn comments_are_not_text_unless_the_page_is_a_forum() {
    let comment = "<li class=comment><div class=comment-author>Ann</div><p>I walked along the river this morning, and it \
        looked much worse than on any of the photographs in your article.</p></li>";
    for (open, close) in [
        ("<ol class=commentlist>", "</ol>"),
        ("<div id=comments><ul>", "</ul></div>"),
        ("<div id=disqus_thread><ul>", "</ul></div>"),
        ("<section class='comments-area'><ol>", "</ol></section>"),
    ] {
        let html = page("<article>", &format!("{open}{}{close}</article>", comment.repeat(12)));
        let text = text(&html, Preset::Balanced);
        assert!(!text.contains("I walked along"), "{open}: {text}");
        assert!(f1(&text) > 0.9, "{open}: {text}");
    }
}

#[test]
fn amp_print_and_mobile_twins_have_the_same_text() {
    let paragraphs: String = PARAGRAPHS.iter().map(|text| format!("<p>{text}</p>")).collect();
    let amp = format!(
        "<!doctype html><html amp lang=en><head><title>River rises | The Gazette</title><link rel=canonical \
         href=https://gazette.example/2024/river-rises></head><body><amp-sidebar id=menu layout=nodisplay><ul><li><a href=/news>News\
         </a></li><li><a href=/sport>Sport</a></li></ul></amp-sidebar><header class=amp-header><a href=/>The Gazette</a></header>\
         <article class=amp-article><h1 class=amp-title>River rises</h1><amp-img src=a.jpg width=600 height=400></amp-img>\
         <div class=amp-content>{paragraphs}</div><amp-ad type=x data-slot=1></amp-ad></article><amp-social-share type=email>\
         </amp-social-share><footer class=amp-footer><p>© 2024 The Gazette. All rights reserved.</p></footer></body></html>"
    );
    let print = format!(
        "<!doctype html><html lang=en><head><title>River rises | The Gazette</title><meta name=robots content=noindex></head>\
         <body class=print onload='window.print()'><img src=logo.png alt='The Gazette'><h1>River rises</h1>{paragraphs}<hr>\
         <div class=print-footer>https://gazette.example/2024/river-rises</div><div>© 2024 The Gazette</div></body></html>"
    );
    let mobile = format!(
        "<!doctype html><html lang=en><head><title>River rises | The Gazette</title></head><body class=mobile><div class=m-top>\
         <a href=/>The Gazette</a> <a href=#menu>Menu</a></div><div class=m-article><h1>River rises</h1>{paragraphs}</div>\
         <ul class=m-nav><li><a href=/news>News</a></li><li><a href=/sport>Sport</a></li></ul><p class=m-foot><a href='?desktop=1'>\
         Desktop version</a></p></body></html>"
    );
    for (name, html) in [("full", page("<article>", "</article>")), ("AMP", amp), ("print", print), ("mobile", mobile)]
    {
        let text = text(&html, Preset::Balanced);
        // The title of the page has the name of the site, so the headline is not known to be the title of the document.
        assert_eq!(text.strip_prefix("River rises\n").unwrap_or(&text), PARAGRAPHS.join("\n"), "{name}");
    }
}

#[test]
fn lists_tables_and_repeated_lines_between_paragraphs_stay() {
    let recipe = "<h2>Ingredients</h2><ul><li>200 g flour</li><li>2 eggs</li><li>a pinch of salt</li><li>1 l milk</li></ul>\
        <h2>Steps</h2><ol><li>Whisk the flour with half of the milk until there are no lumps left in the bowl, then rest it.</li>\
        <li>Fry a ladle of batter in butter on both sides until it is golden and the edges are crisp all around.</li>\
        <li>Whisk the flour with half of the milk until there are no lumps left in the bowl, then rest it.</li></ol>\
        <table><tr><th>Date</th><th>Town</th></tr><tr><td>3 May</td><td>Bremen</td></tr><tr><td>4 May</td><td>Kiel</td></tr></table>\
        <p>Serve the pancakes with apple sauce, or with cheese if you prefer something more savoury in the evening.</p>";
    let text = text(&page("<article>", &format!("{recipe}</article>")), Preset::Balanced);
    for line in ["200 g flour", "2 eggs", "a pinch of salt", "3 May\tBremen", "4 May\tKiel", "apple sauce"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(text.matches("no lumps left").count(), 2, "{text}");
}

#[test]
fn a_page_drawn_by_scripts_has_the_text_of_its_state() {
    let body: String = PARAGRAPHS.iter().map(|text| format!("<p>{text}</p>")).collect();
    let state = serde_json::json!({ "props": { "article": { "title": "River rises", "body": body } } });
    let html = format!(
        "<title>River rises</title><div id=app>Loading…</div><script id=__NEXT_DATA__ type='application/json'>{state}</script>"
    );
    assert_eq!(text(&html, Preset::Balanced), PARAGRAPHS.join("\n"));
}
