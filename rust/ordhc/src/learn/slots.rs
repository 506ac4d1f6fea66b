//! Items with indices that are used again.

/// Stores `item` at a free index of `items`, or at the end if no index is free. Returns the index.
pub(super) fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
    }
}
