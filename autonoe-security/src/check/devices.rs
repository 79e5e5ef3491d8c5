//! Devices, which no command reads.

use super::arg::Arg;
use super::call::{Call, Checked};
use super::file_use::FileUse;
use super::path;
use super::path_pattern::{self, may_match};
use crate::{Denial, Rule};

/// Returns whether the absolute path `path` is a device that every command may read.
pub(crate) fn is_readable(path: &str) -> bool {
    path::is_harmless_device(path)
        || matches!(
            path,
            "/dev/zero" | "/dev/random" | "/dev/urandom" | "/dev/stdin"
        )
}

/// Returns whether `path` is, or may become, a path below `/dev` that is not readable.
///
/// It may contain the wildcards of [`path_pattern`].
fn may_be_device(path: &str) -> bool {
    let resolved = path::resolve("/", path);
    let mut names = resolved.split('/').skip(1);
    let first = names.next().unwrap_or_default();
    let Some(second) = names.next() else {
        return false;
    };
    // Only Bash connects to these, and only in redirections.
    let is_network = matches!(second, "tcp" | "udp");
    // Shared memory is a directory of temporary files.
    let is_folder = matches!(second, "fd" | "shm");
    path.starts_with('/')
        && may_match(first, "dev")
        && !is_network
        && !is_folder
        && !is_readable(&resolved)
}

/// Checks that a command that reads files reads no device.
pub(crate) fn check_arguments(call: &Call<'_, '_, '_>) -> Checked {
    if FileUse::from_command(call.name) != FileUse::Reads || call.is_profile_tool() {
        return Ok(());
    }
    let mut files = None;
    for (at, arg) in call.args.iter().enumerate() {
        if !may_name_device(arg) {
            continue;
        }
        let files = files.get_or_insert_with(|| super::credentials::Files::new(call));
        let pattern = path_pattern::from_arg(arg);
        let is_device = pattern.starts_with('/') && may_be_device(&pattern)
            || pattern
                .split_once('=')
                .is_some_and(|(_, value)| may_be_device(value));
        if is_device && files.may_be_file(call, at, arg) {
            return Err(deny(&arg.text, arg));
        }
    }
    Ok(())
}

/// Rejects most arguments quickly.
fn may_name_device(arg: &Arg<'_>) -> bool {
    let text = arg.text.as_ref();
    let is_path = text.starts_with('/') || (text.starts_with('-') && text.contains("=/"));
    is_path && (text.contains("dev") || arg.is_pattern())
}

pub(crate) fn deny(construct: &str, arg: &Arg<'_>) -> Denial {
    let reason = format!("'{construct}' is a device or a network path");
    Denial::by(Rule::R30, arg.span, reason).instead("read from a file")
}
