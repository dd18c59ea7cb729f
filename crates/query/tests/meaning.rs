//! Change of meaning in generated corpora with known truth: words that swap their contexts among words that keep them, while
//! articles grow longer, sources join, and the shares of topics change.

#[path = "common/documents.rs"]
mod documents;

use documents::document;
use std::collections::BTreeSet;
use std::path::Path;
use tidings_index::{Day, build};
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{
    ConcordanceRequest, MeaningAnswer, MeaningRequest, Parsed, Question, QuestionContext, Request,
};

/// 1 January 2025 and 2026.
const YEARS: [Day; 2] = [Day(20_089), Day(20_454)];
const DOCUMENTS_OF_YEAR: usize = 900;
const TOPICS: usize = 4;
/// Words of one topic, words of all topics, and words that swap their contexts in pairs.
const STEADY: usize = 6;
const COMMON: usize = 16;
const SHIFTED: usize = 8;
/// Words around others: of all topics and of one.
const GENERAL: usize = 40;
const OF_TOPIC: usize = 30;

/// What differs between the two years beside meanings.
#[derive(Clone, Copy, Default)]
struct Disturbances {
    /// Articles are twice as long in the second year.
    longer: bool,
    /// A third of the sites joins in the second year, and these use words in their own way.
    new_sites: bool,
    /// The share of the first topic rises from 0.1 to 0.4.
    topic_share: bool,
}

const ALL: Disturbances = Disturbances { longer: true, new_sites: true, topic_share: true };

struct Generator {
    random: fastrand::Rng,
    disturbances: Disturbances,
    shifts: bool,
}

impl Generator {
    fn topic(&mut self, year: usize) -> usize {
        let first = if year == 1 && self.disturbances.topic_share { 0.4 } else { 0.1 };
        if self.random.f64() < first { 0 } else { self.random.usize(1..TOPICS) }
    }

    /// A word that a document of a topic is about in one sentence, with the number of its collocates.
    fn target(&mut self, topic: usize, year: usize) -> (String, usize) {
        match self.random.usize(0..STEADY + COMMON / 4 + SHIFTED / TOPICS) {
            number if number < STEADY => (format!("steady{topic}x{number}"), number),
            number if number < STEADY + COMMON / 4 => {
                let number = self.random.usize(0..COMMON);
                (format!("common{number}"), 100 + number)
            }
            _ => {
                // Two senses in each topic; the words for them change places with those of the next topic.
                let sense = self.random.usize(0..SHIFTED / TOPICS);
                let of = if year == 1 && self.shifts { topic ^ 1 } else { topic };
                (format!("shifted{}", of * SHIFTED / TOPICS + sense), 200 + sense)
            }
        }
    }

    fn document(&mut self, number: usize, year: usize) -> tidings_model::Annotated {
        let (topic, day) = (self.topic(year), Day(YEARS[year].0 + self.random.i32(0..365)));
        let sites = if self.disturbances.new_sites && year == 1 { 6 } else { 4 };
        let site = self.random.usize(0..sites);
        let sentences = if self.disturbances.longer && year == 1 { 12 } else { 6 };
        // A document repeats itself: collocates come from a few of those that a word has.
        let mood = self.random.usize(0..3);
        let mut words = Vec::new();
        for _ in 0..sentences {
            let mut sentence: Vec<String> = (0..13)
                .map(|_| match self.random.bool() {
                    true => format!("general{}", self.random.usize(0..GENERAL)),
                    false => format!("topic{topic}x{}", self.random.usize(0..OF_TOPIC)),
                })
                .collect();
            let (target, collocates) = self.target(topic, year);
            sentence[6] = target;
            for place in [4, 5, 8] {
                // Sites prefer some collocates, and new sites others than those before.
                let choice = (mood + self.random.usize(0..2) + 2 * (site / 2)) % 8;
                sentence[place] = format!("topic{topic}x{}", (collocates * 7 + choice * 3) % OF_TOPIC);
            }
            words.extend(sentence);
        }
        document(number, day, &format!("site{site}.example"), &words)
    }
}

fn corpus(folder: &Path, shifts: bool, disturbances: Disturbances, seed: u64) -> Engine {
    let mut generator = Generator { random: fastrand::Rng::with_seed(seed), disturbances, shifts };
    let documents: Vec<_> =
        (0..2 * DOCUMENTS_OF_YEAR).map(|number| generator.document(number, number / DOCUMENTS_OF_YEAR)).collect();
    Engine::new(build(folder, &documents).expect("an index"))
}

fn request() -> MeaningRequest {
    MeaningRequest { min: 30, ..MeaningRequest::example() }
}

fn ask(engine: &Engine, request: &MeaningRequest) -> MeaningAnswer {
    request.answer(&QuestionContext::new(engine, "en")).expect("an answer").body
}

fn values(found: &MeaningAnswer) -> BTreeSet<&str> {
    found.rows.iter().map(|row| row.value.as_str()).collect()
}

