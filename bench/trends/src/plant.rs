//! The words of the simulation and their courses.

use crate::world::{Days, Distribution, World, draw_days};
use fastrand::Rng;
use std::f64::consts::TAU;

/// The course of a word over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Course {
    /// Constant.
    Flat,
    /// Rises fourfold over the whole time.
    Up,
    /// Rises fivefold in the last three years.
    LateUp,
    /// Falls to a quarter over the whole time.
    Down,
    /// A level shift to two and a half times the rate.
    Step,
    /// A burst of some days.
    Burst,
    /// A yearly season.
    Seasonal,
}

/// The courses that are planted.
pub const PLANTED: [Course; 6] =
    [Course::Up, Course::LateUp, Course::Down, Course::Step, Course::Burst, Course::Seasonal];

/// The number of words of each course.
pub const EACH: usize = 40;

/// The parameters of the simulation.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The number of words, including planted ones.
    pub words: usize,
    /// Tokens of the corpus.
    pub tokens: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { words: 72_000, tokens: 100e6, seed: 20_261_115 }
    }
}

/// The course of a word; the planted ones come first.
pub fn course_of(word: usize) -> Course {
    PLANTED.get(word / EACH).copied().unwrap_or(Course::Flat)
}

/// Draws every word: its number and its days.
pub fn words<'w>(world: &'w World, setting: &'w Setting) -> impl Iterator<Item = (usize, Days)> + 'w {
    (0..setting.words).map(move |word| {
        // Each word has its own generator, so that one more draw for one does not change the others.
        let mut random = Rng::with_seed(setting.seed ^ (word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let course = course_of(word);
        let mut distribution = Distribution {
            hits: match course {
                Course::Flat => zipf(word - PLANTED.len() * EACH, setting),
                Course::Burst => log_uniform(60.0, 3000.0, &mut random),
                _ => log_uniform(200.0, 10_000.0, &mut random),
            },
            bunch: 1.1 + 2.4 * random.f64().powi(2),
            event: 1.0,
        };
        // A quarter of all words, such as names, come with agency reports.
        if random.f64() < 0.25 {
            distribution.event = 1.0 + 2.0 * random.f64();
        }
        let weights = weights(course, world, &mut random);
        let mut days = draw_days(&distribution, &weights, &mut random);
        if course == Course::Burst {
            add_burst(&mut days, &distribution, &mut random);
        }
        (word, days)
    })
}

/// The hits of the word of this rank, as in a corpus of 260 k forms of which 72 k have 30 hits.
fn zipf(rank: usize, setting: &Setting) -> f64 {
    const EXPONENT: f64 = 1.2;
    const OFFSET: f64 = 3.7;
    let least = 30.0 * setting.tokens / 100e6;
    least * (72_000.0 / (rank as f64 + OFFSET)).powf(EXPONENT)
}

fn log_uniform(low: f64, high: f64, random: &mut Rng) -> f64 {
    low * (high / low).powf(random.f64())
}

/// The weight of each day for a word: its tokens, times the course.
fn weights(course: Course, world: &World, random: &mut Rng) -> Vec<f64> {
    let turn = 0.2 + 0.6 * random.f64();
    let phase = random.f64();
    let factor = |when: f64, day: usize| match course {
        Course::Flat | Course::Burst => 1.0,
        Course::Up => 0.4 + 1.2 * when,
        Course::Down => 1.6 - 1.2 * when,
        Course::LateUp => 1.0 + 4.0 * ((when - 0.7) / 0.3).max(0.0),
        Course::Step if when < turn => 1.0,
        Course::Step => 2.5,
        Course::Seasonal => 1.0 + 0.8 * (TAU * (day as f64 / 365.25 - phase)).cos(),
    };
    let days = world.days() as f64;
    world.tokens.iter().enumerate().map(|(day, tokens)| tokens * factor(day as f64 / days, day)).collect()
}

/// A burst of 8 to 150 documents, half of them on the first day, half of the rest on the next.
fn add_burst(days: &mut Days, distribution: &Distribution, random: &mut Rng) {
    let first = random.usize(400..days.hits.len() - 200);
    let documents = log_uniform(8.0, 150.0, random) as u32;
    for _ in 0..documents {
        let later = (0..6).find(|_| random.bool()).unwrap_or(6);
        let extra = Distribution { hits: distribution.bunch, bunch: distribution.bunch, event: 1.0 };
        let one = loop {
            let one = draw_days(&extra, &[1.0], random);
            if one.documents[0] == 1 {
                break one;
            }
        };
        days.documents[first + later] += 1;
        days.hits[first + later] += one.hits[0];
    }
}
