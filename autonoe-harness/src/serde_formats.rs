//! Serialisation of values without a serde format of their own.

/// Serialises a strategy by its `type`.
pub(crate) mod strategy {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::strategy::Strategy;

    pub(crate) fn serialize<S: Serializer>(
        it: &Arc<dyn Strategy>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        (**it).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<dyn Strategy>, D::Error> {
        Box::<dyn Strategy>::deserialize(from).map(Arc::from)
    }
}

/// Defines a module that serialises durations, and optional ones, as whole numbers of a unit.
macro_rules! duration_format {
    ($(#[$attribute:meta])* $name:ident, $to_number:expr, $from_number:expr) => {
        $(#[$attribute])*
        pub(crate) mod $name {
            use std::time::Duration;

            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(crate) fn serialize<S: Serializer>(
                time: &Duration,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                $to_number(time).serialize(to)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<Duration, D::Error> {
                u64::deserialize(from).map($from_number)
            }

            /// Serialises an optional duration.
            pub(crate) mod option {
                use super::*;

                pub(crate) fn serialize<S: Serializer>(
                    time: &Option<Duration>,
                    to: S,
                ) -> Result<S::Ok, S::Error> {
                    time.as_ref().map($to_number).serialize(to)
                }

                pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                    from: D,
                ) -> Result<Option<Duration>, D::Error> {
                    Ok(Option::<u64>::deserialize(from)?.map($from_number))
                }
            }
        }
    };
}

duration_format!(
    /// Serialises a duration in milliseconds.
    millis,
    |time: &Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    Duration::from_millis
);
duration_format!(
    /// Serialises a duration in seconds.
    #[cfg(feature = "sqlite")]
    seconds,
    Duration::as_secs,
    Duration::from_secs
);
