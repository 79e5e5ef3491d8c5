//! Redirections.

use super::arg::Arg;
use super::context::Context;
use super::directories::Directories;
use super::resolve::arguments;
use super::scope::Scope;
use super::write_target::{self, Root};
use super::{credentials, path, process_memory};
use crate::syntax::{Redirect, RedirectOperator, RedirectTarget, Word};
use crate::{Denial, Rule};

/// Checks where a redirection leads. Commands in it are checked elsewhere.
pub(crate) fn check<'s>(
    context: &Context<'_, 's>,
    directories: &Directories<'_>,
    redirect: &'s Redirect<'s>,
) -> Result<(), Denial> {
    let word = match &redirect.target {
        RedirectTarget::Word(word) => word,
        RedirectTarget::HereDocument(document) => {
            let parts = &document.body;
            return credentials::check_here_document(context, directories, parts, redirect.span);
        }
    };
    match redirect.operator {
        RedirectOperator::HereDocument => Ok(()),
        RedirectOperator::HereString => {
            credentials::check_here_document(context, directories, &word.parts, redirect.span)
        }
        RedirectOperator::Read => {
            let file = target(context.scope, word)?;
            process_memory::check_input(&file)?;
            credentials::check_input(context, directories, &file)?;
            check_input(&file)
        }
        RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput => {
            let target = target(context.scope, word)?;
            match target.known() {
                Some(text) if is_descriptor(text) => Ok(()),
                // `>&file` writes to the file; `<&file` does not exist.
                Some(text)
                    if redirect.operator == RedirectOperator::DuplicateOutput
                        && !text.contains(EXPANDED_AGAIN) =>
                {
                    write(context, directories, &target)
                }
                _ => {
                    let reason = "the descriptor that is duplicated is not known";
                    Err(Denial::by(Rule::R30, target.span, reason)
                        .instead("write the number of the descriptor"))
                }
            }
        }
        RedirectOperator::Write
        | RedirectOperator::Clobber
        | RedirectOperator::Append
        | RedirectOperator::ReadWrite
        | RedirectOperator::WriteAll
        | RedirectOperator::AppendAll => write(context, directories, &target(context.scope, word)?),
    }
}

fn write(
    context: &Context<'_, '_>,
    directories: &Directories<'_>,
    target: &Arg<'_>,
) -> Result<(), Denial> {
    let is_process = target.unknown.is_some_and(|unknown| {
        use crate::syntax::Part;
        matches!(unknown.part, Some(Part::ProcessSubstitution(_)))
    });
    // What runs in `> >(..)` is judged by itself.
    if is_process && target.text.is_empty() {
        return Ok(());
    }
    write_target::check(context, directories, target, Root::Refused)
}

/// Returns the one word that a redirection leads to.
fn target<'s>(scope: &Scope<'s>, word: &'s Word<'s>) -> Result<Arg<'s>, Denial> {
    let mut args = Vec::new();
    arguments(word, scope, &mut args)?;
    match <[Arg<'s>; 1]>::try_from(args) {
        Ok([target]) => Ok(target),
        Err(_) => {
            let reason = "the redirection does not lead to one file";
            Err(Denial::by(Rule::R27, word.span, reason).instead("write the path literally"))
        }
    }
}

/// Bash expands the word behind `>&` a second time.
const EXPANDED_AGAIN: &[char] = &['$', '`', '\\', '\'', '"', '~', '*', '?', '[', '{'];

fn is_descriptor(text: &str) -> bool {
    let number = text.strip_suffix('-').unwrap_or(text);
    text == "-" || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reading is open, except from devices and the network.
fn check_input(target: &Arg<'_>) -> Result<(), Denial> {
    let Some(name) = target.text.strip_prefix("/dev/") else {
        return if may_become_device(target) {
            Err(deny_device(target))
        } else {
            Ok(())
        };
    };
    let is_open = target.known().is_some()
        && (path::is_harmless_device(&target.text)
            || matches!(name, "zero" | "random" | "urandom" | "stdin"));
    let is_output = matches!(name, "stdout" | "stderr");
    if is_open && !is_output {
        Ok(())
    } else {
        Err(deny_device(target))
    }
}

/// Tells whether a path leads to a device by a detour, such as `//dev/sda`.
fn may_become_device(target: &Arg<'_>) -> bool {
    let text = target.text.as_ref();
    let resolved = path::resolve("/", text);
    let is_absolute = text.starts_with('/');
    is_absolute && path::is_within(&resolved, "/dev") && !path::is_harmless_device(&resolved)
}

fn deny_device(target: &Arg<'_>) -> Denial {
    let reason = format!("'{}' is a device or a network path", target.text);
    Denial::by(Rule::R30, target.span, reason).instead("read from a file")
}
