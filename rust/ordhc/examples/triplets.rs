//! Builds a tree from triplets and prints Newick text: `cargo run --example triplets`.

fn main() -> ordhc::Result<()> {
    // anchor, near, far: "0 is more like 1 than 2".
    let answers = vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1]];
    let triplets = ordhc::Triplets::new(answers, None)?;
    let tree = ordhc::adds_average_linkage(&triplets)?;
    println!("{}", tree.newick().names(&["cat", "dog", "car", "bus"])?.lengths());
    Ok(())
}
