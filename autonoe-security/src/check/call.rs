//! A command call: its name, arguments and context, as passed to the checks.

use super::arg::Arg;
use super::context::Context;
use super::directories::Directories;
use super::write_target::{self, Root};
use super::{option_safe, path, plain_values};
use crate::policy::{Mode, Policy, Profile};
use crate::syntax::{Assignment, Span, Word};
use crate::{Denial, Rule};

/// The result of a check: nothing, or a denial.
pub(crate) type Checked = Result<(), Denial>;

/// Judges the arguments of a command whose name is allowed.
pub(crate) type Validator = fn(&Call<'_, '_, '_>) -> Checked;

/// The policy's entry for a name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    /// Set if the name is a shell builtin.
    pub(crate) builtin: Option<Validator>,
    pub(crate) program: Option<Program>,
    /// Whether the command at most reads its arguments. Validators judge the writes of a few of
    /// them.
    pub(crate) only_reads: bool,
}

/// The policy's entry for a program.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) owner: Owner,
    /// Judges the arguments. In sync mode, `in_sync` judges programs of a profile instead.
    pub(crate) check: Validator,
    pub(crate) in_sync: Validator,
}

/// The owner of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Every project, in both modes.
    Base,
    /// Every project, in both modes; with any arguments once the operator has added it.
    Openable,
    /// No project, apart from printing its version; like [`Self::Openable`] once it is added.
    VersionOnly,
    /// Every project, in run mode.
    RunMode,
    /// Every project, in run mode with destructive commands allowed.
    Destructive,
    /// A language profile.
    Profile(Profile),
}

/// One command and its arguments.
pub(crate) struct Call<'c, 'w, 's> {
    pub(crate) context: &'c Context<'w, 's>,
    /// The possible working directories.
    pub(crate) directories: &'c Directories<'w>,
    /// The name, without a folder.
    pub(crate) name: &'c str,
    /// The policy's entry for the name.
    pub(crate) known: Option<&'w Known>,
    /// The position of the name.
    pub(crate) span: Span,
    /// The arguments after the name.
    pub(crate) args: &'c [Arg<'s>],
    /// Whether the name is unquoted, so that the shell recognises a declaration by it.
    pub(crate) is_bare: bool,
    /// Arrays passed to a declaration.
    pub(crate) arrays: &'c [&'s Assignment<'s>],
    /// Variables that an enclosing wrapper sets or unsets.
    pub(crate) wrapper_variables: &'c [String],
    /// The input, if it is a literal here-document.
    pub(crate) input: Option<&'s str>,
    /// The file that the input is redirected from, if there is no other input.
    pub(crate) input_file: Option<&'s Word<'s>>,
    /// Patterns for the names that it reads from its input, if a search prints only such names.
    pub(crate) found_names: &'c [Arg<'s>],
    /// The number of enclosing wrappers.
    pub(crate) depth: usize,
}

impl<'w, 's> Call<'_, 'w, 's> {
    pub(crate) fn policy(&self) -> &Policy {
        self.context.policy
    }

    pub(crate) fn mode(&self) -> Mode {
        self.context.policy.mode()
    }

    /// Returns whether it at most reads its arguments, so that it may mention the state.
    pub(crate) fn only_reads(&self) -> bool {
        self.known.is_some_and(|known| known.only_reads)
    }

    /// Returns whether it is a tool of a language profile.
    pub(crate) fn is_profile_tool(&self) -> bool {
        let program = self.known.and_then(|known| known.program);
        program.is_some_and(|program| matches!(program.owner, Owner::Profile(_)))
    }

    /// Creates a denial of the whole command.
    pub(crate) fn deny(&self, rule: Rule, reason: impl Into<String>) -> Denial {
        Denial::by(rule, self.span, reason.into())
    }

    /// Creates the denial of an option.
    pub(crate) fn deny_flag(&self, rule: Rule, flag: &str, span: Span) -> Denial {
        let reason = format!("Flag '{flag}' is not allowed with {}", self.name);
        Denial::by(rule, span, reason).instead("run it without the flag")
    }

    /// Creates the denial of an argument that may turn into an option.
    pub(crate) fn deny_dynamic(&self, arg: &Arg<'_>) -> Denial {
        let reason = format!("an argument of {} is unknown until it runs", self.name);
        let instead = match self.name {
            _ if self.splits_into_more(arg) => "put it into quotes, after static text",
            "find" => "begin it with static text such as ./",
            "git" => "set it to literal text in this command, or begin it with static text",
            _ => "put -- before it, or begin it with static text such as ./",
        };
        Denial::by(Rule::R21, arg.span, reason).instead(instead)
    }

    /// Checks that no pattern before `--` can match a file whose name is an option.
    pub(crate) fn check_patterns(&self) -> Checked {
        let mut args = self.args.iter().take_while(|arg| !arg.is("--"));
        match args.find(|arg| arg.globs.first() == Some(&0)) {
            Some(arg) => {
                let reason = format!("'{}' may match a file whose name is an option", arg.text);
                Err(Denial::by(Rule::R21, arg.span, reason)
                    .instead("begin the pattern with ./, as in ./*.txt"))
            }
            None => Ok(()),
        }
    }

    /// Checks that the command may write to the file that `target` names.
    pub(crate) fn check_write_target(&self, target: &Arg<'_>, root: Root) -> Checked {
        write_target::check(self.context, self.directories, target, root)
    }

    /// Checks that a tool may write its output, a report or a binary, to `target`.
    pub(crate) fn check_output(&self, target: &Arg<'_>) -> Checked {
        write_target::check_product(self.context, self.directories, target)
    }

    /// Returns whether `arg` can never be an option.
    pub(crate) fn is_option_safe(&self, arg: &Arg<'_>) -> bool {
        option_safe::is_option_safe(self.context.scope, arg)
    }

    /// Returns whether `arg` may become several arguments.
    pub(crate) fn splits_into_more(&self, arg: &Arg<'_>) -> bool {
        option_safe::splits_into_more(self.context.scope, arg)
    }

    /// Returns whether `arg` is one argument whatever its expansions yield.
    pub(crate) fn stays_one_word(&self, arg: &Arg<'_>) -> bool {
        option_safe::stays_one_word(self.context.scope, arg)
    }

    /// Returns the path that `arg` names, if all expansions in it are numbers and plain names.
    pub(crate) fn with_plain_names(&self, arg: &Arg<'_>) -> Option<String> {
        plain_values::named_path(self.context.scope, arg)
    }

    /// Returns whether every expansion in `arg` yields at most one word, even without quotes.
    pub(crate) fn expands_to_words(&self, arg: &Arg<'_>) -> bool {
        option_safe::expands_to_words(self.context.scope, arg)
    }

    /// Returns whether `arg`, the value of an option, may vanish or become several arguments.
    pub(crate) fn may_shift(&self, arg: &Arg<'_>) -> bool {
        option_safe::may_shift(self.context.scope, arg)
    }

    /// Returns whether one of the arguments is exactly `text`.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.args.iter().any(|arg| arg.is(text))
    }

    /// Returns whether `path` is inside the project, from every possible directory.
    pub(crate) fn is_in_project(&self, path: &str) -> bool {
        let project = self.policy().project_dir();
        self.directories
            .all_locations(path, |place| path::is_within(place, project))
    }

    /// Returns whether `path` is inside the project or below `/tmp`.
    pub(crate) fn is_in_reach(&self, path: &str) -> bool {
        let project = self.policy().project_dir();
        self.directories.all_locations(path, |place| {
            path::is_within(place, project) || path::is_within(place, "/tmp")
        })
    }
}
