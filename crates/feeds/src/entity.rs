//! Character references: `&amp;`, `&#8217;`, `&nbsp;`, and malformed variants.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use memchr::{memchr, memchr_iter};
use tidings_model::Repair;

use crate::repairs::Repairs;

/// The maximum length of a reference name, which bounds the search for its semicolon.
const MAX_NAME_BYTES: usize = 32;
/// Limits on entities declared by a document, against entity expansion attacks.
const MAX_DECLARED: usize = 256;
const MAX_DECLARED_BYTES: usize = 512;

/// Entities declared in the DTD, expanded once.
#[derive(Debug, Default)]
pub(crate) struct Declared(Vec<(String, String)>);

impl Declared {
    /// Parses the `<!ENTITY name "value">` declarations of an internal subset.
    pub(crate) fn learn(&mut self, subset: &str, repairs: &mut Repairs) {
        for part in subset.split("<!ENTITY").skip(1).take(MAX_DECLARED) {
            let part = part.trim_start();
            let Some((name, rest)) = part.split_once(|c: char| c.is_ascii_whitespace()) else {
                continue;
            };
            let rest = rest.trim_start();
            let Some(quote @ ('"' | '\'')) = rest.chars().next() else {
                continue;
            };
            let Some((value, _)) = rest[1..].split_once(quote) else {
                continue;
            };
            if self.0.len() >= MAX_DECLARED || value.len() > MAX_DECLARED_BYTES || name.len() > MAX_NAME_BYTES {
                repairs.add(Repair::LimitReached);
                continue;
            }
            // Expand references of XML and HTML once. References to other declared entities are kept verbatim, which
            // prevents exponential expansion ("billion laughs").
            let mut plain = String::new();
            unescape_into(value, &Declared::default(), &mut plain, &mut Repairs::default());
            self.0.push((name.to_string(), plain));
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Resolves references in text, once.
pub(crate) fn unescape<'a>(text: &'a str, declared: &Declared, repairs: &mut Repairs) -> Cow<'a, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    unescape_into(text, declared, &mut out, repairs);
    Cow::Owned(out)
}

/// Like [`unescape`], but appends to `out`.
pub(crate) fn unescape_into(text: &str, declared: &Declared, out: &mut String, repairs: &mut Repairs) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memchr_iter(b'&', bytes) {
        if at < done {
            continue;
        }
        out.push_str(&text[done..at]);
        done = at;
        match reference(&text[at..]) {
            Reference::Char { c, length, .. } => {
                out.extend(c);
                done += length;
            }
            Reference::Named { name, length } => {
                if let Some(value) = declared.get(name) {
                    out.push_str(value);
                    done += length;
                } else {
                    repairs.add(Repair::UnknownEntity);
                }
            }
            Reference::None => repairs.add(Repair::BareAmpersand),
        }
    }
    out.push_str(&text[done..]);
}

/// The text at an ampersand.
pub(crate) enum Reference<'a> {
    /// A character reference; `None` if the character does not exist (`&#0;`) and is removed.
    Char { c: Option<char>, length: usize, exact: bool },
    /// A well-formed reference to an entity that HTML does not define.
    Named { name: &'a str, length: usize },
    /// A bare ampersand.
    None,
}

/// Parses the reference at the start of `text`, which begins with an ampersand.
pub(crate) fn reference(text: &str) -> Reference<'_> {
    let bytes = text.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return numeric(bytes);
    }
    let window = &bytes[1..bytes.len().min(1 + MAX_NAME_BYTES)];
    let end = window.iter().position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'.' | b'-'));
    let Some(end) = end else {
        return Reference::None;
    };
    if end == 0 || window[end] != b';' {
        return Reference::None;
    }
    let name = &text[1..1 + end];
    let length = end + 2;
    match named(name) {
        Some(c) => Reference::Char { c: Some(c), length, exact: true },
        None => Reference::Named { name, length },
    }
}

