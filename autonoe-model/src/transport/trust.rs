//! Whom encrypted connections trust, as a configuration says it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Authorities;
use super::authorities::{add_file, add_pem, add_system};

/// Where systems have all their authorities in one file, the more common ones first.
const BUNDLES: [&str; 7] = [
    // Debian, Ubuntu, Arch, Gentoo
    "/etc/ssl/certs/ca-certificates.crt",
    // Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    // openSUSE
    "/etc/ssl/ca-bundle.pem",
    // Alpine, macOS, OpenBSD
    "/etc/ssl/cert.pem",
    // FreeBSD
    "/usr/local/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// Where they have one file for each.
const DIRECTORIES: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// Whom encrypted connections trust: the authorities that may vouch for a server.
///
/// Left out, those of the system: the bundle of its administrator, or what `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` name in the environment that the caller hands over. The process's own
/// environment is never looked at. A company whose proxy looks into connections names its
/// own authority besides.
///
/// ```
/// use autonoe_model::{ProviderContext, Trust, provider_spec};
/// use serde_json::json;
///
/// let spec = provider_spec(&json!({
///     "type": "anthropic",
///     "key": "none",
///     "trust": {"files": ["/etc/company/authority.pem"], "system": "ignored"},
/// }))?;
///
/// let error = spec.build(&ProviderContext::new("work")).expect_err("it is not there");
/// assert!(error.message.contains("/etc/company/authority.pem cannot be read"));
///
/// let in_code = Trust::default().with_file("/etc/company/authority.pem");
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Trust {
    /// Whether the authorities of the system count.
    pub system: SystemAuthorities,
    /// Files with certificates of further authorities, in PEM.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// Certificates of further authorities themselves, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pem: Option<String>,
}

/// Whether the authorities of the system count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SystemAuthorities {
    /// They do.
    #[default]
    Trusted,
    /// They do not: only those that are named.
    Ignored,
}

impl Trust {
    /// Trusts the authorities of a file besides.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Trusts these authorities besides.
    #[must_use]
    pub fn with_pem(mut self, pem: impl Into<String>) -> Self {
        self.pem = Some(pem.into());
        self
    }

    /// Sets whether the authorities of the system count.
    #[must_use]
    pub fn with_system(mut self, system: SystemAuthorities) -> Self {
        self.system = system;
        self
    }

    /// Returns the file with the authorities of the system: the one that `SSL_CERT_FILE` names in
    /// `environment`, or the first of the known bundles that is there.
    pub fn system_bundle(environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
        system_places(environment, Path::exists).0
    }

    /// Says the same with files that are found from everywhere.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        for file in &mut self.files {
            *file = folder.join(&*file);
        }
        self
    }

    /// Reads the authorities. `environment` says where the system has its own.
    ///
    /// # Errors
    ///
    /// A sentence: what somebody named cannot be read, or nobody is left to trust.
    pub(crate) fn read(
        &self,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Authorities, String> {
        let mut roots = RootCertStore::empty();
        for file in &self.files {
            if !file.is_absolute() {
                return Err(format!("{} is relative to nothing", file.display()));
            }
            add_file(&mut roots, file)?;
        }
        if let Some(pem) = &self.pem {
            add_pem(&mut roots, pem.as_bytes()).map_err(|problem| format!("`pem` {problem}"))?;
        }
        if self.system == SystemAuthorities::Trusted {
            let (file, directory) = system_places(environment, Path::exists);
            let added = add_system(&mut roots, file.as_deref(), directory.as_deref());
            // Whoever named others can do without.
            if roots.is_empty() {
                added?;
            }
        }
        match roots.is_empty() {
            true => Err("nobody is named, and the system is ignored".to_owned()),
            false => Ok(Authorities::new(roots)),
        }
    }
}

/// Says where the system has its authorities: the file, the directory.
fn system_places(
    environment: &BTreeMap<OsString, OsString>,
    exists: impl Fn(&Path) -> bool,
) -> (Option<PathBuf>, Option<PathBuf>) {
    let named = |name: &str| environment.get(OsStr::new(name)).map(PathBuf::from);
    let named = (named("SSL_CERT_FILE"), named("SSL_CERT_DIR"));
    if named != (None, None) {
        return named;
    }
    let first = |places: &[&str]| places.iter().map(PathBuf::from).find(|it| exists(it));
    match first(&BUNDLES) {
        Some(bundle) => (Some(bundle), None),
        None => (None, first(&DIRECTORIES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_names_comes_before_the_known_places() {
        let bundle = "/etc/ssl/cert.pem";
        let directory = "/etc/ssl/certs";
        type Case<'a> = (
            &'a [(&'a str, &'a str)],
            &'a [&'a str],
            [Option<&'a str>; 2],
        );
        let cases: [Case<'_>; 6] = [
            (&[], &[], [None, None]),
            (&[], &[bundle, directory], [Some(bundle), None]),
            (&[], &[directory], [None, Some(directory)]),
            (&[("SSL_CERT_FILE", "/a")], &[bundle], [Some("/a"), None]),
            (&[("SSL_CERT_DIR", "/d")], &[bundle], [None, Some("/d")]),
            (
                &[("SSL_CERT_FILE", "/a"), ("SSL_CERT_DIR", "/d")],
                &[],
                [Some("/a"), Some("/d")],
            ),
        ];
        for (variables, there, [file, place]) in cases {
            let environment = variables.iter().map(|(k, v)| (k.into(), v.into()));

            let found = system_places(&environment.collect(), |path| {
                there.iter().any(|it| Path::new(it) == path)
            });

            let expected = (file.map(PathBuf::from), place.map(PathBuf::from));
            assert_eq!(found, expected, "{variables:?} {there:?}");
        }
    }

    #[test]
    fn nobody_is_trusted_by_mistake() {
        let trust = Trust::default().with_system(SystemAuthorities::Ignored);
        for (trust, expected) in [
            (trust.clone(), "nobody is named"),
            (
                trust.clone().with_file("ca.pem"),
                "ca.pem is relative to nothing",
            ),
            (
                trust.clone().with_file("/no/ca.pem"),
                "/no/ca.pem cannot be read",
            ),
            (
                trust.with_pem("no certificate"),
                "`pem` holds no certificate",
            ),
        ] {
            let problem = trust.read(&BTreeMap::new()).expect_err("nobody");
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn a_file_that_the_environment_names_must_be_there() {
        let environment = [("SSL_CERT_FILE".into(), "/no/bundle.pem".into())].into();

        let problem = Trust::default().read(&environment).expect_err("it is not");

        assert!(problem.contains("/no/bundle.pem"), "{problem}");
    }
}
