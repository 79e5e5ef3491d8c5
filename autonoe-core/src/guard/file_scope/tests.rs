use proptest::prelude::*;
use serde_json::json;

use super::*;

fn places() -> Places {
    Places::new("/no-srv/project").with_home("/no-home/user")
}

fn read(paths: &[&str]) -> ToolKind {
    ToolKind::Read {
        paths: paths.iter().map(PathBuf::from).collect(),
    }
}

fn write(paths: &[&str]) -> ToolKind {
    ToolKind::Write {
        paths: paths.iter().map(PathBuf::from).collect(),
    }
}

fn passes(kind: ToolKind, places: &Places) -> bool {
    let call = ToolCall::new("tool", json!({}))
        .with_kind(kind)
        .in_dir(&places.project);
    FileScope::new(places.clone()).judge(&call).is_ok()
}

#[test]
fn writes_stay_inside_the_project_and_the_temporary_places() {
    for (path, pass) in [
        ("a", true),
        ("src/new/a.rs", true),
        ("./a/../b", true),
        ("/no-srv/project/a", true),
        ("/tmp/a", true),
        (".gitignore", true),
        (".github/workflows/ci.yml", true),
        (".autonoe-note.md", true),
        ("~draft", true),
        ("", false),
        (".", false),
        ("a/..", false),
        ("/no-srv/project", false),
        ("/tmp", false),
        ("../a", false),
        ("/no-srv/project-two/a", false),
        ("/no-srv/project/../a", false),
        ("/tmp/../etc/a", false),
        ("/etc/passwd", false),
        ("~/a", false),
        ("~other/a", false),
        ("..\\..\\a", false),
        ("a\\..\\..\\b", false),
        ("\\etc\\passwd", false),
        ("a\0b", false),
        (".git/hooks/pre-commit", false),
        ("sub/.GIT/config", false),
        (".git\\config", false),
        ("/tmp/x/.git/config", false),
    ] {
        assert_eq!(passes(write(&[path]), &places()), pass, "{path:?}");
    }
}

#[test]
fn every_path_of_a_call_counts_and_no_path_is_too_few() {
    assert!(!passes(write(&["a", "../b"]), &places()));
    assert!(!passes(write(&[]), &places()));
    assert!(!passes(read(&["a", "~/.ssh"]), &places()));
    assert!(!passes(read(&[]), &places()));
}

