//! The registry file with which Manatee, the engine of NoSketch Engine and KonText, compiles a vertical file.
//!
//! The grammar is small and strict: an upper-case name and a value per line, values plain or in quotation marks without
//! escaping, blocks in braces. Paths that start with a dot are relative to the registry.

use std::collections::{BTreeMap, BTreeSet};

use tidings_model::{Annotated, LayerKind, TokenSpan};

/// The columns and attributes of a vertical file for its registry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    has_lemmas: bool,
    has_tags: bool,
    has_feats: bool,
    has_kinds: bool,
    has_languages: bool,
    fields: BTreeSet<String>,
    languages: BTreeSet<String>,
    /// Further columns, which all documents have.
    columns: BTreeMap<String, LayerKind>,
    spans: BTreeMap<String, SpanContents>,
}

/// Attributes of the spans of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SpanContents {
    attributes: BTreeSet<String>,
    /// True if one of them is inside of another or crosses it.
    is_nested: bool,
}

impl Contents {
    /// Contents of a file whose documents all have these further columns.
    pub fn with_columns(columns: BTreeMap<String, LayerKind>) -> Contents {
        Contents { columns, ..Contents::default() }
    }

    /// Records a document.
    pub fn see(&mut self, document: &Annotated, language: &str) {
        let own = [
            ("url", &document.about.url),
            ("title", &document.about.title),
            ("date", &document.about.date),
            ("seen", &document.about.seen),
        ];
        let own = own.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
        for name in own.chain(document.about.fields.iter().map(|(name, _)| name.as_str())) {
            if !self.fields.contains(name) {
                self.fields.insert(name.to_owned());
            }
        }
        if !self.languages.contains(language) {
            self.languages.insert(language.to_owned());
        }
        self.has_kinds |= document.paragraphs.iter().any(|paragraph| !paragraph.kind.is_empty());
        self.has_languages |= document.paragraphs.iter().any(|paragraph| !paragraph.language.is_empty());
        self.see_spans(&document.spans);
        if !(self.has_lemmas && self.has_tags && self.has_feats) {
            for token in document.paragraphs.iter().flat_map(|paragraph| paragraph.sentences.iter().flatten()) {
                self.has_lemmas |= !token.lemma.is_empty();
                self.has_tags |= !token.tag.is_empty();
                self.has_feats |= !token.feats.is_empty();
            }
        }
    }

    fn see_spans(&mut self, spans: &[TokenSpan]) {
        let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
        for span in spans {
            if !self.spans.contains_key(&span.name) {
                self.spans.insert(span.name.clone(), SpanContents::default());
            }
            let contents = self.spans.get_mut(&span.name).expect("inserted above");
            for (name, _) in &span.attributes {
                if !contents.attributes.contains(name) {
                    contents.attributes.insert(name.clone());
                }
            }
            let end = ends.entry(&span.name).or_default();
            contents.is_nested |= span.start < *end;
            *end = span.end.max(*end);
        }
    }

    /// The registry of a vertical file; `language_name` returns English names of languages. To install it, set `PATH`
    /// to the folder of the compiled corpus.
    pub fn registry(&self, file: &str, language_name: impl Fn(&str) -> Option<&'static str>) -> String {
        // A quotation mark would end the value.
        let file = file.replace(['"', '\n'], "_");
        let name = file.split('.').next().unwrap_or_default();
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
        let vertical = match file.rsplit('.').next() {
            Some("zst") => format!("| zstdcat {}", for_shell(&file)),
            Some("gz") => format!("| gzip -dc {}", for_shell(&file)),
            _ => format!("./{file}"),
        };
        let mut text = format!(
            "# Compile with: compilecorp --no-sketches ./{file}.registry\n\
             NAME \"{name}\"\nPATH \"./manatee/{plain}/\"\nVERTICAL \"{vertical}\"\nENCODING \"UTF-8\"\n"
        );
        let language = self.languages.iter().next().filter(|_| self.languages.len() == 1);
        if let Some(name) = language.and_then(|code| language_name(code)) {
            text.push_str(&format!("LANGUAGE \"{name}\"\n"));
        }
        text.push_str("INFO \"Written by Tidings from web feeds\"\nDOCSTRUCTURE doc\nDEFAULTATTR word\n\n");
        text.push_str("ATTRIBUTE word\n");
        // Columns are positional: tags require lemmas, features require both, and further columns all of them.
        let has_more = !self.columns.is_empty();
        if self.has_lemmas || self.has_tags || self.has_feats || has_more {
            text.push_str("ATTRIBUTE lemma\nATTRIBUTE tag\n");
        }
        if self.has_feats || has_more {
            text.push_str(&format!("ATTRIBUTE feats{SET}"));
        }
        for (name, kind) in &self.columns {
            text.push_str(&format!("ATTRIBUTE {}{}", bare(name), if *kind == LayerKind::Set { SET } else { "\n" }));
        }
        text.push_str(
            "ATTRIBUTE lc {\n\tLABEL \"word (lowercase)\"\n\tDYNAMIC utf8lowercase\n\tDYNLIB internal\n\tARG1 \"C\"\n\
             \tFUNTYPE s\n\tFROMATTR word\n\tDYNTYPE index\n\tTRANSQUERY yes\n}\n\nSTRUCTURE doc {\n\tATTRIBUTE id\n",
        );
        for field in &self.fields {
            text.push_str(&format!("\tATTRIBUTE {}\n", bare(field)));
        }
        text.push_str("}\n");
        self.structures(&mut text);
        text
    }

