//! Finds the subcommand among options.

use super::own_options::own_options;
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::{Denial, Rule};

/// The arguments of a tool that has subcommands, read in one of the ways that are possible.
#[derive(Clone, Copy)]
pub(in crate::check::commands) struct Words<'c, 's> {
    /// Where in the arguments the subcommand stands.
    at: Option<usize>,
    args: &'c [Arg<'s>],
}

/// Tells whether the first operand of the tool `name` is a subcommand.
fn has_subcommands(name: &str) -> bool {
    !matches!(name, "npx" | "bunx") && own_options(name).is_some()
}

impl<'c, 's> Words<'c, 's> {
    /// Returns every way to read the arguments of `call`. In each, the subcommand must be known.
    pub(in crate::check::commands) fn readings(
        call: &Call<'c, '_, 's>,
    ) -> Result<Vec<Self>, Denial> {
        let args = call.args;
        let Some(table) = own_options(call.name).filter(|_| has_subcommands(call.name)) else {
            return Ok(vec![Self { at: None, args }]);
        };
        let places = table.first_operands(call, args, 0)?;
        let unknown = places
            .iter()
            .flatten()
            .map(|at| &args[*at])
            .find(|arg| arg.known().is_none());
        if let Some(arg) = unknown {
            let reason = format!(
                "the subcommand of {} is not known before it runs",
                call.name
            );
            return Err(Denial::by(Rule::R21, arg.span, reason).instead("write it literally"));
        }
        Ok(places.into_iter().map(|at| Self { at, args }).collect())
    }

    /// Returns the subcommand.
    pub(in crate::check::commands) fn first(&self) -> Option<&'c str> {
        self.at.and_then(|at| self.args[at].known())
    }

    /// Returns where the subcommand stands.
    pub(in crate::check::commands) fn at(&self) -> Option<usize> {
        self.at
    }

    /// Returns what follows the subcommand.
    pub(in crate::check::commands) fn rest(&self) -> &'c [Arg<'s>] {
        self.at.map_or(&[], |at| &self.args[at + 1..])
    }

    /// Returns what stands in front of the subcommand.
    pub(in crate::check::commands) fn before(&self) -> &'c [Arg<'s>] {
        self.at.map_or(self.args, |at| &self.args[..at])
    }

    /// Tells whether `holds` for a word behind the subcommand that is no option.
    pub(super) fn any_behind(&self, holds: impl Fn(&str) -> bool) -> bool {
        let mut words = self.rest().iter().filter_map(|arg| arg.known());
        words.any(|text| !text.starts_with('-') && holds(text))
    }
}
