//! Plans the mounts of a sandbox, as a pure function of the requested paths.

use std::path::{Path, PathBuf};

use super::SandboxError;

/// An existing path, absolute and without symlinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolvedPath {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
}

/// Access to a path and everything below it, up to a more specific mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Writable,
    ReadOnly,
    Hidden,
    /// Created by the sandbox itself: `/dev`, `/proc`, `/tmp`.
    Own,
}

/// A path and the access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) place: ResolvedPath,
    pub(super) access: Access,
}

/// Directories that the sandbox creates. They cannot be requested.
const OWN: [&str; 3] = ["/dev", "/proc", "/tmp"];

/// The private directory for temporary files, which is writable.
const TEMPORARY: &str = "/tmp";

/// Nothing below these directories can be requested.
const CLOSED: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Plans the mounts, in the order in which they must be made.
///
/// A mount with the same access as the directory around it is left out: a mount that does not exist
/// cannot be redirected by a process that moves directories meanwhile. A writable directory in a
/// writable one is mounted if it keeps an entry in place.
pub(super) fn plan(requested: Vec<Mount>) -> Result<Vec<Mount>, SandboxError> {
    let mut all: Vec<Mount> = OWN.into_iter().map(own).collect();
    for mount in requested {
        refuse_reserved(&mount.place.path)?;
        match all.iter().find(|known| known.place == mount.place) {
            None => all.push(mount),
            Some(known) if known.access == mount.access => {}
            Some(_) => {
                let path = mount.place.path;
                return Err(SandboxError::Contradiction { path });
            }
        }
    }
    let pins: Vec<Mount> = all.iter().filter_map(pin).collect();
    for pin in pins {
        if !all.iter().any(|known| known.place.path == pin.place.path) {
            all.push(pin);
        }
    }
    // A directory comes before its entries.
    all.sort_by(|one, other| one.place.path.cmp(&other.place.path));

    let mut planned: Vec<Mount> = Vec::new();
    for mount in &all {
        let enclosing = enclosing(&planned, &mount.place.path);
        let changes = changes_anything(enclosing.map(|enclosing| enclosing.access), mount.access);
        if changes || keeps_in_place(mount, &all) || is_pin(mount, &all) {
            refuse_movable(enclosing, mount)?;
            planned.push(mount.clone());
        }
    }
    Ok(planned)
}

/// Returns the directory directly in `/tmp` that a deeper path is in, as a read-only mount.
///
/// The private `/tmp` is writable, so the directories around the path could be moved away together
/// with the mount, and others put in their place. A mount point cannot be moved.
fn pin(mount: &Mount) -> Option<Mount> {
    let below = mount.place.path.strip_prefix(TEMPORARY).ok()?;
    let mut names = below.components();
    let first = names.next()?;
    names.next()?;
    let path = Path::new(TEMPORARY).join(first);
    let place = ResolvedPath {
        path,
        is_directory: true,
    };
    (mount.access != Access::Hidden).then_some(Mount {
        place,
        access: Access::Hidden,
    })
}

/// Returns whether a hidden directory of the private `/tmp` contains a path that is not hidden.
fn is_pin(mount: &Mount, all: &[Mount]) -> bool {
    mount.access == Access::Hidden
        && all
            .iter()
            .filter_map(pin)
            .any(|pin| pin.place.path == mount.place.path)
}

/// Returns whether a writable directory has an entry that is not writable: only a mount point
/// cannot be moved away with its contents.
fn keeps_in_place(mount: &Mount, all: &[Mount]) -> bool {
    let is_entry = |other: &&Mount| other.place.path.parent() == Some(&mount.place.path);
    let mut entries = all.iter().filter(is_entry);
    mount.access == Access::Writable && entries.any(|entry| entry.access != Access::Writable)
}

fn own(path: &str) -> Mount {
    Mount {
        place: ResolvedPath {
            path: path.into(),
            is_directory: true,
        },
        access: Access::Own,
    }
}

