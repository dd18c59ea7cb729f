//! Reader comments, each with its author and day.
//!
//! In the containers of comments, lines of a name and a date stand between the texts. Consecutive texts
//! in one item are one comment; the lines before it, or after it where a page begins with a text, say who
//! wrote it and when.

use html5ever::local_name;
use jiff::civil::Date;

use super::evidence::{ElementRole, group_index};
use super::features::FeatureMatrix;
use crate::tree::Tree;

const COMMENT: usize = group_index("comment");
const BYLINE: usize = group_index("byline");
const BIO: usize = group_index("bio");

/// A reader comment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundComment {
    /// The rows of its text.
    pub rows: Vec<usize>,
    /// The name of its author; empty if unknown.
    pub author: String,
    /// The day on which it was written.
    pub day: Option<Date>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Line {
    /// Text of the comment in an item.
    Text { item: u32 },
    /// Author or date of a comment.
    Byline,
}

/// Finds the comments of a page outside its article. `day_of` reads the day in a text.
pub fn find(
    tree: &Tree,
    matrix: &FeatureMatrix,
    article: &[usize],
    day_of: impl Fn(&str) -> Option<Date>,
) -> Vec<FoundComment> {
    let lines = lines(matrix, article);
    let mut comments: Vec<FoundComment> = Vec::new();
    // Lines before each comment, and after the last one.
    let mut bylines: Vec<Vec<usize>> = vec![Vec::new()];
    let mut last = None;
    for (row, line) in lines {
        match line {
            Line::Byline => bylines.last_mut().expect("there is always a last list").push(row),
            Line::Text { item } if last == Some(Line::Text { item }) => {
                comments.last_mut().expect("a text came before").rows.push(row);
            }
            Line::Text { .. } => {
                comments.push(FoundComment { rows: vec![row], ..FoundComment::default() });
                bylines.push(Vec::new());
            }
        }
        last = Some(line);
    }
    let after = usize::from(bylines[0].is_empty());
    for (at, comment) in comments.iter_mut().enumerate() {
        for row in &bylines[at + after] {
            let text = matrix.blocks.list[*row].text(&matrix.blocks);
            comment.day = comment.day.or_else(|| machine_day(tree, matrix, *row, &day_of)).or_else(|| day_of(text));
            if comment.author.is_empty() {
                comment.author = name_in(text);
            }
        }
    }
    comments
}

/// The lines of comments in document order, without buttons and forms.
fn lines(matrix: &FeatureMatrix, article: &[usize]) -> Vec<(usize, Line)> {
    let near = |row: usize| &matrix.containers[matrix.innermost[row] as usize].near;
    let in_comments = |row: usize| near(row).role(ElementRole::Comments) || (1..=8).contains(&near(row).group(COMMENT));
    let mut lines = Vec::new();
    for row in (0..matrix.blocks.list.len()).filter(|row| article.binary_search(row).is_err() && in_comments(*row)) {
        let (near, block, words) = (near(row), &matrix.blocks.list[row], &matrix.words[row]);
        if near.role(ElementRole::Form) || near.role(ElementRole::Button) || near.role(ElementRole::Nav) {
            continue;
        }
        let is_byline = (1..=3).contains(&near.group(BYLINE)) || (1..=2).contains(&near.group(BIO));
        let is_short = words.count < 12.0;
        let is_text = block.link_bytes * 2 < block.len() && (words.ends || words.count >= 6.0);
        if is_byline && is_short {
            lines.push((row, Line::Byline));
        } else if is_text && !near.role(ElementRole::Heading) {
            lines.push((row, Line::Text { item: item_of(matrix, row) }));
        } else if is_short && !near.role(ElementRole::Heading) && words.count > 0.0 {
            // A name or a date without a name for its container.
            lines.push((row, Line::Byline));
        }
    }
    lines
}

/// The innermost container of a row that is an item of a list, or is named a comment.
fn item_of(matrix: &FeatureMatrix, row: usize) -> u32 {
    let is_item = |at: &u32| {
        let own = matrix.containers[*at as usize].own;
        own.has_role(ElementRole::Comments) || own.has_role(ElementRole::Item) || own.has_role(ElementRole::Article)
    };
    matrix.around(row).find(is_item).unwrap_or(0)
}

/// The day in the `datetime` of a `<time>` in a row.
fn machine_day(
    tree: &Tree,
    matrix: &FeatureMatrix,
    row: usize,
    day_of: &impl Fn(&str) -> Option<Date>,
) -> Option<Date> {
    let block = &matrix.blocks.list[row];
    let pieces = &matrix.blocks.pieces[block.first_piece..block.end_piece];
    pieces.iter().take(8).find_map(|piece| {
        let time = tree.ancestors(piece.node).take(3).find(|id| tree.is(*id, &local_name!("time")))?;
        day_of(tree.attr(time, &local_name!("datetime"))?)
    })
}

/// Words of controls of comments, which are not names.
const CONTROLS: &[&str] = &[
    "reply",
    "replies",
    "permalink",
    "report",
    "share",
    "like",
    "likes",
    "flag",
    "link",
    "edit",
    "quote",
    "delete",
    "log",
    "login",
    "antworten",
    "melden",
    "zitieren",
    "teilen",
    "répondre",
    "signaler",
    "responder",
    "reageer",
    "ответить",
    "回复",
    "comment",
    "comments",
    "ago",
    "hours",
    "minutes",
    "days",
    "today",
    "yesterday",
    "am",
    "pm",
    "at",
    "on",
    "um",
    "points",
    "score",
];

/// Phrases between the name and the rest of a byline.
const ENDS: &[&str] = &[
    " says", " said", " sagt", " wrote", " schrieb", " writes", " meint", " dit ", " dijo", " on ", " am ", " at ",
    ":", "|", "·", "•", ",",
];

/// The name in the byline of a comment; empty if there is none.
fn name_in(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let line = ["by ", "von ", "par ", "posted by "]
        .iter()
        .find_map(|by| line.get(..by.len()).filter(|start| start.eq_ignore_ascii_case(by)).map(|_| &line[by.len()..]))
        .unwrap_or(line);
    let end = ENDS.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
    let name = line[..end].trim().trim_start_matches(['#', '@', '-', '–', '—']).trim();
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_control = |word: &&str| CONTROLS.iter().any(|control| control.eq_ignore_ascii_case(word));
    let is_name = (1..=5).contains(&words.len())
        && name.chars().count() <= 40
        && name.chars().any(char::is_alphabetic)
        && !words.iter().any(is_control)
        && name.bytes().filter(u8::is_ascii_digit).count() <= 4;
    if is_name { name.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_out_of_bylines() {
        assert_eq!(name_in("Ann Lee says:"), "Ann Lee");
        assert_eq!(name_in("by old_salt on 3 May 2019"), "old_salt");
        assert_eq!(name_in("@islander"), "islander");
        assert_eq!(name_in("3 May 2019 at 12:14"), "");
        assert_eq!(name_in("Reply"), "");
    }
}
