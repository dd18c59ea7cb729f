//! Check digits: bank accounts (IBAN), cards (Luhn), books (ISBN).

use super::continues_word;

/// Lengths of IBANs, by country.
const IBAN_LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 \
    EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 \
    LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 \
    SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/// The end of the IBAN that begins at `start`.
pub fn iban(bytes: &[u8], start: usize) -> Option<usize> {
    let head = bytes.get(start..start + 4)?;
    if !(head[1].is_ascii_uppercase() && head[2].is_ascii_digit() && head[3].is_ascii_digit()) {
        return None;
    }
    let country = std::str::from_utf8(&head[..2]).ok()?;
    let length: usize = IBAN_LENGTHS.split(' ').find_map(|row| row.strip_prefix(country))?.parse().ok()?;
    let mut digits = Vec::with_capacity(34);
    let mut place = start;
    while digits.len() < length {
        match *bytes.get(place)? {
            byte if byte.is_ascii_digit() || byte.is_ascii_uppercase() => digits.push(byte),
            // Printed in groups of four.
            b' ' if digits.len() % 4 == 0 && bytes[place - 1] != b' ' => {}
            _ => return None,
        }
        place += 1;
    }
    if continues_word(&bytes[place..]) {
        return None;
    }
    digits.rotate_left(4);
    let remainder = digits.iter().fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        letter => (sum * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (remainder == 1).then_some(place)
}

/// Verifies the Luhn check digit.
pub fn luhn(digits: &[u8]) -> bool {
    let double = |digit: u8| if digit < 5 { digit * 2 } else { digit * 2 - 9 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, digit)| u32::from(if n % 2 == 1 { double(*digit) } else { *digit }))
        .sum();
    sum.is_multiple_of(10)
}

/// Verifies the check digit of thirteen digits (EAN).
pub fn ean(digits: &[u8]) -> bool {
    let sum: u32 = digits.iter().enumerate().map(|(n, digit)| u32::from(*digit) * if n % 2 == 1 { 3 } else { 1 }).sum();
    digits.len() == 13 && sum.is_multiple_of(10)
}

/// Returns true for an ISBN-13 with a valid check digit.
pub fn is_isbn(digits: &[u8]) -> bool {
    matches!(digits, [9, 7, 8 | 9, ..]) && ean(digits)
}
