//! Tests of further layers, with a toy attribute and a toy span layer.

use std::io::Read as _;

use tidings_annotate::chain::{Gives, Input, LayerAnnotator, Need};
use tidings_model::{LayerKind, TokenSpan};
use tidings_store::text;

use super::*;
use crate::Pipeline;
use crate::config::{Duplicates, ExternalConfig};
use crate::testing::{article, home, page, root, store_pages};

/// The number of vowels of each word.
const SYLLABLES: LayerAnnotator = LayerAnnotator {
    name: "syllables",
    version: 1,
    needs: &[],
    gives: Gives::Column(LayerKind::Number, |document, _| {
        let vowels = |word: &str| word.chars().filter(|letter| "aeiouy".contains(*letter)).count();
        document.tokens().map(|token| vowels(&token.word).to_string()).collect()
    }),
    tables: &[],
};

/// Spans over runs of words with a capital letter.
const CAPITALS: LayerAnnotator = LayerAnnotator {
    name: "capitals",
    version: 1,
    needs: &[Need::Optional(Input::Tags)],
    gives: Gives::Spans(&["capital"], |document, language| {
        let is_capital = |word: &str| word.starts_with(char::is_uppercase);
        let capitals = (0u32..).zip(document.tokens()).filter(|(_, token)| is_capital(&token.word));
        capitals.map(|(at, _)| TokenSpan::new("capital", at, at + 1).with("lang", language)).collect()
    }),
    tables: &[],
};

const DAYS: [&str; 3] = ["2026-03-01", "2026-03-02", "2026-03-03"];

/// A home that keeps duplicates, because articles of tests differ in one word.
fn home_with_duplicates() -> (tempfile::TempDir, Pipeline) {
    let (folder, pipeline) = home();
    let mut config = pipeline.config().clone();
    config.annotate.duplicates = Duplicates::Keep;
    (folder, pipeline.with_config(config))
}

/// A home with pages of several days.
fn home_with_days() -> (tempfile::TempDir, Pipeline) {
    let (folder, pipeline) = home_with_duplicates();
    for (day, topic) in DAYS.into_iter().zip(["ferry", "museum", "library"]) {
        store_pages(&pipeline, day, &[page(&format!("https://gazette.example/{topic}"), &article(topic))]);
    }
    (folder, pipeline)
}

fn with_layers(pipeline: &Pipeline, layers: &[LayerAnnotator]) -> Pipeline {
    let mut config = pipeline.config().clone();
    config.annotate.layers.clear();
    layers.iter().for_each(|layer| config.annotate.add_layer(*layer));
    pipeline.clone().with_config(config)
}

fn annotate(pipeline: &Pipeline) -> AnnotateOutcome {
    match pipeline.run(&Annotate).unwrap() {
        StageOutcome::Annotate(outcome) => outcome,
        _ => unreachable!("the outcome is of this stage"),
    }
}

