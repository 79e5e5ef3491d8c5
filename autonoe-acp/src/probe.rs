//! Whether a program is an agent of the protocol, and which.

use autonoe_core::{
    AgentError, AgentErrorKind, Capabilities, HookCoverage, ServerReach, Support, TokenReports,
    ToldEvents,
};
use serde_json::{Value, json};

use crate::events::Translator;
use crate::launch::{
    AcpOptions, HomeFolder, Preset, TESTED_VERSION, is_tested_version, missing_credentials,
    probe_launch,
};
use crate::session::{Live, late};
use crate::wire::speaks_http;

/// Returns the capabilities of the agent.
///
/// The program is started, asked and ended, unless it is the tested version of Gemini CLI, whose
/// answer is known. Each session asks again.
pub(crate) async fn probe(options: &AcpOptions) -> Result<Capabilities, AgentError> {
    if options.preset == Preset::Gemini
        && options.home == HomeFolder::PerSession
        && let Some(remedy) = missing_credentials(&options.environment)
    {
        let message = "Gemini CLI has no credentials";
        let error = AgentError::new(AgentErrorKind::Authentication, message);
        return Err(error.with_remedy(remedy));
    }
    if options.preset == Preset::Gemini
        && options
            .args
            .first()
            .is_some_and(|script| is_tested_version(script))
    {
        // Fails as a session would if the place for its files cannot be created.
        probe_launch(options)?;
        return Ok(capabilities(options, &tested_gemini()));
    }
    greet(options).await
}

/// Returns what the tested version of Gemini CLI answers to `initialize`, as far as it matters.
fn tested_gemini() -> Value {
    json!({
        "agentInfo": {"version": TESTED_VERSION},
        "agentCapabilities": {"loadSession": true, "mcpCapabilities": {"http": true}},
    })
}

/// Starts the program, greets it and ends it, whatever its credentials are.
pub(crate) async fn greet(options: &AcpOptions) -> Result<Capabilities, AgentError> {
    let launch = probe_launch(options)?;
    let translator = Translator::new(options.preset.dialect(), Vec::new());
    let mut live = Live::start(options, launch, translator).await?;
    let greeted = tokio::time::timeout(options.start_limit, live.greet(options)).await;
    live.end().await;
    let told = greeted.unwrap_or_else(|_elapsed| Err(late(options)))?;
    Ok(capabilities(options, &told))
}

/// Says what an agent can do that told `told` of itself.
fn capabilities(options: &AcpOptions, told: &Value) -> Capabilities {
    let loads = told["agentCapabilities"]["loadSession"] == true;
    let resume = match loads && options.home != HomeFolder::PerSession {
        true => Support::Yes,
        false => Support::No,
    };
    let capabilities = Capabilities::new(&options.name)
        // It asks about what it chooses to, and nobody can tell what that is.
        .with_hooks(HookCoverage::AskedOnly)
        .with_sandbox(Support::No)
        .with_sandbox_remedy(options.walls.remedy())
        .with_outer_sandbox(Support::Yes)
        .with_cost(Support::No)
        .with_tokens(match options.preset {
            // An agent may tell tokens, and says nowhere whether it will.
            Preset::Plain => TokenReports::None,
            Preset::Gemini => TokenReports::EachTurn,
        })
        .with_quota_reset(Support::No)
        .with_resume(resume)
        .with_in_process_tools(Support::No)
        .with_tool_server(match speaks_http(told) {
            true => ServerReach::Address,
            false => ServerReach::Command,
        })
        .with_steering(Support::No)
        .with_events(ToldEvents::default());
    match told["agentInfo"]["version"].as_str() {
        Some(version) => capabilities.with_version(version),
        None => capabilities,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_claimed_that_is_not_so() {
        let told = json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "x", "version": "1.2"},
            "agentCapabilities": {"loadSession": true},
        });
        for (home, resume) in [
            (HomeFolder::PerSession, Support::No),
            (HomeFolder::Kept("/h".into()), Support::Yes),
        ] {
            let options = AcpOptions::new("x", "/bin/x", []).with_home(home);

            let can = capabilities(&options, &told);

            assert_eq!(can.hooks, HookCoverage::AskedOnly);
            assert_eq!(
                (can.sandbox, can.in_process_tools),
                (Support::No, Support::No)
            );
            assert_eq!(can.tool_server, ServerReach::Command);
            assert_eq!((can.resume, can.version.as_deref()), (resume, Some("1.2")));
        }
    }
}
