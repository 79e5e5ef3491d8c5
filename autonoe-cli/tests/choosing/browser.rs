//! Runs with the built-in browser on programs in our sandbox, with an empty home: the real
//! programs, the real Playwright MCP server and Debian's Chromium.

use std::fs;
use std::path::Path;
use std::process::Command;

use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::browser::programs;
use crate::browser::site::{Site, TEXT};
use crate::choosing::codex::{calls_our_tool, in_namespace};
use crate::choosing::fixture::{CommandOutput, Fixture, passed, pinned, plan, run_command};

/// Codex alone would wait 10 seconds for a server.
const LONGER_THAN_CODEX_WAITS: u32 = 12;

/// A project without server settings, so that it has the built-in server.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fs::remove_file(fixture.root().join(".autonoe/agent.json")).expect("it is there");
    fixture
}

/// Only the download is simulated: the replacement of `npx` is the server that it would fetch. It
/// takes some seconds, like the download.
fn with_npx(seconds: u32) -> Fixture {
    let fixture = fixture();
    // The sandbox hides `/tmp`, where the pinned programs may be.
    let package = fixture.root().with_file_name("playwright");
    copy(&pinned("playwright-mcp-0.0.83"), &package);
    let script = package.join("node_modules/@playwright/mcp/cli.js");
    let script = format!(
        "sleep {seconds}; shift; exec node '{}' \"$@\"",
        script.display()
    );
    fixture.program("npx", &script)
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("it can be run").success());
}

/// Selects a browser as the guide describes.
fn with_chromium(mut command: Command) -> Command {
    command
        .env("PLAYWRIGHT_MCP_EXECUTABLE_PATH", programs::chromium())
        .env("PLAYWRIGHT_MCP_SANDBOX", "false");
    command
}

fn assert_seen(fixture: &Fixture, run: &CommandOutput, requests: &str) {
    assert_eq!(run.code, Some(0), "{run:?}\n{requests}");
    assert!(requests.contains(TEXT), "{run:?}\n{requests}");
    fixture.wait_for_processes();
}

#[test]
fn codex_sees_the_page_with_the_built_in_server() {
    let site = Site::open();
    let fixture = with_npx(LONGER_THAN_CODEX_WAITS).planned().with_codex();
    let browser = |tool: &str, input: &Value| in_namespace("mcp__playwright", tool, input);
    let server = OpenAiServer::start(ModelScript::new([
        browser("browser_navigate", &json!({"url": site.url()})),
        browser("browser_snapshot", &json!({})),
        calls_our_tool("set_status", &passed()),
        Turn::text("It shows what is left."),
    ]));
    let mut command = fixture.command(&["run", "--pause=0s", "--backend=codex", "-m", "gpt-5.5"]);
    command
        .env("OPENAI_API_KEY", "nobody checks it")
        .env("OPENAI_BASE_URL", server.api_url());

    let run = run_command(with_chromium(command));

    let requests = format!("{:?}", server.log().main_requests());
    assert_seen(&fixture, &run, &requests);
    server.verify();
}

#[test]
fn gemini_sees_the_page_with_the_built_in_server() {
    let site = Site::open();
    let fixture = with_npx(3).planned().with_gemini();
    let server = GeminiServer::start(ModelScript::new([
        Turn::tool(
            "mcp_playwright_browser_navigate",
            json!({"url": site.url()}),
        ),
        Turn::tool("mcp_playwright_browser_snapshot", json!({})),
        Turn::tool("mcp_autonoe_set_status", passed()),
        Turn::text("It shows what is left."),
    ]));
    let model = "gemini-2.5-flash";
    let mut command = fixture.command(&["run", "--pause=0s", "--backend=gemini", "-m", model]);
    command
        .env("GEMINI_API_KEY", "nobody checks it")
        .env("GOOGLE_GEMINI_BASE_URL", server.url());

    let run = run_command(with_chromium(command));

    let requests = format!("{:?}", server.log().main_requests());
    assert_seen(&fixture, &run, &requests);
    server.verify();
}

#[test]
fn codex_works_without_a_built_in_server_that_does_not_start() {
    let fixture = fixture()
        .with_codex()
        .program("npx", "echo 'npm error network' >&2; exit 1");
    let server = OpenAiServer::start(ModelScript::new([
        calls_our_tool("create", &plan()),
        Turn::text("It is planned."),
        calls_our_tool("set_status", &passed()),
        Turn::text("It shows what is left."),
    ]));
    let mut command = fixture.command(&["run", "--pause=0s", "--backend=codex", "-m", "gpt-5.5"]);
    command
        .env("OPENAI_API_KEY", "nobody checks it")
        .env("OPENAI_BASE_URL", server.api_url());

    let run = run_command(command);

    assert_eq!(run.code, Some(0), "{run:?}");
    let warning = "sessions start without the MCP server \"playwright\"";
    assert_eq!(run.stderr.matches(warning).count(), 1, "{run:?}");
    server.verify();
    fixture.wait_for_processes();
}

/// A server of the file is required, even if it is the browser.
#[test]
fn a_server_with_a_missing_program_is_reported_before_a_run() {
    for (fixture, backend) in [
        (fixture().with_codex(), "codex"),
        (fixture().with_gemini(), "gemini"),
        (fixture().program("agent", "exit 1"), "acp:agent"),
        (fixture().program("claude", "exit 1"), "claude"),
    ] {
        let servers = r#"{"mcpServers": {"playwright": {"command": "npx"}}}"#;
        fs::write(fixture.root().join(".autonoe/agent.json"), servers).expect("writable");
        let mut command = fixture.bare_command(&["run", "--backend", backend]);
        command
            .env("OPENAI_API_KEY", "nobody asks")
            .env("GEMINI_API_KEY", "nobody asks");

        let run = run_command(command);

        assert_eq!(run.code, Some(1), "{backend}: {run:?}");
        assert!(run.stderr.contains("\"playwright\""), "{backend}: {run:?}");
        assert!(run.stderr.contains("install Node.js"), "{backend}: {run:?}");
    }
}

#[test]
fn without_node_there_is_a_warning_and_no_browser() {
    for (fixture, backend) in [
        (fixture().program("agent", "exit 1"), "acp:agent"),
        (fixture().program("claude", "exit 1"), "claude"),
    ] {
        let run = run_command(fixture.bare_command(&["run", "--backend", backend]));

        // The replacement of the program ends the run.
        assert_eq!(run.code, Some(1), "{backend}: {run:?}");
        let warning = "agents work without a browser: the MCP server \"playwright\"";
        assert_eq!(run.stderr.matches(warning).count(), 1, "{backend}: {run:?}");
    }
}
