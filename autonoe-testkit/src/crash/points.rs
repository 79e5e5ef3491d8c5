//! [`CrashPoints`]: kills a run after every line of its journal in turn and resumes it.

use std::fmt;

use autonoe_core::project::RunStopReason;
use autonoe_core::{ProjectRun, RunReport};

use super::attempt::{AttemptEnd, MakeRun, RunAttempt, run};
use super::child::{self, ChildParams};
use super::report::{CrashPoint, CrashReport, TotalsAccuracy, UninterruptedRun, name};
use crate::TempProject;

/// Kills a scripted run after every line of its journal in turn, and resumes it.
///
/// First the run is left uninterrupted. Then, for each line of its journal, it is built again in a
/// fresh project, killed once the line is written, and resumed. It must then reach the same end as
/// the uninterrupted run:
///
/// - up to the line, its journal is the same byte for byte;
/// - its final ledger is the same;
/// - its report is the same, or, if a session was lost, reports one part of the cost as unknown.
///   The elapsed time may then differ as well.
///
/// Runs use virtual time and seeded ids: [`RunAttempt::project`](crate::RunAttempt::project) has the
/// clock, and ids and journal of the run are set here. Call it
/// from a plain `#[test]`: it creates its own runtimes.
///
/// ```
/// use autonoe_core::ProjectRun;
/// use autonoe_testkit::{CrashPoints, SessionScript};
/// use serde_json::json;
///
/// let crashes = CrashPoints::new(|attempt| {
///     let plan = json!({"deliverables": [
///         {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
///     ]});
///     let passed = json!({"deliverableId": "DL-001", "status": "passed"});
///     let agents = attempt.agents([
///         SessionScript::new("plans").uses_tool("mcp__autonoe__create", plan).ends(),
///         SessionScript::new("builds").uses_tool("mcp__autonoe__set_status", passed).ends(),
///     ]);
///     ProjectRun::new(attempt.project(), agents)
/// });
///
/// crashes.drop_runs().assert();
/// ```
pub struct CrashPoints {
    make_run: Box<MakeRun>,
    make_project: Box<dyn Fn() -> TempProject>,
}

impl CrashPoints {
    /// Tests the run that `make_run` builds, which must be the same each time.
    pub fn new(make_run: impl Fn(&RunAttempt) -> ProjectRun + 'static) -> Self {
        Self {
            make_run: Box::new(make_run),
            make_project: Box::new(TempProject::new),
        }
    }

    /// Sets the initial project of each run; an empty one by default.
    #[must_use]
    pub fn in_project(mut self, make_project: impl Fn() -> TempProject + 'static) -> Self {
        self.make_project = Box::new(make_project);
        self
    }

    /// Interrupts the runs in this process by dropping them.
    ///
    /// A run ends at its first wait after the line, for example a save of the ledger, and writes no
    /// other line. Everything that it does before that wait still happens;
    /// [`kill_processes`](Self::kill_processes) has no such gap, but takes longer.
    ///
    /// # Panics
    ///
    /// If the uninterrupted run does not start, is not the first in its project, or does not play its
    /// script as written.
    pub fn drop_runs(&self) -> CrashReport {
        self.crash(|project, line| {
            let attempt = RunAttempt::first(project.project());
            let lived = run(&self.make_run, &attempt, AttemptEnd::DropAfter(line));
            lived.map(drop).map_err(|error| error.to_string())
        })
    }

    /// Kills the runs with a signal: each runs in a child process, which receives a `SIGKILL` (or
    /// the system's equivalent) when it has written its line.
    ///
    /// The process is this test program, started again for `test` alone: the full name of the
    /// calling test, for example `crashes::a_killed_run_comes_to_the_same_end`. In that process
    /// this function does not return. A test can call it once.
    ///
    /// # Panics
    ///
    /// If there is no such test, or the uninterrupted run does not start, is not the first in its
    /// project, or does not play its script as written.
    pub fn kill_processes(&self, test: &str) -> CrashReport {
        if let Some(ChildParams { project, line }) = child::child_params(test) {
            let attempt = RunAttempt::first(&project);
            let lived = run(&self.make_run, &attempt, AttemptEnd::BlockAfter(line));
            panic!("the run ended before line {line} was written: {lived:?}");
        }
        if let Err(problem) = child::find_test(test) {
            panic!("{problem}");
        }
        self.crash(|project, line| {
            let project = project.project().clone();
            child::run_and_kill(test, &ChildParams { project, line })
        })
    }

    fn crash(&self, kill: impl Fn(&TempProject, usize) -> Result<(), String>) -> CrashReport {
        let uninterrupted = self.uninterrupted();
        let points = (1..).zip(&uninterrupted.entries).map(|(line, entry)| {
            let (totals, problems) = self.crash_after(line, &uninterrupted, &kill);
            CrashPoint {
                line,
                content: name(entry),
                totals,
                problems,
            }
        });
        CrashReport {
            points: points.collect(),
            uninterrupted: uninterrupted.report,
        }
    }

    fn uninterrupted(&self) -> UninterruptedRun {
        let project = (self.make_project)();
        assert!(
            project.journal().entries().is_empty(),
            "the project already has a journal; the run must be the first in its project"
        );
        let attempt = RunAttempt::first(project.project());
        let report = match run(&self.make_run, &attempt, AttemptEnd::Natural) {
            Ok(Some(report)) => report,
            lived => panic!("the uninterrupted run has no report: {lived:?}"),
        };
        let problems = attempt.problems();
        assert!(
            problems.is_empty(),
            "the uninterrupted run was not played as written: {problems:#?}"
        );
        UninterruptedRun::new(report, &project)
    }

    fn crash_after(
        &self,
        line: usize,
        uninterrupted: &UninterruptedRun,
        kill: impl Fn(&TempProject, usize) -> Result<(), String>,
    ) -> (TotalsAccuracy, Vec<String>) {
        let project = (self.make_project)();
        if let Err(error) = kill(&project, line) {
            return (
                TotalsAccuracy::Wrong,
                vec![format!("it was not killed: {error}")],
            );
        }
        let mut problems: Vec<String> = uninterrupted
            .compare_journal(line, &project)
            .into_iter()
            .collect();
        let (report, lost) = match self.resume(&project, &mut problems) {
            Ok(resumed) => resumed,
            Err(error) => {
                problems.push(error);
                return (TotalsAccuracy::Wrong, problems);
            }
        };
        let (totals, differences) = uninterrupted.compare_report(&report, lost);
        problems.extend(uninterrupted.compare_ledger(&project));
        problems.extend(differences);
        (totals, problems)
    }

    /// Resumes the interrupted run; returns its report, and the lost session.
    fn resume(
        &self,
        project: &TempProject,
        problems: &mut Vec<String>,
    ) -> Result<(RunReport, Option<u32>), String> {
        let journal = project.journal();
        let Some(attempt) = RunAttempt::resumed(project.project(), &journal) else {
            // The run ended before it was killed.
            let history = journal.run_histories().pop();
            return match history.map(|history| history.stop_reason()) {
                Some(RunStopReason::Ended(report)) => Ok((report, None)),
                _ => Err("there is no run to resume".to_owned()),
            };
        };
        let report = match run(&self.make_run, &attempt, AttemptEnd::Natural) {
            Ok(Some(report)) => report,
            lived => return Err(format!("the resumed run has no report: {lived:?}")),
        };
        problems.extend(attempt.problems());
        Ok((report, attempt.lost_session()))
    }
}

impl fmt::Debug for CrashPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrashPoints").finish_non_exhaustive()
    }
}
