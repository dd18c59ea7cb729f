//! Models of taggers and of boundaries, which users may train and pass on.

use std::borrow::Cow;

use tidings_annotate::{BoundaryModel, ModelInfo, Models, Tagger};
use tidings_model::Token;

/// Model files: a file of models, one model without its wrapping, a model of boundaries. The first byte chooses. What is
/// read can tag.
pub fn model(bytes: &[u8]) {
    let Some((first, model)) = bytes.split_first() else { return };
    match first % 3 {
        0 => {
            if let Ok(models) = Models::from_bytes(Cow::Owned(model.to_vec())) {
                let _ = models.check();
            }
        }
        1 => {
            if let Ok(tagger) = Tagger::read(ModelInfo::default(), model) {
                let word = |word: &str| Token { word: word.into(), space_after: true, ..Token::default() };
                let mut sentence = ["The", "storm", "hit", "Äänekoski", "2026", "."].map(word);
                tagger.tag(&mut sentence);
                let _ = tagger.parts("du");
            }
        }
        _ => {
            if let Some(model) = BoundaryModel::read(model) {
                let _ = model;
            }
        }
    }
}
