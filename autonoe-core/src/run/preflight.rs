//! Checks of a backend's capabilities and of the budgets before a run starts.

use crate::agent::{Capabilities, HookCoverage, SessionField, SessionSpec, Support, TokenReports};
use crate::event::{Failure, Phase};
use crate::run::Models;

/// Returns the reason why a run must not start on a backend, or `None` if it may. `spec` has every
/// field that sessions of the run set.
///
/// A guard or a limit that is not enforced is worse than none, because the operator relies on it.
/// So these are errors, not warnings.
pub(super) fn refuse(
    capabilities: &Capabilities,
    spec: &SessionSpec,
    has_tool_server: bool,
) -> Option<Failure> {
    let backend = &capabilities.backend;
    if capabilities.hooks != HookCoverage::EveryTool && spec.outer_sandbox.is_none() {
        let way = if capabilities.outer_sandbox.is_yes() {
            "run it in an outer sandbox, with OuterSandbox::bubblewrap()"
        } else {
            "run it in an outer sandbox"
        };
        let message =
            format!("{backend} can bypass the gate, so the guards cannot be enforced; {way}");
        let mut refusal = Failure::permanent("guards_not_enforced", message);
        let remedy = capabilities.remedies.get(&SessionField::Sandbox);
        refusal.remedy = remedy.cloned();
        return Some(refusal);
    }
    if let Err(error) = spec.refuse_unclaimed(capabilities) {
        return Some(Failure::from(&error));
    }
    if capabilities.in_process_tools.is_yes() {
        return None;
    }
    if !has_tool_server {
        let message = format!(
            "{backend} does not support in-process tools, so its agents cannot reach the \
             deliverable tools; give the run a tool server"
        );
        return Some(Failure::permanent("tools_not_served", message));
    }
    // The tool server is one of the MCP servers of each session.
    let reached = capabilities.require([SessionField::McpServers]);
    reached.err().map(|error| Failure::from(&error))
}

/// Returns the reason why a run with a cost budget must not start on a backend, or `None` if it
/// may.
///
/// `cost_of` returns the backend's cost support for a model. The capabilities apply to sessions
/// without a model, and to all sessions of a backend that does not distinguish models.
pub(super) fn refuse_cost_limit(
    capabilities: &Capabilities,
    models: &Models,
    cost_of: impl Fn(&str) -> Option<Support>,
) -> Option<Failure> {
    let backend = &capabilities.backend;
    for phase in [Phase::Planning, Phase::Implementation] {
        let model = models.for_phase(phase);
        let message = match model.and_then(|model| Some((model, cost_of(model)?))) {
            Some((_, Support::Yes)) => continue,
            Some((model, Support::No)) => {
                format!("{backend} does not report what the model {model} costs")
            }
            None if capabilities.cost.is_yes() => continue,
            None => format!("{backend} does not report what it costs"),
        };
        let instead = match capabilities.tokens {
            TokenReports::None => "time",
            TokenReports::EachTurn | TokenReports::EachCall => "tokens or time",
        };
        return Some(Failure::permanent(
            "cost_not_reported",
            format!("{message}, so the cost budget cannot be enforced; limit {instead} instead"),
        ));
    }
    None
}

