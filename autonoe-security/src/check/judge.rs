//! Judges a command by its name and arguments.

use super::arg::Arg;
use super::call::{Call, Checked, Owner, Program, Validator};
use super::command_path::{self, CommandName};
use super::commands::{own_args, version_probe, wrapper};
use super::context::Context;
use super::directories::Directories;
use super::{
    builtins, credentials, devices, extensions, known_values, process_memory, protected_state,
    remedy, spelled_options,
};
use crate::policy::{Mode, Profile};
use crate::syntax::{Assignment, Word};
use crate::{Denial, Rule};

/// Maximum number of wrappers around a command: `timeout 5 command env ..`.
pub(crate) const MOST_WRAPPERS: usize = 8;

/// A command with its arguments.
pub(crate) struct Argv<'c, 'w, 's> {
    pub(crate) context: &'c Context<'w, 's>,
    pub(crate) directories: &'c Directories<'w>,
    pub(crate) args: &'c [Arg<'s>],
    pub(crate) arrays: &'c [&'s Assignment<'s>],
    /// Variables that a wrapper sets or unsets for it.
    pub(crate) wrapper_variables: &'c [String],
    /// Its input, if that is a literal here-document.
    pub(crate) input: Option<&'s str>,
    /// The file that its input is redirected from, if there is no other input.
    pub(crate) input_file: Option<&'s Word<'s>>,
    /// Patterns for the names in its input, if they are known.
    pub(crate) found_names: &'c [Arg<'s>],
    pub(crate) depth: usize,
}

/// An allowed command.
pub(crate) struct Judged<'c, 'w> {
    /// The name that it was judged by.
    pub(crate) name: &'c str,
    /// The directories of the shell afterwards, if they changed.
    pub(crate) new_directories: Option<Directories<'w>>,
}

impl<'c, 'w, 's> Argv<'c, 'w, 's> {
    /// Judges the command, or returns its denial.
    pub(crate) fn judge(&self) -> Result<Judged<'c, 'w>, Denial> {
        let Some((first, args)) = self.args.split_first() else {
            return Ok(Judged {
                name: "",
                new_directories: None,
            });
        };
        if self.depth > MOST_WRAPPERS {
            let reason = format!("the command has more than {MOST_WRAPPERS} nested wrappers");
            return Err(Denial::by(Rule::R1, first.span, reason).instead("start it directly"));
        }
        let written = written_name(first)?;
        let call = |name: &'c str| Call {
            context: self.context,
            directories: self.directories,
            name,
            known: self.context.policy.known(name),
            span: first.span,
            args,
            is_bare: first.parts.is_empty() && self.depth == 0,
            arrays: self.arrays,
            wrapper_variables: self.wrapper_variables,
            input: self.input,
            input_file: self.input_file,
            found_names: self.found_names,
            depth: self.depth,
        };
        if written.is_empty() {
            return if args.is_empty() {
                Ok(Judged {
                    name: "",
                    new_directories: None,
                })
            } else {
                Err(
                    Denial::by(Rule::R5, first.span, "the name of the command is empty")
                        .instead("name the command"),
                )
            };
        }
        let has_folder = written.contains('/');
        let named = if has_folder {
            command_path::resolve_name(&call(written), written)?
        } else {
            CommandName::Program(written)
        };
        let name = match named {
            CommandName::Script => {
                check_places(&call(written))?;
                return Ok(Judged {
                    name: written,
                    new_directories: None,
                });
            }
            CommandName::Added(name) => {
                let call = call(name);
                extensions::check(&call)?;
                check_places(&call)?;
                return Ok(Judged {
                    name,
                    new_directories: None,
                });
            }
            CommandName::Program(name) => name,
        };
        let call = call(name);
        let mut moved = None;
        if name == "cd" && !has_folder {
            moved = Some(builtins::enter(&call)?);
        } else if name == "command" && !has_folder {
            if let Some(inner) = builtins::command_operand(&call)? {
                let argv = Self {
                    args: inner,
                    depth: self.depth + 1,
                    ..*self
                };
                let judged = argv.judge()?;
                check_places(&call)?;
                return Ok(judged);
            }
        } else {
            check(&call, written)?;
        }
        check_places(&call)?;
        Ok(Judged {
            name,
            new_directories: moved,
        })
    }
}

