//! A strict parser of Manatee registry files. Manatee is not available as a package for tests, so its grammar is
//! implemented here: what this parser rejects, `compilecorp` would reject.

use std::collections::{BTreeMap, BTreeSet};

/// Corpus options from the documentation that an exporter may write.
const OF_CORPUS: [&str; 18] = [
    "NAME",
    "PATH",
    "VERTICAL",
    "ENCODING",
    "LANGUAGE",
    "DEFAULTLOCALE",
    "INFO",
    "INFOHREF",
    "TAGSETDOC",
    "DOCSTRUCTURE",
    "DEFAULTATTR",
    "MAINTAINER",
    "SHORTREF",
    "FULLREF",
    "SUBCORPATTRS",
    "FREQTTATTRS",
    "RIGHTTOLEFT",
    "NOLETTERCASE",
];
/// Options of an attribute.
const OF_ATTRIBUTE: [&str; 15] = [
    "LABEL",
    "TYPE",
    "LOCALE",
    "MULTIVALUE",
    "MULTISEP",
    "DYNAMIC",
    "DYNLIB",
    "DYNTYPE",
    "FUNTYPE",
    "FROMATTR",
    "ARG1",
    "ARG2",
    "TRANSQUERY",
    "DEFAULTVALUE",
    "NUMERIC",
];
/// Options of a structure.
const OF_STRUCTURE: [&str; 6] = ["LABEL", "TYPE", "DISPLAYTAG", "DISPLAYCLASS", "DISPLAYBEGIN", "DISPLAYEND"];

/// A corpus, a structure or an attribute.
#[derive(Debug, Default)]
pub struct Entry {
    options: BTreeMap<String, String>,
    attributes: Vec<(String, Entry)>,
    structures: Vec<(String, Entry)>,
}

/// Parses a registry or returns the error.
pub fn read(text: &str) -> Result<Entry, String> {
    let mut lines = text.lines().enumerate();
    let corpus = block(&mut lines, &OF_CORPUS, false)?;
    let stored = corpus.attributes.iter().filter(|(_, entry)| !entry.options.contains_key("DYNAMIC"));
    let stored: Vec<&str> = stored.map(|(name, _)| name.as_str()).collect();
    for (name, entry) in &corpus.attributes {
        let from = entry.options.get("FROMATTR");
        if entry.options.contains_key("DYNAMIC") && !from.is_some_and(|from| stored.contains(&from.as_str())) {
            return Err(format!("{name} is made of an attribute that is not there"));
        }
    }
    for option in ["PATH", "VERTICAL", "ENCODING"] {
        corpus.options.get(option).ok_or_else(|| format!("{option} is missing"))?;
    }
    let named = |name: &str| stored.contains(&name);
    if !corpus.options.get("DEFAULTATTR").is_none_or(|name| named(name)) || stored.is_empty() {
        return Err("the default attribute is none".to_owned());
    }
    Ok(corpus)
}

type Lines<'a> = std::iter::Enumerate<std::str::Lines<'a>>;

