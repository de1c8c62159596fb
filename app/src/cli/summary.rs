//! Tables for people: the closing table of a run, and what the graph measured.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Grid, presets};
use sinew_nodes::data::{Cells, Table};

/// A grid in the program's style.
pub fn grid<'a>(head: impl IntoIterator<Item = &'a str>) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(120);
    grid.set_header(head.into_iter().map(Cell::new));
    grid
}

/// A cell of a number: right-aligned.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// A table that flowed through the graph, with its title.
pub fn table(table: &Table) -> String {
    let heads: Vec<String> =
        table
            .columns
            .iter()
            .map(|column| {
                if column.unit.is_empty() {
                    column.name.to_string()
                } else {
                    format!("{}, {}", column.name, column.unit)
                }
            })
            .collect();
    let mut grid = grid(heads.iter().map(String::as_str));
    for row in 0..table.rows() {
        grid.add_row(table.columns.iter().map(|column| {
            let text = column.cells.show(row);
            if matches!(column.cells, Cells::Text(_)) { Cell::new(text) } else { number(text) }
        }));
    }
    format!("{}\n{grid}\n", table.title)
}

/// Bytes for people.
pub fn bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_units_and_missing_numbers() {
        let text = table(&Table::new("stretch").texts("clip", ["Walk"]).numbers("p99", "ratio", [f64::NAN]));
        assert!(text.starts_with("stretch\n"), "{text}");
        assert!(text.contains("p99, ratio") && text.contains("Walk") && text.contains('–'), "{text}");
    }

    #[test]
    fn bytes_are_told_in_the_unit_that_fits() {
        assert_eq!([bytes(7), bytes(1_500), bytes(2_500_000)], ["7 B", "1.5 kB", "2.5 MB"]);
    }
}
