//! The checks of `cargo xtask test`, in order.

mod dependencies;
mod examples;
mod features;
mod licences;
mod tests;

use crate::args::Scope;
use crate::cargo;
use crate::clis;
use crate::pipeline::Step;

/// How many of the first steps make up the quick run.
const QUICK: usize = 5;

const STEPS: [Step; 10] = [
    Step {
        name: "format",
        check: |cargo, _| cargo.run(["fmt", "--all", "--check"]),
    },
    Step {
        name: "clippy",
        check: |cargo, _| {
            let scope = ["clippy", "--workspace", "--all-targets", "--all-features"];
            cargo.run(scope.into_iter().chain(["--", "-D", "warnings"]))
        },
    },
    Step {
        name: "clis",
        check: |cargo, _| clis::install(cargo),
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
        name: "dependency rules",
        check: |cargo, _| dependencies::check(cargo),
    },
    Step {
        name: "features",
        check: |cargo, _| features::check(cargo),
    },
    Step {
        name: "licences",
        check: |cargo, _| licences::check(cargo),
    },
];

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

        assert_eq!(names, ["format", "clippy", "clis", "tests", "doctests"]);
    }
}
