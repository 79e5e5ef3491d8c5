//! `cargo xtask torture`: runs the crash tests and the tests of allowed commands for many more
//! rounds than `cargo xtask test`.

use std::process::Command;
use std::time::Instant;

use crate::cargo::{self, Cargo};
use crate::counts;
use crate::failure::Failure;
use crate::stream;
use crate::temporal;

/// Sets the number of rounds of a test.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// The beginning of every call of cargo.
const TEST: [&str; 2] = ["test", "--release"];

/// The test binary of a package in the main workspace.
const ALL: &[&str] = &["--test", "all"];

/// The test binary of git sync, which is in the workspace of the cluster.
const GIT_SYNC: &[&str] = &["--manifest-path", temporal::MANIFEST, "--test", "git_sync"];

/// One test and its number of rounds.
struct Torture {
    subject: &'static str,
    package: &'static str,
    target: &'static [&'static str],
    test: &'static str,
    rounds: u32,
}

const TORTURES: [Torture; 13] = [
    Torture {
        subject: "kills: eight writers of a ledger are killed at random",
        package: "autonoe-core",
        target: ALL,
        test: "project::kill::eight_writers_that_are_killed_at_random_lose_nothing",
        rounds: 10_000,
    },
    Torture {
        subject: "takeovers: a writer is stopped, overtaken and continued",
        package: "autonoe-core",
        target: ALL,
        test: "takeover::stopped_writer_writes_nothing_after_takeover",
        rounds: 1000,
    },
    Torture {
        subject: "power cuts: a file system is shut down under eight writers",
        package: "autonoe-core",
        target: ALL,
        test: "project::power_cut::acknowledged_writes_survive_power_cuts",
        rounds: 200,
    },
    Torture {
        subject: "fleets: members and coordinators are killed at random",
        package: "autonoe-harness",
        target: ALL,
        test: "fleets::chaos::tasks_end_once_despite_random_kills",
        rounds: 500,
    },
    Torture {
        subject: "worktrees: processes that create, merge and remove them are killed",
        package: "autonoe-harness",
        target: ALL,
        test: "isolation::killed::nothing_that_was_committed_is_lost_by_a_kill",
        rounds: 200,
    },
    Torture {
        subject: "git sync: a host is killed during any of its git commands",
        package: "autonoe-git-sync",
        target: GIT_SYNC,
        test: "killed::another_host_continues_after_a_kill",
        rounds: 100,
    },
    Torture {
        subject: "the oracle: commands that the validator allows are run in a jail",
        package: "autonoe-security",
        target: ALL,
        test: "oracle::nothing_runs_that_the_validator_has_not_seen",
        rounds: 100_000,
    },
    Torture {
        subject: "programs: sed scripts that the validator allows are run",
        package: "autonoe-security",
        target: ALL,
        test: "programs::allowed_sed_scripts_write_nothing_and_run_nothing",
        rounds: 100_000,
    },
    Torture {
        subject: "programs: awk programs that the validator allows are run",
        package: "autonoe-security",
        target: ALL,
        test: "programs::allowed_awk_programs_write_nothing_and_run_nothing",
        rounds: 100_000,
    },
    Torture {
        subject: "programs: xargs commands that the validator allows are run on hostile input",
        package: "autonoe-security",
        target: ALL,
        test: "programs::xargs::allowed_xargs_commands_change_nothing_whatever_their_input_is",
        rounds: 20_000,
    },
    Torture {
        subject: "programs: curl commands that the validator allows are run against a server",
        package: "autonoe-security",
        target: ALL,
        test: "programs::curl::allowed_curl_commands_reach_this_machine_only_and_touch_no_protected_file",
        rounds: 20_000,
    },
    Torture {
        subject: "programs: commands on archives and databases that the validator allows are run",
        package: "autonoe-security",
        target: ALL,
        test: "programs::archives::allowed_commands_on_archives_and_databases_touch_no_protected_file_and_run_nothing",
        rounds: 20_000,
    },
    Torture {
        subject: "noise: random texts are parsed and judged",
        package: "autonoe-security",
        target: ALL,
        test: "fuzz::no_text_makes_the_parser_or_the_validator_panic",
        rounds: 10_000_000,
    },
];

/// Runs each torture to its end, or up to the first that finds a loss.
pub(crate) fn run(cargo: &Cargo) -> Result<(), Failure> {
    // Beforehand, so that the times below are those of the rounds.
    for torture in &TORTURES {
        let build = ["-p", torture.package, "--no-run"];
        let target = torture.target.iter().copied();
        cargo.run(TEST.into_iter().chain(build).chain(target))?;
    }
    for torture in &TORTURES {
        println!("\n=== {}, {} rounds", torture.subject, torture.rounds);
        let started = Instant::now();
        torture.run(cargo)?;
        println!("=== passed, {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

impl Torture {
    fn run(&self, cargo: &Cargo) -> Result<(), Failure> {
        let mut command = self.command(cargo);
        let output = stream::run(&mut command)?;
        cargo::succeeded(&command, output.status)?;
        // A test that was renamed, or is not there on this system, would torture nobody.
        counts::read_libtest(&output.stdout)?.check_not_empty()
    }

    fn command(&self, cargo: &Cargo) -> Command {
        let mut command = cargo.command(TEST);
        command
            .args(["-p", self.package])
            .args(self.target)
            .arg(self.test);
        command.args(["--", "--exact", "--nocapture"]);
        command.env(ROUNDS, self.rounds.to_string());
        command
    }
}