fn numeric(bytes: &[u8]) -> Reference<'_> {
    let hex = matches!(bytes.get(2), Some(b'x' | b'X'));
    let start = if hex { 3 } else { 2 };
    let (mut value, mut at) = (0u32, start);
    while let Some(digit) = bytes.get(at).and_then(|b| (*b as char).to_digit(if hex { 16 } else { 10 })) {
        value = value.saturating_mul(if hex { 16 } else { 10 }).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return Reference::None;
    }
    let closed = bytes.get(at) == Some(&b';');
    Reference::Char { c: character(value), length: at + usize::from(closed), exact: closed }
}

/// The character of a numeric reference: 128 to 159 are windows-1252 on the web.
fn character(number: u32) -> Option<char> {
    match number {
        9 | 10 | 13 => char::from_u32(number),
        0..=31 | 127 | 0xfffe | 0xffff => None,
        128..=159 => {
            let byte = [number as u8];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().filter(|c| !c.is_control())
        }
        _ => char::from_u32(number),
    }
}

/// The character of an HTML 4 entity; the mathematical ones of HTML 5 do not occur in feeds.
pub(crate) fn named(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => NAMES.get(name).copied().or_else(|| {
            // `&NBSP;` and `&Quot;` are typed by hand.
            let lower = name.to_ascii_lowercase();
            match lower.as_str() {
                "amp" | "lt" | "gt" | "quot" | "nbsp" | "apos" if lower != name => named(&lower),
                _ => None,
            }
        }),
    }
}

static NAMES: LazyLock<HashMap<&'static str, char>> = LazyLock::new(|| {
    let latin = LATIN.split_ascii_whitespace().zip('\u{a0}'..='\u{ff}');
    let greek = GREEK.split_ascii_whitespace().zip(('Α'..='Ρ').chain('Σ'..='Ω').chain('α'..='ω'));
    let others = OTHERS.split_ascii_whitespace().filter_map(|pair| {
        let (name, c) = pair.split_once('=')?;
        char::from_u32(u32::from_str_radix(c, 16).ok()?).map(|c| (name, c))
    });
    latin.chain(greek).chain(others).collect()
});

/// Names of U+00A0 to U+00FF, in order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr
    deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest
    Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml
    ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig
    agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml
    eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// Names of the Greek alphabet, in Unicode order.
const GREEK: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi
    Rho Sigma Tau Upsilon Phi Chi Psi Omega
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi
    rho sigmaf sigma tau upsilon phi chi psi omega";

