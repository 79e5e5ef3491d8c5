//! `pkill`: development processes, by exact name.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::text::{has_only, is_number};
use crate::check::{path, remedy};

const SIGNALS: &[&str] = words!(
    "HUP INT QUIT ILL TRAP ABRT IOT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CLD",
    "CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO POLL PWR SYS",
);

/// Long options that only narrow the selection, or print it.
const FLAGS: &[&str] = words!("--full --exact --newest --oldest --echo");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut full = false;
    let mut operands = Vec::new();
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.known() else {
            return Err(call
                .deny(Rule::R39, "the process is unknown until it runs")
                .instead("write its name literally"));
        };
        let is_fine = match text {
            "--" => {
                operands.extend(args.by_ref());
                true
            }
            "--signal" => args
                .next()
                .and_then(|signal| signal.known())
                .is_some_and(is_signal),
            _ if text.starts_with("--") => match text.strip_prefix("--signal=") {
                Some(signal) => is_signal(signal),
                None => {
                    let mut matched = FLAGS.iter().filter(|flag| flag.starts_with(text));
                    let flag = matched.next().filter(|_| matched.next().is_none());
                    full |= flag == Some(&"--full");
                    flag.is_some()
                }
            },
            _ => match text.strip_prefix('-') {
                None => {
                    operands.push(arg);
                    true
                }
                Some(letters) if is_flags(letters) => {
                    full |= letters.contains('f');
                    true
                }
                Some(signal) => is_signal(signal),
            },
        };
        if !is_fine {
            return Err(call.deny_flag(Rule::R39, text, arg.span));
        }
    }
    match operands[..] {
        [operand] => target(call, operand, full),
        _ => Err(call
            .deny(Rule::R39, "pkill needs exactly one process")
            .instead("name one development process")),
    }
}

/// Programs that run everything: their names alone match other agents and editors.
const GENERIC: &[&str] =
    words!("bun cargo go gradle java mvn node npm npx php python python3 ruby");

/// Checks the target process; with `full` it may be a command line.
fn target(call: &Call<'_, '_, '_>, operand: &Arg<'_>, full: bool) -> Checked {
    let text = operand.text.as_ref();
    let targets = call.policy().pkill_targets();
    let is_added = call.policy().config().allow_pkill_targets.contains(text);
    let is_plain = has_only(text, " ._/:@=-");
    let mut words = text.split(' ');
    let is_of_target = words.next().is_some_and(|first| targets.contains(first));
    let names_more = words.any(|word| names_something(call, word));
    let is_specific = is_added || (targets.contains(text) && !GENERIC.contains(&text));
    let is_command_line = is_plain && ((is_of_target && names_more) || names_project(call, text));
    if is_specific || (full && is_command_line) {
        return Ok(());
    }
    if is_of_target && (full || targets.contains(text)) {
        let reason = format!("'{text}' matches processes of other agents and editors");
        return Err(call.deny(Rule::R87, reason).instead(
            "name the script too, as in pkill -f \"node server.js\", or use kill $(lsof -ti:PORT)",
        ));
    }
    let reason = format!("process '{text}' is not a development process of the active profiles");
    let mut denial = call.deny(Rule::R39, reason).instead(
        "end your own background jobs with kill %1 or kill $!, and servers with kill \
             $(lsof -ti:PORT)",
    );
    denial.remedy = remedy::pkill_target(text);
    Err(denial)
}

/// Returns whether a word of a command line names a script, a module or a task, not only an option.
fn names_something(call: &Call<'_, '_, '_>, word: &str) -> bool {
    // A dot matches any character, so `.m` matches `-m` too.
    let is_name = word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '_'))
        || word.starts_with("./");
    let is_generic = matches!(word, "exec" | "run" | "dlx") || word.len() < 3;
    (is_name && !is_generic) || names_project(call, word)
}

/// Returns whether a command line names a file of the project by its whole path.
fn names_project(call: &Call<'_, '_, '_>, text: &str) -> bool {
    let project = call.policy().project_dir();
    text.split(' ').any(|word| path::is_within(word, project))
}

fn is_flags(letters: &str) -> bool {
    !letters.is_empty() && letters.bytes().all(|it| b"fxnoe".contains(&it))
}

/// Returns whether `text` is a signal: a number, or a name with or without `SIG`.
fn is_signal(text: &str) -> bool {
    let name = text.strip_prefix("SIG").unwrap_or(text);
    let is_number = is_number(text);
    is_number || SIGNALS.contains(&name)
}
