//! Tests of parsing and matching permission rules.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn project_paths() -> ProjectPaths {
    ProjectPaths::new("/srv/project").with_home("/home/user")
}

fn rule(text: &str) -> PermissionRule {
    text.parse().expect("the rule is valid")
}

fn call(name: &str, kind: ToolKind) -> ToolCall {
    ToolCall::new(name, json!({}))
        .with_kind(kind)
        .in_dir("/srv/project")
}

fn read(name: &str, paths: &[&str]) -> ToolCall {
    call(
        name,
        ToolKind::Read {
            paths: paths.iter().map(PathBuf::from).collect(),
        },
    )
}

fn write(name: &str, paths: &[&str]) -> ToolCall {
    call(
        name,
        ToolKind::Write {
            paths: paths.iter().map(PathBuf::from).collect(),
        },
    )
}

fn mcp(server: &str, tool: &str) -> ToolCall {
    call(
        "whatever",
        ToolKind::Mcp {
            server: server.into(),
            tool: tool.into(),
        },
    )
}

#[test]
fn a_rule_matches_the_kind_of_a_call_and_not_its_name() {
    let shell = call(
        "run_shell",
        ToolKind::Shell {
            command: "npm run a".into(),
        },
    );
    let fetch = call(
        "browse",
        ToolKind::Fetch {
            url: "https://a.com/x".into(),
        },
    );
    for (text, call, covered) in [
        ("Read(./**)", read("view", &["a"]), true),
        ("Read(./**)", write("Read", &["a"]), false),
        ("Write(./**)", write("apply_patch", &["a"]), true),
        ("Edit(./**)", write("Write", &["a"]), true),
        ("Write(./**)", read("Write", &["a"]), false),
        ("Glob(./**)", read("Glob", &["."]), true),
        ("Glob(./**)", read("Grep", &["."]), false),
        ("Grep(./**)", read("Grep", &["."]), true),
        ("Grep(./**)", write("Grep", &["."]), false),
        ("Bash(npm run *)", shell.clone(), true),
        ("Bash", shell.clone(), false),
        ("run_shell", shell, true),
        ("WebFetch(domain:a.com)", fetch.clone(), true),
        ("WebFetch(domain:b.com)", fetch, false),
        ("Task", call("Task", ToolKind::Other), true),
        ("Task", call("TaskX", ToolKind::Other), false),
        ("Task", call("task", ToolKind::Other), false),
        ("Read", read("Read", &["/etc/hosts"]), true),
        ("mcp__web__get", mcp("web", "get"), true),
        ("mcp__web__get", mcp("web", "get_all"), false),
        ("mcp__web__*", mcp("web", "post"), true),
        ("mcp__web", mcp("web", "post"), true),
        ("mcp__web", mcp("website", "post"), false),
        ("mcp__web", mcp("web", "evil__post"), false),
        ("mcp__web__*", mcp("web", "evil__post"), false),
        ("mcp__web__evil__post", mcp("web", "evil__post"), true),
    ] {
        assert_eq!(
            rule(text).covers(&call, &project_paths()),
            covered,
            "{text} {call:?}"
        );
    }
}

#[test]
fn a_whole_server_is_blocked_wherever_its_name_may_end() {
    for (text, call, touched) in [
        ("mcp__web", mcp("web", "post"), true),
        ("mcp__web", mcp("web", "evil__post"), true),
        ("mcp__web__evil", mcp("web", "evil__post"), true),
        ("mcp__web__evil", mcp("web", "evil_post"), false),
        ("mcp__web", mcp("website", "post"), false),
    ] {
        assert_eq!(
            rule(text).touches(&call, &project_paths()),
            touched,
            "{text} {call:?}"
        );
    }
}

