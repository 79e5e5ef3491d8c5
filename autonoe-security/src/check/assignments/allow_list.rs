//! Variables that may be set for a command in sync mode.
//!
//! A name is allowed if it is listed, or if it looks like a setting of the project's own code and
//! no program of the tables reads it. The tables check the values of their variables first.

use super::group;

/// Listed names, separated by blanks: output settings, plain settings, and variables of the tables
/// whose accepted values only change how something is verified.
const NAMES: &str = "\
    CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES \
    LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_COLLATE LC_NUMERIC LC_TIME TZ \
    TMPDIR PAGER MANPAGER EDITOR VISUAL \
    GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS \
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE \
    PORT HOST HOSTNAME ENVIRONMENT STAGE DEBUG VERBOSE QUIET LOG_LEVEL LOGLEVEL SEED SKIP \
    NODE_ENV NODE_DEBUG NODE_OPTIONS NODE_PATH NODE_NO_WARNINGS NODE_DISABLE_COLORS \
    NODE_PENDING_DEPRECATION BABEL_ENV HUSKY NEXT_TELEMETRY_DISABLED ASTRO_TELEMETRY_DISABLED \
    NUXT_TELEMETRY_DISABLED DO_NOT_TRACK ESLINT_USE_FLAT_CONFIG TIMING JEST_WORKERS \
    DENO_NO_UPDATE_CHECK DENO_JOBS DENO_NO_PROMPT \
    PYTHONPATH PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED PYTHONWARNINGS \
    PYTHONIOENCODING PYTHONUTF8 PYTHONFAULTHANDLER PYTHONASYNCIODEBUG PYTHONTRACEMALLOC \
    PYTHONDEVMODE PYTHONNOUSERSITE PYTHONSAFEPATH PYTHON_COLORS PY_COLORS \
    PYTEST_ADDOPTS PYTEST_DISABLE_PLUGIN_AUTOLOAD PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT \
    TOXENV TOX_PARALLEL_NO_SPINNER DJANGO_SETTINGS_MODULE FLASK_ENV FLASK_DEBUG FLASK_APP SQLALCHEMY_WARN_20 \
    RUBYOPT RUBYLIB RAILS_ENV RACK_ENV HANAMI_ENV BUNDLE_GEMFILE TESTOPTS TEST_OPTS SPEC_OPTS \
    RAILS_LOG_TO_STDOUT DISABLE_SPRING PARALLEL_WORKERS COVERAGE \
    GOOS GOARCH GOAMD64 GOARM GO386 GO111MODULE GOFLAGS GODEBUG GOMAXPROCS GOGC GOMEMLIMIT \
    GOTRACEBACK GOEXPERIMENT CGO_ENABLED GOPROXY GOCACHE GOTMPDIR GOTOOLCHAIN \
    RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_LOG RUST_LOG_STYLE RUST_MIN_STACK RUST_TEST_THREADS \
    RUST_TEST_NOCAPTURE RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN CARGO_INCREMENTAL CARGO_TARGET_DIR \
    CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_TERM_QUIET CARGO_TERM_VERBOSE \
    CARGO_NET_OFFLINE CARGO_NET_RETRY CARGO_HTTP_TIMEOUT \
    NEXTEST_PROFILE NEXTEST_RETRIES NEXTEST_TEST_THREADS NEXTEST_NO_CAPTURE PROPTEST_CASES QUICKCHECK_TESTS \
    XDEBUG_MODE COMPOSER_NO_INTERACTION COMPOSER_ALLOW_SUPERUSER COMPOSER_MEMORY_LIMIT \
    PHP_CS_FIXER_IGNORE_ENV SYMFONY_DEPRECATIONS_HELPER SYMFONY_ENV \
    COVERAGE_FILE MYPYPATH MYPY_CACHE_DIR RUFF_CACHE_DIR NODE_V8_COVERAGE LLVM_PROFILE_FILE \
    GOLANGCI_LINT_CACHE GOSUMDB SQLX_OFFLINE DISABLE_BOOTSNAP SIMPLECOV \
    UV_OFFLINE UV_FROZEN UV_LOCKED UV_NO_SYNC UV_NO_PROGRESS UV_NO_CACHE UV_LINK_MODE UV_CACHE_DIR \
    UV_PYTHON_DOWNLOADS \
    CARGO_NET_GIT_FETCH_WITH_CLI CARGO_PROFILE_DEV_DEBUG CARGO_PROFILE_TEST_DEBUG \
    CARGO_PROFILE_DEV_OPT_LEVEL CARGO_PROFILE_TEST_OPT_LEVEL CARGO_PROFILE_RELEASE_LTO \
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN TS_NODE_PROJECT \
    SOURCE_DATE_EPOCH";

/// First parts of names that applications use for their settings.
const PREFIXES: &[&str] = words!(
    "APP_ AWS_DEFAULT_ DB_ DATABASE_ EXPO_PUBLIC_ MAIL_ MY_ NEXT_PUBLIC_ NUXT_PUBLIC_ POSTGRES_",
    "PUBLIC_ REACT_APP_ REDIS_ STORYBOOK_ TEST_ VITE_ VUE_APP_",
);

/// Last parts of names that applications use for their settings.
const SUFFIXES: &[&str] = words!(
    "_API_KEY _DEBUG _DISABLED _DSN _ENABLED _ENV _HOST _LEVEL _PASSWORD _PORT _REGION _SECRET",
    "_SECRET_KEY _SEED _TEST _TESTS _TIMEOUT _TOKEN _URI _URL _USER _USERNAME _WORKERS",
);

/// Name parts that indicate files, programs and folders, and those with which tests rewrite their
/// expectations.
const CHANGING: &[&str] = words!(
    "ACCEPT APPROVE BINARY BLESS CACHE COMMAND CONFIG DIR FILE FIX GENERATE LIBRARY LOADER MAILER",
    "OVERWRITE PATH RECORD REGENERATE UPDATE WRITE",
);

/// Returns whether the variable `name` may be set for a command in sync mode.
pub(super) fn contains(name: &str) -> bool {
    if NAMES.split_ascii_whitespace().any(|listed| listed == name) {
        return true;
    }
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let has_shape = PREFIXES.iter().any(|start| name.starts_with(start))
        || SUFFIXES.iter().any(|end| name.ends_with(end))
        || name.contains("_TEST_")
        || matches!(
            name,
            "SECRET_KEY" | "API_KEY" | "JWT_SECRET" | "PGHOST" | "PGUSER" | "PGPORT"
        )
        || matches!(name, "PGPASSWORD" | "PGDATABASE");
    has_shape
        && name.bytes().all(is_plain)
        && !name.split('_').any(|part| CHANGING.contains(&part))
        && group::find(name, true).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_settings_are_allowed() {
        for name in [
            "CI",
            "NODE_ENV",
            "DATABASE_URL",
            "TEST_DATABASE_URL",
            "APP_ENV",
            "FOO_TEST_MODE",
            "SHOP_PORT",
            "VITE_API_URL",
            "STRIPE_API_KEY",
        ] {
            assert!(contains(name), "{name}");
        }
    }

    #[test]
    fn variables_of_programs_and_of_rewriting_tests_are_not() {
        for name in [
            "PATH",
            "MANPATH",
            "TOX_TEST_ENV",
            "RUFF_OUTPUT_FILE",
            "COMPOSER_AUTH_TOKEN",
            "UPDATE_TEST_DATA",
            "INSTA_UPDATE",
            "TRYBUILD",
            "test_url",
            "SOMETHING",
        ] {
            assert!(!contains(name), "{name}");
        }
    }
}
