//! Runs in child processes that are killed with a signal.

use std::cell::Cell;

use autonoe_core::ProjectRun;
use autonoe_testkit::{CrashPoints, TempProject};

use crate::projects::{plans, sets_status};

fn crashes() -> CrashPoints {
    CrashPoints::new(|attempt| {
        let agents = attempt.agents([plans(), sets_status("passed")]);
        ProjectRun::new(attempt.project(), agents)
    })
}

#[test]
fn a_killed_process_leaves_the_same_files_as_a_dropped_run() {
    let test =
        "projects::killed_processes::a_killed_process_leaves_the_same_files_as_a_dropped_run";

    let killed = crashes().kill_processes(test);

    killed.assert();
    assert_eq!(killed.points(), crashes().drop_runs().points());
}

#[test]
#[should_panic(expected = "no such test: \"projects::killed_processes::misspelt\"")]
fn a_test_that_is_not_there_fails_before_anything_runs() {
    let crashes = CrashPoints::new(|_| panic!("nothing is to run"));

    let _ = crashes.kill_processes("projects::killed_processes::misspelt");
}

#[test]
fn process_ending_before_its_line_is_explained() {
    let test = "projects::killed_processes::process_ending_before_its_line_is_explained";
    let projects = Cell::new(0);
    // Only the uninterrupted run, which is the first, has readable settings.
    let crashes = crashes().in_project(move || {
        projects.set(projects.get() + 1);
        match projects.get() {
            1 => TempProject::new(),
            _ => TempProject::new().config("no settings"),
        }
    });

    let report = crashes.kill_processes(test);

    assert_eq!(report.points().len(), 10);
    for (line, point) in (1..).zip(report.points()) {
        let problem = &point.problems[0];
        let expected = format!("the run ended before line {line} was written: Err(Config(");
        assert!(problem.starts_with("it was not killed: "), "{problem}");
        assert!(problem.contains(&expected), "{problem}");
    }
}
