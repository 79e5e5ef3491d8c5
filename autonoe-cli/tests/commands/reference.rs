//! Tests that the reference lists every command with its options, and that the cookbook shows
//! actual output.

use std::collections::BTreeSet;

use crate::commands::fixture::Fixture;

const CLI: &str = include_str!("../../../docs/reference/cli.md");
const ALLOW: &str = include_str!("../../../docs/cookbook/allow-a-command.md");
const BLOCK: &str = include_str!("../../../docs/cookbook/block-a-command.md");

/// Returns the help of a command, named by the words after `autonoe`.
fn help(command: &str) -> String {
    let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    Fixture::new().autonoe(&args).stdout
}

/// Returns the commands that the help of `command` lists, without `help`.
fn subcommands(command: &str) -> Vec<String> {
    let help = help(command);
    let Some((_, rest)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(|name| format!("{command} {name}").trim().to_owned())
        .collect()
}

/// Returns all commands that have no subcommands.
fn commands() -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    for command in subcommands("") {
        let parts = subcommands(&command);
        if parts.is_empty() {
            commands.insert(command);
        }
        commands.extend(parts);
    }
    commands
}

/// Returns the long option that a line of a help begins with.
fn long_option(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start().len();
    let line = line.trim_start();
    if indent > 6 || !line.starts_with('-') {
        return None;
    }
    let option = &line[line.find("--")?..];
    let end = option.find(|c: char| !c.is_ascii_lowercase() && c != '-');
    Some(&option[..end.unwrap_or(option.len())])
}

/// Returns the sections of the page: the name of the command, and the text.
fn sections() -> Vec<(&'static str, &'static str)> {
    let sections = CLI.split("\n## autonoe ").skip(1);
    sections
        .filter_map(|section| section.split_once('\n'))
        .map(|(name, text)| (name, text.split("\n## ").next().unwrap_or(text)))
        .collect()
}

/// Returns the options in the first cells of the tables of a section.
fn listed_options(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let options = rows.filter_map(|row| {
        let cell = row.split('|').nth(1)?.trim();
        let option = &cell[cell.find("--")?..];
        Some(option.split(['`', ' ', '[']).next()?.to_owned())
    });
    options.collect()
}

#[test]
fn the_reference_has_a_section_for_each_command() {
    let sections: BTreeSet<_> = sections()
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect();

    assert_eq!(sections, commands());
}

#[test]
fn the_reference_lists_the_options_of_each_command() {
    for (name, section) in sections() {
        let help = help(name);
        let options: BTreeSet<_> = help
            .lines()
            .filter_map(long_option)
            .filter(|option| *option != "--help")
            .map(str::to_owned)
            .collect();

        assert_eq!(listed_options(section), options, "autonoe {name}");
    }
}

#[test]
fn command_recipes_work_as_documented() {
    for page in [ALLOW, BLOCK] {
        let (before, rest) = page.split_once("```json\n").expect("settings");
        let (settings, after) = rest.split_once("```").expect("their end");
        if before.contains("```console") {
            Fixture::new().check_guide(before);
        }
        let configured = Fixture::new().file(".autonoe/agent.json", settings);
        configured.check_guide(after);
    }
}
