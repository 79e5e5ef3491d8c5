//! Fields of a session that a backend does not claim.

use std::collections::BTreeMap;

use autonoe_core::{
    AgentError, AgentSessionId, Capabilities, McpServer, OuterSandbox, Sandbox, SessionSpec,
    Support, ThinkingBudget,
};
use futures::StreamExt;

use super::harness::AgentHarness;
use super::sessions::says;
use super::stand::{GateIs, Session, Stand, dispose, prompt};
use crate::conformance::checks::{Finding, Flaw, within};

/// A field of a session that a backend must claim before it accepts it.
pub(super) struct Field {
    pub(super) name: &'static str,
    claimed: fn(&Capabilities) -> Support,
    set: fn(&mut SessionSpec),
}

const FIELDS: [Field; 9] = [
    Field {
        name: "sandbox",
        claimed: |it| it.sandbox,
        set: |spec| spec.sandbox = Sandbox::Required,
    },
    Field {
        name: "outer_sandbox",
        claimed: |it| it.outer_sandbox,
        set: |spec| spec.outer_sandbox = Some(OuterSandbox::bubblewrap()),
    },
    Field {
        name: "model",
        claimed: |it| it.model,
        set: |spec| spec.model = Some("conformance-model".to_owned()),
    },
    Field {
        name: "system_prompt",
        claimed: |it| it.system_prompt,
        set: |spec| spec.system_prompt = Some("Answer in one word.".to_owned()),
    },
    Field {
        name: "thinking",
        claimed: |it| it.thinking,
        set: |spec| spec.thinking = Some(ThinkingBudget::default()),
    },
    Field {
        name: "max_turns",
        claimed: |it| it.max_turns,
        set: |spec| spec.max_turns = Some(1),
    },
    Field {
        name: "mcp_servers",
        claimed: |it| it.mcp_servers,
        set: |spec| {
            let server = McpServer::Stdio {
                command: "true".to_owned(),
                args: Vec::new(),
                env: BTreeMap::new(),
                transport: None,
            };
            spec.mcp_servers.insert("conformance".to_owned(), server);
        },
    },
    Field {
        name: "project_memory",
        claimed: |it| it.project_memory_off,
        set: |spec| spec.project_memory = false,
    },
    Field {
        name: "resume",
        claimed: |it| it.resume,
        set: |spec| spec.resume = Some(AgentSessionId::new("conformance-earlier")),
    },
];

/// Returns the fields that are not claimed.
pub(super) fn fields(capabilities: &Capabilities) -> impl Iterator<Item = &'static Field> {
    FIELDS
        .iter()
        .filter(|field| !(field.claimed)(capabilities).is_yes())
}

/// Asks for a session with `field`, which must fail when it is created or as its first event.
pub(super) async fn is_refused(harness: &dyn AgentHarness, field: &Field) -> Finding {
    let name = field.name;
    let mut stand = Stand::of(harness, &says()).await?;
    let limit = stand.limit;
    let Session { mut client, .. } = match stand.create(GateIs::Open, field.set) {
        Ok(session) => session,
        Err(error) => return is_final(name, &error),
    };
    let first = {
        let mut stream = client.query(prompt());
        within(limit, "the first event", stream.next()).await?
    };
    let _ = dispose(client, limit).await;
    match first {
        Some(Err(error)) => is_final(name, &error),
        first => Err(Flaw::Failed(format!(
            "the backend does not claim `{name}`, and starts a session that sets it; the first event \
             is {first:?}; call SessionSpec::refuse_unclaimed in `create`"
        ))),
    }
}

/// Checks that a run does not retry the session.
fn is_final(name: &str, error: &AgentError) -> Finding {
    ensure!(
        !error.is_retryable(),
        "the backend does not claim `{name}`, and refuses it with an error that runs retry ({}): \
         {error}",
        error.code()
    );
    Ok(())
}
