//! Runs allowed commands of `sed`, `awk`, `xargs`, `curl`, archives and databases with the real
//! programs and checks that nothing else happens and no secret is printed.
//!
//! Programs are assembled from random tokens. The allowed ones run with the real tools in an empty
//! directory. A script that writes a file or runs a command leaves a trace there: every command
//! among the tokens and every line of the input creates a file.
#![cfg(target_os = "linux")]

mod archives;
mod curl;
mod project;
mod secrets;
mod xargs;

use std::fs;
use std::process::{Command, Stdio};

use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig};
use tempfile::TempDir;

use crate::common::mutate::{Mutator, number};

/// Number of programs; `cargo xtask torture` sets it.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Seed of the programs.
const SEED: &str = "AUTONOE_ORACLE_SEED";

const INPUT: &str = "touch ran_input\ntouch ran_input b/c\n\nx\n";

const SED_TOKENS: &[&str] = &[
    "p",
    "d",
    "w",
    "W",
    "e",
    "r",
    "R",
    "w out",
    "W out",
    "e touch ran",
    "r f",
    "s/a/b/",
    "s/t/T/",
    "s/x/y/w out",
    "s/./&/e",
    "s,x,y,",
    "s|o|p|g",
    "y/ab/cd/",
    "y",
    "s",
    "/",
    "/x/",
    "\\",
    "\\,x,",
    ",",
    ";",
    "\n",
    " ",
    "{",
    "}",
    "#",
    "!",
    "$",
    "1",
    "2",
    "0,",
    "1~2",
    "+1",
    "a",
    "i",
    "c",
    "a\\",
    "a\\\n",
    "i\\\n",
    "c foo",
    "b",
    "t",
    ":a",
    ":",
    "ba",
    "ta",
    "q",
    "Q",
    "=",
    "l",
    "n",
    "N",
    "g",
    "G",
    "x",
    "z",
    "F",
    "[",
    "]",
    "[^",
    "[/]",
    "[^/]",
    "[]/]",
    "[[:alpha:]",
    "&",
    "\\1",
    "\\(a\\)",
    "\\/",
    "\\n",
    "I",
    "M",
    "g",
    "3",
    "w/dev/stdout",
    "/dev/stdout",
    "out",
    "\t",
    "e\n",
    "\nw out",
    "\ne touch ran",
    "}e",
    ";e",
    "\\\n",
    "\\\\",
    "'",
];

const AWK_TOKENS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "print",
    "printf",
    "print ",
    "{print",
    "> \"out\"",
    ">> \"out\"",
    "| \"touch ran\"",
    "system(\"touch ran\")",
    "\"touch ran\" | getline",
    "getline",
    "getline x",
    "< \"f\"",
    "<",
    ">",
    ">>",
    "|",
    "||",
    "&&",
    "\"",
    "\"a\"",
    "\"out\"",
    "/",
    "/x/",
    "/[/]/",
    "/[/",
    "]/",
    "/\"/",
    "[^/]",
    "/a|b/",
    "\\",
    "\\\n",
    "\\/",
    "#",
    "\n",
    ";",
    ",",
    "$1",
    "$0",
    "$NF",
    "NR",
    "NR>1",
    "x",
    "y",
    "1",
    "2",
    ".5",
    "+",
    "++",
    "--",
    "-",
    "*",
    "%",
    "=",
    "==",
    "!",
    "~",
    "!~",
    "?",
    ":",
    "if (1)",
    "if",
    "else",
    "while (0)",
    "for (i=0;i<2;i++)",
    "for (k in a)",
    "do",
    "in",
    "a[$1]",
    "a",
    "length",
    "length($0)",
    "substr($0,1)",
    "gsub(/a/,\"b\")",
    "split",
    "BEGIN",
    "END",
    "BEGIN{",
    "function f(x)",
    "f(1)",
    "return",
    "next",
    "exit",
    "delete",
    " ",
    "ENVIRON",
    "ARGV[1]=\"f\"",
    "@",
    "/=",
    "> \"/dev/stderr\"",
    "x = ",
    "\"/dev/stdout\"",
    "'",
];

