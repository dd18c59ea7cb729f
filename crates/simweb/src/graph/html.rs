//! Pages of the graph as HTML.

use std::fmt::Write;
use std::sync::OnceLock;

use super::Graph;
use super::random::{key, lognormal};
use super::section::LIST_ENTRIES;
use super::site::{Canonical, FeedLink, PAGE_BYTES, Site};
use super::text::{self, Text};
use super::trap::{TrapKind, session_path};
use crate::article::Article;
use crate::markup::escaped;
use crate::page::{Sheet, write_sheet};
use crate::profile::Profile;
use crate::rng::Rng;
use crate::spec::Spec;
use crate::text::{Grammar, Section as GrammarSection, filler_sentence, grammar};

/// A page about to be written: the site, the host and the session under which it is seen.
pub struct View<'g> {
    pub graph: &'g Graph,
    pub site: &'g Site,
    /// The path of the page itself on the canonical host.
    pub path: String,
    /// Distinguishes pages.
    pub key: u64,
    /// The session, in a trap of sessions.
    pub session: Option<u64>,
}

impl View<'_> {
    fn grammar(&self) -> &'static Grammar {
        grammar(self.site.language)
    }

    fn port(&self) -> &str {
        &self.graph.port
    }

    /// The `href` of a path of the site.
    fn local(&self, path: &str) -> String {
        escaped(&self.session.map_or_else(|| path.to_owned(), |session| session_path(session, path)))
    }

    /// List items with the front page, all sections, the imprint and the entry of the trap.
    fn navigation(&self) -> String {
        let grammar = self.grammar();
        let mut out = format!("<li><a href=\"{}\">{}</a></li>\n", self.local("/"), escaped(grammar.label("home")));
        for section in &self.site.sections {
            let _ = writeln!(out, "<li><a href=\"{}\">{}</a></li>", self.local(&section.list_path(0)), section.name);
        }
        for name in ["about", "contact"] {
            let _ =
                writeln!(out, "<li><a href=\"{}\">{}</a></li>", self.local(&format!("/{name}")), grammar.label(name));
        }
        if let Some(entry) = self.site.trap.and_then(|trap| trap.entry(self.site, self.port(), self.key)) {
            let _ = writeln!(out, "<li><a href=\"{}\">{}</a></li>", escaped(&entry), escaped(grammar.label("more")));
        }
        out
    }

    /// Feed and canonical links.
    fn head_links(&self) -> String {
        let mut out = String::new();
        let front = self.path == "/";
        if self.site.feed == FeedLink::EveryPage || front && self.site.feed == FeedLink::FrontPage {
            out.push_str("<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\">\n");
        }
        let canonical = match self.site.canonical {
            Canonical::Right => self.path.as_str(),
            Canonical::FrontPage => "/",
            Canonical::Absent => return out,
        };
        let _ = writeln!(out, "<link rel=\"canonical\" href=\"{}\">", escaped(&self.graph.url(self.site, canonical)));
        out
    }

    /// A link to another site: most to its front page, others to one of its pages.
    fn out_link(&self, rng: &mut Rng) -> Option<String> {
        let to = self.graph.site(self.graph.targets.pick(self.site, rng)?);
        let deep = rng.chance(40) && !to.sections.is_empty();
        let path = match deep {
            true => {
                let index = rng.below(to.sections.len() as u64) as usize;
                let section = &to.sections[index];
                section.page_path(index, rng.below(u64::from(section.pages)) as u32, self.graph.spec.now)
            }
            false => "/".to_owned(),
        };
        let rel = if rng.chance(10) { " rel=\"nofollow\"" } else { "" };
        let name = escaped(&to.domain);
        Some(format!("<a href=\"{}\"{rel}>{name}</a>", escaped(&self.graph.url(to, &path))))
    }

    /// Titles and paths of further pages of a section.
    fn neighbours(&self, index: usize, number: u32) -> Vec<(String, String)> {
        let section = &self.site.sections[index];
        let mut rng = Rng::named(&[self.key, 0x4E16]);
        (0..u32::from(section.branching))
            .map(|step| {
                let (index, number) = match (rng.below(100), step % 2) {
                    (0..10, _) => {
                        let index = rng.below(self.site.sections.len() as u64) as usize;
                        (index, rng.below(u64::from(self.site.sections[index].pages)) as u32)
                    }
                    (_, 0) => (index, (number + 1 + step / 2) % section.pages),
                    _ => (index, rng.below(u64::from(section.pages)) as u32),
                };
                self.entry(index, number)
            })
            .collect()
    }

    fn entry(&self, index: usize, number: u32) -> (String, String) {
        let section = &self.site.sections[index];
        let title = text::title(section.language, section.page_key(number));
        let path = section.page_path(index, number, self.graph.spec.now);
        (title, self.session.map_or(path.clone(), |session| session_path(session, &path)))
    }

    /// Links to other versions of the page, in a trap of twins.
    fn twins(&self) -> String {
        if self.site.trap != Some(TrapKind::Twins) {
            return String::new();
        }
        let path = escaped(&self.path);
        let amp = if self.path.contains('?') { "&amp;amp=1" } else { "?amp=1" };
        let mobile = format!("http://m.{}{}{path}", self.site.domain, self.port());
        format!(
            "<p class=\"tools\"><a href=\"/print{path}\">Print</a> <a href=\"{path}{amp}\">AMP</a> <a href=\"{mobile}\">Mobile</a></p>\n"
        )
    }
}

