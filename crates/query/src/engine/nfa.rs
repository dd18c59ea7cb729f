//! A pattern as a small run: which token may follow which.
//!
//! Places of the pattern that take a token become *states*; repetitions are unfolded. From each state edges lead to those
//! that may come next, or to the end; an edge may assertion something of the place between two tokens, such as that a
//! sentence begins there.

use crate::cql::ast::{Pattern, PatternKind, Region, Structure, TokenTest};
use crate::filter::Filter;
use crate::syntax::{Logic, SyntaxError};
use std::collections::HashSet;

/// The end of the pattern, as the target of an edge.
pub(crate) const END: u32 = u32::MAX;
/// More different assertions do not fit.
const MAX_ASSERTIONS: usize = 32;

/// A machine.
#[derive(Debug, Clone)]
pub(crate) struct Nfa {
    /// The different conditions on tokens; nothing for any token.
    pub(crate) tests: Vec<Option<Logic<TokenTest>>>,
    pub(crate) states: Vec<State>,
    pub(crate) first: Vec<Edge>,
    pub(crate) follow: Vec<Vec<Edge>>,
    pub(crate) assertions: Vec<Assertion>,
    /// The names of labelled tokens.
    pub(crate) labels: Vec<String>,
    /// If every match has the same tests in the same order and nothing is demanded: these.
    pub(crate) line: Option<Vec<usize>>,
    /// What every match has in it: one of each list.
    pub(crate) seeds: Vec<Vec<SeedToken>>,
}

/// A place that takes one token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) test: usize,
    pub(crate) label: Option<usize>,
}

/// A way from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// Which assertions the place between must fulfil, as bits.
    pub(crate) assertions: u32,
}

/// What may be demanded of a place between tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Assertion {
    /// A structure begins here.
    Start(Structure),
    /// A structure ends here.
    End(Structure),
    /// A structure goes on here.
    Inside(Structure),
    /// The document is one of these.
    Admitted(Filter),
}

/// A test that some token of every match passes, so and so far from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeedToken {
    pub(crate) test: usize,
    pub(crate) nearest: u32,
    pub(crate) farthest: Option<u32>,
}

/// Nodes of the graph before empty ways are taken out.
enum Node {
    Token { state: u32, next: usize },
    Ways(Vec<usize>),
    Assertion { assertion: usize, next: usize },
    End,
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    tests: Vec<Option<Logic<TokenTest>>>,
    states: Vec<State>,
    assertions: Vec<Assertion>,
    labels: Vec<String>,
}

impl Nfa {
    pub(crate) fn new(pattern: &Pattern) -> Result<Nfa, SyntaxError> {
        let mut builder = Builder::default();
        let end = builder.node(Node::End);
        let start = builder.pattern(pattern, end, None);
        if builder.assertions.len() > MAX_ASSERTIONS {
            let message = format!("the query has more than {MAX_ASSERTIONS} different structures");
            return Err(SyntaxError::new(pattern.span, message));
        }
        let mut nodes: Vec<(u32, usize)> = Vec::new();
        for node in &builder.nodes {
            if let Node::Token { state, next } = node {
                nodes.push((*state, *next));
            }
        }
        nodes.sort_unstable();
        let first = builder.edges(start);
        let follow: Vec<Vec<Edge>> = nodes.iter().map(|(_, next)| builder.edges(*next)).collect();
        let mut seeds = Vec::new();
        builder.seeds(pattern, (0, Some(0)), &mut seeds);
        let line = line(&first, &follow, &builder.states);
        Ok(Nfa {
            tests: builder.tests,
            states: builder.states,
            first,
            follow,
            assertions: builder.assertions,
            labels: builder.labels,
            line,
            seeds,
        })
    }
}

/// The tests of a machine that has only one way and nothing to assertion.
fn line(first: &[Edge], follow: &[Vec<Edge>], states: &[State]) -> Option<Vec<usize>> {
    let mut tests = Vec::new();
    let mut edges = first;
    loop {
        match edges {
            [Edge { to: END, assertions: 0 }] => return Some(tests),
            [Edge { to, assertions: 0 }] if tests.len() < states.len() => {
                tests.push(states[*to as usize].test);
                edges = &follow[*to as usize];
            }
            _ => return None,
        }
    }
}

impl Builder {
    fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn test(&mut self, test: Option<&Logic<TokenTest>>) -> usize {
        let known = self.tests.iter().position(|known| known.as_ref() == test);
        known.unwrap_or_else(|| {
            self.tests.push(test.cloned());
            self.tests.len() - 1
        })
    }

    fn token(&mut self, test: Option<&Logic<TokenTest>>, label: Option<usize>, next: usize) -> usize {
        let test = self.test(test);
        let state = self.states.len() as u32;
        self.states.push(State { test, label });
        self.node(Node::Token { state, next })
    }

    fn assertion(&mut self, assertion: Assertion, next: usize) -> usize {
        let known = self.assertions.iter().position(|known| *known == assertion);
        let assertion = known.unwrap_or_else(|| {
            self.assertions.push(assertion);
            self.assertions.len() - 1
        });
        self.node(Node::Assertion { assertion, next })
    }

