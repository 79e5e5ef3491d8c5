//! Options that name a file or folder to write.

use super::spelling::means;
use crate::check::arg::Arg;

/// Returns the options of `tool` whose value is a file or folder that it writes, fills or empties.
///
/// With `=` at its end, an option has a value only when that is written together with it.
pub(in crate::check::commands) fn targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "astro" | "vite" => &["--outDir"],
        "bandit" | "brakeman" => &["-o", "--output"],
        "basedpyright" => &["--baselinefile"],
        "behat" => &["-o", "--out"],
        "bun" => &["--reporter-outfile", "--coverage-dir"],
        "biome" => &["--log-file", "--reporter-file"],
        "cargo" | "cargo-nextest" => CARGO,
        "codeception" | "codecept" => &["--xml=", "--html=", "--phpunit-xml=", "--coverage-html="],
        "coverage" => &["--data-file", "-o", "-d", "--directory"],
        "cucumber" | "rubocop" | "standardrb" => &["-o", "--out", "--cache-root"],
        "deno" => &["--junit-path", "--coverage="],
        "eslint" => &["-o", "--output-file", "--cache-file", "--cache-location"],
        "flake8" => &["--output-file"],
        "go" => GO,
        "ginkgo" => GINKGO,
        "gofmt" | "gofumpt" | "goimports" => &["-cpuprofile", "-memprofile", "-trace"],
        "golangci-lint" => GOLANGCI_LINT,
        "jest" => &["--outputFile", "--cacheDirectory", "--coverageDirectory"],
        "mypy" => MYPY,
        "next" => &["-o", "--output-file", "--cache-location"],
        "node" | "ts-node" | "tsx" => NODE,
        "nox" => &["--envdir", "--report"],
        "phpcs" | "phpcbf" => PHPCS,
        "pip" | "pip3" => PIP,
        "php-cs-fixer" => &["--cache-file"],
        "phpmd" => &["--reportfile", "--report-file"],
        "phpunit" | "pest" | "paratest" => PHPUNIT,
        "pint" => &["--output-to-file", "--cache-file"],
        "playwright" => &["--output"],
        "prettier" => &["--cache-location"],
        "prisma" => &["-o", "--output"],
        "psalm" => &["--report=", "--generate-json-map=", "--generate-stubs="],
        "pylint" => PYLINT,
        "pytest" => PYTEST,
        "rspec" => &["-o", "--out", "--deprecation-out"],
        "ruff" => &["-o", "--output-file", "--cache-dir"],
        "staticcheck" => &["-debug.cpuprofile", "-debug.memprofile", "-debug.trace"],
        "stylelint" => &["-o", "--output-file", "--cache-location"],
        "tap" => &["-o", "--output-file", "-d", "--output-dir"],
        "tox" => &["--workdir", "--result-json", "--devenv"],
        "tsc" | "vue-tsc" => &[
            "--generateTrace",
            "--generateCpuProfile",
            "--tsBuildInfoFile",
        ],
        "vitest" => &["--outputFile", "--coverage.reportsDirectory"],
        _ => &[],
    }
}

const GINKGO: &[&str] = &[
    "-o",
    "--output-dir",
    "--coverprofile",
    "--cpuprofile",
    "--memprofile",
    "--blockprofile",
    "--mutexprofile",
    "--trace",
    "--json-report",
    "--gojson-report",
    "--junit-report",
    "--teamcity-report",
];

const CARGO: &[&str] = &[
    "--target-dir",
    "--artifact-dir",
    "--out-dir",
    "--logfile",
    "--extract-to",
    "--lockfile-path",
];

const PIP: &[&str] = &[
    "--log",
    "--log-file",
    "--local-log",
    "--report",
    "-t",
    "--target",
    "--root",
    "--prefix",
    "--src",
    "--cache-dir",
    "-d",
    "--dest",
    "--destination-directory",
    "-w",
    "--wheel-dir",
];