/// Returns the reason why a run with a token budget must not start on a backend, or `None` if it
/// may.
pub(super) fn refuse_token_limit(capabilities: &Capabilities) -> Option<Failure> {
    let backend = &capabilities.backend;
    (capabilities.tokens == TokenReports::None).then(|| {
        let message = format!(
            "{backend} does not report reliably how many tokens a session uses, so the token \
             budget cannot be enforced; limit time instead"
        );
        Failure::permanent("tokens_not_reported", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{OuterSandbox, Sandbox, Support, ThinkingBudget};
    use crate::gate::{Gate, Grants, ProjectPaths};
    use crate::time::{RunId, SessionKey};
    use crate::tool::Toolbox;

    fn able() -> Capabilities {
        Capabilities::new("agent")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_in_process_tools(Support::Yes)
    }

    fn with(change: impl FnOnce(&mut SessionSpec)) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 0,
        };
        let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
        let mut spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
        change(&mut spec);
        spec
    }

    #[test]
    fn the_refusal_of_a_field_has_the_sentence_and_the_remedy_of_refuse_unclaimed() {
        let spec = with(|spec| spec.thinking = Some(ThinkingBudget::default()));
        let unable = able().with_remedy(SessionField::Thinking, "use the large model");

        let refusal = refuse(&unable, &spec, false).expect("not claimed");

        let error = spec.refuse_unclaimed(&unable).expect_err("not claimed");
        assert_eq!(refusal, Failure::from(&error));
        assert_eq!(refusal.remedy.as_deref(), Some("use the large model"));
    }

    #[test]
    fn a_backend_that_can_bypass_the_gate_is_refused_with_the_remedy_of_its_sandbox() {
        let partial = able()
            .with_hooks(HookCoverage::Partial)
            .with_remedy(SessionField::Sandbox, "install it");

        let refusal = refuse(&partial, &with(|_| ()), false).expect("it has none");

        assert_eq!(refusal.code, "guards_not_enforced");
        assert_eq!(refusal.remedy.as_deref(), Some("install it"));
    }

    // Shows: interfaces/agent-client/sandbox
    #[test]
    fn a_run_starts_only_where_its_guards_and_limits_are_enforced() {
        let required = || with(|_| ());
        let off = || with(|spec| spec.sandbox = Sandbox::Off);
        let in_container = || {
            with(|spec| {
                spec.outer_sandbox = Some(OuterSandbox {
                    name: "a container".to_owned(),
                });
            })
        };
        let in_bubblewrap = || with(|spec| spec.outer_sandbox = Some(OuterSandbox::bubblewrap()));
        let with_model = || with(|spec| spec.model = Some("large".to_owned()));
        let partial = || able().with_hooks(HookCoverage::Partial);
        let served = || able().with_in_process_tools(Support::No);
        for (capabilities, spec, has_tool_server, expected) in [
            (able(), required(), false, None),
            (partial(), required(), false, Some("guards_not_enforced")),
            (
                able().with_hooks(HookCoverage::None),
                off(),
                false,
                Some("guards_not_enforced"),
            ),
            (partial(), in_container(), false, None),
            // A sandbox that the backend does not create protects nothing, even with full hook
            // coverage.
            (
                able(),
                in_bubblewrap(),
                false,
                Some("outer_sandbox_not_supported"),
            ),
            (
                partial(),
                in_bubblewrap(),
                false,
                Some("outer_sandbox_not_supported"),
            ),
            (
                partial().with_outer_sandbox(Support::Yes),
                in_bubblewrap(),
                false,
                None,
            ),
            (
                partial().with_outer_sandbox(Support::Yes),
                required(),
                false,
                Some("guards_not_enforced"),
            ),
            (
                able().with_sandbox(Support::No),
                required(),
                false,
                Some("sandbox_not_supported"),
            ),
            (able().with_sandbox(Support::No), off(), false, None),
            (
                able().with_sandbox(Support::No),
                in_container(),
                false,
                None,
            ),
            (able(), with_model(), false, Some("model_not_supported")),
            (able().with_model(Support::Yes), with_model(), false, None),
            (served(), required(), false, Some("tools_not_served")),
            (
                served(),
                required(),
                true,
                Some("mcp_servers_not_supported"),
            ),
            (
                served().with_mcp_servers(Support::Yes),
                required(),
                true,
                None,
            ),
        ] {
            let refusal = refuse(&capabilities, &spec, has_tool_server);

            let code = refusal.as_ref().map(|failure| failure.code.as_str());
            assert_eq!(code, expected, "{capabilities:?} {spec:?}");
        }
    }

    #[test]
    fn tokens_are_limited_only_where_they_are_reported() {
        for (tokens, refused) in [
            (TokenReports::None, true),
            (TokenReports::EachTurn, false),
            (TokenReports::EachCall, false),
        ] {
            let capabilities = Capabilities::new("agent").with_tokens(tokens);

            let refusal = refuse_token_limit(&capabilities);

            assert_eq!(refusal.is_some(), refused, "{tokens:?}");
        }
    }

    #[test]
    fn a_refusal_suggests_only_enforceable_limits() {
        for (tokens, limits) in [
            (TokenReports::None, "limit time instead"),
            (TokenReports::EachTurn, "limit tokens or time instead"),
        ] {
            let capabilities = Capabilities::new("agent").with_tokens(tokens);

            let refusal = refuse_cost_limit(&capabilities, &Models::default(), |_| None);

            let message = refusal.expect("it reports no cost").message;
            assert!(message.ends_with(limits), "{message}");
        }
    }

    #[test]
    fn cost_is_limited_only_if_every_session_reports_its_cost() {
        let cost_of = |model: &str| match model {
            "priced" => Some(Support::Yes),
            "unpriced" => Some(Support::No),
            _ => None,
        };
        for (cost, planning, implementation, expected) in [
            (Support::Yes, None, None, None),
            (Support::No, None, None, Some("report what it costs")),
            (Support::Yes, None, Some("unpriced"), Some("unpriced costs")),
            (Support::Yes, Some("unpriced"), None, Some("unpriced costs")),
            (
                Support::Yes,
                Some("unpriced"),
                Some("priced"),
                Some("unpriced costs"),
            ),
            (
                Support::Yes,
                Some("priced"),
                Some("unpriced"),
                Some("unpriced costs"),
            ),
            // The backend's own model is not used.
            (Support::No, None, Some("priced"), None),
            (Support::No, Some("priced"), Some("priced"), None),
            (
                Support::No,
                Some("priced"),
                None,
                Some("report what it costs"),
            ),
            // The backend does not distinguish models.
            (Support::Yes, Some("other"), None, None),
            (
                Support::No,
                None,
                Some("other"),
                Some("report what it costs"),
            ),
        ] {
            let capabilities = Capabilities::new("agent").with_cost(cost);
            let [planning, implementation] =
                [planning, implementation].map(|model| model.map(str::to_owned));
            let models = Models {
                planning,
                implementation,
            };

            let refusal = refuse_cost_limit(&capabilities, &models, cost_of);

            let message = refusal.as_ref().map(|refusal| refusal.message.as_str());
            let fits = match (message, expected) {
                (Some(message), Some(expected)) => message.contains(expected),
                (message, expected) => message == expected,
            };
            assert!(fits, "{cost:?} {models:?}: {message:?}");
        }
    }
}
