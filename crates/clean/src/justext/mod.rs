//! jusText: boilerplate removal by paragraph length, link density and stop words.
//!
//! Corpora have been cleaned this way since 2011, and comparing a new corpus with an old one needs
//! the same behaviour rather than a better one. So this is the published method (J. Pomikálek,
//! *Removing Boilerplate and Duplicate Content from Web Corpora*, Brno 2011) with the quirks of the
//! two implementations in use, listed in [`Edition`]. The page is segmented into paragraphs
//! (`segment.rs`); each is classified by itself, then the undecided ones by their neighbours
//! (`classify.rs`).
//!
//! ```
//! use tidings_clean::{justext, tree};
//!
//! let text = "None of those who had been there in the summer would have said that it was a small place.";
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

/// Parameters of jusText. Lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JustextOptions {
    /// Shorter paragraphs are classified as short.
    pub length_low: usize,
    /// Longer paragraphs with many stop words are good.
    pub length_high: usize,
    /// Paragraphs with a lower stop word density are bad.
    pub stopwords_low: f64,
    /// Paragraphs with at least this stop word density are good or near-good.
    pub stopwords_high: f64,
    /// Paragraphs with a higher link density are bad.
    pub max_link_density: f64,
    /// Maximum distance of a neighbour that counts, in paragraphs; see
    /// [`JustextOptions::production`].
    pub max_good_distance: Option<usize>,
    /// Maximum distance of a heading before a good paragraph, in characters of the text between
    /// them.
    pub max_heading_distance: usize,
    /// Whether headings are treated like other paragraphs.
    pub no_headings: bool,
    /// The implementation to follow.
    pub edition: Edition,
}

/// The two implementations of jusText. They share the rules and differ in details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// The Python package. White space between two elements is lost, and with it the space between
    /// words in different elements; line breaks of the source stay in the text; headings are first
    /// checked before any paragraph has a final class, so only the second check has an effect.
    Package,
    /// The program from corpus.tools. White space always counts as a space, and headings are
    /// checked twice. (It also ignores white space between two `<br>`; this implementation does
    /// not.)
    CorpusTools,
}

impl JustextOptions {
    /// Parameters and edition used for monitor corpora.
    ///
    /// `max_good_distance` limits the search for a neighbour: an undecided paragraph with neither a
    /// good nor a bad one among the next four on a side (fewer than the five of the option, as
    /// corpus.tools counts) has a bad neighbour on that side. Near-good paragraphs are decided from
    /// the top, and decided ones count for the next: a run of them follows a good one above it,
    /// however long it is.
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

    /// Parses `production` or `public`, followed by overrides: `public,length_high=140`.
    fn from_str(text: &str) -> Result<JustextOptions, String> {
        let mut parts = text.split(',').map(str::trim);
        let mut options = match parts.next() {
            Some("production") => JustextOptions::production(),
            Some("public") => JustextOptions::public(),
            other => {
                return Err(format!(
                    "unknown jusText preset `{}`; use production or public",
                    other.unwrap_or_default()
                ));
            }
        };
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not NAME=VALUE"))?;
            let whole = || value.parse::<usize>().map_err(|_| format!("{name} = {value} is not a whole number"));
            let share = || match value.parse::<f64>() {
                Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
                _ => Err(format!("{name} = {value} is out of range; give a number from 0 to 1")),
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
                _ => return Err(format!("unknown jusText parameter `{name}`")),
            }
        }
        Ok(options)
    }
}

/// Class of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Running text.
    Good,
    /// Possibly running text; context-free classification only.
    NearGood,
    /// Too short to decide; context-free classification only.
    Short,
    /// Boilerplate.
    Bad,
}

/// A classified paragraph.
#[derive(Debug, Clone)]
pub struct JustextParagraph {
    /// The text, never empty.
    pub text: String,
    /// The final class: good or bad.
    pub class: Class,
    /// The context-free class.
    pub alone: Class,
    /// Whether it is in a heading.
    pub heading: bool,
    /// Share of its characters in links.
    pub link_density: f64,
    /// Share of stop words; `None` if the stop list is off.
    pub stop_word_density: Option<f64>,
    /// The innermost element around its beginning.
    pub node: NodeId,
}

impl JustextParagraph {
    /// Returns whether the paragraph is kept.
    pub fn is_good(&self) -> bool {
        self.class == Class::Good
    }
}

/// Classifies the paragraphs of a page; bad ones are included for inspection.
///
/// With a stop list that is off, as for Chinese, only length and links count.
pub fn paragraphs(tree: &Tree, stop_list: &StopList, options: &JustextOptions) -> Vec<JustextParagraph> {
    let segments = segment::segment(tree, options.edition);
    classify::classify(segments, stop_list, options)
}