#[test]
fn reads_are_open_apart_from_credentials() {
    for (path, pass) in [
        ("a", true),
        (".", true),
        ("/usr/include/stdio.h", true),
        ("/etc/hosts", true),
        ("~/code/other", true),
        (".npmrc", true),
        ("../other", true),
        ("~/.ssh/id_rsa", false),
        ("/no-home/user/.ssh/id_rsa", false),
        ("/no-home/user/code/../.ssh", false),
        ("../../no-home/user/.aws/credentials", false),
        ("/no-home/user/.SSH/id_rsa", false),
        ("\\no-home\\user\\.ssh\\id_rsa", false),
        ("~\\.ssh\\id_rsa", false),
        ("~root/.ssh/id_rsa", false),
        ("~/.claude.json", false),
        ("~/.codex/auth.json", false),
        ("/proc/self/environ", false),
        ("/proc/1/task/1/environ", false),
        ("/etc/shadow", false),
        ("/etc/../etc/shadow", false),
        ("~", false),
        ("~/.config", false),
        ("/no-home", false),
        ("/", false),
    ] {
        assert_eq!(passes(read(&[path]), &places()), pass, "{path:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_beside_a_place_of_credentials_contains_nothing() {
    assert!(passes(read(&["/proc/meminfo"]), &places()));
    assert!(!passes(read(&["/proc"]), &places()));
    assert!(!passes(read(&["/proc/self/root/etc/shadow"]), &places()));
}

#[test]
fn without_a_home_credentials_are_known_by_their_names() {
    let places = Places::new("/no-srv/project");

    assert!(!passes(read(&["/root/.ssh/id_rsa"]), &places));
    assert!(!passes(read(&["~/.ssh/id_rsa"]), &places));
    assert!(passes(read(&["~/code/a"]), &places));
    assert!(!passes(write(&["~/code/a"]), &places));
    assert!(passes(read(&["."]), &places));
}

#[test]
fn more_places_of_credentials_can_be_named() {
    let credentials = CredentialPlaces::default()
        .with_place(".env")
        .with_place("/opt/keys");
    let scope = FileScope::new(places()).with_credentials(credentials);

    for path in [
        "/no-srv/project/.env",
        "/opt/keys/a",
        "/opt",
        "/no-home/user/.ssh",
    ] {
        let call = ToolCall::new("tool", json!({})).with_kind(read(&[path]));

        assert!(scope.judge(&call).is_err(), "{path}");
    }
}

#[test]
fn a_file_is_not_fetched() {
    for (url, pass) in [
        ("https://example.com/file:x", true),
        ("file:///etc/shadow", false),
        (" FILE:/etc/shadow", false),
        ("", true),
        ("日本語", true),
    ] {
        assert_eq!(
            passes(ToolKind::Fetch { url: url.into() }, &places()),
            pass,
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_block_names_the_path_and_the_way_out() {
    let call = ToolCall::new("Write", json!({"file_path": "/etc/x"}));

    assert_eq!(
        FileScope::new(places()).check(&call).await,
        HookDecision::block(
            "\"/etc/x\" is outside the project; write inside the project or in [\"/tmp\"]"
        ),
    );
}

#[cfg(unix)]
mod with_symlinks {
    use std::fs::{create_dir_all, write as write_file};
    use std::os::unix::fs::symlink;

    use super::*;

    /// A project, a home and a directory of somebody else, without temporary places.
    fn world() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().expect("a directory can be made");
        for name in ["project/src", "home/.ssh", "home/code", "else"] {
            create_dir_all(dir.path().join(name)).expect("it can be made");
        }
        write_file(dir.path().join("home/.ssh/id"), "key").expect("it can be written");
        let places = Places::new(dir.path().join("project"))
            .with_home(dir.path().join("home"))
            .with_temporary([]);
        (dir, places)
    }

    #[test]
    fn a_symlink_does_not_lead_a_write_out() {
        let (dir, places) = world();
        let link = |to: &str, name: &str| {
            symlink(to, dir.path().join("project").join(name)).expect("it can be made");
        };
        link("../else", "out");
        link("../else/new", "dangling");
        link("src", "in");
        link("loop", "loop");
        link("deep", "in2");
        link("../project/src", "back");

        for (path, pass) in [
            ("in/a", true),
            ("in2/a", true),
            ("back/a", true),
            ("src/a", true),
            ("out/a", false),
            ("out", false),
            ("dangling", false),
            ("loop", false),
            ("loop/a", false),
            ("out/../a", false),
        ] {
            assert_eq!(passes(write(&[path]), &places), pass, "{path}");
        }
    }

    #[test]
    fn a_project_that_is_a_symlink_works_under_both_names() {
        let (dir, mut places) = world();
        symlink("project", dir.path().join("alias")).expect("it can be made");
        let real = places.project.canonicalize().expect("it exists");
        places.project = dir.path().join("alias");

        assert!(passes(write(&["a"]), &places));
        assert!(passes(write(&[&real.join("a").to_string_lossy()]), &places));
        assert!(!passes(write(&["."]), &places));
        assert!(!passes(write(&[&real.to_string_lossy()]), &places));
        assert!(!passes(write(&["../a"]), &places));
    }

    #[test]
    fn a_symlink_does_not_lead_a_read_to_credentials() {
        let (dir, places) = world();
        symlink("../home/.ssh", dir.path().join("project/keys")).expect("it can be made");
        symlink("../home", dir.path().join("project/home")).expect("it can be made");

        assert!(!passes(read(&["keys/id"]), &places));
        assert!(!passes(read(&["home"]), &places));
        assert!(!passes(read(&["home/.ssh/id"]), &places));
        assert!(passes(read(&["home/code/a"]), &places));
    }

    #[test]
    fn credentials_behind_a_symlink_are_known_where_they_really_are() {
        let (dir, places) = world();
        symlink("../else", dir.path().join("home/.aws")).expect("it can be made");

        assert!(!passes(read(&["../else/credentials"]), &places));
    }

    #[test]
    fn a_project_that_lives_beside_or_above_credentials_still_works() {
        let (dir, mut places) = world();
        places.project = dir.path().join("home/code");
        assert!(passes(read(&["."]), &places));
        assert!(passes(write(&["a"]), &places));

        places.project = dir.path().join("home");
        assert!(passes(read(&["code"]), &places));
        assert!(passes(write(&["a"]), &places));
        assert!(!passes(read(&["."]), &places));
        assert!(!passes(write(&[".ssh/authorized_keys"]), &places));

        std::fs::remove_dir_all(dir.path().join("home/.ssh")).expect("it can be removed");
        assert!(passes(read(&["."]), &places));
        create_dir_all(dir.path().join("home/.kube")).expect("it can be made");
        assert!(!passes(read(&["."]), &places));
    }
}

proptest! {
    #[test]
    fn a_write_that_lands_outside_never_passes(path in "(/|\\.\\./|\\./|~/|no-srv/|project/|tmp/|[a-z.]{1,3}/){0,8}[a-z]{0,3}") {
        let places = places().with_temporary([]);

        let passed = passes(write(&[&path]), &places);

        let lands = crate::port::lexical_path::normalise(&places.project.join(&path));
        prop_assert!(!passed || (lands.starts_with(&places.project) && lands != places.project));
    }

    #[test]
    fn no_path_makes_it_panic_or_approve(path in ".*", home in any::<bool>()) {
        let places = if home { places() } else { Places::new("/no-srv/project") };

        passes(read(&[&path]), &places);
        passes(write(&[&path]), &places);
    }
}
