use proptest::prelude::*;
use serde_json::json;

use super::*;

fn places() -> Places {
    Places::new("/no-srv/project").with_home("/no-home/user")
}

fn write(paths: &[&str]) -> ToolCall {
    let paths = paths.iter().map(PathBuf::from).collect();
    ToolCall::new("apply_patch", json!({}))
        .with_kind(ToolKind::Write { paths })
        .in_dir("/no-srv/project")
}

fn passes(call: &ToolCall) -> bool {
    AutonoeGuard::new(places()).judge(call).is_ok()
}

#[test]
fn no_spelling_of_the_directory_is_written_to() {
    for path in [
        ".autonoe",
        ".autonoe/status.json",
        "./.autonoe/status.json",
        "/no-srv/project/.autonoe/status.json",
        "src/../.autonoe/x",
        ".autonoe/../a",
        "sub/.autonoe/x",
        "../other/.autonoe/x",
        ".AUTONOE/x",
        ".Autonoe./x",
        ".autonoe /x",
        ".auto\u{200b}noe/x",
        ".autonoe\\status.json",
        "sub\\.autonoe\\x",
        ".autonoe::$DATA",
        "AUTONO~1/x",
    ] {
        assert!(!passes(&write(&[path])), "{path:?}");
        assert!(!passes(&write(&["a", path])), "{path:?}");
    }
    assert!(!passes(
        &write(&["status.json"]).in_dir("/no-srv/project/.autonoe")
    ));
    assert!(!passes(&write(&[])));
}

#[test]
fn other_files_are_ordinary() {
    for path in [
        ".autonoe-note.md",
        "src/main.rs",
        "docs/autonoe",
        ".autonoerc",
        "a.autonoe",
        "/tmp/x",
    ] {
        assert!(passes(&write(&[path])), "{path:?}");
    }
}

#[test]
fn a_project_inside_such_a_directory_still_works() {
    let guard = AutonoeGuard::new(Places::new("/x/.autonoe/trees/1"));
    let judge = |path: &str| guard.judge(&write(&[path]).in_dir("/x/.autonoe/trees/1"));

    assert_eq!(judge("src/a"), Ok(()));
    assert_eq!(judge("/x/.autonoe/trees/1/src/a"), Ok(()));
    assert!(judge(".autonoe/x").is_err());
    assert!(judge("../2/a").is_err());
    assert!(judge("/x/.autonoe/status.json").is_err());
}

#[test]
fn a_sync_run_writes_the_note_and_nothing_else() {
    for (path, pass) in [
        (".autonoe-note.md", true),
        ("./src/../.autonoe-note.md", true),
        ("/no-srv/project/.autonoe-note.md", true),
        ("docs/.autonoe-note.md", false),
        ("../.autonoe-note.md", false),
        (".autonoe-note.md/x", false),
        (".AUTONOE-note.md", false),
        ("~/.autonoe-note.md", false),
        ("src/a", false),
        ("/tmp/a", false),
        (".autonoe/status.json", false),
    ] {
        assert_eq!(
            passes(&write(&[path]).in_mode(Mode::Sync)),
            pass,
            "{path:?}"
        );
    }
    assert!(!passes(
        &write(&[".autonoe-note.md", "a"]).in_mode(Mode::Sync)
    ));
}

#[test]
fn a_shell_command_may_only_read_it() {
    let bash = |command: &str| ToolCall::new("Bash", json!({ "command": command }));

    assert!(passes(&bash("cat .autonoe/status.json")));
    assert!(passes(&bash("npm test")));
    assert!(!passes(&bash("echo {} > .autonoe/status.json")));
    assert!(!passes(&bash("rm -rf .auto*")));
}

#[test]
fn an_unknown_tool_may_not_mention_it_anywhere() {
    for (name, input, pass) in [
        (
            "mcp__files__write",
            json!({"path": ".autonoe/status.json"}),
            false,
        ),
        (
            "mcp__files__write",
            json!({"files": [{"to": "a/.AUTONOE"}]}),
            false,
        ),
        ("mcp__files__write", json!({".autonoe/x": "content"}), false),
        (
            "mcp__files__write",
            json!({"path": ".auto\u{200b}noe/x"}),
            false,
        ),
        (
            "mcp__files__write",
            json!({"path": "sub\\.autonoe\\x"}),
            false,
        ),
        (
            "mcp__files__write",
            json!({"path": ".autonoe-note.md", "n": [1, null, true]}),
            true,
        ),
        ("mcp__files__write", json!({"path": "src/a"}), true),
        (
            "mcp__autonoe__create",
            json!({"description": "keeps .autonoe/ tidy"}),
            true,
        ),
        ("mcp__autonoe2__create", json!({"path": ".autonoe/"}), false),
        (
            "Task",
            json!({"prompt": "change .autonoe/status.json"}),
            false,
        ),
        ("Task", json!({"prompt": "change autonoe"}), true),
    ] {
        assert_eq!(
            passes(&ToolCall::new(name, input.clone())),
            pass,
            "{name} {input}"
        );
    }
}

