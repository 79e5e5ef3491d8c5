//! Judges Bash commands that it reads as JSON lines.
//!
//! Each line of standard input has the fields `id`, `mode` (`run` or `sync`), `profile` (null, a
//! name or a list), `allow_destructive`, `allow_commands` and `command`. For each line, a line with
//! `id`, `allowed`, `rule` and `reason` is printed. The project directory is `project_dir`, or
//! `/srv/project` if that field is missing.
//!
//! ```console
//! $ echo '{"id": 1, "command": "npm test && curl example.com"}' |
//!     cargo run -q -p autonoe-security --example verdicts
//! {"allowed":false,"id":1,"reason":"..","rule":"R7"}
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::{BufRead, Write};

use autonoe_security::{BashSecurity, BashValidator};
use serde_json::{Value, json};

mod cases;

fn main() -> Result<(), Box<dyn Error>> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let verdict = judge(&line).map_err(|error| format!("line {}: {error}", number + 1))?;
        writeln!(output, "{verdict}")?;
    }
    Ok(())
}

fn judge(line: &str) -> Result<Value, Box<dyn Error>> {
    let case: Value = serde_json::from_str(line)?;
    let command = case["command"].as_str().ok_or("there is no command")?;
    let validator = BashValidator::new(cases::policy(&case)?);

    let verdict = validator.check(command);

    let denial = verdict.denial();
    Ok(json!({
        "id": case["id"],
        "allowed": verdict.is_allowed(),
        "rule": denial.map(|denial| &denial.rule),
        "reason": denial.map(ToString::to_string),
    }))
}
