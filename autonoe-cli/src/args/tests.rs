//! Tests of the help texts and of the option tables in `docs/reference/cli.md`.

use std::fmt::Write as _;
use std::{env, fs};

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Cli;

/// Makes the test of the reference write the tables instead of comparing.
const UPDATE: &str = "AUTONOE_UPDATE_SCHEMAS";

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/cli.md");

/// Options with a link: the name, the linked words of the help and the target.
const LINKS: [(&str, &str, &str); 4] = [
    ("backend", "backend", "../guides/backends.md#in-the-command"),
    (
        "no-sandbox",
        "sandbox",
        "../guides/configuration.md#the-sandbox",
    ),
    ("notify", "notifications", "../cookbook/get-notified.md"),
    (
        "notify-key",
        "AUTONOE_SIGNING_KEY_OPS_HOOK",
        "environment.md#variables-that-you-set",
    ),
];

/// Returns the command and its subcommands with their full names, depth first.
fn commands() -> Vec<(String, Command)> {
    fn collect(name: &str, command: &Command, all: &mut Vec<(String, Command)>) {
        all.push((name.to_owned(), command.clone()));
        for inner in command.get_subcommands() {
            if inner.get_name() != "help" && !inner.is_hide_set() {
                collect(&format!("{name} {}", inner.get_name()), inner, all);
            }
        }
    }
    let mut root = Cli::command().term_width(80);
    root.build();
    let mut all = Vec::new();
    collect("autonoe", &root, &mut all);
    all
}

#[test]
fn the_help_of_every_command_fits_80_columns() {
    let mut text = String::new();
    for (name, mut command) in commands() {
        let help = command.render_long_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        writeln!(text, "=== {name} --help\n\n{}\n", help.trim_end()).expect("writes to a string");
    }

    insta::assert_snapshot!(text);
}

#[test]
fn the_reference_has_the_options_of_the_help() {
    let text = fs::read_to_string(REFERENCE).expect("readable");
    let mut expected = text.clone();
    for (name, command) in commands() {
        if let Some(table) = table(&command) {
            expected = replace_table(&expected, &name, &table);
        }
    }

    if env::var_os(UPDATE).is_some() {
        fs::write(REFERENCE, expected).expect("writable");
    } else {
        assert!(
            text == expected,
            "docs/reference/cli.md differs from the help: run `cargo xtask schemas`"
        );
    }
}

/// Replaces the table in the section of a command; commands with subcommands have no section.
fn replace_table(text: &str, name: &str, table: &str) -> String {
    let heading = format!("\n## {name}\n");
    let Some((before, section)) = text.split_once(&heading) else {
        return text.to_owned();
    };
    let (intro, rest) = section
        .split_once("| option |")
        .unwrap_or_else(|| panic!("{name} has no table"));
    assert!(!intro.contains("\n## "), "{name} has no table");
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    format!("{before}{heading}{intro}{table}{after}")
}

/// Returns the options as a table, or `None` if the command has none.
fn table(command: &Command) -> Option<String> {
    let options: Vec<_> = command
        .get_arguments()
        .filter(|arg| !arg.is_positional() && !arg.is_hide_set())
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if options.is_empty() {
        return None;
    }
    let mut table = "| option | meaning | default |\n| --- | --- | --- |\n".to_owned();
    for arg in options {
        let (meaning, default) = meaning_and_default(arg);
        let default = if default.is_empty() {
            " ".to_owned()
        } else {
            format!(" {default} ")
        };
        writeln!(table, "| {} | {meaning} |{default}|", spelling(arg)).expect("writes to a string");
    }
    Some(table)
}

/// Returns the names of an option and the name of its value as code.
fn spelling(arg: &Arg) -> String {
    let long = arg.get_long().expect("options have a long name");
    let value = match arg.get_value_names().and_then(<[_]>::first) {
        Some(name) if arg.get_action().takes_values() => {
            let is_optional = arg
                .get_num_args()
                .is_some_and(|count| count.min_values() == 0);
            match (is_optional, arg.is_require_equals_set()) {
                (true, true) => format!("[={name}]"),
                (true, false) => format!(" [{name}]"),
                (false, _) => format!(" {name}"),
            }
        }
        _ => String::new(),
    };
    let short = arg
        .get_short()
        .map_or_else(String::new, |short| format!("`-{short}`, "));
    format!("{short}`--{long}{value}`")
}

/// Splits the help text from the default, which is a property of the option or part of the text.
fn meaning_and_default(arg: &Arg) -> (String, String) {
    let help = arg.get_help().map_or_else(String::new, ToString::to_string);
    let (meaning, default) = match help.split_once(" [default: ") {
        Some((meaning, default)) => (meaning.to_owned(), default.trim_end_matches(']').to_owned()),
        None => (help, String::new()),
    };
    let values: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|it| it.to_string_lossy())
        .collect();
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let default = match values.as_slice() {
        [] if arg.is_required_set() => "required".to_owned(),
        [] => default,
        _ if is_switch => String::new(),
        _ => values.join(", "),
    };
    let choices: Vec<_> = arg
        .get_possible_values()
        .iter()
        .filter(|_| !is_switch && !arg.is_hide_possible_values_set())
        .map(choice)
        .collect();
    let meaning = if choices.is_empty() {
        meaning
    } else {
        format!("{meaning}: {}", choices.join(", "))
    };
    (linked(arg, &cell(&meaning)), cell(&default))
}

/// Returns a possible value with its meaning, for example `` `dot` (text for Graphviz) ``.
fn choice(value: &PossibleValue) -> String {
    let name = format!("`{}`", value.get_name());
    let help = value.get_help().map(ToString::to_string);
    let mut letters = help.iter().flat_map(|help| help.chars());
    match letters.next() {
        Some(first) => format!(
            "{name} ({}{})",
            first.to_lowercase(),
            letters.collect::<String>()
        ),
        None => name,
    }
}

/// Adds the link of an option to its meaning.
fn linked(arg: &Arg, meaning: &str) -> String {
    let link = LINKS.iter().find(|(name, ..)| arg.get_long() == Some(name));
    match link {
        Some((_, words, target)) => meaning.replacen(words, &format!("[{words}]({target})"), 1),
        None => meaning.to_owned(),
    }
}

/// Escapes characters that Markdown would interpret in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}
