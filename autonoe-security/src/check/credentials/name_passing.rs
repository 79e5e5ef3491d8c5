//! Constructs that turn the output or the arguments of one command into arguments of another.

use crate::check::arg::mention;
use crate::check::path;
use crate::check::scope::{Fact, Scope};
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{ArgWord, Parameter, Script, SimpleCommand, Word};

/// Programs and builtins that read names or start a script. Wrappers may precede them, so they
/// count as any word of a command.
const READERS: &[&str] = words!("bash mapfile parallel read readarray sh trap xargs");

/// Long options with a list of names, which tools also accept abbreviated.
const LISTS: &[&str] = words!("--files0-from --files-from --stdin-paths -files0-from");

/// Substitutions, as they must be written.
const SUBSTITUTIONS: [&str; 3] = ["$(", "`", "<("];

/// Returns whether a script passes names printed by one command to another.
pub(super) fn passes_names(scope: &Scope<'_>) -> bool {
    scope.fact(Fact::PassesNames, |text| {
        scope.is_nested()
            || SUBSTITUTIONS.iter().any(|sign| text.contains(sign))
            || Finder::search(scope.script()).passes_names
            || reuses_arguments(scope)
    })
}

/// Returns whether a script uses arguments of an earlier command, with `$_` or a variable that the
/// shell sets from them.
pub(super) fn reuses_arguments(scope: &Scope<'_>) -> bool {
    scope.fact(Fact::ReusesArguments, |text| {
        mentions_last_argument(text) || Finder::search(scope.script()).reuses_arguments
    })
}

/// Returns whether text for another shell, such as that of a trap, uses such a variable.
fn mentions_last_argument(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut signs = ["$_", "${_", "$BASH_", "${BASH_"].into_iter();
    signs.any(|sign| {
        text.match_indices(sign).any(|(at, _)| {
            let behind = text[at + sign.len()..].chars().next();
            sign.ends_with("BASH_") || !behind.is_some_and(is_part)
        })
    })
}

#[derive(Default)]
struct Finder {
    passes_names: bool,
    reuses_arguments: bool,
}

impl Finder {
    fn search(script: &Script<'_>) -> Self {
        let mut finder = Self::default();
        finder.script(script);
        finder
    }

    fn read(&mut self, word: &Word<'_>) {
        self.passes_names |= mention(&word.parts, |text| {
            READERS.contains(&path::file_name(text)) || is_list(text)
        });
        self.reuses_arguments |= mention(&word.parts, mentions_last_argument);
    }
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Finder {
    fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
        let mut prints = false;
        for word in &simple.words {
            if let ArgWord::Word(word) = word {
                self.read(word);
                prints |= word.static_text().as_deref() == Some("printf");
                let is_variable = |text: &str| text.starts_with("-v");
                self.passes_names |= prints && mention(&word.parts, is_variable);
            }
        }
        visit::simple(self, simple);
    }

    fn parameter(&mut self, parameter: &'t Parameter<'a>) {
        let name = parameter.name.as_ref();
        let is_last = name == "_" || name.starts_with("BASH_");
        self.reuses_arguments |= is_last;
        self.passes_names |= words!("COPROC DIRSTACK MAPFILE OPTARG REPLY").contains(&name);
        visit::parameter(self, parameter);
    }
}

/// Returns whether an option may be one with a list of names.
fn is_list(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    name.len() > 2 && name.starts_with('-') && LISTS.iter().any(|list| list.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::scope::Inherited;
    use crate::syntax::parse;

    fn facts(text: &str) -> (bool, bool) {
        let script = parse(text).expect("it parses");
        let scope = Scope::new(text, &script, Inherited::default());
        (passes_names(&scope), reuses_arguments(&scope))
    }

    #[test]
    fn names_are_passed_however_the_construct_is_written() {
        for text in [
            "ls | x\\args cat",
            "ls | 'xargs' cat",
            "ls | $'\\x78args' cat",
            "ls | /usr/bin/xargs cat",
            "ls | timeout 5 xargs cat",
            "ls | { read; cat \"$REPLY\"; }",
            "ls | while r\\ead f; do cat \"$f\"; done",
            "mapfile -t a; cat \"${a[0]}\"",
            "printf -v f %s x; cat \"$f\"",
            "printf '-vf' %s x; cat \"$f\"",
            "cat \"$(ls)\"",
            "cat <(ls)",
            "wc --files0=-",
            "du --files0-from=\"$x\"",
            "bash -c 'ls'",
        ] {
            assert_eq!(facts(text), (true, false), "{text}");
        }
        for text in [
            "ls x; cat \"$_\"",
            "ls x; cat ${_}",
            "trap 'cat \"$_\"' EXIT",
        ] {
            assert_eq!(facts(text), (true, true), "{text}");
        }
    }

    #[test]
    fn plain_commands_pass_no_names() {
        for text in [
            "ls -la; echo \"$x\"",
            "grep -r reading src",
            "echo \"$_x ${__y}\"",
        ] {
            assert_eq!(facts(text), (false, false), "{text}");
        }
    }
}
