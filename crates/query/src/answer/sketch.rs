//! What a word does: its collocates by grammatical relation.

use serde::Serialize;

/// A word sketch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sketch {
    /// The lemma.
    pub lemma: String,
    /// The part of speech that the sketch is of; empty if the corpus has no such lemma with a tag.
    pub tag: String,
    /// The parts of speech that the lemma has in the corpus, the most frequent first.
    pub tags: Vec<TagCount>,
    /// How often it occurs with the tag.
    pub hits: u64,
    /// Tokens of the corpus asked.
    pub tokens: u64,
    /// The grammar that says what is looked for.
    pub grammar: String,
    /// What it stands in, in the order of the grammar.
    pub relations: Vec<SketchRelation>,
}

/// A part of speech of a lemma.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// How often the lemma has it.
    pub hits: u64,
}

/// The collocates of a word in one relation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SketchRelation {
    /// What the collocates are to the word.
    pub name: String,
    /// How often the word stands in the relation.
    pub hits: u64,
    /// The query that gives these hits.
    pub query: String,
    /// How many different collocates there are that stand in it often enough.
    pub values: u64,
    /// The most typical ones, best first, equals by value.
    pub rows: Vec<SketchRow>,
}

/// A collocate in a relation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SketchRow {
    /// Its lemma.
    pub value: String,
    /// How often the two stand in the relation.
    pub together: u64,
    /// How often the collocate stands in it with any word.
    pub anywhere: u64,
    /// logDice within the relation: 14 if neither ever stands in it without the other.
    pub score: f64,
    /// The query that gives the hits of both.
    pub query: String,
}
