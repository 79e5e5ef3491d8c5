//! `date`: telling the time, not setting it.

use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, Seen, Table, Takes};

const DATE: Table = Table {
    short_values: "dfrs",
    short_maybe: "I",
    long: &[
        ("date", Takes::Value),
        ("debug", Takes::Nothing),
        ("file", Takes::Value),
        ("help", Takes::Nothing),
        ("iso-8601", Takes::Maybe),
        ("reference", Takes::Value),
        ("resolution", Takes::Nothing),
        ("rfc-2822", Takes::Nothing),
        ("rfc-3339", Takes::Value),
        ("rfc-email", Takes::Nothing),
        ("set", Takes::Value),
        ("uct", Takes::Nothing),
        ("universal", Takes::Nothing),
        ("utc", Takes::Nothing),
        ("version", Takes::Nothing),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    for seen in options::read(call, &DATE)? {
        match seen {
            Seen::Option { name, arg, .. } if name == "-s" || name == "--set" => {
                return Err(call.deny_flag(Rule::R34, &name, arg.span));
            }
            Seen::Operand(operand) if !operand.text.starts_with('+') => {
                let reason = "date with an operand sets the clock";
                return Err(call
                    .deny(Rule::R34, reason)
                    .instead("begin the format with +"));
            }
            _ => {}
        }
    }
    Ok(())
}
