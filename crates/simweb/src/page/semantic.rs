//! A modern blog: semantic elements, JSON-LD, OpenGraph, a `time` element.

use super::Sheet;
use crate::markup::{escaped, iso_date};

pub fn write(sheet: &Sheet<'_>) -> String {
    let article = sheet.article;
    let date = iso_date(article.date, sheet.profile.east);
    let linked_data = serde_json::json!({
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.title,
        "datePublished": date,
        "inLanguage": article.language,
        "author": { "@type": "Person", "name": article.author },
        "mainEntityOfPage": article.url,
    });
    // A title could otherwise end the script element.
    let linked_data = linked_data.to_string().replace("</", "<\\/");
    let mut teasers = String::new();
    for (title, url) in &sheet.teasers {
        teasers.push_str(&format!(
            "<article class=\"teaser\"><h3><a href=\"{}\">{}</a></h3><p><a href=\"{0}\">{}</a></p></article>\n",
            escaped(url),
            escaped(title),
            sheet.label("more"),
        ));
    }
    let mut comments = String::new();
    for (name, words) in &sheet.comments {
        comments.push_str(&format!("<li><b>{}</b>: {}</li>\n", escaped(name), escaped(words)));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"{language}\" dir=\"{direction}\">\n<head>\n{meta}\
         <link rel=\"canonical\" href=\"{url}\">\n\
         <meta property=\"og:type\" content=\"article\">\n<meta property=\"og:title\" content=\"{title}\">\n\
         <meta property=\"og:url\" content=\"{url}\">\n<meta property=\"article:published_time\" content=\"{date}\">\n\
         <meta name=\"author\" content=\"{author}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <script type=\"application/ld+json\">{linked_data}</script>\n\
         <style>body{{font:18px/1.5 serif;margin:0 auto;max-width:70rem}}nav li{{display:inline}}</style>\n</head>\n<body>\n\
         <div id=\"cookie-consent\" role=\"dialog\"><p>{cookies}</p><button>{accept}</button></div>\n\
         <header><a href=\"{home}\">{site}</a><nav><ul>\n{navigation}</ul></nav>\
         <form role=\"search\"><input name=\"q\" placeholder=\"{search}\"></form></header>\n\
         <main id=\"main\"><article>\n<header><h1>{title}</h1>\n\
         <p class=\"byline\">{by} {author}, <time datetime=\"{date}\">{day}</time></p></header>\n{body}\
         <footer class=\"share\"><span>{share}</span> <a href=\"#\">Mail</a> <a href=\"#\">Link</a></footer>\n</article>\n\
         <section id=\"comments\"><h2>{comments_label} ({count})</h2><ol>\n{comments}</ol></section></main>\n\
         <aside><h2>{related}</h2>\n{teasers}<div class=\"newsletter\">{subscribe}</div></aside>\n\
         <footer><p>© {site}. {rights}</p><ul>\n{navigation}</ul></footer>\n\
         <script>document.documentElement.className+=' js';</script>\n</body>\n</html>\n",
        language = article.language,
        direction = sheet.grammar.direction(),
        meta = sheet.meta(),
        url = sheet.url(),
        title = sheet.title(),
        author = sheet.author(),
        cookies = sheet.label("cookies"),
        accept = sheet.label("accept"),
        home = sheet.home,
        site = escaped(&sheet.site_name),
        navigation = sheet.navigation,
        search = sheet.label("search"),
        by = sheet.label("by"),
        day = article.date.strftime("%Y-%m-%d"),
        body = sheet.body,
        share = sheet.label("share"),
        comments_label = sheet.label("comments"),
        count = sheet.comments.len(),
        related = sheet.label("related"),
        subscribe = sheet.label("subscribe"),
        rights = sheet.label("rights"),
    )
}
