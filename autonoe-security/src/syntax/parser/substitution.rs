//! `$(..)`, `<(..)` and `>(..)`.
//!
//! Bash 5.2 reads the commands in them, writes them down in its own form, and reads that
//! again when it runs them. What changes its meaning on the way is refused.

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
            // Bash would read it as if it were arithmetic.
            return Err(self.unsupported("a second parenthesis in a process substitution", self.at));
        }
        let substitution = self.substitution("process substitution")?;
        Ok(Part::ProcessSubstitution(Box::new(substitution)))
    }

    fn substitution(&mut self, what: &'static str) -> Result<Substitution<'a>> {
        let start = self.at;
        self.at += 2;
        let script = self.nested_script(|parser| {
            let script = parser.list()?;
            if parser.peek() != b')' {
                return Err(parser.not_closed(what, start));
            }
            if parser.has_documents() && !is_one_line(&script) {
                return Err(parser.unsupported("a here-document among commands", start));
            }
            let first = script.items.first().and_then(|item| item.pipelines.first());
            if first.is_some_and(|(_, pipeline)| pipeline.timed) {
                // It depends on the version of Bash whether it is a reserved word here.
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

/// Tells whether a script has only simple commands, with no `;` between them.
///
/// When Bash writes a here-document down, it forgets a `;` behind it, and two commands
/// become one.
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
