//! Evaluates lemmas, part-of-speech tags and features on treebanks and compares with other taggers.

pub mod python;

use tidings_annotate::Tagger;
use tidings_model::Token;
use tidings_train::score::tokens;
use tidings_train::treebank::Sentence;

/// CPU seconds of a tagger for some sentences, with features and without; the best of three runs.
pub fn seconds(tagger: &Tagger, sentences: &[Sentence]) -> [f64; 2] {
    let mut words: Vec<Vec<Token>> = sentences.iter().map(tokens).collect();
    let mut least_of = |tag: &dyn Fn(&mut [Token])| {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            let began = bench_segment::cpu_seconds();
            words.iter_mut().for_each(|sentence| tag(sentence));
            least = least.min(bench_segment::cpu_seconds() - began);
        }
        least
    };
    [least_of(&|sentence| tagger.tag(sentence)), least_of(&|sentence| tagger.tag_without_feats(sentence))]
}
