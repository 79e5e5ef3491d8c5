//! Options that name an output file or folder.

use super::spelling::matches_option;
use crate::check::arg::Arg;

/// Returns the options of `tool` whose value is a file or folder that it writes, fills or empties.
///
/// An option that ends in `=` has a value only in the same argument.
pub(in crate::check::commands) fn targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "astro" | "vite" => words!("--outDir"),
        "bandit" | "brakeman" => words!("-o --output"),
        "basedpyright" => words!("--baselinefile"),
        "behat" => words!("-o --out"),
        "bun" => words!("--reporter-outfile --coverage-dir"),
        "biome" => words!("--log-file --reporter-file"),
        "cargo" | "cargo-nextest" => CARGO,
        "codeception" | "codecept" => words!("--xml= --html= --phpunit-xml= --coverage-html="),
        "coverage" => words!("--data-file -o -d --directory"),
        "cucumber" | "rubocop" | "standardrb" => words!("-o --out --cache-root"),
        "deno" => words!("--junit-path --coverage="),
        "eslint" => words!("-o --output-file --cache-file --cache-location"),
        "flake8" => words!("--output-file"),
        "go" => GO,
        "ginkgo" => GINKGO,
        "gofmt" | "gofumpt" | "goimports" => words!("-cpuprofile -memprofile -trace"),
        "golangci-lint" => GOLANGCI_LINT,
        "jest" => words!("--outputFile --cacheDirectory --coverageDirectory"),
        "mypy" => MYPY,
        "next" => words!("-o --output-file --cache-location"),
        "node" | "ts-node" | "tsx" => NODE,
        "nox" => words!("--envdir --report"),
        "phpcs" | "phpcbf" => PHPCS,
        "pip" | "pip3" => PIP,
        "php-cs-fixer" => words!("--cache-file"),
        "phpmd" => words!("--reportfile --report-file"),
        "phpunit" | "pest" | "paratest" => PHPUNIT,
        "pint" => words!("--output-to-file --cache-file"),
        "playwright" => words!("--output"),
        "prettier" => words!("--cache-location"),
        "prisma" => words!("-o --output"),
        "psalm" => words!("--report= --generate-json-map= --generate-stubs="),
        "pylint" => PYLINT,
        "pytest" => PYTEST,
        "radon" => words!("-O --output --output-file"),
        "rspec" => words!("-o --out --deprecation-out"),
        "ruff" => words!("-o --output-file --cache-dir"),
        "staticcheck" => {
            words!("-debug.cpuprofile -debug.memprofile -debug.trace -debug.measure-analyzers")
        }
        "stylelint" => words!("-o --output-file --cache-location"),
        "tap" => words!("-o --output-file -d --output-dir"),
        "tox" => words!("--workdir --result-json --devenv"),
        "tsc" | "vue-tsc" => words!("--generateTrace --generateCpuProfile --tsBuildInfoFile"),
        "vitest" => words!(
            "--outputFile --outputJson --json? --coverage.reportsDirectory --attachmentsDir",
            "--blobOutputFile",
        ),
        _ => &[],
    }
}

const GINKGO: &[&str] = words!(
    "-o --output-dir --coverprofile --cpuprofile --memprofile --blockprofile --mutexprofile",
    "--trace --json-report --gojson-report --junit-report --teamcity-report",
);

const CARGO: &[&str] =
    words!("--target-dir --artifact-dir --out-dir --logfile --extract-to --lockfile-path");

const PIP: &[&str] = words!(
    "--log --log-file --local-log --report -t --target --root --prefix --src --cache-dir -d --dest",
    "--destination-directory -w --wheel-dir",
);

