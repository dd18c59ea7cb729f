//! The inputs of an extraction: files, folders, patterns, URLs and standard input.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tidings_store::input_files;

use super::glob;

/// The maximum length of an output name derived from a URL.
const MAX_NAME_BYTES: usize = 120;

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// The path relative to the folder in which the search started.
        relative: PathBuf,
    },
    /// A web address.
    Web(String),
    /// Standard input.
    Standard,
}

impl Input {
    /// Resolves arguments to inputs in their order; the files of a folder by name.
    pub fn find(arguments: &[String]) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        let mut seen = HashSet::new();
        let mut add = |input: Input| {
            if seen.insert(input.key()) {
                inputs.push(input);
            }
        };
        for argument in arguments {
            let path = Path::new(argument);
            if argument == "-" {
                add(Input::Standard);
            } else if path.is_dir() {
                for file in input_files::html_files(path)? {
                    let relative = file.strip_prefix(path).unwrap_or(&file).to_owned();
                    add(Input::File { path: file, relative });
                }
            } else if path.exists() {
                add(file(path));
            } else if is_address(argument) {
                add(Input::Web(argument.clone()));
            } else if glob::is_pattern(argument) {
                let found = glob::expand(argument).with_context(|| format!("cannot expand {argument}"))?;
                if found.is_empty() {
                    bail!("no file matches {argument}");
                }
                let start = glob::start(argument);
                for path in found {
                    let relative = path.strip_prefix(&start).unwrap_or(&path).to_owned();
                    add(Input::File { path, relative });
                }
            } else {
                bail!(
                    "{argument} not found; give a file, a folder, a pattern such as '*.html', a URL, or - for standard input"
                );
            }
        }
        if inputs.is_empty() {
            bail!(
                "no pages in {}: saved pages must be named .html, .htm, .xhtml, .shtml or .php, or have no extension",
                arguments.join(", ")
            );
        }
        Ok(inputs)
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        match self {
            Input::File { path, .. } => path.display().to_string(),
            Input::Web(url) => url.clone(),
            Input::Standard => "standard input".to_owned(),
        }
    }

    /// The identity of the input, also if its name is not UTF-8.
    fn key(&self) -> OsString {
        match self {
            Input::File { path, .. } => path.clone().into_os_string(),
            Input::Web(url) => url.into(),
            Input::Standard => "-".into(),
        }
    }

    /// The path of its output without extension.
    fn output(&self) -> PathBuf {
        match self {
            Input::File { relative, .. } => {
                let is_page = relative.extension().is_some_and(|ending| {
                    ["html", "htm", "xhtml", "shtml", "php"].iter().any(|known| ending.eq_ignore_ascii_case(known))
                });
                let stem = if is_page { relative.with_extension("") } else { relative.clone() };
                // `..` and a root must not lead out of the output folder.
                stem.components().filter(|part| matches!(part, Component::Normal(_))).collect()
            }
            Input::Web(url) => {
                let rest = url.split_once("://").map_or(url.as_str(), |parts| parts.1);
                let kept = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
                let name: String = rest.chars().map(kept).collect();
                // Bytes, not characters: file systems limit those.
                let name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].trim_matches(['-', '.']);
                PathBuf::from(if name.is_empty() { "page" } else { name })
            }
            Input::Standard => PathBuf::from("stdin"),
        }
    }
}

fn file(path: &Path) -> Input {
    Input::File { path: path.to_owned(), relative: PathBuf::from(path.file_name().unwrap_or_default()) }
}

fn is_address(argument: &str) -> bool {
    let scheme = argument.split_once("://").map(|parts| parts.0.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// A path of output for each input, all distinct.
pub fn outputs(inputs: &[Input], folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut taken = HashSet::new();
    let mut numbers: HashMap<PathBuf, usize> = HashMap::new();
    let mut place = |input: &Input| {
        let stem = folder.join(input.output());
        let number = numbers.entry(stem.clone()).or_default();
        loop {
            *number += 1;
            let mut path = stem.clone().into_os_string();
            if *number > 1 {
                path.push(format!("-{number}"));
            }
            path.push(format!(".{ending}"));
            // Some file systems do not distinguish case.
            if taken.insert(path.to_ascii_lowercase()) {
                return PathBuf::from(path);
            }
        }
    };
    inputs.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_have_unique_names_derived_from_inputs() {
        let named = |relative: &str| Input::File { path: relative.into(), relative: relative.into() };
        let inputs = [
            named("a.html"),
            named("sub/a.htm"),
            named("a.HTM"),
            named("b.2024"),
            named("../../etc/x.php"),
            Input::Web("https://e.org/a/b?c=d".into()),
            Input::Standard,
        ];
        let names: Vec<String> =
            outputs(&inputs, Path::new("o"), "tei.xml").iter().map(|path| path.display().to_string()).collect();
        let stems = ["o/a", "o/sub/a", "o/a-2", "o/b.2024", "o/etc/x", "o/e.org-a-b-c-d", "o/stdin"];
        assert_eq!(names, stems.map(|stem| format!("{stem}.tei.xml")));
    }

    #[test]
    fn missing_inputs_are_an_error() {
        for (argument, word) in [("nothing.html", "not found"), ("no*where/*.html", "no file matches")] {
            assert!(Input::find(&[argument.to_owned()]).unwrap_err().to_string().contains(word));
        }
        assert_eq!(Input::find(&["https://e.org/*".to_owned()]).unwrap(), [Input::Web("https://e.org/*".into())]);
    }

    proptest::proptest! {
        #[test]
        fn a_url_gives_a_valid_file_name(rest in "\\PC{0,300}") {
            let name = Input::Web(format!("https://{rest}")).output();
            let bytes = name.as_os_str().len();
            proptest::prop_assert!(bytes > 0 && bytes <= 120, "{}", name.display());
            proptest::prop_assert_eq!(name.components().count(), 1);
            proptest::prop_assert!(!name.to_string_lossy().starts_with('.'));
        }
    }

    #[test]
    fn a_page_given_twice_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.html"), "").unwrap();
        let (all, one) = (folder.path().display().to_string(), folder.path().join("a.html").display().to_string());
        let inputs = Input::find(&[all, one, "-".to_owned(), "-".to_owned()]).unwrap();
        assert_eq!(inputs.len(), 2);
        assert_eq!(inputs[1], Input::Standard);
    }

    #[test]
    fn a_folder_without_pages_is_an_error_with_the_accepted_extensions() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.pdf"), "").unwrap();
        let error = Input::find(&[folder.path().display().to_string()]).unwrap_err().to_string();
        assert!(error.contains("no pages in") && error.contains(".html"), "{error}");
    }
}
