//! Ruby, its package managers and test tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    Name, Options, Output, ProjectPath, SearchPath, Word,
};

/// Options of rspec that load and write nothing.
const RSPEC: &[&str] = words!(
    "--color --no-color --force-color --format~progress --format~documentation --format=progress",
    "--format=documentation -fd -fp -f~d -f~p --fail-fast* --no-fail-fast --order~* --order=*",
    "--seed~* --seed=* --backtrace -b --profile* --no-profile --tag~* --tag=* --only-failures",
    "--next-failure --warnings -w --bisect* --dry-run",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "GEM_HOME GEM_PATH",
        accepts: &[
            ("RUBYLIB", SearchPath),
            (
                "RUBYOPT",
                Options(words!(
                    "-w -W -W0 -W1 -W2 -W:* --yjit --jit --disable-gems",
                    "--enable=frozen-string-literal --disable=did_you_mean -U --encoding=* -Eutf-8",
                    "-KU",
                )),
            ),
        ],
        ..Group::NONE
    },
    Group {
        reason: "Ruby loads code from it, or runs or writes what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "RUBY IRB GEM_ RUBYGEMS_ BUNDLE_ BUNDLER_",
        names: "RUBYPATH RUBYSHELL RUBY_PAGER RUBY_CRASH_REPORT RUBY_ON_BUG RUBY_DEBUG_LOG \
            RUBY_BUGREPORT_BOX_ENV RUBYLIB_PREFIX RUBYGEMS_GEMDEPS RUBY_ROOT IRBRC IRB_RC GEMRC \
            GEM_SPEC_CACHE GEM_VENDOR GEM_HOST_API_KEY BUNDLER_EDITOR BUNDLE_APP_CONFIG \
            BUNDLE_USER_CONFIG BUNDLE_USER_HOME BUNDLE_CONFIG BUNDLE_BIN_PATH BUNDLER_SETUP \
            ST_HASH_LOG",
        free: "RUBY_YJIT_ENABLE RUBY_GC_HEAP_INIT_SLOTS RUBY_GC_MALLOC_LIMIT RUBY_THREAD_VM_STACK_SIZE \
            RUBY_MAX_CPU RUBY_MN_THREADS RUBY_FREE_AT_EXIT RUBY_TCP_NO_FAST_FALLBACK RUBY_ENV \
            BUNDLE_WITHOUT BUNDLE_WITH BUNDLE_JOBS BUNDLE_RETRY BUNDLE_FROZEN BUNDLE_DEPLOYMENT \
            BUNDLE_SILENCE_ROOT_WARNING BUNDLE_DISABLE_VERSION_CHECK BUNDLE_SUPPRESS_INSTALL_USING_MESSAGES \
            BUNDLE_FORCE_RUBY_PLATFORM BUNDLER_FORCE_TTY RUBYGEMS_PREVENT_UPDATE_SUGGESTION",
        accepts: &[
            ("BUNDLE_GEMFILE", ProjectPath),
            ("BUNDLE_PATH BUNDLE_CACHE_PATH", Output),
            ("BUNDLER_VERSION", Name),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a tool loads code, reads options or writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "RAKE RSPEC_ CUCUMBER_ RUBOCOP_ STANDARD_ THOR_ SPRING_ BOOTSNAP_ PUMA_ UNICORN_ \
            SIMPLECOV_ MINITEST_ CI_REPORTS",
        names: "RAKEOPT RAKE_SYSTEM RSPEC_DRB CUCUMBER_OPTIONS RUBOCOP_OPTS STANDARDOPTS THOR_MERGE \
            THOR_DIFF THOR_EDITOR THOR_SHELL RAILS_DIFF SPRING_SERVER_COMMAND SPRING_TMP_PATH \
            SPRING_LOG PARSER_ENGINE FCOV",
        free: "RAKE_COLUMNS RAKE_ENV CUCUMBER_PUBLISH_QUIET CUCUMBER_PUBLISH_ENABLED THOR_COLUMNS \
            THOR_DEBUG THOR_SILENCE_DEPRECATION PUMA_MAX_THREADS PUMA_MIN_THREADS PUMA_WORKERS \
            PUMA_PORT RUBOCOP_TARGET_RUBY_VERSION SPRING_PROFILES_ACTIVE",
        accepts: &[
            ("SPEC_OPTS", Options(RSPEC)),
            ("RUBOCOP_CACHE_ROOT BOOTSNAP_CACHE_DIR", Output),
            (
                "TESTOPTS TEST_OPTS TESTOPT TEST_OPT",
                Options(words!(
                    "-v --verbose -n~* --name~* --name=* -s~* --seed~* --seed=* -e~* --exclude~*",
                    "--exclude=* --fail-fast -f --defer-output -b --backtrace --color -c -p",
                    "--pride",
                )),
            ),
            ("RAILS_ENV RACK_ENV HANAMI_ENV", Word),
        ],
        ..Group::NONE
    },
];
