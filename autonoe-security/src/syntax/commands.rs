//! Iterates over every simple command of a syntax tree, at any depth.

use super::visit::{self, Visitor};
use super::{Command, Script, SimpleCommand};

/// Returns every simple command that `script` could run, in the order of the text.
///
/// This includes all nested commands: in compound commands, substitutions in any kind of quotes,
/// operands of expansions, subscripts, array elements, here-documents, targets of redirections,
/// conditions and arithmetic. A command precedes the commands that are nested in its words.
///
/// ```
/// use autonoe_security::syntax::{commands, parse};
///
/// let script = parse("A=$(one) two > \"${x:-`three`}\" <<EOF\n$(four)\nEOF")?;
///
/// let names: Vec<_> = commands(&script)
///     .filter_map(|command| command.words.first()?.static_text())
///     .collect();
/// assert_eq!(names, ["two", "one", "three", "four"]);
/// # Ok::<(), autonoe_security::syntax::SyntaxError>(())
/// ```
pub fn commands<'t, 'a>(script: &'t Script<'a>) -> impl Iterator<Item = &'t SimpleCommand<'a>> {
    let mut found = Found(Vec::new());
    found.script(script);
    found.0.into_iter()
}

/// Returns every simple command that `command` could run, like [`commands`].
pub(crate) fn commands_in<'t, 'a>(
    command: &'t Command<'a>,
) -> impl Iterator<Item = &'t SimpleCommand<'a>> {
    let mut found = Found(Vec::new());
    found.command(command);
    found.0.into_iter()
}

/// The commands found so far.
struct Found<'t, 'a>(Vec<&'t SimpleCommand<'a>>);

impl<'t, 'a: 't> Visitor<'t, 'a> for Found<'t, 'a> {
    fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
        self.0.push(simple);
        visit::simple(self, simple);
    }
}
