//! All trees.

use ordhc::Dendrogram;

/// Returns all binary trees over n leaves, as clusters: leaf n is put beside every node of every tree of n - 1 leaves.
pub(crate) fn all_trees(n: u32) -> Vec<Dendrogram> {
    #[derive(Clone)]
    enum Node {
        Leaf(u32),
        Pair(Box<(Node, Node)>),
    }
    fn beside(node: &Node, leaf: u32) -> Vec<Node> {
        let mut all = vec![Node::Pair(Box::new((node.clone(), Node::Leaf(leaf))))];
        if let Node::Pair(pair) = node {
            all.extend(beside(&pair.0, leaf).into_iter().map(|left| Node::Pair(Box::new((left, pair.1.clone())))));
            all.extend(beside(&pair.1, leaf).into_iter().map(|right| Node::Pair(Box::new((pair.0.clone(), right)))));
        }
        all
    }
    fn newick(node: &Node) -> String {
        match node {
            Node::Leaf(leaf) => leaf.to_string(),
            Node::Pair(pair) => format!("({},{})", newick(&pair.0), newick(&pair.1)),
        }
    }
    let mut trees = vec![Node::Leaf(0)];
    for leaf in 1..n {
        trees = trees.iter().flat_map(|tree| beside(tree, leaf)).collect();
    }
    let read = |tree: &Node| {
        let (tree, names) = Dendrogram::from_newick(&format!("{};", newick(tree))).unwrap();
        let leaves: Vec<u32> = names.iter().map(|name| name.parse().unwrap()).collect();
        tree.relabel(&leaves).unwrap()
    };
    trees.iter().map(read).collect()
}
