//! Tests that the guide on `autonoe ask` shows actual output and lists every option.

use crate::commands::fixture::Fixture;

const GUIDE: &str = include_str!("../../../docs/guides/ask.md");

#[test]
fn every_command_of_the_guide_on_asking_prints_what_it_shows() {
    Fixture::new().check_guide(GUIDE);
}

#[test]
fn every_option_and_exit_code_of_ask_is_in_the_guide() {
    let help = Fixture::new().autonoe(&["ask", "--help"]).stdout;
    let options = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([',', '.', ':', ';', '`']))
        .map(|word| word.split(['[', '=']).next().unwrap_or(word));
    let common = [
        "--force",
        "--help",
        "--no-sandbox",
        "--project-dir",
        "--thinking",
    ];
    let missing: Vec<_> = options
        .filter(|option| !common.contains(option) && !GUIDE.contains(&format!("`{option}")))
        .collect();
    assert!(missing.is_empty(), "the guide lacks {missing:?}");

    let (_, codes) = help.split_once("Exit codes:").expect("they are there");
    let codes = codes
        .split_whitespace()
        .filter(|it| it.parse::<u8>().is_ok());
    for code in codes {
        assert!(GUIDE.contains(&format!("| {code} |")), "{code}");
    }
}
