//! MCP servers of runs on models: real processes that the command starts.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_process::{Marker, find_program};
use autonoe_testkit::model_server::{ReceivedPrompt, Turn};
use serde_json::{Value, json};

use crate::models::fixture::{CommandOutput, Fixture, KEY, passes, plans, shortest_run};
use crate::models::vendor::Vendor;

/// A real server process that follows a script.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../autonoe-model/tests/agent/mcp/server.py"
);

/// A variable that identifies the processes of servers.
const MARKER: &str = "AUTONOE_TEST_SERVER";

/// Writes settings with two servers: `web`, which behaves as `behaviour` demands, and another one in
/// place of the built-in browser.
fn configure(fixture: &Fixture, behaviour: &str) {
    fixture.program(
        "browser",
        &format!("cd \"$HOME\" && exec python3 {SCRIPT} good"),
    );
    let env = json!({MARKER: fixture.root()});
    let config = json!({
        "allowedTools": ["mcp__web__echo", "mcp__web__environment"],
        "mcpServers": {
            "web": {"command": "python3", "args": [SCRIPT, behaviour], "env": env},
            "playwright": {"command": "browser", "env": env},
        },
    });
    fixture.write(".autonoe/agent.json", &config.to_string());
}

/// Waits until no process of a server is left. Panics after a time limit.
fn nothing_is_left(fixture: &Fixture) {
    let place = fixture.root().display().to_string();
    let marker = Marker::new(MARKER, place).expect("a marker");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !marker.processes().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", marker.processes());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the tool results in the last request.
fn results(prompts: &[ReceivedPrompt]) -> Vec<String> {
    let last = prompts.last().expect("somebody asked");
    let results = last.tool_results().into_iter();
    results.map(|result| result.text.clone()).collect()
}

#[test]
fn a_run_on_every_provider_calls_the_tools_of_its_servers() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([
            plans(),
            Turn::text("Planned."),
            Turn::tool("mcp__web__echo", json!({"text": "Hello, server."})),
            Turn::tool("mcp__web__environment", json!({})),
            Turn::tool("mcp__web__fail", json!({})),
            passes(),
            Turn::text("Done."),
        ]);
        let fixture = Fixture::on(vendor, &server);
        configure(&fixture, "good");
        let mut command = fixture.run_command(vendor, &[]);
        command
            .env("PLAYWRIGHT_MCP_BROWSER", "chromium")
            .env("HTTPS_PROXY", format!("http://{KEY}@127.0.0.1:1"))
            .env("OTHER_SECRET", "1");

        let output = CommandOutput::from(command.output().expect("it starts"));

        assert_eq!(output.code, Some(0), "{vendor:?}: {output:?}");
        assert!(
            output.stderr.contains("Denied mcp__web__fail"),
            "{vendor:?}: {output:?}"
        );
        server.verify();
        let prompts = server.log().main_requests();
        let results = results(&prompts);
        assert_eq!(results[0], "Hello, server.", "{vendor:?}");
        let names: Vec<_> = results[1].split(' ').collect();
        for name in ["HOME", "PATH", "PLAYWRIGHT_MCP_BROWSER", MARKER] {
            assert!(names.contains(&name), "{vendor:?} {name}: {names:?}");
        }
        for name in ["THE_KEY", "HTTPS_PROXY", "OTHER_SECRET"] {
            assert!(!names.contains(&name), "{vendor:?} {name}: {names:?}");
        }
        let offered = prompts[0].tools.iter().map(|tool| tool.name.as_str());
        let of_the_browser = offered.filter(|name| name.starts_with("mcp__playwright__"));
        assert!(of_the_browser.count() > 0, "{vendor:?}");
        nothing_is_left(&fixture);
        // The servers got a request to end before they were killed.
        for place in ["closed", "../home/closed"] {
            assert!(fixture.root().join(place).exists(), "{vendor:?} {place}");
        }
    }
}

#[test]
fn a_server_that_crashes_at_its_start_fails_the_session_with_its_stderr() {
    let vendor = Vendor::Chat;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::on(vendor, &server);
    configure(&fixture, "crash");

    let output = fixture.run(vendor, &["--max-retries=1"]);

    // The server may be available in the next session. Claude Code behaves in the same way.
    assert_eq!(output.code, Some(7), "{output:?}");
    assert!(
        output.stdout.contains(
            "the MCP server \"web\" of the session: it exited with code 3 before it was ready; \
             its standard error ended with: no browser is installed"
        ),
        "{output:?}"
    );
    assert!(
        output
            .stderr
            .contains("hint: check that its command can be started, or leave it out of mcpServers"),
        "{output:?}"
    );
    assert!(server.log().exchanges().is_empty(), "a model was asked");
    nothing_is_left(&fixture);
}

