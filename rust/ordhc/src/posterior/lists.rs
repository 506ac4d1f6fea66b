//! A list of items for each node or leaf.

use crate::error::Result;
use crate::memory;

/// A list of items for each owner (a node or a leaf). All lists are in one vector.
#[derive(Debug, Clone)]
pub(super) struct Lists<T> {
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Returns empty lists for `n_owners`, with room for `n_items` items in all.
    pub(super) fn new(what: &'static str, n_owners: usize, n_items: usize) -> Result<Self> {
        Ok(Self { starts: memory::filled(what, 0, n_owners + 1)?, items: memory::room(what, n_items)? })
    }

    /// Fills the lists. `each` must pass every item to its argument, together with the item's owner. `each` is called
    /// twice, and must pass the same items in the same order.
    pub(super) fn fill(&mut self, each: impl Fn(&mut dyn FnMut(u32, T))) {
        let Self { starts, items } = self;
        starts.fill(0);
        each(&mut |owner, _| starts[owner as usize + 1] += 1);
        for owner in 1..starts.len() {
            starts[owner] += starts[owner - 1];
        }
        items.clear();
        items.resize(starts[starts.len() - 1], T::default());
        each(&mut |owner, item| {
            items[starts[owner as usize]] = item;
            starts[owner as usize] += 1;
        });
        // After filling, each start has advanced to the end of its list. So shift all starts by one.
        starts.rotate_right(1);
        starts[0] = 0;
    }

    pub(super) fn of(&self, owner: u32) -> &[T] {
        &self.items[self.starts[owner as usize]..self.starts[owner as usize + 1]]
    }
}
