//! The guide on fleets: what it shows is so.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::commands::console::Console;
use crate::commands::setting::Setting;

const GUIDE: &str = include_str!("../../../docs/guides/harness.md");

#[test]
fn every_command_of_the_guide_on_fleets_does_what_it_says() {
    let setting = Setting::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = setting.project().join("../home");
    symlink(checkout, home.join("autonoe")).expect("writable");
    let program = Path::new(env!("CARGO_BIN_EXE_autonoe"));
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folder = program.parent().expect("it is in a folder").to_owned();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&own)));

    for console in Console::all(GUIDE) {
        for command in &console.commands {
            let output = Command::new("bash")
                .args(["-c", &format!("exec 2>&1\n{}", command.text)])
                .current_dir(setting.project())
                .env_clear()
                .env("HOME", &home)
                .env("PATH", path.as_ref().expect("plain names"))
                .output()
                .expect("it starts");

            let printed = String::from_utf8_lossy(&output.stdout);
            let (code, text) = (output.status.code(), &command.text);
            assert_eq!(code, Some(console.exit), "{text}\n{printed}");
            if let Some(missing) = command.missing_in(&printed) {
                panic!("{text}: no line {missing:?} in\n{printed}");
            }
        }
    }
}

#[test]
fn every_option_of_a_fleet_is_in_the_guide() {
    let help = Setting::new().autonoe(&["harness", "run", "--help"]).stdout;
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
