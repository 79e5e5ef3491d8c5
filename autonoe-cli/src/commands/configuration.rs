//! Configuration lines, printed before a run starts.

use std::path::Path;

use autonoe_app::BackendChoice;

use super::dry_run::given_limits;
use crate::args::AgentArgs;

/// Returns lines for the project directory, the backend and the models, and for the thinking budget
/// and the limits if they are given.
///
/// `--dry-run` shows every setting with its source.
pub(crate) fn configuration_lines(
    directory: &Path,
    backend: &BackendChoice,
    agent: &AgentArgs,
) -> Vec<String> {
    let own = "the backend's default";
    let model = agent.model.as_deref().unwrap_or(own);
    let models = match &agent.plan_model {
        Some(plan_model) => format!("{plan_model} for planning, otherwise {model}"),
        None => model.to_owned(),
    };
    let mut lines = vec![
        format!("Directory: {}", directory.display()),
        format!("Backend: {backend}"),
        format!("Models: {models}"),
    ];
    if let Some(thinking) = agent.thinking {
        lines.push(format!("Thinking: {} tokens", thinking.tokens()));
    }
    let limits: Vec<String> = given_limits(&agent.limits.overrides())
        .into_iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    if !limits.is_empty() {
        lines.push(format!("Limits: {}", limits.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        agent: AgentArgs,
    }

    fn lines(flags: &[&str]) -> Vec<String> {
        let flags = ["autonoe"].iter().chain(flags);
        let Flags { agent } = Flags::try_parse_from(flags).expect("flags");
        configuration_lines(Path::new("/srv/shop"), &BackendChoice::default(), &agent)
    }

    #[test]
    fn directory_backend_and_models_are_always_shown_and_the_rest_if_it_is_given() {
        for (flags, models) in [
            (&[][..], "the backend's default"),
            (&["-m", "sonnet"], "sonnet"),
            (
                &["-P", "opus"],
                "opus for planning, otherwise the backend's default",
            ),
            (
                &["-P", "opus", "-m", "sonnet"],
                "opus for planning, otherwise sonnet",
            ),
        ] {
            let models = format!("Models: {models}");
            let expected = ["Directory: /srv/shop", "Backend: claude", &models];
            assert_eq!(lines(flags), expected, "{flags:?}");
        }

        let all = lines(&[
            "--thinking",
            "--max-iterations=5",
            "--max-retries=1",
            "--max-stalled-sessions=0",
            "--wait-for-quota",
            "--max-cost=2.50",
            "--max-time=90m",
        ]);
        assert_eq!(
            all[3..],
            [
                "Thinking: 8192 tokens",
                "Limits: maxIterations 5, maxRetries 1, maxStalledSessions unlimited, onQuota wait, \
                 maxCost $2.50, maxTime 1h 30m",
            ]
        );
    }
}
