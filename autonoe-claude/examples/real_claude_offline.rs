//! Runs your own hook with the real Claude Code: offline, free and reproducible.
//!
//! Only the model is scripted. The program, its prompt, its tools and its sandbox are the real
//! ones. Run it with `cargo run -p autonoe-claude --example real_claude_offline [--
//! PATH_OF_CLAUDE]`. Without a path it uses the program that `cargo xtask clis` has installed, or
//! the one on your `PATH`. The sandbox needs `bwrap` and `socat`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_core::{HookDecision, Project, ProjectRun, RunControl, ToolKind, hook_fn};
use autonoe_process::find_program;
use autonoe_testkit::model_server::anthropic::{AnthropicServer, Turn};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for name in ["home", "project", "tmp"] {
        fs::create_dir(folder.path().join(name))?;
    }
    let root = folder.path().join("project");
    // Without the browser that projects have by default: it is downloaded from the network.
    fs::create_dir(root.join(".autonoe"))?;
    fs::write(root.join(".autonoe/agent.json"), r#"{"mcpServers": {}}"#)?;
    fs::write(
        root.join("SPEC.md"),
        "# A greeting\n\nhello.txt says hello.\n",
    )?;

    // The turns of the model, request by request.
    let model = AnthropicServer::start([
        Turn::tool(
            "mcp__autonoe__create",
            json!({"deliverables": [{
                "id": "DL-001",
                "description": "A greeting",
                "acceptanceCriteria": ["hello.txt says hello"],
            }]}),
        ),
        Turn::text("It is planned."),
        Turn::tool(
            "Write",
            json!({"file_path": "notes/plan.md", "content": "first .."}),
        ),
        Turn::tool("Bash", json!({"command": "echo hello > hello.txt"})),
        Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        Turn::text("It is done."),
    ]);

    // The hook under test. The program names files by their absolute paths.
    let notes = root.canonicalize()?.join("notes");
    let no_notes = hook_fn("no-notes", move |call, _| match &call.kind {
        ToolKind::Write { paths } if paths.iter().any(|path| path.starts_with(&notes)) => {
            HookDecision::block("notes belong into commit messages")
        }
        _ => HookDecision::Pass,
    });

    // A separate environment: with your own, the program would find your login and your settings.
    let environment = [
        ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
        ("HOME".into(), folder.path().join("home").into()),
        ("ANTHROPIC_BASE_URL".into(), model.url().into()),
        ("ANTHROPIC_API_KEY".into(), "nobody checks it".into()),
    ];
    let mut options = ClaudeOptions::new(claude()?, environment);
    options.config = ConfigFolder::PerSession;
    options.program.temporary = folder.path().join("tmp");
    let agents = ClaudeBackend::new(options);
    println!("Claude Code {}", agents.probe_details().await?.version);

    let project = Project::find(&root, None)?;
    let report = ProjectRun::new(project, agents)
        .configure(|runner| runner.hook(no_notes).pause_between_sessions(Duration::ZERO))
        .run(&RunControl::new())
        .await?;

    println!("{report}");
    for request in model.log().main_requests() {
        // Each request has the whole conversation; the last result is new.
        if let Some(result) = request.tool_results().last() {
            println!("the model received: {}", result.text);
        }
    }
    assert!(!root.join("notes").exists(), "the hook has let it through");
    assert_eq!(fs::read_to_string(root.join("hello.txt"))?, "hello\n");
    model.verify();
    Ok(())
}

fn claude() -> Result<PathBuf, Box<dyn Error>> {
    let argument = std::env::args_os().nth(1).map(PathBuf::from);
    let clis = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/clis");
    let pinned = clis.join("claude-code-2.1.325/claude");
    let path = std::env::var_os("PATH").unwrap_or_default();
    argument
        .or_else(|| pinned.is_file().then_some(pinned))
        .or_else(|| find_program("claude", &path))
        .ok_or_else(|| "Claude Code is not here: `cargo xtask clis` installs it".into())
}
