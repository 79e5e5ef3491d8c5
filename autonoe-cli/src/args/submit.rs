//! Options of `autonoe submit`.

use autonoe_core::{Placement, ProjectName, RunId, RunLimits, SessionsRun};
use clap::Args;

use super::engine::run_id;
use super::run::EXIT_CODES;
use super::{EnginePlaceArgs, LimitArgs, ModeChoice, OutputArgs};

/// Options of `autonoe submit`.
///
/// Which agent works, and how it is guarded, is said by who started the workers.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXIT_CODES}

Without --wait it is done once the cluster has the run. To interrupt the wait does not end the run."))]
pub(crate) struct SubmitArgs {
    /// The project, by the name that the workers know it by: its path below their projects
    #[arg(value_name = "PROJECT", value_parser = |name: &str| ProjectName::new(name))]
    project: ProjectName,
    /// The id of the run: the same again finds the run that is there [default: a new one]
    #[arg(long, value_name = "ID", value_parser = run_id())]
    pub(crate) run: Option<RunId>,
    /// The only host that may carry it out [default: any]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// What the run is for
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub(crate) mode: ModeChoice,
    /// Wait for the end of the run, tell what happens, and end as `autonoe run` would
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    pub(crate) engine: EnginePlaceArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl SubmitArgs {
    pub(crate) fn project(&self) -> &ProjectName {
        &self.project
    }

    /// Returns what is submitted.
    pub(crate) fn sessions(&self) -> SessionsRun {
        let limits = RunLimits::new(self.mode.into());
        SessionsRun::on_project(&self.project, self.limits.given().over(&limits))
    }

    pub(crate) fn place(&self) -> Placement {
        match &self.host {
            Some(host) => Placement::on(host),
            None => Placement::anywhere(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use autonoe_core::{Mode, OnQuota};
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn submit(words: &[&str]) -> Result<SubmitArgs, clap::Error> {
        let words = ["autonoe", "submit"].iter().chain(words);
        match Cli::try_parse_from(words)?.command {
            Command::Submit(args) => Ok(*args),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn limits_that_are_not_given_are_those_of_any_run() {
        let plain = submit(&["team/shop"]).expect("right");
        let limited = submit(&[
            "shop",
            "--mode=sync",
            "-n",
            "7",
            "--pause",
            "0s",
            "--wait-for-quota",
        ]);

        let shop = ProjectName::new("team/shop").expect("a name");
        let expected = SessionsRun::on_project(&shop, RunLimits::new(Mode::Run));
        assert_eq!(plain.sessions(), expected);
        let limits = limited.expect("right").sessions().limits;
        let expected = RunLimits {
            max_iterations: Some(7),
            pause: Duration::ZERO,
            on_quota: OnQuota::Wait,
            ..RunLimits::new(Mode::Sync)
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn a_run_is_placed_where_it_is_said() {
        let anywhere = submit(&["shop"]).expect("right").place();
        let there = submit(&["shop", "--host", "build-1"])
            .expect("right")
            .place();

        assert_eq!(anywhere, Placement::anywhere());
        assert_eq!(there, Placement::on("build-1"));
    }

    #[test]
    fn what_leads_out_of_the_projects_is_refused() {
        let error = submit(&["../shop"]).expect_err("no name");

        assert!(
            error.to_string().contains("no name of a project"),
            "{error}"
        );
        assert!(submit(&["shop", "--run", ""]).is_err());
    }
}
