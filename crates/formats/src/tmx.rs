//! TMX 1.4 (translation memory): pairs of translated sentences.

use crate::markup::{language, one_line};
use crate::xml::DECLARATION;

/// The text after the last pair.
pub const CLOSING: &str = "</body>\n</tmx>\n";

/// The text before the first pair.
pub fn opening() -> String {
    format!(
        "{DECLARATION}<tmx version=\"1.4\">\n<header creationtool=\"tidings\" creationtoolversion=\"{}\" datatype=\"plaintext\" \
         segtype=\"sentence\" adminlang=\"en\" srclang=\"*all*\" o-tmf=\"tidings\"/>\n<body>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// A pair: language and text of each side, and its properties.
pub fn unit(sides: [(&str, &str); 2], properties: &[(&str, &str)]) -> String {
    let mut out = String::from("<tu>\n");
    for (name, value) in properties {
        out.push_str(&format!("<prop type=\"{name}\">{}</prop>\n", one_line(value)));
    }
    for (tag, text) in sides {
        let tag = language(tag).unwrap_or_else(|| "und".into());
        out.push_str(&format!("<tuv xml:lang=\"{tag}\"><seg>{}</seg></tuv>\n", one_line(text)));
    }
    out + "</tu>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_their_languages() {
        let unit = unit([("de", "Es regnet & stürmt."), ("en-GB", "Rain <and> storm.")], &[("score", "0.9")]);
        assert_eq!(
            unit,
            "<tu>\n<prop type=\"score\">0.9</prop>\n<tuv xml:lang=\"de\"><seg>Es regnet &amp; stürmt.</seg></tuv>\n\
             <tuv xml:lang=\"en-GB\"><seg>Rain &lt;and&gt; storm.</seg></tuv>\n</tu>\n"
        );
        assert!(opening().contains("version=\"1.4\""));
    }
}
