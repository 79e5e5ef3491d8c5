//! Escalations: notify an outside party that a step has failed for good.

mod address;
mod notifier;
#[cfg(feature = "webhook")]
mod webhook;

pub(crate) use self::address::address_problem;
pub use self::notifier::{LogNotifier, Notice, NoticeFailure, Notifier, Notifiers};
#[cfg(feature = "webhook")]
pub use self::webhook::{
    DeliveryPolicy, InvalidSigningKey, SigningKey, SigningKeys, WebhookEvent, WebhookNotifier,
    WebhookTarget,
};
