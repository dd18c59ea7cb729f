//! Random documents, shared by unit and integration tests.

use fastrand::Rng;
use tidings_index::{Day, Snapshot};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
};

/// A small random corpus of edge cases: empty documents, missing fields, equal days, ampersands, odd spacing.
pub fn corpus(seed: u64, documents: usize) -> Vec<Annotated> {
    let mut random = Rng::with_seed(seed);
    let random = &mut random;
    let token = |random: &mut Rng, is_last: bool| {
        let number = (random.f32() * random.f32() * 30.0) as u32;
        let word = ["A&B".to_owned(), format!("w{number}"), format!("W{number}"), ",".to_owned()];
        Token {
            word: random.choice(word).expect("not empty").into(),
            lemma: if number == 3 { "".into() } else { format!("w{number}").into() },
            tag: random.choice(["N", "V", "<X>", ""]).expect("not empty").into(),
            feats: random.choice(["", "", "Case=Gen|Number=Sing", "Number=Plur"]).expect("not empty").into(),
            space_after: is_last || random.u8(..) > 60,
        }
    };
    let sentence = |random: &mut Rng| {
        let tokens = random.usize(1..7);
        (1..=tokens).map(|index| token(random, index == tokens)).collect::<Vec<_>>()
    };
    (0..documents)
        .map(|index| {
            let paragraphs = (0..random.usize(0..4)).map(|_| AnnotatedParagraph {
                sentences: (0..random.usize(1..4)).map(|_| sentence(random)).collect(),
                ..AnnotatedParagraph::default()
            });
            let paragraphs = paragraphs.collect();
            let fields = vec![
                ("site".to_owned(), format!("s{}.example", random.u8(0..4))),
                ("topic".to_owned(), ["", "a\"b", "sport"][random.usize(0..3)].to_owned()),
            ];
            let about = Attributes {
                id: index as u128 * 7 + 1,
                url: format!("http://e.org/{index}?a=1&b=2"),
                title: format!("Title {index}"),
                date: Day(20_000 + random.i32(0..9)).to_string(),
                seen: Day(20_010).to_string(),
                fields,
            };
            Annotated { about, paragraphs, ..Annotated::default() }
        })
        .collect()
}

/// All documents that are not deleted, in the order of their days and then of writing.
pub fn contents(index: &Snapshot) -> Vec<Annotated> {
    let mut documents = Vec::new();
    for (number, live) in index.segments().iter().enumerate() {
        for document in (0..live.segment().meta().documents).filter(|document| !live.deleted().get(*document)) {
            let mut document = index.annotated(number, document).expect("readable");
            // Columns are read in the order in which the index declares them.
            document.columns.sort_by(|a, b| a.layer.name.cmp(&b.layer.name));
            documents.push(document);
        }
    }
    documents.sort_by(|a, b| a.about.date.cmp(&b.about.date));
    documents
}

/// Documents in the order in which an index holds them.
pub fn by_day(documents: &[Annotated]) -> Vec<Annotated> {
    let mut sorted = documents.to_vec();
    sorted.sort_by(|a, b| a.about.date.cmp(&b.about.date));
    sorted
}

/// The same with random spans, nested and overlapping ones among them, and values of further layers in some documents.
pub fn with_layers(mut documents: Vec<Annotated>, seed: u64) -> Vec<Annotated> {
    let mut random = Rng::with_seed(seed);
    let layers = [("syllables", LayerKind::Number), ("sense", LayerKind::Code)];
    for document in documents.iter_mut().filter(|document| document.about.id % 3 != 1) {
        let tokens = document.tokens().count();
        for (name, kind) in layers.iter().filter(|(name, _)| *name != "sense" || document.about.id % 2 == 0) {
            let layer = LayerDeclaration { name: (*name).to_owned(), kind: *kind, origin: "toy 1".to_owned() };
            let value = |random: &mut Rng| ["", "1", "2", "A&B"][random.usize(0..4)].to_owned();
            let values: Vec<String> = (0..tokens).map(|_| value(&mut random)).collect();
            // A column without values is not kept.
            if values.iter().any(|value| !value.is_empty()) {
                document.columns.push(LayerColumn { layer, values });
            }
        }
        document.columns.sort_by(|a, b| a.layer.name.cmp(&b.layer.name));
    }
    for document in documents.iter_mut().filter(|document| document.about.id % 4 != 2) {
        let tokens = document.tokens().count() as u32;
        for _ in 0..if tokens == 0 { 0 } else { random.u32(0..12) } {
            let start = random.u32(0..tokens);
            let end = (start + random.u32(1..9)).min(tokens);
            let number = (random.f32() * random.f32() * 600.0) as u32;
            let span = TokenSpan::new(["ne", "quote", "link"][random.usize(0..3)], start, end);
            let span = span.with("name", &if number < 9 { String::new() } else { format!("n{number} é") });
            document.spans.push(span.with("type", ["PER", "ORG", ""][random.usize(0..3)]));
        }
        document.spans.sort_by(TokenSpan::file_order);
    }
    documents
}
