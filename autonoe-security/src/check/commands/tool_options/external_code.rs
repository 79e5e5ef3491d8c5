//! Options of checkers, test runners and bundlers that load code or settings: of the project, `/tmp`
//! or the system.

use super::{Tool, own_args};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::write_target::escapes;

/// Returns the options of `tool` whose value is code that it runs, or settings that name such code.
fn loading(tool: &str) -> &'static [&'static str] {
    match tool {
        "astro" => words!("--config --root"),
        "ava" | "tsup" => words!("--config"),
        "bandit" => words!("-c --configfile"),
        "behat" => words!("-c --config"),
        "biome" => words!("--config-path"),
        "brakeman" => words!("-c --config-file --add-checks-path"),
        "celery" => words!("--config"),
        "codecept" | "codeception" => words!("-c --config"),
        "coverage" => words!("--rcfile"),
        "cucumber" => words!("-r --require --config"),
        "cypress" => words!("-C --config-file"),
        "django-admin" => words!("--pythonpath"),
        "esbuild" => words!("--tsconfig --inject"),
        "eslint" => words!(
            "-c --config --resolve-plugins-relative-to --rulesdir --plugin --parser -f --format",
        ),
        "flake8" => words!("--config --append-config"),
        "flask" => words!("--app -A"),
        "golangci-lint" => words!("-c --config"),
        "gunicorn" => words!("-c --config"),
        "infection" => words!("--configuration --bootstrap"),
        "jest" => JEST,
        "mocha" => {
            words!("-r --require --config --package -R --reporter -u --ui --loader --import",)
        }
        "mypy" => words!("--config-file"),
        "oxlint" => words!("-c --config"),
        "php-cs-fixer" => words!("--config"),
        "phpcbf" | "phpcs" => words!("--bootstrap --standard"),
        "phpstan" => words!("-c --configuration -a --autoload-file"),
        "pest" | "phpunit" => words!("--include-path --printer --extension"),
        "playwright" => words!("-c --config --reporter"),
        "prettier" => words!("--config --plugin --plugin-search-dir"),
        "prisma" => words!("--config --schema"),
        "psalm" => words!("-c --config -r --root --plugin"),
        "pylint" => words!("--rcfile"),
        "pyright" | "basedpyright" => words!("-p --project"),
        "rector" => words!("-c --config -a --autoload-file"),
        "reek" => words!("-c --config"),
        "rollup" => words!("-c --config -p --plugin --configPlugin"),
        "rspec" => words!("-r --require -I -O --options -f --format --default-path"),
        "rubocop" | "standardrb" => words!("-c --config -r --require --plugin -f --format"),
        "ruff" => words!("--config"),
        "stylelint" => words!(
            "-c --config --config-basedir --custom-formatter --custom-syntax -f --formatter --plugins",
        ),
        "svelte-check" => words!("--tsconfig --workspace"),
        "tsc" | "vue-tsc" => words!("-p --project -b --build --plugins"),
        "vite" => words!("-c --config"),
        "vitest" => VITEST,
        "webpack" => words!("-c --config --config-registry --plugins --entry-plugin"),
        _ => &[],
    }
}

const JEST: &[&str] = words!(
    "-c --config --dependencyExtractor --env --filter --globalSetup --globalTeardown --modulePaths",
    "--preset --prettierPath --projects --reporters --resolver --runner --setupFiles",
    "--setupFilesAfterEnv --snapshotSerializers --testEnvironment --testResultsProcessor",
    "--testRunner --testSequencer --transform --watchPlugins",
);

const VITEST: &[&str] = words!(
    "-c --config --coverage.customProviderModule --coverage.provider --diff --environment",
    "--globalSetup --pool --project --reporter --runner --sequence.sequencer --setupFiles",
    "--snapshotEnvironment --workspace",
);

/// Checks that code which an option loads does not come from elsewhere.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let own = Tool {
        args: own_args(tool.name, tool.args),
        ..*tool
    };
    let mut values = own.values_of(loading(tool.name)).into_iter().flatten();
    match values.find(|value| is_foreign(tool, value)) {
        Some(value) => Err(escapes(&value, Rule::R92)),
        None => Ok(()),
    }
}

/// Returns whether one of the places in a value is known to be elsewhere.
fn is_foreign(tool: &Tool<'_, '_, '_, '_>, value: &Arg<'_>) -> bool {
    let text = value.text.trim_start_matches('=');
    // Settings in JSON, which may name code anywhere in them.
    if text.starts_with(['{', '[']) {
        return ["\"/", "\"~", "..", "\\", "data:", "://"]
            .iter()
            .any(|sign| text.contains(sign));
    }
    value.is_in_home() || text.split([',', '=']).any(|place| is_outside(tool, place))
}

fn is_outside(tool: &Tool<'_, '_, '_, '_>, place: &str) -> bool {
    let path = place.strip_prefix("file://").unwrap_or(place);
    let is_address = ["data:", "http:", "https:"]
        .iter()
        .any(|scheme| path.starts_with(scheme));
    let is_path = path.starts_with('/') || path.split('/').any(|name| name == "..");
    let is_of_system = path.starts_with("/usr/") && !path.contains("..");
    is_address
        || path.starts_with('~')
        || (is_path && path != "/dev/null" && !is_of_system && !tool.call.is_in_reach(path))
}
