//! What a backend must be able to do before a run starts on it.

use crate::domain::Failure;
use crate::port::{Capabilities, HookCoverage, OuterSandbox, Sandbox};

/// What a run asks of a backend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demands<'a> {
    pub(super) sandbox: Sandbox,
    pub(super) outer_sandbox: Option<&'a OuterSandbox>,
    pub(super) has_tool_server: bool,
}

/// Returns why a run must not start on a backend, or `None` if it may.
///
/// A guard or a limit that nobody enforces is worse than none: the person who
/// set it relies on it. So these are errors, not warnings.
pub(super) fn refuse(capabilities: &Capabilities, demands: Demands<'_>) -> Option<Failure> {
    let backend = &capabilities.backend;
    let refuse = |code, message| Some(Failure::permanent(code, message));
    let is_ours = demands
        .outer_sandbox
        .is_some_and(OuterSandbox::is_bubblewrap);
    if is_ours && !capabilities.outer_sandbox.is_yes() {
        return refuse(
            "outer_sandbox_not_made",
            format!(
                "{backend} does not start its agents in bubblewrap, which the run asks for; leave \
                 that out, or name the sandbox that is around all of the run"
            ),
        );
    }
    let has_outer_sandbox = demands.outer_sandbox.is_some();
    if capabilities.hooks != HookCoverage::EveryTool && !has_outer_sandbox {
        let way = match capabilities.outer_sandbox.is_yes() {
            true => "run it in an outer sandbox, with OuterSandbox::bubblewrap()",
            false => "run it in an outer sandbox",
        };
        let message = format!(
            "{backend} does not ask about every tool call, so the guards cannot be enforced; {way}"
        );
        let mut refusal = Failure::permanent("guards_not_enforced", message);
        refusal.remedy.clone_from(&capabilities.sandbox_remedy);
        return Some(refusal);
    }
    if demands.sandbox == Sandbox::Required && !capabilities.sandbox.is_yes() && !has_outer_sandbox
    {
        let message = match &capabilities.sandbox_problem {
            Some(problem) => format!("{backend} has no sandbox here: {problem}"),
            None => {
                format!("{backend} has no sandbox here; run it in an outer one, or switch it off")
            }
        };
        let mut refusal = Failure::permanent("sandbox_not_available", message);
        refusal.remedy.clone_from(&capabilities.sandbox_remedy);
        return Some(refusal);
    }
    if !capabilities.in_process_tools.is_yes() && !demands.has_tool_server {
        return refuse(
            "tools_not_served",
            format!("{backend} cannot take the deliverable tools; give the run a tool server"),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Support;

    fn able() -> Capabilities {
        Capabilities::new("agent")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_in_process_tools(Support::Yes)
    }

    const DEMANDS: Demands<'_> = Demands {
        sandbox: Sandbox::Required,
        outer_sandbox: None,
        has_tool_server: false,
    };

    #[test]
    fn what_to_do_about_a_missing_sandbox_is_told_if_the_backend_knows() {
        let unable = able().with_sandbox(Support::No);
        let asks_little = unable.clone().with_hooks(HookCoverage::AskedOnly);
        for (capabilities, remedy) in [
            (unable.clone(), None),
            (unable.with_sandbox_remedy("install it"), Some("install it")),
            (
                asks_little.with_sandbox_remedy("install it"),
                Some("install it"),
            ),
        ] {
            let refusal = refuse(&capabilities, DEMANDS).expect("it has none");

            assert_eq!(refusal.remedy.as_deref(), remedy);
        }
    }

    #[test]
    fn the_message_contains_the_sandbox_problem() {
        let unable = able().with_sandbox(Support::No);
        let unable = unable.with_sandbox_problem("bwrap is not on PATH");

        let refusal = refuse(&unable, DEMANDS).expect("it has none");

        let message = "agent has no sandbox here: bwrap is not on PATH";
        assert_eq!(refusal.message, message);
    }

    #[test]
    fn a_run_starts_only_where_its_guards_and_limits_are_enforced() {
        let container = OuterSandbox {
            name: "a container".to_owned(),
        };
        let bubblewrap = OuterSandbox::bubblewrap();
        let outer = Demands {
            outer_sandbox: Some(&container),
            ..DEMANDS
        };
        let ours = Demands {
            outer_sandbox: Some(&bubblewrap),
            ..DEMANDS
        };
        let off = Demands {
            sandbox: Sandbox::Off,
            ..DEMANDS
        };
        let served = Demands {
            has_tool_server: true,
            ..DEMANDS
        };
        for (capabilities, demands, expected) in [
            (able(), DEMANDS, None),
            (
                able().with_hooks(HookCoverage::AskedOnly),
                DEMANDS,
                Some("guards_not_enforced"),
            ),
            (
                able().with_hooks(HookCoverage::None),
                off,
                Some("guards_not_enforced"),
            ),
            (able().with_hooks(HookCoverage::AskedOnly), outer, None),
            // What nobody makes guards nothing, however well the backend asks.
            (able(), ours, Some("outer_sandbox_not_made")),
            (
                able().with_hooks(HookCoverage::AskedOnly),
                ours,
                Some("outer_sandbox_not_made"),
            ),
            (
                able()
                    .with_hooks(HookCoverage::None)
                    .with_outer_sandbox(Support::Yes),
                ours,
                None,
            ),
            (
                able()
                    .with_hooks(HookCoverage::AskedOnly)
                    .with_outer_sandbox(Support::Yes),
                DEMANDS,
                Some("guards_not_enforced"),
            ),
            (
                able().with_sandbox(Support::No),
                DEMANDS,
                Some("sandbox_not_available"),
            ),
            (able().with_sandbox(Support::No), off, None),
            (able().with_sandbox(Support::No), outer, None),
            (
                able().with_in_process_tools(Support::No),
                DEMANDS,
                Some("tools_not_served"),
            ),
            (able().with_in_process_tools(Support::No), served, None),
        ] {
            let refusal = refuse(&capabilities, demands);

            let code = refusal.as_ref().map(|failure| failure.code.as_str());
            assert_eq!(code, expected, "{capabilities:?} {demands:?}");
        }
    }
}
