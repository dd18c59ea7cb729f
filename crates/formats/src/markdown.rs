//! Markdown: CommonMark with tables.
//!
//! Characters that Markdown would interpret are escaped, and marks that it could not parse, because a word continues
//! right after them, are omitted.

use tidings_model::{Document, Mark, Paragraph, ParagraphKind, Span};

use crate::html::has_heading;
use crate::inline::{self, Inline, MAX_DEPTH};
use crate::layout::{self, LayoutBlock, List};

pub(crate) fn write(document: &Document) -> String {
    let mut out = String::new();
    let title = document.about.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if !title.is_empty() && !has_heading(&document.paragraphs, &title) {
        out.push_str("# ");
        escape(&title, false, &mut out);
        out.push('\n');
    }
    for part in layout::parts(&document.paragraphs).iter().chain(&layout::parts(&document.comments)) {
        if !out.is_empty() {
            out.push('\n');
        }
        push(part, &mut out);
    }
    out
}

fn push(part: &LayoutBlock<'_>, out: &mut String) {
    match part {
        LayoutBlock::Heading(level, paragraph) => {
            let text = inside(paragraph, 0, paragraph.text.len(), " ");
            out.push_str(&format!("{} {}\n", "#".repeat(usize::from(*level)), text.trim()));
        }
        LayoutBlock::Plain(paragraph) => out.push_str(&format!("{}\n", lines(paragraph))),
        LayoutBlock::Quote(run) => {
            for (number, paragraph) in run.iter().enumerate() {
                if number > 0 {
                    out.push_str(">\n");
                }
                out.push_str(&format!("> {}\n", lines(paragraph).replace('\n', "\n> ")));
            }
        }
        LayoutBlock::Code(paragraph) => {
            let fence = "`".repeat(longest_run(&paragraph.text).max(2) + 1);
            out.push_str(&format!("{fence}\n{}\n{fence}\n", paragraph.text));
        }
        LayoutBlock::List(list) => push_list(list, "", out),
        LayoutBlock::Table(rows) => push_table(rows, out),
    }
}

fn push_list(list: &List<'_>, indent: &str, out: &mut String) {
    for (number, item) in list.items.iter().enumerate() {
        let sign = if list.ordered { format!("{}. ", number + 1) } else { "- ".to_owned() };
        let deeper = format!("{indent}{}", " ".repeat(sign.len()));
        let text = lines(item.paragraph).replace('\n', &format!("\n{deeper}"));
        out.push_str(&format!("{indent}{sign}{text}\n"));
        for list in &item.lists {
            push_list(list, &deeper, out);
        }
    }
}

fn push_table(rows: &[Paragraph], out: &mut String) {
    let columns = rows.iter().map(|row| inline::cells(&row.text).count()).max().unwrap_or(0);
    let mut rows = rows.iter().peekable();
    // A table must have a header, which may be empty.
    let head = rows.next_if(|row| matches!(row.kind, ParagraphKind::Row { header: true }));
    let given = head.map_or(0, |row| push_row(row, out));
    out.push_str(if given == 0 { "|" } else { "" });
    (given..columns).for_each(|_| out.push_str("  |"));
    out.push_str("\n|");
    (0..columns).for_each(|_| out.push_str(" --- |"));
    out.push('\n');
    for row in rows {
        push_row(row, out);
        out.push('\n');
    }
}

/// Appends the cells of a row without the line end; returns their number.
fn push_row(row: &Paragraph, out: &mut String) -> usize {
    out.push('|');
    let mut cells = 0;
    for (from, to) in inline::cells(&row.text) {
        out.push_str(&format!(" {} |", inside(row, from, to, " ").trim().replace('|', "\\|")));
        cells += 1;
    }
    cells
}

/// The text of a paragraph with its line ends.
fn lines(paragraph: &Paragraph) -> String {
    let text = inside(paragraph, 0, paragraph.text.len(), "\\\n");
    if text.trim().is_empty() { String::new() } else { text.trim_start().to_owned() }
}

