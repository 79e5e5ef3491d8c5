//! Resolves symlinks with the validator's resolver, if it has one.

use super::call::Checked;
use super::context::Context;
use super::path;
use crate::syntax::Span;
use crate::{Denial, Rule};

/// Checks that `place`, which is inside by its text, really is.
pub(crate) fn check(context: &Context<'_, '_>, place: &str, span: Span) -> Checked {
    let Some(links) = context.links else {
        return Ok(());
    };
    let project = context.policy.project_dir();
    // A file that does not exist yet is located in its folder.
    let mut at = place;
    let real = loop {
        match links.resolve(at) {
            Some(real) => break real,
            None => match at.rfind('/') {
                Some(0) | None => return Ok(()),
                Some(slash) => at = &at[..slash],
            },
        }
    };
    let is_within = |folder: &str| {
        path::is_within(&real, folder)
            || links
                .resolve(folder)
                .is_some_and(|folder| path::is_within(&real, &folder))
    };
    let real_project = links.resolve(project);
    let below = match real_project.as_deref() {
        Some(project) if path::is_within(&real, project) => path::below(&real, project),
        _ => path::below(&real, project),
    };
    let is_inside = is_within(project) || is_within("/tmp");
    let is_device = path::is_harmless_device(&real);
    if (is_inside && !path::is_protected(below)) || is_device {
        Ok(())
    } else {
        Err(
            Denial::by(Rule::R28, span, "Symlink target escapes project directory")
                .instead("use a path that is no symlink"),
        )
    }
}

/// Checks that the file `place`, which is inside the project by its text, really is.
///
/// Unlike [`check`], it does not accept a link to `/tmp`.
pub(crate) fn check_in_project(context: &Context<'_, '_>, place: &str, span: Span) -> Checked {
    check(context, place, span)?;
    let Some(links) = context.links else {
        return Ok(());
    };
    let project = context.policy.project_dir();
    let Some(real) = links.resolve(place) else {
        return Ok(());
    };
    let is_within = path::is_within(&real, project)
        || links
            .resolve(project)
            .is_some_and(|project| path::is_within(&real, &project));
    if is_within {
        Ok(())
    } else {
        Err(
            Denial::by(Rule::R88, span, "Symlink target escapes project directory")
                .instead("use a file of the project that is no symlink"),
        )
    }
}
