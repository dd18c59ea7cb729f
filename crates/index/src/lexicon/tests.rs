use super::*;
use std::path::Path;

fn add(lexicon: &Lexicon, lines: &[&str], path: &Path) -> Vec<u32> {
    let mut interner = Interner::new(lexicon.clone());
    let ids = lines.iter().map(|line| interner.lexeme(line)).collect();
    if let Some(new) = interner.finish() {
        new.write(path).expect("written");
    }
    ids
}

#[test]
fn numbers_do_not_depend_on_the_division_into_segments() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..4).map(|n| folder.path().join(format!("{n}.lex"))).collect();
    let first = ["The\tthe\tDET", "cat\tcat\tNOUN", "the\tthe\tDET", "The\tthe\tDET", "&lt;b\t\t"];
    let second = ["cats\tcat\tNOUN", "cat\tcat\tVERB", "The\tthe\tDET", "<b", "Été\tété\tNOUN"];
    assert_eq!(add(&Lexicon::default(), &first, &paths[0]), [0, 1, 2, 0, 3]);
    let one = Lexicon::of_segments(&[&paths[0]]).expect("opened");
    assert_eq!(add(&one, &second, &paths[1]), [4, 5, 0, 3, 6], "known ones keep their numbers");
    let two = Lexicon::of_segments(&[&paths[0], &paths[1]]).expect("opened");
    NewLexiconSegment::join(two.segments(), two.declared()).write(&paths[2]).expect("written");
    let joined = Lexicon::of_segments(&[&paths[2]]).expect("opened");
    for lexicon in [&two, &joined] {
        assert_eq!((lexicon.lexemes(), lexicon.count(Layer::Word), lexicon.count(Layer::Tag)), (7, 6, 4));
        assert_eq!(lexicon.text(5, Layer::Word), "cat");
        assert_eq!(lexicon.text(5, Layer::Tag), "VERB");
        assert_eq!(lexicon.text(3, Layer::Word), "<b");
        let mut cats = Vec::new();
        lexicon.lexemes_with(Layer::Lemma, lexicon.find(Layer::Lemma, "cat").expect("known"), &mut cats);
        assert_eq!(cats, [1, 4, 5]);
        let folded: Vec<u32> =
            lexicon.strings(Layer::Word).flat_map(|strings| strings.with_key("ete").collect::<Vec<_>>()).collect();
        assert_eq!(folded.len(), 1);
        assert_eq!(lexicon.string(Layer::Word, folded[0]), "Été");
        let mut found = Vec::new();
        lexicon.strings(Layer::Word).for_each(|strings| strings.with_prefix("ca", |id, _| found.push(id)));
        lexicon.strings(Layer::Word).for_each(|strings| strings.holding("at", |id, _| found.push(id)));
        assert_eq!(found.len(), 4);
        assert_eq!(lexicon.find(Layer::Word, "dog"), None);
        lexicon.verify().expect("sound");
    }
}

