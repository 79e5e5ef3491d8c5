//! Runs with a browser, and syncs without one.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use autonoe_testkit::model_server::anthropic::Turn;
use autonoe_testkit::model_server::{MainRequests, ModelScript};
use serde_json::{Value, json};

use crate::browser::fixture::Fixture;
use crate::browser::programs;
use crate::browser::site::{Site, TEXT};
use crate::build::{Build, on_newer_build};

pub(crate) fn ledger(passed: bool) -> Value {
    json!({"deliverables": [{
        "id": "DL-001",
        "description": "The market shows what is left",
        "acceptanceCriteria": ["a person sees the stock in a browser"],
        "passed": passed,
    }]})
}

/// A model that opens a page, attempts forbidden calls, and finishes.
pub(crate) fn page_turns(site: &Site) -> Vec<Turn> {
    let forged = json!({"function": "() => '{}'", "filename": ".autonoe/status.json"});
    vec![
        Turn::tool(
            "mcp__playwright__browser_navigate",
            json!({"url": site.url()}),
        ),
        Turn::tool("mcp__playwright__browser_snapshot", json!({})),
        Turn::tool(
            "mcp__playwright__browser_verify_text_visible",
            json!({"text": TEXT}),
        ),
        Turn::tool("mcp__playwright__browser_evaluate", forged),
        Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        Turn::text("It shows what is left."),
    ]
}

/// Asserts that the model received the page, and that the gate also covers the browser.
pub(crate) fn assert_page_seen(fixture: &Fixture, output: &Output) {
    let results = fixture.tool_results();
    assert!(output.status.success(), "{output:?}\n{results:#?}");
    assert!(
        results.iter().any(|result| result.contains(TEXT)),
        "{results:#?}"
    );
    let verified = |result: &String| result.contains("Result\\nDone");
    assert!(results.iter().any(verified), "{results:#?}");
    let refused =
        |result: &String| result.contains(".autonoe") && result.contains("is_error: true");
    assert!(results.iter().any(refused), "{results:#?}");
    let ledger = fs::read_to_string(fixture.project().join(".autonoe/status.json"));
    assert!(ledger.expect("it is there").contains("DL-001"));
    fixture.model.verify();
}

/// As in a container: Debian's Chromium as root, named in `agent.json`.
async fn a_run_sees_the_page_with_the_server_of_its_settings(build: Build) {
    let site = Site::open();
    let fixture = Fixture::new(build, &ledger(false), page_turns(&site));
    let server = fixture.install_server("playwright-mcp");
    let browser = programs::chromium();
    let fixture = fixture.config(&json!({"mcpServers": {"playwright": {
        "command": server,
        "args": [
            "--headless", "--isolated", "--caps=testing", "--executable-path", browser, "--no-sandbox",
        ],
    }}}));

    let output = fixture.autonoe(&["run", "--no-sandbox"]);

    assert_page_seen(&fixture, &output);
    assert_eq!(fixture.calls().len(), 1);
}

on_newer_build![a_run_sees_the_page_with_the_server_of_its_settings];

/// Only the download is simulated: the replacement of `npx` is the server that it would fetch.
// Shows: spec/4.1/server-headless-isolated, spec/4.1.2/browser-ends-with-its-session
// Shows: spec/6.3/playwright, spec/9.2/playwright, spec/4.2/flow
#[test]
fn the_built_in_server_takes_its_browser_from_the_environment() {
    let site = Site::open();
    let fixture = Fixture::new(Build::NEWER, &ledger(false), page_turns(&site));
    fixture.install_server("npx");
    let fixture = fixture
        .variable("PLAYWRIGHT_MCP_EXECUTABLE_PATH", programs::chromium())
        .variable("PLAYWRIGHT_MCP_SANDBOX", "false");

    let output = fixture.autonoe(&["run", "--no-sandbox"]);

    assert_page_seen(&fixture, &output);
    assert_eq!(
        fixture.calls(),
        ["@playwright/mcp@latest --headless --isolated --caps=testing"]
    );
}

/// As after `npx @playwright/mcp@latest install-browser chromium`. The server requires a sandbox
/// for other browsers only, so this works as root without further options.
// Shows: spec/4.1.1/install
#[test]
#[cfg(target_arch = "x86_64")] // Elsewhere the folder has another name.
fn the_built_in_server_finds_a_browser_that_was_installed_for_it() {
    let site = Site::open();
    let fixture = Fixture::new(Build::NEWER, &ledger(false), page_turns(&site));
    fixture.install_server("npx");
    let browsers = fixture.project().with_file_name("browsers");
    let place = browsers.join("chromium-1247/chrome-linux64");
    fs::create_dir_all(&place).expect("it can be made");
    std::os::unix::fs::symlink(programs::chromium(), place.join("chrome")).expect("writable");
    let fixture = fixture
        .variable("PLAYWRIGHT_BROWSERS_PATH", &browsers.display().to_string())
        .variable("PLAYWRIGHT_MCP_BROWSER", "chromium");

    let output = fixture.autonoe(&["run", "--no-sandbox"]);

    assert_page_seen(&fixture, &output);
}

