//! Where a task is done.

use std::path::{Path, PathBuf};

/// Finds the folder that a task is done in: `cwd` from `root`, or `root` itself.
///
/// A task is data, perhaps from a file that an agent wrote, so it does not choose a place outside
/// of the root, also not by a symbolic link.
///
/// # Errors
///
/// It is not there, is no folder, or is outside.
pub(super) fn folder(root: &Path, cwd: Option<&Path>) -> Result<PathBuf, (PathBuf, String)> {
    let wanted = cwd.map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|error| (wanted.clone(), error.to_string()))
    };
    let (root, found) = (real(root)?, real(&wanted)?);
    if !found.starts_with(&root) {
        return Err((wanted, format!("it is not inside of {}", root.display())));
    }
    if !found.is_dir() {
        return Err((wanted, "it is not a folder".to_owned()));
    }
    Ok(found)
}

/// Finds a file of a folder, also if it is not there yet.
///
/// # Errors
///
/// It leads out of the folder, also by a symbolic link.
pub(super) fn inside(folder: &Path, file: &Path) -> Result<PathBuf, String> {
    let wanted = folder.join(file);
    let Ok(found) = wanted.canonicalize() else {
        // What is not there leads nowhere; it is named so that it stays inside.
        return Ok(wanted);
    };
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    match found.starts_with(&folder) {
        true => Ok(found),
        false => Err(format!(
            "{} leads out of the folder of the task",
            file.display()
        )),
    }
}

/// Tells what is wrong with the path of a file inside of a folder.
pub(super) fn problem_with(file: &Path) -> Option<&'static str> {
    use std::path::Component;
    if file.as_os_str().is_empty() {
        return Some("its path is empty");
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    (!file.components().all(is_plain)).then_some("its path is not one inside of the folder")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_task_stays_inside_of_its_root() {
        let root = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let path = root.path();
        fs::create_dir_all(path.join("a/b")).expect("a folder");
        fs::write(path.join("file"), "x").expect("a file");
        symlink(outside.path(), path.join("out")).expect("a link");
        symlink(path.join("a"), path.join("in")).expect("a link");

        for (cwd, fits) in [
            (None, true),
            (Some("a/b"), true),
            (Some("a/../a"), true),
            (Some("in/b"), true),
            (path.join("a").to_str(), true),
            (Some(".."), false),
            (Some("a/../.."), false),
            (Some("out"), false),
            (outside.path().to_str(), false),
            (Some("file"), false),
            (Some("missing"), false),
        ] {
            let found = folder(path, cwd.map(Path::new));
            assert_eq!(found.is_ok(), fits, "{cwd:?} {found:?}");
        }
        assert!(inside(path, Path::new("file")).is_ok());
        assert!(inside(path, Path::new("missing")).is_ok());
        fs::write(outside.path().join("secret"), "x").expect("a file");
        assert!(inside(path, Path::new("out/secret")).is_err());
        for (file, fits) in [
            ("a/b", true),
            ("./a", true),
            ("", false),
            ("../a", false),
            ("/a", false),
        ] {
            assert_eq!(problem_with(Path::new(file)).is_none(), fits, "{file}");
        }
    }
}
