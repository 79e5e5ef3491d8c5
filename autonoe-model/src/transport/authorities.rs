//! Authorities whose word on certificates counts.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_native_certs::load_certs_from_paths;

/// Far more than all authorities of the world need.
const LARGEST_FILE: u64 = 8 << 20;

/// Authorities that were read and are trusted. Clones share them.
#[derive(Clone)]
pub(crate) struct Authorities(Arc<RootCertStore>);

impl Authorities {
    /// Trusts nobody: no encrypted connection can be made, a plain one can.
    pub(crate) fn none() -> Self {
        Self(Arc::new(RootCertStore::empty()))
    }

    /// Trusts whom `found` has.
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

/// Adds those of a bundle or a directory of the system. What cannot be read of them is passed
/// over, since nobody here chose them one by one.
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
        (0, Some(error)) => Err(format!("those of the system cannot be read: {error}")),
        (0, None) => Err("the system has none".to_owned()),
        _ => Ok(()),
    }
}

/// Adds those of a file that somebody named.
///
/// # Errors
///
/// It cannot be read, or something in it is no certificate.
pub(super) fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut pem = Vec::new();
        File::open(path)?.take(LARGEST_FILE).read_to_end(&mut pem)?;
        Ok(pem)
    };
    let pem = read().map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    add_pem(roots, &pem).map_err(|problem| format!("{} {problem}", path.display()))
}

/// Adds those of a text that somebody gave.
///
/// # Errors
///
/// Something in it is no certificate.
pub(super) fn add_pem(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), String> {
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        count += 1;
        let added = certificate
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
        added.map_err(|error| format!("has no certificate at place {count}: {error}"))?;
    }
    match count {
        0 => Err("holds no certificate in PEM".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_told_with_its_place() {
        let none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (pem, expected) in [
            ("", "holds no certificate in PEM"),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                "holds no",
            ),
            (none, "has no certificate at place 1"),
            (
                "-----BEGIN CERTIFICATE-----\nAA",
                "has no certificate at place 1",
            ),
        ] {
            let mut roots = RootCertStore::empty();

            let problem = add_pem(&mut roots, pem.as_bytes()).expect_err("there is none");

            assert!(problem.contains(expected), "{problem}");
            assert!(roots.is_empty());
        }
    }

    #[test]
    fn a_system_without_any_is_told() {
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
