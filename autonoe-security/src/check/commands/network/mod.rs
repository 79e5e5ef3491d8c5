//! Programs that reach servers on this machine, in run mode.

mod curl;
mod databases;
mod local_url;
mod nc;

use super::Commands;
use crate::check::call::{Call, Checked, Validator};
use crate::check::extensions;
use crate::policy::Mode;
use crate::{Denial, Layer, Rule};

pub(super) const COMMANDS: Commands = &[
    (words!("curl"), curl::check),
    (words!("nc"), nc::check),
    (words!("redis-cli"), databases::redis_cli),
    (words!("pg_isready"), databases::pg_isready),
];

/// The advice of every denial of a remote location.
const ONLY_LOCALHOST: &str = "reach servers on localhost only, such as curl http://localhost:3000/; read web pages with \
     WebFetch, if you have it";

/// Applies `check` in run mode; a command that the operator added is unrestricted.
fn in_run_mode(call: &Call<'_, '_, '_>, check: Validator) -> Checked {
    if extensions::is_unrestricted(call) {
        return Ok(());
    }
    if call.mode() == Mode::Sync {
        let reason = format!("'{}' is not available in sync mode", call.name);
        let mut denial = call
            .deny(Rule::R86, reason)
            .instead("verify with the test suite of the project");
        denial.layer = Layer::Mode;
        return Err(denial);
    }
    check(call)
}

/// Creates the denial of a location that is not certainly on this machine.
fn deny_remote(call: &Call<'_, '_, '_>, span: crate::syntax::Span) -> Denial {
    let reason = format!("{} may reach another machine", call.name);
    Denial::by(Rule::R86, span, reason).instead(ONLY_LOCALHOST)
}
