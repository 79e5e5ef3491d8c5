//! Limit on the nesting depth of constructs.

use super::{Parser, Result};
use crate::syntax::{Script, SyntaxErrorKind};

/// Maximum nesting depth of constructs.
///
/// Scripts written by people and agents stay below ten; a thread with a small stack can handle this
/// depth.
const MAX_DEPTH: usize = 48;

impl<'a> Parser<'a> {
    /// Reads a nested construct.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen()?;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    /// Enters a nesting level. The caller leaves it with `depth -= 1`.
    pub(super) fn deepen(&mut self) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_here(SyntaxErrorKind::TooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads the contents of a substitution, as a script with its own here-documents.
    pub(super) fn nested_script(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Script<'a>>,
    ) -> Result<Script<'a>> {
        let outer_documents = std::mem::take(&mut self.documents);
        let outer_substitution = std::mem::replace(&mut self.in_substitution, true);
        let outer_behind_word = self.behind_word;
        let mut script = self.nested(read)?;
        self.finish_documents(&mut script)?;
        self.documents = outer_documents;
        self.in_substitution = outer_substitution;
        self.behind_word = outer_behind_word;
        Ok(script)
    }

    /// Reads only up to `end`, then restores the whole text.
    pub(super) fn bounded<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.text;
        self.text = self.slice(0, end);
        // A parenthesis that is closed in the whole may not be closed in the part.
        let parentheses = std::mem::take(&mut self.parentheses);
        let inner = read(self)?;
        self.parentheses = parentheses;
        self.text = outer;
        Ok(inner)
    }
}
