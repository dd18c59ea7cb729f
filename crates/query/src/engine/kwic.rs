//! Concordance lines (KWIC, keyword in context).

use super::{Engine, Hit, Result};
use crate::question::{KwicToken, Line};
use std::collections::BTreeMap;
use std::ops::Range;
use tidings_index::Segment;
use tidings_index::lexicon::Layer;

impl Engine {
    /// Hits with `context` tokens on either side and some fields of their documents.
    pub fn lines(&self, hits: &[Hit], context: u32, fields: &[&str]) -> Result<Vec<Line>> {
        hits.iter().map(|hit| self.line(hit, context, fields)).collect()
    }

    /// A hit with `context` tokens on either side and some fields of its document.
    pub fn line(&self, hit: &Hit, context: u32, fields: &[&str]) -> Result<Line> {
        let (segment, document) = self.document_of(hit);
        let tokens = segment.tokens_of(document);
        let left = hit.start.saturating_sub(context).max(tokens.start)..hit.start;
        let right = hit.end..hit.end.saturating_add(context).min(tokens.end);
        Ok(Line {
            left: self.tokens_of_line(segment, left, &tokens),
            node: self.tokens_of_line(segment, hit.start..hit.end, &tokens),
            right: self.tokens_of_line(segment, right, &tokens),
            ..self.line_without_text(hit, fields)?
        })
    }

    /// The position of a hit and some fields of its document.
    pub fn line_without_text(&self, hit: &Hit, fields: &[&str]) -> Result<Line> {
        let (segment, document) = self.document_of(hit);
        let id = format!("{:032x}", segment.ids().get(document as usize).unwrap_or(0));
        Ok(Line {
            fields: self.fields(segment, document, &id, fields)?,
            document: id,
            position: hit.start - segment.tokens_of(document).start,
            left: Vec::new(),
            node: Vec::new(),
            right: Vec::new(),
        })
    }

    /// A field of the document of a hit; nothing if the segment does not have it.
    pub fn field_of(&self, hit: &Hit, name: &str) -> Result<Option<String>> {
        let (segment, document) = self.document_of(hit);
        let id = || format!("{:032x}", segment.ids().get(document as usize).unwrap_or(0));
        Ok(self.fields(segment, document, &if name == "id" { id() } else { String::new() }, &[name])?.remove(name))
    }

    /// Fields of a document, given as segment and number; those that the segment does not have are missing.
    pub fn fields_of(&self, (segment, document): (usize, u32), names: &[String]) -> Result<BTreeMap<String, String>> {
        let segment = self.snapshot().segments()[segment].segment();
        let id = format!("{:032x}", segment.ids().get(document as usize).unwrap_or(0));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.fields(segment, document, &id, &names)
    }

    fn document_of(&self, hit: &Hit) -> (&Segment, u32) {
        let segment = self.snapshot().segments()[hit.segment as usize].segment();
        (segment, segment.document_at(hit.start))
    }

    fn fields(&self, segment: &Segment, document: u32, id: &str, names: &[&str]) -> Result<BTreeMap<String, String>> {
        let mut fields = BTreeMap::new();
        let needs_text = names.iter().any(|name| matches!(*name, "url" | "title"));
        let (url, title) = if needs_text { segment.address_and_title(document)? } else { Default::default() };
        for name in names {
            let value = match *name {
                "id" => Some(id.to_owned()),
                "url" => Some(url.clone()),
                "title" => Some(title.clone()),
                "date" => Some(segment.day_of(document).to_string()),
                "seen" => Some(segment.seen(document).to_string()),
                name => segment.field(name).map(|field| field.of(document).to_owned()),
            };
            fields.extend(value.map(|value| ((*name).to_owned(), value)));
        }
        Ok(fields)
    }

    fn tokens_of_line(&self, segment: &Segment, positions: Range<u32>, document: &Range<u32>) -> Vec<KwicToken> {
        let lexicon = self.lexicon();
        let token = |position: u32| {
            let lexeme = segment.lexeme_at(position);
            let [word, lemma, tag, feats] = Layer::BASE.map(|layer| lexicon.text(lexeme, layer).to_owned());
            let space_after = position + 1 >= document.end || !segment.no_space_before(position + 1);
            let further = lexicon.declared().iter().map(|(layer, declared)| (declared, lexicon.text(lexeme, layer)));
            let layers = further.filter(|(_, value)| !value.is_empty());
            let layers = layers.map(|(declared, value)| (declared.name.clone(), value.to_owned())).collect();
            KwicToken { word, lemma, tag, feats, layers, space_after }
        };
        positions.map(token).collect()
    }
}
