//! Normalisation of short strings for display and comparison.
//!
//! Declarations come from templates: entities are escaped twice, tags and line breaks are left in,
//! soft hyphens and invisible characters occur. All modules read them with [`tidy`] and compare
//! them with [`fold`].

use html5ever::local_name;

use crate::tree::{NodeId, Tree, is_inline, is_space, push_words};

/// Maximum length of a metadata field in characters.
pub const MAX_CHARS: usize = 1_000;

/// Named entities that survive in declarations because they were escaped twice.
const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("shy", '\u{ad}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("hellip", '…'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
    ("ccedil", 'ç'),
    ("ntilde", 'ñ'),
    ("aacute", 'á'),
    ("iacute", 'í'),
    ("oacute", 'ó'),
    ("uacute", 'ú'),
];

/// The text as one line without markup, entities, invisible characters and repeated white space.
pub fn tidy(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_CHARS));
    let mut rest = text.trim_start();
    let mut kept = 0;
    while let Some(c) = rest.chars().next() {
        if kept >= MAX_CHARS {
            break;
        }
        let mut taken = c.len_utf8();
        let mut shown = Some(c);
        match c {
            '&' => {
                // Double and triple escaping: a decoded `&` may begin another entity.
                if let Some((decoded, length)) = entity(rest) {
                    taken = length;
                    shown = Some(decoded);
                    if decoded == '&'
                        && let Some((inner, length)) = entity_after(&rest[taken..])
                    {
                        taken += length;
                        shown = Some(inner);
                    }
                }
            }
            '<' => {
                if let Some(length) = tag(rest) {
                    taken = length;
                    shown = Some(' ');
                }
            }
            _ => {}
        }
        rest = &rest[taken..];
        match shown {
            Some(c) if is_space(c) && (line.is_empty() || line.ends_with(' ')) => {}
            Some(c) if is_space(c) => {
                line.push(' ');
                kept += 1;
            }
            Some(c) if !is_invisible(c) => {
                line.push(c);
                kept += 1;
            }
            _ => {}
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Letters and digits in lower case; texts that look alike have equal values.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().filter(|c| c.is_alphanumeric()).take(MAX_CHARS) {
        folded.extend(c.to_lowercase());
    }
    folded
}

/// The text below a node, with line breaks at block boundaries; `None` if longer than `most` bytes,
/// since labels are short.
pub fn label(tree: &Tree, top: NodeId, most: usize) -> Option<String> {
    gather(tree, top, most, false)
}

/// Like [`label`], with a space at every element boundary: "By" and a name are often in two
/// elements separated only by style sheets.
pub fn spaced_label(tree: &Tree, top: NodeId, most: usize) -> Option<String> {
    gather(tree, top, most, true)
}

fn gather(tree: &Tree, top: NodeId, most: usize, spaced: bool) -> Option<String> {
    let mut text = String::new();
    let mut at = Some(top);
    let mut steps = 0;
    while let Some(id) = at {
        steps += 1;
        if steps > 400 {
            return None;
        }
        let mut skip = false;
        if let Some(piece) = tree.as_text(id) {
            push_words(&mut text, piece, |text, word| text.extend(word.chars().filter(|c| !is_invisible(*c))));
            if text.len() > most {
                return None;
            }
        } else if let Some(name) = tree.name(id) {
            skip = matches!(
                *name,
                local_name!("script")
                    | local_name!("style")
                    | local_name!("noscript")
                    | local_name!("template")
                    | local_name!("svg")
                    | local_name!("button")
                    | local_name!("select")
            );
            if !is_inline(name) {
                end_line(&mut text);
            } else if spaced && !text.is_empty() && !text.ends_with([' ', '\n']) {
                text.push(' ');
            }
        }
        at = tree.following(id, top, skip);
        // Leaving a block ends the line, as entering one does.
        if let Some(next) = at
            && tree.parent(next) != Some(id)
            && tree.previous_sibling(next).and_then(|before| tree.name(before)).is_some_and(|name| !is_inline(name))
        {
            end_line(&mut text);
        }
    }
    text.truncate(text.trim_end().len());
    Some(text)
}

fn end_line(text: &mut String) {
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push('\n');
    }
}

/// Characters for layout and search engines that readers do not see.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
        || c.is_control()
}

/// Decodes the entity at the start of the text; also returns its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let (decoded, length) = entity_after(text.strip_prefix('&')?)?;
    Some((decoded, length + 1))
}

/// Like [`entity`], after the `&`.
fn entity_after(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(10).position(|byte| byte == b';')?;
    let name = text.get(..end)?;
    let decoded = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((decoded, end + 1))
}

/// Length of a tag at the start of the text; `None` if the `<` is literal.
fn tag(text: &str) -> Option<usize> {
    let second = text.as_bytes().get(1)?;
    if !second.is_ascii_alphabetic() && *second != b'/' {
        return None;
    }
    text.bytes().take(200).position(|byte| byte == b'>').map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_escaped_entities_and_tags_are_removed() {
        assert_eq!(tidy(" Tom &amp;amp; Jerry&#8217;s <b>big</b>\n day "), "Tom & Jerry’s big day");
        assert_eq!(tidy("a < b &unknown; c"), "a < b &unknown; c");
        assert_eq!(tidy("Genesenen\u{ad}nachweis"), "Genesenennachweis");
    }

    #[test]
    fn tidy_terminates_and_cuts_at_character_boundaries() {
        assert_eq!(tidy(&"ä".repeat(5_000)).chars().count(), MAX_CHARS);
        assert_eq!(tidy("&"), "&");
        assert_eq!(tidy("<"), "<");
        assert_eq!(tidy("&#xffffffff;é;"), "&#xffffffff;é;");
    }

    #[test]
    fn similar_strings_fold_to_the_same_value() {
        assert_eq!(fold("„Meister Proper“ – Wien"), fold("meister proper: WIEN!"));
    }

    #[test]
    fn a_label_keeps_line_breaks_and_long_text_has_none() {
        let tree = crate::tree::parse("<div>By <a>Ann Lee</a><div>Editor</div> 5 May</div>");
        let top = tree.first_child(tree.body()).unwrap();
        assert_eq!(label(&tree, top, 100).unwrap(), "By Ann Lee\nEditor\n5 May");
        assert_eq!(label(&tree, top, 5), None);
    }
}
