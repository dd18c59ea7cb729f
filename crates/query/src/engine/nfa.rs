//! Patterns as nondeterministic finite automata.
//!
//! The automaton is the position automaton of Glushkov (*The abstract theory of automata*, 1961): each place of the pattern
//! that takes a token is one state, and there are no empty transitions. Repetitions are unrolled. The operators build a
//! graph with empty nodes ([`NfaBuilder`]), from which [`Nfa::new`] computes the sets *first* and *follow*. An edge may
//! carry assertions about the position between two tokens, such as that a sentence starts there. A state may also take all
//! tokens of a span, whose end the run looks up.

use crate::cql::MatchRule;
use crate::cql::ast::{Meet, Name, Pattern, Query, SpanTest, Structure, TokenTest};
use crate::filter::Filter;
use crate::syntax::{Logic, Span, SyntaxError};
use std::collections::HashSet;

/// The accepting state, as the target of an edge.
pub(crate) const END: u32 = u32::MAX;
/// The maximum number of distinct assertions: an edge has one bit for each.
const MAX_ASSERTIONS: usize = 32;

/// A pattern as an automaton over tokens.
#[derive(Debug, Clone)]
pub(crate) struct Nfa {
    /// The distinct conditions on tokens; `None` for any token.
    pub(crate) tests: Vec<Option<Logic<TokenTest>>>,
    pub(crate) states: Vec<State>,
    pub(crate) first: Vec<Edge>,
    pub(crate) follow: Vec<Vec<Edge>>,
    pub(crate) assertions: Vec<Assertion>,
    /// The labels of tokens.
    pub(crate) labels: Vec<String>,
    /// The tests of a linear automaton: one path without assertions.
    pub(crate) linear: Option<Vec<usize>>,
    /// Sets of seeds; every match has a token of each set.
    pub(crate) seeds: Vec<Vec<SeedToken>>,
    /// The distinct spans that states, assertions and seeds refer to.
    pub(crate) spans: Vec<SpanPattern>,
    /// The lengths of matches.
    pub(crate) length: LengthRange,
    /// Every match lies in one sentence.
    pub(crate) in_sentence: bool,
}

/// Runs of tokens that an automaton looks up instead of running over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SpanPattern {
    /// Annotated spans of a name, perhaps with a condition on their attributes.
    Named {
        name: Name,
        condition: Option<Logic<SpanTest>>,
        /// The text it was read from.
        at: Span,
    },
    /// The matches of a query.
    Matches { query: Box<Query>, rule: MatchRule },
    /// Matches of a pattern near those of another.
    Meet(Box<Meet>),
}

impl std::fmt::Display for SpanPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpanPattern::Named { name, .. } => write!(f, "<{name}/>"),
            SpanPattern::Matches { query, .. } => write!(f, "({query})"),
            SpanPattern::Meet(meet) => write!(f, "{meet}"),
        }
    }
}

/// A position of the pattern that takes one token, or all tokens of a span.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) test: usize,
    pub(crate) label: Option<usize>,
    /// The span, by its index in [`Nfa::spans`].
    pub(crate) span: Option<usize>,
}

/// A transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// The assertions that must hold between the two tokens, as bits.
    pub(crate) assertions: u32,
}

/// An assertion about the position between two tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Assertion {
    /// A structure starts here.
    Start(Structure),
    /// A structure ends here.
    End(Structure),
    /// No structure starts or ends here.
    Inside(Structure),
    /// The filter admits the document.
    Admitted(Filter),
    /// A span starts here, by its index in [`Nfa::spans`].
    SpanStart(usize),
    /// A span ends here.
    SpanEnd(usize),
    /// No span starts here.
    NoSpanStart(usize),
    /// No span ends here.
    NoSpanEnd(usize),
    /// The next token is at one of these positions of the document.
    Position { first: u32, last: u32 },
}

/// The positions of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SeedSource {
    /// Tokens that pass a test, by its index in [`Nfa::tests`].
    Test(usize),
    /// The first tokens of spans, by their index in [`Nfa::spans`].
    Span(usize),
    /// The first tokens of structures.
    Structure(Structure),
    /// Tokens by their position in the document.
    Position(u32, u32),
}

/// A test that a token of every match passes, or a span that starts with it, with the distances from the start of the match at which that token can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeedToken {
    pub(crate) source: SeedSource,
    pub(crate) nearest: u32,
    pub(crate) farthest: Option<u32>,
}

