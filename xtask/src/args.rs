//! What the command line asks for.

use crate::failure::Failure;

/// The text of `cargo xtask help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test [--quick | --builds]
                  run every check; --quick: format, clippy, tests and doctests; --builds: what
                  runs beside the tests (features, documentation, examples, licences and others)
  clis            install the real CLIs that tests run, pinned, into target/clis
  check-image     look up the packages that the Dockerfile installs and lint it, without Docker;
                  needs curl, xz, python3 with pip, and a network
  lines           count the lines of code of each package, without comments and tests
  schemas         regenerate the committed JSON Schemas
  bench           run the benchmarks
  bench sdk [--rounds N]
                  compare our client of Claude Code with the SDKs of the vendor, which are
                  installed, pinned, into target/sdks; needs node, npm and python3
  bench temporal  measure autonoe-temporal on a real server, which is installed as for its tests
  test-install    install the autonoe command with `cargo install` and run it
  test-temporal [--smoke]
                  run every check of autonoe-temporal, a separate workspace, on a Temporal
                  development server, which is installed, pinned, into target/temporal;
                  needs python3 with pip; --smoke runs one test: a run on the server
  torture         stop writers by kills, takeovers and power cuts, thousands of times, and
                  count what is lost; run 100,000 allowed commands in a jail; needs root
  help            print this text

`test` ends with a line `N passed, M failed` on standard output.";

/// A command line that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Test(Scope),
    Clis,
    CheckImage,
    Lines,
    Schemas,
    Bench,
    BenchSdk { rounds: usize },
    BenchTemporal,
    TestInstall,
    TestTemporal(TemporalScope),
    Torture,
    Help,
}

/// How often each client of `bench sdk` has its turn, unless it is said otherwise.
const ROUNDS: usize = 7;

/// How much `test` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every check.
    Full,
    /// Only what is worth running after each edit.
    Quick,
    /// Only what the full run does beside the tests.
    Builds,
}

/// How much `test-temporal` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemporalScope {
    /// Every check.
    Full,
    /// One run on the server.
    Smoke,
}

/// Understands the arguments after the program name, or says what is wrong.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Request, Failure> {
    let args: Vec<String> = args.into_iter().collect();
    let Some((command, rest)) = args.split_first() else {
        return Err(Failure::new("a command is missing"));
    };

    let (request, rest) = match command.as_str() {
        "test" => match rest.split_first() {
            Some((first, rest)) if first == "--quick" => (Request::Test(Scope::Quick), rest),
            Some((first, rest)) if first == "--builds" => (Request::Test(Scope::Builds), rest),
            _ => (Request::Test(Scope::Full), rest),
        },
        "clis" => (Request::Clis, rest),
        "check-image" => (Request::CheckImage, rest),
        "lines" => (Request::Lines, rest),
        "schemas" => (Request::Schemas, rest),
        "bench" => match rest.split_first() {
            Some((first, rest)) if first == "sdk" => bench_sdk(rest)?,
            Some((first, rest)) if first == "temporal" => (Request::BenchTemporal, rest),
            _ => (Request::Bench, rest),
        },
        "test-install" => (Request::TestInstall, rest),
        "test-temporal" => match rest.split_first() {
            Some((first, rest)) if first == "--smoke" => {
                (Request::TestTemporal(TemporalScope::Smoke), rest)
            }
            _ => (Request::TestTemporal(TemporalScope::Full), rest),
        },
        "torture" => (Request::Torture, rest),
        "help" | "--help" | "-h" => (Request::Help, rest),
        other => return Err(Failure::new(format!("there is no command `{other}`"))),
    };

    match rest.first() {
        None => Ok(request),
        Some(extra) => Err(Failure::new(format!(
            "`{command}` does not take the argument `{extra}`"
        ))),
    }
}

fn bench_sdk(args: &[String]) -> Result<(Request, &[String]), Failure> {
    match args {
        [flag, count, rest @ ..] if flag == "--rounds" => {
            let rounds = count.parse().ok().filter(|rounds| *rounds > 0);
            let rounds =
                rounds.ok_or_else(|| Failure::new(format!("`{count}` is no number of rounds")))?;
            Ok((Request::BenchSdk { rounds }, rest))
        }
        _ => Ok((Request::BenchSdk { rounds: ROUNDS }, args)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, Failure> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_command_in_the_help_is_understood() {
        for (line, request) in [
            ("test", Request::Test(Scope::Full)),
            ("test --quick", Request::Test(Scope::Quick)),
            ("test --builds", Request::Test(Scope::Builds)),
            ("clis", Request::Clis),
            ("check-image", Request::CheckImage),
            ("lines", Request::Lines),
            ("schemas", Request::Schemas),
            ("bench", Request::Bench),
            ("bench sdk", Request::BenchSdk { rounds: ROUNDS }),
            ("bench sdk --rounds 3", Request::BenchSdk { rounds: 3 }),
            ("bench temporal", Request::BenchTemporal),
            ("test-install", Request::TestInstall),
            ("test-temporal", Request::TestTemporal(TemporalScope::Full)),
            (
                "test-temporal --smoke",
                Request::TestTemporal(TemporalScope::Smoke),
            ),
            ("torture", Request::Torture),
            ("help", Request::Help),
        ] {
            assert_eq!(parsed(line), Ok(request), "{line}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        for (line, sentence) in [
            ("", "a command is missing"),
            ("tset", "there is no command `tset`"),
            ("test --fast", "`test` does not take the argument `--fast`"),
            (
                "test --quick --quick",
                "`test` does not take the argument `--quick`",
            ),
            ("bench now", "`bench` does not take the argument `now`"),
            ("bench sdk --rounds 0", "`0` is no number of rounds"),
            (
                "bench sdk --rounds",
                "`bench` does not take the argument `--rounds`",
            ),
        ] {
            assert_eq!(parsed(line), Err(Failure::new(sentence)), "{line}");
        }
    }
}
