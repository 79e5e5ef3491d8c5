//! What a walk has found, for those who want to know all of it.

use std::cell::RefCell;

use crate::syntax::{ArgWord, SimpleCommand, Span, Text};
use crate::{Denial, Verdict};

/// A command that was found in a text, and what the policy says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The bytes of the text in which it stands.
    pub span: std::ops::Range<usize>,
    /// Its name as written; `None` for assignments alone, and for what is no command.
    pub name: Option<String>,
    /// What the policy says to it, apart from the commands that stand in it.
    pub verdict: Verdict,
}

/// Collects findings, or lets the first denial end the walk.
pub(crate) struct Report {
    found: Option<RefCell<Vec<Finding>>>,
}

impl Report {
    /// Ends the walk with the first denial.
    pub(crate) fn first() -> Self {
        Self { found: None }
    }

    /// Collects everything.
    pub(crate) fn all() -> Self {
        Self {
            found: Some(RefCell::new(Vec::new())),
        }
    }

    /// Returns what was collected, in the order of the text.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut found = self.found.map(RefCell::into_inner).unwrap_or_default();
        // The body of a loop is judged twice when it moves; denials come first.
        found.sort_by_key(|finding| {
            let Finding { span, verdict, .. } = finding;
            (span.start, span.end, verdict.is_allowed())
        });
        found.dedup_by(|later, first| later.span == first.span && later.name == first.name);
        found
    }

    /// Takes notice of a simple command.
    pub(crate) fn command<T: Default>(
        &self,
        simple: &SimpleCommand<'_>,
        span: Span,
        judged: Result<T, Denial>,
    ) -> Result<T, Denial> {
        let Some(found) = &self.found else {
            return judged;
        };
        let name = simple.words.first().and_then(ArgWord::static_text);
        let (verdict, value) = split(judged);
        found.borrow_mut().push(Finding {
            span: span.range(),
            name: name.map(Text::into_owned),
            verdict,
        });
        Ok(value)
    }

    /// Takes notice of something else, if it is denied.
    pub(crate) fn other(&self, span: Span, judged: Result<(), Denial>) -> Result<(), Denial> {
        match (&self.found, judged) {
            (Some(found), Err(denial)) => {
                found.borrow_mut().push(Finding {
                    span: span.range(),
                    name: None,
                    verdict: Verdict::Deny(denial),
                });
                Ok(())
            }
            (_, judged) => judged,
        }
    }
}

fn split<T: Default>(judged: Result<T, Denial>) -> (Verdict, T) {
    match judged {
        Ok(value) => (Verdict::Allow, value),
        Err(denial) => (Verdict::Deny(denial), T::default()),
    }
}
