//! Masking of numbers in common notations: rows that are masked and rows that stay.

use tidings_lang::{MaskRule, mask};

/// Description, text, and the rule that replaces all of it.
const PERSONAL: &[(&str, &str, MaskRule)] = &[
    ("e-mail", "jane.doe+news@mail.example.org", MaskRule::Email),
    ("e-mail with an apostrophe", "o'neil@example.ie", MaskRule::Email),
    ("e-mail with a dash in its host", "info@stadt-wien.example.at", MaskRule::Email),
    ("Austrian phone", "+43 1 58801-0", MaskRule::Phone),
    ("German phone", "+49 (0)30 901820", MaskRule::Phone),
    ("German phone at home", "030/90182030", MaskRule::Phone),
    ("French phone", "01 23 45 67 89", MaskRule::Phone),
    ("French phone with dots", "01.23.45.67.89", MaskRule::Phone),
    ("British phone", "+44 20 7946 0958", MaskRule::Phone),
    ("British phone at home", "020 7946 0958", MaskRule::Phone),
    ("North American phone", "(555) 123-4567", MaskRule::Phone),
    ("North American phone with dashes", "555-123-4567", MaskRule::Phone),
    ("Czech phone", "+420 777 123 456", MaskRule::Phone),
    ("Indian phone", "+91 98765 43210", MaskRule::Phone),
    ("Brazilian phone", "+55 11 91234-5678", MaskRule::Phone),
    ("Japanese phone", "03-1234-5678", MaskRule::Phone),
    ("Russian phone", "+7 495 123-45-67", MaskRule::Phone),
    ("Visa", "4111 1111 1111 1111", MaskRule::Card),
    ("Mastercard with dashes", "5500-0000-0000-0004", MaskRule::Card),
    ("American Express", "3782 822463 10005", MaskRule::Card),
    ("German account", "DE89 3704 0044 0532 0130 00", MaskRule::Iban),
    ("British account", "GB82WEST12345698765432", MaskRule::Iban),
    ("Norwegian account", "NO93 8601 1117 947", MaskRule::Iban),
    ("Maltese account", "MT84MALT011000012345MTLCAST001S", MaskRule::Iban),
    ("IPv4 address", "192.168.10.7", MaskRule::Ip),
    ("IPv6 address", "2001:db8::ff00:42:8329", MaskRule::Ip),
];

/// Description and text.
const LOOK_ALIKE: &[(&str, &str)] = &[
    ("ISBN-13", "978-3-16-148410-0"),
    ("ISBN-13 without dashes", "9783161484100"),
    ("ISBN-10", "3-16-148410-X"),
    ("ISBN-10 of digits", "0-306-40615-2"),
    ("ISSN", "2049-3630"),
    ("day", "2026-03-01"),
    ("day with dots", "01.03.2026"),
    ("day with slashes", "01/03/2026"),
    ("days", "01.03.2026 - 15.03.2026"),
    ("years", "1914-1918"),
    ("moment", "2006-07-18T07:25:45Z"),
    ("moment in milliseconds that passes for a card", "1700000000006"),
    ("moment in one number", "20260301123045"),
    ("time", "12:30:45"),
    ("times", "06:12 : 15:28"),
    ("price", "1,234,567.89 EUR"),
    ("price with blanks", "1 234 567 890 Kč"),
    ("price with dots", "$1.000.000"),
    ("share", "12.5 %"),
    ("score", "3:2"),
    ("sets", "21-19 21-17 6:4 7:6"),
    ("version", "version 1.2.3.4"),
    ("long version", "v10.0.19041.1"),
    ("section", "1.2.3"),
    ("section of five parts", "1.2.3.4.5"),
    ("part of a standard", "EN 13485-2016"),
    ("order", "00012345"),
    ("case", "2023/0456"),
    ("place on earth", "48.208200, 16.373800"),
    ("identifier of a paper", "10.1000/182"),
    ("card whose check digit is wrong", "4111 1111 1111 1112"),
    ("account whose check digits are wrong", "DE89 3704 0044 0532 0130 01"),
    ("path of a program", "std::vec::Vec"),
    ("mention", "@jane"),
    ("emergency", "112"),
    ("large number", "100 000 000"),
];

/// Contexts before and after the text.
const AROUND: &[(&str, &str)] =
    &[("", ""), ("Siehe ", "."), ("(", ")"), ("„", "“"), ("Так: ", ", потом"), ("詳細は ", " です")];

#[test]
fn personal_data_is_masked_in_every_context() {
    for (name, written, rule) in PERSONAL {
        for (before, after) in AROUND {
            let text = format!("{before}{written}{after}");
            let got = mask(&text, &MaskRule::ALL);
            assert_eq!(got.text, format!("{before}{}{after}", rule.token()), "{name}");
            assert_eq!(got.found, [(*rule, before.len()..before.len() + written.len())], "{name}");
        }
    }
}

#[test]
fn similar_numbers_stay_in_every_context() {
    for (name, written) in LOOK_ALIKE {
        for (before, after) in AROUND {
            let text = format!("{before}{written}{after}");
            assert_eq!(mask(&text, &MaskRule::ALL).text, text, "{name}");
        }
    }
}

#[test]
fn a_disabled_rule_masks_nothing() {
    for (name, written, rule) in PERSONAL {
        let others: Vec<MaskRule> = MaskRule::ALL.into_iter().filter(|other| other != rule).collect();
        let got = mask(written, &others);
        assert_eq!(got.counts[*rule as usize], 0, "{name}");
    }
}

#[test]
fn a_megabyte_of_hostile_text_is_processed() {
    for unit in ["@", "a@a.", "1 ", "1-", "(1", "+1 ", "DE89", "::1", "4111 1111 ", "+43158801420/1.2.3.4/"] {
        let text = unit.repeat((1 << 20) / unit.len());
        assert!(mask(&text, &MaskRule::ALL).text.len() <= text.len() * 4);
    }
}

/// Rows of `masks.tsv`: kind, rule, text with what is masked in braces.
fn cases() -> impl Iterator<Item = (&'static str, Option<MaskRule>, &'static str)> {
    let lines = include_str!("masks.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_else(|| panic!("a row has three fields: {line}"));
        (field(), MaskRule::named(field()), field())
    })
}

/// Of a hundred numbers of people 95 are masked, and of a hundred others one at most.
#[test]
fn numbers_of_many_countries_are_masked_and_others_are_not() {
    let (mut missed, mut wrong, mut positive, mut negative) = (Vec::new(), Vec::new(), 0, 0);
    for (kind, rule, text) in cases() {
        let plain = text.replace(['{', '}'], "");
        let got = mask(&plain, &MaskRule::ALL).text;
        match rule {
            Some(rule) => {
                positive += 1;
                let (before, rest) = text.split_once('{').expect("a positive case has braces");
                let (_, after) = rest.split_once('}').expect("braces are closed");
                if got != format!("{before}{}{after}", rule.token()) {
                    missed.push(format!("{kind}: {text} gave {got}"));
                }
            }
            None => {
                negative += 1;
                if got != plain {
                    wrong.push(format!("{kind}: {text} gave {got}"));
                }
            }
        }
    }
    println!("{} of {positive} found, {} of {negative} others masked", positive - missed.len(), wrong.len());
    assert!(missed.len() * 100 <= positive * 5, "{missed:#?}");
    assert!(wrong.len() * 100 <= negative, "{wrong:#?}");
}
