//! Frames: sentences with alternatives and slots, from which ordinary articles are composed.
//!
//! `{a|b}` is one of its alternatives, which may be nested; `$place` is a slot with one value in an article, and
//! `$n(3-40)` a new number each time.

use crate::rng::Rng;

/// A sentence with alternatives and slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(&'static str),
    Slot(&'static str),
    Number(u64, u64),
    Choice(Vec<Frame>),
}

/// The values of slots by name.
pub trait Slots {
    /// The value of a slot in this article.
    fn value(&self, name: &str) -> Option<&str>;
}

impl Frame {
    /// Parses a frame; an error names what is wrong with it.
    pub fn parse(text: &'static str) -> Result<Frame, String> {
        let mut rest = text;
        let frame = sequence(&mut rest, 0)?;
        if rest.is_empty() { Ok(frame) } else { Err(format!("`{}` is unexpected", &rest[..1])) }
    }

    /// A sentence of the frame. Unknown slots stay as they are, so that tests find them.
    pub fn expand(&self, rng: &mut Rng, slots: &impl Slots, out: &mut String) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Slot(name) => out.push_str(slots.value(name).unwrap_or(name)),
                Part::Number(from, to) => out.push_str(&(from + rng.below(to - from + 1)).to_string()),
                Part::Choice(choices) => choices[rng.below(choices.len() as u64) as usize].expand(rng, slots, out),
            }
        }
    }
}

/// Alternatives inside alternatives; the data use three.
const MAX_DEPTH: usize = 8;

fn sequence(rest: &mut &'static str, depth: usize) -> Result<Frame, String> {
    if depth > MAX_DEPTH {
        return Err("alternatives are nested too deeply".to_owned());
    }
    let mut parts = Vec::new();
    loop {
        let end = rest.find(['{', '|', '}', '$']).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        *rest = after;
        match rest.chars().next() {
            Some('{') => parts.push(choice(rest, depth)?),
            Some('$') => parts.push(slot(rest)?),
            _ => return Ok(Frame(parts)),
        }
    }
}

fn choice(rest: &mut &'static str, depth: usize) -> Result<Part, String> {
    let mut choices = Vec::new();
    loop {
        // The brace or the bar before an alternative.
        *rest = &rest[1..];
        choices.push(sequence(rest, depth + 1)?);
        match rest.chars().next() {
            Some('|') => {}
            Some('}') => {
                *rest = &rest[1..];
                return Ok(Part::Choice(choices));
            }
            _ => return Err("`{` is not closed".to_owned()),
        }
    }
}

fn slot(rest: &mut &'static str) -> Result<Part, String> {
    let name = &rest[1..];
    let end = name.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(name.len());
    let (name, after) = name.split_at(end);
    *rest = after;
    if name.is_empty() {
        return Err("`$` without a name".to_owned());
    }
    if name != "n" {
        return Ok(Part::Slot(name));
    }
    let range = after.strip_prefix('(').and_then(|after| after.split_once(')'));
    let (range, after) = range.ok_or("`$n` needs a range such as (3-40)")?;
    *rest = after;
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
    let (from, to) = range.split_once('-').ok_or("`$n` needs a range such as (3-40)")?;
    let (from, to) = (number(from)?, number(to)?);
    if from <= to { Ok(Part::Number(from, to)) } else { Err(format!("the range {from}-{to} is empty")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named;

    impl Slots for Named {
        fn value(&self, name: &str) -> Option<&str> {
            (name == "place").then_some("Westmere")
        }
    }

    fn expansions(text: &'static str) -> std::collections::BTreeSet<String> {
        let frame = Frame::parse(text).unwrap();
        let expand = |number: u64| {
            let mut out = String::new();
            frame.expand(&mut Rng::named(&[number]), &Named, &mut out);
            out
        };
        (0..200).map(expand).collect()
    }

    #[test]
    fn alternatives_and_slots_are_replaced() {
        let found = expansions("{The {lake|river}|Water} near $place {rose|fell} by $n(2-3) metres.");
        assert_eq!(found.len(), 12);
        assert!(found.contains("The lake near Westmere fell by 3 metres."));
        assert!(found.contains("Water near Westmere rose by 2 metres."));
    }

    #[test]
    fn an_alternative_may_be_empty() {
        assert_eq!(expansions("It rained{| again}.").len(), 2);
    }

    #[test]
    fn mistakes_are_errors() {
        for wrong in ["{a|b", "a}", "a|b", "$", "$n", "$n(3)", "$n(9-3)", "$n(x-3)"] {
            assert!(Frame::parse(wrong).is_err(), "{wrong}");
        }
    }
}
