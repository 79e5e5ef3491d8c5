//! [`Trust`]: configuration of trusted certificate authorities.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_native_certs::load_certs_from_paths;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bundles of systems with all authorities in one file, most common first.
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

/// Directories of systems with one file per authority.
const DIRECTORIES: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// Certificate authorities that encrypted connections trust.
///
/// By default those of the system: its bundle, or the files in `SSL_CERT_FILE` and `SSL_CERT_DIR`
/// of the environment that the caller passes. The process's own environment is never read. A
/// company with an intercepting proxy adds its own authority.
///
/// ```
/// use autonoe_model::provider::{ProviderContext, provider_spec};
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
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Trust {
    /// Whether the authorities of the system are trusted.
    pub system: SystemAuthorities,
    /// PEM files with certificates of additional authorities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// Certificates of additional authorities in PEM format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pem: Option<String>,
}

/// Whether the authorities of the system are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SystemAuthorities {
    /// They are trusted.
    #[default]
    Trusted,
    /// They are not trusted, only the configured ones.
    Ignored,
}

impl Trust {
    /// Resolves relative paths against `folder`.
    #[doc(hidden)]
    #[must_use]
    pub fn resolve_in(mut self, folder: &Path) -> Self {
        for file in &mut self.files {
            *file = folder.join(&*file);
        }
        self
    }

    /// Loads the authorities. `environment` contains the location of the system's own.
    ///
    /// # Errors
    ///
    /// A sentence: a configured authority cannot be read, or there are no authorities.
    #[doc(hidden)]
    pub fn read(
        &self,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Arc<RootCertStore>, String> {
        let mut roots = RootCertStore::empty();
        for file in &self.files {
            if !file.is_absolute() {
                return Err(format!(
                    "{} is a relative path; write an absolute one",
                    file.display()
                ));
            }
            add_file(&mut roots, file)?;
        }
        if let Some(pem) = &self.pem {
            add_pem(&mut roots, pem.as_bytes()).map_err(|problem| format!("`pem` {problem}"))?;
        }
        if self.system == SystemAuthorities::Trusted {
            let (file, directory) = system_places(environment, Path::exists);
            let added = add_system(&mut roots, file.as_deref(), directory.as_deref());
            // With configured authorities, those of the system are optional.
            if roots.is_empty() {
                added?;
            }
        }
        if roots.is_empty() {
            Err(
                "no certificate authority is configured, and those of the system are ignored"
                    .to_owned(),
            )
        } else {
            Ok(Arc::new(roots))
        }
    }
}

/// Returns the file and the directory of the system's authorities.
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

/// Maximum size of a file in bytes, far more than all public authorities need.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Adds the authorities of a system bundle or directory. Unreadable certificates are skipped,
/// because the user did not select them individually.
///
/// # Errors
///
/// There are none.
pub(super) fn add_system(
    roots: &mut RootCertStore,
    file: Option<&Path>,
    directory: Option<&Path>,
) -> Result<(), String> {
    let loaded = load_certs_from_paths(file, directory);
    let (added, ignored) = roots.add_parsable_certificates(loaded.certs);
    tracing::debug!(
        added,
        ignored,
        "authorities of the system were read; {} problems",
        loaded.errors.len()
    );
    match (added, loaded.errors.first()) {
        (0, Some(error)) => Err(format!(
            "the certificate authorities of the system cannot be read: {error}"
        )),
        (0, None) => Err("the system has no certificate authorities".to_owned()),
        _ => Ok(()),
    }
}

/// Adds the authorities of a configured file.
///
/// # Errors
///
/// The file cannot be read, or contains an invalid certificate.
pub(super) fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut pem = Vec::new();
        File::open(path)?
            .take(MAX_FILE_BYTES)
            .read_to_end(&mut pem)?;
        Ok(pem)
    };
    let pem = read().map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    add_pem(roots, &pem).map_err(|problem| format!("{} {problem}", path.display()))
}

/// Adds the authorities of a configured text.
///
/// # Errors
///
/// The text contains an invalid certificate.
pub(super) fn add_pem(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), String> {
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        count += 1;
        let added = certificate
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
        added.map_err(|error| format!("has no valid certificate at position {count}: {error}"))?;
    }
    match count {
        0 => Err("contains no PEM certificate".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_precedes_default_certificate_paths() {
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
    fn unusable_trust_configuration_is_an_error() {
        let trust = Trust {
            system: SystemAuthorities::Ignored,
            ..Trust::default()
        };
        let with_file = |path: &str| Trust {
            files: vec![path.into()],
            ..trust.clone()
        };
        for (trust, expected) in [
            (trust.clone(), "no certificate authority is configured"),
            (with_file("ca.pem"), "ca.pem is a relative path"),
            (with_file("/no/ca.pem"), "/no/ca.pem cannot be read"),
            (
                Trust {
                    pem: Some("no certificate".to_owned()),
                    ..trust.clone()
                },
                "`pem` contains no PEM certificate",
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

    #[test]
    fn invalid_certificates_are_reported_with_position() {
        let none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (pem, expected) in [
            ("", "contains no PEM certificate"),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                "contains no",
            ),
            (none, "has no valid certificate at position 1"),
            (
                "-----BEGIN CERTIFICATE-----\nAA",
                "has no valid certificate at position 1",
            ),
        ] {
            let mut roots = RootCertStore::empty();

            let problem = add_pem(&mut roots, pem.as_bytes()).expect_err("there is none");

            assert!(problem.contains(expected), "{problem}");
            assert!(roots.is_empty());
        }
    }

    #[test]
    fn missing_system_certificates_are_an_error() {
        let place = tempfile::tempdir().expect("a directory");
        let missing = place.path().join("missing.pem");
        for (file, directory) in [
            (None, None),
            (Some(missing.as_path()), None),
            (None, Some(place.path())),
        ] {
            let mut roots = RootCertStore::empty();
            add_system(&mut roots, file, directory).expect_err("there is none");
        }
    }
}
