//! `(A)`: parentheses. They leave no node; `Display` writes them again where precedence needs them.

use super::nested;
use super::{Operator, OperatorDoc, Pattern, Syntax, parse_pattern};
use crate::syntax::{Cursor, SyntaxError};

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "group",
        syntax: "(A)",
        meaning: "Matches what `A` matches; a repetition applies to the whole group.",
        examples: &[(r#"("very" | "so"){2,} [tag="ADJ"]"#, "*very so good*, *very very good*")],
        templates: &["({pattern})", "({pattern} {token})+"],
    },
    signs: "()",
    syntax: Syntax::Primary(parse),
};

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.eat("(") {
        return Ok(None);
    }
    let inner = parse_pattern(cursor)?;
    let inner = nested::parse_after(cursor, inner)?;
    cursor.expect(")", "to close the group")?;
    Ok(Some(Pattern { span: cursor.span_from(start), ..inner }))
}
