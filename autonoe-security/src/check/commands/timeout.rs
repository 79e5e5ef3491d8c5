//! `timeout`: what it starts is judged by itself.

use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, Seen, Table, Takes};

const TIMEOUT: Table = Table {
    short_values: "sk",
    short_maybe: "",
    long: &[
        ("foreground", Takes::Nothing),
        ("kill-after", Takes::Value),
        ("preserve-status", Takes::Nothing),
        ("signal", Takes::Value),
        ("verbose", Takes::Nothing),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (seen, rest) = options::read_leading(call, &TIMEOUT)?;
    for seen in seen {
        let Seen::Option { name, arg, .. } = seen else {
            continue;
        };
        let is_known = matches!(
            name.as_str(),
            "-s" | "-k"
                | "-v"
                | "--signal"
                | "--kill-after"
                | "--foreground"
                | "--preserve-status"
                | "--verbose"
        );
        if !is_known {
            return Err(call.deny_flag(Rule::R35, &name, arg.span));
        }
    }
    match rest {
        [duration, command @ ..] if !command.is_empty() => {
            let is_unquoted = duration.unknown.is_some_and(|unknown| !unknown.quoted);
            if is_unquoted || duration.is_pattern() {
                // Unquoted, it may become the command as well.
                return Err(call.deny_dynamic(duration));
            }
            call.inner(command)
        }
        _ => Err(call
            .deny(Rule::R35, "timeout has no command to start")
            .instead("write timeout SECONDS COMMAND")),
    }
}
