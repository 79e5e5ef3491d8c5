//! Every example runs, finishes in time, and has something to say.

use std::time::{Duration, Instant};

use crate::cargo::{self, Cargo};
use crate::deadline::{self, Ending};
use crate::failure::Failure;
use crate::metadata;

const PACKAGE: &str = "autonoe-examples";

/// How long one example may take. They run offline and wait for nothing.
const LIMIT: Duration = Duration::from_secs(120);

/// Builds and runs the examples one after the other.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let examples = names(&metadata::ours(cargo)?)?;
    // Built beforehand, so that the limit is about running.
    cargo.run(["build", "--quiet", "-p", PACKAGE, "--examples"])?;

    let mut failed = Vec::new();
    for name in &examples {
        let started = Instant::now();
        if let Err(failure) = run(cargo, name) {
            failed.push(failure.to_string());
        }
        println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
    }
    Failure::unless_empty("not every example works", &failed)
}

/// Returns the names of all examples, at least one.
fn names(packages: &[metadata::Package]) -> Result<Vec<String>, Failure> {
    let package = packages.iter().find(|package| package.name == PACKAGE);
    match package {
        Some(package) if !package.examples.is_empty() => Ok(package.examples.clone()),
        _ => Err(Failure::new(format!("`{PACKAGE}` has no examples"))),
    }
}

fn run(cargo: &Cargo, name: &str) -> Result<(), Failure> {
    let mut command = cargo.command(["run", "--quiet", "-p", PACKAGE, "--example", name]);
    cargo::announce(&command);

    // On Unix `cargo run` becomes the example, and on Windows the example ends
    // with it, so killing the child ends the example as well.
    let ending = deadline::run(&mut command, LIMIT)
        .map_err(|source| cargo::cannot_start(&command, &source))?;

    let (status, stdout) = match ending {
        Ending::Exited { status, stdout } => (status, stdout),
        Ending::TimedOut => {
            let seconds = LIMIT.as_secs();
            return Err(Failure::new(format!("{name}: not done in {seconds} s")));
        }
        Ending::LeftOutputOpen => {
            return Err(Failure::new(format!("{name}: left a process behind")));
        }
    };
    if !status.success() {
        print!("{}", String::from_utf8_lossy(&stdout));
        return Err(Failure::new(format!("{name}: {status}")));
    }
    if stdout.trim_ascii().is_empty() {
        return Err(Failure::new(format!("{name}: printed nothing")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;

    #[test]
    fn the_examples_of_the_examples_package_are_found() {
        let packages = [
            Package {
                name: "autonoe-core".into(),
                examples: vec!["elsewhere".into()],
                ..Package::default()
            },
            Package {
                name: PACKAGE.into(),
                examples: vec!["hello".into(), "quota".into()],
                ..Package::default()
            },
        ];

        let expected = ["hello", "quota"].map(str::to_owned);
        assert_eq!(names(&packages), Ok(expected.into()));
    }

    #[test]
    fn finding_no_example_is_a_failure() {
        let empty = Package {
            name: PACKAGE.into(),
            ..Package::default()
        };

        assert!(names(&[]).is_err());
        assert!(names(&[empty]).is_err());
    }
}