fn refuse_reserved(path: &Path) -> Result<(), SandboxError> {
    let reserved = path == Path::new("/")
        || OWN.iter().any(|own| path == Path::new(own))
        || CLOSED.iter().any(|closed| path.starts_with(closed));
    if reserved {
        let path = path.to_owned();
        return Err(SandboxError::Reserved { path });
    }
    Ok(())
}

/// Returns the innermost mount around `path`; `None` is the read-only root.
fn enclosing<'a>(planned: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let holds = |mount: &&Mount| path.starts_with(&mount.place.path);
    planned.iter().rfind(holds)
}

fn changes_anything(enclosing: Option<Access>, access: Access) -> bool {
    match (enclosing.unwrap_or(Access::ReadOnly), access) {
        // The private `/tmp` is empty, so there is nothing to hide in it.
        (Access::Own, Access::Hidden) => false,
        (enclosing, access) => enclosing != access || access == Access::Own,
    }
}

/// Refuses a mount that could be moved away.
///
/// A process that can write a directory can move its entries, together with the mounts below them.
/// Only a mount point itself cannot be moved.
fn refuse_movable(enclosing: Option<&Mount>, mount: &Mount) -> Result<(), SandboxError> {
    match enclosing {
        Some(enclosing)
            if enclosing.access == Access::Writable
                && mount.place.path.parent() != Some(&enclosing.place.path) =>
        {
            Err(SandboxError::Movable {
                path: mount.place.path.clone(),
                writable: enclosing.place.path.clone(),
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Access::{Hidden, Own, ReadOnly, Writable};
    use super::*;

    fn mount(path: &str, access: Access) -> Mount {
        Mount {
            access,
            ..own(path)
        }
    }

    fn planned(requested: &[(&str, Access)]) -> Result<Vec<(String, Access)>, SandboxError> {
        let requested = requested.iter().map(|(path, access)| mount(path, *access));
        let planned = plan(requested.collect())?.into_iter();
        let text = |mount: Mount| (mount.place.path.display().to_string(), mount.access);
        Ok(planned.map(text).collect())
    }

    /// Returns the plan without the mounts that are always there.
    fn special(requested: &[(&str, Access)]) -> Vec<(String, Access)> {
        let mut planned = planned(requested).expect("a plan");
        planned.retain(|(_, access)| *access != Own);
        planned
    }

    fn list(mounts: &[(&str, Access)]) -> Vec<(String, Access)> {
        let text = |(path, access): &(&str, Access)| ((*path).to_owned(), *access);
        mounts.iter().map(text).collect()
    }

    #[test]
    fn the_sandbox_makes_its_own_places_always() {
        let expected = list(&[("/dev", Own), ("/proc", Own), ("/tmp", Own)]);
        assert_eq!(planned(&[]).expect("a plan"), expected);
    }

    #[test]
    fn more_specific_paths_are_mounted_later() {
        let requested = [
            ("/home/ada/project", Writable),
            ("/home/ada", Hidden),
            ("/home/ada/project/.autonoe", ReadOnly),
        ];

        let expected = list(&[
            ("/home/ada", Hidden),
            ("/home/ada/project", Writable),
            ("/home/ada/project/.autonoe", ReadOnly),
        ]);
        assert_eq!(special(&requested), expected);
    }

    #[test]
    fn a_project_in_tmp_is_mounted_after_the_private_tmp() {
        let planned = planned(&[("/tmp/project", Writable), ("/tmp/bin", ReadOnly)]);

        let expected = list(&[
            ("/dev", Own),
            ("/proc", Own),
            ("/tmp", Own),
            ("/tmp/bin", ReadOnly),
            ("/tmp/project", Writable),
        ]);
        assert_eq!(planned.expect("a plan"), expected);
    }

    #[test]
    fn a_directory_in_tmp_around_a_deeper_place_is_pinned() {
        for (requested, pinned) in [
            (
                &[("/tmp/autonoe-1000/.autonoe/s", Writable)][..],
                &[
                    ("/tmp/autonoe-1000", Hidden),
                    ("/tmp/autonoe-1000/.autonoe/s", Writable),
                ][..],
            ),
            (
                &[("/tmp/a/b/p", Writable), ("/tmp/a", Hidden)],
                &[("/tmp/a", Hidden), ("/tmp/a/b/p", Writable)],
            ),
            (
                &[("/tmp/a", Writable), ("/tmp/a/b", ReadOnly)],
                &[("/tmp/a", Writable), ("/tmp/a/b", ReadOnly)],
            ),
            (&[("/tmp/p", Writable)], &[("/tmp/p", Writable)]),
            (&[("/tmp/a/b", Hidden)], &[]),
        ] {
            assert_eq!(special(requested), list(pinned), "{requested:?}");
        }
    }

    #[test]
    fn mounts_with_the_access_of_their_parent_are_left_out() {
        for requested in [
            &[("/p", Writable), ("/p/deep/er", Writable)][..],
            &[("/p", Writable), ("/usr/lib", ReadOnly)],
            &[("/p", Writable), ("/tmp/secret", Hidden)],
            &[("/p", Writable), ("/p", Writable)],
        ] {
            assert_eq!(
                special(requested),
                list(&[("/p", Writable)]),
                "{requested:?}"
            );
        }
        let nested = [("/h", Hidden), ("/h/.ssh", Hidden)];
        assert_eq!(special(&nested), list(&[("/h", Hidden)]));
    }

    #[test]
    fn names_with_a_common_prefix_do_not_contain_each_other() {
        let requested = [("/srv/app", Writable), ("/srv/application/key", Hidden)];

        assert_eq!(special(&requested), list(&requested));
    }

    #[test]
    fn movable_mounts_are_refused() {
        for access in [ReadOnly, Hidden] {
            let deep = planned(&[("/p", Writable), ("/p/a/b", access)]);
            assert!(
                matches!(deep, Err(SandboxError::Movable { .. })),
                "{deep:?}"
            );
            planned(&[("/p", Writable), ("/p/a", access)]).expect("it cannot be moved");
        }
        planned(&[("/p", Writable), ("/p/a", ReadOnly), ("/p/a/b/c", Hidden)])
            .expect("nothing in a read-only directory can be moved");
    }

    #[test]
    fn a_writable_directory_that_is_named_too_keeps_its_entries_in_place() {
        let requested = [
            ("/p", Writable),
            ("/p/.git", Writable),
            ("/p/.git/config", ReadOnly),
            ("/p/.git/hooks", ReadOnly),
        ];
        assert_eq!(special(&requested), list(&requested));

        let deep = [("/p", Writable), ("/p/a/b", Writable), ("/p/a/b/c", Hidden)];
        let deep = planned(&deep);
        assert!(
            matches!(deep, Err(SandboxError::Movable { .. })),
            "{deep:?}"
        );
    }

    #[test]
    fn reserved_paths_are_refused() {
        for path in [
            "/", "/tmp", "/proc", "/proc/1", "/dev/sda", "/sys", "/sys/fs",
        ] {
            for access in [Writable, ReadOnly, Hidden] {
                let refused = planned(&[(path, access)]);
                assert!(
                    matches!(refused, Err(SandboxError::Reserved { .. })),
                    "{path} {access:?}: {refused:?}"
                );
            }
        }
    }

    #[test]
    fn a_path_with_two_kinds_of_access_is_refused() {
        for (one, other) in [(Writable, Hidden), (Writable, ReadOnly), (Hidden, ReadOnly)] {
            let refused = planned(&[("/p", one), ("/p", other)]);
            assert!(
                matches!(refused, Err(SandboxError::Contradiction { .. })),
                "{refused:?}"
            );
        }
    }
}
