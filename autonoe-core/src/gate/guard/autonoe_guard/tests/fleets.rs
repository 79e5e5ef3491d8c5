//! Tests of the guard for `.harness`, the directory of fleets.

use super::*;

/// A worktree of a fleet.
const WORKTREE: &str = "/no-srv/shop/.harness/worktrees/login/one";

fn mcp(input: Value) -> ToolCall {
    let kind = ToolKind::Mcp {
        server: "files".into(),
        tool: "write_file".into(),
    };
    ToolCall::new("mcp__files__write_file", input).with_kind(kind)
}

fn reason(guard: &AutonoeGuard, call: &ToolCall) -> Option<String> {
    guard.evaluate(call, &Resolver::default()).err()
}

#[test]
fn the_state_of_fleets_is_not_written() {
    for path in [
        ".harness",
        ".harness/login/stop",
        "/no-srv/project/.harness/login.one/outcome.json",
        "src/../.harness/x",
        "sub/.harness/x",
        ".HARNESS/x",
        ".harness /x",
        "HARNES~1/x",
    ] {
        let reason = reason(&AutonoeGuard::new(project_paths()), &write(&["a", path]));
        let reason = reason.unwrap_or_else(|| panic!("{path:?} is not blocked"));
        assert!(reason.contains(".harness/"), "{reason}");
    }
    for path in [
        "harness/x",
        ".harness.yml",
        "src/test.harness.ts",
        "harness",
    ] {
        assert!(passes(&write(&[path])), "{path:?}");
    }
}

#[test]
fn commands_may_not_run_in_the_directory_of_fleets() {
    let ls = ToolCall::new("Bash", json!({"command": "ls"}));

    assert!(passes(&ls.clone().in_dir("/no-srv/project/src")));
    assert!(!passes(&ls.in_dir("/no-srv/project/.harness/login")));
}

#[test]
fn unknown_tools_may_not_touch_the_state_of_fleets() {
    for path in [
        ".harness/login/stop",
        "/no-srv/project/.harness/login/stop",
        "file:///no-srv/project/%2Eharness/login/stop",
        "src/../.harness",
    ] {
        assert!(!passes(&mcp(json!({"files": [{"path": path}]}))), "{path}");
    }
    assert!(passes(&mcp(
        json!({"path": "test.harness", "text": "see .harness"})
    )));
}

#[test]
fn a_member_may_write_only_to_its_own_worktree() {
    let guard = AutonoeGuard::new(ProjectPaths::new(WORKTREE));
    let is_allowed = |path: &str| {
        let path = path.replace("HERE", WORKTREE);
        let written = reason(&guard, &write(&[&path]).in_dir(WORKTREE));
        let sent = reason(&guard, &mcp(json!({"path": path})).in_dir(WORKTREE));
        (written.is_none(), sent.is_none())
    };

    for path in ["src/a", "HERE/src/a", "HERE"] {
        assert_eq!(is_allowed(path), (true, true), "{path}");
    }
    for path in [
        ".harness/x",
        "HERE/.harness/x",
        "../two/a",
        "HERE/../../../login/stop",
        "/no-srv/shop/.harness/login/stop",
    ] {
        assert_eq!(is_allowed(path), (false, false), "{path}");
    }
}
