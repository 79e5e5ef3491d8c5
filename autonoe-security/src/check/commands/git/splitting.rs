//! Arguments that may become several words, or none.

use crate::check::arg::Arg;
use crate::check::call::Call;

/// Tells whether the shell may make several words of `arg`, or none.
pub(super) fn may_split(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    arg.is_pattern() || !call.stays_one_word(arg)
}

/// Tells whether `arg`, the value of an option, can bring no further option with it.
pub(super) fn brings_no_option(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    call.stays_one_word(arg)
}
