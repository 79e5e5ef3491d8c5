//! Tests that the guide on fleets shows actual output.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::commands::fixture::Fixture;

const GUIDE: &str = include_str!("../../../docs/guides/harness.md");

#[test]
fn fleet_guide_commands_work_as_documented() {
    let setting = Fixture::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = setting.project().join("../home");
    symlink(checkout, home.join("autonoe")).expect("writable");
    setting.check_guide(GUIDE);
}

#[test]
fn every_option_of_a_fleet_is_in_the_guide() {
    let help = Fixture::new().autonoe(&["harness", "run", "--help"]).stdout;
    let words = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    let told_elsewhere = [
        "--allow-destructive",
        "--help",
        "--json",
        "--model",
        "--no-sandbox",
        "--project-dir",
        "--thinking",
        "--view",
    ];
    let names = words.map(|word| {
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        &word[..end.unwrap_or(word.len())]
    });

    let missing: Vec<_> = names
        .filter(|name| !told_elsewhere.contains(name) && !GUIDE.contains(name))
        .collect();

    assert!(missing.is_empty(), "the guide does not tell {missing:?}");
}
