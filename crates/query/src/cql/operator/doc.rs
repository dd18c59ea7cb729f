//! The documentation of operators, from which the reference in docs/notes/cql.md is made.

use super::OPERATORS;
use std::fmt::Write;

/// The documentation of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorDoc {
    /// The name, by which `fixtures/queries.tsv` groups its rows.
    pub name: &'static str,
    /// The syntax, with `A` and `B` for patterns; variants are separated by two blanks.
    pub syntax: &'static str,
    /// The meaning, in one or two sentences.
    pub meaning: &'static str,
    /// Queries, each with what it finds.
    pub examples: &'static [(&'static str, &'static str)],
    /// Shapes for randomized tests: `{pattern}` and `{token}` are replaced by random ones.
    pub templates: &'static [&'static str],
}

/// The documentation of all operators.
pub fn operator_docs() -> impl Iterator<Item = &'static OperatorDoc> {
    OPERATORS.iter().map(|operator| &operator.doc)
}

/// The reference of all operators as a Markdown table.
pub fn reference() -> String {
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let mut table = String::from("| operator | syntax | meaning | example |\n| --- | --- | --- | --- |\n");
    for doc in operator_docs() {
        let examples: Vec<String> =
            doc.examples.iter().map(|(query, finds)| format!("{}: {finds}", code(query))).collect();
        let syntax: Vec<String> = doc.syntax.split("  ").map(code).collect();
        let (syntax, meaning) = (syntax.join(" "), doc.meaning.replace('|', "\\|"));
        writeln!(table, "| {} | {syntax} | {meaning} | {} |", doc.name, examples.join("; "))
            .expect("a string takes any text");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql;
    use std::collections::BTreeSet;

    #[test]
    fn every_example_parses_and_prints_as_the_same_query() {
        for doc in operator_docs() {
            assert!(!doc.examples.is_empty(), "{} has no example", doc.name);
            for (text, _) in doc.examples {
                let query = cql::parse(text).unwrap_or_else(|error| panic!("{}: {}", doc.name, error.render(text)));
                assert_eq!(cql::parse(&query.to_string()).as_ref(), Ok(&query), "{text}");
            }
        }
    }

    #[test]
    fn every_template_parses_with_simple_operands() {
        for doc in operator_docs() {
            for template in doc.templates {
                let text = template.replace("{pattern}", "[]").replace("{token}", "[tag=\"N\"]");
                cql::parse(&text).unwrap_or_else(|error| panic!("{}: {}", doc.name, error.render(&text)));
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = operator_docs().map(|doc| doc.name).collect();
        assert_eq!(names.len(), OPERATORS.len());
    }
}
