//! What the grammar cannot forbid: labels that mean several tokens or none, repeated nothing, and
//! queries that unfold into more states than anybody should wait for.

use super::ast::*;
use super::{MAX_REPEAT, MAX_TOKENS};
use crate::syntax::{Span, SyntaxError};

pub(crate) fn check(query: &Query) -> Result<(), SyntaxError> {
    let mut labels = Vec::new();
    check_labels(&query.pattern, false, &mut labels)?;
    let mut tokens = unfolded(&query.pattern)?;
    for restriction in &query.restrictions {
        if let Target::Pattern(pattern) = &restriction.target {
            let mut unheard = Vec::new();
            check_labels(pattern, false, &mut unheard)?;
            if let Some(label) = unheard.first() {
                let message = format!("the label {label} stands in a restriction, where no constraint can see it");
                return Err(SyntaxError::new(restriction.span, message));
            }
            tokens += unfolded(pattern)?;
        }
    }
    if tokens > MAX_TOKENS {
        return Err(too_large(query.pattern.span));
    }
    if !can_hold_tokens(&query.pattern) {
        return Err(SyntaxError::new(query.pattern.span, "the query describes a place but no token")
            .help("put [] beside it for any token"));
    }
    for constraint in &query.constraints {
        let right = match &constraint.right {
            Comparand::Reference(reference) => Some(&reference.label),
            Comparand::Value(_) => None,
        };
        for label in [Some(&constraint.left.label), right].into_iter().flatten() {
            if !labels.contains(label) {
                return Err(SyntaxError::new(constraint.span, format!("no token has the label {label}"))
                    .help(format!("write {label}:[…] in the query")));
            }
        }
    }
    Ok(())
}

fn too_large(span: Span) -> SyntaxError {
    SyntaxError::new(span, format!("with all its repetitions the query has more than {MAX_TOKENS} tokens"))
        .help("use smaller repetitions")
}

/// Gathers labels; the same label may stand in several alternatives but only once on a way.
fn check_labels(pattern: &Pattern, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
    match &pattern.kind {
        PatternKind::Labelled { label, .. } => {
            if repeated {
                let message = format!("the label {label} is repeated and would mean several tokens");
                return Err(SyntaxError::new(pattern.span, message));
            }
            if labels.contains(label) {
                return Err(SyntaxError::new(pattern.span, format!("there is another token with the label {label}")));
            }
            labels.push(label.clone());
            Ok(())
        }
        PatternKind::Sequence(parts) => parts.iter().try_for_each(|part| check_labels(part, repeated, labels)),
        PatternKind::Alternatives(parts) => {
            let before = labels.clone();
            for part in parts {
                let mut on_this_way = before.clone();
                check_labels(part, repeated, &mut on_this_way)?;
                labels.extend(on_this_way.drain(before.len()..));
            }
            labels[before.len()..].sort();
            labels.dedup();
            Ok(())
        }
        PatternKind::Repeat { of, at_most, .. } => check_labels(of, repeated || *at_most != Some(1), labels),
        _ => Ok(()),
    }
}

/// How many tokens are described, each as often as it may be repeated.
fn unfolded(pattern: &Pattern) -> Result<u64, SyntaxError> {
    let sum = |parts: &[Pattern]| parts.iter().map(unfolded).sum::<Result<u64, _>>();
    let tokens = match &pattern.kind {
        PatternKind::Sequence(parts) | PatternKind::Alternatives(parts) => sum(parts)?,
        PatternKind::Repeat { of, at_least, at_most } => {
            if !can_hold_tokens(of) {
                return Err(SyntaxError::new(pattern.span, "only tokens can be repeated, not places"));
            }
            unfolded(of)?.saturating_mul(u64::from(at_most.unwrap_or(*at_least).clamp(1, MAX_REPEAT)))
        }
        _ => 1,
    };
    if tokens > MAX_TOKENS { Err(too_large(pattern.span)) } else { Ok(tokens) }
}

/// Whether anything in it is more than a place.
fn can_hold_tokens(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Any | PatternKind::Token(_) | PatternKind::Labelled { .. } | PatternKind::Whole(_) => true,
        PatternKind::Start(_) | PatternKind::End(_) => false,
        PatternKind::Sequence(parts) | PatternKind::Alternatives(parts) => parts.iter().any(can_hold_tokens),
        PatternKind::Repeat { of, .. } => can_hold_tokens(of),
    }
}
