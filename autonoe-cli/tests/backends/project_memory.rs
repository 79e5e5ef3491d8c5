//! Memory files of a project in runs on every backend.

use std::fs;

use serde_json::{Value, json};

use crate::backends::backend::{Api, Backend};
use crate::backends::run_script::{End, RunScript, Session, plans};
use crate::backends::workspace::TempWorkspace;

const MEMORY: &str = "Indent with tabs, always.";

fn on() -> Value {
    json!({"mcpServers": {}})
}

fn off() -> Value {
    json!({"mcpServers": {}, "projectMemory": false})
}

fn one_session() -> RunScript {
    let planning = Session::new([plans([("DL-001", "a file is there")])], End::Text("Done."));
    RunScript::new([planning]).with_max_iterations(1)
}

/// Runs `run_script` in a project with the memory file `name`. For each request that the model received,
/// returns how often it contains the text of the file.
async fn occurrences(
    backend: Backend,
    name: &str,
    settings: &Value,
    run_script: &RunScript,
) -> Vec<usize> {
    let place = TempWorkspace::new();
    fs::write(place.root().join(name), MEMORY).expect("writable");
    let config = place.root().join(".autonoe/agent.json");
    fs::write(config, settings.to_string()).expect("writable");

    let prompts = backend.prompts(run_script, &place).await;

    let texts = prompts.iter().map(|prompt| prompt.raw.to_string());
    texts.map(|text| text.matches(MEMORY).count()).collect()
}

async fn follows_the_setting(backend: Backend, name: &str) {
    for (settings, expected) in [(on(), 1), (off(), 0)] {
        let found = occurrences(backend, name, &settings, &one_session()).await;

        assert_eq!(found, [expected; 2], "{backend:?} {settings}");
    }
}

#[tokio::test]
async fn codex_gets_agents_md() {
    follows_the_setting(Backend::Codex, "AGENTS.md").await;
}

#[tokio::test]
async fn agents_on_models_get_agents_md() {
    for api in [Api::Messages, Api::Responses, Api::Chat, Api::Gemini] {
        follows_the_setting(Backend::Model(api), "AGENTS.md").await;
    }
}

/// No setting of Gemini CLI turns its memory file off, so a session without memory is refused.
#[tokio::test]
async fn gemini_cli_gets_gemini_md_or_does_not_start() {
    let gemini = Backend::Gemini;

    let found = occurrences(gemini, "GEMINI.md", &on(), &one_session()).await;
    assert_eq!(found, [1; 2]);

    let found = occurrences(gemini, "GEMINI.md", &off(), &RunScript::new([])).await;
    assert_eq!(found, [0; 0]);
}
