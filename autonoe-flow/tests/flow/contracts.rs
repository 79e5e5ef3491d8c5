//! Every test that `docs/flow-contracts.md` names exists.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of all tests of this crate.
fn tests() -> HashSet<String> {
    let mut files = Vec::new();
    sources(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
    let mut names = HashSet::new();
    for file in files {
        let text = fs::read_to_string(file).expect("readable");
        let mut is_marked = false;
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_marked = true;
            } else if let Some(rest) = line.trim_start_matches("async ").strip_prefix("fn ") {
                if is_marked {
                    names.extend(rest.split(['(', '<']).next().map(str::to_owned));
                }
                is_marked = false;
            }
        }
    }
    names
}

#[test]
fn every_test_that_the_contracts_of_flows_name_exists() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/flow-contracts.md");
    let page = fs::read_to_string(page).expect("readable");
    let named: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(|line| line.trim_end_matches([' ', '|']).rsplit(" | ").next())
        .flat_map(|column| column.split('`').skip(1).step_by(2))
        .filter(|name| {
            name.contains('_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
        .collect();
    let tests = tests();

    let missing: Vec<_> = named
        .iter()
        .filter(|name| !tests.contains(**name))
        .collect();

    assert!(
        missing.is_empty(),
        "what is not there is named: {missing:#?}"
    );
    assert!(named.len() > 20, "only {} tests are named", named.len());
}
