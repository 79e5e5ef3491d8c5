//! What is left of a quota, and retries.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use super::lenient::{field, shape_of_object};

/// What the provider says is left of a quota. It comes in good times too.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateLimitEvent<'a> {
    /// `allowed`, `allowed_warning` or `rejected`.
    pub status: Option<Cow<'a, str>>,
    /// Which quota it is, for example `five_hour`.
    ///
    /// A rejection without one is the server protecting itself, not a quota.
    pub claim: Option<Cow<'a, str>>,
    /// When it comes back.
    pub resets_at: Option<Timestamp>,
    /// How much of it is used, from 0 to 1.
    pub utilization: Option<f64>,
}

impl RateLimitEvent<'_> {
    /// Tells whether a call did not get through.
    pub fn is_rejected(&self) -> bool {
        self.status.as_deref() == Some("rejected")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawEvent<'a> {
    #[serde(borrow, deserialize_with = "field")]
    rate_limit_info: Option<RawInfo<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawInfo<'a> {
    #[serde(borrow, deserialize_with = "field")]
    status: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    rate_limit_type: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "field")]
    resets_at: Option<u64>,
    #[serde(deserialize_with = "field")]
    utilization: Option<f64>,
}

shape_of_object!(RawInfo<'de>);

impl<'de> Deserialize<'de> for RateLimitEvent<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let info = RawEvent::deserialize(deserializer)?
            .rate_limit_info
            .unwrap_or_default();
        let second = |second| Timestamp::from_second(i64::try_from(second).ok()?).ok();
        Ok(Self {
            status: info.status,
            claim: info.rate_limit_type,
            resets_at: info.resets_at.and_then(second),
            utilization: info.utilization,
        })
    }
}

/// A call of the model failed and is made again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ApiRetry<'a> {
    /// Which retry it is, from 1.
    #[serde(deserialize_with = "field")]
    pub attempt: Option<u64>,
    /// How many there will be at most.
    #[serde(deserialize_with = "field")]
    pub max_retries: Option<u64>,
    /// How long it is waited before, in milliseconds; may have a fraction.
    #[serde(deserialize_with = "field")]
    pub retry_delay_ms: Option<f64>,
    /// The HTTP status; `None` if there was none.
    #[serde(deserialize_with = "field")]
    pub error_status: Option<u64>,
    /// What failed, for example `overloaded`.
    #[serde(borrow, deserialize_with = "field")]
    pub error: Option<Cow<'a, str>>,
}