    /// Adds a pattern that leads to `next`; gives its first node.
    fn pattern(&mut self, pattern: &Pattern, next: usize, label: Option<usize>) -> usize {
        match &pattern.kind {
            PatternKind::Any => self.token(None, label, next),
            PatternKind::Token(condition) => self.token(Some(condition), label, next),
            PatternKind::Labelled { label, token } => {
                let known = self.labels.iter().position(|known| known == label);
                let label = known.unwrap_or_else(|| {
                    self.labels.push(label.clone());
                    self.labels.len() - 1
                });
                self.pattern(token, next, Some(label))
            }
            PatternKind::Sequence(parts) => parts.iter().rev().fold(next, |next, part| self.pattern(part, next, label)),
            PatternKind::Alternatives(parts) => {
                let ways = parts.iter().map(|part| self.pattern(part, next, label)).collect();
                self.node(Node::Ways(ways))
            }
            PatternKind::Repeat { of, at_least, at_most } => {
                let mut start = next;
                match at_most {
                    Some(most) => {
                        for _ in *at_least..*most {
                            let again = self.pattern(of, start, label);
                            start = self.node(Node::Ways(vec![again, next]));
                        }
                    }
                    None => {
                        let ways = self.node(Node::Ways(Vec::new()));
                        let again = self.pattern(of, ways, label);
                        self.nodes[ways] = Node::Ways(vec![again, next]);
                        start = ways;
                    }
                }
                (0..*at_least).fold(start, |start, _| self.pattern(of, start, label))
            }
            PatternKind::Start(structure) => self.assertion(Assertion::Start(*structure), next),
            PatternKind::End(structure) => self.assertion(Assertion::End(*structure), next),
            PatternKind::Whole(Region { structure, filter }) => {
                let over = self.assertion(Assertion::End(*structure), next);
                let ways = self.node(Node::Ways(Vec::new()));
                let token = self.token(None, label, ways);
                let on = self.assertion(Assertion::Inside(*structure), token);
                self.nodes[ways] = Node::Ways(vec![on, over]);
                let start = self.assertion(Assertion::Start(*structure), token);
                match filter {
                    Some(filter) => self.assertion(Assertion::Admitted(filter.clone()), start),
                    None => start,
                }
            }
        }
    }

    /// The states that can be reached from a node without taking a token, and what that assertions.
    fn edges(&self, from: usize) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![(from, 0u32)];
        while let Some((node, assertions)) = waiting.pop() {
            if !seen.insert((node, assertions)) {
                continue;
            }
            match &self.nodes[node] {
                Node::Token { state, .. } => edges.push(Edge { to: *state, assertions }),
                Node::End => edges.push(Edge { to: END, assertions }),
                Node::Ways(ways) => waiting.extend(ways.iter().map(|way| (*way, assertions))),
                Node::Assertion { assertion, next } => waiting.push((*next, assertions | 1 << assertion)),
            }
        }
        edges.sort_unstable_by_key(|edge| (edge.to, edge.assertions));
        edges.dedup();
        edges
    }

    /// Gathers what every match has in it; gives the lengths that the pattern can have. `at` is how far from the
    /// beginning of the match the pattern begins.
    fn seeds(
        &mut self,
        pattern: &Pattern,
        at: (u32, Option<u32>),
        seeds: &mut Vec<Vec<SeedToken>>,
    ) -> (u32, Option<u32>) {
        match &pattern.kind {
            PatternKind::Any => {
                let test = self.test(None);
                seeds.push(vec![SeedToken { test, nearest: at.0, farthest: at.1 }]);
                (1, Some(1))
            }
            PatternKind::Token(condition) => {
                let test = self.test(Some(condition));
                seeds.push(vec![SeedToken { test, nearest: at.0, farthest: at.1 }]);
                (1, Some(1))
            }
            PatternKind::Labelled { token, .. } => self.seeds(token, at, seeds),
            PatternKind::Sequence(parts) => {
                let mut length = (0, Some(0));
                for part in parts {
                    let here = (at.0 + length.0, at.1.zip(length.1).map(|(a, b)| a + b));
                    let part = self.seeds(part, here, seeds);
                    length = (length.0 + part.0, length.1.zip(part.1).map(|(a, b)| a + b));
                }
                length
            }
            PatternKind::Alternatives(parts) => {
                let mut length: Option<(u32, Option<u32>)> = None;
                let mut joined: Option<Vec<SeedToken>> = Some(Vec::new());
                for part in parts {
                    let mut own = Vec::new();
                    let part = self.seeds(part, at, &mut own);
                    // Which of a way's seeds is the best is not known yet; the first that tests anything will do.
                    let chosen = own
                        .iter()
                        .find(|set| set.iter().all(|seed| self.tests[seed.test].is_some()))
                        .or(own.first())
                        .cloned();
                    joined = joined.zip(chosen).map(|(mut joined, chosen)| {
                        joined.extend(chosen);
                        joined
                    });
                    length = Some(match length {
                        None => part,
                        Some(so_far) => (so_far.0.min(part.0), so_far.1.zip(part.1).map(|(a, b)| a.max(b))),
                    });
                }
                seeds.extend(joined);
                length.unwrap_or((0, Some(0)))
            }
            PatternKind::Repeat { of, at_least, at_most } => {
                let mut own = Vec::new();
                let once = self.seeds(of, at, &mut own);
                if *at_least > 0 {
                    seeds.extend(own);
                }
                let most = once.1.zip(*at_most).map(|(length, times)| length.saturating_mul(times));
                (once.0.saturating_mul(*at_least), most)
            }
            PatternKind::Start(_) | PatternKind::End(_) => (0, Some(0)),
            PatternKind::Whole(_) => (1, None),
        }
    }
}