/// The text of a day in English.
fn text_of(pipeline: &Pipeline, day: &str) -> String {
    let mut text = String::new();
    text::open(pipeline.home(), &text::file_of("en", day)).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn layers_are_annotated_written_recorded_and_compiled() {
    let (_folder, pipeline) = home_with_days();
    let pipeline = with_layers(&pipeline, &[SYLLABLES, CAPITALS]);
    crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
    let text = text_of(&pipeline, DAYS[0]);
    assert!(text.contains("<layer name=\"syllables\" kind=\"number\" origin=\"syllables 1\"/>\n"), "{text}");
    assert!(text.contains("<capital lang=\"en\">\nMonday\t"), "{text}");
    let line = text.lines().find(|line| line.starts_with("mountains\t")).expect("a word of the article");
    assert_eq!(line.split('\t').next_back(), Some("4"), "{line}");
    let recipe = TextRecipe::read(pipeline.home(), DAYS[0]).unwrap().unwrap();
    assert_eq!(recipe.further_layers["en"], [SYLLABLES.record(), CAPITALS.record()]);
    let index = crate::stage::StageId::Compile.stage();
    assert!(index.due(pipeline.home(), pipeline.config()).unwrap().units.is_empty(), "the text is in the index");
    assert!(Annotate.due(pipeline.home(), pipeline.config()).unwrap().units.is_empty());
}

#[test]
fn a_changed_layer_is_made_again_without_the_tagger() {
    const NEW_SYLLABLES: LayerAnnotator = LayerAnnotator {
        version: 2,
        gives: Gives::Column(LayerKind::Number, |document, _| vec!["1".to_owned(); document.tokens().count()]),
        ..SYLLABLES
    };
    let (folder, pipeline) = home_with_days();
    let starts = folder.path().join("starts");
    let script = format!(
        r#"echo started >>'{}'; while IFS= read -r line; do case "$line" in
        '<'?*'>') printf '%s\n' "$line";; *) printf '%s\t%s\tX\n' "$line" "$line";; esac; done"#,
        starts.display()
    );
    let tool: ExternalConfig = toml::from_str(&format!("command = ['sh', '-c', '''{script}''']")).unwrap();
    let mut config = pipeline.config().clone();
    config.annotate.external.insert("en".to_owned(), tool);
    let pipeline = pipeline.with_config(config);
    let started = || std::fs::read_to_string(&starts).map_or(0, |text| text.lines().count());

    crate::rebuild::remake(&with_layers(&pipeline, &[SYLLABLES, CAPITALS]), StageId::Clean).unwrap();
    let (before, made) = (text_of(&pipeline, DAYS[0]), started());
    assert!(made > 0, "the tagger has run");

    let changed = with_layers(&pipeline, &[NEW_SYLLABLES, CAPITALS]);
    let due = Annotate.due(changed.home(), changed.config()).unwrap();
    assert_eq!(due.units.iter().map(|unit| unit.why).collect::<Vec<_>>(), [Stale::Annotator; 3]);
    let outcome = annotate(&changed);
    assert_eq!((outcome.days, outcome.documents, outcome.documents_with_new_layers), (3, 3, 3), "{outcome:?}");
    assert_eq!(started(), made, "the tagger has not run again");
    let after = text_of(&pipeline, DAYS[0]);
    assert!(after.contains("origin=\"syllables 2\"") && after.contains("<capital lang=\"en\">\nMonday\tMonday\tX\t"));
    assert!(Annotate.due(changed.home(), changed.config()).unwrap().units.is_empty());

    let texts: Vec<String> = DAYS.iter().map(|day| text_of(&changed, day)).collect();
    let recipes: Vec<TextRecipe> =
        DAYS.iter().map(|day| TextRecipe::read(changed.home(), day).unwrap().unwrap()).collect();
    crate::rebuild::rebuild(&changed, StageId::Annotate, None).unwrap();
    assert!(started() > made, "a rebuild annotates everything");
    for ((day, text), recipe) in DAYS.iter().zip(texts).zip(recipes) {
        assert_eq!(text_of(&changed, day), text, "the same bytes as from the start");
        assert_eq!(TextRecipe::read(changed.home(), day).unwrap().unwrap(), recipe);
    }

    let outcome = annotate(&with_layers(&pipeline, &[SYLLABLES, CAPITALS]));
    assert_eq!((outcome.documents_with_new_layers, text_of(&pipeline, DAYS[0])), (3, before));
    annotate(&with_layers(&pipeline, &[]));
    let bare = text_of(&pipeline, DAYS[0]);
    assert!(!bare.contains("capital") && !bare.contains("<layer") && bare.contains("Monday\tMonday\tX\n"), "{bare}");
    assert!(TextRecipe::read(pipeline.home(), DAYS[0]).unwrap().unwrap().further_layers.is_empty());
}

#[test]
fn a_day_that_grows_keeps_layers_of_unchanged_documents() {
    let (_folder, pipeline) = home_with_duplicates();
    let pipeline = with_layers(&pipeline, &[SYLLABLES]);
    let pages = ["ferry", "museum"].map(|topic| page(&format!("https://gazette.example/{topic}"), &article(topic)));
    store_pages(&pipeline, DAYS[0], &pages[..1]);
    crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
    let mut lines = Vec::new();
    pages[1].write_line(&mut lines).unwrap();
    let file = root(&pipeline).join("pages").join(DAYS[0]).join("b.0.jsonl.zst");
    std::fs::write(file, zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    let outcome = annotate(&pipeline);
    assert_eq!((outcome.documents_kept, outcome.documents), (1, 1), "{outcome:?}");
    assert_eq!(text_of(&pipeline, DAYS[0]).matches("<layer name=\"syllables\"").count(), 2);
}

#[test]
fn unknown_and_unmet_layers_are_errors() {
    let mut config = crate::config::AnnotateConfig { layers: vec!["moods".to_owned()], ..Default::default() };
    let error = format!("{:#}", annotators(&config).err().expect("the layer is unknown"));
    assert!(error.contains("annotate.layers: unknown layer `moods`"), "{error}");
    config.layers.clear();
    config.add_layer(LayerAnnotator { needs: &[Need::Required(Input::Tags)], ..SYLLABLES });
    assert!(annotators(&config).is_ok());
    config.tags = false;
    let error = format!("{:#}", annotators(&config).err().expect("there are no tags"));
    assert!(error.contains("the layer `syllables` needs tags"), "{error}");
}
