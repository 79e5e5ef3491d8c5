//! Runs every example: it must finish in time and print something.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cargo::{self, Cargo};
use crate::deadline::{self, Ending};
use crate::failure::Failure;

/// The first command of the README, word for word.
const QUICKSTART: [&str; 3] = ["run", "--example", "quickstart"];

/// Time limit of one example. Examples run offline and wait for nothing, but tests run beside them.
const LIMIT: Duration = Duration::from_secs(300);

/// Standard input of the examples that read it.
const INPUTS: [(&str, &str); 1] = [("verdicts", r#"{"id": 1, "command": "git status"}"#)];

/// An example that has been built.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    name: String,
    program: PathBuf,
}

/// Builds and runs all examples, the quickstart as the README says.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    cargo.run(QUICKSTART)?;

    // As in the test step, so that nothing is compiled a second time.
    let built = cargo::read(cargo.linting([
        "build",
        "--quiet",
        "--workspace",
        "--all-features",
        "--examples",
        "--message-format=json",
    ]))?;
    let examples = read_examples(&built);
    if examples.is_empty() {
        return Err(Failure::new("cargo has built no examples"));
    }
    let mut failed = Vec::new();
    for example in &examples {
        let started = Instant::now();
        if let Err(failure) = run(example) {
            failed.push(failure.to_string());
        }
        println!("{}: {:.1} s", example.name, started.elapsed().as_secs_f64());
    }
    Failure::unless_empty("some examples failed", &failed)
}

/// Finds the programs of examples in the messages of `cargo build --message-format=json`.
fn read_examples(messages: &str) -> Vec<Example> {
    messages
        .lines()
        .filter_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            let is_example = message["target"]["kind"] == serde_json::json!(["example"]);
            // An example with tests is built as a test program as well.
            let is_test = message["profile"]["test"] == true;
            if !is_example || is_test {
                return None;
            }
            Some(Example {
                name: message["target"]["name"].as_str()?.to_owned(),
                program: message["executable"].as_str()?.into(),
            })
        })
        .collect()
}

fn run(Example { name, program }: &Example) -> Result<(), Failure> {
    let input = INPUTS.iter().find(|(example, _)| example == name);
    let input = input.map_or("", |(_, input)| *input);
    let mut command = std::process::Command::new(program);

    let ending = deadline::run(&mut command, input, LIMIT)
        .map_err(|source| cargo::cannot_start(&command, &source))?;

    let (status, stdout) = match ending {
        Ending::Exited { status, stdout } => (status, stdout),
        Ending::TimedOut => {
            let seconds = LIMIT.as_secs();
            return Err(Failure::new(format!(
                "{name}: did not finish in {seconds} s"
            )));
        }
        Ending::LeftOutputOpen => {
            return Err(Failure::new(format!("{name}: left a process running")));
        }
    };
    if !status.success() {
        print!("{}", String::from_utf8_lossy(&stdout));
        return Err(Failure::new(format!("{name}: {status}")));
    }
    if stdout.trim_ascii().is_empty() {
        return Err(Failure::new(format!("{name}: printed nothing")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_programs_of_examples() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"core"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["example"],"name":"hello"},"profile":{"test":false},"executable":"/t/hello"}
{"reason":"compiler-artifact","target":{"kind":["example"],"name":"hello"},"profile":{"test":true},"executable":"/t/hello-1"}
{"reason":"build-finished","success":true}
"#;

        let hello = Example {
            name: "hello".into(),
            program: "/t/hello".into(),
        };
        assert_eq!(read_examples(messages), [hello]);
    }
}
