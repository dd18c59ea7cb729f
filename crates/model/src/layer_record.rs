//! Annotators of further layers as recipes record them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::annotated::Annotated;
use crate::layer::{LayerColumn, LayerDeclaration, LayerKind};

/// An annotator of further layers in a recipe: with its version, so that only its layers are made again when it
/// changes, and with their names, so that the layers of a former version can be removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LayerRecord {
    /// The name of the annotator.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The token attributes that it gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The names of the spans that it gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<String>,
}

/// Names of layers of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerNames {
    /// Token attributes.
    pub columns: BTreeSet<String>,
    /// Spans.
    pub spans: BTreeSet<String>,
}

impl LayerNames {
    /// The layers that a document has.
    pub fn of(document: &Annotated) -> LayerNames {
        LayerNames {
            columns: document.columns.iter().map(|column| column.layer.name.clone()).collect(),
            spans: document.spans.iter().map(|span| span.name.clone()).collect(),
        }
    }

    /// Returns true if one of the layers of an annotator is among them.
    pub fn has_any_of(&self, record: &LayerRecord) -> bool {
        record.columns.iter().any(|name| self.columns.contains(name))
            || record.spans.iter().any(|name| self.spans.contains(name))
    }
}

/// Further layers that a text has, of any annotator or import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextLayers {
    /// Token attributes with their kinds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, LayerKind>,
    /// The names of spans.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub spans: BTreeSet<String>,
}

impl TextLayers {
    /// The layers of a document.
    pub fn of(document: &Annotated) -> TextLayers {
        let mut layers = TextLayers::default();
        layers.columns.extend(document.columns.iter().map(|column| (column.layer.name.clone(), column.layer.kind)));
        for span in &document.spans {
            if !layers.spans.contains(&span.name) {
                layers.spans.insert(span.name.clone());
            }
        }
        layers
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.spans.is_empty()
    }

    /// Adds the layers of another text.
    pub fn merge(&mut self, other: TextLayers) {
        for (name, kind) in other.columns {
            self.columns.entry(name).or_insert(kind);
        }
        self.spans.extend(other.spans);
    }

    /// Gives a document exactly these token attributes in their order, empty where it has none: some formats need the
    /// same columns in all documents.
    pub fn fill_columns(&self, document: &mut Annotated) {
        let tokens = document.tokens().count();
        let mut known: BTreeMap<String, LayerColumn> =
            document.columns.drain(..).map(|column| (column.layer.name.clone(), column)).collect();
        document.columns.extend(self.columns.iter().map(|(name, kind)| {
            known.remove(name).unwrap_or_else(|| LayerColumn {
                layer: LayerDeclaration { name: name.clone(), kind: *kind, origin: String::new() },
                values: vec![String::new(); tokens],
            })
        }));
    }
}