/// Returns the options of `tool` whose value is an output in run mode, besides [`targets`]. In sync
/// mode these are denied, or write nothing.
pub(in crate::check::commands) fn run_targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "alembic" => words!("--version-path"),
        "bun" => words!(
            "--outfile --outdir --cache-dir --cpu-prof-dir --heap-prof-dir --metafile=",
            "--destination --filename",
        ),
        "bundle" | "bundler" => words!("--path --cache-path --lockfile --binstubs="),
        "cargo" => words!("--destination --root --timings-dir"),
        "cargo-nextest" => words!("--archive-file"),
        "cProfile" | "profile" => words!("-o --outfile"),
        "celery" => words!("-f --logfile --pidfile -S --statedb -s --schedule"),
        "composer" => words!("--dir --file"),
        "conda" => words!("-p --prefix"),
        "daphne" => words!("--access-log"),
        "deno" => words!("-o --output --outdir --lock= --root"),
        "django-admin" => words!("-o --output"),
        "dlv" => words!("--output -o --log-dest"),
        "ensurepip" => words!("--root"),
        "esbuild" => words!("--outfile --outdir --metafile="),
        "gem" => words!("-i --install-dir -n --bindir -o --output --target --build-root"),
        "go" => words!("-output -modfile"),
        "gopls" => words!("-logfile -profile.cpu -profile.mem -profile.trace"),
        "goreleaser" => words!("-o --output"),
        "gunicorn" | "hypercorn" => {
            words!("-p --pid --access-logfile --error-logfile --log-file --worker-tmp-dir")
        }
        "hatch" => words!("--data-dir --cache-dir --target-dir"),
        "infection" => INFECTION,
        "npm" => words!("--cache --logs-dir --pack-destination"),
        "nuxt" => words!("--outDir"),
        "pdm" => words!("-d --dest -o --output"),
        "phpstan" => words!("--generate-baseline -b"),
        "playwright" => words!("-o --save-storage --save-har --save-trace"),
        "pnpm" => words!(
            "--cache-dir --lockfile-dir --modules-dir --out --pack-destination --state-dir",
            "--store-dir --virtual-store-dir",
        ),
        "poetry" => words!("-o --output"),
        "psalm" => words!("--set-baseline="),
        "puma" => words!("--pidfile --redirect-stdout --redirect-stderr -S --state"),
        "rackup" => words!("-P --pid"),
        "rollup" => words!("-o --file -d --dir"),
        "rust-analyzer" => words!("--log-file --output"),
        "rustc" => words!("-o --out-dir"),
        "sidekiq" => words!("-L --logfile -P --pidfile"),
        "symfony" => words!("--dir"),
        "trace" => words!("-C --coverdir -f --file"),
        "zipapp" => words!("-o --output"),
        "tsc" | "vue-tsc" => words!("--outDir --outFile --out --declarationDir"),
        "tsup" => words!("-d --out-dir"),
        "unicorn" => words!("-P --pid"),
        "uv" | "uvx" => {
            words!(
                "-o --output-file --out-dir --cache-dir --target --prefix --root --build-dir",
                "--install-dir"
            )
        }
        "webpack" => words!("-o --output-path -j= --json="),
        "yarn" => words!(
            "--cache-folder --modules-folder --global-folder --link-folder --filename -o --out"
        ),
        _ => &[],
    }
}

const INFECTION: &[&str] =
    words!("--logger-gitlab --logger-html --logger-project-root-directory --logger-text --tmp-dir");

const GO: &[&str] = words!(
    "-o -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace",
    "-testlogfile -gocoverdir -fuzzcachedir -pkgdir -debug-actiongraph -debug-trace",
    "-debug-runtime-trace",
);

const GOLANGCI_LINT: &[&str] = words!(
    "--output.text.path --output.json.path --output.tab.path --output.html.path",
    "--output.checkstyle.path --output.code-climate.path --output.junit-xml.path",
    "--output.teamcity.path --output.sarif.path --cpu-profile-path --mem-profile-path --trace-path",
);

const MYPY: &[&str] = words!(
    "--any-exprs-report --cache-dir --cobertura-xml-report --html-report --junit-xml",
    "--linecount-report --linecoverage-report --lineprecision-report --txt-report --xml-report",
    "--xslt-html-report --xslt-txt-report",
);

const NODE: &[&str] = words!(
    "--test-reporter-destination --cpu-prof-dir --cpu-prof-name --heap-prof-dir --heap-prof-name",
    "--diagnostic-dir --redirect-warnings --report-dir --report-directory --report-filename",
    "--tls-keylog --trace-event-file-pattern --localstorage-file --logfile",
    "--redirect-code-traces-to --snapshot-blob",
);

const PHPCS: &[&str] = words!(
    "--report-file --report-full --report-xml --report-checkstyle --report-csv --report-json",
    "--report-junit --report-emacs --report-source --report-summary --report-diff --report-code",
    "--report-info --report-performance --cache=",
);

const PHPUNIT: &[&str] = words!(
    "--log-junit --log-otr --log-teamcity --log-events-text --log-events-verbose-text",
    "--testdox-html --testdox-text --testdox-xml --coverage-clover --coverage-cobertura",
    "--coverage-crap4j --coverage-html --coverage-openclover --coverage-php --coverage-text=",
    "--coverage-xml --coverage-cache --cache-directory --cache-result-file --list-tests-xml",
    "--generate-baseline",
);

const PYLINT: &[&str] =
    words!("--output --output-file --import-graph --ext-import-graph --int-import-graph");

const PYTEST: &[&str] = words!(
    "--alluredir --basetemp --benchmark-json --debug? --html --json-report-file --junitxml",
    "--junit-xml --junitx --junit-x --log-file --report-log --resultlog --result-log",
    "--cucumberjson --cucumber-json --durations-path --md --md-report-output --memray-bin-path",
    "--pstats-dir --report",
);

