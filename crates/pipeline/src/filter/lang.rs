//! Language identification as a filter: texts → languages.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tidings_lang::{Guess, Hints, identify, identify_paragraphs, language_name, normalise, variant};

use super::{Filter, required};
use crate::outcome::Outcome;

/// Identifies the languages of texts.
#[derive(Debug, Clone, Default)]
pub struct Identify {
    /// The declared language of the texts: weak evidence.
    pub declared: Option<String>,
    /// The top-level domain of the texts: weak evidence.
    pub tld: Option<String>,
}

/// A text and what is known about its origin.
#[derive(Debug, Default, Deserialize)]
pub struct Question<'a> {
    /// The id of the line.
    #[serde(default)]
    pub id: Value,
    /// The text.
    #[serde(borrow, default)]
    pub text: Option<Cow<'a, str>>,
    /// The declared language, if known: weak evidence.
    #[serde(borrow, default)]
    pub declared: Option<Cow<'a, str>>,
    /// The top-level domain, if known: weak evidence.
    #[serde(borrow, default)]
    pub tld: Option<Cow<'a, str>>,
}

impl super::Question for Question<'_> {
    fn id(&self) -> &Value {
        &self.id
    }
}

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Answer {
    /// The language code; `und` if it cannot be identified.
    pub lang: &'static str,
    /// The probability that it is right.
    #[serde(serialize_with = "three_digits")]
    pub score: f32,
    /// The variant, such as `zh-Hant` or `pt-BR`, if the text tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'static str>,
}

/// Writes the digits of a score that are meaningful.
fn three_digits<S: Serializer>(score: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*score))
}

fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}

impl Answer {
    fn new(guess: &Guess, text: &str) -> Answer {
        Answer { lang: guess.lang, score: guess.score, variant: variant(guess.lang, text) }
    }

    /// The score as it is written, with the digits that are meaningful.
    pub fn rounded_score(&self) -> f64 {
        rounded(self.score)
    }
}

impl Identify {
    fn hints(&self) -> Hints<'_> {
        Hints { declared: self.declared.as_deref(), tld: self.tld.as_deref() }
    }

    /// Identifies the language of a plain-text file and optionally of each paragraph (line).
    pub fn file(&self, name: &str, content: &str, with_paragraphs: bool) -> FileLanguage {
        let content = normalise(content);
        let paragraphs: Vec<&str> = content.lines().filter(|line| !line.is_empty()).collect();
        let guesses = identify_paragraphs(&paragraphs, self.hints());
        let of_paragraph = |(text, guess): (&&str, &Guess)| ParagraphLanguage {
            language: Answer::new(guess, text),
            start: text.chars().filter(|c| !c.is_control()).take(START_CHARS).collect(),
        };
        let each = || paragraphs.iter().zip(&guesses.paragraphs).map(of_paragraph).collect();
        FileLanguage {
            file: name.to_owned(),
            language: Answer::new(&guesses.document, &content),
            paragraphs: with_paragraphs.then(each),
        }
    }
}

/// The number of characters shown of a paragraph.
const START_CHARS: usize = 60;

/// The languages of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct FileLanguages {
    /// The files, in the order of the arguments.
    pub files: Vec<FileLanguage>,
}

/// The language of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileLanguage {
    /// The name of the file.
    pub file: String,
    /// The language of most of it.
    #[serde(flatten)]
    pub language: Answer,
    /// The languages of its paragraphs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraphs: Option<Vec<ParagraphLanguage>>,
}

/// The language of a paragraph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParagraphLanguage {
    /// The language.
    #[serde(flatten)]
    pub language: Answer,
    #[serde(skip)]
    start: String,
}

impl Outcome for FileLanguages {}

impl fmt::Display for FileLanguages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            if self.files.len() > 1 {
                write!(f, "{}: ", file.file)?;
            }
            let Answer { lang, score, variant } = file.language;
            match lang {
                tidings_lang::UNKNOWN => writeln!(f, "unknown (und): too little evidence in the text")?,
                known => {
                    let name = language_name(known).unwrap_or(known);
                    writeln!(f, "{name} ({}), {score:.2}", variant.unwrap_or(known))?
                }
            }
            for paragraph in file.paragraphs.iter().flatten() {
                writeln!(f, "  {:<4} {:.2}  {}", paragraph.language.lang, paragraph.language.score, paragraph.start)?;
            }
        }
        Ok(())
    }
}

