//! The command `autonoe-cluster list`: lists runs.

use autonoe_app::AppError;
use autonoe_core::engine::RunPhase;
use autonoe_core::time::format_time;
use autonoe_temporal::RunSummary;

use super::CommandContext;
use crate::args::OutputFormat;

impl CommandContext<'_> {
    /// Lists runs, the newest first.
    pub(super) async fn list(&self, limit: usize, output: OutputFormat) -> Result<(), AppError> {
        let runs = self.cluster.list(limit).await?;
        match output {
            OutputFormat::Json => self.output.json(&runs),
            OutputFormat::Text if runs.is_empty() => self.print("There are no runs.\n"),
            OutputFormat::Text => self.print(&runs.iter().map(line).collect::<String>()),
        }
    }
}

fn line(run: &RunSummary) -> String {
    let phase = match run.phase {
        RunPhase::Waiting => "waiting",
        RunPhase::Running => "running",
        RunPhase::Paused => "paused",
        RunPhase::Stopping => "ending",
        RunPhase::Ended => "ended",
    };
    let submitted = run.submitted_at.map(format_time).unwrap_or_default();
    format!("{submitted}  {phase:<7}  {}\n", run.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_printed_by_its_name() {
        for (phase, word) in [
            ("waiting", "waiting"),
            ("running", "running"),
            ("paused", "paused"),
            ("stopping", "ending"),
            ("ended", "ended"),
        ] {
            let run = serde_json::json!({
                "id": "shop-1", "phase": phase, "submittedAt": "2026-01-01T00:00:00Z",
            });
            let run: RunSummary = serde_json::from_value(run).expect("a summary");

            assert_eq!(
                line(&run),
                format!("2026-01-01 00:00:00Z  {word:<7}  shop-1\n")
            );
        }
    }
}
