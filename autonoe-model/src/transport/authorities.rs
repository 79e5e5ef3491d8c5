//! [`Authorities`]: trusted certificate authorities.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_native_certs::load_certs_from_paths;

/// Maximum size of a file in bytes, far more than all public authorities need.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Loaded certificate authorities. Clones share them.
#[derive(Clone)]
pub(crate) struct Authorities(Arc<RootCertStore>);

impl Authorities {
    /// Trusts no authority: encrypted connections fail, and unencrypted ones work.
    pub(crate) fn none() -> Self {
        Self(Arc::new(RootCertStore::empty()))
    }

    /// Trusts these authorities.
    pub(super) fn new(found: RootCertStore) -> Self {
        Self(Arc::new(found))
    }

    pub(super) fn roots(self) -> Arc<RootCertStore> {
        self.0
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authorities").field(&self.0.len()).finish()
    }
}

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
