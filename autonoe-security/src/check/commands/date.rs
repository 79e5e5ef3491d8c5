//! `date`: printing the time, not setting it.

use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::option_table::OptionTable;

const DATE: OptionTable = options!(
    "d:f:r:s:I?",
    "date= debug file= help iso-8601? reference= resolution rfc-2822 rfc-3339= rfc-email set= uct",
    "universal utc version",
);

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    for parsed in options::read(call, &DATE)? {
        match parsed {
            ParsedArg::Option { name, arg, .. } if name == "-s" || name == "--set" => {
                return Err(call.deny_flag(Rule::R34, &name, arg.span));
            }
            ParsedArg::Operand(operand) if !operand.text.starts_with('+') => {
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
