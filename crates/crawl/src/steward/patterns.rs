//! Names of sections without the name of their domain, each kept once.
//!
//! A crawl knows millions of sections, and most sites share the forms of their URLs: `www.` before the registered domain
//! and `/news/D/*` after it. A section has the number of such a pattern instead of a name of its own.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::domain::host_of;
use super::names::NameTable;

/// Separates the two sides of the domain.
const OWN: char = '\t';
/// Begins a name that does not have its domain.
const WHOLE: char = '\n';

/// The patterns of a crawl.
#[derive(Debug, Default)]
pub struct Patterns {
    text: String,
    /// The end of each pattern.
    ends: Vec<usize>,
    table: NameTable,
}

/// The two sides of the domain in the name of a section, and what separates them.
type Sides<'a> = (&'a str, char, &'a str);

fn sides<'a>(name: &'a str, domain: &str) -> Sides<'a> {
    let host = host_of(name);
    let Some(at) = host.rfind(domain) else { return ("", WHOLE, name) };
    let end = at + domain.len();
    let is_label = at == 0 || host[..at].ends_with('.');
    match is_label && (end == host.len() || host[end..].starts_with(':')) {
        true => (&name[..at], OWN, &name[end..]),
        false => ("", WHOLE, name),
    }
}

fn hash((before, separator, after): Sides<'_>) -> u64 {
    xxh3_64_with_seed(after.as_bytes(), xxh3_64(before.as_bytes()) ^ u64::from(separator))
}

impl Patterns {
    fn text_of(&self, id: u32) -> &str {
        let at = id as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[at]]
    }

    fn sides_of(&self, id: u32) -> Sides<'_> {
        let text = self.text_of(id);
        let at = text.find([OWN, WHOLE]).expect("a pattern has a separator");
        let separator = if text[at..].starts_with(OWN) { OWN } else { WHOLE };
        (&text[..at], separator, &text[at + 1..])
    }

    /// The number of the pattern of a section, if it is known.
    pub fn find(&self, name: &str, domain: &str) -> Option<u32> {
        let sides = sides(name, domain);
        self.table.find(hash(sides), |id| self.sides_of(id) == sides)
    }

    /// The number of the pattern of a section.
    pub fn number(&mut self, name: &str, domain: &str) -> u32 {
        if let Some(id) = self.find(name, domain) {
            return id;
        }
        let id = self.ends.len() as u32;
        let sides = sides(name, domain);
        self.text.push_str(sides.0);
        self.text.push(sides.1);
        self.text.push_str(sides.2);
        self.ends.push(self.text.len());
        let mut table = std::mem::take(&mut self.table);
        table.insert(hash(sides), id, |id| hash(self.sides_of(id)));
        self.table = table;
        id
    }

    /// The name of a section of a domain.
    pub fn name(&self, id: u32, domain: &str) -> String {
        match self.sides_of(id) {
            (before, OWN, after) => [before, domain, after].concat(),
            (_, _, name) => name.to_owned(),
        }
    }

    /// The host of a section of a domain.
    pub fn host(&self, id: u32, domain: &str) -> String {
        match self.sides_of(id) {
            (before, OWN, after) => [before, domain, host_of(after)].concat(),
            (_, _, name) => host_of(name).to_owned(),
        }
    }

    /// The form of the URLs of a section, after its domain.
    pub fn form(&self, id: u32) -> &str {
        self.sides_of(id).2
    }

    /// What tells the host of a section from the others of its domain; `www.` does not.
    pub fn host_key(&self, id: u32) -> (&str, &str) {
        host_key(self.sides_of(id))
    }

    /// The same of a name.
    pub fn host_key_of<'a>(name: &'a str, domain: &str) -> (&'a str, &'a str) {
        host_key(sides(name, domain))
    }
}

fn host_key<'a>((before, separator, after): Sides<'a>) -> (&'a str, &'a str) {
    let bare = |host: &'a str| host.strip_prefix("www.").unwrap_or(host);
    match separator {
        OWN => (bare(before), host_of(after)),
        _ => ("", bare(host_of(after))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_restored_and_shared_by_domains() {
        let mut patterns = Patterns::default();
        let names = [
            ("a.example", "a.example/news/*"),
            ("a.example", "www.a.example/news/*"),
            ("a.example", "blog.a.example:8080/D/*?id"),
            ("127.0.0.9", "127.0.0.9/x"),
            ("a.example", "not-a.example/x"),
            ("a.example", "a.example.other/x"),
            ("site3", "s1"),
            ("a.example", ""),
        ];
        let numbers: Vec<u32> = names.iter().map(|(domain, name)| patterns.number(name, domain)).collect();
        for ((domain, name), id) in names.iter().zip(&numbers) {
            assert_eq!(patterns.name(*id, domain), *name);
            assert_eq!(patterns.host(*id, domain), host_of(name));
            assert_eq!((patterns.find(name, domain), patterns.number(name, domain)), (Some(*id), *id));
            assert_eq!(patterns.host_key(*id), Patterns::host_key_of(name, domain));
        }
        assert_eq!(patterns.number("b.example/news/*", "b.example"), numbers[0]);
        assert_eq!(patterns.find("b.example/news/", "b.example"), None);
        assert_eq!(patterns.form(numbers[1]), "/news/*");
        assert_eq!(patterns.host_key(numbers[0]), patterns.host_key(numbers[1]));
        assert_ne!(patterns.host_key(numbers[0]), patterns.host_key(numbers[2]));
    }

    #[test]
    fn many_patterns_are_told_apart() {
        let mut patterns = Patterns::default();
        for number in 0..5000 {
            assert_eq!(patterns.number(&format!("a.example/{number}/*"), "a.example"), number);
        }
        assert!((0..5000).all(|number| patterns.name(number, "b.example") == format!("b.example/{number}/*")));
    }
}
