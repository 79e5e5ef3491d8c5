//! Options that name a file or folder to write.

use super::spelling::means;

/// Returns the options of `tool` whose value is a file or folder that it writes, fills or empties.
///
/// With `=` at its end, an option has a value only when that is written together with it.
pub(super) fn targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "astro" | "vite" => &["--outDir"],
        "bun" => &["--reporter-outfile", "--coverage-dir"],
        "cargo" => &["--target-dir", "--artifact-dir", "--out-dir", "--logfile"],
        "codeception" => &["--xml=", "--html=", "--phpunit-xml=", "--coverage-html="],
        "cucumber" | "rubocop" => &["-o", "--out", "--cache-root"],
        "deno" => &["--junit-path", "--coverage="],
        "eslint" => &["-o", "--output-file", "--cache-file", "--cache-location"],
        "flake8" => &["--output-file"],
        "go" => GO,
        "gofmt" | "goimports" => &["-cpuprofile", "-memprofile", "-trace"],
        "golangci-lint" => GOLANGCI_LINT,
        "jest" => &["--outputFile", "--cacheDirectory", "--coverageDirectory"],
        "mypy" => MYPY,
        "next" => &["-o", "--output-file", "--cache-location"],
        "node" => NODE,
        "nox" => &["--envdir", "--report"],
        "phpcs" => PHPCS,
        "php-cs-fixer" => &["--cache-file"],
        "phpunit" | "pest" => PHPUNIT,
        "playwright" => &["--output"],
        "prettier" => &["--cache-location"],
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
    "--debug=",
    "--html",
    "--json-report-file",
    "--junitxml",
    "--junit-xml",
    "--junitx",
    "--junit-x",
    "--log-file",
    "--report-log",
];

/// Tells whether `tool` writes to what stands behind `written`.
pub(super) fn is_target(tool: &str, written: &str) -> bool {
    // Where any key may stand, all of the values are places to write to.
    let of_any_key = listings(tool).iter().filter(|it| it.keys.is_empty());
    let listed = of_any_key.flat_map(|listing| listing.options);
    let mut options = targets(tool).iter().chain(listed);
    options.any(|option| means(tool, written, option.trim_end_matches('=')))
}

/// Tells whether `key` stands in front of a place that `tool` writes to, in a list of values.
pub(super) fn is_key_of_target(tool: &str, key: &str) -> bool {
    let mut listings = listings(tool).iter();
    listings.any(|listing| listing.keys.contains(&key))
}

/// An option with a list of values, of which some name a place to write to.
pub(super) struct Listing {
    pub(super) options: &'static [&'static str],
    /// What stands between a key and its value.
    pub(super) separator: char,
    /// The keys; with none of them, any key but `term..`, which is the terminal.
    pub(super) keys: &'static [&'static str],
}

/// Returns the options of `tool` that have a list of values.
pub(super) fn listings(tool: &str) -> &'static [Listing] {
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
