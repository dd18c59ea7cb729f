//! CSV (RFC 4180) with one row per document, for spreadsheets and data frames.
//!
//! All CSV and TSV of Tidings is written with [`quoted`]. Titles and texts come from the web, and spreadsheets run a cell
//! that begins with `=`, `+`, `-` or `@` as a formula, also if it is quoted. Such cells are text with an apostrophe
//! before them, which is what a spreadsheet itself stores for them; numbers stay numbers.

use tidings_model::Document;

/// The names of the columns.
pub(crate) const HEADER: &str =
    "id,url,title,authors,date,language,site,site_name,description,categories,tags,licence,downloaded,text\r\n";

pub(crate) fn item(document: &Document) -> String {
    row(document, ',')
}

/// The header with another sign between columns.
pub fn header(separator: char) -> String {
    HEADER.replace(',', &separator.to_string())
}

/// A row with another sign between columns, such as a tab.
pub fn row(document: &Document, separator: char) -> String {
    let about = &document.about;
    let fields = [
        document.id.as_str(),
        &document.url,
        &about.title,
        &about.authors.join("; "),
        document.dated.as_ref().map_or("", |dated| &dated.day),
        &about.language,
        &document.site,
        &about.site_name,
        &about.description,
        &about.categories.join("; "),
        &about.tags.join("; "),
        about.licence.as_ref().map_or("", |licence| &licence.name),
        &document.downloaded,
        &document.text(),
    ];
    fields.map(|field| quoted_between(field, separator)).join(&separator.to_string()) + "\r\n"
}

/// A quoted field.
pub fn quoted(field: &str) -> String {
    quoted_between(field, ',')
}

fn quoted_between(field: &str, separator: char) -> String {
    let apostrophe = if is_formula(field) { "'" } else { "" };
    let plain = !field.contains([separator, '"', '\r', '\n', '\0']) && field.trim().len() == field.len();
    match plain {
        true => format!("{apostrophe}{field}"),
        false => format!("\"{apostrophe}{}\"", field.replace('\0', "").replace('"', "\"\"")),
    }
}

/// Whether a spreadsheet would run a field as a formula. Some drop white space and control characters before it.
fn is_formula(field: &str) -> bool {
    let begins = field.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
    let is_number = || {
        begins.len() == field.len()
            && begins.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
            && begins.parse::<f64>().is_ok()
    };
    // Full-width forms are formulas in spreadsheets for Chinese and Japanese.
    begins.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_text_and_numbers_stay_numbers() {
        for (field, expected) in [
            ("=1+1", "'=1+1"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("@SUM(1+1)", "'@SUM(1+1)"),
            ("+49 30 1234", "'+49 30 1234"),
            ("- a list", "'- a list"),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("\0=1", "\"'=1\""),
            (" =1, 2", "\"' =1, 2\""),
            ("＝1+1", "'＝1+1"),
            ("-", "'-"),
            ("-1.5", "-1.5"),
            ("+3", "+3"),
            ("-2e-7", "-2e-7"),
            ("-1+2", "'-1+2"),
            ("-inf", "'-inf"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(quoted(field), expected, "{field:?}");
        }
        let mut document = sample::article();
        document.about.title = "=1+1".to_owned();
        assert!(row(&document, '\t').contains("\t'=1+1\t"), "TSV is opened by spreadsheets too");
    }

    #[test]
    fn a_row_has_the_columns_of_the_header() {
        let row = item(&sample::article());
        let mut fields = 1;
        let mut within = false;
        for c in row.chars() {
            match c {
                '"' => within = !within,
                ',' if !within => fields += 1,
                _ => {}
            }
        }
        assert_eq!(fields, HEADER.split(',').count());
        assert!(row.ends_with("\"\r\n") && row.contains("\"Rain \"\"&\"\" flood, <again>\""), "{row}");
    }
}
