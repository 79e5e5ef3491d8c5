//! Search for programs in the folders of `PATH`.

use std::env::split_paths;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Finds the program `name` in the folders of `path_variable`, as a shell would.
///
/// Relative folders are skipped: their meaning depends on the current directory, and programs must
/// not come from an agent's project. A name with a slash is a path and is not found.
///
/// ```
/// use std::ffi::OsStr;
///
/// use autonoe_process::find_program;
///
/// let found = find_program("sh", OsStr::new("/nowhere:/usr/bin:/bin"));
///
/// assert!(found.is_some_and(|path| path.ends_with("bin/sh")));
/// assert_eq!(find_program("sh", OsStr::new("")), None);
/// ```
pub fn find_program(name: impl AsRef<OsStr>, path_variable: &OsStr) -> Option<PathBuf> {
    let name = name.as_ref();
    let is_plain = Path::new(name).file_name() == Some(name);
    split_paths(path_variable)
        .filter(|folder| is_plain && folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder_with(name: &str, mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::write(&path, "").expect("writable");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("ours");
        folder
    }

    #[test]
    fn the_first_that_can_be_executed_is_found() {
        let (plain, first) = (folder_with("tool", 0o644), folder_with("tool", 0o755));
        let directory = tempfile::tempdir().expect("a folder");
        fs::create_dir(directory.path().join("tool")).expect("writable");
        let second = folder_with("tool", 0o755);
        let all = [plain.path(), directory.path(), first.path(), second.path()];
        let variable = std::env::join_paths(all).expect("plain names");

        let found = find_program("tool", &variable);

        assert_eq!(found, Some(first.path().join("tool")));
        assert_eq!(find_program("other", &variable), None);
    }

    #[test]
    fn only_names_are_searched_and_only_in_absolute_folders() {
        for (name, variable) in [
            ("", "/bin"),
            ("..", "/bin"),
            ("../bin/sh", "/bin"),
            ("/bin/sh", "/bin"),
            ("sh/", "/bin"),
            ("sh", ""),
            ("sh", ":"),
            // From any folder of a sensible depth, this is `/bin`.
            ("sh", "../../../../../../../../../../../../bin"),
        ] {
            let found = find_program(name, OsStr::new(variable));
            assert_eq!(found, None, "{name:?} in {variable:?}");
        }
    }
}