/// The other entities of HTML 4, and those of HTML 5 that text editors produce.
const OTHERS: &str = "OElig=152 oelig=153 Scaron=160 scaron=161 Yuml=178 fnof=192 circ=2c6 tilde=2dc
    thetasym=3d1 upsih=3d2 piv=3d6 ensp=2002 emsp=2003 thinsp=2009 zwnj=200c zwj=200d lrm=200e rlm=200f
    ndash=2013 mdash=2014 lsquo=2018 rsquo=2019 sbquo=201a ldquo=201c rdquo=201d bdquo=201e dagger=2020
    Dagger=2021 bull=2022 hellip=2026 permil=2030 prime=2032 Prime=2033 lsaquo=2039 rsaquo=203a oline=203e
    frasl=2044 euro=20ac image=2111 weierp=2118 real=211c trade=2122 alefsym=2135 larr=2190 uarr=2191
    rarr=2192 darr=2193 harr=2194 crarr=21b5 lArr=21d0 uArr=21d1 rArr=21d2 dArr=21d3 hArr=21d4 forall=2200
    part=2202 exist=2203 empty=2205 nabla=2207 isin=2208 notin=2209 ni=220b prod=220f sum=2211 minus=2212
    lowast=2217 radic=221a prop=221d infin=221e ang=2220 and=2227 or=2228 cap=2229 cup=222a int=222b
    there4=2234 sim=223c cong=2245 asymp=2248 ne=2260 equiv=2261 le=2264 ge=2265 sub=2282 sup=2283 nsub=2284
    sube=2286 supe=2287 oplus=2295 otimes=2297 perp=22a5 sdot=22c5 lceil=2308 rceil=2309 lfloor=230a
    rfloor=230b lang=2329 rang=232a loz=25ca spades=2660 clubs=2663 hearts=2665 diams=2666
    Abreve=102 abreve=103 Cacute=106 cacute=107 Ccaron=10c ccaron=10d Dcaron=10e dcaron=10f Dstrok=110
    dstrok=111 Ecaron=11a ecaron=11b Eogon=118 eogon=119 Aogon=104 aogon=105 Gbreve=11e gbreve=11f Idot=130
    imath=131 inodot=131 Lstrok=141 lstrok=142 Nacute=143 nacute=144 Ncaron=147 ncaron=148 Odblac=150
    odblac=151 Rcaron=158 rcaron=159 Sacute=15a sacute=15b Scedil=15e scedil=15f Tcaron=164 tcaron=165
    Uring=16e uring=16f Udblac=170 udblac=171 Zacute=179 zacute=17a Zdot=17b zdot=17c Zcaron=17d zcaron=17e
    Amacr=100 amacr=101 Emacr=112 emacr=113 Imacr=12a imacr=12b Omacr=14c omacr=14d Umacr=16a umacr=16b
    NewLine=a Tab=9 excl=21 num=23 dollar=24 percnt=25 lpar=28 rpar=29 ast=2a plus=2b comma=2c period=2e
    sol=2f colon=3a semi=3b equals=3d quest=3f commat=40 lsqb=5b lbrack=5b bsol=5c rsqb=5d rbrack=5d Hat=5e
    lowbar=5f grave=60 lcub=7b lbrace=7b verbar=7c vert=7c rcub=7d rbrace=7d hyphen=2010 dash=2010
    horbar=2015 lsquor=201a rsquor=2019 rdquor=201d ldquor=201e nldr=2025 mldr=2026 numsp=2007 puncsp=2008
    hairsp=200a NoBreak=2060 check=2713 cross=2717 star=2606 starf=2605 phone=260e female=2640 male=2642
    copysr=2117 numero=2116 frac13=2153 frac23=2154 frac15=2155 frac18=215b frac38=215c frac58=215d
    frac78=215e bullet=2022 centerdot=b7 half=bd";

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        unescape(text, &Declared::default(), &mut Repairs::default()).into_owned()
    }

    #[test]
    fn references_are_resolved_once() {
        assert_eq!(plain("&lt;b&gt; &amp;amp; &eacute; &#8217; &#x2014; &hellip;"), "<b> &amp; é ’ — …");
        assert_eq!(plain("&alpha;&sigmaf;&sigma;&omega;&Omega;&Rho;&Sigma;"), "αςσωΩΡΣ");
        assert_eq!(plain("&yuml;&nbsp;&frac12;"), "ÿ\u{a0}½");
    }

    #[test]
    fn numeric_references_128_to_159_are_windows_1252() {
        assert_eq!(plain("it&#146;s &#147;so&#148;"), "it’s “so”");
    }

    #[test]
    fn invalid_characters_are_removed() {
        assert_eq!(plain("a&#0;b&#11;c&#xD800;d&#99999999999;e"), "abcde");
    }

    #[test]
    fn a_bare_ampersand_is_literal() {
        let mut repairs = Repairs::default();
        assert_eq!(unescape("Q&A & B&copy=1&", &Declared::default(), &mut repairs), "Q&A & B&copy=1&");
        assert_eq!(repairs.list(), [Repair::BareAmpersand]);
        assert_eq!(plain("&unheard;"), "&unheard;");
    }

    #[test]
    fn declared_entities_are_expanded_once() {
        let mut declared = Declared::default();
        let mut repairs = Repairs::default();
        declared.learn(
            r#"<!ENTITY co "Salt &#38; Co"> <!ENTITY lol "&co;&co;"> <!ENTITY x SYSTEM "file:///a">"#,
            &mut repairs,
        );
        assert_eq!(unescape("&co;|&lol;|&x;", &declared, &mut repairs), "Salt & Co|&co;&co;|&x;");
    }
}
