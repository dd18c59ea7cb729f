//! Context-free and context-sensitive classification of paragraphs.
//!
//! Every search for a neighbour is a table filled in one pass: some pages have a hundred thousand
//! short paragraphs.

use tidings_lang::StopList;

use super::segment::Segment;
use super::{Class, Edition, JustextOptions, JustextParagraph};

/// Classifies the paragraphs of a page and drops those without text.
pub(super) fn classify(
    segments: Vec<Segment>,
    stop_list: &StopList,
    options: &JustextOptions,
) -> Vec<JustextParagraph> {
    let lengths: Vec<usize> = segments.iter().map(|segment| segment.length).collect();
    let mut paragraphs: Vec<JustextParagraph> =
        segments.into_iter().map(|segment| classify_alone(segment, stop_list, options)).collect();
    classify_in_context(&mut paragraphs, &lengths, options);
    paragraphs.retain(|paragraph| !paragraph.text.is_empty());
    paragraphs
}

fn classify_alone(segment: Segment, stop_list: &StopList, options: &JustextOptions) -> JustextParagraph {
    let link_density = share(segment.link_chars, segment.length);
    let stop_word_density = (!stop_list.is_off()).then(|| density(&segment.text, stop_list));
    // Without a stop list, every paragraph passes the stop word thresholds.
    let at_least = |threshold: f64| stop_word_density.is_none_or(|density| density >= threshold);
    let class = if link_density > options.max_link_density
        || segment.text.contains('©')
        || segment.text.contains("&copy")
        || segment.select
    {
        Class::Bad
    } else if segment.length < options.length_low {
        if segment.link_chars > 0 { Class::Bad } else { Class::Short }
    } else if at_least(options.stopwords_high) && segment.length > options.length_high {
        Class::Good
    } else if at_least(options.stopwords_high) || at_least(options.stopwords_low) {
        Class::NearGood
    } else {
        Class::Bad
    };
    JustextParagraph {
        text: segment.text,
        class,
        alone: class,
        heading: segment.heading && !options.no_headings,
        link_density,
        stop_word_density,
        node: segment.node,
    }
}

fn density(text: &str, stop_list: &StopList) -> f64 {
    let (mut words, mut stop_words) = (0, 0);
    for word in text.split([' ', '\n']) {
        words += 1;
        stop_words += usize::from(stop_list.contains(word));
    }
    share(stop_words, words)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn classify_in_context(paragraphs: &mut [JustextParagraph], lengths: &[usize], options: &JustextOptions) {
    let mut classes: Vec<Class> = paragraphs.iter().map(|paragraph| paragraph.alone).collect();

    if options.edition == Edition::CorpusTools {
        let near = before_good(&classes, lengths, options.max_heading_distance);
        for (index, paragraph) in paragraphs.iter().enumerate() {
            if paragraph.heading && classes[index] == Class::Short && near[index] {
                classes[index] = Class::NearGood;
            }
        }
    }

    decide_short(&mut classes, options.max_good_distance);
    decide_near_good(&mut classes, options.max_good_distance);

    let near = before_good(&classes, lengths, options.max_heading_distance);
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if paragraph.heading && paragraph.alone != Class::Bad && near[index] {
            classes[index] = Class::Good;
        }
    }

    for (paragraph, class) in paragraphs.iter_mut().zip(classes) {
        paragraph.class = class;
    }
}

/// Decides short paragraphs: good between good ones; between a good and a bad one, good if a
/// near-good one is on the bad side.
fn decide_short(classes: &mut [Class], reach: Option<usize>) {
    let sides = [Side::Before, Side::After].map(|side| {
        let firm = neighbours(classes, side, reach, |class| matches!(class, Class::Good | Class::Bad));
        let nearest = neighbours(classes, side, reach, |class| class != Class::Short);
        (firm, nearest)
    });
    let [(before, nearest_before), (after, nearest_after)] = sides;
    for index in 0..classes.len() {
        if classes[index] != Class::Short {
            continue;
        }
        classes[index] = match (before[index], after[index]) {
            (Class::Good, Class::Good) => Class::Good,
            (Class::Bad, Class::Good) if nearest_before[index] == Class::NearGood => Class::Good,
            (Class::Good, Class::Bad) if nearest_after[index] == Class::NearGood => Class::Good,
            _ => Class::Bad,
        };
    }
}