fn validator() -> BashValidator {
    BashValidator::new(Policy::new("/srv/project", PolicyConfig::default()).expect("a good policy"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Assembles a program of up to twelve tokens.
fn program(random: &mut Mutator, tokens: &[&str], seeds: &[&str]) -> String {
    let mut text = match random.below(2) {
        0 => String::new(),
        _ => seeds[random.below(seeds.len())].to_owned(),
    };
    for _ in 0..=random.below(if text.is_empty() { 12 } else { 4 }) {
        let token = tokens[random.below(tokens.len())];
        let at = match random.below(2) {
            0 => text.len(),
            _ => random.below(text.len() + 1),
        };
        if text.is_char_boundary(at) {
            text.insert_str(at, token);
        }
    }
    text
}

/// Runs `tool` with a program on a file, and returns the names of the files that it created.
fn left_behind(tool: &[&str], program: &str) -> Vec<String> {
    let folder = TempDir::new().expect("a directory");
    fs::write(folder.path().join("f"), INPUT).expect("writable");
    // Programs may loop; the files of a killed one are still checked.
    let status = Command::new("timeout")
        .args(["-s", "KILL", "1"])
        .args(tool)
        .args([program, "f"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("timeout is there (coreutils)");
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .expect("readable")
        .map(|file| {
            file.expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name != "f")
        .collect();
    if fs::read_to_string(folder.path().join("f")).ok().as_deref() != Some(INPUT) {
        names.push("f".to_owned());
    }
    names
}

/// Generates programs, runs the allowed ones, and returns their number.
fn run_allowed(tool: &[&str], tokens: &[&str], seeds: &[&str]) -> usize {
    let validator = validator();
    let mut random = Mutator::new(number(SEED, 7), Vec::new());
    let mut ran = 0;
    for _ in 0..number(ROUNDS, 4_000) {
        let program = program(&mut random, tokens, seeds);
        let command = format!("{} {} f", tool.join(" "), quoted(&program));
        if !validator.check(&command).is_allowed() {
            continue;
        }
        ran += 1;
        let left = left_behind(tool, &program);
        assert!(left.is_empty(), "{command} left {left:?} behind");
    }
    ran
}

#[test]
fn allowed_sed_scripts_write_nothing_and_run_nothing() {
    let seeds = [
        "1,2p",
        "/x/d",
        "s/a/b/g",
        "s|x|y|p;d",
        "/a/,/b/{p;d}",
        "a foo",
        "i\\\nfoo",
        "y/ab/cd/",
        "$!N;s/\\n/ /",
        "/x/!s/a/[b]/2",
        "s/[^\\/]*$//",
    ];

    let ran = run_allowed(&["sed", "-n"], SED_TOKENS, &seeds);

    eprintln!("{ran} programs run, 0 violations");
    assert!(
        ran > 50,
        "only {ran} scripts were allowed, which shows little"
    );
}

#[test]
fn allowed_awk_programs_write_nothing_and_run_nothing() {
    let seeds = [
        "{print $1}",
        "NR>1{print $2}",
        "/x/",
        "{ s += $1 / 2 } END { print s }",
        "!a[$0]++",
        "{ if ($1 > 2) print }",
        "BEGIN { while ((getline l < \"f\") > 0) n++; print n }",
        "{ print \"e\" > \"/dev/stderr\" }",
        "{ gsub(/[^\\/]*\\//, \"\"); print }",
    ];

    let ran = run_allowed(&["awk"], AWK_TOKENS, &seeds);

    eprintln!("{ran} programs run, 0 violations");
    assert!(
        ran > 50,
        "only {ran} programs were allowed, which shows little"
    );
}

#[test]
fn the_oracle_sees_writes_and_commands() {
    for (tool, program) in [
        (&["sed", "-n"][..], "w out"),
        (&["sed", "-n"], "1e"),
        (&["sed", "-n"], "s/./&/e"),
        (&["sed", "-n"], "e touch ran"),
        (&["awk"], "{ print > \"out\" }"),
        (&["awk"], "BEGIN { system(\"touch ran\") }"),
        (&["awk"], "{ print | \"touch ran\" }"),
        (&["awk"], "BEGIN { \"touch ran\" | getline }"),
    ] {
        assert!(!left_behind(tool, program).is_empty(), "{tool:?} {program}");
    }
}
