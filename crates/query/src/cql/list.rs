//! Several queries in one text, separated by commas.

/// Divides a text at commas outside of brackets, parentheses, braces and quotes. Empty parts are left out.
///
/// ```
/// let parts = tidings_query::cql::split_queries(r#"who, [word="a,b"] []{1,2}, "x, y""#);
/// assert_eq!(parts, ["who", r#"[word="a,b"] []{1,2}"#, r#""x, y""#]);
/// ```
pub fn split_queries(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut escaped, mut start) = (Vec::new(), 0usize, false, false, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::split_queries;

    #[test]
    fn commas_divide_queries_unless_they_are_inside_of_one() {
        assert_eq!(split_queries("whom,  who ,,"), ["whom", "who"]);
        assert_eq!(split_queries(r#"[lemma="a"] []{0,3} b, c"#), [r#"[lemma="a"] []{0,3} b"#, "c"]);
        assert_eq!(split_queries(r#""a\",b", c"#), [r#""a\",b""#, "c"]);
        assert_eq!(split_queries("] a, b"), ["] a", "b"]);
        assert!(split_queries(" , ").is_empty());
    }
}
