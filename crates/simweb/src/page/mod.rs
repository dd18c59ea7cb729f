//! Article pages: the article with boilerplate.
//!
//! Extraction must be tested on pages with navigation, teasers, cookie banners, share bars and comments, in markup that
//! differs between sites. Each template is one file; [`Sheet`] holds the parts common to all.

mod not_article;
mod plain;
mod portal;
mod press;
mod semantic;

use std::fmt::Write;

use crate::article::Article;
use crate::country::OUTLETS;
use crate::hiding::Hidden;
use crate::markup::escaped;
use crate::profile::{FeedFormat, Profile, Template};
use crate::rng::Rng;
use crate::text::{Grammar, Lexicon, Section, filler_sentence};
use crate::world::{Extent, World};

pub use not_article::{CONSENT_WALL, write_front, write_soft_404, write_stub};

/// The ingredients of a page.
pub(crate) struct Sheet<'a> {
    pub(crate) article: &'a Article,
    /// The body of the article, already HTML.
    pub(crate) body: String,
    pub(crate) grammar: &'a Grammar,
    pub(crate) profile: &'a Profile,
    pub(crate) site_name: String,
    /// Titles and URLs of other articles.
    pub(crate) teasers: Vec<(String, String)>,
    /// Names and comments of readers.
    pub(crate) comments: Vec<(String, String)>,
    pub(crate) home: String,
    /// The lines of the head that declare feeds, and the section and the licence if they are known.
    pub(crate) declared: String,
    /// The list items of the navigation.
    pub(crate) navigation: String,
}

impl Sheet<'_> {
    fn label(&self, name: &str) -> String {
        escaped(self.grammar.label(name))
    }

    /// The lines of the head that every template needs.
    fn meta(&self) -> String {
        format!(
            "<meta charset=\"{}\">\n<title>{} | {}</title>\n{}",
            self.profile.charset.name().to_lowercase(),
            escaped(&self.article.title),
            escaped(&self.site_name),
            self.declared,
        )
    }

    fn url(&self) -> String {
        escaped(&self.article.url)
    }

    fn title(&self) -> String {
        escaped(&self.article.title)
    }

    fn author(&self) -> String {
        escaped(&self.article.author)
    }
}

/// List items that link to the sections of a site.
fn navigation(grammar: &Grammar) -> String {
    let mut out = String::new();
    for name in ["home", "news", "about", "contact"] {
        let label = escaped(grammar.label(name));
        writeln!(out, "<li><a href=\"/{}\">{label}</a></li>", if name == "home" { "" } else { name })
            .expect("writing to a string cannot fail");
    }
    for (number, topic) in grammar.section(Section::Topics).iter().enumerate() {
        writeln!(out, "<li><a href=\"/topic/t{number}\">{}</a></li>", escaped(topic))
            .expect("writing to a string cannot fail");
    }
    out
}

/// Writes a page in a template.
pub(crate) fn write_sheet(template: Template, sheet: &Sheet<'_>) -> String {
    match template {
        Template::Semantic => semantic::write(sheet),
        Template::Portal => portal::write(sheet),
        Template::Press => press::write(sheet),
        Template::Plain => plain::write(sheet),
    }
}

/// Writes the page of an article.
pub fn write(world: &World, article: &Article) -> String {
    let site = article.site;
    let mut rng = Rng::named(&[world.spec.seed, 0x9A6E, site as u64, article.number]);
    let newer = world.published(site);
    let mut teasers = Vec::new();
    for step in 1..=4 {
        // A page must not change when later articles are published, so teasers link to earlier ones only.
        if let Some(number) = article.number.checked_sub(step).filter(|number| *number < newer) {
            let other = world.article(site, number, Extent::Head);
            teasers.push((other.title, other.url));
        }
    }
    render(world, article, article.body_html(), teasers, &mut rng)
}

