//! `set` and `shopt`: options of the shell.

use super::names;
use crate::check::call::{Call, Checked};
use crate::{Denial, Rule};

const SET_LETTERS: &str = "euxvfE";

const SET_NAMES: &[&str] = words!("errexit nounset pipefail xtrace verbose noglob errtrace");

/// Returns whether `set -o name` does not change the meaning of a text.
pub(crate) fn is_harmless_mode(name: &str) -> bool {
    SET_NAMES.contains(&name)
}

const SHOPT_NAMES: &[&str] = words!("globstar nullglob failglob");

pub(super) fn set(call: &Call<'_, '_, '_>) -> Checked {
    if call.args.is_empty() {
        return Err(deny(
            call,
            call.span,
            "set without options prints every variable",
        ));
    }
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let letters = arg.known().and_then(|text| text.strip_prefix(['-', '+']));
        let Some(letters) = letters.filter(|letters| !letters.is_empty()) else {
            return Err(deny(call, arg.span, "only options may be given to set"));
        };
        for letter in letters.chars() {
            let is_fine = match letter {
                'o' => args
                    .next()
                    .is_some_and(|name| name.known().is_some_and(is_harmless_mode)),
                letter => SET_LETTERS.contains(letter),
            };
            if !is_fine {
                return Err(deny(call, arg.span, "this option of set is not allowed"));
            }
        }
    }
    Ok(())
}

pub(super) fn shopt(call: &Call<'_, '_, '_>) -> Checked {
    call.args.iter().try_for_each(names::check_literal_option)?;
    let is_fine = match call.args {
        [flag, names @ ..] if !names.is_empty() => {
            (flag.is("-s") || flag.is("-u"))
                && names
                    .iter()
                    .all(|name| name.known().is_some_and(|name| SHOPT_NAMES.contains(&name)))
        }
        _ => false,
    };
    if is_fine {
        Ok(())
    } else {
        Err(deny(call, call.span, "this option of shopt is not allowed"))
    }
}

fn deny(call: &Call<'_, '_, '_>, span: crate::syntax::Span, reason: &'static str) -> Denial {
    let instead = match call.name {
        "set" => "use -e, -u, -x, -v, -f, -E or -o pipefail",
        _ => "use -s or -u with globstar, nullglob or failglob",
    };
    Denial::by(Rule::R10, span, reason).instead(instead)
}
