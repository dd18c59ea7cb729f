//! The canonical text of a query: what answers quote, caches compare and permalinks carry.

use super::ast::*;
use std::fmt;

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pattern)?;
        for restriction in &self.restrictions {
            write!(f, " {restriction}")?;
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            write!(f, "{}{constraint}", if i == 0 { " :: " } else { " & " })?;
        }
        Ok(())
    }
}

/// How tightly a pattern holds together where it stands.
#[derive(PartialEq, PartialOrd)]
enum Tightness {
    Alternatives,
    Sequence,
    Repeat,
    Atom,
}

fn tightness(pattern: &Pattern) -> Tightness {
    match pattern.kind {
        PatternKind::Alternatives(_) => Tightness::Alternatives,
        PatternKind::Sequence(_) => Tightness::Sequence,
        PatternKind::Repeat { .. } => Tightness::Repeat,
        _ => Tightness::Atom,
    }
}

/// Prints a part, in parentheses unless it holds together more tightly than its surroundings.
fn part(f: &mut fmt::Formatter<'_>, pattern: &Pattern, surroundings: Tightness) -> fmt::Result {
    if tightness(pattern) > surroundings { write!(f, "{pattern}") } else { write!(f, "({pattern})") }
}

fn parts(f: &mut fmt::Formatter<'_>, patterns: &[Pattern], between: &str, around: fn() -> Tightness) -> fmt::Result {
    for (i, pattern) in patterns.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        part(f, pattern, around())?;
    }
    Ok(())
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PatternKind::Any => f.write_str("[]"),
            PatternKind::Token(condition) => write!(f, "[{condition}]"),
            PatternKind::Sequence(inner) => parts(f, inner, " ", || Tightness::Sequence),
            PatternKind::Alternatives(inner) => parts(f, inner, " | ", || Tightness::Alternatives),
            PatternKind::Repeat { of, at_least, at_most } => {
                part(f, of, Tightness::Repeat)?;
                match (at_least, at_most) {
                    (0, Some(1)) => f.write_str("?"),
                    (0, None) => f.write_str("*"),
                    (1, None) => f.write_str("+"),
                    (least, None) => write!(f, "{{{least},}}"),
                    (least, Some(most)) if least == most => write!(f, "{{{least}}}"),
                    (least, Some(most)) => write!(f, "{{{least},{most}}}"),
                }
            }
            PatternKind::Labelled { label, token } => write!(f, "{label}:{token}"),
            PatternKind::Start(structure) => write!(f, "<{}>", structure.name()),
            PatternKind::End(structure) => write!(f, "</{}>", structure.name()),
            PatternKind::Whole(region) => write!(f, "{region}"),
        }
    }
}

impl fmt::Display for TokenTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.attribute.name(), equality(self.negated, self.value.exact), self.value)
    }
}

pub(crate) fn equality(negated: bool, exact: bool) -> &'static str {
    match (negated, exact) {
        (false, false) => "=",
        (true, false) => "!=",
        (false, true) => "==",
        (true, true) => "!==",
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.filter {
            Some(filter) => write!(f, "<{} {filter}/>", self.structure.name()),
            None => write!(f, "<{}/>", self.structure.name()),
        }
    }
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.relation {
            Inclusion::Within => "within",
            Inclusion::Containing => "containing",
        };
        write!(f, "{}{word} ", if self.negated { "!" } else { "" })?;
        match &self.target {
            Target::Region(region) => write!(f, "{region}"),
            Target::Pattern(pattern) => write!(f, "{pattern}"),
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = matches!(&self.right, Comparand::Value(value) if value.exact);
        write!(f, "{} {} ", self.left, equality(self.negated, exact))?;
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