/// Writes a page of about this many bytes for the pool of the benchmark mode.
pub fn write_padded(world: &World, site: usize, number: u64, page_bytes: usize, lexicon: &Lexicon) -> String {
    let article = world.article(site, number, Extent::Whole);
    let mut rng = Rng::named(&[world.spec.seed, 0xF111, site as u64, number]);
    let grammar = world.grammar(site);
    let mut body = article.body_html();
    // The template takes about four kilobytes, and the last paragraph exceeds the limit.
    while body.len() + 4_000 < page_bytes {
        body.push_str("<p>");
        for _ in 0..5 {
            let sentence = filler_sentence(grammar, &mut rng);
            body.push_str(&escaped(&lexicon.enrich(&sentence, &mut rng)));
            body.push(' ');
        }
        body.push_str("</p>\n");
    }
    render(world, &article, body, Vec::new(), &mut rng)
}

fn render(world: &World, article: &Article, body: String, teasers: Vec<(String, String)>, rng: &mut Rng) -> String {
    let site = article.site;
    let grammar = world.grammar(site);
    let profile = world.profile(site);
    // The newspapers of the demo have no comments: readers would meet sentences without sense.
    let comment_count = if world.is_country() { 0 } else { rng.below(5) };
    let comments = (0..comment_count)
        .map(|_| {
            let name = rng.pick(grammar.section(Section::First)).to_string();
            (name, filler_sentence(grammar, rng))
        })
        .collect();
    let hidden = world.hidden(site);
    let sheet = Sheet {
        article,
        body,
        grammar,
        profile,
        site_name: world.site_name(site),
        teasers,
        comments,
        home: world.url(site, "/"),
        declared: feed_links(world, site, hidden.as_ref()) + &section_and_licence(world, article),
        navigation: navigation(grammar),
    };
    let html = write_sheet(profile.template, &sheet);
    match hidden {
        Some(hidden) => html.replace("</body>", &format!("{}</body>", hidden.foot(&escaped(&hidden.target)))),
        None => html,
    }
}

fn feed_links(world: &World, site: usize, hidden: Option<&Hidden>) -> String {
    match hidden {
        Some(hidden) => hidden.head(false, &escaped(&hidden.target)),
        None => {
            let format = world.profile(site).format;
            let (kind, feed) = (format.media_type(), world.url(site, format.path()));
            format!("<link rel=\"alternate\" type=\"{kind}\" href=\"{feed}\">\n")
        }
    }
}

/// The section of an article of the demo and its licence, under which its whole text may be shown.
fn section_and_licence(world: &World, article: &Article) -> String {
    let Some(section) = article.topics.first().filter(|_| world.is_country()) else { return String::new() };
    let licence = match OUTLETS[article.site].licence {
        "" => String::new(),
        code => format!("<link rel=\"license\" href=\"https://creativecommons.org/licenses/{code}/4.0/\">\n"),
    };
    format!("<meta property=\"article:section\" content=\"{}\">\n{licence}", escaped(section))
}

/// Writes the front page with links to the latest articles and all feeds.
pub fn write_home(world: &World, site: usize) -> String {
    let profile = world.profile(site);
    let name = escaped(&world.site_name(site));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\" dir=\"{}\">\n<head>\n<meta charset=\"{}\">\n<title>{name}</title>\n",
        profile.language,
        world.grammar(site).direction(),
        profile.charset.name().to_lowercase(),
    );
    let hidden = world.hidden(site);
    if let Some(hidden) = &hidden {
        out.push_str(&hidden.head(true, &escaped(&hidden.target)));
    }
    for format in FeedFormat::ALL.into_iter().filter(|_| hidden.is_none()) {
        let (kind, path) = (format.media_type(), format.path());
        out.push_str(&format!("<link rel=\"alternate\" type=\"{kind}\" title=\"{name}\" href=\"{path}\">\n"));
    }
    out.push_str(&format!("</head>\n<body>\n<h1>{name}</h1>\n<ul>\n"));
    for number in world.listed(site) {
        let article = world.article(site, number, Extent::Head);
        out.push_str(&format!("<li><a href=\"{}\">{}</a></li>\n", escaped(&article.url), escaped(&article.title)));
    }
    out.push_str("</ul>\n");
    if let Some(hidden) = &hidden {
        out.push_str(&hidden.foot(&escaped(&hidden.target)));
    }
    out.push_str("</body>\n</html>\n");
    out
}
