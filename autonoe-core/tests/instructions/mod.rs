//! Instruction texts of agents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::gate::{AutonoeGuard, ProjectPaths};
use autonoe_core::ledger::{LedgerStore, MemoryRepository, deliverable_tools};
use autonoe_core::project::{BuiltInInstructions, ProjectInstructions};
use autonoe_core::run::InstructionSource;
use autonoe_core::time::{Epoch, SystemClock};
use autonoe_core::{HookDecision, Mode, PreToolUseHook, Tool, ToolCall};
use serde_json::{Value, json};

fn tools_of(name: &InstructionName) -> Vec<Arc<dyn Tool>> {
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::new(repository, Arc::new(SystemClock), Epoch(1));
    deliverable_tools(&store, name)
}

fn text_of(name: &InstructionName) -> &'static str {
    BuiltInInstructions::text(name).expect("there is a text")
}

/// Returns the tools that `text` mentions, without the prefix.
fn mentioned(text: &str) -> BTreeSet<&str> {
    let mut parts = text.split("mcp__autonoe__");
    parts.next();
    parts
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

#[test]
fn each_text_mentions_the_tools_of_its_instruction_and_no_other() {
    for name in InstructionName::BUILT_IN {
        let tools = tools_of(&name);
        let text = text_of(&name);

        let expected: BTreeSet<&str> = tools
            .iter()
            .map(|tool| tool.definition().name.as_str())
            .collect();
        assert_eq!(mentioned(text), expected, "{name}");
        for other in ["create", "set_status", "deprecate", "verify", "list"] {
            let bare = format!("`{other}`");
            assert!(
                !text.contains(&bare),
                "{name} calls {other} by a name that no agent sees"
            );
        }
    }
}

/// Every JSON example of a text names only fields of a tool of the instruction.
#[test]
fn each_example_fits_a_tool() {
    for name in InstructionName::BUILT_IN {
        let schemas: Vec<Value> = tools_of(&name)
            .iter()
            .map(|tool| tool.definition().input_schema.clone())
            .collect();
        let examples: Vec<Value> = text_of(&name)
            .split("```json\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default())
            .map(|json| serde_json::from_str(json).expect("JSON"))
            .collect();

        assert_eq!(
            examples.len(),
            schemas.len(),
            "{name}: one example for each tool"
        );
        for example in examples {
            let fields: Vec<&String> = example.as_object().expect("an object").keys().collect();
            let fits = |schema: &Value| {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                fields
                    .iter()
                    .all(|field| schema["properties"].get(field).is_some())
                    && required
                        .iter()
                        .all(|field| fields.iter().any(|name| field == *name))
            };
            assert!(schemas.iter().any(fits), "{name}: {example}");
        }
    }
}

#[test]
fn each_text_contains_the_rules_of_every_session() {
    for name in InstructionName::BUILT_IN {
        let text = text_of(&name);

        for rule in [
            "SPEC.md",
            ".autonoe-note.md",
            "Never write to the `.autonoe/` directory",
        ] {
            assert!(text.contains(rule), "{name} does not say {rule}");
        }
        assert!((40..=95).contains(&text.lines().count()), "{name}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 105),
            "{name}"
        );
        for vendor in [
            "Claude",
            "Anthropic",
            "Codex",
            "OpenAI",
            "Gemini",
            "Playwright",
        ] {
            assert!(!text.contains(vendor), "{name} names {vendor}");
        }
    }
}

// Shows: interfaces/tools/blocked-only-for-external-constraints
#[test]
fn texts_allow_blocked_only_for_external_constraints() {
    for name in [InstructionName::Coding, InstructionName::Verify] {
        let tools = tools_of(&name);
        let set_status = tools
            .iter()
            .map(|tool| tool.definition())
            .find(|definition| definition.name == "set_status")
            .expect("the instruction has the tool");
        let (_, instruction) = text_of(&name)
            .split_once("- `blocked`:")
            .expect("it says what is blocked");
        let (instruction, _) = instruction.split_once("\n\n").expect("the list ends");
        let (_, description) = set_status
            .description
            .split_once("blocked:")
            .expect("it says what is blocked");

        for text in [instruction, description] {
            // Lines may end anywhere.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let (external, internal) = text.split_once(". ").expect("sentences");
            for constraint in [
                "key or credential",
                "service",
                "missing hardware",
                "no network",
            ] {
                assert!(
                    external.contains(constraint),
                    "{name}: {constraint}: {text}"
                );
            }
            for work in ["depends on other work", "refactoring", "technical debt"] {
                assert!(internal.contains(work), "{name}: {work}: {text}");
            }
            assert!(internal.contains("pending"), "{name}: {text}");
        }
    }
}

#[test]
fn only_sync_and_verify_forbid_to_change_the_project() {
    let forbids = |name: &InstructionName| {
        text_of(name).contains("Change no file of the project but `.autonoe-note.md`")
    };

    let forbidding: Vec<_> = InstructionName::BUILT_IN
        .into_iter()
        .filter(forbids)
        .collect();

    assert_eq!(forbidding, [InstructionName::Sync, InstructionName::Verify]);
}

#[tokio::test]
async fn the_guard_allows_the_commands_of_the_texts() {
    let project_paths = ProjectPaths::new("/srv/project");
    let guard = AutonoeGuard::new(project_paths.clone());
    for command in [
        "git log --oneline -20",
        "git status",
        "git add .autonoe-note.md",
        "git add .autonoe-note.md && git commit -m 'Note what was created'",
        "git commit .autonoe-note.md -m 'Note'",
        "cat .autonoe-note.md",
    ] {
        for mode in [Mode::Run, Mode::Sync] {
            let call = ToolCall::new("Bash", json!({ "command": command })).in_mode(mode);

            assert_eq!(
                guard.check(&call, &project_paths).await,
                HookDecision::Pass,
                "{command}"
            );
        }
    }
}

#[tokio::test]
async fn the_built_in_texts_know_no_custom_instruction() {
    let resolved = BuiltInInstructions
        .resolve(&InstructionName::new("review"))
        .await;

    insta::assert_snapshot!(
        resolved.expect_err("there is none"),
        @"instruction review is not available: it has no built-in text"
    );
}

// Shows: spec/a.2/override-files, spec/a.3/instruction-resolver.resolve-name
#[tokio::test]
async fn a_project_file_replaces_the_built_in_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let texts = ProjectInstructions::new(dir.path().join("not-there-yet"));
    let folder = dir.path().join("not-there-yet");
    for name in InstructionName::BUILT_IN {
        let built_in = texts.resolve(&name).await.expect("built in");
        assert_eq!(built_in, text_of(&name));

        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join(format!("{name}.md")), "Ours.\n").expect("writable");
        assert_eq!(texts.resolve(&name).await.expect("a file"), "Ours.\n");

        // The file is read anew each time.
        fs::write(folder.join(format!("{name}.md")), "Changed.\n").expect("writable");
        assert_eq!(texts.resolve(&name).await.expect("a file"), "Changed.\n");
        fs::remove_file(folder.join(format!("{name}.md"))).expect("writable");
        assert_eq!(
            texts.resolve(&name).await.expect("built in"),
            text_of(&name)
        );
    }
}

