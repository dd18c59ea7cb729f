//! The region of a page in which a link stands.
//!
//! Navigation is known by its elements, roles and class names. Elsewhere the share of link text decides: blocks that
//! consist of links are lists, others are running text.

use html5ever::local_name;
use tidings_model::LinkRegion;

use super::collect::Occurrence;
use crate::article::evidence::hides;
use crate::tree::{NodeId, Tree};

/// The share of link text from which on a block is a list of links.
const LIST_SHARE: f64 = 0.75;
/// The same for items of lists.
const ITEM_SHARE: f64 = 0.5;

/// Words in class names and ids of navigation.
const NAVIGATION: &[&str] = &[
    "nav",
    "navi",
    "navbar",
    "navigation",
    "menu",
    "submenu",
    "megamenu",
    "dropdown",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "pager",
    "footer",
    "sidebar",
    "topbar",
    "toolbar",
    "masthead",
    "social",
    "share",
    "sharing",
    "cookie",
    "cookies",
    "consent",
    "newsletter",
    "tagcloud",
    "login",
];

/// Words before those that speak of the layout of the page: `has-sidebar`.
const LAYOUT: &[&str] = &["has", "with", "without", "no", "is", "layout", "left", "right", "show", "hide"];

/// What a block passes on to the blocks within.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Context {
    is_navigation: bool,
    /// Within `<main>`, `<article>` or `<section>`: a `<header>` there is that of a text.
    in_content: bool,
    in_item: bool,
}

/// A block-level element that is open during the walk.
#[derive(Default)]
pub(super) struct Block {
    pub node: Option<NodeId>,
    pub is_heading: bool,
    /// Characters of text directly in it, without white space.
    pub chars: usize,
    /// Those of them in links.
    pub link_chars: usize,
    pub links: Vec<Occurrence>,
    context: Context,
}

impl Block {
    pub fn new(tree: &Tree, id: NodeId, above: Context) -> Block {
        let is = |names: &[&str]| tree.name(id).is_some_and(|name| names.contains(&&**name));
        Block {
            node: Some(id),
            is_heading: is(&["h1", "h2", "h3", "h4", "h5", "h6"]),
            context: Context {
                is_navigation: above.is_navigation || is_navigation(tree, id, above),
                in_content: above.in_content || is(&["main", "article", "section"]),
                in_item: above.in_item || is(&["li", "dt", "dd"]),
            },
            ..Block::default()
        }
    }

    pub fn context(&self) -> Context {
        self.context
    }

    /// The region of one of its links.
    pub fn region_of(&self, link: &Occurrence) -> LinkRegion {
        let share = self.link_chars as f64 / self.chars.max(1) as f64;
        let least = if self.context.in_item { ITEM_SHARE } else { LIST_SHARE };
        if self.context.is_navigation {
            LinkRegion::Navigation
        } else if self.is_heading {
            LinkRegion::Text
        } else if link.is_card || self.chars == 0 || share >= least {
            LinkRegion::List
        } else {
            LinkRegion::Text
        }
    }
}

fn is_navigation(tree: &Tree, id: NodeId, above: Context) -> bool {
    let Some(name) = tree.name(id) else { return false };
    let role = tree.attrs(id).iter().find(|attribute| &*attribute.name.local == "role").map(|role| role.value.trim());
    if let Some("navigation" | "menu" | "menubar" | "banner" | "contentinfo" | "complementary" | "search" | "dialog") =
        role
    {
        return true;
    }
    match *name {
        local_name!("nav") | local_name!("footer") | local_name!("aside") | local_name!("menu") => true,
        local_name!("header") => !above.in_content,
        // ASP.NET puts the whole page into a form.
        local_name!("form") => !tree.parent(id).is_some_and(|parent| tree.is(parent, &local_name!("body"))),
        local_name!("html") | local_name!("body") | local_name!("main") | local_name!("article") => false,
        _ => {
            let names = [local_name!("class"), local_name!("id")];
            names.iter().filter_map(|name| tree.attr(id, name)).any(names_navigation)
        }
    }
}

/// Returns true if a class name begins or ends with a word of navigation.
fn names_navigation(classes: &str) -> bool {
    let is_known = |words: &[&str], word: &str| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    classes.split_ascii_whitespace().take(16).any(|class| {
        let mut words = class.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let Some(first) = words.next() else { return false };
        is_known(NAVIGATION, first)
            || words.next_back().is_some_and(|last| is_known(NAVIGATION, last)) && !is_known(LAYOUT, first)
    })
}

/// Returns true if browsers do not show an element and what is below it.
pub(super) fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    let Some(name) = tree.name(id) else { return false };
    let has = |name| tree.attr(id, &name).is_some();
    match *name {
        local_name!("script") | local_name!("style") | local_name!("head") | local_name!("textarea") => true,
        local_name!("select") | local_name!("svg") | local_name!("math") | local_name!("iframe") => true,
        // Its contents are elsewhere in the tree, unless it is a shadow root, which is shown.
        local_name!("template") => !tree.attrs(id).iter().any(|attribute| &*attribute.name.local == "shadowrootmode"),
        local_name!("dialog") if !has(local_name!("open")) => true,
        _ => {
            has(local_name!("hidden"))
                || tree.attr(id, &local_name!("style")).is_some_and(|style| hides(&style.to_ascii_lowercase()))
        }
    }
}
