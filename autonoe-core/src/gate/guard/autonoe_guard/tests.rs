//! Tests of the guard of `.autonoe`.

use proptest::prelude::*;
use serde_json::json;

use super::*;

mod fleets;
#[cfg(unix)]
mod with_symlinks;

fn project_paths() -> ProjectPaths {
    ProjectPaths::new("/no-srv/project").with_home("/no-home/user")
}

fn write(paths: &[&str]) -> ToolCall {
    let paths = paths.iter().map(PathBuf::from).collect();
    ToolCall::new("apply_patch", json!({}))
        .with_kind(ToolKind::Write { paths })
        .in_dir("/no-srv/project")
}

fn passes(call: &ToolCall) -> bool {
    AutonoeGuard::new(project_paths())
        .evaluate(call, &Resolver::default())
        .is_ok()
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
        " .autonoe/status.json",
        "\t/no-srv/project/.autonoe/x",
        "src/ .autonoe/x",
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
fn other_files_may_be_written() {
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
fn a_project_inside_an_autonoe_directory_still_works() {
    let guard = AutonoeGuard::new(ProjectPaths::new("/x/.autonoe/trees/1"));
    let judge = |path: &str| {
        guard.evaluate(
            &write(&[path]).in_dir("/x/.autonoe/trees/1"),
            &Resolver::default(),
        )
    };

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
fn a_shell_command_may_only_read_the_directory() {
    let bash = |command: &str| ToolCall::new("Bash", json!({ "command": command }));

    assert!(passes(&bash("cat .autonoe/status.json")));
    assert!(passes(&bash("npm test")));
    assert!(!passes(&bash("echo {} > .autonoe/status.json")));
    assert!(!passes(&bash("rm -rf .auto*")));
}

#[test]
fn a_shell_command_may_not_run_in_the_directory() {
    for (directory, pass) in [
        ("/no-srv/project", true),
        ("src", true),
        ("/no-srv/project/.autonoe", false),
        (".Autonoe/x", false),
        ("src/../.autonoe", false),
    ] {
        let call = ToolCall::new("Bash", json!({"command": "rm status.json"})).in_dir(directory);

        assert_eq!(passes(&call), pass, "{directory}");
    }
}

#[test]
fn an_unknown_tool_may_not_mention_the_directory() {
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
        ("mcp__files__write", json!({"path": "a/AUTONO~1"}), false),
        (
            "mcp__files__write",
            json!({"uri": "file:%2Eautonoe"}),
            false,
        ),
        ("mcp__shell__run", json!({"command": "rm -r .auto*"}), false),
        ("mcp__files__find", json!({"pattern": "src/.*[.]rs"}), true),
        (
            "mcp__autonoe__create",
            json!({"description": "keeps .autonoe/ tidy"}),
            true,
        ),
        ("mcp__autonoe2__create", json!({"path": ".autonoe/"}), false),
        (
            "mcp__autonoe__evil__write",
            json!({"path": ".autonoe/x"}),
            false,
        ),
        ("Unknown", json!({"path": ".autonoe/x"}), false),
        ("Task", json!({"prompt": "read .autonoe/status.json"}), true),
        ("TodoWrite", json!({"todos": ["read .autonoe/"]}), true),
        ("WebSearch", json!({"query": ".autonoe"}), true),
    ] {
        assert_eq!(
            passes(&ToolCall::new(name, input.clone())),
            pass,
            "{name} {input}"
        );
    }
}

#[test]
fn reading_the_directory_is_allowed() {
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
    let decision = AutonoeGuard::new(project_paths())
        .check(&write(&[".autonoe/status.json"]), &project_paths())
        .await;

    assert_eq!(
        decision,
        HookDecision::block(
            "\".autonoe/status.json\" is in .autonoe/, which only Autonoe writes; use the \
             autonoe tools to change deliverables"
        ),
    );
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
    fn no_input_causes_a_panic(text in ".*", sync in any::<bool>()) {
        let mode = if sync { Mode::Sync } else { Mode::Run };
        passes(&write(&[&text]).in_mode(mode));
        passes(&ToolCall::new("Bash", json!({ "command": text })));
        passes(&ToolCall::new("Unknown", json!([{ text.clone(): text }])));
    }
}