/// Returns whether `tool` writes to the value of `written`.
pub(in crate::check::commands) fn is_target(tool: &str, written: &str) -> bool {
    // If any key is accepted, all values are outputs.
    let of_any_key = listings(tool).iter().filter(|it| it.keys.is_empty());
    let listed = of_any_key.flat_map(|listing| listing.options);
    let mut options = targets(tool).iter().chain(listed);
    options.any(|option| matches_option(tool, written, option.trim_end_matches(['=', '?'])))
}

/// Returns whether `key` precedes an output of `tool` in a list of values.
pub(in crate::check::commands) fn is_key_of_target(tool: &str, key: &str) -> bool {
    let mut listings = listings(tool).iter();
    listings.any(|listing| listing.keys.contains(&key))
}

/// An option with a list of values, some of which name an output.
pub(in crate::check::commands) struct Listing {
    pub(in crate::check::commands) options: &'static [&'static str],
    /// The separator between a key and its value.
    pub(in crate::check::commands) separator: char,
    /// The keys; if empty, any key except `term..`, which is the terminal.
    pub(in crate::check::commands) keys: &'static [&'static str],
}

impl Listing {
    /// Returns the locations in `value`: those of `html:folder,xml:file` or `output=file`.
    pub(in crate::check::commands) fn outputs<'s>(&self, value: &Arg<'s>) -> Vec<Arg<'s>> {
        let is_place = |key: &str| match self.keys {
            [] => !key.starts_with("term"),
            keys => keys.contains(&key.trim()),
        };
        let items = value.text.split(',');
        let pairs = items.filter_map(|item| item.split_once(self.separator));
        let places = pairs.filter(|(key, _)| is_place(key));
        places
            .map(|(_, path)| Arg {
                text: path.trim().to_owned().into(),
                ..value.clone()
            })
            .collect()
    }
}

/// Returns the options of `tool` whose value is its working folder.
pub(in crate::check::commands) fn working_folders(tool: &str) -> &'static [&'static str] {
    match tool {
        "alembic" | "phpunit" | "pest" => words!("-c --config --configuration --bootstrap"),
        "bundle" | "bundler" => words!("--gemfile"),
        "celery" => words!("--workdir"),
        "deno" => words!("--cwd"),
        "dlv" => words!("--wd"),
        "gunicorn" => words!("--chdir --pythonpath"),
        "jest" => words!("--rootDir --roots"),
        "jupyter" => words!("--notebook-dir --ServerApp.root_dir"),
        "mkdocs" => words!("-f --config-file"),
        "nox" => words!("-f --noxfile"),
        "npm" => words!("--prefix -C"),
        "puma" => words!("--dir -C --config"),
        "pytest" => words!("--rootdir -c --config-file --confcutdir"),
        "rake" => words!("-C --directory -f --rakefile -R --rakelibdir --rakelib"),
        "tox" => words!("-c --conf --root"),
        "uvicorn" => words!("--app-dir"),
        "vitest" => words!("--root -r --dir"),
        "pnpm" => words!("-C --dir --prefix"),
        "yarn" | "bun" => words!("--cwd"),
        "cypress" => words!("-P --project"),
        "uv" | "uvx" => words!("--directory --project"),
        "poetry" => words!("-C --directory -P --project"),
        "pdm" => words!("-p --project"),
        "composer" => words!("-d --working-dir"),
        "cargo" | "cargo-nextest" => words!("-C --manifest-path"),
        "esbuild" => words!("--servedir"),
        "go" => words!("-C -use"),
        "http.server" => words!("-d --directory"),
        "php" => words!("-t"),
        _ => &[],
    }
}

/// Returns the options of `tool` that have a list of values.
pub(in crate::check::commands) fn listings(tool: &str) -> &'static [Listing] {
    match tool {
        "pylint" => &[Listing {
            options: words!("-f --output-format"),
            separator: ':',
            keys: &[],
        }],
        "golangci-lint" => &[Listing {
            options: words!("--out-format"),
            separator: ':',
            keys: &[],
        }],
        "pytest" => &[
            Listing {
                options: words!("--cov-report"),
                separator: ':',
                keys: &[],
            },
            Listing {
                options: words!("-o --override-ini"),
                separator: '=',
                keys: words!("log_file cache_dir"),
            },
        ],
        "python" | "python3" => &[Listing {
            options: words!("-X"),
            separator: '=',
            keys: words!("pycache_prefix"),
        }],
        "php" => &[Listing {
            options: words!("-d"),
            separator: '=',
            keys: words!("error_log xdebug.log xdebug.output_dir"),
        }],
        "mocha" => &[Listing {
            options: words!("-O --reporter-option --reporter-options"),
            separator: '=',
            keys: words!("output outputFile mochaFile reportDir"),
        }],
        "cypress" => &[Listing {
            options: words!("-o --reporter-options -c --config"),
            separator: '=',
            keys: words!(
                "output outputFile mochaFile reportDir downloadsFolder screenshotsFolder",
                "videosFolder",
            ),
        }],
        _ => &[],
    }
}
