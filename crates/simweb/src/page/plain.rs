//! Minimal markup: a heading, a line with the date, unclosed paragraphs.

use super::Sheet;
use crate::markup::escaped;

pub fn write(sheet: &Sheet<'_>) -> String {
    let article = sheet.article;
    // Closing tags of paragraphs are optional in HTML, and some authors omit them.
    let body = sheet.body.replace("</p>\n", "\n").replace("</li>\n", "\n");
    let mut links = String::new();
    for (title, url) in &sheet.teasers {
        links.push_str(&format!("<a href=\"{}\">{}</a><br>\n", escaped(url), escaped(title)));
    }
    format!(
        "<html lang=\"{language}\" dir=\"{direction}\">\n<head>\n{meta}</head>\n<body>\n\
         <a href=\"{home}\">{site}</a> | <a href=\"/about\">{about}</a> | <a href=\"/contact\">{contact}</a>\n<hr>\n\
         <h1 id=\"main\">{title}</h1>\n<i>{author}, {day}</i>\n{body}<hr>\n{related}:<br>\n{links}\
         <small>{site}. {rights}</small>\n</body>\n</html>\n",
        language = article.language,
        direction = sheet.grammar.direction(),
        meta = sheet.meta(),
        home = sheet.home,
        site = escaped(&sheet.site_name),
        about = sheet.label("about"),
        contact = sheet.label("contact"),
        title = sheet.title(),
        author = sheet.author(),
        day = article.date.strftime("%Y-%m-%d"),
        related = sheet.label("related"),
        rights = sheet.label("rights"),
    )
}
