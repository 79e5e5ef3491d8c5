//! Tests of the workspace with the IDs of the requirements that they show.
//!
//! A comment above the attributes of a test names them: `// Shows: spec/3.4/interrupt`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::page::is_name;

const TAG: &str = "// Shows:";

/// The prefix of macros that create tests of the functions that they name between brackets.
const MACRO: &str = "on_";

/// Returns the IDs of all tests in the crates of the workspace.
pub(crate) fn tagged_tests(repository: &Path) -> BTreeMap<String, Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(repository).expect("the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("autonoe-") {
            collect_sources(&path, &mut files);
        }
    }
    let mut tests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(file).expect("readable");
        for (name, ids) in read_tests(&text) {
            tests.entry(name).or_default().extend(ids);
        }
    }
    tests
}

fn collect_sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.ends_with("target") {
            collect_sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Reads the tests of a source file with their IDs.
///
/// Functions with a tag count as tests too, because macros create tests from them. So do the names
/// in the calls of these macros.
fn read_tests(source: &str) -> Vec<(String, Vec<String>)> {
    let mut tests = Vec::new();
    let (mut is_test, mut ids) = (false, Vec::new());
    let mut is_in_macro = false;
    for line in source.lines().map(str::trim_start) {
        is_in_macro |= line.starts_with(MACRO) && line.contains("![");
        if is_in_macro {
            let list = line.split_once("![").map_or(line, |(_, names)| names);
            let names = list
                .split([',', ';', ']'])
                .map(str::trim)
                .filter(|name| is_name(name));
            tests.extend(names.map(|name| (name.to_owned(), Vec::new())));
            is_in_macro = !line.contains(']');
            continue;
        }
        let function = line.trim_start_matches("pub(crate) ");
        let function = function.trim_start_matches("async ").strip_prefix("fn ");
        if let Some(tag) = line.strip_prefix(TAG) {
            ids.extend(tag.split(',').map(|id| id.trim().to_owned()));
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = function {
            if is_test || !ids.is_empty() {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                tests.push((name.to_owned(), std::mem::take(&mut ids)));
            }
            is_test = false;
        }
    }
    tests
}

#[test]
fn reads_tests_and_their_tags() {
    // Without the tag itself, which would be read as a tag of this file.
    let source = "
TAG spec/1/a, spec/1/b
TAG spec/2/c
#[tokio::test(start_paused = true)]
async fn tagged() {}

#[test]
fn plain() {}

fn helper() {}

TAG spec/3/d
pub(crate) async fn made_by_a_macro(build: Build) {}

on_newer_build![alone];
on_every_backend![
    first,
    second; newer_only:
    third
];

fn another_helper() {}
"
    .replace("TAG", TAG);
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();

    assert_eq!(
        read_tests(&source),
        [
            (
                "tagged".to_owned(),
                owned(&["spec/1/a", "spec/1/b", "spec/2/c"])
            ),
            ("plain".to_owned(), Vec::new()),
            ("made_by_a_macro".to_owned(), owned(&["spec/3/d"])),
            ("alone".to_owned(), Vec::new()),
            ("first".to_owned(), Vec::new()),
            ("second".to_owned(), Vec::new()),
            ("third".to_owned(), Vec::new()),
        ]
    );
}
