//! `git`: version control without the options that run other programs.

mod config;
mod denied_options;
mod destructive;
mod globals;
mod nested_subcommand;
mod outputs;
mod parsed_args;
mod protected;
mod ref_names;
mod spelling;
mod strategies;
mod subcommands;
mod sync_mode;
mod tables;
mod target_dirs;
mod urls;
mod value_prefix;
mod word_splitting;

use self::parsed_args::ParsedArgs;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::directories::Directories;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// The variable that passes the setting `safe.bareRepository` to agents.
pub(super) const SETTINGS: &str = "GIT_CONFIG_COUNT";

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let is_removed = call.wrapper_variables.iter().any(|name| name == SETTINGS);
    if is_removed || call.context.scope.inherits(SETTINGS) {
        return Err(call
            .deny(Rule::R85, "env -i takes settings away that protect git")
            .instead("take single variables away: env -u NAME git .."));
    }
    let (here, rest) = globals::read(call)?;
    let Some((subcommand, args)) = rest.split_first() else {
        return Ok(());
    };
    let Some(name) = subcommand.known() else {
        let reason = "the subcommand of git is unknown until it runs";
        return Err(Denial::by(Rule::R21, subcommand.span, reason).instead("write it literally"));
    };
    if !subcommands::is_allowed(name) {
        let reason = format!("git {name} is not allowed");
        return Err(Denial::by(Rule::R41, subcommand.span, reason)
            .instead("use a subcommand of git that is no alias and starts no other program"));
    }
    if name == "config" {
        return config::check(call, subcommand, args);
    }
    if name == "bisect" && call.mode() == Mode::Run {
        let mut words = args.iter().enumerate();
        let first = words.find(|(_, arg)| !arg.text.starts_with('-'));
        if let Some((at, _)) = first.filter(|(_, arg)| arg.is("run")) {
            return call.inner_in(args.get(at + 1..).unwrap_or_default(), &here);
        }
        // A git subcommand follows, unless it is an option of git log.
        if let Some((at, view)) = first.filter(|(_, arg)| arg.is("view") || arg.is("visualize"))
            && args
                .get(at + 1)
                .is_some_and(|next| !next.text.starts_with('-'))
        {
            let reason = format!("git bisect {} would run another command", view.text);
            return Err(
                Denial::by(Rule::R41, view.span, reason).instead("use it with options only")
            );
        }
    }
    let git = Git {
        call,
        here: &here,
        name,
        subcommand,
        args,
        read: ParsedArgs::parse(call, name, args)?,
    };
    nested_subcommand::check(&git)?;
    ref_names::check(&git)?;
    denied_options::check(&git)?;
    strategies::check(&git)?;
    outputs::check(&git)?;
    target_dirs::check(&git)?;
    protected::check(&git)?;
    urls::check(&git)?;
    destructive::check(&git)?;
    match call.mode() {
        Mode::Sync => sync_mode::check(&git),
        Mode::Run => Ok(()),
    }
}

/// A subcommand of git and its arguments.
struct Git<'g, 'c, 'w, 's> {
    call: &'g Call<'c, 'w, 's>,
    /// The working directories after `-C`.
    here: &'g Directories<'w>,
    name: &'g str,
    subcommand: &'g Arg<'s>,
    args: &'g [Arg<'s>],
    /// The parsed arguments.
    read: ParsedArgs<'g, 's>,
}

impl Git<'_, '_, '_, '_> {
    fn deny(&self, rule: Rule, reason: impl Into<String>) -> Denial {
        Denial::by(rule, self.subcommand.span, reason.into())
    }

    fn deny_flag(&self, rule: Rule, flag: &str, arg: &Arg<'_>) -> Denial {
        let reason = format!("Flag '{flag}' is not allowed with git {}", self.name);
        Denial::by(rule, arg.span, reason).instead("run it without the flag")
    }
}
