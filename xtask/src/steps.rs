//! The checks of `cargo xtask test`, in order.

mod background_checks;
mod consumers;
mod dependencies;
mod examples;
mod features;
mod tests;

use std::thread;

use crate::api;
use crate::args::Scope;
use crate::cargo::Cargo;
use crate::clis;
use crate::deny;
use crate::failure::Failure;
use crate::language;
use crate::pipeline::Step;
use crate::release;

const FORMAT: Step = Step {
    name: "format",
    check: |cargo, _| cargo.run(["fmt", "--all", "--check"]),
};

const LANGUAGE: Step = Step {
    name: "language",
    check: |cargo, _| language::check(cargo),
};

const COMPILE: Step = Step {
    name: "compile and lint",
    check: |cargo, _| compile_while_installing(cargo),
};

const DOCTESTS: Step = Step {
    name: "doctests and docs",
    check: tests::doctests_and_docs,
};

const FULL: [Step; 4] = [
    FORMAT,
    LANGUAGE,
    COMPILE,
    Step {
        name: "tests and builds",
        check: background_checks::tests_and_builds,
    },
];

const QUICK: [Step; 5] = [
    FORMAT,
    LANGUAGE,
    COMPILE,
    Step {
        name: "tests",
        check: tests::unit_and_integration,
    },
    DOCTESTS,
];

const BUILDS: [Step; 8] = [
    Step {
        name: "features",
        check: |cargo, _| features::check(cargo),
    },
    DOCTESTS,
    // It reads what the step before it has written.
    Step {
        name: "public API",
        check: |cargo, _| api::check(cargo),
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
        check: |cargo, _| deny::check_accepted(cargo),
    },
    Step {
        name: "packages",
        check: |cargo, _| release::check_packages(cargo).map(drop),
    },
];

pub(crate) use features::check_alone as check_features_alone;

/// Compiles and lints the workspace while the programs that later steps run are installed.
fn compile_while_installing(cargo: &Cargo) -> Result<(), Failure> {
    thread::scope(|scope| {
        let installed = scope.spawn(|| clis::install(cargo));
        let compiled = tests::compile(cargo);
        let installed = installed.join();
        compiled?;
        installed.map_err(|_| Failure::new("the installation of programs panicked"))?
    })
}

/// Returns the steps of a test run.
pub(crate) fn in_scope(scope: Scope) -> &'static [Step] {
    match scope {
        Scope::Full => &FULL,
        Scope::Quick => &QUICK,
        Scope::Builds => &BUILDS,
    }
}
