//! Articles written by hand, one file a year and language.
//!
//! ```text
//! ## 2018-07-21 courier.example environment
//! title: Westmere counts its water by the hour
//! author: Colin Breck
//! tags: water, drought
//!
//! First paragraph.
//! ```

use jiff::civil::Date;

use super::section;

/// An article of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub day: Date,
    pub host: &'static str,
    pub section: &'static str,
    pub title: &'static str,
    /// Empty for agency reports.
    pub author: &'static str,
    pub tags: Vec<&'static str>,
    pub paragraphs: Vec<&'static str>,
}

/// The articles of a file in their order; an error names the head that is wrong.
pub fn parse(file: &'static str) -> Result<Vec<Written>, String> {
    file.split("\n## ").map(|article| article.strip_prefix("## ").unwrap_or(article)).map(parse_article).collect()
}

fn parse_article(text: &'static str) -> Result<Written, String> {
    let (head, rest) = text.split_once('\n').ok_or_else(|| format!("no text after `{text}`"))?;
    let wrong = |what: &str| format!("{what} in `{head}`");
    let mut words = head.split_whitespace();
    let mut word = |what: &str| words.next().ok_or_else(|| wrong(what));
    let day: Date = word("no date")?.parse().map_err(|_| wrong("no valid date"))?;
    let (host, section_name) = (word("no outlet")?, word("no section")?);
    if !section::is_known(section_name) {
        return Err(wrong("unknown section"));
    }
    let (fields, body) = rest.split_once("\n\n").ok_or_else(|| wrong("no body"))?;
    let field = |name: &str| {
        let line = fields.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_default().trim()
    };
    let title = field("title");
    if title.is_empty() {
        return Err(wrong("no title"));
    }
    let tags = field("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
    let paragraphs = body.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()).collect();
    Ok(Written { day, host, section: section_name, title, author: field("author"), tags, paragraphs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn an_article_has_a_head_fields_and_paragraphs() {
        let file = "## 2018-07-21 courier.example environment\ntitle: Low water\nauthor: A B\ntags: water, lake\n\nOne.\n\n\
                    Two.\n\n## 2018-07-22 hna.example court\ntitle: Verdict\n\nThree.\n";
        let articles = parse(file).unwrap();
        assert_eq!(articles.len(), 2);
        assert_eq!((articles[0].day, articles[0].host), (date(2018, 7, 21), "courier.example"));
        assert_eq!(
            (articles[0].tags.as_slice(), articles[0].paragraphs.as_slice()),
            (&["water", "lake"][..], &["One.", "Two."][..])
        );
        assert_eq!((articles[1].author, articles[1].section), ("", "court"));
    }

    #[test]
    fn a_wrong_head_is_named() {
        for wrong in
            ["## x courier.example court\ntitle: T\n\nA.", "## 2018-07-21\ntitle: T\n\nA.", "## 2018-07-21 a b\n\nA."]
        {
            assert!(parse(wrong).unwrap_err().contains('`'), "{wrong}");
        }
    }
}
