//! The help of the program as a whole: groups of commands, first steps, and the reference in Markdown.
//!
//! [`GROUPS`] is the only list of commands beside their definition; the short help, `tidings help --all`
//! and docs/COMMANDS.md are rendered from it and from clap's definition.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use crate::args::Args;

/// A group of commands in the help.
pub struct Group {
    title: &'static str,
    /// Commands in the short help and in the full list.
    first: &'static [&'static str],
    /// Commands in the full list only.
    more: &'static [&'static str],
    /// Further uses of commands of other groups.
    also: &'static [(&'static str, &'static str)],
}

/// Every command, in the order of the help. Commands that no group names are queries, which the query crate
/// declares, and belong to [`QUERIES`].
pub const GROUPS: [Group; 8] = [
    Group { title: "Get started", first: &["demo", "init"], more: &["config", "doctor"], also: &[] },
    Group {
        title: "Collect",
        first: &["discover", "import"],
        more: &["update", "crawl", "fetch", "plan", "pages"],
        also: &[],
    },
    Group {
        title: "Process",
        first: &["run"],
        more: &["clean", "dedup", "annotate", "compile", "merge", "rebuild"],
        also: &[],
    },
    Group {
        title: QUERIES,
        first: &["query", "timeline", "trends"],
        more: &[
            "seasons",
            "steps",
            "bursts",
            "new-words",
            "neologisms",
            "names",
            "quotes",
            "count",
            "freq",
            "group",
            "crosstab",
            "dispersion",
            "colloc",
            "sketch",
            "sketch-diff",
            "thesaurus",
            "words",
            "keywords",
            "terms",
            "compare",
            "meaning",
            "documents",
            "parallel",
            "pairs",
            "corpus",
            "searches",
        ],
        also: &[],
    },
    Group { title: "Share", first: &["serve", "export"], more: &["report", "token"], also: &[] },
    Group {
        title: "Look after",
        first: &["status", "why"],
        more: &["revisions", "audit", "remove", "backup", "restore", "digest", "prune"],
        also: &[],
    },
    Group {
        title: "Tools for single files",
        first: &[],
        more: &["feed", "extract", "lang", "tokenize", "tag", "models"],
        also: &[("dedup --jsonl", "Remove duplicates from a stream of documents")],
    },
    Group { title: "Help and shell", first: &[], more: &["help", "licenses", "completions", "man"], also: &[] },
];

/// The title of the group of queries.
const QUERIES: &str = "Ask";

/// The first steps with a corpus: the end of the short help, and the README's five commands.
pub const FIRST_STEPS: [(&str, &str); 5] = [
    ("tidings init news --contact you@example.org", "create a home"),
    ("tidings discover --home news --add https://example.org/", "find the feeds of a site"),
    ("tidings run --home news", "poll, download, clean, index"),
    ("tidings status --home news", "show what works and what does not"),
    ("tidings serve --home news --open", "open the web interface"),
];

/// Columns of a command's name in the lists.
const NAME_COLUMNS: usize = 13;

/// The template of `tidings --help`: one screen.
pub fn short() -> String {
    // The definition of the program refers to this template, so the texts come from the commands' own definition.
    let commands = <crate::args::Verb as clap::Subcommand>::augment_subcommands(Command::new("tidings"));
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for group in GROUPS.iter().filter(|group| !group.first.is_empty()) {
        let _ = writeln!(text, "\n{}:", group.title);
        group.first.iter().for_each(|name| list(&mut text, &commands, name));
    }
    let _ = write!(
        text,
        "\nTools for single files: feed, extract, lang, tokenize, tag, dedup --jsonl\n\
         All commands: tidings help --all. One command: tidings COMMAND --help\n\n\
         Options:\n{{options}}\n\n\
         A corpus in five steps:\n{}",
        steps("  ").trim_end()
    );
    text
}

