//! Resolves the folder of a task and files inside of it.

use std::path::{Path, PathBuf};

/// Resolves the folder of a task: `cwd` relative to `root`, or `root` itself.
///
/// A task is data, perhaps from a file that an agent wrote. It cannot select a folder outside of
/// the root, not even through a symbolic link.
///
/// # Errors
///
/// The folder does not exist, is not a folder, or is outside of the root.
pub(super) fn resolve_folder(
    root: &Path,
    cwd: Option<&Path>,
) -> Result<PathBuf, (PathBuf, String)> {
    let requested = cwd.map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|error| (requested.clone(), error.to_string()))
    };
    let (root, found) = (real(root)?, real(&requested)?);
    if !found.starts_with(&root) {
        return Err((requested, format!("it is not inside {}", root.display())));
    }
    if !found.is_dir() {
        return Err((requested, "it is not a folder".to_owned()));
    }
    Ok(found)
}

/// Resolves a file inside of a folder. The file need not exist.
///
/// # Errors
///
/// The path leaves the folder, possibly through a symbolic link.
pub(super) fn resolve_inside(folder: &Path, file: &Path) -> Result<PathBuf, String> {
    let requested = folder.join(file);
    let Ok(found) = requested.canonicalize() else {
        // A missing file has no links to follow, and validated paths stay inside.
        return Ok(requested);
    };
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    if found.starts_with(&folder) {
        Ok(found)
    } else {
        Err(format!(
            "{} is outside the folder of the task",
            file.display()
        ))
    }
}

/// Returns the problem with the path of a file that must be inside of a folder.
pub(super) fn path_problem(file: &Path) -> Option<&'static str> {
    use std::path::Component;
    if file.as_os_str().is_empty() {
        return Some("its path is empty");
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    (!file.components().all(is_plain)).then_some("its path is not inside the folder")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    // Shows: fleets/executor/cwd
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
            let found = resolve_folder(path, cwd.map(Path::new));
            assert_eq!(found.is_ok(), fits, "{cwd:?} {found:?}");
        }
        assert!(resolve_inside(path, Path::new("file")).is_ok());
        assert!(resolve_inside(path, Path::new("missing")).is_ok());
        fs::write(outside.path().join("secret"), "x").expect("a file");
        assert!(resolve_inside(path, Path::new("out/secret")).is_err());
        for (file, fits) in [
            ("a/b", true),
            ("./a", true),
            ("", false),
            ("../a", false),
            ("/a", false),
        ] {
            assert_eq!(path_problem(Path::new(file)).is_none(), fits, "{file}");
        }
    }
}
