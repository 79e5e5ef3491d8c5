//! Who vouches for services with encrypted connections.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Authorities that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the authorities for webhooks cannot be read: {problem}")]
pub struct InvalidAuthorities {
    problem: String,
}

/// Adds the authorities of a text in PEM.
pub(super) fn add(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), InvalidAuthorities> {
    let wrong = |problem: String| InvalidAuthorities { problem };
    let mut found = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        found.push(certificate.map_err(|error| wrong(error.to_string()))?);
    }
    if found.is_empty() {
        return Err(wrong("there is no certificate in PEM".to_owned()));
    }
    // Bundles of systems are old and large; one odd certificate among hundreds is passed over.
    let (added, ignored) = roots.add_parsable_certificates(found);
    tracing::debug!(added, ignored, "authorities for webhooks were read");
    match added {
        0 => Err(wrong(
            "no certificate in it is one of an authority".to_owned(),
        )),
        _ => Ok(()),
    }
}
