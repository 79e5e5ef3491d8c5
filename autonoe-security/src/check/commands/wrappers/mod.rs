//! Programs that start other programs: the inner command is judged by itself.

mod env;
mod shell;
mod xargs;

use super::tools::is_one_word;
use crate::Rule;
use crate::check::call::{Call, Checked, Validator};
use crate::check::options::{self, Seen, Table, Takes};

/// Wrappers of every project, in both modes.
pub(super) const COMMANDS: &[(&str, Validator)] = &[
    ("env", env::check),
    ("xargs", xargs::check),
    ("nohup", |call| plain(call, &NOHUP)),
    ("setsid", |call| plain(call, &SETSID)),
    ("time", |call| plain(call, &TIME)),
    ("nice", |call| plain(call, &NICE)),
    ("stdbuf", |call| plain(call, &STDBUF)),
    ("bash", shell::check),
    ("sh", shell::check),
];

/// Returns the validator of the wrapper `name`, which may be a shell that only the operator can add.
pub(crate) fn find(name: &str) -> Option<Validator> {
    match name {
        "zsh" | "dash" | "ksh" => Some(shell::check),
        name => COMMANDS
            .iter()
            .find(|(wrapper, _)| *wrapper == name)
            .map(|(_, check)| *check),
    }
}

const NOHUP: Table = Table {
    short_values: "",
    short_maybe: "",
    long: &[],
};

const SETSID: Table = Table {
    short_values: "",
    short_maybe: "",
    long: &[
        ("ctty", Takes::Nothing),
        ("fork", Takes::Nothing),
        ("wait", Takes::Nothing),
    ],
};

/// `-o` would write a file.
const TIME: Table = Table {
    short_values: "f",
    short_maybe: "",
    long: &[
        ("format", Takes::Value),
        ("portability", Takes::Nothing),
        ("verbose", Takes::Nothing),
    ],
};

const NICE: Table = Table {
    short_values: "n",
    short_maybe: "",
    long: &[("adjustment", Takes::Value)],
};

const STDBUF: Table = Table {
    short_values: "ioe",
    short_maybe: "",
    long: &[
        ("input", Takes::Value),
        ("output", Takes::Value),
        ("error", Takes::Value),
    ],
};

/// Short options without a value, of all of them.
const FLAGS: &[&str] = &["-c", "-f", "-w", "-p", "-v"];

/// Judges what follows the options of a wrapper, which must be those of its table.
fn plain(call: &Call<'_, '_, '_>, table: &Table) -> Checked {
    let (seen, rest) = options::read_leading(call, table)?;
    for seen in seen {
        let Seen::Option { name, value, arg } = seen else {
            continue;
        };
        let is_listed = match name.strip_prefix("--") {
            Some(long) => table.long.iter().any(|(known, _)| *known == long),
            None => match call.name {
                "setsid" | "time" => {
                    FLAGS.contains(&name.as_str()) || table.short_values.contains(&name[1..])
                }
                // `nice -10`
                "nice" => name == "-n" || name[1..].bytes().all(|it| it.is_ascii_digit()),
                _ => table.short_values.contains(&name[1..]),
            },
        };
        if !is_listed {
            return Err(call.deny_flag(Rule::R85, &name, arg.span));
        }
        if let Some(value) = value.filter(|value| !is_one_word(value)) {
            return Err(call.deny_dynamic(&value));
        }
    }
    if rest.is_empty() && call.name != "time" {
        Err(call
            .deny(Rule::R85, format!("{} has no command to start", call.name))
            .instead("write the command behind it"))
    } else {
        call.inner(rest)
    }
}