impl Filter for Identify {
    type Question<'a> = Question<'a>;
    type Answer<'q> = Answer;

    const SKIPS_BLANK_LINES: bool = false;

    fn answer<'q>(&'q self, question: &'q Question<'_>) -> Result<Answer, String> {
        let text = required(&question.text, "text")?;
        // The evidence of a line takes precedence over that of the options.
        let all = self.hints();
        let hints =
            Hints { declared: question.declared.as_deref().or(all.declared), tld: question.tld.as_deref().or(all.tld) };
        Ok(Answer::new(&identify(text, hints), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::answers;
    use serde_json::json;

    #[test]
    fn every_line_gets_a_result() {
        let lines = "\nno json\n[1]\n{\"id\":7,\"text\":3}\n{\"id\":8}\n{\"id\":9,\"text\":\"\\u0000\"}";
        let (got, faulty) = answers(&Identify::default(), lines, 2);
        let ids: Vec<&Value> = got.iter().map(|answer| &answer["id"]).collect();
        let null = &Value::Null;
        assert_eq!(ids, [null, null, null, &json!(7), &json!(8), &json!(9)]);
        assert!(got[..5].iter().all(|answer| answer["error"].is_string()));
        assert_eq!((&got[5]["lang"], faulty), (&json!("und"), 5));
    }

    #[test]
    fn results_keep_the_order_of_the_lines() {
        let lines: Vec<String> =
            (0..500).map(|n| json!({ "id": n, "text": "Guten Tag ".repeat(n % 50) }).to_string()).collect();
        for threads in [1, 2, 7] {
            let (got, faulty) = answers(&Identify::default(), &(lines.join("\n") + "\n"), threads);
            let ids: Vec<u64> = got.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
            assert_eq!((ids, faulty), ((0..500).collect::<Vec<u64>>(), 0));
        }
    }

    #[test]
    fn the_evidence_of_a_line_takes_precedence_over_options() {
        let lines =
            "{\"id\":1,\"text\":\"Stol je velik.\"}\n{\"id\":2,\"text\":\"Stol je velik.\",\"declared\":\"hr\"}";
        let (got, _) = answers(&Identify { declared: Some("bs".to_owned()), tld: None }, lines, 1);
        assert_eq!((&got[0]["lang"], &got[1]["lang"]), (&json!("bs"), &json!("hr")));
    }

    #[test]
    fn variants_are_named_if_the_text_tells() {
        let lines = "{\"id\":1,\"text\":\"總統府發言人表示，這項計畫將在明年開始實施。\"}\n{\"id\":2,\"text\":\"Es hat geregnet, und es wird schneien.\"}";
        let (got, _) = answers(&Identify::default(), lines, 1);
        assert_eq!(
            (&got[0]["lang"], &got[0]["variant"], &got[1]["variant"]),
            (&json!("zh"), &json!("zh-Hant"), &Value::Null)
        );
    }

    #[test]
    fn several_files_are_named_and_paragraphs_are_optional() {
        let german = "Es hat den ganzen Tag geregnet, und morgen soll es schneien.\n\nDie Straßen waren leer.";
        let one = Identify::default().file("a.txt", german, true);
        let other = Identify::default().file("b.txt", "\u{0}", false);
        let shown = FileLanguages { files: vec![one.clone()] }.to_string();
        assert!(shown.starts_with("German (de), ") && shown.lines().count() == 3, "{shown}");
        let shown = FileLanguages { files: vec![one.clone(), other] }.to_string();
        assert!(shown.starts_with("a.txt: German"), "{shown}");
        assert!(shown.ends_with("b.txt: unknown (und): too little evidence in the text\n"), "{shown}");
        let json = serde_json::to_value(&one).unwrap();
        assert_eq!((&json["file"], &json["paragraphs"][0]["lang"]), (&json!("a.txt"), &json!("de")));
    }
}
