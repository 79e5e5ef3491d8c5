//! The checks of `cargo xtask test`, in order.

mod consumers;
mod deny;
mod dependencies;
mod examples;
mod features;
mod tests;

use std::thread;

use crate::args::Scope;
use crate::cargo::{self, Cargo};
use crate::clis;
use crate::failure::Failure;
use crate::pipeline::Step;
use crate::tools;

/// How many of the first steps make up the quick run.
const QUICK: usize = 4;

const STEPS: [Step; 10] = [
    Step {
        name: "format",
        check: |cargo, _| cargo.run(["fmt", "--all", "--check"]),
    },
    Step {
        name: "clippy and tools",
        check: |cargo, _| clippy_while_installing(cargo),
    },
    Step {
        name: "tests",
        check: tests::unit_and_integration,
    },
    Step {
        name: "doctests",
        check: tests::doctests,
    },
    Step {
        name: "docs",
        check: |cargo, _| {
            let mut doc = cargo.command(["doc", "--workspace", "--no-deps", "--all-features"]);
            doc.env("RUSTDOCFLAGS", "-D warnings");
            cargo::run(doc)
        },
    },
    Step {
        name: "examples",
        check: |cargo, _| examples::check(cargo),
    },
    Step {
        name: "consumers",
        check: consumers::check,
    },
    Step {
        name: "dependency rules",
        check: |cargo, _| dependencies::check(cargo),
    },
    Step {
        name: "features",
        check: |cargo, _| features::check(cargo),
    },
    Step {
        name: "licences",
        check: |cargo, _| deny::check(cargo),
    },
];

/// Lints the workspace while the programs that later steps run are installed.
fn clippy_while_installing(cargo: &Cargo) -> Result<(), Failure> {
    thread::scope(|scope| {
        let installed = scope.spawn(|| {
            clis::install(cargo)?;
            tools::cargo_deny(cargo).map(drop)
        });
        let clippy = ["clippy", "--workspace", "--all-targets", "--all-features"];
        let linted = cargo.run(clippy.into_iter().chain(["--", "-D", "warnings"]));
        let installed = installed.join();
        linted?;
        installed.map_err(|_| Failure::new("the installation of programs panicked"))?
    })
}

/// Returns the steps of a run.
pub(crate) fn of(scope: Scope) -> &'static [Step] {
    match scope {
        Scope::Full => &STEPS,
        Scope::Quick => &STEPS[..QUICK],
    }
}

#[cfg(test)]
mod order {
    use super::*;

    #[test]
    fn the_quick_run_ends_with_the_doctests() {
        let names: Vec<_> = of(Scope::Quick).iter().map(|step| step.name).collect();

        assert_eq!(names, ["format", "clippy and tools", "tests", "doctests"]);
    }
}
