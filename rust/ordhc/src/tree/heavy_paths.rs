//! Heavy-path decomposition: splits a tree into paths that always go to the largest child.

use super::Topology;

/// A tree in which each inner node has one heavy child: the child with the most leaves. The other children are light.
///
/// Following heavy children gives paths that end in leaves. Every leaf is below at most log2 n light children. So if
/// the time for a node is proportional to the number of leaves below its light children, all nodes together take
/// O(n log n).
#[derive(Debug)]
pub(crate) struct HeavyPaths<'a> {
    tree: &'a Topology,
    heavy: Vec<u32>,
    starts: Vec<u32>,
    /// The leaves from left to right. In each node, the child with the most leaves comes first.
    order: Vec<u32>,
}

impl<'a> HeavyPaths<'a> {
    pub(crate) fn new(tree: &'a Topology) -> Self {
        let n = tree.n_leaves();
        let largest = |node: usize| {
            let children = tree.children(node);
            children
                .iter()
                .copied()
                .rev()
                .max_by_key(|&child| tree.size(child as usize))
                .expect("an inner node has children")
        };
        let heavy: Vec<u32> = (n..tree.n_nodes()).map(largest).collect();
        let mut starts = vec![0; tree.n_nodes()];
        for node in (n..tree.n_nodes()).rev() {
            let heavy = heavy[node - n];
            let mut place = starts[node];
            starts[heavy as usize] = place;
            place += tree.size(heavy as usize);
            for &child in tree.children(node).iter().filter(|&&child| child != heavy) {
                starts[child as usize] = place;
                place += tree.size(child as usize);
            }
        }
        let mut order = vec![0; n];
        for leaf in 0..n {
            order[starts[leaf] as usize] = leaf as u32;
        }
        Self { tree, heavy, starts, order }
    }

    pub(crate) fn size(&self, node: usize) -> usize {
        self.tree.size(node) as usize
    }

    pub(crate) fn start(&self, node: usize) -> usize {
        self.starts[node] as usize
    }

    pub(crate) fn leaves(&self, node: usize) -> &[u32] {
        &self.order[self.start(node)..self.start(node) + self.size(node)]
    }

    pub(crate) fn heavy(&self, node: usize) -> usize {
        self.heavy[node - self.tree.n_leaves()] as usize
    }

    pub(crate) fn light(&self, node: usize) -> impl Iterator<Item = usize> + Clone {
        let heavy = self.heavy(node);
        self.tree.children(node).iter().map(|&child| child as usize).filter(move |&child| child != heavy)
    }

    pub(crate) fn light_leaves(&self, node: usize) -> &[u32] {
        &self.leaves(node)[self.size(self.heavy(node))..]
    }

    pub(crate) fn tops(&self) -> impl Iterator<Item = usize> {
        let root = self.tree.root();
        (0..=root).filter(move |&node| node == root || self.heavy(self.tree.parent(node)) != node)
    }

    /// Returns the path through heavy children from `top` down to a leaf. The leaf comes first, and `top` comes last.
    pub(crate) fn path_up(&self, top: usize) -> Vec<usize> {
        let mut path = vec![top];
        let mut node = top;
        while node >= self.tree.n_leaves() {
            node = self.heavy(node);
            path.push(node);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_tree() {
        // The children of node 5 are 0 and 1, of node 6: 2, 3 and 4, of node 7: 5 and 6.
        let tree = Topology::from_parents(5, vec![5, 5, 6, 6, 6, 7, 7, 7]).unwrap();
        let paths = HeavyPaths::new(&tree);
        assert_eq!((paths.leaves(7), paths.light_leaves(7)), (&[2, 3, 4, 0, 1][..], &[0, 1][..]));
        assert_eq!((paths.heavy(7), paths.light(6).collect::<Vec<_>>()), (6, vec![3, 4]));
        assert_eq!(paths.tops().collect::<Vec<_>>(), [1, 3, 4, 5, 7]);
        assert_eq!((paths.path_up(7), paths.path_up(1)), (vec![2, 6, 7], vec![1]));
    }
}
