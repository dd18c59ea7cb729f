//! Colour on terminals.
//!
//! Output is coloured if it goes to a terminal. `NO_COLOR` (no-color.org) switches colour off everywhere,
//! `CLICOLOR_FORCE` switches it on also for files and pipes, `CLICOLOR=0` and `TERM=dumb` switch it off.

use std::io::IsTerminal as _;

/// Escape sequences, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    is_coloured: bool,
}

/// A kind of text with a look of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The hit of a query.
    Hit,
    /// The headings of a table.
    Heading,
    /// Metadata beside the text.
    Faint,
    /// The word before an error message.
    Error,
    /// The word before a warning.
    Warning,
}

impl Ink {
    /// The parameters of the escape sequence SGR.
    const fn codes(self) -> &'static str {
        match self {
            Ink::Hit => "1;31",
            Ink::Heading => "1",
            Ink::Faint => "2",
            Ink::Error => "1;31",
            Ink::Warning => "1;33",
        }
    }
}

impl Style {
    /// Text without escape sequences.
    #[cfg(test)]
    pub const PLAIN: Style = Style { is_coloured: false };

    /// The style of standard output.
    pub fn stdout() -> Style {
        Style::chosen(&|name| std::env::var(name).ok(), std::io::stdout().is_terminal())
    }

    /// The style of standard error.
    pub fn stderr() -> Style {
        Style::chosen(&|name| std::env::var(name).ok(), std::io::stderr().is_terminal())
    }

    /// The style that environment variables choose for an output.
    fn chosen(variable: &dyn Fn(&str) -> Option<String>, is_terminal: bool) -> Style {
        let is = |name: &str, wanted: &str| variable(name).is_some_and(|value| value == wanted);
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let is_coloured = if is_set("NO_COLOR") {
            false
        } else if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") {
            true
        } else {
            is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb")
        };
        Style { is_coloured }
    }

    /// A text in an ink. An empty text stays empty.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        match self.is_coloured && !text.is_empty() {
            true => format!("\x1b[{}m{text}\x1b[0m", ink.codes()),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
impl Style {
    /// Text with escape sequences.
    pub const COLOURED: Style = Style { is_coloured: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_terminal_and_the_environment() {
        let coloured = |variables: &[(&str, &str)], is_terminal: bool| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            Style::chosen(&variable, is_terminal).is_coloured
        };
        assert!(coloured(&[], true) && !coloured(&[], false));
        assert!(!coloured(&[("NO_COLOR", "1")], true));
        assert!(coloured(&[("NO_COLOR", "")], true), "an empty NO_COLOR does not count");
        assert!(coloured(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!coloured(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false));
        assert!(!coloured(&[("CLICOLOR", "0")], true) && !coloured(&[("TERM", "dumb")], true));
    }

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!(Style::PLAIN.paint(Ink::Hit, "storm"), "storm");
        assert_eq!(Style::COLOURED.paint(Ink::Hit, "storm"), "\x1b[1;31mstorm\x1b[0m");
        assert_eq!(Style::COLOURED.paint(Ink::Hit, ""), "");
    }
}
