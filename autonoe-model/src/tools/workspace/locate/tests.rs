//! Tests of paths that try to leave the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_core::tool::ToolErrorCode;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Workspace with a neighbour that must stay inaccessible.
struct Fixture {
    folder: TempDir,
    workspace: ToolWorkspace,
}

impl Fixture {
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
        let workspace = ToolWorkspace::open(&folder.path().join("project")).expect("it is there");
        Self { folder, workspace }
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.folder.path().join("project").join(name)).expect("writable");
    }

    fn locate(&self, path: &str) -> Result<PathBuf, ToolErrorCode> {
        let located = self.workspace.locate(path, Purpose::Read);
        let path = located.map(|located| located.path().to_owned());
        path.map_err(|error| error.code)
    }
}

#[test]
fn paths_inside_are_followed() {
    let fixture = Fixture::new();
    let root = fixture.workspace.root().display().to_string();
    fixture.link("to-src", "src");
    fixture.link("src/up", "../b");
    fixture.link("absolute", fixture.workspace.root().join("src/a"));

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
        assert_eq!(fixture.locate(path), Ok(expected.into()), "{path}");
    }
}

#[test]
fn paths_through_a_link_to_the_root_are_paths_of_the_root() {
    let mut fixture = Fixture::new();
    fixture.workspace.aliases.push("/home/ada/link".into());
    fixture.link("out", "../neighbour");

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
        assert_eq!(fixture.locate(path), expected.map(PathBuf::from), "{path}");
    }
}

#[test]
fn paths_out_of_the_workspace_are_refused() {
    let fixture = Fixture::new();
    let root = fixture.workspace.root().display().to_string();
    let neighbour = fixture.folder.path().join("neighbour");
    fixture.link("out", &neighbour);
    fixture.link("up", "../neighbour");
    fixture.link("src/twice", "../up");
    fixture.link("etc", "/etc");
    fixture.link("root", "/");
    fixture.link("self", "/proc/self/root");

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
        let refused = fixture.locate(path);
        assert_eq!(refused, Err(ToolErrorCode::PERMISSION_DENIED), "{path}");
    }
}

#[test]
fn invalid_or_missing_path_has_error_code() {
    let fixture = Fixture::new();
    fixture.link("loop", "loop");
    fixture.link("dead", "src/nothing/below");

    for (path, code) in [
        ("", ToolErrorCode::VALIDATION_ERROR),
        ("a\0b", ToolErrorCode::VALIDATION_ERROR),
        ("loop", ToolErrorCode::VALIDATION_ERROR),
        ("loop/x", ToolErrorCode::VALIDATION_ERROR),
        ("nothing/below", ToolErrorCode::NOT_FOUND),
        ("dead", ToolErrorCode::NOT_FOUND),
        ("b/below", ToolErrorCode::IO_ERROR),
    ] {
        assert_eq!(fixture.locate(path), Err(code), "{path}");
    }
}

#[test]
fn hidden_and_read_only_entries_are_guarded_on_every_path() {
    let mut fixture = Fixture::new();
    for name in [".env", ".autonoe"] {
        fs::create_dir(fixture.folder.path().join("project").join(name)).expect("writable");
    }
    fixture.link("by-link", ".autonoe");
    fixture.link("src/by-link", "../.env");
    fixture.workspace.hidden.insert(".env".into());
    fixture.workspace.read_only.insert(".autonoe".into());
    let code = |path: &str, purpose| {
        let located = fixture.workspace.locate(path, purpose);
        located.err().map(|error| error.code)
    };

    for path in [".env", ".env/x", "src/by-link", "src/../.env/x"] {
        for purpose in [Purpose::Read, Purpose::Change, Purpose::Create] {
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
    assert_eq!(code(".autonoe/status.json", Purpose::Read), None);
    assert_eq!(code("src/.env", Purpose::Read), None);
    let entries = fs::read_dir(fixture.workspace.root().join(".autonoe"));
    assert_eq!(
        entries.expect("there").count(),
        0,
        "nothing was made on the way"
    );
}

/// A name, `..`, or one of the existing links.
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

/// Target of a link: relative to the link, to the folder around the workspace, or to the workspace.
fn target() -> impl Strategy<Value = (u8, String)> {
    (0..3_u8, path())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Compared with the system's resolution: a path inside resolves to the same place, and a path
    /// outside is refused.
    #[test]
    fn resolved_paths_match_the_system(
        targets in prop::collection::vec(target(), 4),
        places in prop::collection::vec(prop_oneof![Just(""), Just("src/"), Just("src/deep/")], 4),
        path in path(),
    ) {
        let fixture = Fixture::new();
        let outer = fixture.folder.path().canonicalize().expect("there");
        let root = fixture.workspace.root().to_owned();
        for (number, ((kind, target), place)) in targets.iter().zip(&places).enumerate() {
            let target = match kind {
                0 => PathBuf::from(target),
                1 => outer.join(target),
                _ => root.join(target),
            };
            fixture.link(&format!("{place}link{number}"), target);
        }

        let found = fixture.workspace.locate(&path, Purpose::Read);

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
            // A path that leaves and re-enters the workspace is refused, too.
            if !truth.starts_with(&root) {
                prop_assert!(found.is_err(), "{:?} is {:?}", path, truth);
            }
        }
    }
}

#[test]
fn refused_tmp_path_mentions_commands() {
    let fixture = Fixture::new();
    for (path, has_hint) in [("/tmp/x", true), ("/etc/x", false), ("../x", false)] {
        let refused = fixture.workspace.locate(path, Purpose::Create);

        let refused = refused.map(drop).expect_err("it is outside");
        assert_eq!(refused.code, ToolErrorCode::PERMISSION_DENIED, "{path}");
        let hinted = refused.message.contains("/tmp is for commands");
        assert_eq!(hinted, has_hint, "{refused:?}");
    }
}
