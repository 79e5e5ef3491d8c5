//! Paths that try to leave the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_core::ToolErrorCode;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A workspace with a neighbour that nobody must get at.
struct Yard {
    folder: TempDir,
    workspace: Workspace,
}

impl Yard {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["project/src/deep", "neighbour", "project-other"] {
            fs::create_dir_all(folder.path().join(name)).expect("writable");
        }
        for name in [
            "project/src/a",
            "project/b",
            "neighbour/key",
            "project-other/key",
        ] {
            fs::write(folder.path().join(name), name).expect("writable");
        }
        let workspace = Workspace::open(folder.path().join("project")).expect("it is there");
        Self { folder, workspace }
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.folder.path().join("project").join(name)).expect("writable");
    }

    fn look(&self, path: &str) -> Result<PathBuf, ToolErrorCode> {
        let located = self.workspace.locate(path, Purpose::Look);
        let path = located.map(|located| located.path().to_owned());
        path.map_err(|error| error.code)
    }
}

#[test]
fn paths_inside_are_followed() {
    let yard = Yard::new();
    let root = yard.workspace.root().display().to_string();
    yard.link("to-src", "src");
    yard.link("src/up", "../b");
    yard.link("absolute", yard.workspace.root().join("src/a"));

    for (path, expected) in [
        ("b", "b"),
        ("./src/../src/./a", "src/a"),
        ("src/deep/..", "src"),
        ("src/..", ""),
        (".", ""),
        ("to-src/a", "src/a"),
        ("to-src/up", "b"),
        ("to-src/deep/../../b", "b"),
        ("absolute", "src/a"),
        ("new", "new"),
        ("to-src/new", "src/new"),
        (root.as_str(), ""),
        (&format!("{root}/src/a"), "src/a"),
        (&format!("{root}//b"), "b"),
    ] {
        assert_eq!(yard.look(path), Ok(expected.into()), "{path}");
    }
}

#[test]
fn paths_through_a_link_to_the_root_are_paths_of_the_root() {
    let mut yard = Yard::new();
    yard.workspace = yard.workspace.alias("/home/ada/link");
    yard.link("out", "../neighbour");

    for (path, expected) in [
        ("/home/ada/link", Ok("")),
        ("/home/ada/link/src/a", Ok("src/a")),
        (
            "/home/ada/link/../key",
            Err(ToolErrorCode::PERMISSION_DENIED),
        ),
        (
            "/home/ada/link/out/key",
            Err(ToolErrorCode::PERMISSION_DENIED),
        ),
        ("/home/ada/linked", Err(ToolErrorCode::PERMISSION_DENIED)),
    ] {
        assert_eq!(yard.look(path), expected.map(PathBuf::from), "{path}");
    }
}

#[test]
fn paths_that_lead_out_are_refused() {
    let yard = Yard::new();
    let root = yard.workspace.root().display().to_string();
    let neighbour = yard.folder.path().join("neighbour");
    yard.link("out", &neighbour);
    yard.link("up", "../neighbour");
    yard.link("src/twice", "../up");
    yard.link("etc", "/etc");
    yard.link("root", "/");
    yard.link("self", "/proc/self/root");

    for path in [
        "..",
        "../neighbour/key",
        "src/../../neighbour/key",
        "/etc/passwd",
        "/",
        "out/key",
        "out",
        "up/key",
        "src/twice/key",
        "etc/passwd",
        "root/etc/passwd",
        "self/etc/passwd",
        &format!("{root}-other/key"),
        &format!("{root}/../neighbour/key"),
    ] {
        let refused = yard.look(path);
        assert_eq!(refused, Err(ToolErrorCode::PERMISSION_DENIED), "{path}");
    }
}

#[test]
fn what_is_no_path_or_leads_nowhere_is_told() {
    let yard = Yard::new();
    yard.link("loop", "loop");
    yard.link("dead", "src/nothing/below");

    for (path, code) in [
        ("", ToolErrorCode::VALIDATION_ERROR),
        ("a\0b", ToolErrorCode::VALIDATION_ERROR),
        ("loop", ToolErrorCode::VALIDATION_ERROR),
        ("loop/x", ToolErrorCode::VALIDATION_ERROR),
        ("nothing/below", ToolErrorCode::NOT_FOUND),
        ("dead", ToolErrorCode::NOT_FOUND),
        ("b/below", ToolErrorCode::IO_ERROR),
    ] {
        assert_eq!(yard.look(path), Err(code), "{path}");
    }
}

