//! Compares Bash validators on the public corpora: attacks that pass, legitimate commands that are
//! denied.
//!
//! ```console
//! $ cargo run --release -p autonoe-security --features corpus --example rates
//! ```
//!
//! Each argument `NAME=PROGRAM` adds an external validator. The program receives the cases as JSON
//! lines on standard input, like the example `verdicts`, and must print one line with the fields
//! `id` and `allowed` per case.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use autonoe_security::{BashSecurity, BashValidator, corpus};
use serde_json::Value;

mod cases;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let texts: Vec<&str> = corpus::files().iter().map(|file| file.text).collect();
    let text = texts.concat();
    let cases = text
        .lines()
        .map(serde_json::from_str)
        .collect::<std::result::Result<Vec<Value>, _>>()?;

    let mut rows = vec![
        ("autonoe-security".to_owned(), verdicts_of_autonoe(&cases)?),
        ("word-only allow-list".to_owned(), verdicts_by_words(&cases)),
    ];
    for argument in std::env::args().skip(1) {
        let (name, program) = argument.split_once('=').ok_or("expected NAME=PROGRAM")?;
        rows.push((
            name.to_owned(),
            verdicts_of_program(program, &text, &cases)?,
        ));
    }

    println!("| validator | attacks that pass | work that is refused |");
    println!("| --- | --- | --- |");
    for (name, allowed) in rows {
        let rate = |expect: &str, wrong: bool| {
            let judged = cases.iter().zip(&allowed);
            let judged = judged.filter(|(case, _)| case["expect"] == expect);
            let count = judged.clone().filter(|(_, it)| **it == wrong).count();
            rate(count, judged.count())
        };
        println!(
            "| {name} | {} | {} |",
            rate("deny", true),
            rate("allow", false)
        );
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "the counts are small")]
fn rate(count: usize, of: usize) -> String {
    let percent = count as f64 / of as f64 * 100.0;
    format!("{count} of {of} ({percent:.1} %)")
}

fn verdicts_of_autonoe(cases: &[Value]) -> Result<Vec<bool>> {
    let settings = [
        "mode",
        "profile",
        "project_dir",
        "allow_commands",
        "allow_destructive",
    ];
    let mut validators = HashMap::new();
    let verdict = |case: &Value| -> Result<bool> {
        let validator = match validators.entry(settings.map(|name| case[name].to_string())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(BashValidator::new(cases::policy(case)?)),
        };
        Ok(validator.check(command(case)).is_allowed())
    };
    cases.iter().map(verdict).collect()
}

/// Allows a command if the first word of each of its parts is on a list.
///
/// The list of a mode contains every first word of the commands that must be allowed in it, so that
/// no legitimate command is denied because the list is too short.
fn verdicts_by_words(cases: &[Value]) -> Vec<bool> {
    let mut lists: HashMap<&str, HashSet<&str>> = HashMap::new();
    for case in cases.iter().filter(|case| case["expect"] == "allow") {
        let list = lists.entry(mode(case)).or_default();
        list.extend(first_words(command(case)));
    }
    cases
        .iter()
        .map(|case| first_words(command(case)).all(|word| lists[mode(case)].contains(word)))
        .collect()
}

fn first_words(command: &str) -> impl Iterator<Item = &str> {
    command
        .split(['|', '&', ';', '\n'])
        .filter_map(|part| part.split_whitespace().find(|word| !word.contains('=')))
}

fn verdicts_of_program(program: &str, text: &str, cases: &[Value]) -> Result<Vec<bool>> {
    let mut child = Command::new("sh")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let output = thread::scope(|scope| {
        scope.spawn(move || input.write_all(text.as_bytes()));
        child.wait_with_output()
    })?;
    let mut allowed = HashMap::new();
    for line in str::from_utf8(&output.stdout)?.lines() {
        let verdict: Value = serde_json::from_str(line)?;
        let id = verdict["id"].as_str().ok_or("a verdict without an id")?;
        let is_allowed = verdict["allowed"].as_bool();
        let is_allowed = is_allowed.ok_or_else(|| format!("no verdict on {id}"))?;
        allowed.insert(id.to_owned(), is_allowed);
    }
    let verdict = |case: &Value| {
        let id = case["id"].as_str().unwrap_or_default();
        let found = allowed.get(id).copied();
        found.ok_or_else(|| format!("{program} said nothing about {id}").into())
    };
    cases.iter().map(verdict).collect()
}

fn command(case: &Value) -> &str {
    case["command"].as_str().unwrap_or_default()
}

fn mode(case: &Value) -> &str {
    case["mode"].as_str().unwrap_or("run")
}
