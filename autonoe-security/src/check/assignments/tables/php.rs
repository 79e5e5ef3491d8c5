//! PHP and its tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    Options, Output, ProjectPath, Word,
};

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "PHPRC PHP_INI_SCAN_DIR COMPOSER_HOME",
        ..Group::NONE
    },
    Group {
        reason: "PHP loads code or settings from it, or runs or writes what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "PHP_ PHPUNIT_ PHPSTAN_ __PHPSTAN PSALM_ PEST_ XDEBUG_ COMPOSER_ SYMFONY_ \
            INFECTION_ LSAPI_ PHIVE_ PHPCS_ LARAVEL_SAIL",
        names: "LSPHPRC GDFONTPATH XDEBUG_CONFIG COMPOSER_AUTH COMPOSER_BINARY COMPOSER_CACHE_DIR \
            COMPOSER_SKIP_SCRIPTS COMPOSER_MIRROR_PATH_REPOS TEST_PHP_EXECUTABLE USE_ZEND_DTRACE \
            APP_CONFIG_CACHE APP_EVENTS_CACHE APP_PACKAGES_CACHE APP_ROUTES_CACHE APP_SERVICES_CACHE \
            VIEW_COMPILED_PATH LARAVEL_STORAGE_PATH MAIL_SENDMAIL_PATH BEHAT_PARAMS",
        free: "PHP_CLI_SERVER_WORKERS PHP_CS_FIXER_IGNORE_ENV PHP_CS_FIXER_FUTURE_MODE PHP_ENV \
            PHP_IDE_CONFIG COMPOSER_NO_INTERACTION COMPOSER_ALLOW_SUPERUSER COMPOSER_MEMORY_LIMIT \
            COMPOSER_PROCESS_TIMEOUT COMPOSER_DISABLE_NETWORK COMPOSER_DISABLE_XDEBUG_WARN \
            COMPOSER_FUND COMPOSER_NO_DEV COMPOSER_NO_AUDIT COMPOSER_MAX_PARALLEL_HTTP \
            COMPOSER_IGNORE_PLATFORM_REQS COMPOSER_IGNORE_PLATFORM_REQ COMPOSER_ROOT_VERSION \
            COMPOSER_PREFER_STABLE COMPOSER_PREFER_LOWEST COMPOSER_AUDIT_ABANDONED \
            SYMFONY_ENV SYMFONY_DEBUG",
        accepts: &[
            ("COMPOSER", ProjectPath),
            (
                "SYMFONY_DEPRECATIONS_HELPER",
                Options(words!("disabled weak")),
            ),
            ("COMPOSER_VENDOR_DIR COMPOSER_BIN_DIR", Output),
            (
                "XDEBUG_MODE XDEBUG_SESSION XDEBUG_TRIGGER PHPUNIT_COMPACT_OUTPUT",
                Word,
            ),
        ],
        ..Group::NONE
    },
];
