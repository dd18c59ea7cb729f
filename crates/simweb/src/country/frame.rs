//! Frames: sentences with alternatives, lists and slots, from which ordinary articles are composed.
//!
//! `{a|b}` is one of its alternatives, which may be nested; `<when>` is a member of a list; `$place` is a slot with one
//! value in an article, `$anyplace` one with a new value each time, and `$n(3-40)` a new number each time.

use std::collections::BTreeMap;

use crate::rng::Rng;

/// A sentence with alternatives and slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(&'static str),
    Slot(&'static str),
    List(&'static str),
    Number(u64, u64),
    Choice(Vec<Frame>),
}

/// Lists of alternatives by name.
pub type Lists = BTreeMap<&'static str, Vec<Frame>>;

/// The values of slots and lists by name.
pub trait Slots {
    /// The value of a slot in this article.
    fn value(&self, name: &str) -> Option<&str>;

    /// The next value of a slot that has a new one each time.
    fn fresh(&self, name: &str, rng: &mut Rng) -> Option<String>;

    /// The members of a list.
    fn list(&self, name: &str) -> Option<&[Frame]>;
}

impl Frame {
    /// Parses a frame; an error names what is wrong with it.
    pub fn parse(text: &'static str) -> Result<Frame, String> {
        let mut rest = text;
        let frame = sequence(&mut rest, 0)?;
        if rest.is_empty() { Ok(frame) } else { Err(format!("`{}` is unexpected", &rest[..1])) }
    }

    /// Parses alternatives without braces around them: the members of a list.
    pub fn parse_list(text: &'static str) -> Result<Vec<Frame>, String> {
        let mut rest = text;
        let mut members = vec![sequence(&mut rest, 1)?];
        while let Some(after) = rest.strip_prefix('|') {
            rest = after;
            members.push(sequence(&mut rest, 1)?);
        }
        if rest.is_empty() { Ok(members) } else { Err(format!("`{}` is unexpected", &rest[..1])) }
    }

    /// The names of the lists and slots in the frame.
    pub fn names(&self, out: &mut impl FnMut(Name)) {
        for part in &self.0 {
            match part {
                Part::Slot(name) => out(Name::Slot(name)),
                Part::List(name) => out(Name::List(name)),
                Part::Choice(choices) => choices.iter().for_each(|choice| choice.names(out)),
                Part::Text(_) | Part::Number(..) => {}
            }
        }
    }

    /// A sentence of the frame. Unknown slots and lists leave their names, so that tests find them.
    pub fn expand(&self, rng: &mut Rng, slots: &impl Slots, out: &mut String) {
        self.expand_at(rng, slots, out, 0);
    }

    fn expand_at(&self, rng: &mut Rng, slots: &impl Slots, out: &mut String, depth: usize) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Slot(name) => match slots.value(name) {
                    Some(value) => out.push_str(value),
                    None => out.push_str(&slots.fresh(name, rng).unwrap_or_else(|| format!("${name}"))),
                },
                Part::Number(from, to) => out.push_str(&(from + rng.below(to - from + 1)).to_string()),
                Part::Choice(choices) => one_of(choices, rng).expand_at(rng, slots, out, depth + 1),
                Part::List(name) => match slots.list(name).filter(|_| depth < MAX_DEPTH) {
                    Some(members) => one_of(members, rng).expand_at(rng, slots, out, depth + 1),
                    None => out.push_str(&format!("<{name}>")),
                },
            }
        }
    }
}

/// The name of a list or a slot in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A list.
    List(&'static str),
    /// A slot.
    Slot(&'static str),
}

/// A member of a list that is not empty.
pub fn one_of<'f>(frames: &'f [Frame], rng: &mut Rng) -> &'f Frame {
    &frames[rng.below(frames.len() as u64) as usize]
}

/// Alternatives and lists inside each other; the data use five.
const MAX_DEPTH: usize = 12;

fn sequence(rest: &mut &'static str, depth: usize) -> Result<Frame, String> {
    if depth > MAX_DEPTH {
        return Err("alternatives are nested too deeply".to_owned());
    }
    let mut parts = Vec::new();
    loop {
        let end = rest.find(['{', '|', '}', '$', '<']).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        *rest = after;
        match rest.chars().next() {
            Some('{') => parts.push(choice(rest, depth)?),
            Some('$') => parts.push(slot(rest)?),
            Some('<') => parts.push(list(rest)?),
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

fn list(rest: &mut &'static str) -> Result<Part, String> {
    let (name, after) = rest[1..].split_once('>').ok_or("`<` is not closed")?;
    *rest = after;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_name { Ok(Part::List(name)) } else { Err(format!("`{name}` is no name of a list")) }
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
    use std::sync::LazyLock;

    use super::*;

    struct Named;

    impl Slots for Named {
        fn value(&self, name: &str) -> Option<&str> {
            (name == "place").then_some("Westmere")
        }

        fn fresh(&self, name: &str, rng: &mut Rng) -> Option<String> {
            (name == "hour").then(|| rng.pick(&["six", "seven"]).to_owned())
        }

        fn list(&self, name: &str) -> Option<&[Frame]> {
            static WHEN: LazyLock<Vec<Frame>> = LazyLock::new(|| Frame::parse_list("today|at {$hour|noon}").unwrap());
            (name == "when").then_some(&WHEN)
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
    fn lists_are_replaced_by_their_members() {
        let found = expansions("It rained <when>.");
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.contains("It rained at seven."));
        assert!(expansions("It rained <where>, $why.").contains("It rained <where>, $why."));
        let mut names = Vec::new();
        Frame::parse("{<when>|$place} a").unwrap().names(&mut |name| names.push(name));
        assert_eq!(names, [Name::List("when"), Name::Slot("place")]);
    }

    #[test]
    fn an_alternative_may_be_empty() {
        assert_eq!(expansions("It rained{| again}.").len(), 2);
    }

    #[test]
    fn mistakes_are_errors() {
        for wrong in ["{a|b", "a}", "a|b", "$", "$n", "$n(3)", "$n(9-3)", "$n(x-3)", "<a", "<>", "<A b>"] {
            assert!(Frame::parse(wrong).is_err(), "{wrong}");
        }
    }
}
