//! Selection and order of annotators of further layers.

use super::{Gives, Input, LayerAnnotator};

/// Error in the selection of annotators.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// There is no annotator of this name.
    #[error("unknown layer `{name}`; {}", known_layers(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A required layer is not selected.
    #[error("the layer `{name}` needs the layer `{needed}`; add `{needed}`, or remove `{name}`")]
    Missing {
        /// The annotator.
        name: &'static str,
        /// The layer that it needs.
        needed: &'static str,
    },
    /// Tags, lemmas or features are required but switched off.
    #[error("the layer `{name}` needs {}; switch them on, or remove `{name}`", input_name(*.needed))]
    NotGiven {
        /// The annotator.
        name: &'static str,
        /// The layer that it needs.
        needed: Input,
    },
    /// Annotators need each other.
    #[error("the layers {} need each other, so that none of them can be the first", .names.join(", "))]
    Cycle {
        /// Their names.
        names: Vec<&'static str>,
    },
    /// Two annotators give the same layer.
    #[error("the layers `{first}` and `{second}` both give `{layer}`; remove one of them")]
    Clash {
        /// The first annotator.
        first: &'static str,
        /// The second one.
        second: &'static str,
        /// The layer that both give.
        layer: &'static str,
    },
}

fn known_layers(known: &[&'static str]) -> String {
    match known.is_empty() {
        true => "there are no further layers".to_owned(),
        false => format!("known layers: {}", known.join(", ")),
    }
}

fn input_name(input: Input) -> &'static str {
    match input {
        Input::Lemmas => "lemmas",
        Input::Tags => "tags",
        Input::Features => "features",
        Input::Layer(name) => name,
    }
}

/// Selects annotators by name and orders them by their needs; among those that may come next, the first of `known` does.
pub fn select(names: &[String], known: &[LayerAnnotator]) -> Result<Vec<LayerAnnotator>, ChainError> {
    if let Some(name) = names.iter().find(|name| !known.iter().any(|layer| layer.name == **name)) {
        return Err(ChainError::Unknown { name: name.clone(), known: known.iter().map(|layer| layer.name).collect() });
    }
    let mut waiting: Vec<LayerAnnotator> =
        known.iter().filter(|layer| names.iter().any(|name| name == layer.name)).copied().collect();
    check_clashes(&waiting)?;
    for layer in &waiting {
        for input in layer.required() {
            if let Input::Layer(needed) = input
                && !waiting.iter().any(|other| other.name == needed)
            {
                return Err(ChainError::Missing { name: layer.name, needed });
            }
        }
    }
    let mut ordered: Vec<LayerAnnotator> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let is_ready = |layer: &LayerAnnotator| {
            layer.layers_read().all(|read| !waiting.iter().any(|other| other.name == read && other != layer))
        };
        match waiting.iter().position(is_ready) {
            Some(next) => ordered.push(waiting.remove(next)),
            None => return Err(ChainError::Cycle { names: waiting.iter().map(|layer| layer.name).collect() }),
        }
    }
    Ok(ordered)
}

fn check_clashes(layers: &[LayerAnnotator]) -> Result<(), ChainError> {
    for (index, first) in layers.iter().enumerate() {
        for second in &layers[index + 1..] {
            let both = match (&first.gives, &second.gives) {
                (Gives::Column(..), Gives::Column(..)) if first.name == second.name => Some(first.name),
                (Gives::Spans(own, _), Gives::Spans(others, _)) => {
                    own.iter().copied().find(|name| others.contains(name))
                }
                _ => None,
            };
            if let Some(layer) = both {
                return Err(ChainError::Clash { first: first.name, second: second.name, layer });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{LAYERS, Need};
    use super::*;
    use tidings_model::LayerKind;

    const fn column(name: &'static str, needs: &'static [Need]) -> LayerAnnotator {
        LayerAnnotator {
            name,
            version: 1,
            needs,
            gives: Gives::Column(LayerKind::Text, |_, _| Vec::new()),
            tables: &[],
        }
    }

    const fn spans(name: &'static str, names: &'static [&'static str]) -> LayerAnnotator {
        LayerAnnotator { name, version: 1, needs: &[], gives: Gives::Spans(names, |_, _| Vec::new()), tables: &[] }
    }

    fn names_of(names: &[&str], known: &[LayerAnnotator]) -> Result<Vec<&'static str>, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let selected = select(&names, known).map_err(|error| error.to_string())?;
        Ok(selected.iter().map(|layer| layer.name).collect())
    }

    #[test]
    fn annotators_run_after_those_whose_layers_they_read() {
        const A: LayerAnnotator = column("a", &[Need::Required(Input::Layer("c")), Need::Optional(Input::Layer("x"))]);
        const B: LayerAnnotator = column("b", &[]);
        const C: LayerAnnotator = column("c", &[Need::Optional(Input::Layer("b")), Need::Required(Input::Tags)]);
        let known = [A, B, C];
        assert_eq!(names_of(&["c", "a", "b"], &known).unwrap(), ["b", "c", "a"]);
        assert_eq!(names_of(&["a", "c"], &known).unwrap(), ["c", "a"], "an optional need may be missing");
        let error = names_of(&["a", "b"], &known).unwrap_err();
        assert_eq!(error, "the layer `a` needs the layer `c`; add `c`, or remove `a`");
        assert_eq!(names_of(&[], &known).unwrap(), [""; 0]);
    }

    #[test]
    fn wrong_selections_are_errors_with_a_remedy() {
        const A: LayerAnnotator = column("a", &[Need::Optional(Input::Layer("b"))]);
        const B: LayerAnnotator = column("b", &[Need::Optional(Input::Layer("a"))]);
        let error = names_of(&["b", "z"], &[A, B]).unwrap_err();
        assert_eq!(error, "unknown layer `z`; known layers: a, b");
        assert_eq!(names_of(&["z"], &[]).unwrap_err(), "unknown layer `z`; there are no further layers");
        assert!(names_of(&["a", "b"], &[A, B]).unwrap_err().starts_with("the layers a, b need each other"));
        let clash = [spans("people", &["ne", "title"]), spans("places", &["ne"])];
        let error = names_of(&["people", "places"], &clash).unwrap_err();
        assert_eq!(error, "the layers `people` and `places` both give `ne`; remove one of them");
    }

    #[test]
    fn the_layers_of_the_table_can_be_selected_together() {
        let names: Vec<String> = LAYERS.iter().map(|layer| layer.name.to_owned()).collect();
        assert_eq!(select(&names, LAYERS).map(|chain| chain.len()), Ok(LAYERS.len()));
    }

    #[test]
    fn recipes_record_the_tables_of_a_layer() {
        let version = |name: &str| {
            let layer = LAYERS.iter().find(|layer| layer.name == name).unwrap();
            (layer.record().version, layer.version.to_string())
        };
        let (recorded, own) = version("names");
        assert!(recorded.starts_with(&format!("{own} ")) && recorded.len() == own.len() + 9, "{recorded}");
        let (recorded, own) = version("foreign");
        assert_eq!(recorded, own, "a layer without tables has its version alone");
    }
}
