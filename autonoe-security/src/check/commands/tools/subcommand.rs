//! Finds the subcommand among the options of a tool.

use super::own_options::own_options;
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::{Denial, Rule};

/// The arguments of a tool with subcommands, in one of the possible readings.
#[derive(Clone, Copy)]
pub(in crate::check::commands) struct CommandReading<'c, 's> {
    /// The index of the subcommand.
    at: Option<usize>,
    args: &'c [Arg<'s>],
}

/// Returns whether the first operand of the tool `name` is a subcommand.
fn has_subcommands(name: &str) -> bool {
    !matches!(name, "npx" | "bunx") && own_options(name).is_some()
}

impl<'c, 's> CommandReading<'c, 's> {
    /// Returns every possible reading of the arguments of `call`. In each, the subcommand must be
    /// known.
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
            let reason = format!("the subcommand of {} is unknown until it runs", call.name);
            return Err(Denial::by(Rule::R21, arg.span, reason).instead("write it literally"));
        }
        Ok(places.into_iter().map(|at| Self { at, args }).collect())
    }

    /// Returns the subcommand.
    pub(in crate::check::commands) fn first(&self) -> Option<&'c str> {
        self.at.and_then(|at| self.args[at].known())
    }

    /// Returns the index of the subcommand.
    pub(in crate::check::commands) fn at(&self) -> Option<usize> {
        self.at
    }

    /// Returns the arguments after the subcommand.
    pub(in crate::check::commands) fn rest(&self) -> &'c [Arg<'s>] {
        self.at.map_or(&[], |at| &self.args[at + 1..])
    }

    /// Returns the arguments before the subcommand.
    pub(in crate::check::commands) fn before(&self) -> &'c [Arg<'s>] {
        self.at.map_or(self.args, |at| &self.args[..at])
    }

    /// Returns whether `holds` is true for a word after the subcommand that is not an option.
    pub(super) fn any_operand_after(&self, holds: impl Fn(&str) -> bool) -> bool {
        let mut words = self.rest().iter().filter_map(|arg| arg.known());
        words.any(|text| !text.starts_with('-') && holds(text))
    }
}