#[tokio::test]
async fn a_custom_instruction_is_read_from_its_file() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("code-review_2.md"), "Review.").expect("writable");
    let texts = ProjectInstructions::new(dir.path());

    let text = texts.resolve(&InstructionName::new("code-review_2")).await;

    assert_eq!(text.expect("there is a file"), "Review.");
}

/// Returns the error of resolving `name` in `dir`, without the path of `dir`.
async fn refusal(dir: &Path, name: &str) -> String {
    let texts = ProjectInstructions::new(dir);
    let error = texts.resolve(&InstructionName::new(name)).await;
    let error = error.expect_err("it cannot be had").to_string();
    error.replace(&format!("{}/", dir.display()), "")
}

// Shows: spec/a.2/fallback
#[tokio::test]
async fn a_file_that_cannot_be_used_is_an_error_and_no_reason_to_fall_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path();
    fs::write(folder.join("initializer.md"), " \n\t").expect("writable");
    fs::write(folder.join("coding.md"), b"\xff\xfe").expect("writable");
    fs::create_dir(folder.join("sync.md")).expect("writable");
    fs::write(folder.join("verify.md"), vec![b'x'; 1024 * 1024 + 1]).expect("writable");
    fs::write(folder.join("review.md"), "").expect("writable");

    let mut messages = Vec::new();
    for name in [
        "initializer",
        "coding",
        "sync",
        "verify",
        "review",
        "missing",
    ] {
        messages.push(refusal(folder, name).await);
    }

    let messages = messages.join("\n");
    insta::assert_snapshot!(messages);
}

#[tokio::test]
async fn a_name_that_is_not_a_plain_file_name_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("state");
    fs::create_dir(&folder).expect("writable");
    fs::write(dir.path().join("secret.md"), "secret").expect("writable");

    for name in [
        "../secret",
        "/etc/passwd",
        "a.b",
        "",
        "a\0b",
        "größe",
        "a b",
        "..\\secret",
    ] {
        let message = refusal(&folder, name).await;

        assert!(message.contains("not a plain file name"), "{message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_dangling_symlink_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("gone.md", dir.path().join("coding.md")).expect("writable");

    let message = refusal(dir.path(), "coding").await;

    assert!(
        message.contains("is a symlink that leads nowhere"),
        "{message}"
    );
}

// The memory of a process is a file that not even root can read from its start.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("/proc/self/mem", dir.path().join("coding.md")).expect("writable");

    insta::assert_snapshot!(
        refusal(dir.path(), "coding").await,
        @r#"instruction coding is not available: "coding.md" cannot be read (Input/output error (os error 5)); check its owner and permissions, or remove it to use the built-in text"#
    );
}
