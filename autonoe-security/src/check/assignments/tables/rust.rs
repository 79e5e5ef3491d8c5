//! Rust and its tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    BuildFolder, Name, Options, Output, Toolchain,
};

/// Options of rustc that neither choose a linker nor write or load files.
const RUSTFLAGS: &[&str] = words!(
    "-D~* -D* -A~* -A* -W~* -W* -F~* -F* --deny~* --deny=* --allow~* --allow=* --warn~* --warn=*",
    "--forbid~* --forbid=* --cap-lints~* --cap-lints=* --cfg~* --cfg=* --check-cfg~* --check-cfg=*",
    "-g -O -C~opt-level=* -Copt-level=* -C~target-cpu=* -Ctarget-cpu=* -C~target-feature=*",
    "-Ctarget-feature=* -C~debuginfo=* -Cdebuginfo=* -C~debug-assertions* -Cdebug-assertions*",
    "-C~overflow-checks* -Coverflow-checks* -C~codegen-units=* -Ccodegen-units=* -C~lto* -Clto*",
    "-C~panic=* -Cpanic=* -C~strip=* -Cstrip=* -C~instrument-coverage -Cinstrument-coverage",
    "-C~prefer-dynamic* -Cprefer-dynamic* -C~force-frame-pointers* -Cforce-frame-pointers*",
    "-C~link-dead-code* -Clink-dead-code* -C~embed-bitcode=* -Cembed-bitcode=*",
    "-C~symbol-mangling-version=* -Csymbol-mangling-version=* -C~split-debuginfo=*",
    "-Csplit-debuginfo=* -C~relocation-model=* -Crelocation-model=* -C~link-arg=-fuse-ld=lld",
    "-Clink-arg=-fuse-ld=lld -C~link-arg=-fuse-ld=mold -Clink-arg=-fuse-ld=mold -C~link-arg=-s",
    "-Clink-arg=-s --edition~* --edition=*",
);

/// Options of Miri that change how it interprets. Further options belong to rustc.
const MIRIFLAGS: &[&str] = words!(
    "-Zmiri-address-reuse-* -Zmiri-backtrace=* -Zmiri-compare-exchange-* -Zmiri-deterministic-*",
    "-Zmiri-disable-alignment-check -Zmiri-disable-data-race-detector -Zmiri-disable-isolation",
    "-Zmiri-disable-stacked-borrows -Zmiri-disable-validation",
    "-Zmiri-disable-weak-memory-emulation -Zmiri-fixed-schedule -Zmiri-ignore-leaks",
    "-Zmiri-isolation-error=* -Zmiri-many-seeds* -Zmiri-num-cpus=* -Zmiri-permissive-provenance",
    "-Zmiri-preemption-rate=* -Zmiri-recursive-validation -Zmiri-report-progress* -Zmiri-seed=*",
    "-Zmiri-strict-provenance -Zmiri-symbolic-alignment-check -Zmiri-tree-borrows",
);

