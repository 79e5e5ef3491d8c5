//! One command and its arguments, for whoever judges them.

use super::arg::Arg;
use super::context::Context;
use super::directories::Directories;
use super::write_target::{self, Root};
use super::{option_safe, path};
use crate::policy::{Mode, Policy, Profile};
use crate::syntax::{Assignment, Span};
use crate::{Denial, Rule};

/// What a check finds: nothing, or why not.
pub(crate) type Checked = Result<(), Denial>;

/// Judges the arguments of a command whose name is allowed.
pub(crate) type Validator = fn(&Call<'_, '_, '_>) -> Checked;

/// What the policy knows of a name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    /// The shell carries it out by itself.
    pub(crate) builtin: Option<Validator>,
    pub(crate) program: Option<Program>,
    /// Its arguments are read at most. What a few of them write is judged by their validators.
    pub(crate) only_reads: bool,
}

/// What the policy knows of a program.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) owner: Owner,
    /// Judges its arguments; in sync mode, for what belongs to a profile, `in_sync` does.
    pub(crate) check: Validator,
    pub(crate) in_sync: Validator,
}

/// To whom a command belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Every project, in both modes.
    Base,
    /// Every project, in both modes; with any arguments once the operator has added it.
    Openable,
    /// Nobody, apart from printing its version; as [`Self::Openable`] once it was added.
    VersionOnly,
    /// Every project, in run mode.
    RunMode,
    /// Every project, in run mode with destructive commands.
    Destructive,
    /// A language.
    Profile(Profile),
}

/// One command and its arguments.
pub(crate) struct Call<'c, 'w, 's> {
    pub(crate) context: &'c Context<'w, 's>,
    /// Where it may run.
    pub(crate) here: &'c Directories<'w>,
    /// Its name, without a folder.
    pub(crate) name: &'c str,
    /// What the policy knows of the name.
    pub(crate) known: Option<&'w Known>,
    /// Where the name stands.
    pub(crate) span: Span,
    /// What follows the name.
    pub(crate) args: &'c [Arg<'s>],
    /// Whether the name is written without quotes, so that the shell knows a declaration by it.
    pub(crate) is_bare: bool,
    /// Arrays that are handed to a declaration.
    pub(crate) arrays: &'c [&'s Assignment<'s>],
    /// Variables that a wrapper in front sets or unsets.
    pub(crate) handed: &'c [String],
    /// How many wrappers stand in front.
    pub(crate) depth: usize,
}

impl<'w, 's> Call<'_, 'w, 's> {
    pub(crate) fn policy(&self) -> &Policy {
        self.context.policy
    }

    pub(crate) fn mode(&self) -> Mode {
        self.context.policy.mode()
    }

    /// Returns whether it reads its arguments at most, so that it may mention the state.
    pub(crate) fn only_reads(&self) -> bool {
        self.known.is_some_and(|known| known.only_reads)
    }

    /// Returns whether it is a tool of a language profile.
    pub(crate) fn is_of_profile(&self) -> bool {
        let program = self.known.and_then(|known| known.program);
        program.is_some_and(|program| matches!(program.owner, Owner::Profile(_)))
    }

    /// Makes a denial about the whole command.
    pub(crate) fn deny(&self, rule: Rule, reason: impl Into<String>) -> Denial {
        Denial::by(rule, self.span, reason.into())
    }

    /// Makes the denial of an option.
    pub(crate) fn deny_flag(&self, rule: Rule, flag: &str, span: Span) -> Denial {
        let reason = format!("Flag '{flag}' is not allowed with {}", self.name);
        Denial::by(rule, span, reason).instead("run it without the flag")
    }

    /// Makes the denial of an argument that may turn into an option.
    pub(crate) fn deny_dynamic(&self, arg: &Arg<'_>) -> Denial {
        let reason = format!("an argument of {} is not known before it runs", self.name);
        let instead = match self.name {
            _ if self.splits_into_more(arg) => "put it into quotes, behind static text",
            "find" => "begin it with static text such as ./",
            "git" => "set it to literal text in this command, or begin it with static text",
            _ => "put -- before it, or begin it with static text such as ./",
        };
        Denial::by(Rule::R21, arg.span, reason).instead(instead)
    }

    /// Checks that no pattern in front of `--` can match a file whose name is an option.
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
    pub(crate) fn write_target(&self, target: &Arg<'_>, root: Root) -> Checked {
        write_target::check(self.context, self.here, target, root)
    }

    /// Checks that a tool may put what it makes, a report or a binary, where `target` says.
    pub(crate) fn product(&self, target: &Arg<'_>) -> Checked {
        write_target::check_product(self.context, self.here, target)
    }

    /// Tells whether `arg` can never be taken for an option.
    pub(crate) fn is_option_safe(&self, arg: &Arg<'_>) -> bool {
        option_safe::is_option_safe(self.context.scope, arg)
    }

    /// Tells whether `arg` may become several arguments.
    pub(crate) fn splits_into_more(&self, arg: &Arg<'_>) -> bool {
        option_safe::splits_into_more(self.context.scope, arg)
    }

    /// Tells whether `arg` is one argument whatever its expansions yield.
    pub(crate) fn stays_one_word(&self, arg: &Arg<'_>) -> bool {
        option_safe::stays_one_word(self.context.scope, arg)
    }

    /// Returns the text of `arg` with a plain name in place of every variable, if the script sets
    /// them to nothing but plain names.
    pub(crate) fn with_plain_names(&self, arg: &Arg<'_>) -> Option<String> {
        option_safe::with_plain_names(self.context.scope, arg)
    }

    /// Returns whether every expansion in `arg` yields at most one word, also without quotes.
    pub(crate) fn expands_to_words(&self, arg: &Arg<'_>) -> bool {
        option_safe::expands_to_words(self.context.scope, arg)
    }

    /// Tells whether `arg`, the value of an option, may vanish or become several arguments.
    pub(crate) fn may_shift(&self, arg: &Arg<'_>) -> bool {
        option_safe::may_shift(self.context.scope, arg)
    }

    /// Tells whether one of the arguments is exactly `text`.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.args.iter().any(|arg| arg.is(text))
    }

    /// Tells whether `place` lies inside the project, in every directory that is possible.
    pub(crate) fn is_in_project(&self, path: &str) -> bool {
        let project = self.policy().project_dir();
        self.here
            .every_place(path, |place| path::is_within(place, project))
    }

    /// Tells whether `path` lies inside the project or below `/tmp`.
    pub(crate) fn is_in_reach(&self, path: &str) -> bool {
        let project = self.policy().project_dir();
        self.here.every_place(path, |place| {
            path::is_within(place, project) || path::is_within(place, "/tmp")
        })
    }
}
