//! The registry file with which Manatee, the engine of NoSketch Engine and KonText, compiles a vertical file.
//!
//! The grammar is small and strict: an upper-case name and a value per line, values plain or in quotation marks without
//! escaping, blocks in braces. Paths that start with a dot are relative to the registry.

use std::collections::BTreeSet;

use tidings_model::Annotated;

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
}

impl Contents {
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
        if !(self.has_lemmas && self.has_tags && self.has_feats) {
            for token in document.paragraphs.iter().flat_map(|paragraph| paragraph.sentences.iter().flatten()) {
                self.has_lemmas |= !token.lemma.is_empty();
                self.has_tags |= !token.tag.is_empty();
                self.has_feats |= !token.feats.is_empty();
            }
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
        // Columns are positional: tags require lemmas, and features require both.
        if self.has_lemmas || self.has_tags || self.has_feats {
            text.push_str("ATTRIBUTE lemma\nATTRIBUTE tag\n");
        }
        if self.has_feats {
            text.push_str("ATTRIBUTE feats {\n\tMULTIVALUE yes\n\tMULTISEP \"|\"\n}\n");
        }
        text.push_str(
            "ATTRIBUTE lc {\n\tLABEL \"word (lowercase)\"\n\tDYNAMIC utf8lowercase\n\tDYNLIB internal\n\tARG1 \"C\"\n\
             \tFUNTYPE s\n\tFROMATTR word\n\tDYNTYPE index\n\tTRANSQUERY yes\n}\n\nSTRUCTURE doc {\n\tATTRIBUTE id\n",
        );
        for field in &self.fields {
            // A bare value begins with a small letter.
            let is_bare = field.starts_with(|c: char| c.is_ascii_lowercase());
            let field = if is_bare { field.clone() } else { format!("\"{field}\"") };
            text.push_str(&format!("\tATTRIBUTE {field}\n"));
        }
        text.push_str("}\n");
        let of_paragraphs = [(self.has_kinds, "kind"), (self.has_languages, "lang")];
        let of_paragraphs: String =
            of_paragraphs.iter().filter(|row| row.0).map(|row| format!("\tATTRIBUTE {}\n", row.1)).collect();
        match of_paragraphs.is_empty() {
            true => text.push_str("STRUCTURE p\n"),
            false => text.push_str(&format!("STRUCTURE p {{\n{of_paragraphs}}}\n")),
        }
        text.push_str("STRUCTURE s\nSTRUCTURE g {\n\tDISPLAYTAG 0\n\tDISPLAYBEGIN \"_EMPTY_\"\n}\n");
        text
    }
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