#[test]
fn features_may_appear_in_a_later_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..6).map(|n| folder.path().join(format!("{n}.lex"))).collect();
    let version = |path: &Path| std::fs::read(path).expect("written")[16];
    let batches: [(&[&str], &[u32]); 4] = [
        (&["cat\tcat\tNOUN", "dog"], &[0, 1]),
        (&["cat\tcat\tNOUN\tNumber=Sing", "cat\tcat\tNOUN\t", "a"], &[2, 0, 3]),
        (&["the\tthe\tDET", "dog"], &[4, 1]),
        (&["cats\tcat\tNOUN\tNumber=Plur", "the\tthe\tDET\tNumber=Sing", "cat\tcat\tNOUN\tNumber=Sing"], &[5, 6, 2]),
    ];
    for (index, (lines, ids)) in batches.iter().enumerate() {
        let known: Vec<&Path> = paths[..index].iter().map(|path| path.as_path()).collect();
        let lexicon = Lexicon::of_segments(&known).expect("opened");
        assert_eq!(add(&lexicon, lines, &paths[index]), **ids, "{index}");
    }
    assert_eq!([0, 1, 2, 3].map(|index| version(&paths[index])), [1, 2, 1, 2], "only who has features is new");
    let four = Lexicon::of_segments(&[&paths[0], &paths[1], &paths[2], &paths[3]]).expect("opened");
    NewLexiconSegment::join(four.segments(), four.declared()).write(&paths[4]).expect("written");
    NewLexiconSegment::join(&four.segments()[..1], four.declared()).write(&paths[5]).expect("written");
    assert_eq!(version(&paths[5]), 1, "features of others do not count");
    let joined = Lexicon::of_segments(&[&paths[4]]).expect("opened");
    for lexicon in [&four, &joined] {
        let feats: Vec<&str> = (0..7).map(|lexeme| lexicon.text(lexeme, Layer::Feats)).collect();
        assert_eq!(feats, ["", "", "Number=Sing", "", "", "Number=Plur", "Number=Sing"]);
        assert_eq!((lexicon.count(Layer::Feats), lexicon.all_of(Layer::Feats)), (3, vec![0, 0, 1, 0, 0, 2, 1]));
        let with = |text: &str| {
            let mut lexemes = Vec::new();
            lexicon.find(Layer::Feats, text).inspect(|id| lexicon.lexemes_with(Layer::Feats, *id, &mut lexemes));
            lexemes
        };
        assert_eq!((with(""), with("Number=Sing"), with("Case=Gen")), (vec![0, 1, 3, 4], vec![2, 6], vec![]));
        let mut all = Vec::new();
        lexicon.strings(Layer::Feats).for_each(|strings| strings.each(|id, text| all.push((id, text))));
        all.sort_unstable();
        assert_eq!(all, [(0, ""), (1, "Number=Sing"), (2, "Number=Plur")]);
        lexicon.verify().expect("sound");
    }
}

/// Lines over a small vocabulary, so that combinations repeat.
fn random_lines(random: &mut fastrand::Rng, count: usize) -> Vec<String> {
    let words = ["a", "A", "á", "Á", "ab", "abc", "b", "bab", "", "x&amp;y", "&lt;p&gt;", "žluť", "ZLUT", "日本"];
    let word = |random: &mut fastrand::Rng| *random.choice(&words).expect("not empty");
    let line = |random: &mut fastrand::Rng| {
        let feats = *random.choice(&["", "", "\tNumber=Sing", "\tCase=Gen|Number=Plur"]).expect("not empty");
        format!("{}\t{}\t{}{feats}", word(random), word(random), ["N", "V", ""][random.usize(..3)])
    };
    (0..count).map(|_| line(random)).collect()
}

/// Writes batches of lines as segments of a lexicon; returns it with the lexemes of all lines.
fn in_batches(folder: &Path, lines: &[String], batches: usize) -> (Lexicon, Vec<u32>) {
    let (mut lexicon, mut lexemes) = (Lexicon::default(), Vec::new());
    for (number, batch) in lines.chunks(lines.len().div_ceil(batches).max(1)).enumerate() {
        let path = folder.join(format!("{number}.lexicon"));
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        lexemes.extend(add(&lexicon, &batch, &path));
        if path.exists() {
            let segment = LexiconSegment::open(&path, &DeclaredLayers::default()).expect("opened");
            lexicon.segments.push(Arc::new(segment));
        }
    }
    (lexicon, lexemes)
}

fn joined(folder: &Path, name: &str, segments: &[Arc<LexiconSegment>]) -> (Arc<LexiconSegment>, Vec<u8>) {
    let path = folder.join(name);
    NewLexiconSegment::join(segments, &DeclaredLayers::default()).write(&path).expect("written");
    (
        Arc::new(LexiconSegment::open(&path, &DeclaredLayers::default()).expect("opened")),
        std::fs::read(&path).expect("read"),
    )
}

#[test]
fn an_empty_lexicon_has_only_the_empty_features() {
    let lexicon = Lexicon::default();
    assert_eq!((lexicon.lexemes(), lexicon.count(Layer::Word), lexicon.count(Layer::Feats)), (0, 0, 1));
    assert_eq!((lexicon.find(Layer::Word, ""), lexicon.find(Layer::Feats, "")), (None, Some(0)));
    assert_eq!((lexicon.text(5, Layer::Word), lexicon.string(Layer::Feats, 9)), ("", ""));
    assert_eq!(lexicon.lexeme(&[0; Layer::COUNT]), None);
    lexicon.verify().expect("sound");
}