/// The list of all commands.
pub fn all() -> String {
    let program = Args::command();
    let mut text = String::new();
    for group in &GROUPS {
        let _ = writeln!(text, "{}:", group.title);
        group.commands(&program).iter().for_each(|name| list(&mut text, &program, name));
        for (line, about) in group.also {
            let _ = writeln!(text, "  {line:<NAME_COLUMNS$} {about}");
        }
        text.push('\n');
    }
    text + "Details: tidings COMMAND --help\n\n\
        Exit codes: 0 done, or nothing to do; 1 not done; 2 wrong usage; 3 done except for items that were\n\
        reported, or an answer that was cut off. `tidings status` has codes of its own.\n"
}

/// The first steps as lines of a shell with comments.
fn steps(indent: &str) -> String {
    let columns = FIRST_STEPS.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    FIRST_STEPS.iter().map(|(command, comment)| format!("{indent}{command:<columns$}  # {comment}\n")).collect()
}

fn list(text: &mut String, program: &Command, name: &str) {
    let _ = writeln!(text, "  {name:<NAME_COLUMNS$} {}", about(find(program, name)));
}

impl Group {
    fn named(&self) -> impl Iterator<Item = &'static str> {
        self.first.iter().chain(self.more).copied()
    }

    /// The commands of this group.
    fn commands(&self, program: &Command) -> Vec<String> {
        let is_named = |name: &str| GROUPS.iter().any(|group| group.named().any(|named| named == name));
        let unnamed =
            program.get_subcommands().filter(|command| !command.is_hide_set() && !is_named(command.get_name()));
        let queries = unnamed.filter(|_| self.title == QUERIES).map(|command| command.get_name().to_owned());
        self.named().map(str::to_owned).chain(queries).collect()
    }
}

fn find<'a>(program: &'a Command, name: &str) -> &'a Command {
    program.find_subcommand(name).expect("groups name commands that exist; a test checks it")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// The reference of all commands in Markdown, for docs/COMMANDS.md.
