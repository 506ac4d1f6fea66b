//! The memory that agglomeration works in: its own, or the caller's.

use std::ops::{Deref, DerefMut};

use crate::error::Result;
use crate::memory::Buffer;
use crate::numbers::Held;

#[derive(Debug)]
pub(crate) enum Store<'a, V = f64> {
    Own(Buffer<V>),
    Lent(&'a mut [V]),
}

impl<V: Held> Store<'_, V> {
    pub(crate) fn zeros(len: usize) -> Result<Self> {
        Ok(Self::Own(Buffer::zeros("the working matrix", len)?))
    }

    /// Forgets all but the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Self::Own(buffer) => buffer.truncate(len),
            Self::Lent(values) => {
                let all = std::mem::take(values);
                let len = len.min(all.len());
                *values = &mut all[..len];
            }
        }
    }
}

impl<V> Default for Store<'_, V> {
    fn default() -> Self {
        Self::Lent(&mut [])
    }
}

impl<V: Held> Deref for Store<'_, V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match self {
            Self::Own(buffer) => buffer,
            Self::Lent(values) => values,
        }
    }
}

impl<V: Held> DerefMut for Store<'_, V> {
    fn deref_mut(&mut self) -> &mut [V] {
        match self {
            Self::Own(buffer) => buffer,
            Self::Lent(values) => values,
        }
    }
}
