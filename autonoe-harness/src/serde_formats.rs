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

/// Serialises a duration in whole seconds.
#[cfg(feature = "sqlite")]
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        time.as_secs().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }

    /// Serialises an optional duration.
    pub(crate) mod option {
        use super::*;

        pub(crate) fn serialize<S: Serializer>(
            time: &Option<Duration>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            time.as_ref().map(Duration::as_secs).serialize(to)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Duration>, D::Error> {
            Ok(Option::<u64>::deserialize(from)?.map(Duration::from_secs))
        }
    }
}