/// Options of rustdoc that neither write nor load files.
const RUSTDOCFLAGS: &[&str] = words!(
    "-D~* -D* -A~* -A* -W~* -W* -F~* -F* --deny~* --deny=* --allow~* --allow=* --warn~* --warn=*",
    "--forbid~* --cap-lints~* --cap-lints=* --cfg~* --cfg=* --check-cfg~* --document-private-items",
    "--document-hidden-items --edition~* --edition=* --crate-version~* --show-type-layout",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "CARGO_ENCODED_RUSTFLAGS CARGO_HOME RUSTC RUSTDOC RUSTFMT RUSTUP_HOME",
        prefixes: "RUSTC_ CARGO_ALIAS_ CARGO_BUILD_ CARGO_CREDENTIAL CARGO_DOC_ CARGO_REGISTR \
            CARGO_TARGET_",
        accepts: &[
            ("CARGO_TARGET_DIR", BuildFolder),
            ("CARGO_BUILD_TARGET_DIR", BuildFolder),
            ("CARGO_BUILD_TARGET", Name),
            ("RUSTFLAGS", Options(RUSTFLAGS)),
            ("RUSTDOCFLAGS", Options(RUSTDOCFLAGS)),
            ("RUSTUP_TOOLCHAIN", Toolchain),
        ],
        ..Group::NONE
    },
    Group {
        reason: "cargo reads settings from it, or runs or writes what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "CARGO_ __CARGO RUSTDOC_ RUSTUP_ RUSTFMT_ CLIPPY_ MIRI NEXTEST_ __NEXTEST \
            INSTA_ TRYBUILD SQLX_ RA_ __RA_ RUST_ANALYZER_ CHALK_ GRCOV_ TARPAULIN_ BINSTALL_",
        names: "CARGO CARGO_ENCODED_RUSTDOCFLAGS CARGO_INSTALL_ROOT CARGO_LOG_PROFILE CLIPPY_ARGS CLIPPY_CONF_DIR \
            RUST_FLAGS RUSTDOC_FLAGS RUST_TARGET_PATH RUST_SRC_PATH RUST_RECURSION_COUNT \
            RUSTUP_TRACE_DIR RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT RUSTUP_DIST_ROOT \
            RUSTUP_TOOLCHAIN_SOURCE RUSTUP_FORCE_ARG0 MIRI_SYSROOT NEXTEST_STATE_DIR \
            NEXTEST_USER_CONFIG_FILE",
        free: "CARGO_INCREMENTAL CARGO_TERM_COLOR CARGO_TERM_QUIET CARGO_TERM_VERBOSE \
            CARGO_TERM_PROGRESS_WHEN CARGO_TERM_PROGRESS_WIDTH CARGO_TERM_UNICODE CARGO_TERM_HYPERLINKS \
            CARGO_NET_RETRY CARGO_NET_OFFLINE CARGO_NET_GIT_FETCH_WITH_CLI CARGO_HTTP_TIMEOUT \
            CARGO_HTTP_MULTIPLEXING CARGO_LOG CARGO_PKG_VERSION CARGO_PKG_NAME CARGO_FUTURE_INCOMPAT_REPORT_FREQUENCY \
            CARGO_CACHE_RUSTC_INFO CARGO_CACHE_AUTO_CLEAN_FREQUENCY CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS \
            CARGO_PROFILE_DEV_DEBUG CARGO_PROFILE_DEV_OPT_LEVEL CARGO_PROFILE_TEST_DEBUG \
            CARGO_PROFILE_TEST_OPT_LEVEL CARGO_PROFILE_RELEASE_DEBUG CARGO_PROFILE_RELEASE_LTO \
            CARGO_PROFILE_RELEASE_OPT_LEVEL CARGO_PROFILE_RELEASE_CODEGEN_UNITS CARGO_PROFILE_RELEASE_STRIP \
            RUSTUP_MAX_RETRIES RUSTUP_TERM_COLOR RUSTUP_LOG \
            RUSTUP_IO_THREADS RUSTUP_PERMIT_COPY_RENAME RUSTUP_AUTO_INSTALL RUSTUP_NO_BACKTRACE \
            NEXTEST_PROFILE NEXTEST_RETRIES NEXTEST_TEST_THREADS NEXTEST_NO_CAPTURE NEXTEST_NO_TESTS \
            NEXTEST_HIDE_PROGRESS_BAR NEXTEST_SHOW_PROGRESS NEXTEST_STATUS_LEVEL \
            NEXTEST_FINAL_STATUS_LEVEL NEXTEST_FAILURE_OUTPUT NEXTEST_SUCCESS_OUTPUT NEXTEST_VERBOSE \
            NEXTEST_EXPERIMENTAL_LIBTEST_JSON INSTA_UPDATE INSTA_OUTPUT INSTA_FORCE_PASS \
            TRYBUILD SQLX_OFFLINE CLIPPY_DISABLE_DOCS_LINKS",
        accepts: &[
            ("SQLX_OFFLINE_DIR", Output),
            ("MIRIFLAGS", Options(MIRIFLAGS)),
        ],
        ..Group::NONE
    },
];
