//! Finds the end of raw text elements: scripts, styles, titles.

use html5ever::tokenizer::states::RawKind;
use memchr::{memchr, memchr2};

/// Returns the offset of the element's end tag.
pub(super) fn end(rest: &[u8], kind: RawKind, name: &[u8]) -> Option<usize> {
    match kind {
        RawKind::Rcdata | RawKind::Rawtext => plain_end(rest, name),
        RawKind::ScriptData | RawKind::ScriptDataEscaped(_) => script_end(rest),
    }
}

fn plain_end(rest: &[u8], name: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let open = at + memchr(b'<', &rest[at..])?;
        if closes(&rest[open + 1..], name) {
            return Some(open);
        }
        at = open + 1;
    }
}

/// The "script data escaped" states of the HTML standard, for scripts wrapped in comments.
#[derive(Clone, Copy, PartialEq)]
enum ScriptState {
    Script,
    /// Inside `<!--`.
    Comment,
    /// Inside another `<script` within the comment, where `</script>` closes only the inner one.
    Inner,
}

fn script_end(rest: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"script";
    let mut state = ScriptState::Script;
    let mut at = 0;
    loop {
        if state == ScriptState::Script {
            let open = at + memchr(b'<', &rest[at..])?;
            let after = &rest[open + 1..];
            if closes(after, NAME) {
                return Some(open);
            }
            let comment = after.starts_with(b"!--");
            at = if comment { open + 4 } else { open + 1 };
            state = if comment { ScriptState::Comment } else { ScriptState::Script };
            continue;
        }
        let found = at + memchr2(b'<', b'>', &rest[at..])?;
        at = found + 1;
        if rest[found] == b'>' {
            // The dashes of `<!-->` count for both ends.
            if rest[..found].ends_with(b"--") {
                state = ScriptState::Script;
            }
            continue;
        }
        let after = &rest[at..];
        match state {
            ScriptState::Comment if closes(after, NAME) => return Some(found),
            ScriptState::Comment if is_tag(after, NAME) => state = ScriptState::Inner,
            ScriptState::Inner if closes(after, NAME) => state = ScriptState::Comment,
            _ => {}
        }
    }
}

/// Returns whether the bytes after `<` are an end tag with that name.
fn closes(after: &[u8], name: &[u8]) -> bool {
    after.first() == Some(&b'/') && is_tag(&after[1..], name)
}

fn is_tag(after: &[u8], name: &[u8]) -> bool {
    after.len() > name.len()
        && matches!(after[name.len()], b' ' | b'\t' | b'\n' | 0x0c | b'/' | b'>')
        && after[..name.len()].eq_ignore_ascii_case(name)
}
