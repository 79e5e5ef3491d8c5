//! Escalations to a service, by HTTP.

mod authorities;
mod event;
mod key;
mod notifier;
mod policy;
mod post;

pub use self::authorities::InvalidAuthorities;
pub use self::event::{WebhookEvent, WebhookTarget};
pub use self::key::{InvalidSigningKey, SigningKey, SigningKeys};
pub use self::notifier::WebhookNotifier;
pub use self::policy::DeliveryPolicy;