impl<'w, 's> Call<'_, 'w, 's> {
    /// Judges a command that this one starts.
    pub(crate) fn inner(&self, args: &[Arg<'s>]) -> Checked {
        self.start(args, self.directories, self.wrapper_variables)
    }

    /// Judges a command that this one starts in another directory.
    pub(crate) fn inner_in(&self, args: &[Arg<'s>], here: &Directories<'w>) -> Checked {
        self.start(args, here, self.wrapper_variables)
    }

    /// Judges a command that this one starts in another directory with other values of `handed`.
    pub(crate) fn start(
        &self,
        args: &[Arg<'s>],
        here: &Directories<'w>,
        handed: &[String],
    ) -> Checked {
        let argv = Argv {
            context: self.context,
            directories: here,
            args,
            arrays: &[],
            wrapper_variables: handed,
            input: None,
            input_file: None,
            found_names: &[],
            depth: self.depth + 1,
        };
        argv.judge().map(|_moved| ())
    }
}

/// Checks the working directories and the named locations, for every command.
fn check_places(call: &Call<'_, '_, '_>) -> Result<(), Denial> {
    stays_inside(call)?;
    protects_state(call)?;
    process_memory::check_arguments(call)?;
    devices::check_arguments(call)?;
    credentials::check_arguments(call)
}

fn check(call: &Call<'_, '_, '_>, written: &str) -> Result<(), Denial> {
    let policy = call.policy();
    let is_added = extensions::is_added(policy, call.name, written);
    if let Some(builtin) = call.known.and_then(|known| known.builtin)
        && !written.contains('/')
    {
        return if is_added && extensions::is_free_builtin(call.name) {
            Ok(())
        } else {
            builtin(call)
        };
    }
    match call.known.and_then(|known| known.program) {
        Some(program) => check_program(call, program, is_added),
        None if is_added => extensions::check(call),
        None => Err(extensions::not_in_allowlist(call)),
    }
}

fn check_program(call: &Call<'_, '_, '_>, program: Program, is_added: bool) -> Result<(), Denial> {
    let in_sync = call.mode() == Mode::Sync;
    match program.owner {
        Owner::Openable | Owner::VersionOnly if is_added => extensions::check(call),
        Owner::Base | Owner::Openable | Owner::VersionOnly => (program.check)(call),
        Owner::RunMode if in_sync => Err(call
            .deny(
                Rule::R63,
                format!(
                    "Command '{}' is not in the allowlist in sync mode",
                    call.name
                ),
            )
            .instead("verify without changing files")),
        Owner::RunMode => (program.check)(call),
        Owner::Destructive if call.policy().allows_destructive() => (program.check)(call),
        Owner::Destructive => {
            let reason = format!("Command '{}' is not in the allowlist", call.name);
            let mut denial = call.deny(Rule::R60, reason).instead(match call.mode() {
                Mode::Run => "use git rm or git mv for tracked files, and leave others in place",
                Mode::Sync => "verify without changing files",
            });
            denial.remedy = remedy::destructive(call.policy());
            Err(denial)
        }
        Owner::Profile(profile) => check_tool(call, program, profile, is_added),
    }
}

fn check_tool(
    call: &Call<'_, '_, '_>,
    program: Program,
    profile: Profile,
    is_added: bool,
) -> Result<(), Denial> {
    // These had no rules before they had a profile.
    if is_added && matches!(profile, Profile::Java | Profile::C) {
        return extensions::check(call);
    }
    // In sync mode, adding a command allows everything that run mode allows.
    let check = if call.mode() == Mode::Sync && !is_added {
        program.in_sync
    } else {
        program.check
    };
    // The specification lists `bun test` for Node projects too.
    if is_added || (!call.policy().is_active(profile) && is_bun_test(call)) {
        return check(call);
    }
    if call.policy().is_active(profile) {
        return with_known_values(call, check);
    }
    if version_probe::is_query(call) {
        return Ok(());
    }
    let reason = format!("Command '{}' is not in the allowlist", call.name);
    let mut denial = call
        .deny(Rule::R7, reason)
        .instead("use the tools of the project's own languages");
    denial.remedy = remedy::profile(profile);
    Err(denial)
}

/// Tools that install, build or empty folders, and so have options with broad effects.
const BUILDERS: &[&str] = words!(
    "bun bundle bundler cargo composer conda deno gem go hatch nox npm pdm pip pip3 pipenv pipx",
    "pnpm poetry pytest rustc rustup tox tsc uv vite webpack yarn",
);

/// Judges a command as written, and with each value that the script assigns to its variables.
fn with_known_values(call: &Call<'_, '_, '_>, check: Validator) -> Result<(), Denial> {
    check(call)?;
    let is_input = |arg: &&Arg<'_>| {
        let is_given = arg.unknown.is_some_and(|unknown| unknown.part.is_none());
        is_given && arg.text.is_empty() && arg.parts.is_empty()
    };
    // The command that it starts is judged by itself.
    let own = match call.name {
        "bundle" | "bundler" | "pdm" | "pipenv" | "poetry" | "uv" => own_args(call.name, call.args),
        _ => call.args,
    };
    let mut args = own.iter().take_while(|arg| !arg.is("--"));
    if let Some(input) = args
        .find(is_input)
        .filter(|_| BUILDERS.contains(&call.name))
    {
        let reason = format!("the input of xargs may be an option of {}", call.name);
        return Err(Denial::by(Rule::R85, input.span, reason)
            .instead("end the command with --, or use find DIR -exec COMMAND {} +"));
    }
    if call.mode() == Mode::Run {
        spelled_options::check(call)?;
    }
    let variants = known_values::variants(call.context.scope, call.args);
    for args in variants.map_err(|arg| too_many_values(call, arg))? {
        check(&Call {
            args: &args,
            ..*call
        })?;
    }
    Ok(())
}

fn too_many_values(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Denial {
    let reason = format!("an argument of {} has too many possible values", call.name);
    Denial::by(Rule::R21, arg.span, reason).instead("use fewer values in one command")
}

/// Returns whether `call` is `bun test` in a Node project.
fn is_bun_test(call: &Call<'_, '_, '_>) -> bool {
    let is_test = call.args.first().is_some_and(|first| first.is("test"));
    call.name == "bun" && is_test && call.policy().is_active(Profile::Node)
}

/// Returns the name as written, without quotes.
fn written_name<'c>(name: &'c Arg<'_>) -> Result<&'c str, Denial> {
    let problem = if !name.is_literal() {
        "is unknown until it runs"
    } else if name.is_pattern() {
        "is a pattern"
    } else if name.braced {
        "is a brace expansion"
    } else if name.tilde {
        "is a path in the home directory"
    } else {
        return Ok(&name.text);
    };
    let reason = format!("the name of the command {problem}");
    Err(Denial::by(Rule::R5, name.span, reason).instead("write the name literally"))
}

/// Checks that a command that acts on its working directory does not run outside of the project.
fn stays_inside(call: &Call<'_, '_, '_>) -> Result<(), Denial> {
    if !call.directories.may_be_outside() {
        return Ok(());
    }
    let only_reads = call.only_reads() && !matches!(call.name, "git" | "find");
    if only_reads || matches!(call.name, ":" | "true" | "false" | "exit" | "pwd") {
        return Ok(());
    }
    let reason = format!(
        "'{}' may run outside of the project, if a cd fails",
        call.name
    );
    Err(call
        .deny(Rule::R25, reason)
        .instead("write (cd DIR && COMMAND), or cd DIR && COMMAND && cd .."))
}

/// Checks that no argument of a writing command names Autonoe's state.
fn protects_state(call: &Call<'_, '_, '_>) -> Result<(), Denial> {
    // The command inside of a wrapper is checked separately.
    let is_wrapper = || matches!(call.name, "timeout" | "command") || wrapper(call.name).is_some();
    if call.only_reads() || is_wrapper() {
        return Ok(());
    }
    let project = call.policy().project_dir();
    let is_mentioned_in = |text: &str| protected_state::is_mentioned_in(text, project);
    match call.args.iter().find(|arg| arg.mentions(is_mentioned_in)) {
        Some(arg) => {
            let is_run_state = arg.mentions(protected_state::names_run_state);
            Err(protected_state::deny(call.name, is_run_state, arg.span))
        }
        None => Ok(()),
    }
}
