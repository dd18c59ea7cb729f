//! `:: a.lemma = b.lemma`, `& 1.lemma = 2.lemma`: conditions on labelled tokens.

use super::comparator::{Comparator, number_of, parse_number};
use super::condition::{Quantity, equality_sign, parse_attribute, parse_equality, parse_quantity};
use super::label::RESERVED;
use super::{Operator, OperatorDoc, Region, Restriction, RestrictionKind, Structure, Syntax, Target};
use crate::cql::attribute::Attribute;
use crate::filter::{FieldPredicate, FieldTest, Filter};
use crate::oracle::{Path, Text, TokenSpan};
use crate::syntax::{CompiledMatcher, Cursor, Logic, Span, SyntaxError, ValueMatcher};
use std::borrow::Cow;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "constraint",
        syntax: "A :: a.x = b.y  A :: a.x = \"…\"  A :: f(a.x) > 100  A :: match.doc_site = \"…\"  A & c & d",
        meaning: "Keeps matches whose labelled tokens have the same (`=`) or different (`!=`) values, or a value that matches a text. \
            `f(a.x)` is the number of tokens of the whole corpus with the same value; numbers also have `<`, `<=`, `>` and `>=`. \
            `match` and `matchend` are the first and the last token of the match, `match.doc_site` the field `site` of its document. \
            A match on whose path a label is missing is rejected. `::` or `&` begins each condition, before or after `within`.",
        examples: &[
            (r#"a:[tag="DET"] []{2} b:[tag="DET"] :: a.lemma = b.lemma"#, "the same determiner twice"),
            (r#"1:[] "and" 2:[] & 1.lemma = 2.lemma within <s/>"#, "the same as Sketch Engine writes it"),
            (r#"a:[] "," :: a.lemma = "mar.*""#, "a lemma in *mar-* before a comma"),
            (r#"1:[tag="ADJ"] [tag="NOUN"] & f(1.lemma) < 100"#, "a noun after a rare adjective"),
            (r#"[tag="NOUN"]{2} :: match.lemma = matchend.lemma"#, "the same noun twice"),
            (r#"[lemma="go"] :: match.doc_topic = "sport""#, "*go* in documents about sport"),
        ],
        templates: &[
            "x:{token} y:{token} :: x.Case = y.Case & x.lemma != y.lemma",
            "x:{token} {pattern} :: x.lemma = \"a\"",
            "1:{token} {pattern} 2:[] & 1.word = 2.word within <s/>",
            "1:{token} {pattern} & f(1.word) > 3 & f(1.lc) <= f(matchend.lemma)",
            "{pattern} :: match.lemma = matchend.lemma",
            "{pattern} :: match.doc_genre = \"blog\" & match.tag != \"N\"",
            "1:{token} 2:{token} & 1.syllables < 2.syllables",
        ],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// A comparison of a labelled token with another, with a text or with a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// An attribute of a labelled token.
    pub left: Reference,
    /// `!=`
    pub negated: bool,
    /// `<`, `<=`, `>`, `>=` of numbers.
    pub comparator: Comparator,
    /// The other side.
    pub right: Comparand,
    /// The text it was read from.
    pub span: Span,
}

/// `a.lemma`, `f(a.lemma)`: an attribute of a labelled token, or its frequency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The label.
    pub label: String,
    /// The attribute of its token.
    pub attribute: Attribute,
    /// Its value, or how frequent that is.
    pub quantity: Quantity,
}

/// The right side of a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparand {
    /// The value of another token.
    Reference(Reference),
    /// A text; of an ordering or a frequency, a number.
    Value(ValueMatcher),
}

/// A condition after `::`: one on labelled tokens, or one on the document, which is a restriction.
pub(super) enum Condition {
    Constraint(Constraint),
    Document(Restriction),
}

pub(super) fn parse_condition(cursor: &mut Cursor<'_>) -> Result<Condition, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if let Some(field) = parse_document_field(cursor)? {
        let (negated, exact) = parse_equality(cursor)?;
        let (value, _) = ValueMatcher::read(cursor, exact)?;
        let span = cursor.span_from(start);
        let test = FieldTest { field: field.0, predicate: FieldPredicate::Text { negated, value }, span: field.1 };
        test.compile()?;
        let filter = Some(Filter { condition: Logic::Test(test) });
        let region = Region { filter, span, ..Region::of(Structure::Document) };
        let target = Target::Region(region);
        return Ok(Condition::Document(Restriction { kind: RestrictionKind::Within, negated: false, target, span }));
    }
    let left = parse_reference(cursor)?;
    let (negated, exact, comparator) = match Comparator::parse_order(cursor) {
        Some(order) => (false, false, order),
        None => {
            let (negated, exact) = parse_equality(cursor)?;
            (negated, exact, Comparator::Equal)
        }
    };
    let is_number = comparator != Comparator::Equal || left.quantity == Quantity::Frequency;
    let begins_reference = |cursor: &mut Cursor<'_>| {
        let name = cursor.peek_name();
        !name.is_empty()
            && cursor.rest()[name.len()..].trim_start().starts_with(['.', '('])
            && !is_decimal(cursor.rest())
    };
    let right = match cursor.peek() {
        Some('"' | '\'') if !is_number => Comparand::Value(ValueMatcher::read(cursor, exact)?.0),
        _ if begins_reference(cursor) => Comparand::Reference(parse_reference(cursor)?),
        _ if is_number => match parse_number(cursor)? {
            Some(number) => Comparand::Value(ValueMatcher::exact(number)),
            None => return Err(cursor.unexpected("a number, or a label as in f(1.lemma) > f(2.lemma)")),
        },
        _ => Comparand::Reference(parse_reference(cursor)?),
    };
    let span = cursor.span_from(start);
    if comparator == Comparator::Equal && left.quantity == Quantity::Frequency {
        let mixes = matches!(&right, Comparand::Reference(right) if right.quantity == Quantity::Value);
        if mixes {
            return Err(SyntaxError::new(span, "a frequency is compared with a number or another frequency"));
        }
    }
    Ok(Condition::Constraint(Constraint { left, negated, comparator, right, span }))
}

/// `2.5`, but not `2.lemma`.
fn is_decimal(text: &str) -> bool {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    after.strip_prefix('.').is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))
}

