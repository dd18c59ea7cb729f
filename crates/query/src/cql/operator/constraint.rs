//! `:: a.lemma = b.lemma`: conditions on labelled tokens.

use super::condition::{equality_sign, parse_attribute, parse_equality};
use super::{Operator, OperatorDoc, Syntax};
use crate::cql::attribute::Attribute;
use crate::oracle::{Path, Text};
use crate::syntax::{CompiledMatcher, Cursor, Span, SyntaxError, ValueMatcher};
use std::borrow::Cow;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "constraint",
        syntax: "A :: a.x = b.y  A :: a.x = \"…\"  A :: c & d",
        meaning: "Keeps matches whose labelled tokens have the same (`=`) or different (`!=`) values, or a value that matches a text. \
            A match on whose path a label is missing is rejected.",
        examples: &[
            (r#"a:[tag="DET"] []{2} b:[tag="DET"] :: a.lemma = b.lemma"#, "the same determiner twice"),
            (r#"a:[] "," :: a.lemma = "mar.*""#, "a lemma in *mar-* before a comma"),
        ],
        templates: &[
            "x:{token} y:{token} :: x.Case = y.Case & x.lemma != y.lemma",
            "x:{token} {pattern} :: x.lemma = \"a\"",
        ],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// A comparison of a labelled token with another or with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// An attribute of a labelled token.
    pub left: Reference,
    /// `!=`
    pub negated: bool,
    /// The other side.
    pub right: Comparand,
    /// The text it was read from.
    pub span: Span,
}

/// `a.lemma`: an attribute of a labelled token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The label.
    pub label: String,
    /// The attribute of its token.
    pub attribute: Attribute,
}

/// The right side of a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparand {
    /// The value of another token.
    Reference(Reference),
    /// A text.
    Value(ValueMatcher),
}

/// Parses `:: c & d` if it comes next.
pub(crate) fn parse_constraints(cursor: &mut Cursor<'_>) -> Result<Vec<Constraint>, SyntaxError> {
    let mut constraints = Vec::new();
    if cursor.eat("::") {
        constraints.push(parse_constraint(cursor)?);
        while cursor.eat("&") {
            constraints.push(parse_constraint(cursor)?);
        }
    }
    Ok(constraints)
}

fn parse_constraint(cursor: &mut Cursor<'_>) -> Result<Constraint, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let left = parse_reference(cursor)?;
    let (negated, exact) = parse_equality(cursor)?;
    let right = match cursor.peek() {
        Some('"') => Comparand::Value(ValueMatcher::read(cursor, exact)?.0),
        _ => Comparand::Reference(parse_reference(cursor)?),
    };
    Ok(Constraint { left, negated, right, span: cursor.span_from(start) })
}

fn parse_reference(cursor: &mut Cursor<'_>) -> Result<Reference, SyntaxError> {
    let (label, _) = cursor.name("a label, as in a.lemma = b.lemma")?;
    cursor.expect(".", "and an attribute after the label")?;
    Ok(Reference { label: label.to_owned(), attribute: parse_attribute(cursor)? })
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = matches!(&self.right, Comparand::Value(value) if value.exact);
        write!(f, "{} {} ", self.left, equality_sign(self.negated, exact))?;
        match &self.right {
            Comparand::Reference(reference) => write!(f, "{reference}"),
            Comparand::Value(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.label, self.attribute.name())
    }
}

impl Constraint {
    /// Rejects labels that no token of the pattern has.
    pub(crate) fn check(&self, labels: &[String]) -> Result<(), SyntaxError> {
        let right = match &self.right {
            Comparand::Reference(reference) => Some(&reference.label),
            Comparand::Value(_) => None,
        };
        match [Some(&self.left.label), right].into_iter().flatten().find(|label| !labels.contains(label)) {
            Some(label) => Err(SyntaxError::new(self.span, format!("no token has the label {label}"))
                .help(format!("write {label}:[…] in the query"))),
            None => Ok(()),
        }
    }

    /// Compiles the constraint for the engine.
    pub(crate) fn compile(&self) -> Result<CompiledConstraint, SyntaxError> {
        let right = match &self.right {
            Comparand::Reference(reference) => CompiledComparand::Reference(reference.clone()),
            Comparand::Value(value) => CompiledComparand::Value(value.compile()?),
        };
        Ok(CompiledConstraint { left: self.left.clone(), negated: self.negated, right })
    }

    /// The oracle.
    pub(crate) fn oracle_holds(&self, text: &Text<'_>, path: &Path) -> bool {
        let token = |reference: &Reference| path.labels.get(&reference.label).map(|token| text.tokens[*token]);
        let attribute = self.left.attribute;
        let Some(left) = token(&self.left) else { return false };
        match &self.right {
            Comparand::Value(value) => left.matches(attribute, value) != self.negated,
            Comparand::Reference(reference) => token(reference).is_some_and(|right| {
                let left = left.value(attribute);
                let right = right.value(reference.attribute);
                let has_no_value = matches!(attribute, Attribute::Feature(_)) && left.is_empty();
                (left == right && !has_no_value) != self.negated
            }),
        }
    }
}

/// A constraint as the engine evaluates it.
#[derive(Debug)]
pub(crate) struct CompiledConstraint {
    left: Reference,
    negated: bool,
    right: CompiledComparand,
}

#[derive(Debug)]
enum CompiledComparand {
    Reference(Reference),
    Value(CompiledMatcher),
}

impl CompiledConstraint {
    /// Returns true if the constraint holds, given the values of labelled tokens.
    pub(crate) fn holds<'v>(&self, value: &impl Fn(&Reference) -> Option<Cow<'v, str>>) -> bool {
        let Some(left) = value(&self.left) else { return false };
        let attribute = self.left.attribute;
        let same = match &self.right {
            CompiledComparand::Reference(right) => value(right).map(|right| attribute.agrees(&left, &right)),
            CompiledComparand::Value(matcher) => Some(attribute.fits(matcher, &left)),
        };
        same.is_some_and(|same| same != self.negated)
    }
}
