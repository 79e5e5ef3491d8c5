//! Checks of session options that a backend does not claim to support.

use std::collections::BTreeMap;

use autonoe_core::agent::{AgentErrorKind, OuterSandbox, Sandbox, SessionField, ThinkingBudget};
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, Capabilities, SessionSpec};
use futures::StreamExt;

use super::fixture::Subject;
use super::fixture::{Fixture, GateMode, Session, dispose, prompt};
use super::sessions::text_scenario;
use crate::conformance::checks::{CheckOutcome, Flaw, within};

/// A session option that a backend must claim before it accepts it.
pub(super) struct Field {
    pub(super) field: SessionField,
    set: fn(&mut SessionSpec),
}

const FIELDS: [Field; 9] = [
    Field {
        field: SessionField::Sandbox,
        set: |spec| spec.sandbox = Sandbox::Required,
    },
    Field {
        field: SessionField::OuterSandbox,
        set: |spec| spec.outer_sandbox = Some(OuterSandbox::bubblewrap()),
    },
    Field {
        field: SessionField::Model,
        set: |spec| spec.model = Some("conformance-model".to_owned()),
    },
    Field {
        field: SessionField::SystemPrompt,
        set: |spec| spec.system_prompt = Some("Answer in one word.".to_owned()),
    },
    Field {
        field: SessionField::Thinking,
        set: |spec| spec.thinking = Some(ThinkingBudget::default()),
    },
    Field {
        field: SessionField::MaxTurns,
        set: |spec| spec.max_turns = Some(1),
    },
    Field {
        field: SessionField::McpServers,
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
        field: SessionField::ProjectMemory,
        set: |spec| spec.project_memory = false,
    },
    Field {
        field: SessionField::Resume,
        set: |spec| spec.resume = Some(AgentSessionId::new("conformance-earlier")),
    },
];

/// Returns the unclaimed options.
pub(super) fn fields(capabilities: &Capabilities) -> impl Iterator<Item = &'static Field> {
    FIELDS
        .iter()
        .filter(|field| capabilities.require([field.field]).is_err())
}

/// Creates a session with `field`, which must fail on creation or with its first event.
pub(super) async fn is_refused(subject: &Subject<'_>, field: &Field) -> CheckOutcome {
    let name = field.field.name();
    let mut fixture = Fixture::new(subject, &text_scenario()).await?;
    let limit = fixture.limit;
    let Session { mut client, .. } = match fixture.create(GateMode::Open, field.set) {
        Ok(session) => session,
        Err(error) => return is_refusal(field.field, &error),
    };
    let first = {
        let mut stream = client.query(prompt());
        within(limit, "the first event", stream.next()).await?
    };
    let _ = dispose(client, limit).await;
    match first {
        Some(Err(error)) => is_refusal(field.field, &error),
        first => Err(Flaw::Failed(format!(
            "the backend does not claim `{name}`, and starts a session that sets it; the first event \
             is {first:?}; call SessionSpec::refuse_unclaimed in `create`"
        ))),
    }
}

/// Checks that the error refuses `field` and has no other cause.
fn is_refusal(field: SessionField, error: &AgentError) -> CheckOutcome {
    let (name, expected) = (field.name(), AgentErrorKind::Unclaimed(field));
    ensure!(
        error.kind() == expected,
        "the backend does not claim `{name}`, and fails with {} where {} is due: {error}; call \
         SessionSpec::refuse_unclaimed in `create`",
        error.code(),
        expected.code()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_must_be_claimed_is_tried() {
        let tried: Vec<_> = FIELDS.iter().map(|field| field.field).collect();

        assert_eq!(tried, SessionField::ALL);
    }
}
