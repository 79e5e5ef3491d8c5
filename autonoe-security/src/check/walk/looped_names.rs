//! Names of commands that are the variable of a `for` over literal names.

use crate::check::braces;
use crate::check::context::Context;
use crate::check::survey::MOST_VALUES;
use crate::check::text::has_only;
use crate::syntax::{ArgWord, Part, SimpleCommand, static_text};

/// Arguments that only ask a program for its version or its help. Other arguments could depend on
/// the name, as those of builtins do.
const QUESTIONS: &[&str] = words!("--version -version -V version --help");

/// Returns the possible names of `$name --version` in a `for` over literal names; `None` for every
/// other command.
pub(super) fn read(context: &Context<'_, '_>, simple: &SimpleCommand<'_>) -> Option<Vec<String>> {
    let [ArgWord::Word(first), question] = &simple.words[..] else {
        return None;
    };
    let part = match &first.parts[..] {
        [part @ Part::Parameter(_)] => part,
        [Part::DoubleQuoted(inner)] => match &inner[..] {
            [part @ Part::Parameter(_)] => part,
            _ => return None,
        },
        _ => return None,
    };
    let is_question = question
        .static_text()
        .is_some_and(|text| QUESTIONS.contains(&text.as_ref()));
    if !is_question || !simple.assignments.is_empty() {
        return None;
    }
    let mut names = Vec::new();
    for word in context.scope.loop_words(part, first.span.start())? {
        for parts in braces::expand(&word.parts)? {
            let name = static_text(&parts)?.into_owned();
            let known = context.policy.known(&name);
            let is_builtin = known.is_some_and(|known| known.builtin.is_some());
            if names.len() == MOST_VALUES || !is_plain(&name) || is_builtin {
                return None;
            }
            names.push(name);
        }
    }
    let is_available = context.scope.reserve_args(names.len());
    Some(names).filter(|names| !names.is_empty() && is_available)
}

/// Returns whether the shell takes `name` for the name of one program in its search path.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && has_only(name, "._+-")
}