#[test]
fn reading_it_is_open() {
    assert!(passes(&ToolCall::new(
        "Read",
        json!({"file_path": ".autonoe/status.json"})
    )));
    assert!(passes(&ToolCall::new(
        "Grep",
        json!({"pattern": ".autonoe", "path": ".autonoe"})
    )));
}

#[tokio::test]
async fn a_block_points_to_the_tools() {
    let decision = AutonoeGuard::new(places())
        .check(&write(&[".autonoe/status.json"]))
        .await;

    assert_eq!(
        decision,
        HookDecision::block(
            "\".autonoe/status.json\" is in .autonoe/, which is not written directly; use the \
             autonoe tools to change deliverables"
        ),
    );
}

#[cfg(unix)]
mod with_symlinks {
    use std::os::unix::fs::symlink;

    use super::*;

    fn world() -> (tempfile::TempDir, AutonoeGuard, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join("src")).expect("it can be made");
        let guard = AutonoeGuard::new(Places::new(&project));
        (dir, guard, project)
    }

    #[test]
    fn a_symlink_to_the_directory_is_the_directory() {
        let (_dir, guard, project) = world();
        std::fs::create_dir(project.join(".autonoe")).expect("it can be made");
        symlink(".autonoe", project.join("state")).expect("it can be made");
        symlink("../.autonoe/status.json", project.join("src/s")).expect("it can be made");
        symlink("loop", project.join("loop")).expect("it can be made");

        for (path, pass) in [
            ("state/status.json", false),
            ("src/s", false),
            ("loop", false),
            ("src/a", true),
        ] {
            let verdict = guard.judge(&write(&[path]).in_dir(&project));

            assert_eq!(verdict.is_ok(), pass, "{path}: {verdict:?}");
        }
    }

    #[test]
    fn a_directory_that_is_a_symlink_is_guarded_where_it_leads() {
        let (_dir, guard, project) = world();
        std::fs::create_dir(project.join("state")).expect("it can be made");
        symlink("state", project.join(".autonoe")).expect("it can be made");

        assert!(
            guard
                .judge(&write(&["state/status.json"]).in_dir(&project))
                .is_err()
        );
    }

    #[test]
    fn a_note_that_is_a_symlink_is_not_written_in_a_sync_run() {
        let (_dir, guard, project) = world();
        let call = write(&[".autonoe-note.md"])
            .in_dir(&project)
            .in_mode(Mode::Sync);
        assert_eq!(guard.judge(&call), Ok(()));

        symlink("src/main.rs", project.join(".autonoe-note.md")).expect("it can be made");

        assert!(guard.judge(&call).is_err());
    }

    #[test]
    fn a_project_that_is_a_symlink_has_its_note_under_both_names() {
        let (dir, _guard, project) = world();
        symlink("project", dir.path().join("alias")).expect("it can be made");
        let alias = dir.path().join("alias");
        let guard = AutonoeGuard::new(Places::new(&alias));

        for dir in [alias, project.canonicalize().expect("it exists")] {
            let call = write(&[".autonoe-note.md"]).in_dir(dir).in_mode(Mode::Sync);

            assert_eq!(guard.judge(&call), Ok(()));
        }
    }
}

proptest! {
    #[test]
    fn no_path_with_that_component_passes(
        before in "(\\.\\./|\\./|[a-z ]{1,3}[/\\\\]){0,4}", after in "([/\\\\][a-z.]{0,4}){0,3}",
        name in "\\.[aA][uU]\u{200d}?[tT]o[nN]oe[. ]{0,2}",
    ) {
        let path = format!("{before}{name}{after}");
        prop_assert!(!passes(&write(&[&path])), "{path:?}");
    }

    #[test]
    fn nothing_makes_it_panic(text in ".*", sync in any::<bool>()) {
        let mode = if sync { Mode::Sync } else { Mode::Run };
        passes(&write(&[&text]).in_mode(mode));
        passes(&ToolCall::new("Bash", json!({ "command": text })));
        passes(&ToolCall::new("Unknown", json!([{ text.clone(): text }])));
    }
}