/// Decides near-good paragraphs: good unless both neighbours are bad. Goes from the top; decided
/// paragraphs count for later ones.
fn decide_near_good(classes: &mut [Class], reach: Option<usize>) {
    let after = neighbours(classes, Side::After, reach, |class| matches!(class, Class::Good | Class::Bad));
    for index in 0..classes.len() {
        if classes[index] == Class::NearGood {
            // No undecided paragraph is left above, so the neighbour is the previous one.
            let in_reach = reach.is_none_or(|reach| reach > 1);
            let before = if index > 0 && in_reach { classes[index - 1] } else { Class::Bad };
            let bad = before == Class::Bad && after[index] == Class::Bad;
            classes[index] = if bad { Class::Bad } else { Class::Good };
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// For each paragraph, the class of the nearest one on a side that counts, or bad if there is none
/// less than `reach` paragraphs away.
fn neighbours(classes: &[Class], side: Side, reach: Option<usize>, counts: impl Fn(Class) -> bool) -> Vec<Class> {
    let mut found = vec![Class::Bad; classes.len()];
    let mut nearest: Option<(usize, Class)> = None;
    for step in 0..classes.len() {
        let index = if side == Side::Before { step } else { classes.len() - 1 - step };
        if let Some((at, class)) = nearest
            && reach.is_none_or(|reach| step - at < reach)
        {
            found[index] = class;
        }
        if counts(classes[index]) {
            nearest = Some((step, classes[index]));
        }
    }
    found
}

/// For each paragraph, whether a good one follows after at most `distance` characters.
fn before_good(classes: &[Class], lengths: &[usize], distance: usize) -> Vec<bool> {
    let mut near = vec![false; classes.len()];
    let mut between: Option<usize> = None;
    for index in (0..classes.len()).rev() {
        near[index] = between.is_some_and(|between| between <= distance);
        between = match classes[index] {
            Class::Good => Some(0),
            _ => between.map(|between| between + lengths[index]),
        };
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters for classes: good, near-good, short, bad.
    fn classes(letters: &str) -> Vec<Class> {
        let class = |letter| match letter {
            'g' => Class::Good,
            'n' => Class::NearGood,
            's' => Class::Short,
            _ => Class::Bad,
        };
        letters.chars().map(class).collect()
    }

    fn decided(letters: &str, reach: Option<usize>) -> String {
        let mut classes = classes(letters);
        decide_short(&mut classes, reach);
        decide_near_good(&mut classes, reach);
        classes.iter().map(|class| if *class == Class::Good { 'g' } else { 'b' }).collect()
    }

    #[test]
    fn undecided_paragraphs_follow_their_neighbours() {
        let cases = [
            ("gsg", "ggg"),
            ("gsb", "gbb"),
            ("bsb", "bbb"),
            ("gsnb", "gggb"),
            ("bnsg", "bggg"),
            ("gnb", "ggb"),
            ("bnb", "bbb"),
            ("n", "b"),
            ("gs", "gb"),
            ("bnnng", "bgggg"),
            ("gsssssssg", "ggggggggg"),
        ];
        for (letters, expected) in cases {
            assert_eq!(decided(letters, None), expected, "{letters}");
        }
    }

    #[test]
    fn a_good_paragraph_out_of_reach_does_not_count() {
        // Four steps are less than five.
        assert_eq!(decided("gssssg", Some(5)), "gggggg");
        assert_eq!(decided("gsssssg", Some(5)), "gbgggbg");
        assert_eq!(decided("gnnnnnnnb", Some(5)), "ggggggggb");
        assert_eq!(decided("bnnnnnb", Some(5)), "bbbbbbb");
    }

    #[test]
    fn headings_look_ahead_by_characters() {
        let near = |distance| before_good(&classes("sbg"), &[10, 200, 300], distance);
        assert_eq!(near(200), [true, true, false]);
        assert_eq!(near(199), [false, true, false]);
    }
}
