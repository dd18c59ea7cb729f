//! Finds the end of elements whose text is not markup: scripts, styles, titles.

use html5ever::tokenizer::states::RawKind;
use memchr::{memchr, memchr2};

/// Where the end tag of the element begins, if it is there.
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

/// How deep a script stands in what old pages wrapped around scripts.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Script,
    /// Behind `<!--`.
    Comment,
    /// Behind another `<script` within the comment, where `</script>` only ends that one.
    Inner,
}

fn script_end(rest: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"script";
    let mut depth = Depth::Script;
    let mut at = 0;
    loop {
        if depth == Depth::Script {
            let open = at + memchr(b'<', &rest[at..])?;
            let behind = &rest[open + 1..];
            if closes(behind, NAME) {
                return Some(open);
            }
            let comment = behind.starts_with(b"!--");
            at = if comment { open + 4 } else { open + 1 };
            depth = if comment { Depth::Comment } else { Depth::Script };
            continue;
        }
        let found = at + memchr2(b'<', b'>', &rest[at..])?;
        at = found + 1;
        if rest[found] == b'>' {
            // The dashes of `<!-->` count for both its ends.
            if rest[..found].ends_with(b"--") {
                depth = Depth::Script;
            }
            continue;
        }
        let behind = &rest[at..];
        match depth {
            Depth::Comment if closes(behind, NAME) => return Some(found),
            Depth::Comment if is_tag(behind, NAME) => depth = Depth::Inner,
            Depth::Inner if closes(behind, NAME) => depth = Depth::Comment,
            _ => {}
        }
    }
}

/// Whether an end tag of that name begins here, behind its angle bracket.
fn closes(behind: &[u8], name: &[u8]) -> bool {
    behind.first() == Some(&b'/') && is_tag(&behind[1..], name)
}

fn is_tag(behind: &[u8], name: &[u8]) -> bool {
    behind.len() > name.len()
        && matches!(behind[name.len()], b' ' | b'\t' | b'\n' | 0x0c | b'/' | b'>')
        && behind[..name.len()].eq_ignore_ascii_case(name)
}
