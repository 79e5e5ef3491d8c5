//! Subscription limits in response headers.

use hyper::HeaderMap;
use jiff::Timestamp;

use crate::model_server::headers::scripted_header;
use crate::model_server::{Refusal, ScriptedMessage};

/// Prefix of all headers about the limits of a subscription.
const PREFIX: &str = "anthropic-ratelimit-unified";

/// The limits of a subscription, as the headers of a response report them.
///
/// A program that uses an API key ignores them.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::{
///     Claim, LimitWindow, RateLimits, Refusal, ScriptedMessage, Turn,
/// };
///
/// let resets_at = "2026-11-15T14:00:00Z".parse()?;
/// let spent = Turn::from(Refusal::quota(&RateLimits::rejected(Claim::FiveHour, resets_at)));
/// let nearly = ScriptedMessage::new()
///     .says("I go on.")
///     .with_rate_limits(&RateLimits::warning(LimitWindow::FiveHour, 0.92, resets_at));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RateLimits {
    status: &'static str,
    claim: Option<Claim>,
    resets_at: Option<Timestamp>,
    figures: Vec<Figure>,
}

/// The limit that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// The five-hour limit: `five_hour`.
    FiveHour,
    /// The weekly limit: `seven_day`.
    SevenDay,
    /// The weekly limit for Opus: `seven_day_opus`.
    SevenDayOpus,
    /// The weekly limit for Sonnet: `seven_day_sonnet`.
    SevenDaySonnet,
    /// Paid usage beyond the subscription: `overage`.
    Overage,
    /// Any other value.
    Other(String),
}

/// A limit for which headers report utilization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitWindow {
    /// The five-hour limit.
    FiveHour,
    /// The weekly limit.
    SevenDay,
    /// Paid usage beyond the subscription.
    Overage,
}

#[derive(Clone, Debug, PartialEq)]
struct Figure {
    window: LimitWindow,
    utilization: f64,
    resets_at: Timestamp,
    status: &'static str,
    surpassed: Option<f64>,
}

impl RateLimits {
    /// Reports that requests are allowed, without details of a single limit.
    pub const fn allowed() -> Self {
        Self::with_status("allowed", None, None)
    }

    /// Reports a limit with this `utilization` (1 is all of it), which exceeds nine tenths.
    pub fn warning(window: LimitWindow, utilization: f64, resets_at: Timestamp) -> Self {
        let figure = Figure {
            window,
            utilization,
            resets_at,
            status: "allowed_warning",
            surpassed: Some(0.9),
        };
        Self {
            figures: vec![figure],
            ..Self::with_status("allowed_warning", Some(window.claim()), Some(resets_at))
        }
    }

    /// Reports a limit that is exhausted until `resets_at`.
    pub const fn rejected(claim: Claim, resets_at: Timestamp) -> Self {
        Self::with_status("rejected", Some(claim), Some(resets_at))
    }

    /// Reports rejected requests without naming a limit of the subscription.
    pub const fn rejected_without_claim(resets_at: Timestamp) -> Self {
        Self::with_status("rejected", None, Some(resets_at))
    }

    /// Omits the reset time.
    #[must_use]
    pub fn without_reset(mut self) -> Self {
        self.resets_at = None;
        self
    }

    /// Adds the utilization of another limit.
    #[must_use]
    pub fn with_window(
        mut self,
        window: LimitWindow,
        utilization: f64,
        resets_at: Timestamp,
    ) -> Self {
        let status = match utilization {
            spent if spent >= 1.0 => "rejected",
            _ => "allowed",
        };
        self.figures.push(Figure {
            window,
            utilization,
            resets_at,
            status,
            surpassed: None,
        });
        self
    }

    /// Returns the headers.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut insert = |name: &str, value: &str| {
            let (name, value) = scripted_header(&format!("{PREFIX}-{name}"), value);
            headers.insert(name, value);
        };
        insert("status", self.status);
        if let Some(claim) = &self.claim {
            insert("representative-claim", claim.as_str());
        }
        if let Some(resets_at) = self.resets_at {
            insert("reset", &resets_at.as_second().to_string());
        }
        for figure in &self.figures {
            let window = figure.window.as_str();
            let resets_at = figure.resets_at.as_second().to_string();
            insert(&format!("{window}-status"), figure.status);
            insert(&format!("{window}-reset"), &resets_at);
            insert(
                &format!("{window}-utilization"),
                &figure.utilization.to_string(),
            );
            if let Some(threshold) = figure.surpassed {
                insert(
                    &format!("{window}-surpassed-threshold"),
                    &threshold.to_string(),
                );
            }
        }
        headers
    }

    const fn with_status(
        status: &'static str,
        claim: Option<Claim>,
        resets_at: Option<Timestamp>,
    ) -> Self {
        Self {
            status,
            claim,
            resets_at,
            figures: Vec::new(),
        }
    }
}

impl ScriptedMessage {
    /// Adds Anthropic's headers with the usage of a subscription.
    #[must_use]
    pub fn with_rate_limits(mut self, limits: &RateLimits) -> Self {
        self.headers.extend(limits.headers());
        self
    }
}

impl Refusal {
    /// 429: a limit of the subscription is exhausted, as reported in Anthropic's headers.
    pub fn quota(limits: &RateLimits) -> Self {
        let mut refusal = Self::rate_limited();
        refusal.headers.extend(limits.headers());
        refusal
    }
}

impl Claim {
    /// Returns the value used by the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::FiveHour => "five_hour",
            Self::SevenDay => "seven_day",
            Self::SevenDayOpus => "seven_day_opus",
            Self::SevenDaySonnet => "seven_day_sonnet",
            Self::Overage => "overage",
            Self::Other(word) => word,
        }
    }
}

impl LimitWindow {
    /// Returns the name of the window in its headers.
    fn as_str(self) -> &'static str {
        match self {
            Self::FiveHour => "5h",
            Self::SevenDay => "7d",
            Self::Overage => "overage",
        }
    }

    fn claim(self) -> Claim {
        match self {
            Self::FiveHour => Claim::FiveHour,
            Self::SevenDay => Claim::SevenDay,
            Self::Overage => Claim::Overage,
        }
    }
}
