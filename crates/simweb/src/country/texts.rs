//! The files of the story, as they are in `story/`.

use super::topic::Topic;

/// The files of articles.
pub const ARTICLES: &[&str] = &[
    include_str!("../../story/articles/en/2016.md"),
    include_str!("../../story/articles/en/2017.md"),
    include_str!("../../story/articles/en/2018.md"),
    include_str!("../../story/articles/en/2019.md"),
    include_str!("../../story/articles/en/2020.md"),
    include_str!("../../story/articles/en/2021.md"),
    include_str!("../../story/articles/en/2022.md"),
    include_str!("../../story/articles/en/2023.md"),
    include_str!("../../story/articles/en/2024.md"),
    include_str!("../../story/articles/en/2025.md"),
    include_str!("../../story/articles/de/2016.md"),
    include_str!("../../story/articles/de/2017.md"),
    include_str!("../../story/articles/de/2018.md"),
    include_str!("../../story/articles/de/2019.md"),
    include_str!("../../story/articles/de/2020.md"),
    include_str!("../../story/articles/de/2021.md"),
    include_str!("../../story/articles/de/2022.md"),
    include_str!("../../story/articles/de/2023.md"),
    include_str!("../../story/articles/de/2024.md"),
    include_str!("../../story/articles/de/2025.md"),
    include_str!("../../story/articles/es/2016.md"),
    include_str!("../../story/articles/es/2017.md"),
    include_str!("../../story/articles/es/2018.md"),
    include_str!("../../story/articles/es/2019.md"),
    include_str!("../../story/articles/es/2020.md"),
    include_str!("../../story/articles/es/2021.md"),
    include_str!("../../story/articles/es/2022.md"),
    include_str!("../../story/articles/es/2023.md"),
    include_str!("../../story/articles/es/2024.md"),
    include_str!("../../story/articles/es/2025.md"),
];

const ENGLISH: &[(&str, &str)] = &[
    ("budget", include_str!("../../story/frames/en/budget.txt")),
    ("business", include_str!("../../story/frames/en/business.txt")),
    ("council", include_str!("../../story/frames/en/council.txt")),
    ("court", include_str!("../../story/frames/en/court.txt")),
    ("crime", include_str!("../../story/frames/en/crime.txt")),
    ("crowdbus", include_str!("../../story/frames/en/crowdbus.txt")),
    ("drought", include_str!("../../story/frames/en/drought.txt")),
    ("eclipse", include_str!("../../story/frames/en/eclipse.txt")),
    ("farming", include_str!("../../story/frames/en/farming.txt")),
    ("fax", include_str!("../../story/frames/en/fax.txt")),
    ("ferrygate", include_str!("../../story/frames/en/ferrygate.txt")),
    ("festival", include_str!("../../story/frames/en/festival.txt")),
    ("fishing", include_str!("../../story/frames/en/fishing.txt")),
    ("football", include_str!("../../story/frames/en/football.txt")),
    ("harbour", include_str!("../../story/frames/en/harbour.txt")),
    ("hospital", include_str!("../../story/frames/en/hospital.txt")),
    ("housing", include_str!("../../story/frames/en/housing.txt")),
    ("roads", include_str!("../../story/frames/en/roads.txt")),
    ("school", include_str!("../../story/frames/en/school.txt")),
    ("science", include_str!("../../story/frames/en/science.txt")),
    ("solar", include_str!("../../story/frames/en/solar.txt")),
    ("theatre", include_str!("../../story/frames/en/theatre.txt")),
    ("weather", include_str!("../../story/frames/en/weather.txt")),
];

const GERMAN: &[(&str, &str)] = &[];

const SPANISH: &[(&str, &str)] = &[];

/// The topics of a language.
pub fn topics(language: &str) -> Result<Vec<Topic>, String> {
    let files = match language {
        "de" => GERMAN,
        "es" => SPANISH,
        _ => ENGLISH,
    };
    files.iter().map(|(name, file)| Topic::parse(name, file)).collect()
}
