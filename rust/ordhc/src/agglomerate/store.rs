//! The working memory of an agglomeration: its own memory, or the caller's memory.

use std::ops::{Deref, DerefMut};

use crate::error::Result;
use crate::memory::Buffer;

#[derive(Debug)]
pub(crate) enum Store<'a> {
    Own(Buffer<f64>),
    Borrowed(&'a mut [f64]),
}

impl Store<'_> {
    pub(crate) fn zeros(len: usize) -> Result<Self> {
        Ok(Self::Own(Buffer::zeros("the working matrix", len)?))
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Self::Own(buffer) => buffer.truncate(len),
            Self::Borrowed(values) => {
                let all = std::mem::take(values);
                let len = len.min(all.len());
                *values = &mut all[..len];
            }
        }
    }
}

impl Deref for Store<'_> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Own(buffer) => buffer,
            Self::Borrowed(values) => values,
        }
    }
}

impl DerefMut for Store<'_> {
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Own(buffer) => buffer,
            Self::Borrowed(values) => values,
        }
    }
}