/// The lengths that matches of a pattern can have; no maximum if they are unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LengthRange {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl LengthRange {
    pub(crate) const EMPTY: LengthRange = LengthRange { min: 0, max: Some(0) };
    pub(crate) const ONE: LengthRange = LengthRange { min: 1, max: Some(1) };

    /// The length of one pattern followed by another.
    pub(crate) fn then(self, next: LengthRange) -> LengthRange {
        LengthRange { min: self.min + next.min, max: self.max.zip(next.max).map(|(a, b)| a + b) }
    }

    /// The length of one pattern or another.
    pub(crate) fn or(self, other: LengthRange) -> LengthRange {
        LengthRange { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// The length of a repeated pattern.
    pub(crate) fn times(self, at_least: u32, at_most: Option<u32>) -> LengthRange {
        let max = self.max.zip(at_most).map(|(length, times)| length.saturating_mul(times));
        LengthRange { min: self.min.saturating_mul(at_least), max }
    }
}

/// A node of the graph under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(usize);

enum Node {
    Token { state: u32, next: NodeId },
    Split(Vec<NodeId>),
    Assertion { assertion: usize, next: NodeId },
    End,
}

/// Builds the graph of an automaton from its end to its start: each operator adds nodes in front of a given one.
#[derive(Default)]
pub(crate) struct NfaBuilder {
    nodes: Vec<Node>,
    tests: Vec<Option<Logic<TokenTest>>>,
    states: Vec<State>,
    assertions: Vec<Assertion>,
    labels: Vec<String>,
    spans: Vec<SpanPattern>,
}

impl Nfa {
    pub(crate) fn new(pattern: &Pattern) -> Result<Nfa, SyntaxError> {
        let mut builder = NfaBuilder::default();
        let end = builder.node(Node::End);
        let start = pattern.compile(&mut builder, end, None);
        if builder.assertions.len() > MAX_ASSERTIONS {
            let message = format!("the query has more than {MAX_ASSERTIONS} different structures");
            return Err(SyntaxError::new(pattern.span, message));
        }
        let mut nodes: Vec<(u32, NodeId)> = Vec::new();
        for node in &builder.nodes {
            if let Node::Token { state, next } = node {
                nodes.push((*state, *next));
            }
        }
        nodes.sort_unstable_by_key(|(state, _)| *state);
        let first = builder.edges(start);
        let follow: Vec<Vec<Edge>> = nodes.iter().map(|(_, next)| builder.edges(*next)).collect();
        let mut seeds = Vec::new();
        let length = pattern.seeds(&mut builder, LengthRange::EMPTY, &mut seeds);
        seeds.iter_mut().for_each(merge_equal_tests);
        let linear = linear_tests(&first, &follow, &builder.states);
        Ok(Nfa {
            tests: builder.tests,
            states: builder.states,
            first,
            follow,
            assertions: builder.assertions,
            labels: builder.labels,
            linear,
            seeds,
            spans: builder.spans,
            length,
            in_sentence: pattern.stays_in_sentence(),
        })
    }
}

/// Joins the seeds of a set that have the same test, so that their positions are read once.
fn merge_equal_tests(seeds: &mut Vec<SeedToken>) {
    seeds.sort_by_key(|seed| seed.source);
    seeds.dedup_by(|next, seed| {
        let is_same = next.source == seed.source;
        if is_same {
            seed.nearest = seed.nearest.min(next.nearest);
            seed.farthest = seed.farthest.zip(next.farthest).map(|(a, b)| a.max(b));
        }
        is_same
    });
}

/// The tests of an automaton with a single path and no assertions.
fn linear_tests(first: &[Edge], follow: &[Vec<Edge>], states: &[State]) -> Option<Vec<usize>> {
    let mut tests = Vec::new();
    let mut edges = first;
    loop {
        match edges {
            [Edge { to: END, assertions: 0 }] => return Some(tests),
            [Edge { to, assertions: 0 }] if tests.len() < states.len() && states[*to as usize].span.is_none() => {
                tests.push(states[*to as usize].test);
                edges = &follow[*to as usize];
            }
            _ => return None,
        }
    }
}

impl NfaBuilder {
    fn node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    fn test(&mut self, test: Option<&Logic<TokenTest>>) -> usize {
        let known = self.tests.iter().position(|known| known.as_ref() == test);
        known.unwrap_or_else(|| {
            self.tests.push(test.cloned());
            self.tests.len() - 1
        })
    }

    /// Adds a state that takes a token with a test, or any token, and goes on to `next`.
    pub(crate) fn token(&mut self, test: Option<&Logic<TokenTest>>, label: Option<usize>, next: NodeId) -> NodeId {
        let test = self.test(test);
        let state = self.states.len() as u32;
        self.states.push(State { test, label, span: None });
        self.node(Node::Token { state, next })
    }

    /// The index of spans.
    pub(crate) fn span(&mut self, spans: SpanPattern) -> usize {
        let known = self.spans.iter().position(|known| *known == spans);
        known.unwrap_or_else(|| {
            self.spans.push(spans);
            self.spans.len() - 1
        })
    }

    /// Adds a state that takes all tokens of a span and goes on to `next`.
    pub(crate) fn whole_span(&mut self, spans: SpanPattern, next: NodeId) -> NodeId {
        let (test, span) = (self.test(None), Some(self.span(spans)));
        let state = self.states.len() as u32;
        self.states.push(State { test, label: None, span });
        self.node(Node::Token { state, next })
    }

    /// A seed: the first token of a span at a distance from the start of the match.
    pub(crate) fn span_seed(&mut self, spans: SpanPattern, at: LengthRange) -> SeedToken {
        SeedToken { source: SeedSource::Span(self.span(spans)), nearest: at.min, farthest: at.max }
    }

    /// A seed: the first token of a structure at a distance from the start of the match.
    pub(crate) fn structure_seed(&self, structure: Structure, at: LengthRange) -> SeedToken {
        SeedToken { source: SeedSource::Structure(structure), nearest: at.min, farthest: at.max }
    }

    /// A seed: a token at one of these positions of the document, at a distance from the start of the match.
    pub(crate) fn position_seed(&self, first: u32, last: u32, at: LengthRange) -> SeedToken {
        SeedToken { source: SeedSource::Position(first, last), nearest: at.min, farthest: at.max }
    }

    /// Adds an assertion in front of `next`.
    pub(crate) fn assertion(&mut self, assertion: Assertion, next: NodeId) -> NodeId {
        let known = self.assertions.iter().position(|known| *known == assertion);
        let assertion = known.unwrap_or_else(|| {
            self.assertions.push(assertion);
            self.assertions.len() - 1
        });
        self.node(Node::Assertion { assertion, next })
    }

    /// Adds a choice between nodes.
    pub(crate) fn split(&mut self, targets: Vec<NodeId>) -> NodeId {
        self.node(Node::Split(targets))
    }

    /// Sets the targets of a choice that was added before they were known, to close a loop.
    pub(crate) fn set_split(&mut self, split: NodeId, targets: Vec<NodeId>) {
        self.nodes[split.0] = Node::Split(targets);
    }

    /// The number of a label.
    pub(crate) fn label(&mut self, label: &str) -> usize {
        let known = self.labels.iter().position(|known| known == label);
        known.unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.labels.len() - 1
        })
    }

    /// A seed: a token with a test, or any token, at a distance from the start of the match.
    pub(crate) fn seed(&mut self, test: Option<&Logic<TokenTest>>, at: LengthRange) -> SeedToken {
        SeedToken { source: SeedSource::Test(self.test(test)), nearest: at.min, farthest: at.max }
    }

    /// Returns true if a seed has a condition.
    pub(crate) fn is_selective(&self, seed: &SeedToken) -> bool {
        match seed.source {
            SeedSource::Test(test) => self.tests[test].is_some(),
            SeedSource::Span(_) | SeedSource::Structure(_) | SeedSource::Position(..) => true,
        }
    }

    /// The states that can be reached from a node without taking a token, with the assertions on the way.
    fn edges(&self, from: NodeId) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut seen = HashSet::new();
        let mut pending = vec![(from, 0u32)];
        while let Some((node, assertions)) = pending.pop() {
            if !seen.insert((node, assertions)) {
                continue;
            }
            match &self.nodes[node.0] {
                Node::Token { state, .. } => edges.push(Edge { to: *state, assertions }),
                Node::End => edges.push(Edge { to: END, assertions }),
                Node::Split(targets) => pending.extend(targets.iter().map(|target| (*target, assertions))),
                Node::Assertion { assertion, next } => pending.push((*next, assertions | 1 << assertion)),
            }
        }
        edges.sort_unstable_by_key(|edge| (edge.to, edge.assertions));
        edges.dedup();
        edges
    }
}
