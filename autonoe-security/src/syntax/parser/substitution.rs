//! Parses `$(..)`, `<(..)` and `>(..)`.
//!
//! Bash 5.2 parses the commands in them, prints them in its own form, and parses that text again
//! when it runs them. Constructs whose meaning changes in the process are rejected.

use super::{Parser, Result};
use crate::syntax::{CommandKind, Part, Runs, Script, Substitution};

impl<'a> Parser<'a> {
    /// Reads `$(..)`.
    pub(super) fn command_substitution(&mut self) -> Result<Part<'a>> {
        let substitution = self.substitution("command substitution")?;
        Ok(Part::CommandSubstitution(Box::new(substitution)))
    }

    /// Reads `<(..)` or `>(..)`.
    pub(super) fn process_substitution(&mut self) -> Result<Part<'a>> {
        if self.byte(self.at + 2) == b'(' {
            // Bash would parse it like arithmetic.
            return Err(self.unsupported("a second parenthesis in a process substitution", self.at));
        }
        let substitution = self.substitution("process substitution")?;
        Ok(Part::ProcessSubstitution(Box::new(substitution)))
    }

    fn substitution(&mut self, construct: &'static str) -> Result<Substitution<'a>> {
        let start = self.at;
        self.at += 2;
        let script = self.nested_script(|parser| {
            let script = parser.list()?;
            if parser.peek() != b')' {
                return Err(parser.not_closed(construct, start));
            }
            if parser.has_documents() && !is_one_line(&script) {
                return Err(parser.unsupported("a here-document among commands", start));
            }
            let first = script.items.first().and_then(|item| item.pipelines.first());
            if first.is_some_and(|(_, pipeline)| pipeline.timed) {
                // Whether it is a reserved word here depends on the version of Bash.
                return Err(parser.unsupported("time first in a substitution", start));
            }
            Ok(script)
        })?;
        self.at += 1;
        Ok(Substitution {
            script,
            span: self.span_from(start),
        })
    }
}

/// Returns whether a script has only simple commands, without a `;` between them.
///
/// When Bash prints a here-document, it drops the `;` after it, and two commands become one.
fn is_one_line(script: &Script<'_>) -> bool {
    let [item] = &script.items[..] else {
        return false;
    };
    item.runs == Runs::InOrder
        && item.pipelines.iter().all(|(_, pipeline)| {
            let mut commands = pipeline.commands.iter();
            commands.all(|command| matches!(command.kind, CommandKind::Simple(_)))
        })
}
