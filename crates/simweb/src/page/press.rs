//! The markup of a WordPress-like blog: widgets, entry-content, pingbacks.

use super::Sheet;
use crate::markup::{escaped, iso_date};

pub fn write(sheet: &Sheet<'_>) -> String {
    let article = sheet.article;
    let date = iso_date(article.date, sheet.profile.east);
    let mut recent = String::new();
    for (title, url) in &sheet.teasers {
        recent.push_str(&format!("<li><a href=\"{}\">{}</a></li>\n", escaped(url), escaped(title)));
    }
    let mut comments = String::new();
    for (number, (name, words)) in sheet.comments.iter().enumerate() {
        comments.push_str(&format!(
            "<li id=\"comment-{number}\" class=\"comment\"><article class=\"comment-body\"><footer class=\"comment-meta\">\
             <b class=\"fn\">{}</b></footer><div class=\"comment-content\"><p>{}</p></div></article></li>\n",
            escaped(name),
            escaped(words)
        ));
    }
    let mut topics = String::new();
    for topic in &article.topics {
        topics.push_str(&format!("<a href=\"/category\" rel=\"category tag\">{}</a> ", escaped(topic)));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"{language}\" dir=\"{direction}\">\n<head>\n{meta}\
         <meta name=\"generator\" content=\"Press 6.4\">\n<meta property=\"og:site_name\" content=\"{site}\">\n\
         <meta property=\"article:published_time\" content=\"{date}\">\n<link rel=\"pingback\" href=\"{home}xmlrpc\">\n\
         <link rel=\"shortlink\" href=\"{url}\">\n</head>\n<body class=\"post-template-default single single-post\">\n\
         <div id=\"page\" class=\"site\"><header id=\"masthead\" class=\"site-header\"><p class=\"site-title\"><a href=\"{home}\">{site}</a></p>\
         <nav id=\"site-navigation\" class=\"main-navigation\"><ul class=\"menu\">\n{navigation}</ul></nav></header>\n\
         <div id=\"content\" class=\"site-content\"><div id=\"primary\" class=\"content-area\"><main id=\"main\" class=\"site-main\">\n\
         <article class=\"post type-post hentry\"><header class=\"entry-header\"><h1 class=\"entry-title\">{title}</h1>\
         <div class=\"entry-meta\"><span class=\"posted-on\"><a href=\"{url}\" rel=\"bookmark\">\
         <time class=\"entry-date published\" datetime=\"{date}\">{day}</time></a></span> \
         <span class=\"byline\">{by} <span class=\"author vcard\">{author}</span></span></div></header>\n\
         <div class=\"entry-content\">\n{body}<div class=\"sharedaddy sd-sharing-enabled\"><h3 class=\"sd-title\">{share}</h3>\
         <ul><li><a href=\"#\">Mail</a></li><li><a href=\"#\">Print</a></li></ul></div></div>\n\
         <footer class=\"entry-footer\"><span class=\"cat-links\">{topics}</span></footer></article>\n\
         <div id=\"comments\" class=\"comments-area\"><h2 class=\"comments-title\">{comments_label}: {count}</h2>\
         <ol class=\"comment-list\">\n{comments}</ol></div></main></div>\n\
         <aside id=\"secondary\" class=\"widget-area\"><section class=\"widget widget_search\"><form><label>{search}</label>\
         <input type=\"search\"></form></section><section class=\"widget widget_recent_entries\"><h2 class=\"widget-title\">{related}</h2>\
         <ul>\n{recent}</ul></section><section class=\"widget\"><p>{subscribe}</p></section></aside></div>\n\
         <footer id=\"colophon\" class=\"site-footer\"><div class=\"site-info\">{rights}</div></footer></div>\n\
         <div class=\"cookie-notice-container\"><span id=\"cn-notice-text\">{cookies}</span><a href=\"#\">{accept}</a></div>\n\
         </body>\n</html>\n",
        language = article.language,
        direction = sheet.grammar.direction(),
        meta = sheet.meta(),
        site = escaped(&sheet.site_name),
        home = sheet.home,
        url = sheet.url(),
        navigation = sheet.navigation,
        title = sheet.title(),
        day = article.date.strftime("%d.%m.%Y"),
        by = sheet.label("by"),
        author = sheet.author(),
        body = sheet.body,
        share = sheet.label("share"),
        comments_label = sheet.label("comments"),
        count = sheet.comments.len(),
        search = sheet.label("search"),
        related = sheet.label("related"),
        subscribe = sheet.label("subscribe"),
        rights = sheet.label("rights"),
        cookies = sheet.label("cookies"),
        accept = sheet.label("accept"),
    )
}
