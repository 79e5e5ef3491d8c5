//! Checks of redirections.

use super::arg::Arg;
use super::context::Context;
use super::directories::Directories;
use super::resolve::arguments;
use super::scope::Scope;
use super::write_target::{self, Root};
use super::{credentials, devices, path, process_memory};
use crate::check::text::is_number;
use crate::syntax::{Redirect, RedirectOperator, RedirectTarget, Word};
use crate::{Denial, Rule};

/// Checks the target of a redirection. Commands in it are checked elsewhere.
pub(crate) fn check<'s>(
    context: &Context<'_, 's>,
    directories: &Directories<'_>,
    redirect: &'s Redirect<'s>,
) -> Result<(), Denial> {
    let word = match &redirect.target {
        RedirectTarget::Word(word) => word,
        RedirectTarget::HereDocument(document) => {
            let parts = &document.body;
            let input = credentials::Input::Document;
            return credentials::check_here_document(
                context,
                directories,
                input,
                parts,
                redirect.span,
            );
        }
    };
    match redirect.operator {
        RedirectOperator::HereDocument => Ok(()),
        RedirectOperator::HereString => {
            let input = credentials::Input::String;
            credentials::check_here_document(
                context,
                directories,
                input,
                &word.parts,
                redirect.span,
            )
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
                    let reason = "the duplicated descriptor is unknown";
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
    // The commands in `> >(..)` are judged separately.
    if is_process && target.text.is_empty() {
        return Ok(());
    }
    write_target::check(context, directories, target, Root::Refused)
}

/// Returns the target of a redirection, which must be one word.
fn target<'s>(scope: &Scope<'s>, word: &'s Word<'s>) -> Result<Arg<'s>, Denial> {
    let mut args = Vec::new();
    arguments(word, scope, &mut args)?;
    match <[Arg<'s>; 1]>::try_from(args) {
        Ok([target]) => Ok(target),
        Err(_) => {
            let reason = "the redirection does not name one file";
            Err(Denial::by(Rule::R27, word.span, reason).instead("write the path literally"))
        }
    }
}

/// Characters that Bash expands a second time in the word after `>&`.
const EXPANDED_AGAIN: &[char] = &['$', '`', '\\', '\'', '"', '~', '*', '?', '[', '{'];

fn is_descriptor(text: &str) -> bool {
    let number = text.strip_suffix('-').unwrap_or(text);
    text == "-" || (is_number(number))
}

/// Allows reading, except from devices and the network.
fn check_input(target: &Arg<'_>) -> Result<(), Denial> {
    let is_device = if target.text.starts_with("/dev/") {
        let is_output = matches!(target.text.as_ref(), "/dev/stdout" | "/dev/stderr");
        !target.known().is_some_and(devices::is_readable) || is_output
    } else {
        may_become_device(target)
    };
    if is_device {
        Err(devices::deny(&target.text, target))
    } else {
        Ok(())
    }
}

/// Returns whether a path indirectly leads to a device, such as `//dev/sda`.
fn may_become_device(target: &Arg<'_>) -> bool {
    let text = target.text.as_ref();
    let resolved = path::resolve("/", text);
    let is_absolute = text.starts_with('/');
    is_absolute && path::is_within(&resolved, "/dev") && !path::is_harmless_device(&resolved)
}
