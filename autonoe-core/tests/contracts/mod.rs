//! Every test that the tables of contracts name exists.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

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

/// Returns the names of all tests in the crates' sources and tests.
fn tests() -> HashSet<String> {
    let mut files = Vec::new();
    for folder in [
        "autonoe-acp",
        "autonoe-claude",
        "autonoe-cli",
        "autonoe-core",
        "autonoe-flow",
        "autonoe-harness",
        "autonoe-mcp",
        "autonoe-model",
        "autonoe-security",
        "autonoe-testkit",
    ] {
        sources(&repository().join(folder), &mut files);
    }
    files.iter().flat_map(|file| tests_in(file)).collect()
}

fn tests_in(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("readable");
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if let Some(rest) = line.trim_start_matches("async ").strip_prefix("fn ") {
            if marked {
                names.extend(rest.split(['(', '<']).next().map(str::to_owned));
            }
            marked = false;
        }
    }
    names
}

/// Returns the names between backquotes in the last column of every table row of a page.
fn named(page: &str) -> Vec<String> {
    let page = fs::read_to_string(repository().join(page)).expect("readable");
    page.lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(|line| {
            line.trim_end_matches([' ', '|'])
                .rsplit(" | ")
                .next()
                .map(str::to_owned)
        })
        .flat_map(|column| {
            let parts = column.split('`').skip(1).step_by(2).map(str::to_owned);
            parts.collect::<Vec<_>>()
        })
        // Rows without a test end in the column of items.
        .filter(|name| {
            name.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
        .collect()
}

#[test]
fn every_test_that_the_contracts_name_exists() {
    let tests = tests();
    for (page, least) in [
        ("docs/contracts.md", 100),
        ("docs/flow-contracts.md", 20),
        ("docs/harness-contracts.md", 60),
    ] {
        let named = named(page);

        let missing: Vec<&String> = named.iter().filter(|name| !tests.contains(*name)).collect();

        assert!(
            missing.is_empty(),
            "{page} names what is not there: {missing:#?}"
        );
        let count = named.len();
        assert!(count > least, "only {count} tests are named in {page}");
    }
}
