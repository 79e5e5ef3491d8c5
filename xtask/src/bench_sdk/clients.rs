//! The clients, one turn of one of them, and its figures.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::programs::{Programs, Sdks};
use crate::cargo;
use crate::deadline::{self, Ending};
use crate::failure::Failure;

/// Time limit for one client.
const LIMIT: Duration = Duration::from_secs(300);

/// Number of concurrent hook requests in the concurrent phase.
const IN_FLIGHT: u64 = 32;

/// A client of the comparison, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Autonoe,
    TypeScript,
    Python,
}

impl Client {
    pub(super) const ALL: [Self; 3] = [Self::Autonoe, Self::TypeScript, Self::Python];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Autonoe => "autonoe-claude",
            Self::TypeScript => "TypeScript SDK",
            Self::Python => "Python SDK",
        }
    }

    /// Prepares the client to talk to the fake.
    pub(super) fn command(self, sdks: &Sdks, programs: &Programs) -> Command {
        let mut command = match self {
            Self::Autonoe => Command::new(&programs.client),
            Self::TypeScript => {
                let mut node = Command::new("node");
                node.arg(&sdks.node_client);
                node
            }
            Self::Python => {
                let mut python = Command::new(&sdks.python);
                python.arg(&sdks.python_client);
                python
            }
        };
        command.arg(&programs.fake);
        command
    }
}

/// Runs a client once, and checks that it has seen everything.
pub(super) fn measure(
    client: Client,
    mut command: Command,
    report: &Path,
) -> Result<Figures, Failure> {
    let expected = Expected::PLAN;
    for (name, count) in [
        ("MESSAGES", expected.messages),
        ("HOOKS", expected.hooks),
        ("MANY_HOOKS", expected.many_hooks),
        ("IN_FLIGHT", IN_FLIGHT),
        ("CALLS", expected.calls),
    ] {
        command.env(format!("SDK_BENCH_{name}"), count.to_string());
    }
    command.env("SDK_BENCH_FIGURES", report);
    // Figures of an earlier turn must not be taken for those of this one.
    let _ = fs::remove_file(report);

    let failed = |reason: String| Failure::new(format!("{}: {reason}", client.name()));
    let ending = deadline::run(&mut command, "", LIMIT)
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    let (status, stdout) = match ending {
        Ending::Exited { status, stdout } => (status, stdout),
        Ending::TimedOut => return Err(failed(format!("did not finish in {} s", LIMIT.as_secs()))),
        Ending::LeftOutputOpen => return Err(failed("left a process running".into())),
    };
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let printed = String::from_utf8_lossy(&stdout);
    let figures = Figures::read(&printed, &super::read(report)?).map_err(failed)?;
    figures.check(&expected).map_err(failed)?;
    Ok(figures)
}

/// Amount of work for each client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) messages: u64,
    pub(super) hooks: u64,
    pub(super) many_hooks: u64,
    pub(super) calls: u64,
}

impl Expected {
    /// The turn of the slowest client takes about ten seconds.
    pub(super) const PLAN: Self = Self {
        messages: 100_000,
        hooks: 10_000,
        many_hooks: 10_000,
        calls: 2_000,
    };
}

/// Output of a client and measurements of the fake.
#[derive(Clone, Debug)]
pub(super) struct Figures(Value);

impl Figures {
    /// Takes the line of a client and the report of the fake.
    pub(super) fn read(printed: &str, report: &str) -> Result<Self, String> {
        let line = printed.lines().last().unwrap_or_default();
        let host: Value =
            serde_json::from_str(line).map_err(|error| format!("printed {line:?}: {error}"))?;
        let fake: Value = serde_json::from_str(report)
            .map_err(|error| format!("the fake reported {report:?}: {error}"))?;
        Ok(Self(json!({"host": host, "fake": fake})))
    }

    /// Checks that nothing was left out.
    pub(super) fn check(&self, expected: &Expected) -> Result<(), String> {
        for (place, wanted) in [
            ("/host/messages", expected.messages),
            ("/host/hooks", expected.hooks + expected.many_hooks),
            ("/host/calls", expected.calls),
        ] {
            let seen = self.0.pointer(place).and_then(Value::as_u64);
            if seen != Some(wanted) {
                return Err(format!("{place} is {seen:?} and should be {wanted}"));
            }
        }
        Ok(())
    }

    /// Returns the number at a place, for example `/host/cpu_s`.
    pub(super) fn number(&self, place: &str) -> Option<f64> {
        self.0.pointer(place)?.as_f64()
    }

    /// Returns the version of the client.
    pub(super) fn version(&self) -> &str {
        self.0["host"]["version"].as_str().unwrap_or("unknown")
    }
}

/// Names what the clients ran on.
pub(super) fn runtimes(measured: &[Vec<Figures>]) -> String {
    let runtimes = measured.iter().filter_map(|figures| {
        let runtime = &figures.first()?.0["host"]["runtime"];
        runtime.as_str().map(str::to_owned)
    });
    runtimes.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(messages: u64) -> Figures {
        let host = json!({"messages": messages, "hooks": 5, "calls": 7, "version": "1.2"});
        let printed = format!("a remark\n{host}\n");
        Figures::read(&printed, r#"{"calls":{"per_s":8.5}}"#).expect("they can be read")
    }

    #[test]
    fn the_last_line_of_a_client_and_the_report_are_read() {
        let figures = figures(100);

        assert_eq!(figures.number("/fake/calls/per_s"), Some(8.5));
        assert_eq!(figures.version(), "1.2");
        assert_eq!(figures.number("/fake/other"), None);
    }

    #[test]
    fn a_client_that_has_not_seen_everything_is_found_out() {
        let expected = Expected {
            messages: 100,
            hooks: 2,
            many_hooks: 3,
            calls: 7,
        };

        assert_eq!(figures(100).check(&expected), Ok(()));
        assert_eq!(
            figures(99).check(&expected),
            Err("/host/messages is Some(99) and should be 100".into())
        );
    }

    #[test]
    fn invalid_figures_are_an_error() {
        let error = Figures::read("Traceback", "{}").expect_err("no JSON");

        assert!(error.starts_with("printed \"Traceback\""), "{error}");
    }
}
