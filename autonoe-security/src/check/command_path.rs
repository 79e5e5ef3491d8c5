//! Commands that are called by a path.

use super::call::Call;
use super::commands::{built_programs, java, scripts};
use super::{extensions, path, remedy};
use crate::policy::Profile;
use crate::{Denial, Rule};

/// The meaning of a command name.
pub(crate) enum CommandName<'c> {
    /// A program by this name, without a folder.
    Program(&'c str),
    /// A script of the project that may run unchanged.
    Script,
    /// A command that the user added by exactly this path; its last component.
    Added(&'c str),
}

/// Folders whose programs are judged by their name.
const SYSTEM_FOLDERS: [&str; 4] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Determines the program that `written` refers to.
pub(crate) fn resolve_name<'c>(
    call: &Call<'_, '_, '_>,
    written: &'c str,
) -> Result<CommandName<'c>, Denial> {
    let Some((folder, name)) = written.rsplit_once('/') else {
        return Ok(CommandName::Program(written));
    };
    let is_known_place = SYSTEM_FOLDERS.contains(&folder)
        || is_tool_of_project(call, written, name)
        || is_bin_stub(call, written, name);
    if is_known_place {
        return Ok(CommandName::Program(name));
    }
    if extensions::is_added(call.policy(), name, written)
        && call.policy().extensions().contains(written)
    {
        return Ok(CommandName::Added(name));
    }
    if is_dev_script(written) && !is_dev_script_alone(call) {
        return Err(Denial::by(
            Rule::R6,
            call.span,
            format!("Command '{written}' is not in the allowlist with these arguments"),
        )
        .instead("run bin/dev.sh at the project root, without arguments"));
    }
    if !name.is_empty() && call.is_in_project(written) {
        scripts::check(call, written, call.span)?;
        java::check_wrapper(call, written, call.args)?;
        return Ok(CommandName::Script);
    }
    if built_programs::is_built(call, written) {
        return Ok(CommandName::Script);
    }
    let reason = format!("Command '{written}' is not in the allowlist");
    let mut denial = Denial::by(Rule::R6, call.span, reason)
        .instead("run commands by their names, and scripts of the project by their path inside it");
    denial.remedy = remedy::command(call.policy(), written);
    Err(denial)
}

/// Returns whether a package manager of an active profile has installed the program there.
fn is_tool_of_project(call: &Call<'_, '_, '_>, written: &str, name: &str) -> bool {
    let policy = call.policy();
    let Some(places) = call.directories.resolve(written) else {
        return false;
    };
    let mut places = places.iter();
    places.all(|place| {
        let Some((folder, _)) = place.rsplit_once('/') else {
            return false;
        };
        let owners: &[Profile] = if folder.ends_with("/node_modules/.bin") {
            &[Profile::Node, Profile::Bun]
        } else if folder.ends_with("/.venv/bin") || folder.ends_with("/venv/bin") {
            &[Profile::Python]
        } else if folder.ends_with("/vendor/bin") {
            &[Profile::Php, Profile::Ruby]
        } else {
            return false;
        };
        path::is_within(folder, policy.project_dir())
            && owners.iter().any(|owner| policy.is_active(*owner))
            && Profile::from_command(name).is_some_and(|profile| policy.is_active(profile))
    })
}

/// Returns whether it is a binstub that Ruby's tools write to `bin`.
fn is_bin_stub(call: &Call<'_, '_, '_>, written: &str, name: &str) -> bool {
    let project = call.policy().project_dir();
    let is_here = match written.strip_prefix(project) {
        Some(rest) => {
            rest.strip_prefix("/bin/") == Some(name) && call.directories.only() == Some(project)
        }
        None => {
            let relative = written.strip_prefix("./").unwrap_or(written);
            relative.strip_prefix("bin/") == Some(name) && call.is_in_project(written)
        }
    };
    is_here
        && matches!(name, "rails" | "rspec" | "rake" | "rubocop" | "bundle")
        && call.policy().is_active(Profile::Ruby)
}

/// Returns whether it is the script that starts the project's development servers.
fn is_dev_script(written: &str) -> bool {
    matches!(written, "bin/dev.sh" | "./bin/dev.sh")
}

/// Returns whether that script is started as the specification requires.
fn is_dev_script_alone(call: &Call<'_, '_, '_>) -> bool {
    call.args.is_empty() && call.directories.only() == Some(call.policy().project_dir())
}
