//! From a grammar and a little chance to an article.

use jiff::civil::Date;
use serde::Serialize;

use super::grammar::{Grammar, Section};
use super::trend::Story;
use crate::rng::Rng;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// A heading within the article.
    Heading,
    /// Running text.
    Paragraph,
    /// A block quotation.
    Quote,
    /// A list item; adjacent ones belong to the same list.
    ListItem,
}

/// A piece of an article, as plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The kind.
    pub kind: BlockKind,
    /// Its text, without markup.
    pub text: String,
}

/// The generated parts of an article, without URL and date.
#[derive(Clone, Debug)]
pub struct Prose {
    pub title: String,
    pub author: String,
    pub topics: Vec<String>,
    pub blocks: Vec<Block>,
}

/// The head of an article has its own random stream, because feeds need only that, and it costs a fraction of the
/// whole.
pub fn compose_head(grammar: &Grammar, rng: &mut Rng) -> Prose {
    let title = {
        let mut title = filled(grammar, rng.pick(grammar.section(Section::Titles)), rng);
        capitalise(&mut title);
        title
    };
    let author = person(grammar, rng);
    let first = rng.pick(grammar.section(Section::Topics)).to_string();
    let mut topics = vec![first];
    if rng.chance(40) {
        let second = rng.pick(grammar.section(Section::Topics)).to_string();
        if second != topics[0] {
            topics.push(second);
        }
    }
    let mut lead = sentence(grammar, rng);
    glue(grammar, &mut lead, &sentence(grammar, rng));
    Prose { title, author, topics, blocks: vec![Block { kind: BlockKind::Paragraph, text: lead }] }
}

/// Writes an article of this day; its head and lead are those of [`compose_head`].
pub fn compose(grammar: &Grammar, rng: &mut Rng, story: Story, day: Date) -> Prose {
    let mut prose = compose_head(grammar, rng);
    plant(grammar, rng, story, day, &mut prose.blocks[0].text);
    let paragraphs = 4 + rng.below(6);
    for number in 0..paragraphs {
        if number % 3 == 2 {
            let mut text = filled(grammar, rng.pick(grammar.section(Section::Heads)), rng);
            capitalise(&mut text);
            prose.blocks.push(Block { kind: BlockKind::Heading, text });
        }
        let mut text = sentence(grammar, rng);
        for _ in 0..2 + rng.below(4) {
            glue(grammar, &mut text, &sentence(grammar, rng));
        }
        plant(grammar, rng, story, day, &mut text);
        prose.blocks.push(Block { kind: BlockKind::Paragraph, text });
        if rng.chance(15) {
            let mut text = filled(grammar, rng.pick(grammar.section(Section::Quotes)), rng);
            capitalise(&mut text);
            text.push_str(if grammar.spaced() { "." } else { "。" });
            glue(grammar, &mut text, &sentence(grammar, rng));
            prose.blocks.push(Block { kind: BlockKind::Quote, text });
        }
        if rng.chance(10) {
            for _ in 0..3 {
                let mut text = thing(grammar, Section::Objects, rng);
                capitalise(&mut text);
                prose.blocks.push(Block { kind: BlockKind::ListItem, text });
            }
        }
    }
    prose
}

/// Another sentence of the language, for padding, comments and teasers.
pub fn filler_sentence(grammar: &Grammar, rng: &mut Rng) -> String {
    sentence(grammar, rng)
}

/// Adds the planted words of this paragraph according to the curves of its day.
fn plant(grammar: &Grammar, rng: &mut Rng, story: Story, day: Date, text: &mut String) {
    for trend in &grammar.trends {
        if rng.unit() < story.share_of_paragraphs(trend, day) {
            let frame = rng.pick(grammar.section(Section::Plants));
            let mut planted = filled(grammar, &frame.replace("{T}", trend.word), rng);
            // A word at the start of the sentence keeps its form, so that it can be counted.
            if !frame.starts_with("{T}") {
                capitalise(&mut planted);
            }
            glue(grammar, text, &planted);
        }
    }
}

fn sentence(grammar: &Grammar, rng: &mut Rng) -> String {
    let section = if rng.chance(10) { Section::Remarks } else { Section::Frames };
    let mut text = filled(grammar, rng.pick(grammar.section(section)), rng);
    capitalise(&mut text);
    text
}