/// Writes a page with text.
pub fn write_text(view: &View<'_>, index: usize, number: u32, text: &Text) -> String {
    let site = view.site;
    let section = &site.sections[index];
    let mut rng = Rng::named(&[view.key, 0x0D7]);
    let date = section.date(number, view.graph.spec.now);
    let body = body(view, text, &mut rng);
    let canonical = if site.canonical == Canonical::FrontPage { "/" } else { &view.path };
    let article = Article {
        site: site.number as usize,
        number: u64::from(number),
        url: view.graph.url(site, canonical),
        date,
        updated: date,
        language: section.language.to_owned(),
        title: text.title.clone(),
        author: text.author.clone(),
        topics: text.topics.clone(),
        blocks: Vec::new(),
        html: None,
    };
    let own = grammar(section.language);
    let comments = (0..rng.below(3))
        .map(|_| (rng.pick(own.section(GrammarSection::First)).to_owned(), filler_sentence(own, &mut rng)))
        .collect();
    let profile = Profile::of(&Spec::default(), site.number as usize, section.language);
    let sheet = Sheet {
        article: &article,
        body,
        grammar: own,
        profile: &Profile { charset: encoding_rs::UTF_8, ..profile },
        site_name: site.domain.clone(),
        teasers: view.neighbours(index, number),
        comments,
        home: view.local("/"),
        declared: if site.template == crate::profile::Template::Semantic {
            view.head_links()
                .lines()
                .filter(|line| !line.contains("canonical"))
                .map(|line| format!("{line}\n"))
                .collect()
        } else {
            view.head_links()
        },
        navigation: format!("{}{}", view.navigation(), user_link(view)),
    };
    let html = write_sheet(site.template, &sheet);
    padded(html, (text.bytes() as f64 / section.markup_share) as usize)
}

/// The paragraphs of a text, some with a link to another site at their end.
fn body(view: &View<'_>, text: &Text, rng: &mut Rng) -> String {
    let mut body = String::with_capacity(text.bytes() + 256);
    let outgoing = rng.below(3) as usize;
    for (at, block) in text.blocks.iter().enumerate() {
        let _ = write!(body, "<p>{}", escaped(&block.text));
        if at % 3 == 1
            && at / 3 < outgoing
            && let Some(link) = view.out_link(rng)
        {
            let _ = write!(body, " {link}");
        }
        body.push_str("</p>\n");
    }
    body.push_str(&view.twins());
    body
}

/// A link to the page of a user, which robots must not follow.
fn user_link(view: &View<'_>) -> String {
    match view.key % 5 {
        0 => format!("<li><a rel=\"nofollow\" href=\"/user/{}/\">Profile</a></li>\n", view.key % 9973),
        _ => String::new(),
    }
}

