//! Allow-list of the options of a command.

use crate::check::call::{Call, Checked};
use crate::check::options::{self, Seen};
use crate::option_table::{OptionTable, Takes};
use crate::{Denial, Rule};

/// The options that a command may have. Every other option is refused.
pub(super) struct OptionAllowList {
    pub(super) options: OptionTable,
    /// Options of the table that are refused nevertheless. They are in it so that their values are
    /// not taken for operands.
    pub(super) refused: &'static [&'static str],
    pub(super) rule: Rule,
    /// What the agent can do without a refused option.
    pub(super) instead: &'static str,
}

impl OptionAllowList {
    /// Reads options and operands, which may be mixed.
    pub(super) fn read<'c, 's>(
        &self,
        call: &Call<'c, '_, 's>,
    ) -> Result<Vec<Seen<'c, 's>>, Denial> {
        let seen = options::read(call, &self.options)?;
        self.check(call, &seen)?;
        Ok(seen)
    }

    /// Checks that each option is in the list, and none is refused.
    pub(super) fn check(&self, call: &Call<'_, '_, '_>, seen: &[Seen<'_, '_>]) -> Checked {
        for seen in seen {
            let Seen::Option { name, value, arg } = seen else {
                continue;
            };
            let is_known = match self.options.find(name) {
                Some(Takes::Nothing) => value.is_none(),
                takes => takes.is_some(),
            };
            if !is_known || self.refused.contains(&name.as_str()) {
                return Err(call
                    .deny_flag(self.rule, name, arg.span)
                    .instead(self.instead));
            }
        }
        Ok(())
    }
}
