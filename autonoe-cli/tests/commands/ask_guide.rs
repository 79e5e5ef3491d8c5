//! The guide on `autonoe ask`: its commands print what it shows, and it has every option.

use std::path::Path;
use std::process::Command;

use crate::commands::console::Console;
use crate::commands::setting::Setting;

const GUIDE: &str = include_str!("../../../docs/guides/ask.md");

#[test]
fn every_command_of_the_guide_on_asking_prints_what_it_shows() {
    let setting = Setting::new();
    let home = setting.project().join("../home");
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
fn every_option_and_exit_code_of_ask_is_in_the_guide() {
    let help = Setting::new().autonoe(&["ask", "--help"]).stdout;
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
