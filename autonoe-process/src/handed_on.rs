//! The markers that this program was started with and hands on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Marker;

static HANDED_ON: Mutex<Vec<Marker>> = Mutex::new(Vec::new());

fn handed_on() -> MutexGuard<'static, Vec<Marker>> {
    HANDED_ON.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the markers that every child gets beside its own.
pub(crate) fn markers() -> Vec<Marker> {
    handed_on().clone()
}

/// Has every child get `marker` from now on, in place of another of that name.
pub(crate) fn add(marker: Marker) {
    let mut markers = handed_on();
    markers.retain(|other| other.name() != marker.name());
    markers.push(marker);
}
