//! Plain text: paragraphs separated by an empty line, items and rows by a line end. No characters are added, because
//! they would be counted as words.

use tidings_model::{Document, Paragraph, ParagraphKind};

pub(crate) fn write(document: &Document) -> String {
    let mut out = String::new();
    push(&document.paragraphs, &mut out);
    push(&document.comments, &mut out);
    out
}

fn push(paragraphs: &[Paragraph], out: &mut String) {
    let mut before = None;
    for paragraph in paragraphs {
        let together = matches!(
            (before, paragraph.kind),
            (Some(ParagraphKind::Item { .. }), ParagraphKind::Item { .. })
                | (Some(ParagraphKind::Row { .. }), ParagraphKind::Row { .. })
        );
        if !out.is_empty() && !together {
            out.push('\n');
        }
        // Control characters are removed.
        out.extend(paragraph.text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()));
        out.push('\n');
        before = Some(paragraph.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn no_characters_are_added() {
        let text = write(&sample::article());
        assert_eq!(
            text,
            "Rain & flood\n\nIt rained *hard*,\nfor three days.\n\nOne\nInner\nTwo\n\nWe carried our chairs.\n\n\
             fn main() {\n    println!(\"`\");\n}\n\nDay\tWater\nMonday\t2 | 3 m\n\nWell said.\n"
        );
    }
}
