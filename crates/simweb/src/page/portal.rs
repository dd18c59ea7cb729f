//! An old portal: nested tables, meaningful class names at best, the date as plain text.

use super::Sheet;
use crate::markup::escaped;
use crate::text::Section;

pub fn write(sheet: &Sheet<'_>) -> String {
    let article = sheet.article;
    let mut teasers = String::new();
    for (title, url) in &sheet.teasers {
        teasers.push_str(&format!(
            "<tr><td class=\"box2\"><font size=\"2\"><a href=\"{}\">{}</a><br>{}...</font></td></tr>\n",
            escaped(url),
            escaped(title),
            sheet.label("more"),
        ));
    }
    let mut menu = String::new();
    for topic in sheet.grammar.section(Section::Topics) {
        menu.push_str(&format!("<td class=\"menu\"><a href=\"/topic\">{}</a></td>", escaped(topic)));
    }
    let mut comments = String::new();
    for (name, words) in &sheet.comments {
        comments.push_str(&format!(
            "<div class=\"disk\"><div class=\"disk-jm\">{}</div><div class=\"disk-tx\">{}</div></div>\n",
            escaped(name),
            escaped(words)
        ));
    }
    format!(
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n<html lang=\"{language}\" dir=\"{direction}\">\n<head>\n\
         {meta}<meta name=\"date\" content=\"{day}\">\n</head>\n<body bgcolor=\"#ffffff\">\n\
         <div id=\"eu\"><div>{cookies} <a href=\"#\">{accept}</a></div></div>\n\
         <table width=\"980\" align=\"center\" cellspacing=\"0\"><tr><td colspan=\"3\"><a href=\"{home}\"><b>{site}</b></a></td></tr>\n\
         <tr><td colspan=\"3\"><table class=\"top\"><tr>{menu}</tr></table></td></tr>\n\
         <tr valign=\"top\"><td width=\"160\" class=\"left\"><ul>\n{navigation}</ul>\
         <div class=\"ad\"><a href=\"/ad\">{subscribe}</a></div></td>\n\
         <td width=\"600\"><a name=\"main\"></a><div class=\"txt\"><div class=\"nadpis\"><h1>{title}</h1></div>\n\
         <div class=\"info\">{written} | {author} | {share}: <a href=\"#\">F</a> <a href=\"#\">T</a></div>\n\
         <div class=\"obsah\">{body}</div></div>\n<div class=\"diskuse\"><b>{comments_label}: {count}</b>\n{comments}</div></td>\n\
         <td width=\"220\"><table class=\"box\"><tr><td class=\"boxh\">{related}</td></tr>\n{teasers}</table></td></tr>\n\
         <tr><td colspan=\"3\" class=\"foot\">&copy; {site} | {rights} | <a href=\"/contact\">{contact}</a></td></tr></table>\n\
         </body>\n</html>\n",
        language = article.language,
        direction = sheet.grammar.direction(),
        meta = sheet.meta(),
        day = article.date.strftime("%Y-%m-%d"),
        cookies = sheet.label("cookies"),
        accept = sheet.label("accept"),
        home = sheet.home,
        site = escaped(&sheet.site_name),
        navigation = sheet.navigation,
        subscribe = sheet.label("subscribe"),
        title = sheet.title(),
        written = article.date.strftime("%-d. %-m. %Y %H:%M"),
        author = sheet.author(),
        share = sheet.label("share"),
        body = sheet.body,
        comments_label = sheet.label("comments"),
        count = sheet.comments.len(),
        related = sheet.label("related"),
        rights = sheet.label("rights"),
        contact = sheet.label("contact"),
    )
}
