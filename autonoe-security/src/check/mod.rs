//! Judges scripts by a policy.
//!
//! [`walk`] traverses the syntax tree and finds every command. [`resolve`] turns its words into
//! arguments, with the facts about variables that [`survey`] collects. [`judge`] determines the
//! program and calls its check in [`builtins`] or [`commands`].

mod arg;
mod assignments;
mod backup_suffix;
mod braces;
mod build_output;
mod builtins;
mod call;
mod command_path;
mod commands;
mod conditions;
mod context;
mod credentials;
mod devices;
mod directories;
mod extensions;
mod file_use;
mod git_hashes;
mod judge;
mod known_values;
mod names;
mod nested;
mod numeric;
mod option_safe;
pub(crate) mod options;
pub(crate) mod path;
mod path_pattern;
mod pipes;
mod plain_values;
mod preceding;
mod process_memory;
mod processes;
mod protected_state;
mod redirects;
mod remedy;
mod report;
mod resolve;
mod scope;
mod search_args;
mod spelled_options;
mod survey;
mod symlinks;
mod temporary;
mod text;
mod walk;
mod write_target;

use self::context::Context;
use self::directories::Directories;
use self::report::Report;
use self::scope::{Inherited, Scope};
use crate::policy::Policy;
use crate::syntax::{SyntaxError, SyntaxErrorKind, parse};
use crate::{Denial, ResolveSymlinks, Rule, Verdict};

pub(crate) use self::call::Known;
pub(crate) use self::commands::built_in as built_in_commands;
pub use self::commands::{is_reading_awk_program, is_reading_program, is_reading_sed_script};
pub(crate) use self::credentials::may_contain_credentials;
pub(crate) use self::extensions::cannot_be_added;
pub(crate) use self::names::Names;
pub use self::path::is_sessions_folder;
pub use self::report::{Finding, InnerCommand};

/// Judges `command` by `policy`.
pub(crate) fn check(
    policy: &Policy,
    links: Option<&dyn ResolveSymlinks>,
    command: &str,
) -> Verdict {
    let here = start(policy, links);
    match judge_text(policy, links, command, here, 0, Inherited::default()) {
        Ok(()) => Verdict::Allow,
        Err(denial) => Verdict::Deny(denial),
    }
}

/// Judges every command in `command`, also after the first denial.
pub(crate) fn explain(
    policy: &Policy,
    links: Option<&dyn ResolveSymlinks>,
    command: &str,
) -> Result<Vec<Finding>, Denial> {
    let script = parse(command).map_err(|error| not_understood(&error))?;
    let scope = Scope::new(command, &script, Inherited::default());
    let report = Report::all();
    let context = Context {
        policy,
        scope: &scope,
        report: &report,
        links,
        depth: 0,
    };
    let mut here = start(policy, links);
    let judged = context.script(scope.script(), &mut here);
    report.other(script.span, judged)?;
    Ok(report.into_findings())
}

/// Returns the initial directory of a command: the root of the project.
///
/// The link to the project counts only while it leads there.
fn start<'p>(policy: &'p Policy, links: Option<&'p dyn ResolveSymlinks>) -> Directories<'p> {
    let project = policy.project_dir();
    let leads_there = |link: &&str| {
        links.is_none_or(|links| {
            let target = links.resolve(link);
            target.is_some() && target == links.resolve(project)
        })
    };
    Directories::at(project)
        .link(policy.project_link().filter(leads_there))
        .symlinks(links)
}

fn judge_text(
    policy: &Policy,
    links: Option<&dyn ResolveSymlinks>,
    text: &str,
    here: Directories<'_>,
    depth: usize,
    inherited: Inherited,
) -> Result<(), Denial> {
    let script = parse(text).map_err(|error| not_understood(&error))?;
    let scope = Scope::new(text, &script, inherited);
    let context = Context {
        policy,
        scope: &scope,
        report: &Report::first(),
        links,
        depth,
    };
    let mut here = here;
    context.script(scope.script(), &mut here)
}

fn not_understood(error: &SyntaxError) -> Denial {
    let (rule, instead) = match error.kind {
        SyntaxErrorKind::TooLong | SyntaxErrorKind::TooMany | SyntaxErrorKind::TooDeep => {
            (Rule::R1, "split it into several commands")
        }
        SyntaxErrorKind::ForbiddenCharacter => (Rule::R2, "write it without control characters"),
        SyntaxErrorKind::Unsupported(_) => (
            Rule::R3,
            "write the commands one after another, or put them into a script of the project",
        ),
        _ => (Rule::R3, "check the quotes and brackets"),
    };
    Denial::by(rule, error.span, error.to_string()).instead(instead)
}