#[test]
fn a_batch_without_new_lexemes_makes_no_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = ["a\ta\tN".to_owned(), "b\tb\tN".to_owned()];
    let (lexicon, _) = in_batches(folder.path(), &lines, 1);
    let mut interner = Interner::new(lexicon);
    assert_eq!((interner.lexeme("b\tb\tN"), interner.lexemes()), (1, 2));
    assert!(interner.finish().is_none());
}

#[test]
fn missing_columns_are_empty_and_extra_ones_are_ignored() {
    let mut interner = Interner::new(Lexicon::default());
    assert_eq!(interner.lexeme("w"), interner.lexeme("w\t\t\t"));
    assert_eq!(interner.lexeme("w\tl\tt\tf"), interner.lexeme("w\tl\tt\tf\tmore"));
    assert_ne!(interner.lexeme("w\tl"), interner.lexeme("w\t\tl"));
}

#[test]
fn entities_and_their_characters_are_one_lexeme() {
    let mut interner = Interner::new(Lexicon::default());
    assert_eq!(interner.lexeme("a&amp;b\tx\tN"), 0);
    assert_eq!(interner.lexeme("&lt;\t&lt;\tX"), 1);
    assert_eq!(interner.lexeme("<\t<\tX"), 1);
}

#[test]
fn a_lexicon_segment_of_a_newer_format_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    in_batches(folder.path(), &["a".to_owned()], 1);
    let path = folder.path().join("0.lexicon");
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[16] = 4;
    std::fs::write(&path, bytes).expect("written");
    let error = LexiconSegment::open(&path, &DeclaredLayers::default()).expect_err("newer").to_string();
    assert!(error.contains("newer Tidings (format 4, "), "{error}");
}

