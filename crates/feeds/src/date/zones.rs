//! Time zone names in feeds.

/// The offset in seconds east of Greenwich. Ambiguous names have the meaning that most feeds intend.
pub(super) fn seconds(name: &str) -> Option<i32> {
    let hours = |h: i32| Some(h * 3600);
    let half = |h: i32| Some(h * 3600 + 1800);
    match name {
        "z" | "ut" | "utc" | "gmt" | "wet" | "uct" | "zulu" | "universal" | "tu" => hours(0),
        "bst" | "ist1" | "cet" | "met" | "mez" | "west" | "wat" | "hnec" => hours(1),
        "cest" | "mest" | "mesz" | "eet" | "sast" | "cat" | "haec" => hours(2),
        "eest" | "msk" | "eat" | "trt" | "ast3" => hours(3),
        "irst" => half(3),
        "msd" | "gst" | "samt" => hours(4),
        "pkt" | "uzt" | "yekt" => hours(5),
        "ist" => half(5),
        "bdt" | "omst" => hours(6),
        "ict" | "wib" | "krat" | "novt" => hours(7),
        "hkt" | "sgt" | "myt" | "pht" | "awst" | "wita" | "irkt" => hours(8),
        "jst" | "kst" | "wit" | "yakt" => hours(9),
        "acst" => half(9),
        "aest" | "vlat" => hours(10),
        "acdt" => half(10),
        "aedt" | "magt" => hours(11),
        "nzst" => hours(12),
        "nzdt" => hours(13),
        "ndt" => Some(-(2 * 3600 + 1800)),
        "nst" => Some(-(3 * 3600 + 1800)),
        "brt" | "art" | "adt" | "uyt" | "clst" => hours(-3),
        "ast" | "at" | "edt" | "clt" | "vet" | "bot" => hours(-4),
        "est" | "et" | "cdt" | "pet" | "cot" | "ect" => hours(-5),
        "cst" | "ct" | "mdt" => hours(-6),
        "mst" | "mt" | "pdt" => hours(-7),
        "pst" | "pt" | "akdt" => hours(-8),
        "akst" => hours(-9),
        "hst" | "hast" => hours(-10),
        _ => military(name),
    }
}

/// Military time zones, single letters of RFC 822.
fn military(name: &str) -> Option<i32> {
    let [letter] = name.as_bytes() else {
        return None;
    };
    let hours = match letter {
        b'a'..=b'i' => -i32::from(letter - b'a' + 1),
        b'k'..=b'm' => -i32::from(letter - b'k' + 10),
        b'n'..=b'y' => i32::from(letter - b'n' + 1),
        _ => return None,
    };
    Some(hours * 3600)
}