/// Returns the options of `tool` whose value is written to in run mode, beside [`targets`]. In sync
/// mode these are refused, or write nothing.
pub(in crate::check::commands) fn run_targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "alembic" => &["--version-path"],
        "bun" => &[
            "--outfile",
            "--outdir",
            "--cache-dir",
            "--cpu-prof-dir",
            "--heap-prof-dir",
            "--metafile=",
            "--destination",
            "--filename",
        ],
        "bundle" | "bundler" => &["--path", "--cache-path", "--lockfile"],
        "cargo" => &["--root", "--timings-dir"],
        "cargo-nextest" => &["--archive-file"],
        "celery" => &[
            "-f",
            "--logfile",
            "--pidfile",
            "-S",
            "--statedb",
            "-s",
            "--schedule",
        ],
        "composer" => &["--dir", "--file"],
        "conda" => &["-p", "--prefix"],
        "daphne" => &["--access-log"],
        "deno" => &["-o", "--output", "--outdir", "--lock=", "--root"],
        "django-admin" => &["-o", "--output"],
        "dlv" => &["--output", "-o", "--log-dest"],
        "esbuild" => &["--outfile", "--outdir", "--metafile="],
        "gem" => &[
            "-i",
            "--install-dir",
            "-n",
            "--bindir",
            "-o",
            "--output",
            "--target",
            "--build-root",
        ],
        "go" => &["-output", "-modfile"],
        "gopls" => &["-logfile", "-profile.cpu", "-profile.mem", "-profile.trace"],
        "goreleaser" => &["-o", "--output"],
        "gunicorn" | "hypercorn" => &[
            "-p",
            "--pid",
            "--access-logfile",
            "--error-logfile",
            "--log-file",
            "--worker-tmp-dir",
        ],
        "hatch" => &["--data-dir", "--cache-dir", "--target-dir"],
        "infection" => INFECTION,
        "npm" => &["--cache", "--logs-dir", "--pack-destination"],
        "nuxt" => &["--outDir"],
        "pdm" => &["-d", "--dest", "-o", "--output"],
        "phpstan" => &["--generate-baseline", "-b"],
        "playwright" => &["-o", "--save-storage", "--save-har", "--save-trace"],
        "pnpm" => &[
            "--cache-dir",
            "--lockfile-dir",
            "--modules-dir",
            "--out",
            "--pack-destination",
            "--state-dir",
            "--store-dir",
            "--virtual-store-dir",
        ],
        "poetry" => &["-o", "--output"],
        "psalm" => &["--set-baseline="],
        "puma" => &[
            "--pidfile",
            "--redirect-stdout",
            "--redirect-stderr",
            "-S",
            "--state",
        ],
        "rackup" => &["-P", "--pid"],
        "rollup" => &["-o", "--file", "-d", "--dir"],
        "rust-analyzer" => &["--log-file", "--output"],
        "rustc" => &["-o", "--out-dir"],
        "sidekiq" => &["-L", "--logfile", "-P", "--pidfile"],
        "symfony" => &["--dir"],
        "tsc" | "vue-tsc" => &["--outDir", "--outFile", "--out", "--declarationDir"],
        "tsup" => &["-d", "--out-dir"],
        "unicorn" => &["-P", "--pid"],
        "uv" | "uvx" => &[
            "-o",
            "--output-file",
            "--out-dir",
            "--cache-dir",
            "--target",
            "--prefix",
            "--root",
            "--build-dir",
        ],
        "webpack" => &["-o", "--output-path", "-j=", "--json="],
        "yarn" => &[
            "--cache-folder",
            "--modules-folder",
            "--global-folder",
            "--link-folder",
            "--filename",
            "-o",
            "--out",
        ],
        _ => &[],
    }
}

const INFECTION: &[&str] = &[
    "--logger-gitlab",
    "--logger-html",
    "--logger-project-root-directory",
    "--logger-text",
    "--tmp-dir",
];

const GO: &[&str] = &[
    "-o",
    "-outputdir",
    "-coverprofile",
    "-cpuprofile",
    "-memprofile",
    "-blockprofile",
    "-mutexprofile",
    "-trace",
    "-testlogfile",
    "-gocoverdir",
    "-fuzzcachedir",
    "-pkgdir",
    "-debug-actiongraph",
    "-debug-trace",
    "-debug-runtime-trace",
];

const GOLANGCI_LINT: &[&str] = &[
    "--output.text.path",
    "--output.json.path",
    "--output.tab.path",
    "--output.html.path",
    "--output.checkstyle.path",
    "--output.code-climate.path",
    "--output.junit-xml.path",
    "--output.teamcity.path",
    "--output.sarif.path",
    "--cpu-profile-path",
    "--mem-profile-path",
    "--trace-path",
];

const MYPY: &[&str] = &[
    "--any-exprs-report",
    "--cache-dir",
    "--cobertura-xml-report",
    "--html-report",
    "--junit-xml",
    "--linecount-report",
    "--linecoverage-report",
    "--lineprecision-report",
    "--txt-report",
    "--xml-report",
    "--xslt-html-report",
    "--xslt-txt-report",
];

const NODE: &[&str] = &[
    "--test-reporter-destination",
    "--cpu-prof-dir",
    "--cpu-prof-name",
    "--heap-prof-dir",
    "--heap-prof-name",
    "--diagnostic-dir",
    "--redirect-warnings",
    "--report-dir",
    "--report-directory",
    "--report-filename",
    "--tls-keylog",
    "--trace-event-file-pattern",
    "--localstorage-file",
    "--logfile",
    "--redirect-code-traces-to",
    "--snapshot-blob",
];

