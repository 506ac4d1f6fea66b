//! Reads answers from a file and prints a tree with names: `cargo run --example names -- answers.csv`.
//!
//! The file is delimited text with the columns anchor, near and far, for example "cat,dog,car".

fn main() -> ordhc::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "answers.csv".to_string());
    let (triplets, names) = ordhc::Triplets::read(path)?;
    let tree = ordhc::adds_average_linkage(&triplets)?;
    println!("{}", tree.newick().names(&names)?.lengths());
    Ok(())
}
