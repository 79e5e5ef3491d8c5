//! What a session gets that says nothing about it.

use autonoe_core::{Sandbox, SessionSpec};

use super::ClaudeOptions;

/// Returns `spec` with what `options` say filled in.
///
/// What a session says for itself wins, but a limit of the options stays one: of two budgets
/// or two numbers of turns the smaller counts, and a sandbox that is always required is.
pub(crate) fn completed(options: &ClaudeOptions, mut spec: SessionSpec) -> SessionSpec {
    spec.model = spec.model.or_else(|| options.model.clone());
    spec.thinking = spec.thinking.or(options.thinking);
    spec.max_turns = smaller(spec.max_turns, options.max_turns);
    spec.budget.cost_usd = smaller(spec.budget.cost_usd, options.max_cost);
    if options.own_sandbox == Sandbox::Required {
        spec.sandbox = Sandbox::Required;
    }
    for (name, server) in &options.mcp_servers {
        if !spec.mcp_servers.contains_key(name) {
            spec.mcp_servers.insert(name.clone(), server.clone());
            // The run may have left out an optional server of this name.
            spec.optional_servers.remove(name);
        }
    }
    spec
}

fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use autonoe_core::{
        CostUsd, Gate, Grants, McpServer, OptionalServers, ProjectPaths, RunId, SessionKey,
        ThinkingBudget, Toolbox,
    };

    use super::*;

    fn spec() -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
        let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        spec
    }

    fn server(command: &str) -> McpServer {
        serde_json::from_value(serde_json::json!({"command": command})).expect("a server")
    }

    fn dollars(amount: &str) -> CostUsd {
        amount.parse().expect("an amount")
    }

    fn options() -> ClaudeOptions {
        ClaudeOptions::new("claude", [])
            .with_model("sonnet")
            .with_thinking(ThinkingBudget::default())
            .with_max_turns(20)
            .with_max_cost(dollars("2"))
            .with_mcp_server("search", server("of the options"))
    }

    #[test]
    fn a_session_that_says_nothing_gets_what_the_options_say() {
        let spec = completed(&options(), spec());

        assert_eq!(spec.model.as_deref(), Some("sonnet"));
        assert_eq!(spec.thinking, Some(ThinkingBudget::default()));
        assert_eq!(spec.max_turns, Some(20));
        assert_eq!(spec.budget.cost_usd, Some(dollars("2")));
        assert_eq!(spec.mcp_servers["search"], server("of the options"));
        assert_eq!(spec.sandbox, Sandbox::Off);
    }

    #[test]
    fn a_server_of_the_options_is_needed_even_if_the_run_could_do_without_one_of_its_name() {
        let mut asked = spec();
        asked.optional_servers = OptionalServers::from_iter(["search", "docs"]);

        let spec = completed(&options(), asked);

        assert!(!spec.optional_servers.contains("search"));
        assert!(spec.optional_servers.contains("docs"));
    }

    #[test]
    fn what_a_session_says_wins() {
        let mut asked = spec();
        asked.model = Some("opus".into());
        asked.max_turns = Some(5);
        asked.budget.cost_usd = Some(dollars("0.5"));
        asked
            .mcp_servers
            .insert("search".into(), server("of the session"));

        let spec = completed(&options(), asked);

        assert_eq!(spec.model.as_deref(), Some("opus"));
        assert_eq!(spec.max_turns, Some(5));
        assert_eq!(spec.budget.cost_usd, Some(dollars("0.5")));
        assert_eq!(spec.mcp_servers["search"], server("of the session"));
    }

    #[test]
    fn a_limit_of_the_options_stays_one() {
        let mut asked = spec();
        asked.max_turns = Some(50);
        asked.budget.cost_usd = Some(dollars("9"));

        let spec = completed(&options().with_own_sandbox(Sandbox::Required), asked);

        assert_eq!(spec.max_turns, Some(20));
        assert_eq!(spec.budget.cost_usd, Some(dollars("2")));
        assert_eq!(spec.sandbox, Sandbox::Required);
    }
}
