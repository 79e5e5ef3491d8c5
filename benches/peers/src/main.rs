//! The validator's full verdict compared with other parsers that only parse, on the same commands
//! in the same run; and the cost of long texts.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml`; `-- --plot FILE.svg` also draws
//! the cost of long texts.
#![allow(clippy::print_stdout)] // A benchmark prints its tables.

mod long_texts;
mod plot;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use autonoe_security::syntax::parse;
use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig};
use brush_parser::{Parser, ParserOptions};
use serde_json::Value;

/// Number of measurements; the best counts, because disturbances can only add time.
const ROUNDS: usize = 200;

fn main() {
    let commands = allowed_commands();
    let bytes: usize = commands.iter().map(String::len).sum();
    println!(
        "{} allowed commands, mean {} bytes\n",
        commands.len(),
        bytes / commands.len()
    );
    compare(&commands);
    println!();
    let costs = long_texts::measure(&validator());
    long_texts::print(&costs);
    if let Some(file) = plot_file() {
        plot::draw(&costs, &file);
    }
}

fn plot_file() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(option) if option == "--plot" => Some(arguments.next().expect("a file").into()),
        Some(other) => panic!("{other:?} is not known; there is --plot FILE.svg"),
        None => None,
    }
}

/// Returns the commands of the corpus that the default policy allows.
fn allowed_commands() -> Vec<String> {
    let lines = include_str!("../../../autonoe-security/corpus/cases.jsonl").lines();
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let validator = validator();
    cases
        .filter(|case| case["expect"] == "allow" && case["mode"] == "run")
        .filter_map(|case| case["command"].as_str().map(str::to_owned))
        .filter(|command| command.len() < 1000 && validator.check(command).is_allowed())
        .collect()
}

fn validator() -> BashValidator {
    let policy = Policy::new("/srv/project", PolicyConfig::default());
    BashValidator::new(policy.expect("a good policy"))
}

fn compare(commands: &[String]) {
    let validator = validator();
    let mut tree_sitter = tree_sitter::Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    tree_sitter
        .set_language(&language)
        .expect("the versions fit");
    let options = ParserOptions::default();

    let verdicts = measure(commands, |command| {
        black_box(validator.check(command).is_allowed());
    });
    let trees = measure(commands, |command| {
        black_box(parse(command).is_ok());
    });
    let of_tree_sitter = measure(commands, |command| {
        black_box(tree_sitter.parse(command, None));
    });
    let of_brush = measure(commands, |command| {
        let mut parser = Parser::new(command.as_bytes(), &options);
        black_box(parser.parse_program().is_ok());
    });

    println!("| what | median | mean | against the full verdict |");
    println!("| --- | --- | --- | --- |");
    let base = mean(&verdicts);
    for (label, times) in [
        ("full verdict", &verdicts),
        ("our parser alone", &trees),
        ("tree-sitter-bash, parsing alone", &of_tree_sitter),
        ("brush-parser, parsing alone", &of_brush),
    ] {
        let mean = mean(times);
        println!(
            "| {label} | {} ns | {} ns | {:.1}x |",
            median(times).as_nanos(),
            mean.as_nanos(),
            mean.as_secs_f64() / base.as_secs_f64(),
        );
    }
}

/// Returns the best time of each command.
fn measure(commands: &[String], mut work: impl FnMut(&str)) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; commands.len()];
    for _ in 0..ROUNDS {
        for (command, best) in commands.iter().zip(&mut best) {
            // Several at once, because the clock is too coarse for a microsecond.
            let started = Instant::now();
            for _ in 0..8 {
                work(command);
            }
            *best = (*best).min(started.elapsed() / 8);
        }
    }
    best
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / u32::try_from(times.len()).expect("few")
}
