//! Resolves the paths of a sandbox on this machine.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::mounts::{Access, Mount, ResolvedPath};
use super::{Network, OsSandbox, SandboxError};

/// Directories with the sockets of other programs.
const SOCKETS: [&str; 2] = ["/run", "/var/run"];

/// The file with the addresses of name servers.
const RESOLVER: &str = "/etc/resolv.conf";

impl OsSandbox {
    /// Returns the requested mounts, with resolved paths.
    pub(super) fn requested_mounts(&self) -> Result<Vec<Mount>, SandboxError> {
        let mut requested = Vec::new();
        for (paths, access) in [
            (&self.writable, Access::Writable),
            (&self.read_only, Access::ReadOnly),
        ] {
            for path in paths {
                let place = find(path)?.ok_or_else(|| SandboxError::PathMissing {
                    path: path.clone(),
                    source: io::ErrorKind::NotFound.into(),
                })?;
                requested.push(Mount { place, access });
            }
        }
        let hidden = self.hidden.iter().cloned();
        let sockets = SOCKETS.into_iter().map(PathBuf::from);
        for path in hidden.chain(sockets).chain(other_process_lists()?) {
            let access = Access::Hidden;
            requested.extend(find(&path)?.map(|place| Mount { place, access }));
        }
        // On many systems it is a symlink into a directory of sockets.
        if self.network == Network::Shared
            && let Some(place) = find(Path::new(RESOLVER))?
            && SOCKETS.iter().any(|socket| place.path.starts_with(socket))
        {
            let access = Access::ReadOnly;
            requested.push(Mount { place, access });
        }
        Ok(requested)
    }
}

/// Resolves the symlinks of `path`; `None` if this user can reach nothing there.
fn find(path: &Path) -> Result<Option<ResolvedPath>, SandboxError> {
    if !path.is_absolute() {
        let path = path.to_owned();
        return Err(SandboxError::NotAbsolute { path });
    }
    let found = fs::canonicalize(path).and_then(|real| {
        let is_directory = fs::metadata(&real)?.is_dir();
        let path = real;
        Ok(ResolvedPath { path, is_directory })
    });
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.kind() {
            // In the sandbox, this user has fewer permissions than here. A path that is unreachable
            // here is unreachable there as well.
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(SandboxError::PathMissing {
                path: path.to_owned(),
                source: error,
            }),
        },
    }
}

/// Finds other mounts of `proc`, which list the processes of this machine with their environments:
/// prepared roots of containers have their own.
#[cfg(target_os = "linux")]
fn other_process_lists() -> Result<Vec<PathBuf>, SandboxError> {
    Ok(process_lists(&fs::read("/proc/self/mountinfo")?))
}

#[cfg(not(target_os = "linux"))]
fn other_process_lists() -> Result<Vec<PathBuf>, SandboxError> {
    Err(SandboxError::NotLinux)
}

/// Selects the mount points of file systems of type `proc` outside of `/proc`.
///
/// A line is `id parent device root place options ... - type source options`.
#[cfg(any(target_os = "linux", test))]
fn process_lists(mounts: &[u8]) -> Vec<PathBuf> {
    let place_of = |line: &[u8]| {
        let fields: Vec<_> = line.split(|byte| *byte == b' ').collect();
        let separator = fields.iter().position(|field| *field == b"-")?;
        let is_list = fields.get(separator + 1) == Some(&&b"proc"[..]);
        let place = PathBuf::from(std::ffi::OsString::from_vec(unescaped(fields.get(4)?)));
        (is_list && !place.starts_with("/proc")).then_some(place)
    };
    let lines = mounts.split(|byte| *byte == b'\n');
    lines.filter_map(place_of).collect()
}

/// Decodes a field in which blanks and similar characters are escaped, for example as `\040`.
#[cfg(any(target_os = "linux", test))]
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|code| str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 8).ok());
        match byte.filter(|_| *first == b'\\') {
            Some(byte) => {
                plain.push(byte);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

/// Returns the bytes of a path for an argument.
pub(super) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lists_of_processes_are_found_and_the_own_one_is_not() {
        let mounts = b"22 28 0:20 / /proc rw,nosuid shared:12 - proc proc rw\n\
            23 22 0:20 /sys /proc/sys ro - proc proc rw\n\
            28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 28 0:44 / /srv/a\\040root/proc rw - proc proc rw\n\
            41 28 0:45 / /mnt rw master:7 - tmpfs proc rw\n\
            half a line\n";

        assert_eq!(process_lists(mounts), [PathBuf::from("/srv/a root/proc")]);
    }

    #[test]
    fn symlinks_are_followed_and_missing_paths_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("it is there");
        fs::write(real.join("key"), "").expect("writable");
        std::os::unix::fs::symlink("key", real.join("link")).expect("writable");

        let found = find(&real.join("link")).expect("it can be looked at");

        let expected = ResolvedPath {
            path: real.join("key"),
            is_directory: false,
        };
        assert_eq!(found, Some(expected));
        assert_eq!(find(&real.join("other")).expect("so be it"), None);
        assert_eq!(find(&real.join("key/below")).expect("so be it"), None);
        let relative = find(Path::new("key"));
        assert!(matches!(relative, Err(SandboxError::NotAbsolute { .. })));
    }

    #[test]
    fn writable_paths_must_exist() {
        let sandbox = OsSandbox::new("/usr/bin/bwrap").writable("/there/is/no/such/thing");

        assert!(matches!(
            sandbox.requested_mounts(),
            Err(SandboxError::PathMissing { .. })
        ));
    }
}