/// A stretch of a paragraph with its marks.
fn inside(paragraph: &Paragraph, from: usize, to: usize, line_break: &str) -> String {
    let text = paragraph.text.as_str();
    let spans = uncrossed(paragraph.spans.iter().filter_map(|span| readable(text, span)).collect());
    let mut out = String::new();
    // Code is written unescaped, so it is collected first.
    let mut code: Option<String> = None;
    inline::walk(text, &spans, from, to, |step| match (step, code.as_mut()) {
        (Inline::Close(Mark::Code), Some(collected)) => {
            push_code(collected, &mut out);
            code = None;
        }
        (Inline::Text(text), Some(collected)) => collected.push_str(text),
        (_, Some(_)) => {}
        (Inline::Open(Mark::Code), None) => code = Some(String::new()),
        (Inline::Open(Mark::Strong) | Inline::Close(Mark::Strong), None) => out.push_str("**"),
        (Inline::Open(Mark::Emphasis) | Inline::Close(Mark::Emphasis), None) => out.push('*'),
        (Inline::Open(Mark::Link { .. }), None) => out.push('['),
        (Inline::Close(Mark::Link { href }), None) => out.push_str(&format!("]({})", destination(href))),
        (Inline::Close(Mark::Code), None) => {}
        (Inline::Text(text), None) => {
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    out.truncate(out.trim_end().len());
                    out.push_str(line_break);
                }
                let begins = out.is_empty() || out.ends_with('\n');
                escape(if begins { line.trim_start() } else { line }, begins, &mut out);
            }
        }
    });
    out.truncate(out.trim_end().len());
    out
}

/// A mark trimmed of white space, if asterisks can represent it there.
fn readable(text: &str, span: &Span) -> Option<Span> {
    if !matches!(span.mark, Mark::Strong | Mark::Emphasis) {
        return Some(span.clone());
    }
    let marked = text.get(span.start..span.end)?;
    let start = span.start + (marked.len() - marked.trim_start().len());
    let end = start + marked.trim().len();
    let marked = text.get(start..end).filter(|marked| !marked.is_empty())?;
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (first, last) = (marked.chars().next()?, marked.chars().next_back()?);
    let blocked_before = is_sign(first) && goes_on(text[..start].chars().next_back());
    let blocked_after = is_sign(last) && goes_on(text[end..].chars().next());
    (!blocked_before && !blocked_after).then(|| Span { start, end, mark: span.mark.clone() })
}

/// Omits marks that start within another and end after it, or start where another ends: adjacent asterisks would be
/// ambiguous.
fn uncrossed(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let has_stars = |span: &Span| matches!(span.mark, Mark::Strong | Mark::Emphasis);
    let mut open: Vec<(usize, bool)> = Vec::new();
    spans.retain(|span| {
        let touches = has_stars(span) && open.contains(&(span.start, true));
        open.retain(|mark| mark.0 > span.start);
        let kept = !touches && open.len() < MAX_DEPTH && open.last().is_none_or(|mark| mark.0 >= span.end);
        if kept {
            open.push((span.end, has_stars(span)));
        }
        kept
    });
    spans
}

