//! `mktemp`: creates a file or directory with a unique name.

use super::option_allow_list::OptionAllowList;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::path;
use crate::check::text::has_only;
use crate::check::write_target::Root;
use crate::{Denial, Rule};

const MKTEMP: OptionAllowList = OptionAllowList {
    // `-t` takes a value in BSD, which is the template in GNU.
    options: options!(
        "dqtuVp:",
        "directory dry-run help quiet suffix= tmpdir? version",
    ),
    refused: &[],
    rule: Rule::R98,
    instead: INSTEAD,
};

const INSTEAD: &str = "use mktemp, mktemp -d, or a file in /tmp";

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (mut folder, mut is_in_tmp, mut operands) = (None, false, Vec::new());
    for parsed in MKTEMP.read(call)? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                ("-p", None) => return Err(call.deny_flag(Rule::R98, &name, arg.span)),
                ("-p" | "--tmpdir", Some(value)) => folder = Some(value),
                ("-t" | "--tmpdir", _) => is_in_tmp = true,
                ("--suffix", value)
                    if !value
                        .as_ref()
                        .and_then(Arg::known)
                        .is_some_and(is_name_part) =>
                {
                    return Err(call.deny_flag(Rule::R98, &name, arg.span));
                }
                _ => {}
            },
        }
    }
    let template = match operands[..] {
        [] => None,
        [template] => Some(template),
        _ => {
            return Err(call
                .deny(Rule::R98, "mktemp takes one template")
                .instead(INSTEAD));
        }
    };
    if let Some(template) = template {
        // The letters that replace each X could form a protected name.
        let name = template.known().and_then(|path| path.rsplit('/').next());
        let is_plain = name.is_some_and(|name| {
            is_name_part(name)
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !name
                    .to_ascii_lowercase()
                    .starts_with(path::SESSIONS_FOLDER_PREFIX)
        });
        let is_relative = !template.text.contains('/');
        if !is_plain || (is_in_tmp || folder.is_some()) && !is_relative {
            let reason = "the name that mktemp makes is not plain";
            return Err(Denial::by(Rule::R98, template.span, reason)
                .instead("begin the name with a letter, as in /tmp/name.XXXXXX"));
        }
    }
    match (&folder, template) {
        (Some(folder), _) => match folder.known() {
            Some(path) => call.check_write_target(
                &Arg::plain(format!("{path}/tmp.x"), folder.span),
                Root::Refused,
            ),
            None => call.check_write_target(folder, Root::Refused),
        },
        (None, Some(template)) if !is_in_tmp => call.check_write_target(template, Root::Refused),
        _ => Ok(()),
    }
}

/// Returns whether text only has characters of plain names.
fn is_name_part(text: &str) -> bool {
    !text.is_empty() && has_only(text, "._-")
}
