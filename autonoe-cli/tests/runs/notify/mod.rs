//! Notifications about runs and flows.

mod channels;
mod events;
mod webhooks;

use serde_json::Value;

use crate::runs::support::script::Script;
use crate::runs::telemetry::receiver::Receiver;

/// A limit of which the six sessions of [`nearly_spends`] use 80 % before the last one.
const LIMIT: &str = "--max-cost=1.55";

/// A run of six sessions, which costs 1.50 dollars.
fn nearly_spends() -> Script {
    let ids = ["DL-001", "DL-002", "DL-003", "DL-004", "DL-005"];
    let planned = Script::new().plans(&ids);
    ids.iter().fold(planned, |script, id| script.passes(&[id]))
}

/// Returns the alerts that a receiver has got.
fn alerts(service: &Receiver) -> Vec<Value> {
    let requests = service.requests();
    let bodies = requests.iter().map(|request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        body["data"].clone()
    });
    bodies.collect()
}

/// Returns the kinds of the alerts that a receiver has got.
fn kinds(service: &Receiver) -> Vec<String> {
    let alerts = alerts(service).into_iter();
    let kinds = alerts.map(|alert| alert["type"].as_str().expect("text").to_owned());
    kinds.collect()
}