fn block(lines: &mut Lines<'_>, known: &[&str], is_inner: bool) -> Result<Entry, String> {
    let mut entry = Entry::default();
    while let Some((number, line)) = lines.next() {
        let fault = |what: &str| Err(format!("line {}: {what}: {line}", number + 1));
        let line = line.trim_matches([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == "}" {
            return if is_inner { Ok(entry) } else { fault("a brace closes nothing") };
        }
        let name = line.split([' ', '\t']).next().unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_name = is_name && name.starts_with(|c: char| c.is_ascii_uppercase());
        let Ok((value, rest)) = value(line[name.len()..].trim_start()) else { return fault("no value") };
        let opens = match rest.trim() {
            "" => false,
            "{" => true,
            _ => return fault("more than a value"),
        };
        match name {
            "ATTRIBUTE" | "STRUCTURE" => {
                let is_attribute = name == "ATTRIBUTE";
                let options: &[&str] = if is_attribute { &OF_ATTRIBUTE } else { &OF_STRUCTURE };
                let inner = if opens { block(lines, options, true)? } else { Entry::default() };
                let list = if is_attribute { &mut entry.attributes } else { &mut entry.structures };
                if list.iter().any(|(known, _)| *known == value) {
                    return fault("that was there before");
                }
                list.push((value, inner));
            }
            _ if !is_name || opens => return fault("no option"),
            _ if !known.contains(&name) => return fault("an unknown option"),
            _ if entry.options.insert(name.to_owned(), value).is_some() => return fault("that was said before"),
            _ => {}
        }
    }
    if is_inner { Err("a brace is not closed".to_owned()) } else { Ok(entry) }
}

/// A value and the text after it: plain, or in quotation marks without escaping.
fn value(text: &str) -> Result<(String, &str), ()> {
    let first = text.chars().next().ok_or(())?;
    if matches!(first, '"' | '\'') {
        let (value, rest) = text[1..].split_once(first).ok_or(())?;
        return Ok((value.to_owned(), rest));
    }
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let begins = first.is_ascii_lowercase() || first.is_ascii_digit() || matches!(first, '/' | '.');
    let end = text.find(|c| !is_bare(c)).unwrap_or(text.len());
    if begins { Ok((text[..end].to_owned(), &text[end..])) } else { Err(()) }
}

impl Entry {
    /// Checks that a vertical file contains only what the registry declares.
    pub fn fits(&self, vertical: &str) -> Result<(), String> {
        let columns = self.attributes.iter().filter(|(_, entry)| !entry.options.contains_key("DYNAMIC")).count();
        let mut open: Vec<&str> = Vec::new();
        for line in vertical.lines() {
            let Some(tag) = line.strip_prefix('<') else {
                if line.is_empty() || line.split('\t').count() > columns {
                    return Err(format!("not {columns} columns: {line}"));
                }
                continue;
            };
            let tag = tag.strip_suffix('>').ok_or_else(|| format!("no tag: {line}"))?;
            if let Some(name) = tag.strip_prefix('/') {
                if open.pop() != Some(name) {
                    return Err(format!("{line} closes nothing"));
                }
                continue;
            }
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            let structure = self.structures.iter().find(|(known, _)| known == name);
            let structure = structure.ok_or_else(|| format!("{name} is no structure"))?;
            let known: BTreeSet<&str> = structure.1.attributes.iter().map(|(name, _)| name.as_str()).collect();
            let mut rest = tag[name.len()..].trim_end_matches('/').trim();
            while !rest.is_empty() {
                let (attribute, after) = rest.split_once("=\"").ok_or_else(|| format!("no attribute: {rest}"))?;
                if !known.contains(attribute) {
                    return Err(format!("{name} has no attribute {attribute}"));
                }
                rest = after.split_once('"').ok_or_else(|| format!("no end: {rest}"))?.1.trim_start();
            }
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are open at the end")) }
    }
}

#[test]
fn invalid_registries_are_rejected() {
    let good = "# x\nPATH \"./x/\"\nVERTICAL './x y'\nENCODING \"UTF-8\"\nATTRIBUTE word\nSTRUCTURE doc {\n\tATTRIBUTE \"_id\"\n}\n";
    let corpus = read(good).unwrap();
    assert!(corpus.fits("<doc _id=\"1\">\nRain\n</doc>\n").is_ok());
    for bad in ["<doc id=\"1\">\n</doc>", "<p>\n</p>", "<doc>", "a\tb", "</doc>"] {
        assert!(corpus.fits(bad).is_err(), "{bad}");
    }
    let wrong = [
        ("ATTRIBUTE word", "ATTRIBUTE Word"),
        ("ATTRIBUTE \"_id\"", "ATTRIBUTE _id"),
        ("doc {", "doc { ATTRIBUTE id"),
        ("\n}\n", "\n"),
        ("UTF-8\"", "UTF-8"),
        ("ENCODING", "ENCODINGS"),
        ("# x", "DEFAULTATTR lemma"),
        ("PATH", "path"),
    ];
    for (from, to) in wrong {
        assert!(read(&good.replacen(from, to, 1)).is_err(), "{to}");
    }
}
