//! Defines a linkage as a row update: `cargo run --example row_update`.

use ordhc::agglomerate::{Agglomeration, Layout, Matrix, RowMerge, Values};
use ordhc::{Kind, Result};

/// Writes the geometric mean of the two clusters' similarities.
fn geometric(merge: RowMerge<'_>, row: &mut [f64]) -> Result<()> {
    for (value, (a, b)) in row.iter_mut().zip(merge.row_i.iter().zip(merge.row_j)) {
        *value = (a * b).sqrt();
    }
    Ok(())
}

fn main() -> Result<()> {
    let pairs = [9.0, 1.0, 4.0, 4.0, 1.0, 8.0];
    let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
    let tree = Agglomeration::by_rows(geometric).run(&matrix)?;
    println!("{}", tree.newick());
    Ok(())
}
