//! Loads every corpus file that exists, so that none is forgotten.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Returns every case of the corpus.
pub(crate) fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = fs::read_dir(folder).expect("the corpus is there");
    let mut files: Vec<_> = files.map(|file| file.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("readable");
        let lines = text.lines();
        cases.extend(lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON")));
    }
    cases
}

/// Returns the command of a case.
pub(crate) fn command(case: &Value) -> String {
    case["command"].as_str().expect("a text").to_owned()
}