/// Writes a page of a section without text: a gallery, a product or a form.
pub fn write_poor(view: &View<'_>, index: usize, number: u32) -> String {
    let section = &view.site.sections[index];
    let own = grammar(section.language);
    let mut rng = Rng::named(&[view.key, 0x900A]);
    let title = escaped(&text::title(section.language, section.page_key(number)));
    let mut main = format!("<h1>{title}</h1>\n");
    match section.key % 3 {
        0 => {
            for _ in 0..6 + rng.below(10) {
                let caption = escaped(rng.pick(own.section(GrammarSection::Objects)));
                let _ = writeln!(
                    main,
                    "<figure><img src=\"/img/{:08x}.jpg\" alt=\"\"><figcaption>{caption}</figcaption></figure>",
                    rng.bits() as u32
                );
            }
        }
        1 => {
            main.push_str("<table>\n");
            for row in 0..8 + rng.below(8) {
                let name = escaped(rng.pick(own.section(GrammarSection::Topics)));
                let _ = writeln!(
                    main,
                    "<tr><th>{name} {row}</th><td>{}</td><td>{} kg</td></tr>",
                    rng.below(9000),
                    rng.below(90)
                );
            }
            main.push_str("</table>\n<button>+</button>\n");
        }
        _ => {
            main.push_str("<form method=\"post\">\n");
            for _ in 0..6 {
                let name = escaped(rng.pick(own.section(GrammarSection::Topics)));
                let _ = writeln!(main, "<label>{name} <input name=\"f{}\"></label><br>", rng.below(99));
            }
            main.push_str("<button>OK</button></form>\n");
        }
    }
    main.push_str(&view.twins());
    let links = view.neighbours(index, number);
    let outgoing = if rng.chance(30) { view.out_link(&mut rng) } else { None };
    page(view, &title, &main, &links, outgoing.into_iter().collect())
}

/// Writes a page of the list of a section.
pub fn write_list(view: &View<'_>, index: usize, page_number: u32) -> String {
    let section = &view.site.sections[index];
    let first = page_number * LIST_ENTRIES;
    let entries: Vec<_> =
        (first..(first + LIST_ENTRIES).min(section.pages)).map(|number| view.entry(index, number)).collect();
    let mut main = format!("<h1>{} {}</h1>\n", section.name, page_number + 1);
    if page_number + 1 < section.list_pages() {
        let next = view.local(&section.list_path(page_number + 1));
        let _ = writeln!(main, "<p><a rel=\"next\" href=\"{next}\">{}</a></p>", escaped(view.grammar().label("more")));
    }
    page(view, section.name, &main, &entries, Vec::new())
}

/// Writes the front page.
pub fn write_front(view: &View<'_>) -> String {
    let mut rng = Rng::named(&[view.key, 0xF407]);
    let mut entries = Vec::new();
    for (index, section) in view.site.sections.iter().enumerate() {
        entries.extend((0..section.pages.min(6)).map(|number| view.entry(index, number)));
    }
    let outgoing = (0..3 + rng.below(6)).filter_map(|_| view.out_link(&mut rng)).collect();
    page(view, &view.site.domain, &format!("<h1>{}</h1>\n", view.site.domain), &entries, outgoing)
}

/// Writes the imprint and similar pages. Their links must not be followed.
pub fn write_service(view: &View<'_>, name: &str) -> String {
    let main =
        format!("<h1>{}</h1>\n<p>Tel. 555 0{} <a href=\"/user/1/\">Mail</a></p>\n", &name[1..], view.site.number);
    page(view, name, &main, &[], Vec::new()).replacen(
        "</title>",
        "</title>\n<meta name=\"robots\" content=\"nofollow\">",
        1,
    )
}

/// Writes the page of a user.
pub fn write_user(view: &View<'_>, number: u64) -> String {
    page(view, "Profile", &format!("<h1>User {number}</h1>\n<p>0 posts</p>\n"), &[], Vec::new())
}

/// Writes a page of a trap: links and no text.
pub fn write_trap_list(view: &View<'_>, links: &[String]) -> String {
    let mut main = String::from("<h1>Index</h1>\n<table>\n");
    for (at, link) in links.iter().enumerate() {
        let _ = writeln!(main, "<tr><td><a href=\"{}\">{}</a></td></tr>", escaped(link), at + 1);
    }
    main.push_str("</table>\n");
    page(view, "Index", &main, &[], Vec::new())
}

