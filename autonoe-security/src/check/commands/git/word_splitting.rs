//! Arguments that word splitting may turn into several words, or none.

use crate::check::arg::Arg;
use crate::check::call::Call;

/// Returns whether the shell may split `arg` into several words, or remove it.
pub(super) fn may_split(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    arg.is_pattern() || !call.stays_one_word(arg)
}

/// Returns whether `arg`, the value of an option, cannot add another option.
pub(super) fn adds_no_option(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    call.stays_one_word(arg)
}
