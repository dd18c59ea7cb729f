//! jusText: paragraphs that read like running text, told by length, links and stop words alone.
//!
//! Corpora have been cleaned this way since 2011, and whoever compares a new corpus with an old one
//! needs the old behaviour rather than a better one. So this is the method as published
//! (J. Pomikálek, *Removing Boilerplate and Duplicate Content from Web Corpora*, Brno 2011), with
//! the habits of the two programs in use, down to those that look like slips; [`Edition`] lists
//! them. The page is cut into paragraphs (`segment.rs`), each is judged alone, then those in doubt
//! follow their neighbours (`classify.rs`).
//!
//! ```
//! use tidings_clean::{justext, tree};
//!
//! let text = "Nobody who had ever been there in the summer would have said that it was a small place.";
//! let page = tree::parse(&format!("<ul><li><a href=/>Home</a></ul><p>{text}"));
//! let english = tidings_lang::stop_list("en").unwrap();
//! let paragraphs = justext::paragraphs(&page, english, &justext::JustextOptions::public());
//! assert_eq!(paragraphs[0].alone, justext::Class::Bad);
//! assert_eq!(paragraphs[1].alone, justext::Class::NearGood);
//! ```

mod classify;
mod segment;

use tidings_lang::StopList;

use crate::tree::{NodeId, Tree};

/// When a paragraph is good. Lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JustextOptions {
    /// Shorter paragraphs cannot speak for themselves.
    pub length_low: usize,
    /// Longer paragraphs with many stop words are good.
    pub length_high: usize,
    /// With a smaller share of stop words among its words, a paragraph is bad.
    pub stopwords_low: f64,
    /// With at least this share of stop words, a paragraph is good or nearly so.
    pub stopwords_high: f64,
    /// With a greater share of characters in links, a paragraph is bad.
    pub max_link_density: f64,
    /// How far away a neighbour may be and still count, in paragraphs; see [`JustextOptions::production`].
    pub max_good_distance: Option<usize>,
    /// How far before a good paragraph a heading may stand, in characters of the text between them.
    pub max_heading_distance: usize,
    /// Whether headings are judged like any other paragraph.
    pub no_headings: bool,
    /// Whose habits to follow.
    pub edition: Edition,
}

/// The two programs that are called jusText. They share rules and differ in habits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// The Python package. White space that stands alone between two elements is lost, and with it the
    /// space between two words in different elements; a line break of the source stays one in
    /// the text; headings are first looked after when no paragraph has a class yet, so that only the
    /// second look finds any.
    Package,
    /// The program of corpus.tools. White space is a space wherever it stands, and headings are looked
    /// after twice. (It also lets white space between two `<br>` join what they part; we do
    /// not follow it there.)
    CorpusTools,
}

impl JustextOptions {
    /// The values, and the edition, that monitor corpora are made with.
    ///
    /// `max_good_distance` ends the search for a neighbour to follow: a paragraph in doubt that meets
    /// neither a good nor a bad one among the next four on a side (fewer than the five of the
    /// option, which is how corpus.tools counts) has a bad neighbour on that side. Near-good
    /// paragraphs are settled from the top, and one that was settled counts for the next: a
    /// run of them still follows a good one above it however long it is.
    pub const fn production() -> JustextOptions {
        JustextOptions {
            length_low: 70,
            length_high: 140,
            stopwords_low: 0.15,
            stopwords_high: 0.30,
            max_link_density: 0.4,
            max_good_distance: Some(5),
            max_heading_distance: 500,
            no_headings: false,
            edition: Edition::CorpusTools,
        }
    }

    /// The defaults of the Python package.
    pub const fn public() -> JustextOptions {
        JustextOptions {
            length_low: 70,
            length_high: 200,
            stopwords_low: 0.30,
            stopwords_high: 0.32,
            max_link_density: 0.2,
            max_good_distance: None,
            max_heading_distance: 200,
            no_headings: false,
            edition: Edition::Package,
        }
    }
}

impl std::str::FromStr for JustextOptions {
    type Err = String;

    /// Reads `production` or `public`, and behind it single values: `public,length_high=140`.
    fn from_str(text: &str) -> Result<JustextOptions, String> {
        let mut parts = text.split(',').map(str::trim);
        let mut options = match parts.next() {
            Some("production") => JustextOptions::production(),
            Some("public") => JustextOptions::public(),
            other => return Err(format!("{} is neither production nor public", other.unwrap_or_default())),
        };
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("{part} is not NAME=VALUE"))?;
            let whole = || value.parse::<usize>().map_err(|_| format!("{value} is no whole number for {name}"));
            let share = || match value.parse::<f64>() {
                Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
                _ => Err(format!("{value} is not between 0 and 1, as {name} must be")),
            };
            match name {
                "length_low" => options.length_low = whole()?,
                "length_high" => options.length_high = whole()?,
                "stopwords_low" => options.stopwords_low = share()?,
                "stopwords_high" => options.stopwords_high = share()?,
                "max_link_density" => options.max_link_density = share()?,
                "max_good_distance" => options.max_good_distance = Some(whole()?),
                "max_heading_distance" => options.max_heading_distance = whole()?,
                "no_headings" => options.no_headings = value == "true",
                _ => return Err(format!("jusText has no parameter {name}")),
            }
        }
        Ok(options)
    }
}

/// What a paragraph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Running text.
    Good,
    /// Perhaps running text; only before the neighbours were asked.
    NearGood,
    /// Too short to tell; only before the neighbours were asked.
    Short,
    /// Boilerplate.
    Bad,
}

/// A paragraph and what became of it.
#[derive(Debug, Clone)]
pub struct JustextParagraph {
    /// Its text, which is never empty.
    pub text: String,
    /// Good or bad.
    pub class: Class,
    /// What it looked like before its neighbours were asked.
    pub alone: Class,
    /// Whether it stands in a heading.
    pub heading: bool,
    /// The share of its characters that are links.
    pub link_density: f64,
    /// The share of its words that are stop words; none where the stop list is off.
    pub stop_word_density: Option<f64>,
    /// The innermost element around its beginning.
    pub node: NodeId,
}

impl JustextParagraph {
    /// Whether it is to be kept.
    pub fn is_good(&self) -> bool {
        self.class == Class::Good
    }
}

/// The paragraphs of a page in order, the bad ones too, so that they can be shown.
///
/// A stop list that is off, as for Chinese, leaves the decision to length and links.
pub fn paragraphs(tree: &Tree, stop_list: &StopList, options: &JustextOptions) -> Vec<JustextParagraph> {
    let segments = segment::cut(tree, options.edition);
    classify::classify(segments, stop_list, options)
}
