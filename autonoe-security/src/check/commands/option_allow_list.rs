//! Allow-list of the options of a command.

use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::option_table::{OptionArity, OptionTable};
use crate::{Denial, Rule};

/// The allowed options of a command. Every other option is denied.
pub(super) struct OptionAllowList {
    pub(super) options: OptionTable,
    /// Options of the table that are denied nevertheless. They are listed so that their values are
    /// not taken for operands.
    pub(super) refused: &'static [&'static str],
    pub(super) rule: Rule,
    /// The alternative to a denied option.
    pub(super) instead: &'static str,
}

impl OptionAllowList {
    /// Reads options and operands, which may be mixed.
    pub(super) fn read<'c, 's>(
        &self,
        call: &Call<'c, '_, 's>,
    ) -> Result<Vec<ParsedArg<'c, 's>>, Denial> {
        let parsed = options::read(call, &self.options)?;
        self.check(call, &parsed)?;
        Ok(parsed)
    }

    /// Checks that each option is in the list and not denied.
    pub(super) fn check(&self, call: &Call<'_, '_, '_>, parsed: &[ParsedArg<'_, '_>]) -> Checked {
        for parsed in parsed {
            let ParsedArg::Option { name, value, arg } = parsed else {
                continue;
            };
            let is_known = match self.options.find(name) {
                Some(OptionArity::Nothing) => value.is_none(),
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