#[test]
fn a_literal_is_found_once_per_string() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = ["ababab", "b", "xab", "aab", "ba", "c"].map(str::to_owned);
    let (lexicon, _) = in_batches(folder.path(), &lines, 1);
    let mut found = Vec::new();
    lexicon.strings(Layer::Word).for_each(|strings| strings.holding("ab", |_, text| found.push(text.to_owned())));
    assert_eq!(found, ["aab", "ababab", "xab"]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn lexemes_are_numbered_by_first_occurrence_in_any_batching(seed: u64, count in 0usize..80, batches in 1usize..6) {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = random_lines(&mut fastrand::Rng::with_seed(seed), count);
        let (lexicon, lexemes) = in_batches(folder.path(), &lines, batches);
        let mut model: Vec<Vec<String>> = Vec::new();
        for (line, lexeme) in lines.iter().zip(&lexemes) {
            let mut columns: Vec<String> = line.split('\t').map(unescaped).collect();
            columns.resize(4, String::new());
            let expected = model.iter().position(|known| *known == columns).unwrap_or_else(|| {
                model.push(columns.clone());
                model.len() - 1
            });
            proptest::prop_assert_eq!(*lexeme as usize, expected);
            let texts = Layer::BASE.map(|layer| lexicon.text(*lexeme, layer));
            proptest::prop_assert_eq!(&texts[..], &columns[..]);
            let ids = Layer::BASE.map(|layer| lexicon.of(*lexeme, layer));
            proptest::prop_assert_eq!(lexicon.lexeme(&ids), Some(*lexeme));
        }
        proptest::prop_assert_eq!(lexicon.lexemes() as usize, model.len());
        for layer in Layer::BASE {
            let all: Vec<u32> = (0..lexicon.lexemes()).map(|lexeme| lexicon.of(lexeme, layer)).collect();
            proptest::prop_assert_eq!(&lexicon.all_of(layer), &all);
            for id in 0..lexicon.count(layer) {
                let mut with = Vec::new();
                lexicon.lexemes_with(layer, id, &mut with);
                let expected: Vec<u32> = (0..).zip(&all).filter(|(_, known)| **known == id).map(|(lexeme, _)| lexeme).collect();
                proptest::prop_assert_eq!(with, expected);
                proptest::prop_assert_eq!(lexicon.find(layer, lexicon.string(layer, id)), Some(id));
            }
        }
    }

    #[test]
    fn joining_is_associative_and_changes_no_number(seed: u64, count in 3usize..80) {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = random_lines(&mut fastrand::Rng::with_seed(seed), count);
        let (lexicon, _) = in_batches(folder.path(), &lines, 3);
        let segments = lexicon.segments();
        let (all, bytes) = joined(folder.path(), "all", segments);
        if let [a, b, c] = segments {
            let (left, _) = joined(folder.path(), "left", &[a.clone(), b.clone()]);
            let (right, _) = joined(folder.path(), "right", &[b.clone(), c.clone()]);
            proptest::prop_assert!(joined(folder.path(), "left first", &[left, c.clone()]).1 == bytes);
            proptest::prop_assert!(joined(folder.path(), "right first", &[a.clone(), right]).1 == bytes);
        }
        // Writing at once equals joining.
        let (once, _) = in_batches(tempfile::tempdir().expect("a folder").path(), &lines, 1);
        let one = Lexicon::new(vec![all], DeclaredLayers::default());
        proptest::prop_assert_eq!(one.lexemes(), once.lexemes());
        for layer in Layer::BASE {
            proptest::prop_assert_eq!(one.count(layer), lexicon.count(layer));
            proptest::prop_assert_eq!(one.all_of(layer), once.all_of(layer));
            for id in 0..one.count(layer) {
                proptest::prop_assert_eq!(one.string(layer, id), lexicon.string(layer, id));
            }
        }
    }

    #[test]
    fn searches_equal_a_linear_scan(seed: u64, count in 1usize..80, batches in 1usize..4, text in "[aábBžxy&日]{0,2}") {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = random_lines(&mut fastrand::Rng::with_seed(seed), count);
        let (lexicon, _) = in_batches(folder.path(), &lines, batches);
        let all: Vec<(u32, String)> = (0..lexicon.count(Layer::Word)).map(|id| (id, lexicon.string(Layer::Word, id).to_owned())).collect();
        let expected = |matches: &dyn Fn(&str) -> bool| -> Vec<u32> {
            all.iter().filter(|(_, known)| matches(known)).map(|(id, _)| *id).collect()
        };
        let sorted = |mut ids: Vec<u32>| { ids.sort_unstable(); ids };
        let (mut prefixed, mut holding, mut keyed, mut key_prefixed) = (vec![], vec![], vec![], vec![]);
        let key = crate::look_up_key(&text);
        for strings in lexicon.strings(Layer::Word) {
            strings.with_prefix(&text, |id, _| prefixed.push(id));
            if !text.is_empty() {
                strings.holding(&text, |id, _| holding.push(id));
            }
            keyed.extend(strings.with_key(&key));
            key_prefixed.extend(strings.with_key_prefix(&key));
        }
        proptest::prop_assert_eq!(sorted(prefixed), expected(&|known| known.starts_with(&text)));
        if !text.is_empty() {
            proptest::prop_assert_eq!(sorted(holding), expected(&|known| known.contains(&text)));
        }
        proptest::prop_assert_eq!(sorted(keyed), expected(&|known| crate::look_up_key(known) == key));
        proptest::prop_assert_eq!(sorted(key_prefixed), expected(&|known| crate::look_up_key(known).starts_with(&*key)));
        proptest::prop_assert_eq!(lexicon.find(Layer::Word, &text), all.iter().find(|(_, known)| *known == text).map(|(id, _)| *id));
    }

    #[test]
    fn a_damaged_segment_is_an_error_or_nonsense_and_never_a_panic(seed: u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut random = fastrand::Rng::with_seed(seed);
        let lines = random_lines(&mut random, 40);
        in_batches(folder.path(), &lines, 1);
        let path = folder.path().join("0.lexicon");
        let sound = std::fs::read(&path).expect("read");
        for _ in 0..30 {
            let mut damaged = sound.clone();
            let at = random.usize(..damaged.len());
            if random.u8(..4) == 0 { damaged.truncate(at) } else { damaged[at] ^= 1 << random.u8(..8) }
            std::fs::write(&path, &damaged).expect("written");
            let Ok(segment) = LexiconSegment::open(&path, &DeclaredLayers::default()) else { continue };
            let is_sound = segment.verify().is_ok();
            let lexicon = Lexicon::new(vec![Arc::new(segment)], DeclaredLayers::default());
            for layer in Layer::BASE {
                for lexeme in 0..lexicon.lexemes().min(100) {
                    lexicon.text(lexeme, layer);
                    lexicon.lexemes_with(layer, lexeme, &mut Vec::new());
                }
                for strings in lexicon.strings(layer) {
                    strings.with_prefix("a", |_, _| {});
                    strings.holding("a", |_, _| {});
                    strings.with_key("a").for_each(drop);
                    strings.each(|_, _| {});
                }
            }
            if is_sound {
                let (expected, _) = in_batches(tempfile::tempdir().expect("a folder").path(), &lines, 1);
                let texts = |lexicon: &Lexicon| (0..lexicon.lexemes()).map(|lexeme| lexicon.text(lexeme, Layer::Word).to_owned()).collect::<Vec<_>>();
                proptest::prop_assert_eq!(texts(&lexicon), texts(&expected));
            }
        }
    }
}