/// `match.doc_site`, also `match.text_site`: a field of the document, with the place of its name.
fn parse_document_field(cursor: &mut Cursor<'_>) -> Result<Option<(String, Span)>, SyntaxError> {
    let mut ahead = cursor.clone();
    let label = ahead.take_name();
    if label.is_empty() || !ahead.eat(".") {
        return Ok(None);
    }
    let name = ahead.peek_name();
    let Some(field) = name.strip_prefix("doc_").or(name.strip_prefix("text_")).filter(|field| !field.is_empty()) else {
        return Ok(None);
    };
    let start = cursor.at();
    ahead.take_name();
    *cursor = ahead;
    if !RESERVED.contains(&label) {
        let error = SyntaxError::new(cursor.span_from(start), "a field belongs to the document of the whole match");
        return Err(error.help(format!("write match.{name}")));
    }
    Ok(Some((field.to_owned(), Span::new(cursor.at() - field.len(), cursor.at()))))
}

fn parse_reference(cursor: &mut Cursor<'_>) -> Result<Reference, SyntaxError> {
    let mut labelled = |cursor: &mut Cursor<'_>| {
        let (label, _) = cursor.name("a label, as in a.lemma = b.lemma")?;
        cursor.expect(".", "and an attribute after the label")?;
        Ok((label.to_owned(), parse_attribute(cursor)?))
    };
    let ((label, attribute), quantity) = parse_quantity(cursor, &mut labelled)?;
    Ok(Reference { label, attribute, quantity })
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_number = self.comparator != Comparator::Equal || self.left.quantity == Quantity::Frequency;
        let exact = matches!(&self.right, Comparand::Value(value) if value.exact) && !is_number;
        match self.comparator {
            Comparator::Equal => write!(f, "{} {} ", self.left, equality_sign(self.negated, exact))?,
            order => write!(f, "{} {} ", self.left, order.sign())?,
        }
        match &self.right {
            Comparand::Reference(reference) => write!(f, "{reference}"),
            Comparand::Value(value) if is_number => f.write_str(&value.text),
            Comparand::Value(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quantity {
            Quantity::Value => write!(f, "{}.{}", self.label, self.attribute.name()),
            Quantity::Frequency => write!(f, "f({}.{})", self.label, self.attribute.name()),
        }
    }
}