fn push_code(text: &str, out: &mut String) {
    let text = text.replace('\n', " ");
    if text.trim().is_empty() {
        out.push_str(&text);
        return;
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    out.push_str(&format!("{fence}{pad}{text}{pad}{fence}"));
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn destination(href: &str) -> String {
    let mut out = String::new();
    for c in href.trim().chars() {
        match c {
            '(' | ')' | '<' | '>' | '\\' | ' ' => out.push_str(&format!("%{:02X}", c as u32)),
            c if c.is_whitespace() || c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Appends text with a backslash before characters that would be markup.
fn escape(text: &str, begins_line: bool, out: &mut String) {
    let mut before = if begins_line { None } else { out.chars().next_back() };
    let sign = if begins_line { sign_at_start(text) } else { None };
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|next| next.1);
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '_' => !(is_word(before) && is_word(next)),
            '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
            _ => false,
        };
        if special || sign == Some(at) {
            out.push('\\');
        }
        if matches!(c, '\n' | '\t') || !c.is_control() {
            out.push(c);
        }
        before = Some(c);
    }
}

/// The offset of a character that would turn a line into a heading, list item, quotation, rule or table.
fn sign_at_start(line: &str) -> Option<usize> {
    let first = line.chars().next()?;
    if "#>+-=|".contains(first) || line.starts_with(":-") {
        return Some(0);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbers = (1..=9).contains(&digits) && line[digits..].starts_with(['.', ')']);
    let stands_alone = || line[digits + 1..].chars().next().is_none_or(char::is_whitespace);
    (numbers && stands_alone()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn plain(text: &str, spans: Vec<Span>) -> String {
        let paragraphs = vec![Paragraph { text: text.into(), spans, ..Paragraph::default() }];
        write(&Document { paragraphs, ..Document::default() })
    }

    fn span(start: usize, end: usize, mark: Mark) -> Span {
        Span { start, end, mark }
    }

    #[test]
    fn an_article_keeps_its_structure() {
        assert_eq!(
            write(&sample::article()),
            "# Rain \"&\" flood, \\<again>\n\n## Rain & flood\n\n\
             It **rained \\*hard\\***,\\\nfor [three](http://e.org/x) days.\n\n\
             - One\n  1. Inner\n- Two\n\n> We carried our chairs.\n\n\
             ```\nfn main() {\n    println!(\"`\");\n}\n```\n\n\
             | Day | Water |\n| --- | --- |\n| Monday | 2 \\| 3 m |\n\nWell said.\n"
        );
    }

    #[test]
    fn text_does_not_turn_into_markup() {
        assert_eq!(
            plain("# no heading\n- no item\n1. none\n===\n> said", vec![]),
            "\\# no heading\\\n\\- no item\\\n1\\. none\\\n\\===\\\n\\> said\n"
        );
        assert_eq!(
            plain("*a* _b_ snake_case `c` [d](e) <f> \\ ~~g~~ &amp; a & b 3.5 2021", vec![]),
            "\\*a\\* \\_b\\_ snake_case \\`c\\` \\[d\\](e) \\<f> \\\\ \\~\\~g\\~\\~ \\&amp; a & b 3.5 2021\n"
        );
        assert_eq!(plain("    four spaces", vec![]), "four spaces\n");
        assert_eq!(plain("a\u{1b}[2Jb", vec![]), "a\\[2Jb\n");
    }

    #[test]
    fn marks_are_trimmed_and_omitted_where_they_cannot_be_parsed() {
        assert_eq!(plain("a bold b", vec![span(1, 7, Mark::Strong)]), "a **bold** b\n");
        assert_eq!(plain("a \"b\"c", vec![span(2, 5, Mark::Emphasis)]), "a \"b\"c\n");
        assert_eq!(plain("a   b", vec![span(1, 4, Mark::Strong)]), "a   b\n");
        assert_eq!(plain("run `ls`", vec![span(4, 8, Mark::Code)]), "run `` `ls` ``\n");
        assert_eq!(plain("a*b", vec![span(0, 3, Mark::Code), span(1, 2, Mark::Strong)]), "`a*b`\n");
    }

    #[test]
    fn a_table_without_a_head_gets_an_empty_one() {
        let row = |text: &str| Paragraph {
            kind: ParagraphKind::Row { header: false },
            text: text.into(),
            ..Paragraph::default()
        };
        let paragraphs = vec![row("a"), row("b\tc")];
        let text = write(&Document { paragraphs, ..Document::default() });
        assert_eq!(text, "|  |  |\n| --- | --- |\n| a |\n| b | c |\n");
    }
}
