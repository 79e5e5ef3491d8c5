//! Node.js, Bun, Deno, their package managers and test tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    Options, Output, ProjectPath, SearchPath, Word,
};

/// Options of Node.js that load and write nothing.
pub(in crate::check::assignments) const NODE_OPTIONS: &[&str] = words!(
    "--max-old-space-size=* --max_old_space_size=* --max-semi-space-size=*",
    "--max-http-header-size=* --experimental-vm-modules --no-warnings* --trace-warnings*",
    "--trace-deprecation* --trace-uncaught --no-deprecation* --enable-source-maps*",
    "--unhandled-rejections=* --stack-trace-limit=* --experimental-strip-types --no-experimental*",
    "--disable-warning=* --dns-result-order=* --preserve-symlinks --expose-gc --throw-deprecation",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        accepts: &[
            ("NODE_OPTIONS", Options(NODE_OPTIONS)),
            ("NODE_PATH", SearchPath),
        ],
        ..Group::NONE
    },
    Group {
        reason: "Node.js loads code from it, or writes what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "NODE_",
        names: "NODE_REDIRECT_WARNINGS NODE_REPL_HISTORY NODE_REPL_EXTERNAL_MODULE NODE_ICU_DATA \
            NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_TEST_CONTEXT \
            NODE_INSPECT_RESUME_ON_START NODE_USE_ENV_PROXY NODE_GYP_FORCE_PYTHON \
            WATCH_REPORT_DEPENDENCIES",
        free: "NODE_ENV NODE_DEBUG NODE_DEBUG_NATIVE NODE_NO_WARNINGS NODE_DISABLE_COLORS \
            NODE_PENDING_DEPRECATION NODE_PRESERVE_SYMLINKS NODE_SKIP_PLATFORM_CHECK \
            NODE_DISABLE_COMPILE_CACHE NODE_COMPILE_CACHE_PORTABLE NODE_USE_SYSTEM_CA \
            NODE_CLUSTER_SCHED_POLICY NODE_CONFIG_ENV NODE_APP_INSTANCE NODE_NAME NODE_PORT \
            NODE_HOST",
        accepts: &[("NODE_V8_COVERAGE NODE_COMPILE_CACHE", Output)],
        ..Group::NONE
    },
    Group {
        reason: "a package manager reads settings, registries or folders from it",
        reach: Reach::NamesAnywhere,
        prefixes: "COREPACK_ PNPM_ npm_ BUN_ BUNX_ BERRY_ DENO_ DENORT_ DENO_TSC PNP_ TURBO_ NX_ \
            LERNA_ VOLTA_ NVM_ FNM_",
        names: "BUN_OPTIONS BUN_INSTALL BUN_INSPECT BUN_INSPECT_PRELOAD BUN_CONFIG_REGISTRY \
            DENO_DIR DENO_INSTALL_ROOT DENO_V8_FLAGS DENO_AUTH_TOKENS DENO_CERT DENO_TLS_CA_STORE \
            JSR_URL NPM_CONFIG NODEJS_ORG_MIRROR PRISMA_ENGINES_MIRROR \
            PRISMA_BINARIES_MIRROR SHARP_BINARY_HOST SHARP_DIST_BASE_URL \
            COREPACK_HOME COREPACK_NPM_REGISTRY INIT_CWD",
        free: "npm_lifecycle_event npm_package_name npm_package_version COREPACK_ENABLE_STRICT COREPACK_ENABLE_DOWNLOAD_PROMPT COREPACK_ENABLE_AUTO_PIN \
            COREPACK_ENABLE_PROJECT_SPEC COREPACK_DEFAULT_TO_LATEST BUN_ENV BUN_PORT \
            BUN_JSC_forceRAMSize DENO_NO_UPDATE_CHECK DENO_JOBS DENO_NO_PROMPT DENO_ENV \
            DENO_FUTURE TURBO_TELEMETRY_DISABLED TURBO_FORCE TURBO_UI TURBO_LOG_ORDER NX_DAEMON \
            NX_SKIP_NX_CACHE NX_VERBOSE_LOGGING NX_NO_CLOUD NX_REJECT_UNKNOWN_LOCAL_CACHE",
        accepts: &[
            (
                "BUN_TMPDIR BUN_RUNTIME_TRANSPILER_CACHE_PATH BUN_INSTALL_CACHE_DIR",
                Output,
            ),
            ("DENO_COVERAGE_DIR", Output),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a test tool or linter loads code, reads options or writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "MOCHA_ ESLINT_ ESLINT_D_ PRETTIER_ PRETTIERD_ BIOME_ ESBUILD_ SWC_ TS_NODE_ TSX_ \
            TSS_ TSC_ BABEL_ NYC_ C8_ TAP_ AVA_ PLAYWRIGHT_ PW_ PWTEST_ PWMCP_ CYPRESS_ PUPPETEER_ \
            SELENIUM_ JEST_JUNIT JEST_SONAR JEST_HTML JEST_STARE VITEST_ STYLELINT_ SASS_ \
            BROWSERSLIST ROLLUP_ WEBPACK_ LIGHTNINGCSS_ ELECTRON_ __NEXT_ NEXT_PRIVATE_ \
            NEXT_TEST_ NITRO_ STORYBOOK_CONFIG",
        names: "PRISMA_QUERY_ENGINE_LIBRARY PRISMA_QUERY_ENGINE_BINARY PRISMA_SCHEMA_ENGINE_BINARY \
            PRISMA_FMT_BINARY PRISMA_MIGRATION_ENGINE_BINARY PRISMA_INTROSPECTION_ENGINE_BINARY \
            OXLINT_TSGOLINT_PATH NAPI_RS_NATIVE_LIBRARY_PATH MOCHA_OPTIONS MOCHA_FILE ESLINT_FLAGS BIOME_BINARY BIOME_CONFIG_PATH BIOME_LOG_PATH \
            ESBUILD_BINARY_PATH SWC_BINARY_PATH TS_NODE_COMPILER TS_NODE_REQUIRE BROWSERSLIST_CONFIG \
            NYC_CONFIG BABEL_CACHE_PATH PLAYWRIGHT_BROWSERS_PATH PW_TEST_REPORTER \
            PW_TEST_SOURCE_TRANSFORM PUPPETEER_EXECUTABLE_PATH CYPRESS_RUN_BINARY JEST_CONFIG \
            JASMINE_CONFIG_PATH KARMA_CONFIG",
        free: "ESLINT_USE_FLAT_CONFIG PRETTIER_DEBUG PLAYWRIGHT_HTML_OPEN PLAYWRIGHT_TEST_BASE_URL \
            PLAYWRIGHT_FORCE_TTY PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD PW_TEST_HTML_REPORT_OPEN PWDEBUG \
            PW_DISABLE_TS_ESM CYPRESS_BASE_URL CYPRESS_baseUrl CYPRESS_VERIFY_TIMEOUT CYPRESS_CRASH_REPORTS \
            PUPPETEER_SKIP_DOWNLOAD PUPPETEER_SKIP_CHROMIUM_DOWNLOAD BABEL_ENV \
            BABEL_DISABLE_CACHE BROWSERSLIST_IGNORE_OLD_DATA BROWSERSLIST_ENV TS_NODE_TRANSPILE_ONLY \
            TS_NODE_FILES TS_NODE_LOG_ERROR VITEST_POOL_ID VITEST_WORKER_ID VITEST_MAX_THREADS VITEST_MIN_THREADS \
            VITEST_MAX_WORKERS VITEST_SEGFAULT_RETRY WEBPACK_MODE WEBPACK_ENV ROLLUP_WATCH \
            SWC_DEBUG ELECTRON_ENABLE_LOGGING ELECTRON_RUN_AS_NODE AVA_PATH_COMPAT",
        accepts: &[
            (
                "BIOME_LOG_LEVEL BIOME_LOG_KIND BIOME_THREADS MOCHA_COLORS",
                Word,
            ),
            ("TS_NODE_PROJECT", ProjectPath),
            (
                "JEST_JUNIT_OUTPUT_DIR JEST_JUNIT_OUTPUT_FILE JEST_JUNIT_OUTPUT_NAME",
                Output,
            ),
            (
                "PLAYWRIGHT_HTML_REPORT PLAYWRIGHT_HTML_OUTPUT_DIR PLAYWRIGHT_JUNIT_OUTPUT_NAME",
                Output,
            ),
            (
                "PLAYWRIGHT_JSON_OUTPUT_NAME PLAYWRIGHT_LAST_RUN_OUTPUT_FILE",
                Output,
            ),
        ],
        ..Group::NONE
    },
];
