//! Git options before the subcommand.

use super::config;
use super::word_splitting::adds_no_option;
use crate::check::arg::Arg;
use crate::check::builtins;
use crate::check::call::Call;
use crate::check::directories::Directories;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// Reads the options before the subcommand, and returns git's working directories and the remaining
/// arguments.
pub(super) fn read<'c, 'w, 's>(
    call: &Call<'c, 'w, 's>,
) -> Result<(Directories<'w>, &'c [Arg<'s>]), Denial> {
    let mut here = call.directories.clone();
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        let text = first.text.as_ref();
        if !first.is_static() {
            if !call.is_option_safe(first) {
                return Err(call.deny_dynamic(first));
            }
            break;
        }
        if !text.starts_with('-') {
            break;
        }
        args = rest;
        match text {
            "--no-pager"
            | "-P"
            | "-p"
            | "--paginate"
            | "--no-optional-locks"
            | "--literal-pathspecs" => {}
            "--version" | "-v" | "--help" | "-h" => return Ok((here, &[])),
            "-C" => {
                let [folder, others @ ..] = rest else {
                    return Err(call.deny_flag(Rule::R40, text, first.span));
                };
                args = others;
                // Several `-C` options are cumulative.
                let inside = Call {
                    directories: &here,
                    ..*call
                };
                here = builtins::enter_path(&inside, folder)?;
            }
            "-c" => {
                let [setting, others @ ..] = rest else {
                    return Err(call.deny_flag(Rule::R40, text, first.span));
                };
                args = others;
                check_setting(call, setting)?;
            }
            _ => return Err(call.deny_flag(Rule::R40, text, first.span)),
        }
    }
    Ok((here, args))
}

/// Checks `KEY=VALUE` of `-c`.
fn check_setting(call: &Call<'_, '_, '_>, setting: &Arg<'_>) -> Result<(), Denial> {
    if setting.is_pattern() || !adds_no_option(call, setting) {
        return Err(call.deny_dynamic(setting).instead("put it into quotes"));
    }
    let text = setting.text.as_ref();
    let key = text.split('=').next().unwrap_or(text);
    let is_whole = setting.is_static() || text.contains('=');
    // A fetch would delete refs of remotes.
    let deletes = call.mode() == Mode::Sync && key.eq_ignore_ascii_case("fetch.prune");
    let is_fine = matches!(
        text,
        "core.pager=cat" | "core.editor=true" | "core.editor=:"
    ) && setting.is_static()
        || (is_whole
            && config::is_harmless_key(key)
            && !(config::names_branch(key) && may_be_option(setting, key)));
    if is_fine && !deletes {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R40, format!("git -c {key} is not allowed"))
            .instead("run git without -c"))
    }
}

/// Returns whether the value after `key` starts with `-`, or may do so.
fn may_be_option(setting: &Arg<'_>, key: &str) -> bool {
    match setting.text.get(key.len() + 1..) {
        None | Some("") => !setting.is_static(),
        Some(value) => value.starts_with('-'),
    }
}