// Shows: spec/6.4/playwright
#[test]
fn sync_starts_no_browser_even_if_configured() {
    let script = vec![
        Turn::text("The deliverables are what SPEC.md asks for."),
        Turn::tool("mcp__autonoe__verify", json!({"deliverableId": "DL-001"})),
        Turn::text("It is verified."),
    ];
    let fixture = Fixture::new(Build::NEWER, &ledger(true), script);
    fixture.install_server("npx");
    let server = fixture.install_server("playwright-mcp");
    let servers =
        json!({"mcpServers": {"playwright": {"command": server, "args": ["--headless"]}}});
    let fixture = fixture.config(&servers);

    let output = fixture.autonoe(&["sync", "--no-sandbox"]);

    assert!(output.status.success(), "{output:?}");
    assert_eq!(fixture.calls(), Vec::<String>::new());
    let requests = fixture.model.log().main_requests();
    let offered = requests.iter().flat_map(|request| &request.tools);
    let browsers: Vec<_> = offered
        .filter(|tool| tool.name.contains("playwright"))
        .collect();
    assert!(browsers.is_empty(), "{browsers:?}");
    fixture.model.verify();
}

/// As on a machine without a network.
#[test]
fn a_browser_that_cannot_start_is_left_out_with_one_warning() {
    for (npx, reason) in [
        (
            "echo 'npm error network' >&2; exit 1",
            Some("npm error network"),
        ),
        ("exec sleep 300", None),
    ] {
        let script = vec![
            Turn::text("Not yet."),
            Turn::tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "DL-001", "status": "passed"}),
            ),
            Turn::text("It shows what is left."),
        ];
        let fixture = Fixture::new(Build::NEWER, &ledger(false), script);
        fixture.install_program("npx", &format!("echo $PPID >> ../sessions; {npx}"));
        // Milliseconds that Claude Code waits for a server.
        let fixture = fixture.variable("MCP_TIMEOUT", "3000");

        let output = fixture.autonoe(&["run", "--no-sandbox", "--pause=0s"]);

        assert!(output.status.success(), "{npx}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let warning = "sessions start without the MCP server \"playwright\"";
        assert_eq!(stderr.matches(warning).count(), 1, "{npx}: {stderr}");
        let is_explained = reason.is_none_or(|reason| stderr.contains(reason));
        assert!(is_explained, "{npx}: {stderr}");
        // Claude Code may retry, but the second session does not have the server.
        let log = fs::read_to_string(fixture.project().join("../sessions"));
        let sessions: BTreeSet<_> = log.as_deref().expect("it was started").lines().collect();
        assert_eq!(sessions.len(), 1, "{npx}: {sessions:?}");
        fixture.model.verify();
    }
}

/// A server of the file is required, because its author wants agents to use it.
#[test]
fn a_browser_of_the_settings_that_cannot_start_fails_the_session() {
    let fixture = Fixture::new(Build::NEWER, &ledger(false), Vec::<Turn>::new());
    let server = fixture.install_program("playwright-mcp", "exit 1");
    let fixture = fixture.config(&json!({"mcpServers": {"playwright": {"command": server}}}));

    let output = fixture.autonoe(&["run", "--no-sandbox", "--pause=0s", "--max-retries=0"]);

    assert!(!output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains("the MCP server \"playwright\""),
        "{output:?}"
    );
}

const ON_MODEL: &str = "--backend=model:scripted/claude-sonnet-4-5";

/// Commands of the agent run in their sandbox, the browser outside of it. Only the download is
/// simulated: the replacement of `npx` is the server that it would fetch.
#[test]
fn a_run_on_a_model_sees_the_page_with_the_built_in_server() {
    let site = Site::open();
    let script = ModelScript::new(page_turns(&site)).with_main_requests(MainRequests::All);
    let fixture = Fixture::new(Build::NEWER, &ledger(false), script).models();
    fixture.install_server("npx");
    let fixture = fixture
        .variable("PLAYWRIGHT_MCP_EXECUTABLE_PATH", programs::chromium())
        .variable("PLAYWRIGHT_MCP_SANDBOX", "false");

    let output = fixture.autonoe(&["run", ON_MODEL]);

    assert_page_seen(&fixture, &output);
    assert_eq!(
        fixture.calls(),
        ["@playwright/mcp@latest --headless --isolated --caps=testing"]
    );
}
