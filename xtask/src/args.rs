//! Parser of the command line.

use crate::failure::Failure;

/// The text of `cargo xtask help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test [--quick | --builds]
                  run every check; --quick: format, language, clippy, tests and doctests;
                  --builds: what runs beside the tests (features, documentation, examples,
                  licences and others)
  api [--check] [CRATE...]
                  write the listings of the public API into docs/api, or compare them; without a
                  name, of every published crate
  clis            install the real CLIs that tests run, pinned, into target/clis
  check-image     look up the packages that the Dockerfile installs and lint it, without Docker;
                  needs curl, xz, python3 with pip, and a network
  corpus          count the cases of the Bash corpus and write the numbers into its counts.json
  docs            build the site of docs/ into target/book, with a pinned mdBook, which is compiled
                  into target/tools; needs a network the first time
  features        compile each published crate on its own with each of its features; `test` compiles
                  several crates at a time
  language        find names and comments that break the writing rules
  licences        check licences and sources of all dependencies with a pinned cargo-deny, which is
                  compiled into target/tools, and record that in deny.accepted; `test` fails if
                  dependencies have changed since then
  lines           count the lines of code of each package, without comments and tests
  release --check compare API listings and schemas, read the committed files of each format
                  version, check licences, pack an archive, build each crate from its package, and
                  build a program that depends on them; needs a clean working tree, the Rust
                  release in rust-version, tar and a network
  semver          compare the published crates with the last release tag; needs a tag,
                  cargo-semver-checks and a network
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

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Test(Scope),
    Api {
        mode: ApiMode,
        /// Names of packages; none for all published ones.
        packages: Vec<String>,
    },
    Clis,
    CheckImage,
    Corpus,
    Docs,
    Features,
    Language,
    Licences,
    Lines,
    ReleaseCheck,
    Semver,
    Schemas,
    Bench,
    BenchSdk {
        rounds: usize,
    },
    BenchTemporal,
    TestInstall,
    TestTemporal(TemporalScope),
    Torture,
    Help,
}

/// Default number of measurements of each client by `bench sdk`.
const ROUNDS: usize = 7;

/// The checks that `test` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every check.
    Full,
    /// The checks that are worth running after each edit.
    Quick,
    /// The checks that the full run executes beside the tests.
    Builds,
}

/// Action of `api` on the listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiMode {
    /// Writes them.
    Update,
    /// Compares them.
    Check,
}

/// The checks that `test-temporal` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemporalScope {
    /// Every check.
    Full,
    /// One run on the server.
    Smoke,
}

/// Parses the arguments after the program name.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Request, Failure> {
    let args: Vec<String> = args.into_iter().collect();
    let Some((command, rest)) = args.split_first() else {
        return Err(Failure::new("no command is given"));
    };

    let (request, rest) = match command.as_str() {
        "test" => match rest.split_first() {
            Some((first, rest)) if first == "--quick" => (Request::Test(Scope::Quick), rest),
            Some((first, rest)) if first == "--builds" => (Request::Test(Scope::Builds), rest),
            _ => (Request::Test(Scope::Full), rest),
        },
        "api" => api(rest),
        "clis" => (Request::Clis, rest),
        "check-image" => (Request::CheckImage, rest),
        "corpus" => (Request::Corpus, rest),
        "docs" => (Request::Docs, rest),
        "features" => (Request::Features, rest),
        "language" => (Request::Language, rest),
        "licences" => (Request::Licences, rest),
        "lines" => (Request::Lines, rest),
        "release" => match rest.split_first() {
            Some((first, rest)) if first == "--check" => (Request::ReleaseCheck, rest),
            _ => return Err(Failure::new("`release` needs the argument `--check`")),
        },
        "semver" => (Request::Semver, rest),
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
        other => return Err(Failure::new(format!("unknown command `{other}`"))),
    };

    match rest.first() {
        None => Ok(request),
        Some(extra) => Err(Failure::new(format!(
            "`{command}` does not accept the argument `{extra}`"
        ))),
    }
}

/// Parses the arguments of `api`: names of packages, up to an option that it does not have.
fn api(args: &[String]) -> (Request, &[String]) {
    let (mode, args) = match args {
        [flag, rest @ ..] if flag == "--check" => (ApiMode::Check, rest),
        _ => (ApiMode::Update, args),
    };
    let names = args.iter().take_while(|arg| !arg.starts_with('-')).count();
    let (packages, rest) = args.split_at(names);
    let packages = packages.to_vec();
    (Request::Api { mode, packages }, rest)
}

fn bench_sdk(args: &[String]) -> Result<(Request, &[String]), Failure> {
    match args {
        [flag, count, rest @ ..] if flag == "--rounds" => {
            let rounds = count.parse().ok().filter(|rounds| *rounds > 0);
            let rounds = rounds
                .ok_or_else(|| Failure::new(format!("`{count}` is not a number of rounds")))?;
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

    fn api_of(mode: ApiMode, packages: &[&str]) -> Request {
        let packages = packages.iter().copied().map(str::to_owned).collect();
        Request::Api { mode, packages }
    }

    #[test]
    fn every_command_in_the_help_is_understood() {
        for (line, request) in [
            ("test", Request::Test(Scope::Full)),
            ("test --quick", Request::Test(Scope::Quick)),
            ("test --builds", Request::Test(Scope::Builds)),
            ("api", api_of(ApiMode::Update, &[])),
            ("api --check", api_of(ApiMode::Check, &[])),
            ("api a b", api_of(ApiMode::Update, &["a", "b"])),
            ("api --check a", api_of(ApiMode::Check, &["a"])),
            ("clis", Request::Clis),
            ("check-image", Request::CheckImage),
            ("docs", Request::Docs),
            ("features", Request::Features),
            ("language", Request::Language),
            ("lines", Request::Lines),
            ("release --check", Request::ReleaseCheck),
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
    fn invalid_arguments_are_refused_by_name() {
        for (line, sentence) in [
            ("", "no command is given"),
            ("tset", "unknown command `tset`"),
            (
                "test --fast",
                "`test` does not accept the argument `--fast`",
            ),
            (
                "test --quick --quick",
                "`test` does not accept the argument `--quick`",
            ),
            ("release", "`release` needs the argument `--check`"),
            (
                "api a --fast",
                "`api` does not accept the argument `--fast`",
            ),
            ("bench now", "`bench` does not accept the argument `now`"),
            ("bench sdk --rounds 0", "`0` is not a number of rounds"),
            (
                "bench sdk --rounds",
                "`bench` does not accept the argument `--rounds`",
            ),
        ] {
            assert_eq!(parsed(line), Err(Failure::new(sentence)), "{line}");
        }
    }
}
