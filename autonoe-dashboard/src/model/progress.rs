//! [`Progress`]: share of work that is done.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of work that is done: a number from 0 to 1.
///
/// ```
/// use autonoe_dashboard::Progress;
///
/// assert_eq!(Progress::new(0.999).to_string(), "99%");
/// assert_eq!(Progress::new(7.0), Progress::DONE);
/// assert_eq!(Progress::new(f64::NAN), Progress::NONE);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "f64", into = "f64")]
#[schemars(extend("minimum" = 0, "maximum" = 1))]
pub struct Progress(f64);

impl Progress {
    /// Nothing is done.
    pub const NONE: Self = Self(0.0);
    /// Everything is done.
    pub const DONE: Self = Self(1.0);

    /// Creates a progress. Values outside of the range are clamped, and NaN becomes
    /// [`NONE`](Self::NONE).
    pub fn new(share: f64) -> Self {
        if share.is_nan() {
            Self::NONE
        } else {
            Self(share.clamp(0.0, 1.0))
        }
    }

    /// Returns the number, from 0 to 1.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Returns whole percents, rounded down: 100 only if everything is done.
    pub fn percent(self) -> u8 {
        // The value is between 0 and 100, so the cast is lossless.
        (self.0 * 100.0).floor() as u8
    }
}

impl From<f64> for Progress {
    fn from(share: f64) -> Self {
        Self::new(share)
    }
}

impl From<Progress> for f64 {
    fn from(progress: Progress) -> Self {
        progress.0
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", self.percent()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_snapshot_of_others_cannot_go_beyond_the_ends() {
        for (json, percent) in [("0.5", 50), ("-1", 0), ("1e300", 100), ("1", 100)] {
            let read: Progress = serde_json::from_str(json).expect(json);
            assert_eq!(read.percent(), percent, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_number_is_from_0_to_1_and_100_only_when_it_is_done(number in any::<f64>()) {
            let progress = Progress::new(number);

            prop_assert!((0.0..=1.0).contains(&progress.share()));
            prop_assert_eq!(progress.percent() == 100, progress == Progress::DONE);
        }
    }
}
