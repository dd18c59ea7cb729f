//! Imports of annotated text with further layers, through all stages to exports and back.

use std::path::{Path, PathBuf};

use super::*;
use crate::export::{self, Destination, ExportFormat};
use crate::test_home;

const VERTICAL: &str = "<corpus>
<doc id=\"00000000000000000000000000000007\" url=\"https://gazette.example/a\" title=\"Ann &amp; Bo\" date=\"2026-02-01\" seen=\"2026-02-03\" lang=\"en\">
<layer name=\"syllables\" kind=\"number\" origin=\"counter 2\"/>
<layer name=\"mood\" kind=\"code\"/>
<p kind=\"p\">
<s>
<quote speaker=\"Ann &quot;A&quot; Lee\">
<ne type=\"PER\">
Ann\tAnn\tPROPN\tNumber=Sing\t1\tglad
<np>
Lee\tLee\tPROPN\t\t1
</ne>
wrote\twrite\tVERB
</np>
</s>
<s>
to\tto\tADP\t\t1
<ne type=\"MAIL\" address=\"bo@gazette.example\">
bo@gazette.example\tbo@gazette.example\tX
</ne>
<g/>
.\t.\tPUNCT
</s>
</p>
<p kind=\"heading\">
<s>
Rain\train\tNOUN\tNumber=Sing\t1\tsad
</quote>
again\tagain\tADV\t\t2
</s>
</p>
</doc>
</corpus>
";

/// A new home with this file imported and all stages run.
fn home_of(path: &Path) -> (tempfile::TempDir, Pipeline) {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::create(folder.path()).unwrap();
    let mut config = pipeline.config().clone();
    config.annotate.layers.clear();
    let pipeline = pipeline.with_config(config);
    let options = Options { no_gate: true, ..Options::new(vec![path.to_owned()]) };
    let outcome = run(&pipeline, &options).unwrap();
    assert!(outcome.done, "{outcome}");
    test_home::run_derived(&pipeline);
    (folder, pipeline)
}

fn export_to(pipeline: &Pipeline, format: ExportFormat, path: PathBuf) -> PathBuf {
    export::run(pipeline, &export::Options::new(format), Destination::Path(path.clone()), &mut |_| {}).unwrap();
    path
}

#[test]
fn layers_are_kept_from_import_to_export_in_every_token_format() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.vert");
    std::fs::write(&input, VERTICAL).unwrap();
    let (_home, pipeline) = home_of(&input);
    let first = export_to(&pipeline, ExportFormat::Vertical, folder.path().join("first.vert"));
    let text = std::fs::read_to_string(&first).unwrap();
    for part in [
        "<layer name=\"mood\" kind=\"code\" origin=\"import\"/>\n<layer name=\"syllables\" kind=\"number\" origin=\"counter 2\"/>\n",
        "<quote speaker=\"Ann &quot;A&quot; Lee\">\n<ne type=\"PER\">\nAnn\tAnn\tPROPN\tNumber=Sing\tglad\t1\n<np>\nLee",
        "</ne>\nwrote\twrite\tVERB\n</np>\n",
        "<ne type=\"MAIL\" address=\"[EMAIL]\">\n[EMAIL]\t[EMAIL]\tX\n</ne>\n<g/>\n",
        "Rain\train\tNOUN\tNumber=Sing\tsad\t1\n</quote>\nagain\tagain\tADV\t\t\t2\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    let registry = std::fs::read_to_string(folder.path().join("first.vert.registry")).unwrap();
    assert!(registry.contains("ATTRIBUTE mood\nATTRIBUTE syllables\n"), "{registry}");
    assert!(registry.contains("STRUCTURE ne {\n\tATTRIBUTE address\n\tATTRIBUTE type\n}\n"), "{registry}");

    let plus = export_to(&pipeline, ExportFormat::ConlluPlus, folder.path().join("plus")).join("en/tokens.conllup");
    let conllu = export_to(&pipeline, ExportFormat::Conllu, folder.path().join("a.conllu"));
    let tei = export_to(&pipeline, ExportFormat::TeiTokens, folder.path().join("a.tei.xml"));
    let jsonl = export_to(&pipeline, ExportFormat::JsonlTokens, folder.path().join("a.jsonl"));
    for path in [first.clone(), plus, conllu, tei, jsonl] {
        let (_home, again) = home_of(&path);
        let second = export_to(&again, ExportFormat::Vertical, folder.path().join("second.vert"));
        assert_eq!(std::fs::read_to_string(&second).unwrap(), text, "{}", path.display());
        std::fs::remove_file(&second).unwrap();
        std::fs::remove_file(folder.path().join("second.vert.registry")).unwrap();
        let _ = std::fs::remove_file(folder.path().join("second.vert.manifest.json"));
    }
}
