//! The full verdict of the validator against parsing alone by others, on the same commands in the
//! same run; and the cost of long texts.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml`
#![allow(clippy::print_stdout)] // A benchmark prints its tables.

use std::hint::black_box;
use std::time::{Duration, Instant};

use autonoe_security::syntax::parse;
use autonoe_security::{BashSecurity, BashValidator, Mode, Policy, PolicyConfig};
use brush_parser::{Parser, ParserOptions};
use serde_json::Value;

/// How often everything is measured; the best counts, because only disturbances add to it.
const ROUNDS: usize = 200;

fn main() {
    let commands = allowed_commands();
    let bytes: usize = commands.iter().map(String::len).sum();
    println!("{} allowed commands, mean {} bytes\n", commands.len(), bytes / commands.len());
    compare(&commands);
    println!();
    long_texts();
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
    let config = PolicyConfig {
        mode: Mode::Run,
        ..PolicyConfig::new("/srv/project")
    };
    BashValidator::new(Policy::new(config).expect("a good policy"))
}

fn compare(commands: &[String]) {
    let validator = validator();
    let mut tree_sitter = tree_sitter::Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    tree_sitter.set_language(&language).expect("the versions fit");
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
    for (what, times) in [
        ("full verdict", &verdicts),
        ("our parser alone", &trees),
        ("tree-sitter-bash, parsing alone", &of_tree_sitter),
        ("brush-parser, parsing alone", &of_brush),
    ] {
        let mean = mean(times);
        println!(
            "| {what} | {} ns | {} ns | {:.1}x |",
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
            // Several at once, because a clock is coarse against a microsecond.
            let begun = Instant::now();
            for _ in 0..8 {
                work(command);
            }
            *best = (*best).min(begun.elapsed() / 8);
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

/// Prints what texts of one construct cost as they get longer.
fn long_texts() {
    let validator = validator();
    let sizes = [1, 2, 4, 8, 16, 32, 64, 128];
    let titles: Vec<String> = sizes.iter().map(|size| format!("{size} KiB")).collect();
    println!("| construct | {} |", titles.join(" | "));
    println!("| --- |{}", " --- |".repeat(sizes.len()));
    for (what, start, piece, end) in CONSTRUCTS {
        let times: Vec<String> = sizes
            .iter()
            .map(|size| {
                let room = size * 1024 - start.len() - end.len();
                let text = format!("{start}{}{end}", piece.repeat(room / piece.len()));
                let best = (0..5).map(|_| {
                    let begun = Instant::now();
                    black_box(validator.check(&text).is_allowed());
                    begun.elapsed()
                });
                let best = best.min().expect("five of them");
                format!("{:.2} ms", best.as_secs_f64() * 1e3)
            })
            .collect();
        println!("| {what} | {} |", times.join(" | "));
    }
}

const CONSTRUCTS: &[(&str, &str, &str, &str)] = &[
    ("one long word", "echo ", "a", ""),
    ("many words", "echo", " a", ""),
    ("many commands", "", "ls;", ""),
    ("many lines", "", "git status\n", ""),
    ("a here-document", "cat <<'EOF'\n", "some text $(no) `no`\n", "EOF\n"),
    ("an open here-document", "cat <<EOF\n", "text $x ${y:-z}\n", "EOF\n"),
    ("many here-documents", "", "cat <<E\nE\n", ""),
    ("here-documents on one line", "cat", " <<E", "\n"),
    ("substitutions side by side", "echo", " $(ls)", ""),
    ("quoted substitutions", "echo", " \"$(date)\"", ""),
    ("variables", "x=1; echo", " $x", ""),
    ("many variables", "", "a=$b b=$a;", ""),
    ("arithmetic", "i=0;", "i=$((i+1));", ""),
    ("one long expression", "echo $((1", "+1", "))"),
    ("subscripts", "echo $((", "a[", "))"),
    ("open brackets", "", "((", ""),
    ("open subshells", "", "(", ""),
    ("open substitutions", "echo ", "$(", ""),
    ("open quotes in quotes", "echo ", "\"$(", ""),
    ("back-quotes", "echo ", "`ls` ", ""),
    ("braces", "echo ", "{a,b}", ""),
    ("open braces", "echo ", "{", ""),
    ("patterns", "ls ", "*?[a]", ""),
    ("open brackets of patterns", "ls ", "[", ""),
    ("redirections", "ls", " >a", ""),
    ("assignments", "", "A=1 ", "ls"),
    ("moves", "", "cd a;", ""),
    ("moves in a loop", "for i in 1 2; do ", "cd a;", " done"),
    ("loops in loops", "", "for i in a; do ", ""),
    ("pipes", "ls", "|cat", ""),
    ("conditions", "[[ a", " || a", " ]]"),
    ("a case of many arms", "case x in ", "a) ls;;", " esac"),
    ("comments", "", "# a\n", ""),
    ("continuations", "ls", " \\\n", ""),
    ("options of git", "git log", " -n 1", ""),
    ("an expression of find", "find .", " -name a", ""),
];
