//! Default values of a session from [`ClaudeOptions`].

use autonoe_core::SessionSpec;
use autonoe_core::agent::Sandbox;

use super::ClaudeOptions;

/// Returns `spec` with the defaults of `options`.
///
/// Values of the session take precedence, but limits of the options stay in force: the smaller of
/// two budgets or numbers of turns counts, and a sandbox that the options require is always
/// required.
pub(crate) fn with_defaults(options: &ClaudeOptions, mut spec: SessionSpec) -> SessionSpec {
    options.program.complete(&mut spec);
    spec.thinking = spec.thinking.or(options.thinking);
    spec.max_turns = smaller(spec.max_turns, options.max_turns);
    spec.budget.cost_usd = smaller(spec.budget.cost_usd, options.max_cost);
    if options.own_sandbox == Sandbox::Required {
        spec.sandbox = Sandbox::Required;
    }
    spec
}

fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::{OptionalServers, ThinkingBudget};
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::{McpServer, Toolbox};
    use autonoe_core::{CostUsd, RunId};

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
        let mut options = ClaudeOptions::new("claude", []);
        options.program.model = Some("sonnet".into());
        let servers = &mut options.program.mcp_servers;
        servers.insert("search".into(), server("of the options"));
        options.thinking = Some(ThinkingBudget::default());
        options.max_turns = Some(20);
        options.max_cost = Some(dollars("2"));
        options
    }

    #[test]
    fn a_session_without_values_gets_those_of_the_options() {
        let spec = with_defaults(&options(), spec());

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

        let spec = with_defaults(&options(), asked);

        assert!(!spec.optional_servers.contains("search"));
        assert!(spec.optional_servers.contains("docs"));
    }

    #[test]
    fn values_of_a_session_take_precedence() {
        let mut asked = spec();
        asked.model = Some("opus".into());
        asked.max_turns = Some(5);
        asked.budget.cost_usd = Some(dollars("0.5"));
        asked
            .mcp_servers
            .insert("search".into(), server("of the session"));

        let spec = with_defaults(&options(), asked);

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

        let mut options = options();
        options.own_sandbox = Sandbox::Required;

        let spec = with_defaults(&options, asked);

        assert_eq!(spec.max_turns, Some(20));
        assert_eq!(spec.budget.cost_usd, Some(dollars("2")));
        assert_eq!(spec.sandbox, Sandbox::Required);
    }
}