#[test]
fn a_path_counts_from_the_directory_of_the_call() {
    for (path, dir, covered) in [
        ("a", "/srv/project", true),
        ("a", "/srv/project/src", true),
        ("../a", "/srv/project/src", true),
        ("../a", "/srv/project", false),
        ("a", "/srv", false),
        ("project/a", "/srv", true),
        ("/srv/project/../other", "/srv/project", false),
        ("../../../../../../srv/project/a", "/srv/project", true),
        ("~/a", "/srv/project", false),
        ("~other/a", "/srv/project", false),
        ("", "/srv/project", true),
    ] {
        let call = write("Write", &[path]).in_dir(dir);

        assert_eq!(
            rule("Write(./**)").covers(&call, &project_paths()),
            covered,
            "{path} in {dir}"
        );
    }
}

#[test]
fn a_call_without_paths_is_covered_by_no_path_rule() {
    for text in ["Read(/**)", "Write(/**)", "Read(./**)"] {
        assert!(
            !rule(text).covers(&read("Read", &[]), &project_paths()),
            "{text}"
        );
        assert!(
            !rule(text).covers(&write("Write", &[]), &project_paths()),
            "{text}"
        );
    }
}

#[test]
fn every_path_of_a_call_must_be_covered() {
    assert!(rule("Write(src/**)").covers(&write("x", &["src/a", "src/b"]), &project_paths()));
    assert!(!rule("Write(src/**)").covers(&write("x", &["src/a", "b"]), &project_paths()));
}

#[test]
fn a_malformed_call_is_covered_by_nothing() {
    for text in [
        "Bash",
        "Bash(*)",
        "Read(/**)",
        "Write(/**)",
        "WebFetch(*)",
        "mcp__a",
    ] {
        let call = call(
            "Bash",
            ToolKind::Malformed {
                reason: "no command".into(),
            },
        );

        assert!(!rule(text).covers(&call, &project_paths()), "{text}");
    }
}

#[test]
fn invalid_rules_are_rejected_and_named() {
    for text in [
        "",
        " ",
        " Read",
        "Read ",
        "Read(./**) ",
        "Foo(x)",
        "Read()",
        "Read( )",
        "Read( x)",
        "Read(x",
        "Readx)",
        "Read(x)y",
        "Read(a)b)",
        "Read((a)",
        "(x)",
        "Bash()",
        "Bash( *)",
        "WebFetch()",
        "Task(x)",
        "mcp__",
        "mcp____x",
        "mcp__a__",
        "mcp__*",
        "mcp__a__get_*",
        "mcp__a__b(x)",
        "*",
        "./src",
        "Re ad",
        "Read\n",
        "Réad",
        "read(./**)",
        "1st",
    ] {
        let error = text
            .parse::<PermissionRule>()
            .expect_err("it is not a rule")
            .to_string();

        assert!(
            error.starts_with(&format!("{text:?} is not a permission rule: ")),
            "{error}"
        );
    }
}

#[test]
fn a_rule_is_a_text_in_json() {
    let json = serde_json::to_string(&rule("Read(./a (b)/**)")).expect("it serialises");

    assert_eq!(json, r#""Read(./a (b)/**)""#);
    assert_eq!(
        serde_json::from_str::<PermissionRule>(&json).expect("it parses"),
        rule("Read(./a (b)/**)")
    );
    assert!(serde_json::from_str::<PermissionRule>(r#""Fly(x)""#).is_err());
}

proptest! {
    #[test]
    fn parsing_never_panics_and_a_rule_gives_its_text_back(
        text in "(Read|Write|Bash|WebFetch|mcp__)?\\(?[ -~é]{0,24}\\)?",
    ) {
        if let Ok(rule) = text.parse::<PermissionRule>() {
            prop_assert_eq!(rule.to_string(), text);
        }
    }

    #[test]
    fn no_path_outside_the_project_is_covered(
        path in "(/|\\.\\./|\\./|srv/|project/|[a-z.\\\\]{1,3}/){0,10}[a-z]{0,3}",
    ) {
        let covered = rule("Write(./**)").covers(&write("Write", &[&path]), &project_paths());

        let lands = normalise(&Path::new("/srv/project").join(&path));
        prop_assert!(!covered || lands.starts_with("/srv/project"), "{path}");
    }
}
