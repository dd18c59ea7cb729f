//! Texts of the graph: generated from a key, so that any two pages with the same key have the same text.

use std::sync::OnceLock;

use super::random::{key, lognormal, text_key};
use crate::rng::Rng;
use crate::text::{Block, BlockKind, CODES, Grammar, Lexicon, Section, compose_head, filled, filler_sentence, grammar};

/// Mean tokens of a text in the default target language, about.
pub const TEXT_TOKENS: f64 = 510.0;
/// Mean bytes of a text in the default target language, about.
pub const TEXT_BYTES: f64 = 3_700.0;

/// The identity of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextId {
    /// The language.
    pub language: &'static str,
    /// The cluster of near-duplicates: members have the same title and paragraphs.
    pub cluster: u64,
    /// The key of a sentence that this member adds.
    pub addition: Option<u64>,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    pub title: String,
    pub author: String,
    pub topics: Vec<String>,
    pub blocks: Vec<Block>,
}

impl Text {
    /// The number of words of the paragraphs.
    pub fn tokens(&self) -> u64 {
        self.blocks.iter().map(|block| block.text.split_whitespace().count() as u64).sum()
    }

    /// The bytes of the paragraphs.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.text.len() + 1).sum()
    }
}

/// A title in a language.
pub fn title(language: &str, key: u64) -> String {
    let grammar = grammar(language);
    let mut rng = Rng::named(&[key, 0x717]);
    let frame = rng.pick(grammar.section(Section::Titles));
    filled(grammar, frame, &mut rng)
}

/// Writes a text.
pub fn compose(id: TextId) -> Text {
    let grammar = grammar(id.language);
    let lexicon = lexicon(grammar);
    let mut rng = Rng::named(&[id.cluster, 0x7E87]);
    let head = compose_head(grammar, &mut Rng::named(&[id.cluster, 0x6EAD]));
    let paragraphs = lognormal(&mut rng, 8.0, 0.5).clamp(3.0, 30.0) as usize;
    // Words of people keep to a subject, those of machines do not.
    let subject = lexicon.subject(&mut Rng::named(&[id.cluster, 0x5B7]));
    let mut blocks = Vec::with_capacity(paragraphs + 1);
    for _ in 0..paragraphs {
        let sentences = 3 + rng.below(4);
        blocks.push(paragraph(grammar, (lexicon, &subject), &mut rng, sentences));
    }
    if let Some(addition) = id.addition {
        blocks.push(paragraph(grammar, (lexicon, &subject), &mut Rng::named(&[addition, 0xADD]), 1));
    }
    Text { title: title(id.language, id.cluster), author: head.author, topics: head.topics, blocks }
}

/// Writes text of a machine: sentences of a template of the site with other words in some places, or, if it is not
/// `spun`, sentences that are always new.
pub fn compose_machine(language: &'static str, site_key: u64, page_key: u64, spun: bool) -> Text {
    const TEMPLATE_SENTENCES: u64 = 40;
    let grammar = grammar(language);
    let lexicon = lexicon(grammar);
    let mut rng = Rng::named(&[page_key, 0xBAB]);
    let mut blocks = Vec::new();
    for _ in 0..5 + rng.below(5) {
        let sentences: Vec<String> = (0..4)
            .map(|_| {
                let line = if spun { rng.below(TEMPLATE_SENTENCES) } else { rng.bits() };
                filler_sentence(grammar, &mut Rng::named(&[site_key, line]))
            })
            .collect();
        let text = sentences.join(" ");
        let text = if rng.chance(30) { lexicon.enrich(&text, &mut rng) } else { text };
        blocks.push(Block { kind: BlockKind::Paragraph, text });
    }
    let head = compose_head(grammar, &mut rng);
    Text { title: head.title, author: head.author, topics: head.topics, blocks }
}

/// The key of a pool of texts that several sites print.
pub fn agency_cluster(seed: u64, language: &str, number: u64) -> u64 {
    key(&[seed, 0xA6E, text_key(language), number])
}

fn paragraph(grammar: &Grammar, (lexicon, subject): (&Lexicon, &[&str]), rng: &mut Rng, sentences: u64) -> Block {
    let mut text = String::new();
    for number in 0..sentences {
        if number > 0 && grammar.spaced() {
            text.push(' ');
        }
        let sentence = filler_sentence(grammar, rng);
        text.push_str(&lexicon.enrich_about(&sentence, subject, rng));
    }
    Block { kind: BlockKind::Paragraph, text }
}

/// The rare words of a language: without them, texts of few words would look like duplicates of each other.
fn lexicon(grammar: &Grammar) -> &'static Lexicon {
    static ALL: [OnceLock<Lexicon>; CODES.len()] = [const { OnceLock::new() }; CODES.len()];
    let index = CODES.iter().position(|code| *code == grammar.code).expect("every grammar has a code of the table");
    ALL[index].get_or_init(|| Lexicon::new(grammar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_cluster_differ_by_one_sentence() {
        let id = TextId { language: "de", cluster: 7, addition: None };
        let (plain, longer) = (compose(id), compose(TextId { addition: Some(3), ..id }));
        assert_eq!(plain.blocks, longer.blocks[..plain.blocks.len()]);
        assert_eq!(longer.blocks.len(), plain.blocks.len() + 1);
        assert!(plain.tokens() > 60 && plain.bytes() > 400);
    }

    #[test]
    fn texts_have_their_mean_length() {
        let texts: Vec<Text> =
            (0..2000).map(|cluster| compose(TextId { language: "de", cluster, addition: None })).collect();
        let tokens = texts.iter().map(|text| text.tokens() as f64).sum::<f64>() / 2000.0;
        let bytes = texts.iter().map(|text| text.bytes() as f64).sum::<f64>() / 2000.0;
        assert!((tokens / TEXT_TOKENS - 1.0).abs() < 0.15, "{tokens} tokens");
        assert!((bytes / TEXT_BYTES - 1.0).abs() < 0.15, "{bytes} bytes");
    }

    #[test]
    fn spun_texts_of_a_site_share_sentences() {
        let sentences = |page: u64, spun: bool| -> std::collections::HashSet<String> {
            let text = compose_machine("de", 1, page, spun);
            text.blocks.iter().flat_map(|block| block.text.split(". ").map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        assert!(sentences(1, true).intersection(&sentences(2, true)).count() > 3);
        assert_eq!(sentences(1, false).intersection(&sentences(2, false)).count(), 0);
    }
}