/// The entities that [`random_lines`] uses.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn layers_may_appear_in_a_later_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..5).map(|n| folder.path().join(format!("{n}.lex"))).collect();
    let declaration = |name: &str| tidings_model::LayerDeclaration {
        name: name.to_owned(),
        kind: LayerKind::Number,
        origin: String::new(),
    };
    let mut layers = DeclaredLayers::default();
    let batches: [(&[&str], &[&str], &[u32]); 4] = [
        (&[], &["cat\tcat\tNOUN", "dog\t\t\t\t7"], &[0, 1]),
        (&["a"], &["cat\tcat\tNOUN\t\t1", "cat\tcat\tNOUN", "dog\t\t\t\t7", "dog\t\t\t\t1"], &[2, 0, 3, 4]),
        (&[], &["the\tthe\tDET", "dog"], &[5, 1]),
        (&["b", "a"], &["dog\t\t\t\t\t7", "dog\t\t\t\t1\t1", "dog", "dog\t\t\t\t2\t"], &[3, 6, 1, 7]),
    ];
    for (index, (columns, lines, ids)) in batches.iter().enumerate() {
        let known: Vec<&Path> = paths[..index].iter().map(|path| path.as_path()).collect();
        let mut interner = Interner::new(Lexicon::of_layers(&known, layers.clone()).expect("opened"));
        let columns: Vec<Layer> =
            columns.iter().map(|name| interner.declare(&declaration(name)).expect("new")).collect();
        interner.set_columns(&columns);
        let found: Vec<u32> = lines.iter().map(|line| interner.lexeme(line)).collect();
        assert_eq!(found, *ids, "{index}");
        layers = interner.declared().clone();
        interner.finish().expect("something is new").write(&paths[index]).expect("written");
    }
    let version = |index: usize| std::fs::read(&paths[index]).expect("written")[16];
    assert_eq!([0, 1, 2, 3].map(version), [1, 3, 1, 3], "only segments with values are new");
    let known: Vec<&Path> = paths[..4].iter().map(|path| path.as_path()).collect();
    let four = Lexicon::of_layers(&known, layers.clone()).expect("opened");
    NewLexiconSegment::join(four.segments(), four.declared()).write(&paths[4]).expect("written");
    let joined = Lexicon::of_layers(&[&paths[4]], layers.clone()).expect("opened");
    for lexicon in [&four, &joined] {
        let values = |name: &str| {
            let layer = lexicon.layer(name).expect("declared");
            (0..8).map(|lexeme| lexicon.text(lexeme, layer)).collect::<Vec<_>>()
        };
        assert_eq!(values("a"), ["", "", "1", "7", "1", "", "1", ""]);
        assert_eq!(values("b"), ["", "", "", "", "", "", "1", "2"]);
        let layer = lexicon.layer("a").expect("declared");
        let mut with = Vec::new();
        lexicon.lexemes_with(layer, lexicon.find(layer, "1").expect("known"), &mut with);
        assert_eq!((with, lexicon.count(layer), lexicon.kind(layer)), (vec![2, 4, 6], 3, LayerKind::Number));
        lexicon.verify().expect("sound");
    }
    assert!(Lexicon::of_segments(&[&paths[4]]).is_err(), "the manifest must declare its layers");
}
