//! Places of hits in the text.

use serde::{Deserialize, Serialize};

use super::{Part, SearchPart, Searched, are_days};
use crate::engine::HitPlaces;
use crate::question::{QuestionContext, QuestionError};

/// The place of each hit in the text of its day.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct HitPlacesPart {
    pub(in crate::question) search: SearchPart,
}

impl Part for HitPlacesPart {
    const NAME: &'static str = "places";
    type Sum = HitPlaces;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<HitPlaces, QuestionError> {
        Ok(self.search.search(context)?.hit_places(&context.limits))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }

    fn is_plausible(places: &HitPlaces) -> bool {
        are_days(places.days.keys())
    }
}
