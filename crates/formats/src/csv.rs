//! CSV (RFC 4180) with one row per document, for spreadsheets and data frames.

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
    let plain = !field.contains([separator, '"', '\r', '\n', '\0']) && field.trim().len() == field.len();
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('\0', "").replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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
