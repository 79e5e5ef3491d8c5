//! Commands that have certainly succeeded before another one, because `&&` joins them.

use super::scope::Scope;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{CommandKind, Connector, Item, ShellPipeline, SimpleCommand, Span};

/// Returns whether a command for which `is_it` is true has succeeded before the text at `span` runs.
///
/// It searches the whole script, so callers reserve the search.
pub(crate) fn has_succeeded(
    scope: &Scope<'_>,
    span: Span,
    is_it: &dyn Fn(&SimpleCommand<'_>) -> bool,
) -> bool {
    let mut preceding = Preceding {
        span,
        is_it,
        found: false,
    };
    preceding.script(scope.script());
    preceding.found
}

struct Preceding<'p> {
    span: Span,
    is_it: &'p dyn Fn(&SimpleCommand<'_>) -> bool,
    found: bool,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Preceding<'_> {
    fn item(&mut self, item: &'t Item<'a>) {
        let is_here = |pipeline: &ShellPipeline<'_>| {
            pipeline.span.start() <= self.span.start() && self.span.end() <= pipeline.span.end()
        };
        let at = item.pipelines.iter().position(|(_, it)| is_here(it));
        if let Some(at) = at {
            let is_joined = |(connector, _): &(Connector, _)| *connector != Connector::Or;
            let all_joined = item.pipelines[..=at].iter().all(is_joined);
            let mut before = item.pipelines[..at].iter();
            self.found |= all_joined && before.any(|(_, it)| self.is_only_command(it));
        }
        visit::item(self, item);
    }
}

impl Preceding<'_> {
    /// Returns whether a pipeline consists of such a command, and fails if that fails.
    fn is_only_command(&self, pipeline: &ShellPipeline<'_>) -> bool {
        let [command] = &pipeline.commands[..] else {
            return false;
        };
        match &command.kind {
            CommandKind::Simple(simple) if !pipeline.negated => (self.is_it)(simple),
            _ => false,
        }
    }
}
