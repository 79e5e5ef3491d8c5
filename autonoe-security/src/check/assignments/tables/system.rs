//! The shell, libraries that every program loads, and the commands of every project.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    Anything, AnythingKnown, Locale, Name, NoProgram, Number, Options, Output, TimeZone, Word,
};

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "PATH IFS CDPATH HOME ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS4 \
            GLOBIGNORE EXECIGNORE HISTFILE HISTCMD INPUTRC SHELL SRANDOM ZDOTDIR POSIXLY_CORRECT \
            TEXTDOMAIN TEXTDOMAINDIR BROWSER",
        prefixes: "BASH_",
        accepts: &[
            ("RANDOM OPTIND SECONDS", Number),
            ("LC_ALL LC_CTYPE LANG", Locale),
            (
                "LC_COLLATE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME",
                Locale,
            ),
            ("LANGUAGE", Word),
            ("PAGER MANPAGER EDITOR VISUAL", NoProgram),
            ("TMPDIR", Output),
        ],
        ..Group::NONE
    },
    Group {
        reason: "temporary files are written there",
        reach: Reach::Exported,
        names: "TMP TEMP TEMPDIR TMPPREFIX",
        ..Group::NONE
    },
    Group {
        reason: "programs read a file or run the program that it names",
        reach: Reach::Exported,
        names: "SYSTEM",
        prefixes: "MOST_ BAT_ DELTA_",
        accepts: &[("TZ", TimeZone), ("TERM", Name)],
        ..Group::NONE
    },
    Group {
        reason: "programs append to the file that it names",
        accepts: &[(
            "GITHUB_STEP_SUMMARY GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STATE",
            Output,
        )],
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "the dynamic loader or the C library loads or writes the files that it names",
        names: "GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES GETCONF_DIR TZDIR I18NPATH MALLOC_TRACE \
            HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_HOST_CONF NIS_PATH DATEMSK ZONEINFO \
            MEMUSAGE_OUTPUT MEMUSAGE_PROG_NAME SEGFAULT_OUTPUT_NAME PCPROFILE_OUTPUT \
            TERMINFO TERMINFO_DIRS TERMCAP TERMPATH MAGIC",
        prefixes: "LD_ DYLD_ SOTRUSS_ LIBC_ DEBUGINFOD_",
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "it sets the trusted keys, the modules or the log file of encrypted connections",
        names: "SSL_CERT_FILE SSL_CERT_DIR SSL_CLIENT_CERT SSL_DIR SSLKEYLOGFILE SSLEAY_CONF \
            NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED REQUESTS_CA_BUNDLE CURL_CA_BUNDLE \
            CTLOG_FILE RANDFILE QLOGDIR GNUPGHOME GPG_AGENT_INFO NETRC",
        free: "OPENSSL_NO_VENDOR OPENSSL_STATIC",
        prefixes: "OPENSSL_ OSSL_ GNUTLS_ NSS_ P11_KIT_ KRB5 GSSAPI_ GSS_",
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "an interpreter that other programs start loads or runs it",
        names: "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH JAVA_OPTS GRADLE_OPTS \
            MAVEN_OPTS ANT_OPTS LUA_INIT LUA_PATH LUA_CPATH TCLLIBPATH R_PROFILE R_PROFILE_USER",
        prefixes: "PERL DOTNET_STARTUP CORECLR_ COR_ LUA_INIT_ LUA_PATH_ LUA_CPATH_",
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "git runs the programs and uses the files that it names",
        prefixes: "GIT_ SSH_ XDG_",
        names: "GITPERLLIB",
        accepts: &[
            ("GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR", NoProgram),
            (
                "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME \
                 GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE",
                Anything,
            ),
            (
                "GIT_TERMINAL_PROMPT GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS",
                AnythingKnown,
            ),
        ],
        ..Group::NONE
    },
    Group {
        reason: "man formats pages with the programs, options and files that it names",
        names: "MANPATH MANROFFOPT MANROFFSEQ MANOPT MANSECT MANLESS MAN_PN MANDATORY_MANPATH \
            PIPELINE_DEBUG PIPELINE_QUIET INFOPATH",
        prefixes: "MAN_ GROFF_ NROFF TROFF",
        accepts: &[("MANWIDTH", Number)],
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "a pager runs the programs, reads the options and writes the files that it names",
        names: "MORE",
        prefixes: "LESS",
        accepts: &[(
            "LESS",
            Options(words!("-R -F -X -S -i -M -FRX -FRSX -FR -RX FRX FRSX -r R")),
        )],
        ..Group::NONE
    },
    Group {
        reason: "it adds options to commands, or names files that they load or write",
        names: "RIPGREP_CONFIG_PATH GREP_OPTIONS AWKPATH AWKLIBPATH AWKREADFUNC AWK_HASH \
            CURL_HOME CURL_SSL_BACKEND SIMPLE_BACKUP_SUFFIX VERSION_CONTROL TAR_OPTIONS TAPE GZIP \
            XZ_OPT XZ_DEFAULTS BZIP BZIP2 ZIPOPT UNZIP UNZIPOPT ZIPINFO RSYNC_RSH PS_FORMAT PS_PERSONALITY CMD_ENV \
            I_WANT_A_BROKEN_PS UNIX95 LIBPROC_HIDE_KERNEL JQ_LIBRARY_PATH TREE_OPTS SQLITE_TMPDIR \
            SQLITE_HISTORY PGHOSTADDR PGSERVICE PGSERVICEFILE PGSYSCONFDIR",
        prefixes: "GAWK LSOF RSYNC_ ZSTD_ PROCPS_ REDISCLI_",
        accepts: &[("PS_COLORS", Word)],
        ..Group::NONE
    },
    Group {
        reason: "zip reads options from it",
        reach: Reach::Exported,
        names: "ZIP",
        ..Group::NONE
    },
];
