//! The lists in "One run, one way" of `ARCHITECTURE.md`, compared with the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");

/// Returns the items of the lists: crate, file and functions.
fn items() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let (_, section) = ARCHITECTURE
        .split_once("## One run, one way\n")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    let lines = section.lines().filter_map(|line| line.strip_prefix("- "));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, ": ");
            let mut next = || parts.next().expect("crate, file and functions");
            let (package, file, functions) = (next(), next(), next());
            let functions = functions.split(", ").map(|name| name.trim_matches('`'));
            (package, file.trim_matches('`'), functions.collect())
        })
        .collect()
}

#[test]
fn the_functions_of_a_run_exist_and_are_few() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let items = items();
    for (package, file, functions) in &items {
        let path = root.join(format!("autonoe-{package}/src/{file}"));
        let source = fs::read_to_string(&path);
        let source = source.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for function in functions {
            let is_there = ["(", "<"]
                .iter()
                .any(|next| source.contains(&format!("fn {function}{next}")));
            assert!(is_there, "{package}: {file} has no function `{function}`");
        }
    }

    let functions: usize = items.iter().map(|(_, _, functions)| functions.len()).sum();
    let files: BTreeSet<_> = items
        .iter()
        .map(|(package, file, _)| (package, file))
        .collect();
    assert!((10..=30).contains(&files.len()), "{} files", files.len());
    assert!((20..=45).contains(&functions), "{functions} functions");
}