#[test]
fn hidden_and_read_only_entries_are_guarded_by_every_way_to_them() {
    let mut yard = Yard::new();
    for name in [".env", ".autonoe"] {
        fs::create_dir(yard.folder.path().join("project").join(name)).expect("writable");
    }
    yard.link("by-link", ".autonoe");
    yard.link("src/by-link", "../.env");
    yard.workspace = yard.workspace.hidden(".env").read_only(".autonoe");
    let code = |path: &str, purpose| {
        let located = yard.workspace.locate(path, purpose);
        located.err().map(|error| error.code)
    };

    for path in [".env", ".env/x", "src/by-link", "src/../.env/x"] {
        for purpose in [Purpose::Look, Purpose::Change, Purpose::Create] {
            assert_eq!(
                code(path, purpose),
                Some(ToolErrorCode::NOT_FOUND),
                "{path}"
            );
        }
    }
    for path in [".autonoe", ".autonoe/a/b", "by-link/x", "src/../.autonoe/x"] {
        for purpose in [Purpose::Change, Purpose::Create] {
            let denied = Some(ToolErrorCode::PERMISSION_DENIED);
            assert_eq!(code(path, purpose), denied, "{path}");
        }
    }
    assert_eq!(code(".autonoe/status.json", Purpose::Look), None);
    assert_eq!(code("src/.env", Purpose::Look), None);
    let made = fs::read_dir(yard.workspace.root().join(".autonoe"));
    assert_eq!(
        made.expect("there").count(),
        0,
        "nothing was made on the way"
    );
}

/// A name, a way up, or a link that was made before.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just("src".to_owned()),
        Just("deep".to_owned()),
        Just("a".to_owned()),
        Just("neighbour".to_owned()),
        Just("key".to_owned()),
        Just("project".to_owned()),
        (0..4_u8).prop_map(|number| format!("link{number}")),
    ]
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..6).prop_map(|parts| parts.join("/"))
}

/// Where a link leads: from where it is, from the folder around the workspace, or to it.
fn target() -> impl Strategy<Value = (u8, String)> {
    (0..3_u8, path())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The system's own idea of a path decides: what is inside is found as the same place,
    /// what is outside is refused.
    #[test]
    fn a_path_leads_where_the_system_says_or_nowhere(
        targets in prop::collection::vec(target(), 4),
        places in prop::collection::vec(prop_oneof![Just(""), Just("src/"), Just("src/deep/")], 4),
        path in path(),
    ) {
        let yard = Yard::new();
        let outer = yard.folder.path().canonicalize().expect("there");
        let root = yard.workspace.root().to_owned();
        for (number, ((kind, target), place)) in targets.iter().zip(&places).enumerate() {
            let target = match kind {
                0 => PathBuf::from(target),
                1 => outer.join(target),
                _ => root.join(target),
            };
            yard.link(&format!("{place}link{number}"), target);
        }

        let found = yard.workspace.locate(&path, Purpose::Look);

        let truth = root.join(&path).canonicalize();
        if let Ok(located) = &found {
            let parent = root.join(located.path());
            let parent = if located.path().as_os_str().is_empty() {
                parent
            } else {
                parent.parent().expect("in the workspace").to_owned()
            };
            prop_assert!(parent.starts_with(&root));
            let real = parent.canonicalize().expect("it is there");
            prop_assert_eq!(real, parent);
            if let Ok(truth) = &truth {
                prop_assert_eq!(&root.join(located.path()), truth);
            }
        }
        if let Ok(truth) = &truth {
            // A path may go out and come in again; that is refused too.
            if !truth.starts_with(&root) {
                prop_assert!(found.is_err(), "{:?} is {:?}", path, truth);
            }
        }
    }
}

#[test]
fn a_refused_path_in_tmp_says_who_has_it() {
    let yard = Yard::new();
    for (path, is_told) in [("/tmp/x", true), ("/etc/x", false), ("../x", false)] {
        let refused = yard.workspace.locate(path, Purpose::Create);

        let refused = refused.map(drop).expect_err("it is outside");
        assert_eq!(refused.code, ToolErrorCode::PERMISSION_DENIED, "{path}");
        let told = refused.message.contains("/tmp is for commands");
        assert_eq!(told, is_told, "{refused:?}");
    }
}
