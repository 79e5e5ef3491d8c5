//! Escalations to an HTTP service.

mod key;
mod notifier;
mod policy;
mod post;

pub use self::key::{InvalidSigningKey, SigningKey, SigningKeys};
pub use self::notifier::{WebhookEvent, WebhookNotifier, WebhookTarget};
pub use self::policy::DeliveryPolicy;
