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
