//! Options of commands whose every option must be known.

use crate::check::call::Call;
use crate::check::options::{self, Seen, Table};
use crate::{Denial, Rule};

/// The options that a command may have. Every other option is refused.
pub(super) struct Listed {
    /// Short options without a value.
    pub(super) flags: &'static str,
    pub(super) table: Table,
    /// Options of the table that are refused nevertheless. They are in it so that their values are
    /// not taken for operands.
    pub(super) refused: &'static [&'static str],
    pub(super) rule: Rule,
    /// What the agent can do without a refused option.
    pub(super) instead: &'static str,
}

/// Reads options and operands, which may be mixed.
pub(super) fn read<'c, 's>(
    call: &Call<'c, '_, 's>,
    listed: &Listed,
) -> Result<Vec<Seen<'c, 's>>, Denial> {
    let seen = options::read(call, &listed.table)?;
    check(call, listed, &seen)?;
    Ok(seen)
}

/// Checks that all options are listed, and none is refused.
pub(super) fn check(
    call: &Call<'_, '_, '_>,
    listed: &Listed,
    seen: &[Seen<'_, '_>],
) -> Result<(), Denial> {
    for seen in seen {
        let Seen::Option { name, value, arg } = seen else {
            continue;
        };
        let is_known = match name.strip_prefix("--") {
            Some(long) => {
                let mut all = listed.table.long.iter();
                all.any(|(known, takes)| {
                    *known == long && (value.is_none() || *takes != options::Takes::Nothing)
                })
            }
            None => [
                listed.flags,
                listed.table.short_values,
                listed.table.short_maybe,
            ]
            .iter()
            .any(|letters| letters.contains(&name[1..])),
        };
        if !is_known || listed.refused.contains(&name.as_str()) {
            return Err(call
                .deny_flag(listed.rule, name, arg.span)
                .instead(listed.instead));
        }
    }
    Ok(())
}
