//! `ln -s`: links between places of the project.

use super::scripts::runs_code_of_project;
use super::strict_options::check_source_path;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::write_target::Root;
use crate::{Denial, Rule};

const INSTEAD: &str = "use ln -s TARGET LINK with two literal paths of the project";

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    runs_code_of_project(call, "links in the project")?;
    let mut is_symbolic = false;
    let mut paths = Vec::new();
    for arg in call.args {
        let Some(text) = arg.known() else {
            return Err(call.deny_dynamic(arg));
        };
        match text.strip_prefix('-') {
            Some("-symbolic" | "s" | "sn" | "sv" | "vs" | "sT") => is_symbolic = true,
            Some("-no-target-directory" | "-verbose" | "T" | "n" | "v") => {}
            Some(_) => {
                return Err(call.deny_flag(Rule::R106, text, arg.span).instead(INSTEAD));
            }
            None => paths.push((text, arg)),
        }
    }
    let ([(target, _), (_, link)], true) = (&paths[..], is_symbolic) else {
        return Err(call
            .deny(
                Rule::R106,
                "only symbolic links with one target are allowed",
            )
            .instead(INSTEAD));
    };
    if !is_alone(call, link) {
        let reason = "a path of this text may go up through the link";
        return Err(Denial::by(Rule::R106, link.span, reason)
            .instead("make the link in a command of its own"));
    }
    call.check_write_target(link, Root::Refused)?;
    let name = link.text.trim_end_matches('/');
    let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
    // If the link is a folder, the new link is in it.
    for folder in [folder.to_owned(), format!("{name}/")] {
        let place = if target.starts_with('/') {
            (*target).to_owned()
        } else {
            format!("{folder}{target}")
        };
        check_source_path(call, Rule::R106, &place, link.span)?;
        // A path that goes up behind such a link would leave the project.
        let project = call.policy().project_dir();
        let places = call.directories.resolve(&place).into_iter().flatten();
        if places.into_iter().any(|place| place == project) {
            let reason = format!("'{name}' would lead to the project directory");
            return Err(call.deny(Rule::R106, reason).instead(INSTEAD));
        }
    }
    Ok(())
}

/// Returns whether no path in the text around the command goes up, which would then leave from the
/// target of the link.
fn is_alone(call: &Call<'_, '_, '_>, link: &Arg<'_>) -> bool {
    let text = call.context.scope.text();
    let rest = [
        text.get(..call.span.range().start),
        text.get(link.span.range().end..),
    ];
    call.context.depth == 0
        && rest.iter().all(|text| {
            let plain = text.unwrap_or("..").replace(['\'', '"', '\\'], "");
            !plain.contains("..") && !plain.contains(['$', '`', '{'])
        })
}
