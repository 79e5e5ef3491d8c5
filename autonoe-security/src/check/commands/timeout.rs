//! `timeout`: judges the command that it starts.

use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::wrapper_options::TIMEOUT;

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (parsed, rest) = options::read_leading(call, &TIMEOUT.options)?;
    for parsed in parsed {
        let ParsedArg::Option { name, arg, .. } = parsed else {
            continue;
        };
        // Only new versions have these letters.
        let is_known = TIMEOUT.has_option(&name) && !matches!(name.as_str(), "-f" | "-p");
        if !is_known {
            return Err(call.deny_flag(Rule::R35, &name, arg.span));
        }
    }
    match rest {
        [duration, command @ ..] if !command.is_empty() => {
            let is_unquoted = duration.unknown.is_some_and(|unknown| !unknown.quoted);
            if is_unquoted || duration.is_pattern() {
                // Unquoted, it may also expand to the command.
                return Err(call.deny_dynamic(duration));
            }
            call.inner(command)
        }
        _ => Err(call
            .deny(Rule::R35, "timeout has no command to start")
            .instead("write timeout SECONDS COMMAND")),
    }
}
