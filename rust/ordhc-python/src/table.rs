//! Comparisons from delimited text.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use ordhc::comparison::{Columns, TableOptions};
use pyo3::prelude::*;

use crate::callbacks;

type Parsed<'py> =
    (Bound<'py, PyArray2<i64>>, Option<Vec<String>>, Option<Bound<'py, PyArray1<f64>>>, Bound<'py, PyArray1<u32>>);

#[derive(FromPyObject)]
pub(crate) enum Chosen {
    Positions(Vec<usize>),
    Named(Vec<String>),
    Known(Vec<Vec<String>>),
}

#[pyfunction]
pub(crate) fn parse_table<'py>(
    py: Python<'py>,
    data: &[u8],
    columns: Chosen,
    weight_columns: Vec<String>,
    delimiter: Option<char>,
    header: Option<bool>,
) -> PyResult<Parsed<'py>> {
    let columns = match columns {
        Chosen::Positions(positions) => Columns::Positions(positions),
        Chosen::Named(names) => Columns::Named(names),
        Chosen::Known(known) => Columns::Known(known),
    };
    let width = match &columns {
        Columns::Positions(positions) => positions.len(),
        Columns::Named(names) => names.len(),
        Columns::Known(known) => known.first().map_or(0, Vec::len),
    };
    let delimiter = delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
    let options = TableOptions { columns, weight_columns, delimiter, header };
    let table = callbacks::run(py, data.len() > 1 << 22, None, |monitor| {
        ordhc::comparison::parse_table(data, &options, monitor)
    })?;
    let rows = PyArray1::from_vec(py, table.ids).reshape([table.lines.len(), width])?;
    let weights = table.weights.map(|weights| PyArray1::from_vec(py, weights));
    Ok((rows, table.names, weights, PyArray1::from_vec(py, table.lines)))
}
