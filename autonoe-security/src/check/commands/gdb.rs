//! `gdb -batch`: runs a program of the project and prints where it stops.

use super::scripts::runs_code_of_project;
use crate::check::call::{Call, Checked};
use crate::check::text::{has_only, is_digits};
use crate::{Denial, Rule};

const INSTEAD: &str =
    "use gdb -batch -ex run -ex bt --args PROGRAM, with commands such as bt, info and print";

/// Flags in front of the program.
const FLAGS: &[&str] = words!(
    "-batch --batch -q -quiet --quiet -silent --silent -n -nh -nx --nh --nx -return-child-result"
);

/// Commands that run the program, move in its stack or print values.
const COMMANDS: &[&str] = words!(
    "advance b backtrace bt break c continue display down f finish frame info l list n next p print",
    "ptype s step tbreak thread up until watch whatis where x",
);

/// Commands that start the program. Arguments behind them would go through a shell.
const STARTS: &[&str] = words!("quit r run start starti");

/// Whole commands.
const PHRASES: [&str; 8] = [
    "set pagination off",
    "set confirm off",
    "set width 0",
    "set height 0",
    "set print pretty on",
    "set disassembly-flavor intel",
    "thread apply all bt",
    "thread apply all bt full",
];

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    runs_code_of_project(call, "programs of the project")?;
    let mut args = call.args;
    let mut is_batch = false;
    while let [first, rest @ ..] = args {
        args = rest;
        let Some(text) = first.known() else {
            return Err(call.deny_dynamic(first));
        };
        match text {
            "-ex" | "--ex" | "-eval-command" | "--eval-command" => {
                let Some((command, rest)) = rest.split_first() else {
                    return Err(call.deny_flag(Rule::R104, text, first.span));
                };
                if !command.known().is_some_and(is_harmless) {
                    let reason = "the command of gdb may run other code";
                    return Err(Denial::by(Rule::R104, command.span, reason).instead(INSTEAD));
                }
                args = rest;
            }
            "-args" | "--args" if is_batch => return call.inner(rest),
            flag if FLAGS.contains(&flag) => is_batch |= flag.ends_with("-batch"),
            program if !program.starts_with('-') && is_batch && rest.is_empty() => {
                return call.inner(std::slice::from_ref(first));
            }
            _ => {
                return Err(call
                    .deny_flag(Rule::R104, text, first.span)
                    .instead(INSTEAD));
            }
        }
    }
    Err(call
        .deny(Rule::R104, "gdb would read commands from its input")
        .instead(INSTEAD))
}

/// Returns whether a command of gdb runs no code other than the program.
fn is_harmless(command: &str) -> bool {
    // No call, no assignment, no other command.
    let mut words = command.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let name = name.split('/').next().unwrap_or_default();
    // `thread apply` and `frame apply`, also abbreviated, are followed by another command.
    let is_number = |word: &str| is_digits(word);
    let has_command = matches!(name, "thread" | "frame") && !words.all(is_number);
    PHRASES.contains(&command)
        || STARTS.contains(&command)
        || (COMMANDS.contains(&name) && !has_command && has_only(command, " _./:$*&>[]%+-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_print_and_call_nothing() {
        for command in [
            "run",
            "bt full",
            "info locals",
            "p *list->head",
            "x/20i $pc",
            "b main.c:12",
        ] {
            assert!(is_harmless(command), "{command}");
        }
        for command in [
            "shell id",
            "!id",
            "run > x",
            "p system(\"id\")",
            "call exit(1)",
            "set var x = 1",
            "python print(1)",
            "thread apply all shell id",
            "thread  apply all shell id",
            "frame ap all shell id",
            "source x.gdb",
            "pipe bt | sh",
            "print x = 1",
            "",
        ] {
            assert!(!is_harmless(command), "{command}");
        }
    }
}
