//! Judges commands that come as JSON lines.
//!
//! Each line of standard input has the fields `id`, `mode` (`run` or `sync`), `profile` (null, a
//! name or a list), `allow_destructive`, `allow_commands` and `command`. For each, a line with
//! `id`, `allowed`, `rule` and `reason` is written. `/srv/project` is the project directory.
//!
//! ```console
//! $ echo '{"id": 1, "command": "npm test && curl example.com"}' |
//!     cargo run -q -p autonoe-security --example verdicts
//! {"allowed":false,"id":1,"reason":"..","rule":"R7"}
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::{BufRead, Write};

use autonoe_security::{
    AllowCommands, BashSecurity, BashValidator, Destructive, Mode, Policy, PolicyConfig, Profile,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let said = judge(&line).map_err(|error| format!("line {}: {error}", number + 1))?;
        writeln!(output, "{said}")?;
    }
    Ok(())
}

fn judge(line: &str) -> Result<Value, Box<dyn Error>> {
    let asked: Value = serde_json::from_str(line)?;
    let command = asked["command"].as_str().ok_or("there is no command")?;
    let validator = BashValidator::new(Policy::new(config(&asked)?)?);

    let verdict = validator.check(command);

    let denial = verdict.denial();
    Ok(json!({
        "id": asked["id"],
        "allowed": verdict.is_allowed(),
        "rule": denial.map(|denial| &denial.rule),
        "reason": denial.map(ToString::to_string),
    }))
}

fn config(asked: &Value) -> Result<PolicyConfig, Box<dyn Error>> {
    let names = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        let names = list.chain(value.is_string().then_some(value));
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let profile = |name: &String| {
        let mut all = Profile::ALL.into_iter();
        let found = all.find(|profile| profile.name() == name);
        found.ok_or_else(|| format!("there is no profile {name:?}"))
    };
    let profiles = match &asked["profile"] {
        Value::Null => None,
        chosen => Some(
            names(chosen)
                .iter()
                .map(profile)
                .collect::<Result<_, _>>()?,
        ),
    };
    Ok(PolicyConfig {
        mode: match asked["mode"].as_str() {
            None | Some("run") => Mode::Run,
            Some("sync") => Mode::Sync,
            Some(mode) => return Err(format!("there is no mode {mode:?}").into()),
        },
        profiles,
        allow_commands: AllowCommands::List(names(&asked["allow_commands"]).into_iter().collect()),
        destructive: match asked["allow_destructive"].as_bool() {
            Some(true) => Destructive::Allowed,
            _ => Destructive::Forbidden,
        },
        ..PolicyConfig::new("/srv/project")
    })
}