pub fn markdown() -> String {
    let program = Args::command();
    let mut text = String::new();
    let _ = writeln!(text, "### Options of all commands\n");
    options(&mut text, program.get_arguments().filter(|arg| arg.is_global_set()));
    for group in &GROUPS {
        let _ = writeln!(text, "### {}\n", group.title);
        for name in group.commands(&program) {
            reference(&mut text, find(&program, &name), &format!("tidings {name}"), 4);
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// The section of a command and of its subcommands.
fn reference(text: &mut String, command: &Command, path: &str, level: usize) {
    let _ = writeln!(text, "{} `{path}`\n\n{}.\n", "#".repeat(level), about(command));
    let mut command = command.clone().bin_name(path).disable_help_flag(true);
    // Options of the whole program are not repeated in each usage.
    let usage = command.render_usage().to_string();
    let _ = writeln!(text, "```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    options(text, command.get_arguments().filter(|arg| !arg.is_global_set()));
    if let Some(more) = command.get_after_help() {
        let _ = writeln!(text, "```text\n{}\n```\n", wrap(&more.to_string()));
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        reference(text, sub, &format!("{path} {}", sub.get_name()), level + 1);
    }
}

/// A table of options.
fn options<'a>(text: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let shown = args.filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()));
    let rows: Vec<String> = shown.map(|arg| format!("| {} | {} |\n", signature(arg), description(arg))).collect();
    if !rows.is_empty() {
        let _ = writeln!(text, "| option | meaning |\n| --- | --- |\n{}", rows.concat());
    }
}

/// An option as it is typed.
fn signature(arg: &Arg) -> String {
    let takes_value = arg.get_action().takes_values();
    let names: Vec<&str> = match arg.get_value_names() {
        Some(names) if takes_value => names.iter().map(|name| name.as_str()).collect(),
        _ => Vec::new(),
    };
    let mut shown = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => {
            return format!("`{}`", names.first().copied().unwrap_or(arg.get_id().as_str()).replace('|', "\\|"));
        }
    };
    for name in names {
        let _ = write!(shown, " {name}");
    }
    format!("`{shown}`")
}

/// The help of an option with its values and its default.
fn description(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let (meaning, default) = help.split_once(" [default: ").unwrap_or((&help, ""));
    let mut text = meaning.to_owned();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| arg.get_action().takes_values() && !value.is_hide_set() && !arg.is_hide_possible_values_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(text, ": {}", values.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !default.is_empty() {
        let _ = write!(text, " [default: {default}");
    } else if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let _ = write!(text, " [default: {}]", defaults.join(","));
    }
    text.replace('|', "\\|")
}

/// Text with its long lines broken at blanks.
fn wrap(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let width = word.trim_end().chars().count();
            if column > 0 && column + width > COLUMNS {
                wrapped.truncate(wrapped.trim_end_matches(' ').len());
                wrapped.push('\n');
                column = 0;
            }
            wrapped.push_str(word);
            column += word.chars().count();
        }
        wrapped.truncate(wrapped.trim_end_matches(' ').len());
        wrapped.push('\n');
    }
    wrapped.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of docs/COMMANDS.md behind which everything is generated.
    const MARKER: &str = "<!-- Generated from the definition of the command line; TIDINGS_BLESS=1 cargo test -p tidings-cli --lib rewrites it. -->\n";

    fn in_repository(path: &str) -> std::path::PathBuf {
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
    }

    #[test]
    fn the_short_help_fits_one_screen() {
        let help = Args::command().render_help().to_string();
        assert!(help.lines().count() <= 45, "{} lines:\n{help}", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let program = Args::command();
        let mut visible: Vec<&str> =
            program.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<String> = GROUPS.iter().flat_map(|group| group.commands(&program)).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn the_first_steps_are_the_five_commands_of_the_readme() {
        let readme = std::fs::read_to_string(in_repository("README.md")).unwrap();
        assert!(readme.contains(&format!("```sh\n{}```\n", steps(""))), "README.md lacks the block\n{}", steps(""));
    }

    #[test]
    fn help_texts_are_short_phrases() {
        fn check(command: &Command, path: &str) {
            assert!(!about(command).is_empty() && !about(command).ends_with('.'), "{path}: {}", about(command));
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let starts_well = help.starts_with(|first: char| first.is_uppercase() || !first.is_alphabetic());
                let is_format = help.starts_with(|first: char| first.is_lowercase()) && help.contains(": ");
                assert!((starts_well || is_format) && !help.ends_with('.'), "{path} {}: {help:?}", arg.get_id());
                let words = help.split(" [default").next().unwrap_or_default();
                assert!(!words.is_empty() && words.chars().count() <= 100, "{path} {}: {help:?}", arg.get_id());
            }
            command.get_subcommands().for_each(|sub| check(sub, &format!("{path} {}", sub.get_name())));
        }
        // Options of queries are parameters of the API too, and documented at greater length.
        let program = Args::command();
        let queries =
            GROUPS.iter().find(|group| group.title == QUERIES).expect("a group of queries").commands(&program);
        program
            .get_subcommands()
            .filter(|command| queries.iter().all(|query| query != command.get_name()))
            .for_each(|command| check(command, command.get_name()));
    }

    #[test]
    fn the_reference_of_commands_is_up_to_date() {
        let path = in_repository("docs/COMMANDS.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (introduction, kept) = page.split_once(MARKER).expect("COMMANDS.md has the marker of its generated part");
        let made = format!("\n{}", markdown());
        if std::env::var_os("TIDINGS_BLESS").is_some() {
            std::fs::write(&path, format!("{introduction}{MARKER}{made}")).unwrap();
        } else {
            assert!(made == kept, "docs/COMMANDS.md is out of date: TIDINGS_BLESS=1 cargo test -p tidings-cli --lib");
        }
    }
}