impl Constraint {
    /// The references on both sides.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        let right = match &self.right {
            Comparand::Reference(reference) => Some(reference),
            Comparand::Value(_) => None,
        };
        [Some(&self.left), right].into_iter().flatten()
    }

    /// Rejects labels that no token of the pattern has.
    pub(crate) fn check(&self, labels: &[String]) -> Result<(), SyntaxError> {
        let is_unknown = |label: &&String| !labels.contains(label) && !RESERVED.contains(&label.as_str());
        match self.references().map(|reference| &reference.label).find(is_unknown) {
            Some(label) => Err(SyntaxError::new(self.span, format!("no token has the label {label}"))
                .help(format!("write {label}:[…] in the query"))),
            None => Ok(()),
        }
    }

    /// Compiles the constraint for the engine.
    pub(crate) fn compile(&self) -> Result<CompiledConstraint, SyntaxError> {
        let is_number = self.comparator != Comparator::Equal || self.left.quantity == Quantity::Frequency;
        let right = match &self.right {
            Comparand::Reference(reference) => CompiledComparand::Reference(reference.clone()),
            Comparand::Value(value) if is_number => {
                CompiledComparand::Number(number_of(&value.text).unwrap_or(f64::NAN))
            }
            Comparand::Value(value) => CompiledComparand::Value(value.compile()?),
        };
        let (left, negated, comparator) = (self.left.clone(), self.negated, self.comparator);
        Ok(CompiledConstraint { left, negated, comparator, right })
    }

    /// The oracle.
    pub(crate) fn oracle_holds(&self, text: &Text<'_>, path: &Path, (start, end): TokenSpan) -> bool {
        let token = |reference: &Reference| match reference.label.as_str() {
            "match" => Some(text.tokens[start]),
            "matchend" => Some(text.tokens[end - 1]),
            label => path.labels.get(label).map(|token| text.tokens[*token]),
        };
        let number = |reference: &Reference| {
            let token = token(reference)?;
            match reference.quantity {
                Quantity::Frequency => Some(text.frequency(reference.attribute, &token) as f64),
                Quantity::Value => number_of(&token.value(reference.attribute)),
            }
        };
        if self.comparator != Comparator::Equal || self.left.quantity == Quantity::Frequency {
            let right = match &self.right {
                Comparand::Reference(reference) => number(reference),
                Comparand::Value(value) => number_of(&value.text),
            };
            let pair = number(&self.left).zip(right);
            return pair.is_some_and(|(left, right)| self.comparator.holds(left, right) != self.negated);
        }
        let attribute = self.left.attribute;
        let Some(left) = token(&self.left) else { return false };
        match &self.right {
            Comparand::Value(value) => left.matches(attribute, value) != self.negated,
            Comparand::Reference(reference) if reference.quantity == Quantity::Frequency => {
                let pair = number(&self.left).zip(number(reference));
                pair.is_some_and(|(left, right)| (left == right) != self.negated)
            }
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
    comparator: Comparator,
    right: CompiledComparand,
}

#[derive(Debug)]
enum CompiledComparand {
    Reference(Reference),
    Value(CompiledMatcher),
    Number(f64),
}

/// What a reference stands for in a match.
pub(crate) enum ReferenceValue<'v> {
    Text(Cow<'v, str>),
    Frequency(u64),
}

impl ReferenceValue<'_> {
    fn number(&self) -> Option<f64> {
        match self {
            ReferenceValue::Text(text) => number_of(text),
            ReferenceValue::Frequency(count) => Some(*count as f64),
        }
    }
}

impl CompiledConstraint {
    /// Returns true if the constraint holds, given the values of labelled tokens.
    pub(crate) fn holds<'v>(&self, value: &impl Fn(&Reference) -> Option<ReferenceValue<'v>>) -> bool {
        let Some(left) = value(&self.left) else { return false };
        let (attribute, comparator) = (self.left.attribute, self.comparator);
        let numbers = |right: Option<f64>| left.number().zip(right).map(|(left, right)| comparator.holds(left, right));
        let same = match (&self.right, &left) {
            (CompiledComparand::Number(number), _) => numbers(Some(*number)),
            (CompiledComparand::Value(matcher), ReferenceValue::Text(left)) => Some(attribute.fits(matcher, left)),
            (CompiledComparand::Value(_), ReferenceValue::Frequency(_)) => None,
            (CompiledComparand::Reference(right), left) => match (left, value(right)) {
                (_, None) => None,
                (ReferenceValue::Text(left), Some(ReferenceValue::Text(right))) if comparator == Comparator::Equal => {
                    Some(attribute.agrees(left, &right))
                }
                (_, Some(right)) => numbers(right.number()),
            },
        };
        same.is_some_and(|same| same != self.negated)
    }
}