#[test]
fn words_that_swap_their_contexts_are_found_among_those_that_keep_them() {
    for (seed, disturbances) in [(1, Disturbances::default()), (2, ALL)] {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = corpus(folder.path(), true, disturbances, seed);
        let found = ask(&engine, &MeaningRequest { limit: everything(), ..request() });
        let values = values(&found);
        let shifted = values.iter().filter(|value| value.starts_with("shifted")).count();
        assert!(shifted >= SHIFTED - 1, "{shifted} of {SHIFTED}: {values:?}");
        let kept = values.iter().filter(|value| value.starts_with("steady") || value.starts_with("common")).count();
        assert!(kept * 20 <= TOPICS * STEADY + COMMON, "{values:?}");
        assert!(found.rows[..SHIFTED - 1].iter().all(|row| row.value.starts_with("shifted")), "{values:?}");
        assert!(found.rows.iter().all(|row| row.q <= 0.05 && row.p <= row.q), "{found:?}");
    }
}

fn everything() -> tidings_query::question::LimitParams {
    tidings_query::question::LimitParams { limit: 10_000 }
}

#[test]
fn what_changes_beside_meanings_is_no_change_of_meaning() {
    let of = |longer, new_sites, topic_share| Disturbances { longer, new_sites, topic_share };
    let cases = [of(true, false, false), of(false, true, false), of(false, false, true), ALL];
    let mut wrong = Vec::new();
    for (seed, disturbances) in (11..).zip(cases) {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = corpus(folder.path(), false, disturbances, seed);
        let found = ask(&engine, &request());
        assert!(found.tested > 180, "{}", found.tested);
        if found.rows.len() as u64 * 20 > found.tested {
            wrong.push(format!("case {seed}: {} of {}: {:?}", found.rows.len(), found.tested, values(&found)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn collocates_are_those_of_the_concordances_they_lead_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path(), true, Disturbances::default(), 3);
    let found = ask(&engine, &request());
    let row = found.rows.iter().find(|row| row.value.starts_with("shifted")).expect("a shifted word");
    let number: usize = row.value["shifted".len()..].parse().expect("a number");
    let topic = number / (SHIFTED / TOPICS);
    assert!(row.lost.iter().all(|other| other.value.starts_with(&format!("topic{topic}x"))), "{row:?}");
    assert!(row.gained.iter().all(|other| other.value.starts_with(&format!("topic{}x", topic ^ 1))), "{row:?}");
    assert!(row.gained.len() >= 3 && row.lost.len() >= 3 && row.distance > 0.5, "{row:?}");
    for (other, is_gained) in
        row.gained.iter().map(|other| (other, true)).chain(row.lost.iter().map(|other| (other, false)))
    {
        let counts = [(other.before, other.before_documents), (other.after, other.after_documents)];
        assert_eq!(other.after > other.before, is_gained, "{other:?}");
        for (period, counted) in ["date=2025", "date=2026"].into_iter().zip(counts) {
            let mut search = ConcordanceRequest::example();
            search.search.q = Parsed::new(&format!("[lemma=\"{}\"]", row.value)).expect("a query");
            search.refine.with = Some(Parsed::new(&format!("[lemma=\"{}\"]", other.value)).expect("a query"));
            search.search.scope.filter = Some(Parsed::new(period).expect("a filter"));
            search.page.size = Some(10_000);
            let lines = search.answer(&QuestionContext::new(&engine, "en")).expect("lines").body.lines;
            let documents: BTreeSet<&str> = lines.iter().map(|line| line.document.as_str()).collect();
            assert_eq!((lines.len() as u64, documents.len() as u64), counted, "{period}: {other:?}");
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_threads_or_on_the_order_of_documents() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let mut generator = Generator { random: fastrand::Rng::with_seed(4), disturbances: ALL, shifts: true };
    let mut documents: Vec<_> =
        (0..2 * DOCUMENTS_OF_YEAR).map(|number| generator.document(number, number / DOCUMENTS_OF_YEAR)).collect();
    let one = Engine::new(build(folders[0].path(), &documents).expect("an index"));
    documents.reverse();
    let other = Engine::new(build(folders[1].path(), &documents).expect("an index"));
    let asked = MeaningRequest { min: 80, ..request() };
    let first = ask(&one, &asked);
    assert!(!first.rows.is_empty());
    assert_eq!(first, ask(&other, &asked));
    let mut context = QuestionContext::new(&one, "en");
    context.vocabulary_limits = Limits::default().with_threads(3, 1);
    assert_eq!(first, asked.answer(&context).expect("an answer").body);
}

#[test]
fn an_answer_that_is_cut_off_and_one_about_nothing_list_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path(), true, Disturbances::default(), 5);
    let mut context = QuestionContext::new(&engine, "en");
    context.vocabulary_limits = Limits::steps(3);
    let answered = request().answer(&context).expect("an answer");
    assert!(answered.about.exactness.is_cut_off());
    assert!(answered.body.rows.is_empty() && answered.body.values.is_none() && answered.body.basis.is_none());
    let empty = MeaningRequest { before: Parsed::new("date=1999").expect("a filter"), ..request() };
    let found = ask(&engine, &empty);
    assert_eq!((found.tested, found.values, found.rows.len(), found.before_tokens), (0, Some(0), 0, 0));
    assert_eq!(found.notes, ["There are no documents before: its filter selects none."]);
}
