//! Directories in which git would create or remove a working tree.

use super::Git;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::write_target::escapes;
use crate::check::{path, symlinks};
use crate::{Denial, Rule};

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let moves = git.name == "worktree" && git.read.first_may_be("move");
    if moves || (git.name == "worktree" && git.read.first_may_be("remove")) {
        git.read
            .at(1)
            .try_for_each(|tree| is_path(tree).and_then(|()| is_inside(git, tree)))?;
    }
    if git.name == "push" {
        return git
            .read
            .at(0)
            .try_for_each(|place| is_inside_if_path(git, place));
    }
    let (source, target) = match git.name {
        "clone" => (Some(0), 1),
        "init" => (None, 0),
        "worktree" if git.read.first_may_be("add") => (None, 1),
        "worktree" if moves => (None, 2),
        "submodule" if git.read.first_may_be("add") => (Some(1), 2),
        _ => return Ok(()),
    };
    if let Some(source) = source {
        // Without a target, the directory is named after the repository.
        git.read.at(source).try_for_each(|url| named_after(url))?;
    }
    git.read
        .at(target)
        .try_for_each(|target| is_inside(git, target))
}

/// Checks that a working tree is named by its path: git compares other text with the last names of
/// the paths of all working trees, wherever they are.
fn is_path(tree: &Arg<'_>) -> Checked {
    let is_path =
        |text: &str| text == "." || ["/", "./", "../"].iter().any(|it| text.starts_with(it));
    if tree.known().is_none_or(is_path) {
        return Ok(());
    }
    let reason = format!(
        "'{}' may be the name of a working tree elsewhere",
        tree.text
    );
    Err(Denial::by(Rule::R43, tree.span, reason)
        .instead("write its path with ./ or from the root, such as ./wt/hotfix"))
}

/// Checks that a repository that is named by its path is inside the project or `/tmp`.
fn is_inside_if_path(git: &Git<'_, '_, '_, '_>, place: &Arg<'_>) -> Checked {
    let text = place.text.as_ref();
    if let Some(path) = text.strip_prefix("file://") {
        return is_inside(git, &place.without_first(text.len() - path.len()));
    }
    // `host:path` and URLs are judged by their host.
    let is_path = place.tilde || text.starts_with(['.', '/']);
    let has_path = || !text.contains(':') && text.contains('/');
    if is_path || has_path() {
        is_inside(git, place)
    } else {
        Ok(())
    }
}

fn named_after(url: &Arg<'_>) -> Checked {
    let text = url.text.trim_end_matches('/');
    let name = text.rsplit(['/', ':']).next().unwrap_or(text);
    let name = name.strip_suffix(".git").unwrap_or(name);
    if path::names_state_folder(name) {
        Err(escapes(url, Rule::R43))
    } else {
        Ok(())
    }
}

fn is_inside(git: &Git<'_, '_, '_, '_>, target: &Arg<'_>) -> Checked {
    let Some(text) = target.known() else {
        let reason = "the directory is unknown until it runs";
        return Err(Denial::by(Rule::R43, target.span, reason).instead("write the path literally"));
    };
    let project = git.call.policy().project_dir();
    let is_protected = |text: &str| path::is_protected(path::below(text, project));
    let places = git.here.resolve(text).filter(|_| !is_protected(text));
    let Some(places) = places else {
        return Err(escapes(target, Rule::R43));
    };
    for place in &places {
        let is_in_reach = path::is_within(place, project) || path::is_within(place, "/tmp");
        if !is_in_reach || is_protected(place) {
            return Err(escapes(target, Rule::R43));
        }
        symlinks::check(git.call.context, place, target.span)?;
    }
    Ok(())
}
