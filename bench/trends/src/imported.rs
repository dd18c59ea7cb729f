//! The scenarios through import and all stages: `import`, `clean`, `dedup`, `annotate`, `compile`.
//!
//! Masks, the search for duplicates or the division into days could take words from some periods and not from others,
//! and statistics of an index that was written directly would not show it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tidings_formats::vertical;
use tidings_pipeline::Pipeline;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::import::{self, ImportFormat};
use tidings_pipeline::stage::StageId;
use tidings_query::engine::Engine;

use crate::product::{Size, each_document};
use crate::scenario::Scenario;

/// Imports the documents of a scenario as a vertical file into a new home in the folder, and makes its index.
pub fn index(scenario: &Scenario, size: &Size, seed: u64, folder: &Path) -> Engine {
    let file = folder.join("scenario.vert");
    let mut text = String::new();
    each_document(scenario, size, seed, |mut document| {
        // As downloaded on the last day of the quarter: days of downloads are the units of the stages.
        let (year, month) = document.about.date.split_at(4);
        let quarter = (month[1..3].parse::<u32>().expect("a month") - 1) / 3;
        document.about.seen.clear();
        write!(document.about.seen, "{year}-{}", ["03-31", "06-30", "09-30", "12-31"][quarter as usize])
            .expect("a string takes all");
        document.about.fields.push(("lang".to_owned(), "en".to_owned()));
        vertical::write(&document, &mut text);
    });
    fs::write(&file, text).expect("a file can be written");
    let pipeline = Pipeline::create(&folder.join("home")).expect("a new home can be created");
    let format = Some(ImportFormat::Vertical);
    let options = import::Options { format, no_gate: true, ..import::Options::new(vec![file]) };
    import::run(&pipeline, &options).expect("the file can be imported");
    for id in [StageId::Clean, StageId::Dedup, StageId::Annotate, StageId::Compile] {
        pipeline.run(id.stage().as_ref()).expect("a stage can run");
    }
    Corpus::open(pipeline.home(), Some("en")).expect("the corpus has an index").engine
}
