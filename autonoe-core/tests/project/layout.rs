//! Finding the project: the table of section 8.2 of the specification.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use autonoe_core::Project;
use autonoe_core::project::{FileKind, ProjectError, TextFileError};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

// Shows: spec/8.2/nothing-working-directory
#[test]
fn not_provided_is_the_working_directory() {
    let dir = folder();

    let project = Project::find(dir.path(), None).expect("it is there");

    assert_eq!(project.root(), fs::canonicalize(dir.path()).expect("there"));
}

// Shows: spec/8.2/absolute-path-yes
#[test]
fn an_absolute_path_is_used_as_it_is() {
    let (dir, other_dir) = (folder(), folder());

    let project = Project::find(other_dir.path(), Some(dir.path())).expect("it is there");

    assert_eq!(project.root(), fs::canonicalize(dir.path()).expect("there"));
}

// Shows: spec/8.2/relative-path-yes
#[test]
fn a_relative_path_is_resolved() {
    let dir = folder();
    fs::create_dir(dir.path().join("shop")).expect("writable");

    let project = Project::find(dir.path(), Some(Path::new("./shop/../shop"))).expect("there");

    assert_eq!(
        project.root(),
        fs::canonicalize(dir.path().join("shop")).expect("there")
    );
}

// Shows: spec/8.2/any-path-no
#[test]
fn a_path_that_does_not_exist_is_an_error_that_names_it() {
    let dir = folder();

    let error = Project::find(dir.path(), Some(Path::new("gone"))).expect_err("nothing there");

    assert!(
        matches!(error, ProjectError::NoDirectory { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("gone"), "{error}");
}

#[test]
fn project_path_to_a_file_is_refused() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").expect("writable");

    let error = Project::find(dir.path(), Some(Path::new("file"))).expect_err("no directory");

    let is_expected = matches!(
        error,
        ProjectError::NotADirectory {
            found: FileKind::File,
            ..
        }
    );
    assert!(is_expected, "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("is a file and not a directory"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_broken_symlink_is_an_error_that_names_the_kind() {
    let dir = folder();
    std::os::unix::fs::symlink("gone", dir.path().join("link")).expect("writable");

    let error = Project::find(dir.path(), Some(Path::new("link"))).expect_err("no directory");

    let message = error.to_string();
    assert!(
        message.contains("is a symlink that leads nowhere;"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_project_keeps_the_link_that_it_was_found_by() {
    let dir = folder();
    let base = fs::canonicalize(dir.path()).expect("there");
    fs::create_dir_all(base.join("work/shop")).expect("writable");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, base.join(name)).expect("writable");
    };
    link("work/shop", "link");
    link("work", "above");

    for (chosen, found) in [
        ("work/shop", None),
        ("./work/./shop", None),
        ("link", Some("link")),
        ("./work/../link/", Some("link")),
        ("above/shop", Some("above/shop")),
        // The system follows the link first, so this is `work`.
        ("link/..", None),
    ] {
        let project = Project::find(&base, Some(Path::new(chosen))).expect("there");

        let link = found.map(|found| base.join(found));
        assert_eq!(project.link(), link.as_deref(), "{chosen}");
        assert!(project.root().starts_with(base.join("work")), "{chosen}");
        assert_eq!(project.paths().project_link, link, "{chosen}");
    }
}

#[test]
fn the_specification_must_be_there() {
    let dir = folder();
    let project = Project::find(dir.path(), None).expect("it is there");

    let missing = project.specification().expect_err("it is missing");
    fs::create_dir(dir.path().join("SPEC.md")).expect("writable");
    let folder = project
        .specification()
        .expect_err("a folder is no specification");

    assert!(
        matches!(missing, ProjectError::NoSpecification { .. }),
        "{missing:?}"
    );
    assert!(
        matches!(
            folder,
            ProjectError::Text(TextFileError::NotAFile {
                found: FileKind::Folder,
                ..
            })
        ),
        "{folder:?}"
    );
}

#[test]
fn a_specification_must_not_be_blank() {
    let dir = folder();
    let project = Project::find(dir.path(), None).expect("it is there");
    for (text, is_one) in [
        ("", false),
        (" \r\n\t", false),
        ("\u{feff}\n", false),
        ("\u{200b}\u{a0}", false),
        ("\u{feff}# Shop", true),
        (".", true),
    ] {
        fs::write(dir.path().join("SPEC.md"), text).expect("writable");

        let found = project.specification();

        if is_one {
            assert!(found.is_ok(), "{text:?}: {found:?}");
        } else {
            assert!(
                matches!(found, Err(ProjectError::BlankSpecification { .. })),
                "{text:?}: {found:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_in_the_place_of_our_folder_is_refused() {
    let (dir, other_dir) = (folder(), folder());
    std::os::unix::fs::symlink(other_dir.path(), dir.path().join(".autonoe")).expect("writable");
    let project = Project::find(dir.path(), None).expect("it is there");

    let refused = project.ensure_state_dir();

    assert!(
        matches!(refused, Err(ProjectError::NotAFolder { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(other_dir.path()).expect("readable").count(), 0);
}

#[test]
fn concurrent_creators_of_the_state_folder_all_succeed() {
    for _ in 0..50 {
        let dir = folder();
        let project = Project::find(dir.path(), None).expect("it is there");
        let all_at_once = Barrier::new(4);

        let result = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        all_at_once.wait();
                        project.ensure_state_dir()
                    })
                })
                .collect();
            let results = makers
                .into_iter()
                .map(|maker| maker.join().expect("no panic"));
            results.collect::<Result<Vec<_>, _>>()
        });

        assert!(result.is_ok(), "{result:?}");
    }
}
