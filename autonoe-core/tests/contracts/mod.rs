//! Requirement pages and the tests that they name agree.

mod page;
mod tagged_tests;

use std::fs;
use std::path::{Path, PathBuf};

use page::{mistakes, read_rows, test_names};
use tagged_tests::tagged_tests;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).expect("readable")
}

#[test]
fn every_requirement_is_on_one_page_with_tests_that_reference_it() {
    let pages = ["docs/contracts.md", "docs/departures.md"];
    let rows: Vec<_> = pages
        .iter()
        .flat_map(|page| read_rows(page, &read(page)))
        .collect();
    assert!(rows.len() > 200, "only {} rows were read", rows.len());

    let found = mistakes(&rows, &tagged_tests(&repository()));

    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_test_that_the_other_contracts_name_exists() {
    let tests = tagged_tests(&repository());
    for (page, least) in [
        ("docs/flow-contracts.md", 20),
        ("docs/harness-contracts.md", 60),
    ] {
        let text = read(page);
        let rows = text.lines().filter(|line| line.starts_with("| "));
        let last_cells =
            rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit(" | ").next());
        let named: Vec<String> = last_cells.flat_map(test_names).collect();

        let missing = named.iter().filter(|name| !tests.contains_key(*name));
        let missing: Vec<&String> = missing.collect();

        assert!(
            missing.is_empty(),
            "{page} names tests that do not exist: {missing:#?}"
        );
        let count = named.len();
        assert!(count > least, "only {count} tests are named in {page}");
    }
}