fn glue(grammar: &Grammar, text: &mut String, next: &str) {
    if grammar.spaced() {
        text.push(' ');
    }
    text.push_str(next);
}

fn person(grammar: &Grammar, rng: &mut Rng) -> String {
    let first = rng.pick(grammar.section(Section::First));
    let last = if rng.chance(20) { rng.pick(grammar.section(Section::Last)) } else { grammar.names().family(rng) };
    grammar.person(first, last)
}

/// A noun phrase, often with a town, which makes reports differ.
fn thing(grammar: &Grammar, section: Section, rng: &mut Rng) -> String {
    let plain = rng.pick(grammar.section(section));
    if rng.chance(15) {
        return plain.to_owned();
    }
    let belonging = rng.pick(grammar.section(Section::Belonging));
    belonging.replace("{X}", grammar.names().town(rng)).replace("{_}", plain)
}

fn place(grammar: &Grammar, rng: &mut Rng) -> String {
    match rng.chance(25) {
        true => rng.pick(grammar.section(Section::Places)).to_owned(),
        false => rng.pick(grammar.section(Section::Towns)).replace("{X}", grammar.names().town(rng)),
    }
}

/// Puts a phrase into every slot of a frame.
pub fn filled(grammar: &Grammar, frame: &str, rng: &mut Rng) -> String {
    let mut out = String::with_capacity(frame.len() * 4);
    let mut rest = frame;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let slot = rest[at + 1..].chars().next();
        match slot {
            Some('S') => out.push_str(&thing(grammar, Section::Subjects, rng)),
            Some('V') => out.push_str(rng.pick(grammar.section(Section::Verbs))),
            Some('O') => out.push_str(&thing(grammar, Section::Objects, rng)),
            Some('A') => out.push_str(rng.pick(grammar.section(Section::Adverbs))),
            Some('C') => out.push_str(&place(grammar, rng)),
            Some('P') => out.push_str(&person(grammar, rng)),
            Some('N') => out.push_str(&(2 + rng.below(900)).to_string()),
            _ => {}
        }
        rest = rest[at..].split_once('}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// Capitalises the first letter, in scripts with case.
pub(super) fn capitalise(text: &mut String) {
    let Some(first) = text.chars().next() else {
        return;
    };
    if first.is_lowercase() {
        let raised: String = first.to_uppercase().collect();
        text.replace_range(..first.len_utf8(), &raised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{CODES, grammar};
    use jiff::civil::date;

    #[test]
    fn no_slot_is_left_open_in_any_language() {
        for code in CODES {
            for number in 0..200 {
                let mut rng = Rng::named(&[number]);
                let prose = compose(grammar(code), &mut rng, Story::from(date(2026, 3, 1)), date(2026, 3, 2));
                assert!(!prose.title.contains(['{', '}']));
                assert!(prose.blocks.len() >= 5);
                assert!(prose.blocks.iter().all(|block| !block.text.contains(['{', '}'])));
            }
        }
    }

    #[test]
    fn planted_words_follow_their_curve() {
        let story = Story::from(date(2026, 3, 1));
        for code in CODES {
            let own = grammar(code);
            for day in [date(2026, 3, 1), date(2026, 3, 4), date(2026, 3, 21)] {
                let mut texts = Vec::new();
                for number in 0..200 {
                    let mut rng = Rng::named(&[5, number]);
                    let blocks = compose(own, &mut rng, story, day).blocks;
                    let running = blocks.into_iter().filter(|block| block.kind == BlockKind::Paragraph);
                    texts.extend(running.map(|block| block.text));
                }
                for trend in &own.trends {
                    let found: usize = texts.iter().map(|text| trend.count_in(text)).sum();
                    let share = found as f64 / texts.len() as f64;
                    let expected = story.share_of_paragraphs(trend, day);
                    let spread = 5.0 * (expected / texts.len() as f64).sqrt();
                    assert!((share - expected).abs() <= spread, "{code} {trend:?} {day}: {share} for {expected}");
                }
            }
        }
    }

    #[test]
    fn the_lead_of_the_head_opens_the_whole_article() {
        let own = grammar("de");
        let head = compose_head(own, &mut Rng::named(&[9]));
        let whole = compose(own, &mut Rng::named(&[9]), Story::from(date(2026, 3, 1)), date(2026, 3, 1));
        assert_eq!(head.title, whole.title);
        assert!(whole.blocks[0].text.starts_with(&head.blocks[0].text));
    }
}
