//! `agent.json` of the specification (5.4) and its merge with the baseline (9.3), on the real
//! Claude Code.

use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::backends::backend::Backend;
use crate::backends::run_script::{Call, calls_mcp_tool, runs, sets, uses, writes};
use crate::build::Build;
use crate::everyday::web_site::WebSite;
use crate::everyday::workplace::Workplace;
use crate::runs::support::autonoe::CommandOutput;

/// The example of the specification.
const EXAMPLE: &str = include_str!("../../../autonoe-core/tests/config/spec_example.json");

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "first",
   "metadata": {},
   "outputs": [],
   "source": ["print('hi')"]
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

/// A run of one session, whose agent makes calls one after the other.
struct Played {
    workplace: Workplace,
    /// The results of the calls, as the model received them.
    results: Vec<String>,
    /// The tools that Claude Code offered to the model.
    offered: Vec<String>,
    /// The denials in the journal: targets, or tools of calls without a target.
    denied: Vec<String>,
}

fn play(
    settings: &Value,
    calls: Vec<Call>,
    flags: &[&str],
    environment: &[(&str, String)],
) -> Played {
    let backend = Backend::Claude(Build::NEWER.version);
    let workplace = Workplace::new(backend, "project");
    workplace.configure(settings);
    workplace.plan(["There is a greeting"]);
    let calls: Vec<Call> = calls
        .into_iter()
        .chain([sets("DL-001", "passed")])
        .collect();
    let root = workplace.root();
    let turns = calls
        .iter()
        .map(|call| backend.dialect().turn(std::slice::from_ref(call), &root));
    let script = ModelScript::new(turns.chain([Turn::text("Done.")]));
    let server = backend.serve_script(script).unverified();
    let mut command = workplace.run(&server, flags);
    command.envs(environment.iter().map(|(name, value)| (*name, value)));

    let ended = CommandOutput::run(command);

    workplace.wait_for_processes();
    assert_eq!(ended.code, Some(0), "{ended:?}\n{}", server.log().render());
    assert_eq!(server.problems(), Vec::<String>::new());
    let requests = server.log().main_requests();
    let last = requests.last().expect("the model was asked");
    let result = |call: &Call| {
        let mut results = last
            .tool_results()
            .into_iter()
            .filter(|result| result.tool_use_id == call.id);
        results.next().map(|result| result.text.clone())
    };
    let results = calls.iter().filter_map(result).collect();
    let offered = last.tools.iter().map(|tool| tool.name.clone()).collect();
    let journal = workplace.journal();
    let denied = journal.iter().filter(|entry| entry["line"] == "denied");
    let denied = denied.map(|entry| {
        let target = entry["target"].as_str().or(entry["tool"].as_str());
        target.unwrap_or_default().to_owned()
    });
    Played {
        results,
        offered,
        denied: denied.collect(),
        workplace,
    }
}

fn fetches(url: &str) -> Call {
    uses(
        "WebFetch",
        json!({"url": url, "prompt": "What does the page say?"}),
    )
}

// Shows: spec/5.4/example
#[test]
fn example_settings_of_the_specification_apply() {
    let settings: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let site = WebSite::start("api.example.com");
    let calls = vec![
        calls_mcp_tool("custom-tool", "remember", json!({"note": "buy milk"})),
        fetches("https://api.example.com/v1"),
        fetches("https://elsewhere.example.org/"),
        // No program has these names, so the commands fail after the gate.
        runs("custom-cli --version"),
        runs("pkill custom-server"),
        runs("pkill other-server"),
        runs("pytest --version || node --version"),
        runs("go version"),
    ];

    let played = play(
        &settings,
        calls,
        &[],
        &[
            ("HTTPS_PROXY", site.proxy_url()),
            (
                "NODE_EXTRA_CA_CERTS",
                site.certificate().display().to_string(),
            ),
        ],
    );

    let results = &played.results;
    assert!(results[0].contains("remember: buy milk"), "{results:?}");
    assert_eq!(site.requests(), "GET /v1\n", "{results:?}");
    assert!(results[3].contains("not found"), "{results:?}");
    assert_eq!(
        played.denied,
        [
            "https://elsewhere.example.org/",
            "pkill other-server",
            "go version",
        ],
        "{results:?}"
    );
    let is_offered = |name: &str| played.offered.iter().any(|offered| offered == name);
    // Newer builds call the first tool `Agent`.
    assert!(
        (is_offered("Task") || is_offered("Agent")) && is_offered("WebSearch"),
        "{:?}",
        played.offered
    );
}

// Shows: spec/5.4/permissions-allowed-tools-hooks, spec/9.3/hooks, spec/8.1/no-sandbox
#[test]
fn grants_hooks_servers_and_sandbox_reach_the_session() {
    let settings = json!({
        "permissions": {"allow": ["WebFetch(*)", "Write(./.autonoe/**)"]},
        "allowedTools": ["NotebookEdit"],
        "mcpServers": {"docs": {"command": "npx", "args": ["custom-mcp-server"]}},
        "hooks": [{
            "type": "core-deny-tool",
            "rule": "WebFetch(domain:evil.example)",
            "reason": "use the mirror",
        }],
    });
    // The policy does not analyse programs of Node.js. The sandbox stops them.
    let leaves = r#"node -e "require('fs').writeFileSync(['..', 'outside.txt'].join('/'), 'x')""#;
    let cell = json!({
        "notebook_path": "plot.ipynb", "cell_id": "first", "new_source": "print('hello')",
    });
    for (flags, leaves_project) in [(&[][..], false), (&["--no-sandbox"], true)] {
        let calls = vec![
            calls_mcp_tool("docs", "remember", json!({"note": "buy milk"})),
            fetches("https://evil.example/"),
            writes(".autonoe/agent.json", "{}\n"),
            runs(leaves),
            writes("plot.ipynb", NOTEBOOK),
            uses("NotebookEdit", cell.clone()),
        ];

        let played = play(&settings, calls, flags, &[]);

        let Played {
            workplace, results, ..
        } = &played;
        assert!(results[0].contains("remember: buy milk"), "{results:?}");
        assert!(results[1].contains("use the mirror"), "{results:?}");
        let [fetched, written] = &played.denied[..] else {
            panic!("{:?}", played.denied);
        };
        assert_eq!(fetched, "https://evil.example/");
        assert!(written.ends_with(".autonoe/agent.json"), "{written}");
        let outside = workplace.root().with_file_name("outside.txt");
        assert_eq!(outside.exists(), leaves_project, "{flags:?}: {results:?}");
        let notebook = workplace.read("plot.ipynb");
        assert!(notebook.contains("print('hello')"), "{results:?}");
    }
}
