//! Programs that start other programs; the inner command is judged separately.

mod env;
mod shell;
mod xargs;

use super::Commands;
use super::tools::is_one_word;
use crate::Rule;
use crate::check::call::{Call, Checked, Validator};
use crate::check::options::{self, ParsedArg};
use crate::wrapper_options;

/// Wrappers of every project, in both modes.
pub(super) const COMMANDS: Commands = &[
    (words!("env"), env::check),
    (words!("xargs"), xargs::check),
    (words!("nohup setsid time nice stdbuf"), plain),
    (words!("bash sh"), shell::check),
];

/// Returns the validator of the wrapper `name`, which may be a shell that only the operator can add.
pub(crate) fn find(name: &str) -> Option<Validator> {
    match name {
        "zsh" | "dash" | "ksh" => Some(shell::check),
        name => COMMANDS
            .iter()
            .find(|(wrappers, _)| wrappers.contains(&name))
            .map(|(_, check)| *check),
    }
}

/// Options of `time` that write a file, or that only some versions have.
const REFUSED_BY_TIME: &[&str] = words!("-a -o -q --append --output --quiet");

/// Judges the command after the options of a wrapper, which must be known.
fn plain(call: &Call<'_, '_, '_>) -> Checked {
    let Some(wrapper) = wrapper_options::find(call.name) else {
        return Err(call
            .deny(
                Rule::R85,
                format!("the options of {} are unknown", call.name),
            )
            .instead("start the command directly"));
    };
    let (parsed, rest) = options::read_leading(call, &wrapper.options)?;
    for parsed in parsed {
        let ParsedArg::Option { name, value, arg } = parsed else {
            continue;
        };
        let is_refused = call.name == "time" && REFUSED_BY_TIME.contains(&name.as_str());
        if is_refused || !wrapper.has_option(&name) {
            return Err(call.deny_flag(Rule::R85, &name, arg.span));
        }
        if let Some(value) = value.filter(|value| !is_one_word(value)) {
            return Err(call.deny_dynamic(&value));
        }
    }
    if rest.is_empty() && call.name != "time" {
        Err(call
            .deny(Rule::R85, format!("{} has no command to start", call.name))
            .instead("write the command after it"))
    } else {
        call.inner(rest)
    }
}
