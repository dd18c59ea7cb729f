//! Queries compiled for a corpus, with the queries that are nested in them.

use super::nfa::{Nfa, SpanPattern};
use super::restrict::HitConditions;
use super::set::{LexemeSet, SetBuilder};
use super::{Engine, Result, spans};
use crate::cql::MatchRule;
use crate::cql::ast::{Expansion, MeetWindow, Name, Pattern, Query, SpanTest};
use crate::syntax::Logic;

/// A query compiled for all segments.
#[derive(Debug)]
pub(crate) struct CompiledQuery {
    pub(crate) nfa: Nfa,
    /// The lexemes of each test of the automaton.
    pub(crate) sets: Vec<LexemeSet>,
    /// The spans of the automaton.
    pub(crate) spans: Vec<CompiledSpans>,
    pub(crate) conditions: HitConditions,
    pub(crate) expansion: Option<Expansion>,
}

/// The source of spans.
#[derive(Debug)]
pub(crate) enum CompiledSpans {
    Named { name: Name, condition: Option<Logic<SpanTest>> },
    Matches { query: Box<CompiledQuery>, rule: MatchRule },
    Meet { of: Box<CompiledQuery>, with: Box<CompiledQuery>, negated: bool, window: MeetWindow },
}

impl CompiledQuery {
    pub(crate) fn new(query: &Query, engine: &Engine, builder: &mut SetBuilder<'_>) -> Result<CompiledQuery> {
        let pattern = CompiledQuery::of_pattern(&query.pattern, engine, builder)?;
        let conditions = HitConditions::new(query, engine, builder)?;
        Ok(CompiledQuery { conditions, expansion: query.expansion, ..pattern })
    }

    /// A pattern without restrictions and constraints.
    pub(crate) fn of_pattern(
        pattern: &Pattern,
        engine: &Engine,
        builder: &mut SetBuilder<'_>,
    ) -> Result<CompiledQuery> {
        let nfa = Nfa::new(pattern)?;
        let mut spans = Vec::with_capacity(nfa.spans.len());
        for pattern in &nfa.spans {
            spans.push(CompiledSpans::new(pattern, engine, builder)?);
        }
        let sets = builder.sets_of(&nfa)?;
        Ok(CompiledQuery { nfa, sets, spans, conditions: HitConditions::default(), expansion: None })
    }
}

impl CompiledSpans {
    pub(crate) fn new(pattern: &SpanPattern, engine: &Engine, builder: &mut SetBuilder<'_>) -> Result<CompiledSpans> {
        Ok(match pattern {
            SpanPattern::Named { name, condition, at } => {
                if !builder.is_lenient() {
                    spans::check(*name, condition.as_ref(), *at, engine.snapshot())?;
                }
                CompiledSpans::Named { name: *name, condition: condition.clone() }
            }
            SpanPattern::Matches { query, rule } => {
                CompiledSpans::Matches { query: Box::new(CompiledQuery::new(query, engine, builder)?), rule: *rule }
            }
            SpanPattern::Meet(meet) => CompiledSpans::Meet {
                of: Box::new(CompiledQuery::of_pattern(&meet.of, engine, builder)?),
                with: Box::new(CompiledQuery::of_pattern(&meet.with, engine, builder)?),
                negated: meet.negated,
                window: meet.window,
            },
        })
    }
}
