//! The variables that may not be set.

/// Names that change which programs run, or what they load, in order.
///
/// Some are not in the first list of the policy; the policy document says why they are here.
const PROTECTED: &[&str] = &[
    "AR",
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "COMPOSER_HOME",
    "CURL_CA_BUNDLE",
    "CXX",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GNUPGHOME",
    "GOCACHEPROG",
    "GOENV",
    "GOFLAGS",
    "GOROOT",
    "GOTOOLCHAIN",
    "HISTCMD",
    "HISTFILE",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFLAGS",
    "MANPAGER",
    "NLSPATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "OPTIND",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PKG_CONFIG",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "RANDOM",
    "REQUESTS_CA_BUNDLE",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTFMT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SECONDS",
    "SHELL",
    "SHELLOPTS",
    "SRANDOM",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
    "TMPDIR",
    "VISUAL",
    "_JAVA_OPTIONS",
];

const PROTECTED_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_",
    "GIT_",
    "SSH_",
    "PIP_",
    "UV_",
    "XDG_",
    "RUSTC_",
    "CARGO_ALIAS_",
    "CARGO_BUILD_",
    "CARGO_CREDENTIAL",
    "CARGO_DOC_",
    "CARGO_REGISTR",
    "CARGO_TARGET_",
    "CGO_",
];

/// Prefixes that count in any letter case, because that is how their tools read them.
const PREFIXES_IN_ANY_CASE: &[&str] = &["npm_config_", "pnpm_config_", "yarn_"];

const PROXIES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ftp_proxy",
];

/// Tells whether nobody may set the variable `name`, but for harmless values.
pub(crate) fn is_protected(name: &str) -> bool {
    PROTECTED.binary_search(&name).is_ok()
        || PROTECTED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || PREFIXES_IN_ANY_CASE.iter().any(|prefix| {
            let start = name.get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        })
        || PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for name in PROTECTED {
            assert!(is_protected(name), "{name}");
        }
        for prefix in PROTECTED_PREFIXES {
            assert!(is_protected(&format!("{prefix}X")), "{prefix}");
        }
        for name in [
            "https_proxy",
            "HTTPS_PROXY",
            "Ftp_Proxy",
            "NPM_CONFIG_X",
            "Npm_Config_X",
            "yarn_X",
        ] {
            assert!(is_protected(name), "{name}");
        }
        for name in ["", "A", "Path", "PATHS", "PROXY", "X_LD_"] {
            assert!(!is_protected(name), "{name}");
        }
    }
}
