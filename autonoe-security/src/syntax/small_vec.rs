//! [`SmallVec`], a list that stores a single element without allocating.

use std::ops::{Deref, DerefMut};

/// A list that stores a single element without allocating.
///
/// Most words have one part and most pipelines one command.
///
/// ```
/// use autonoe_security::syntax::SmallVec;
///
/// let few: SmallVec<u8> = [1, 2].into_iter().collect();
/// assert_eq!(few[..], [1, 2]);
/// assert!(SmallVec::<u8>::default().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallVec<T>(Inner<T>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Inner<T> {
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> SmallVec<T> {
    /// Appends `item`.
    #[inline]
    pub fn push(&mut self, item: T) {
        if matches!(self.0, Inner::None) {
            self.0 = Inner::One(item);
        } else {
            self.push_another(item);
        }
    }

    fn push_another(&mut self, item: T) {
        if let Inner::Many(items) = &mut self.0 {
            items.push(item);
            return;
        }
        self.0 = match std::mem::replace(&mut self.0, Inner::None) {
            Inner::One(first) => Inner::Many(vec![first, item]),
            _ => Inner::One(item),
        };
    }

    /// Returns the last element for modification.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        match &mut self.0 {
            Inner::None => None,
            Inner::One(item) => Some(item),
            Inner::Many(items) => items.last_mut(),
        }
    }
}

impl<T> Default for SmallVec<T> {
    fn default() -> Self {
        Self(Inner::None)
    }
}

impl<T> From<T> for SmallVec<T> {
    fn from(item: T) -> Self {
        Self(Inner::One(item))
    }
}

impl<T> Deref for SmallVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::None => &[],
            Inner::One(item) => std::slice::from_ref(item),
            Inner::Many(items) => items,
        }
    }
}

impl<T> DerefMut for SmallVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Inner::None => &mut [],
            Inner::One(item) => std::slice::from_mut(item),
            Inner::Many(items) => items,
        }
    }
}

impl<T> FromIterator<T> for SmallVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut few = Self::default();
        for item in items {
            few.push(item);
        }
        few
    }
}

impl<T> IntoIterator for SmallVec<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        match self.0 {
            Inner::None => Vec::new().into_iter(),
            Inner::One(item) => vec![item].into_iter(),
            Inner::Many(items) => items.into_iter(),
        }
    }
}

impl<'a, T> IntoIterator for &'a SmallVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