/// Writes a page that says that there is no such page.
pub fn write_not_found(view: &View<'_>, links: &[String]) -> String {
    let mut main = String::from("<h1>Oops</h1>\n<p>The page that you were looking for does not exist.</p>\n<ul>\n");
    for link in links {
        let _ = writeln!(main, "<li><a href=\"{link}\">{link}</a></li>");
    }
    main.push_str("</ul>\n");
    page(view, "Oops", &main, &[], Vec::new())
}

/// Writes the page of a parked domain: the template of its registrar.
pub fn write_parked(view: &View<'_>) -> String {
    let own = view.grammar();
    let mut rng = Rng::named(&[u64::from(view.site.registrar), 0x9A2C]);
    let mut main = format!(
        "<h1>{}</h1>\n<p>This domain is parked by registrar {} and may be for sale.</p>\n<ul>\n",
        view.site.domain, view.site.registrar
    );
    for _ in 0..8 {
        let topic = escaped(rng.pick(own.section(GrammarSection::Topics)));
        let _ =
            writeln!(main, "<li><a href=\"/search?q={:x}\">{topic}</a></li>", key(&[view.key, rng.bits()]) % 0xFFFF);
    }
    main.push_str("</ul>\n");
    let mut rng = Rng::named(&[view.key, 0x9A2D]);
    page(view, &view.site.domain, &main, &[], view.out_link(&mut rng).into_iter().collect())
}

/// Writes a page of a link farm: keywords and links to other hosts of this farm and of others.
pub fn write_farm(view: &View<'_>) -> String {
    let own = view.grammar();
    let mut rng = Rng::named(&[view.key, 0xFA23]);
    let mut main = String::from("<h1>Top links</h1>\n");
    let words: Vec<&str> = (0..40).map(|_| rng.pick(own.section(GrammarSection::Topics))).collect();
    let _ = writeln!(main, "<p>{}</p>", escaped(&words.join(", ")));
    let mut links = Vec::new();
    for _ in 0..20 {
        let farm = view.graph.site(rng.pick(&view.graph.farms));
        links.push((
            rng.pick(own.section(GrammarSection::Topics)).to_owned(),
            format!("http://x{}.{}{}/", rng.below(100_000), farm.domain, view.port()),
        ));
    }
    page(view, "Top links", &main, &links, view.out_link(&mut rng).into_iter().collect())
}

/// Writes a page without an article.
fn page(view: &View<'_>, title: &str, main: &str, entries: &[(String, String)], outgoing: Vec<String>) -> String {
    let own = view.grammar();
    let mut list = String::new();
    for (name, path) in entries {
        let _ = writeln!(list, "<li><a href=\"{}\">{}</a></li>", escaped(path), escaped(name));
    }
    let outgoing: String = outgoing.iter().map(|link| format!("<li>{link}</li>\n")).collect();
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"{language}\" dir=\"{direction}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n{links}</head>\n<body>\n<header><nav><ul>\n{navigation}</ul></nav></header>\n\
         <main>\n{main}<ul class=\"list\">\n{list}</ul>\n</main>\n<footer><ul>\n{outgoing}</ul>\n\
         <p>© {domain}</p></footer>\n</body>\n</html>\n",
        language = view.site.language,
        direction = own.direction(),
        links = view.head_links(),
        navigation = view.navigation(),
        domain = view.site.domain,
    );
    let bytes = lognormal(&mut Rng::named(&[view.key, 0xB17E]), PAGE_BYTES, 0.5);
    padded(html, bytes as usize)
}

/// Fills a page with a script up to a number of bytes: most bytes of real pages are no text either.
fn padded(html: String, bytes: usize) -> String {
    const TAGS: usize = "<script></script>\n".len();
    static FILLER: OnceLock<String> = OnceLock::new();
    let filler = FILLER.get_or_init(|| {
        let mut rng = Rng::named(&[0xF111]);
        let mut out = String::new();
        while out.len() < 300_000 {
            let _ = writeln!(
                out,
                "function f{:x}(a,b){{return a.get({})+b[{}]}}",
                rng.bits(),
                rng.below(999),
                rng.below(99)
            );
        }
        out
    });
    let missing = bytes.saturating_sub(html.len() + TAGS).min(filler.len());
    if missing == 0 {
        return html;
    }
    html.replacen("</head>", &format!("<script>{}</script>\n</head>", &filler[..missing]), 1)
}