const PHPCS: &[&str] = &[
    "--report-file",
    "--report-full",
    "--report-xml",
    "--report-checkstyle",
    "--report-csv",
    "--report-json",
    "--report-junit",
    "--report-emacs",
    "--report-source",
    "--report-summary",
    "--report-diff",
    "--report-code",
    "--report-info",
    "--report-performance",
    "--cache=",
];

const PHPUNIT: &[&str] = &[
    "--log-junit",
    "--log-otr",
    "--log-teamcity",
    "--log-events-text",
    "--log-events-verbose-text",
    "--testdox-html",
    "--testdox-text",
    "--testdox-xml",
    "--coverage-clover",
    "--coverage-cobertura",
    "--coverage-crap4j",
    "--coverage-html",
    "--coverage-openclover",
    "--coverage-php",
    "--coverage-text=",
    "--coverage-xml",
    "--coverage-cache",
    "--cache-directory",
    "--cache-result-file",
    "--list-tests-xml",
    "--generate-baseline",
];

const PYLINT: &[&str] = &[
    "--output",
    "--output-file",
    "--import-graph",
    "--ext-import-graph",
    "--int-import-graph",
];

const PYTEST: &[&str] = &[
    "--alluredir",
    "--basetemp",
    "--benchmark-json",
    "--debug?",
    "--html",
    "--json-report-file",
    "--junitxml",
    "--junit-xml",
    "--junitx",
    "--junit-x",
    "--log-file",
    "--report-log",
    "--resultlog",
    "--result-log",
];

/// Returns whether `tool` writes to what stands behind `written`.
pub(in crate::check::commands) fn is_target(tool: &str, written: &str) -> bool {
    // Where any key may stand, all of the values are places to write to.
    let of_any_key = listings(tool).iter().filter(|it| it.keys.is_empty());
    let listed = of_any_key.flat_map(|listing| listing.options);
    let mut options = targets(tool).iter().chain(listed);
    options.any(|option| means(tool, written, option.trim_end_matches(['=', '?'])))
}

/// Returns whether `key` stands in front of a place that `tool` writes to, in a list of values.
pub(in crate::check::commands) fn is_key_of_target(tool: &str, key: &str) -> bool {
    let mut listings = listings(tool).iter();
    listings.any(|listing| listing.keys.contains(&key))
}

/// An option with a list of values, of which some name a place to write to.
pub(in crate::check::commands) struct Listing {
    pub(in crate::check::commands) options: &'static [&'static str],
    /// What stands between a key and its value.
    pub(in crate::check::commands) separator: char,
    /// The keys; with none of them, any key but `term..`, which is the terminal.
    pub(in crate::check::commands) keys: &'static [&'static str],
}

impl Listing {
    /// Returns the places that `value` names: those of `html:folder,xml:file` or `output=file`.
    pub(in crate::check::commands) fn places<'s>(&self, value: &Arg<'s>) -> Vec<Arg<'s>> {
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

/// Returns the options of `tool` whose value is the place to work in.
pub(in crate::check::commands) fn working_folders(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" => &["--prefix", "-C"],
        "pnpm" => &["-C", "--dir", "--prefix"],
        "yarn" | "bun" => &["--cwd"],
        "cypress" => &["-P", "--project"],
        "uv" | "uvx" => &["--directory", "--project"],
        "poetry" => &["-C", "--directory", "-P", "--project"],
        "pdm" => &["-p", "--project"],
        "composer" => &["-d", "--working-dir"],
        "cargo" | "cargo-nextest" => &["-C", "--manifest-path"],
        "go" => &["-C"],
        _ => &[],
    }
}

/// Returns the options of `tool` that have a list of values.
pub(in crate::check::commands) fn listings(tool: &str) -> &'static [Listing] {
    match tool {
        "pylint" => &[Listing {
            options: &["-f", "--output-format"],
            separator: ':',
            keys: &[],
        }],
        "golangci-lint" => &[Listing {
            options: &["--out-format"],
            separator: ':',
            keys: &[],
        }],
        "pytest" => &[
            Listing {
                options: &["--cov-report"],
                separator: ':',
                keys: &[],
            },
            Listing {
                options: &["-o", "--override-ini"],
                separator: '=',
                keys: &["log_file", "cache_dir"],
            },
        ],
        "python" | "python3" => &[Listing {
            options: &["-X"],
            separator: '=',
            keys: &["pycache_prefix"],
        }],
        "mocha" => &[Listing {
            options: &["-O", "--reporter-option", "--reporter-options"],
            separator: '=',
            keys: &["output", "outputFile", "mochaFile", "reportDir"],
        }],
        "cypress" => &[Listing {
            options: &["-o", "--reporter-options", "-c", "--config"],
            separator: '=',
            keys: &[
                "output",
                "outputFile",
                "mochaFile",
                "reportDir",
                "downloadsFolder",
                "screenshotsFolder",
                "videosFolder",
            ],
        }],
        _ => &[],
    }
}
