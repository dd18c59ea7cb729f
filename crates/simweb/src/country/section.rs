//! Names of the sections of newspapers.

/// The sections in files of the story, and their names in English, German and Spanish.
const SECTIONS: [(&str, [&str; 3]); 12] = [
    ("politics", ["Politics", "Politik", "Política"]),
    ("economy", ["Economy", "Wirtschaft", "Economía"]),
    ("local", ["Local", "Lokales", "Local"]),
    ("transport", ["Transport", "Verkehr", "Transporte"]),
    ("environment", ["Environment", "Umwelt", "Medio ambiente"]),
    ("science", ["Science", "Wissenschaft", "Ciencia"]),
    ("culture", ["Culture", "Kultur", "Cultura"]),
    ("sport", ["Sport", "Sport", "Deportes"]),
    ("education", ["Education", "Bildung", "Educación"]),
    ("health", ["Health", "Gesundheit", "Salud"]),
    ("court", ["Courts", "Gericht", "Tribunales"]),
    ("opinion", ["Opinion", "Meinung", "Opinión"]),
];

/// Whether files of the story may name this section.
pub fn is_known(section: &str) -> bool {
    SECTIONS.iter().any(|(known, _)| *known == section)
}

/// The name of a section in a language.
pub fn name(section: &'static str, language: &str) -> &'static str {
    let names = SECTIONS.iter().find(|(known, _)| *known == section).map(|(_, names)| names);
    names.map_or(section, |[english, german, spanish]| match language {
        "de" => german,
        "es" => spanish,
        _ => english,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_names_in_the_language_of_the_newspaper() {
        assert_eq!(
            (name("court", "en"), name("court", "de"), name("court", "es")),
            ("Courts", "Gericht", "Tribunales")
        );
        assert!(is_known("opinion") && !is_known("gossip"));
    }
}
