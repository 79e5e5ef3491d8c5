//! From a valid definition to a flow that can be started.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use autonoe_core::{Grants, InvalidValue, Ledger, LedgerBook, SessionAccess};

use super::flow::{Created, Flow, Parts, fingerprint};
use super::options::FlowOptions;
use crate::completion::{CompletionDependencies, LedgerSource, build_completion};
use crate::definition::{
    AfterFailure, Behavior, Check, Completion, ExpectedAction, PermissionMode,
};
use crate::error::{FlowError, FlowErrorKind};
use crate::escalation::Notifier;
use crate::progress::Watched;
use crate::prompt::PromptResolver;
use crate::validate::ValidatedFlow;

/// Builds flows.
///
/// ```
/// use autonoe_core::SessionRunner;
/// use autonoe_flow::{
///     FlowBuilder, FlowFactory, FlowOptions, ParameterValues, StartOptions, WorkStep,
/// };
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let agents = ScriptedAgents::new([SessionScript::new("greet").says("Hello!").ends()]);
/// # let clock = std::sync::Arc::new(VirtualClock::new());
/// let flow = FlowBuilder::new("hello")
///     .step("greet", "Say hello.", WorkStep::default())
///     .build()?
///     .validated()?;
/// let sessions = SessionRunner::builder("/srv/project")
///     .agents(agents)
/// #   .clock(clock.clone())
///     .build_sessions()?;
/// let options = FlowOptions::new(sessions, "/srv/project");
/// # let options = options.clock(clock);
///
/// let created = FlowFactory::build(flow, options)?;
/// let mut started = created.start(StartOptions::new(ParameterValues::default())).await?;
/// started.run().await;
/// let result = started.stop();
///
/// assert!(result.is_success());
/// assert_eq!(result.iterations(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FlowFactory;

impl FlowFactory {
    /// Builds a flow that can be started, once.
    ///
    /// # Errors
    ///
    /// Something that the definition names is not there: a state, a ledger, a
    /// program, a signing key, somebody who tells webhooks, a condition of the
    /// embedder's own. The kind is [`FlowErrorKind::DependencyResolution`], and
    /// the sentence names it. A limit with which nothing could run is a
    /// [`FlowErrorKind::ConfigurationValidation`].
    pub fn build(flow: ValidatedFlow, options: FlowOptions) -> Result<Flow<Created>, FlowError> {
        if let Some(limits) = &options.limits {
            InvalidValue::check_budget("limits(..)", &limits.budget)?;
            InvalidValue::check_backoff("limits(..)", &limits.quota_backoff)?;
        }
        let definition = flow.definition();
        let behavior = &definition.agent().behavior;
        let ledger = LateLedger::default();
        let mut needed = CompletionDependencies::new(options.specs.clone())
            .with_states(options.states.clone())
            .with_commands(options.commands.clone());
        if options.sessions.has_ledger() {
            needed = needed.with_ledger(Arc::new(ledger.clone()));
        }
        let completion = build_completion(&behavior.completion, &needed)?;
        look_for_dependencies(&flow, &options)?;
        let fingerprint = fingerprint(definition).map_err(|error| {
            let message = "the definition of the flow cannot be written down";
            FlowError::new(FlowErrorKind::ConfigurationParse, message).because(error)
        })?;
        Ok(Flow::created(Parts {
            resolver: PromptResolver::new(definition),
            access: access(behavior),
            watched: Watched::by(&behavior.completion),
            reads_ledger: reads_ledger(&behavior.completion),
            fingerprint,
            ledger,
            completion,
            flow,
            options,
        }))
    }
}

/// Looks whether the commands of checks could be run, and escalations told.
fn look_for_dependencies(flow: &ValidatedFlow, options: &FlowOptions) -> Result<(), FlowError> {
    let steps = flow.definition().registry().steps.values();
    for work in steps.filter_map(|step| step.work()) {
        if let Some(Check::Action(check)) = &work.check {
            for action in &check.actions {
                if let ExpectedAction::Command(command) = action {
                    options.commands.resolve(&command.command)?;
                }
            }
        }
        if let AfterFailure::Escalate(escalation) = work.plan().after_failure {
            options.notifiers.resolve(&escalation)?;
        }
    }
    Ok(())
}

fn reads_ledger(completion: &Completion) -> bool {
    match completion {
        Completion::Deliverables(_) => true,
        Completion::Composite(composite) => {
            let mut conditions = composite.conditions.iter();
            conditions.any(|condition| reads_ledger(&condition.completion))
        }
        _ => false,
    }
}

/// The ledger, which is there once the sessions are open.
#[derive(Clone, Default)]
pub(super) struct LateLedger(Arc<OnceLock<LedgerBook>>);

impl LateLedger {
    pub(super) fn open(&self, book: &LedgerBook) {
        let _ = self.0.set(book.clone());
    }
}

#[async_trait]
impl LedgerSource for LateLedger {
    async fn ledger(&self) -> Result<Option<Ledger>, Box<dyn std::error::Error + Send + Sync>> {
        match self.0.get() {
            Some(book) => LedgerSource::ledger(book).await,
            None => Err("the ledger was not taken over".into()),
        }
    }
}

/// Returns what the agent of a flow may do: what is allowed by name, and what the mode adds.
///
/// Guards and hooks judge every call whatever is allowed here.
pub(super) fn access(behavior: &Behavior) -> SessionAccess {
    let named = behavior.allowed_tools.iter();
    let named = named.fold(Grants::none(), Grants::with_tool);
    match behavior.permission_mode {
        PermissionMode::Default => SessionAccess::Only(named),
        PermissionMode::AcceptEdits => {
            const EDITS: [&str; 2] = ["Edit(./**)", "Write(./**)"];
            SessionAccess::Only(EDITS.into_iter().fold(named, Grants::with_tool))
        }
        PermissionMode::Plan => SessionAccess::ReadOnly(named),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_permission_mode_adds_edits_or_takes_all_that_changes() {
        let access_of = |mode: &str| {
            let behavior = json!({
                "completionType": "stepMachine",
                "allowedTools": ["Grep", "Bash(npm test)"],
                "permissionMode": mode,
            });
            access(&serde_json::from_value(behavior).expect("a behavior"))
        };
        let named = Grants::none().with_tool("Grep").with_tool("Bash(npm test)");
        let rules = |grants: &Grants| grants.rules().count();

        assert_eq!(access_of("default"), SessionAccess::Only(named.clone()));
        assert_eq!(access_of("plan"), SessionAccess::ReadOnly(named.clone()));
        match access_of("acceptEdits") {
            SessionAccess::Only(grants) => assert_eq!(rules(&grants), rules(&named) + 2),
            other => panic!("{other:?}"),
        }
    }
}
