//! `nc -z`: probes a port of this machine without sending data.

use super::{deny_remote, in_run_mode};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::server_url::is_local_host;
use crate::check::numeric;
use crate::check::options::{self, ParsedArg};
use crate::check::text::is_number;
use crate::option_table::OptionTable;

const NC: OptionTable = options!("w:");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    in_run_mode(call, scan)
}

fn scan(call: &Call<'_, '_, '_>) -> Checked {
    let mut scans = false;
    let mut operands = Vec::new();
    for parsed in options::read(call, &NC)? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                ("-z", _) => scans = true,
                ("-v" | "-n" | "-4" | "-6" | "-u" | "-t", _) => {}
                ("-w", Some(value)) if value.known().is_some_and(is_number) => {}
                (name, _) => return Err(call.deny_flag(Rule::R86, name, arg.span)),
            },
        }
    }
    if !scans {
        return Err(call
            .deny(Rule::R86, "nc would send and receive data")
            .instead("check a port with nc -z localhost PORT, or use curl"));
    }
    match operands[..] {
        [host, port] => {
            let is_local = host
                .known()
                .is_some_and(|host| is_local_host(host) || host == "::1");
            if is_local && is_port(call, port) {
                Ok(())
            } else {
                Err(deny_remote(call, host.span))
            }
        }
        _ => Err(call
            .deny(Rule::R86, "nc needs a host and a port")
            .instead("write nc -z localhost PORT")),
    }
}

/// Returns whether `port` is a number, or a range of numbers.
fn is_port(call: &Call<'_, '_, '_>, port: &Arg<'_>) -> bool {
    match port.known() {
        Some(text) => text.split('-').all(is_number) && text.matches('-').count() <= 1,
        None => {
            port.text.is_empty()
                && matches!(&port.parts[..], [part] if numeric::is_safe_part(call.context.scope, part))
        }
    }
}
