//! `A cut 10`: the first hits only.

use super::{Operator, OperatorDoc, Syntax};
use crate::syntax::{Cursor, Span, SyntaxError};

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "cut",
        syntax: "A cut 10",
        meaning: "Keeps the first hits in the order of the corpus, the oldest documents first. A sample is fairer: `--sample 10`.",
        examples: &[(r#"[lemma="oil"] cut 10"#, "the first ten hits")],
        templates: &["{pattern} cut 1", "{pattern} within <s/> cut 3", "{token} expand to s cut 2"],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// Parses `cut N` if it comes next.
pub(crate) fn parse_cut(cursor: &mut Cursor<'_>) -> Result<Option<u64>, SyntaxError> {
    if !is_next(cursor) {
        return Ok(None);
    }
    cursor.take_name();
    cursor.skip_blanks();
    let start = cursor.at();
    let number = cursor.number()?;
    if number == 0 {
        return Err(SyntaxError::new(Span::new(start, cursor.at()), "cut 0 leaves no hit"));
    }
    Ok(Some(number.into()))
}

/// Returns true if `cut` and a number end the query; `cut 10 percent` are words.
pub(super) fn is_next(cursor: &mut Cursor<'_>) -> bool {
    let name = cursor.peek_name();
    let rest = cursor.rest()[name.len()..].trim().trim_end_matches(';').trim_end();
    name == "cut" && !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}
