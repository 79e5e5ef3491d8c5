//! The checks of `cargo xtask test`, in order.

mod beside;
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

const FORMAT: Step = Step {
    name: "format",
    check: |cargo, _| cargo.run(["fmt", "--all", "--check"]),
};

const CLIPPY_AND_TOOLS: Step = Step {
    name: "clippy and tools",
    check: |cargo, _| clippy_while_installing(cargo),
};

const COMPILE_TESTS: Step = Step {
    name: "compile tests",
    check: |cargo, _| tests::compile(cargo),
};

const DOCTESTS: Step = Step {
    name: "doctests",
    check: tests::doctests,
};

const FULL: [Step; 4] = [
    FORMAT,
    CLIPPY_AND_TOOLS,
    COMPILE_TESTS,
    Step {
        name: "tests and builds",
        check: beside::tests_and_builds,
    },
];

const QUICK: [Step; 5] = [
    FORMAT,
    CLIPPY_AND_TOOLS,
    COMPILE_TESTS,
    Step {
        name: "tests",
        check: tests::unit_and_integration,
    },
    DOCTESTS,
];

const BUILDS: [Step; 7] = [
    Step {
        name: "features",
        check: |cargo, _| features::check(cargo),
    },
    DOCTESTS,
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
        Scope::Full => &FULL,
        Scope::Quick => &QUICK,
        Scope::Builds => &BUILDS,
    }
}
