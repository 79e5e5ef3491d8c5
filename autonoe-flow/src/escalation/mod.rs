//! Escalations: notify an outside party that a step has failed for good.

#[cfg(feature = "webhook")]
mod delivery;
mod notifier;
#[cfg(feature = "webhook")]
mod signing_key;
#[cfg(feature = "webhook")]
mod webhook;

#[cfg(feature = "webhook")]
pub use self::delivery::DeliveryPolicy;
pub(crate) use self::notifier::address_problem;
pub use self::notifier::{LogNotifier, Notice, NoticeFailure, Notifier, Notifiers};
#[cfg(feature = "webhook")]
pub use self::signing_key::{InvalidSigningKey, SigningKey, SigningKeys};
#[cfg(feature = "webhook")]
pub use self::webhook::{WebhookEvent, WebhookNotifier, WebhookTarget};
