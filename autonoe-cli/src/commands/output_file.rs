//! Writes a result to the file of `--output`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path};

use autonoe_core::Project;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::project::replace_file_durably;

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Writes `content`, for example `the page`, to the path of `--output`.
///
/// For `-`, the text goes to standard output. Otherwise standard output gets the path of the
/// written file. Agents can create symlinks in the project, so none is followed there. A file is
/// replaced only if it is empty or `is_own` recognises its content.
pub(super) fn write_output(
    text: &str,
    output: &Path,
    content: &str,
    is_own: fn(&str) -> bool,
    project: &Project,
    env: &CliEnv,
) -> Result<(), CliError> {
    if output == Path::new("-") {
        return env.print(text);
    }
    let path = env.working_dir.join(output);
    check(&path, content, project)?;
    check_replaceable(&path, content, is_own)?;
    let written = replace_output(&path, text.as_bytes());
    written.map_err(|error| {
        CliError::failure(format!("{} cannot be written: {error}", path.display())).with_hint(
            format!("choose another file with --output, or print {content} with --output -"),
        )
    })?;
    env.print(&format!("{}\n", path.display()))
}

/// Rejects a folder among the files of Autonoe, or one that a symlink in the project redirects
/// outside.
fn check(path: &Path, content: &str, project: &Project) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    let Ok(real) = folder.canonicalize() else {
        return Ok(());
    };
    let mut state = ProjectPaths::STATE_FOLDERS.iter();
    if state.any(|name| real.starts_with(project.root().join(name))) {
        return Err(CliError::usage(format!(
            "{content} cannot be written among the files of Autonoe; choose another place with \
             --output"
        )));
    }
    let is_git = real.components().any(|part| part.as_os_str() == ".git");
    let is_specification =
        real == project.root() && path.file_name() == Some(OsStr::new("SPEC.md"));
    if is_git || is_specification {
        return Err(CliError::usage(format!(
            "{} is not a place for {content}; choose another one with --output",
            path.display()
        )));
    }
    let mut roots = [Some(project.root()), project.link()].into_iter().flatten();
    let has_parent_component = folder.components().any(|part| part == Component::ParentDir);
    let seems_inside = !has_parent_component && roots.any(|root| folder.starts_with(root));
    if seems_inside && !real.starts_with(project.root()) {
        Err(CliError::failure(format!(
            "a symlink in {} leads out of the project",
            folder.display()
        ))
        .with_hint(format!(
            "remove it, choose another file with --output, or print {content} with --output -"
        )))
    } else {
        Ok(())
    }
}

/// Rejects a regular file with content that the same command did not write.
fn check_replaceable(path: &Path, content: &str, is_own: fn(&str) -> bool) -> Result<(), CliError> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let is_replaceable = !is_file
        || fs::read(path)
            .is_ok_and(|bytes| bytes.is_empty() || is_own(&String::from_utf8_lossy(&bytes)));
    if is_replaceable {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{} exists, and this command did not write it",
        path.display()
    ))
    .with_hint(format!(
        "choose another file with --output, or move it away; {content} replaces only an earlier one"
    )))
}

/// Replaces the file at `path`. Anything but a regular file is left unchanged.
fn replace_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(io::Error::other("it is a symlink")),
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => replace_file_durably(path, bytes),
    }
}