    /// Structures below documents: paragraphs, sentences and spans.
    fn structures(&self, text: &mut String) {
        let of_paragraphs = [(self.has_kinds, "kind"), (self.has_languages, "lang")];
        let of_paragraphs: String =
            of_paragraphs.iter().filter(|row| row.0).map(|row| format!("\tATTRIBUTE {}\n", row.1)).collect();
        match of_paragraphs.is_empty() {
            true => text.push_str("STRUCTURE p\n"),
            false => text.push_str(&format!("STRUCTURE p {{\n{of_paragraphs}}}\n")),
        }
        text.push_str("STRUCTURE s\nSTRUCTURE g {\n\tDISPLAYTAG 0\n\tDISPLAYBEGIN \"_EMPTY_\"\n}\n");
        for (name, contents) in &self.spans {
            let mut inside: String =
                contents.attributes.iter().map(|attribute| format!("\tATTRIBUTE {}\n", bare(attribute))).collect();
            // Without NESTED, Manatee's encodevert ends an open structure where the next one of its name begins. Spans of
            // one name that cross without nesting have no form in a vertical file for it: the inner end tag ends the later one.
            if contents.is_nested {
                inside.push_str("\tNESTED yes\n");
            }
            match inside.is_empty() {
                true => text.push_str(&format!("STRUCTURE {}\n", bare(name))),
                false => text.push_str(&format!("STRUCTURE {} {{\n{inside}}}\n", bare(name))),
            }
        }
    }
}

/// The block of an attribute with several values, after its name.
const SET: &str = " {\n\tMULTIVALUE yes\n\tMULTISEP \"|\"\n}\n";

/// A name as a value. One without quotation marks begins with a small letter.
fn bare(name: &str) -> String {
    let is_bare = name.starts_with(|c: char| c.is_ascii_lowercase());
    if is_bare { name.to_owned() } else { format!("\"{name}\"") }
}

/// Quotes a name for the shell.
fn for_shell(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.bytes().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{AnnotatedParagraph, Attributes, Token};

    #[test]
    fn further_columns_and_spans_are_declared() {
        let columns =
            BTreeMap::from([("Mood".to_owned(), LayerKind::Set), ("syllables".to_owned(), LayerKind::Number)]);
        let mut contents = Contents::with_columns(columns);
        let spans = vec![
            TokenSpan::new("ne", 0, 4).with("type", "ORG"),
            TokenSpan::new("ne", 2, 3).with("Id", "7"),
            TokenSpan::new("quote", 3, 5),
        ];
        contents.see(&Annotated { spans, ..Annotated::default() }, "de");
        let registry = contents.registry("news.vert", |_| None);
        let set = "{\n\tMULTIVALUE yes\n\tMULTISEP \"|\"\n}\n";
        let attributes =
            format!("ATTRIBUTE tag\nATTRIBUTE feats {set}ATTRIBUTE \"Mood\" {set}ATTRIBUTE syllables\nATTRIBUTE lc");
        assert!(registry.contains(&attributes), "{registry}");
        let structures = "STRUCTURE ne {\n\tATTRIBUTE \"Id\"\n\tATTRIBUTE type\n\tNESTED yes\n}\nSTRUCTURE quote\n";
        assert!(registry.ends_with(structures), "{registry}");
    }

    #[test]
    fn a_registry_declares_the_columns_and_attributes_of_the_file() {
        let token = Token { word: "Regen".into(), lemma: "Regen".into(), tag: "NOUN".into(), ..Token::default() };
        let fields = vec![("site".to_owned(), "e.org".to_owned())];
        let about = Attributes { url: "http://e.org".into(), fields, ..Attributes::default() };
        let paragraph = |sentences| AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
        let document = |sentences| Annotated {
            about: about.clone(),
            paragraphs: vec![paragraph(sentences)],
            ..Annotated::default()
        };
        let mut contents = Contents::default();
        contents.see(&document(vec![]), "de");
        let bare = contents.registry("news.vert", |_| Some("German"));
        assert!(bare.contains("VERTICAL \"./news.vert\"") && bare.contains("\tATTRIBUTE site\n"), "{bare}");
        assert!(!bare.contains("ATTRIBUTE lemma") && bare.contains("LANGUAGE \"German\""), "{bare}");
        contents.see(&document(vec![vec![token.clone()]]), "fr");
        let full = contents.registry("news.vert.zst", |_| Some("German"));
        assert!(full.contains("ATTRIBUTE word\nATTRIBUTE lemma\nATTRIBUTE tag\n"), "{full}");
        let spaced = contents.registry("it's \"news\" today.vert.gz", |_| None);
        assert!(spaced.contains("VERTICAL \"| gzip -dc 'it'\\''s _news_ today.vert.gz'\"\n"), "{spaced}");
        assert!(full.contains("\"| zstdcat news.vert.zst\"") && !full.contains("LANGUAGE"), "{full}");
        assert!(!full.contains("feats"), "{full}");
        contents.see(&document(vec![vec![Token { feats: "Case=Nom|Number=Sing".into(), ..token }]]), "fr");
        let full = contents.registry("news.vert", |_| None);
        assert!(full.contains("ATTRIBUTE tag\nATTRIBUTE feats {\n\tMULTIVALUE yes\n\tMULTISEP \"|\"\n}\n"), "{full}");
    }
}
