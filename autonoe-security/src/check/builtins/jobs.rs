//! `jobs`, `wait` and `kill`: background jobs of the same script.

use crate::check::call::{Call, Checked};
use crate::check::processes;
use crate::check::text::is_number;
use crate::{Denial, Rule};

pub(super) fn jobs(call: &Call<'_, '_, '_>) -> Checked {
    for arg in call.args {
        match arg.known() {
            Some(text) if is_listing(text) || text.starts_with('%') => {}
            _ => return Err(call.deny_flag(Rule::R8, &arg.text, arg.span)),
        }
    }
    Ok(())
}

pub(super) fn wait(call: &Call<'_, '_, '_>) -> Checked {
    for arg in call.args {
        let is_fine = match arg.known() {
            Some("-n" | "-f" | "-nf" | "-fn" | "--") => true,
            Some(text) => is_job(text) || is_number(text),
            None => processes::are_job(call.context.scope, &arg.parts),
        };
        if !is_fine {
            let reason = "wait accepts only jobs of this command";
            return Err(Denial::by(Rule::R8, arg.span, reason)
                .instead("use wait alone, wait %1, or wait $!"));
        }
    }
    Ok(())
}

pub(super) fn kill(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args.iter().peekable();
    if let Some(&first) = args.peek()
        && let Some(option) = first.known().and_then(|text| text.strip_prefix('-'))
    {
        let is_signal_name =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match option {
            "l" | "L" => return Ok(()),
            "s" | "n" => {
                args.next();
                let signal = args.next().and_then(|signal| signal.known());
                if !signal.is_some_and(is_signal_name) {
                    return Err(call.deny_flag(Rule::R9, &first.text, first.span));
                }
            }
            "-" => {
                args.next();
            }
            signal if is_signal_name(signal) => {
                args.next();
            }
            _ => return Err(call.deny_flag(Rule::R9, &first.text, first.span)),
        }
    }
    for arg in args {
        let is_fine = match arg.known() {
            Some("--") => true,
            Some(text) => is_job(text),
            None => processes::are_own(call.context.scope, &arg.parts),
        };
        if !is_fine {
            let reason = "kill may end a process that the agent did not start";
            return Err(Denial::by(Rule::R87, arg.span, reason).instead(
                "keep the ID in a variable of the same command (server & pid=$!; ..; kill \"$pid\"), or \
                 use kill $(lsof -ti:PORT) with the port of your server",
            ));
        }
    }
    Ok(())
}

/// Returns whether options of `jobs` only format the list.
fn is_listing(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty() && letters.bytes().all(|letter| b"lnprs".contains(&letter))
    })
}

fn is_job(text: &str) -> bool {
    text.starts_with('%')
}
