//! How deep constructs may stand in each other.

use super::{Parser, Result};
use crate::syntax::{Script, SyntaxErrorKind};

/// How many constructs the parser follows into each other.
///
/// Scripts that people and agents write stay below ten; a thread with a small
/// stack survives all of these.
const MAX_DEPTH: usize = 48;

impl<'a> Parser<'a> {
    /// Reads something that stands in something else.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen()?;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    /// Goes one level down. The caller comes back up by `depth -= 1`.
    pub(super) fn deepen(&mut self) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_here(SyntaxErrorKind::TooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads what stands in a substitution, as a script with its own here-documents.
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

    /// Reads only up to `end`, then sets what is read back to the whole.
    pub(super) fn bounded<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.text;
        self.text = self.slice(0, end);
        // What is closed in the whole may not be closed in the part.
        let parentheses = std::mem::take(&mut self.parentheses);
        let inner = read(self)?;
        self.parentheses = parentheses;
        self.text = outer;
        Ok(inner)
    }
}
