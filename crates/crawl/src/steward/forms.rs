//! Forms of URLs, whatever their site: `/about` has no text anywhere, `/*.html` often has.
//!
//! The appeal of a form is the share of its pages with new text beside that of all pages, drawn to one. It is learned
//! from the first pages of each section, so that a large site has no more to say than a small one, and it tells apart
//! the sections of a site of which too few pages are known.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::domain::host_of;

/// Pages of a section that teach.
pub const FORM_PAGES: u64 = 6;
/// The most forms that are remembered, at 24 bytes; the common ones are met early.
const MAX_FORMS: usize = 65_536;
/// Pages with the mean of all that are added to those of a form.
const WEIGHT: f64 = 3.0;
/// The least appeal: pages without text may be lists of pages with it.
const LEAST_APPEAL: f64 = 0.1;
/// The largest appeal.
const LARGEST_APPEAL: f64 = 2.0;

/// Pages, and those with new text.
type Counts = (f32, f32);

/// What the forms of URLs tell.
#[derive(Debug, Default)]
pub struct Forms {
    forms: HashMap<u64, Counts>,
    all: (f64, f64),
}

impl Forms {
    /// Counts pages of a section, of which some have new text.
    pub fn add(&mut self, section: &str, pages: f64, with_text: f64) {
        self.all.0 += pages;
        self.all.1 += with_text;
        let key = form_key(section);
        if self.forms.len() >= MAX_FORMS && !self.forms.contains_key(&key) {
            return;
        }
        let counts = self.forms.entry(key).or_default();
        counts.0 += pages as f32;
        counts.1 += with_text as f32;
    }

    /// The appeal of the form of a section: 1 is that of a mean page.
    pub fn appeal(&self, section: &str) -> f64 {
        let Some(&(pages, with_text)) = self.forms.get(&form_key(section)) else { return 1.0 };
        let mean = (self.all.1 + 1.0) / (self.all.0 + 4.0);
        let share = (f64::from(with_text) + WEIGHT * mean) / (f64::from(pages) + WEIGHT);
        (share / mean).clamp(LEAST_APPEAL, LARGEST_APPEAL)
    }
}

fn form_key(section: &str) -> u64 {
    xxh3_64(&section.as_bytes()[host_of(section).len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_without_text_on_many_sites_loses_its_appeal() {
        let mut forms = Forms::default();
        for site in 0..20 {
            forms.add(&format!("s{site}.example/about"), 1.0, 0.0);
            forms.add(&format!("s{site}.example/*.html"), 6.0, 3.0);
        }
        assert!(forms.appeal("new.example/about") < 0.4, "{}", forms.appeal("new.example/about"));
        assert!(forms.appeal("new.example/*.html") > 1.0);
        assert!((forms.appeal("new.example/never/seen/*") - 1.0).abs() < 1e-9);
    }
}