#[test]
fn a_server_that_cannot_start_is_reported_before_the_run() {
    for (servers, place, message) in [
        (
            r#"{"command": "no-such-server"}"#,
            "agent.json:2:10: /mcpServers/web: ",
            "there is no program \"no-such-server\" in the PATH that it gets",
        ),
        (
            r#"{"command": "./server"}"#,
            "agent.json:2:10: /mcpServers/web: ",
            "must be a name or an absolute path",
        ),
        (
            r#"{"type": "sse", "url": "http://127.0.0.1:1/sse"}"#,
            "agent.json:2:10: /mcpServers/web: ",
            "use a server with a command or with streamable HTTP",
        ),
    ] {
        let vendor = Vendor::Chat;
        let server = vendor.serve(Vec::<Turn>::new());
        let fixture = Fixture::on(vendor, &server);
        let browser = r#""playwright": {"command": "sh"}"#;
        let text = format!("{{\"mcpServers\": {{\n  \"web\": {servers}, {browser}}}}}");
        fixture.write(".autonoe/agent.json", &text);
        let backend = format!("--backend=model:scripted/{}", vendor.model());

        let run = fixture.run(vendor, &[]);
        let doctor = fixture.autonoe(&["doctor", &backend]);

        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(
            run.stderr.contains(place) && run.stderr.contains(message),
            "{message}: {run:?}"
        );
        assert!(!fixture.root().join(".autonoe/journal.jsonl").exists());
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        // The output wraps lines.
        let words = doctor.stdout.split_whitespace().collect::<Vec<_>>();
        assert!(words.join(" ").contains(message), "{message}: {doctor:?}");
    }
}

/// Links the programs that a run needs, and no others, into a folder of the home.
fn few_programs(fixture: &Fixture) -> String {
    let path = std::env::var_os("PATH").expect("there is one");
    let folder = fixture.root().join("../few");
    std::fs::create_dir(&folder).expect("writable");
    for name in ["bash", "git"] {
        let program = find_program(name, &path).expect(name);
        symlink(program, folder.join(name)).expect("writable");
    }
    let folder: &Path = &folder.canonicalize().expect("it is there");
    folder.display().to_string()
}

#[test]
fn without_node_a_run_warns_once_and_has_no_browser() {
    let vendor = Vendor::Chat;
    let server = vendor.serve(shortest_run());
    let fixture = Fixture::on(vendor, &server).without_settings();
    let path = few_programs(&fixture);
    let backend = format!("--backend=model:scripted/{}", vendor.model());
    let run_command = |arguments: &[&str]| {
        let mut command = fixture.command(arguments);
        // The sandbox hides programs in a folder for temporary files.
        command.arg("--no-sandbox").env("PATH", &path);
        CommandOutput::from(command.output().expect("it starts"))
    };
    let warning = "agents work without a browser: the MCP server \"playwright\" cannot be started: \
                   there is no program \"npx\"";

    let run = run_command(&["run", "--pause=0s", &backend]);
    let doctor = run_command(&["doctor", &backend]);

    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.stderr.matches(warning).count(), 1, "{run:?}");
    assert!(run.stderr.contains("install Node.js 18"), "{run:?}");
    let requests = server.log().main_requests();
    let offered = requests.iter().flat_map(|request| &request.tools);
    let mut of_browser = offered.filter(|tool| tool.name.contains("playwright"));
    assert!(of_browser.next().is_none());
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(doctor.stdout.contains("install Node.js 18"), "{doctor:?}");

    fixture.write(".autonoe/agent.json", "{\"mcpServers\": {}}");
    let run = run_command(&["run", "--pause=0s", &backend]);
    let doctor = run_command(&["doctor", &backend]);

    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.stderr.contains("browser"), "{run:?}");
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(!doctor.stdout.contains("browser"), "{doctor:?}");
}

/// The program exists, but ends before it is a server, like `npx` without a network.
#[test]
fn a_built_in_browser_that_does_not_start_is_left_out_with_one_warning() {
    let vendor = Vendor::Chat;
    let server = vendor.serve(shortest_run());
    let fixture = Fixture::on(vendor, &server).without_settings();
    fixture.program(
        "npx",
        "echo started >> ../calls; echo 'npm error network' >&2; exit 1",
    );

    let run = fixture.run(vendor, &[]);

    assert_eq!(run.code, Some(0), "{run:?}");
    let warning = "sessions start without the MCP server \"playwright\"";
    assert_eq!(run.stderr.matches(warning).count(), 1, "{run:?}");
    assert!(run.stderr.contains("npm error network"), "{run:?}");
    // There are two sessions, and only the first one waits for the server.
    let calls = std::fs::read_to_string(fixture.root().join("../calls"));
    assert_eq!(calls.expect("it was started"), "started\n");
    server.verify();
}

#[test]
fn doctor_and_dry_run_list_servers_without_starting_them() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::on(vendor, &server);
    configure(&fixture, "good");
    let backend = format!("--backend=model:scripted/{}", vendor.model());

    let doctor = fixture.autonoe(&["doctor", &backend]);
    let dry_run = fixture.autonoe(&["run", "--dry-run", "--output=json", &backend]);

    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    for line in ["web: found python3", "playwright: found browser"] {
        assert!(doctor.stdout.contains(line), "{line}: {doctor:?}");
    }
    let plan: Value = serde_json::from_str(&dry_run.stdout).expect("JSON");
    let mut settings = plan["settings"].as_array().expect("a list").iter();
    let web = settings.find(|setting| setting["key"] == "mcpServers.web");
    let expected = format!("python3 {SCRIPT} good");
    assert_eq!(web.expect("it is named")["value"], expected);
    assert!(!fixture.root().join("listed").exists(), "it was started");
}
