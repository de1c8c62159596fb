//! `measure.compare`.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Result, Value, node};

use super::bone_distance::bone_distance;
use super::edge_stretch::{Subject, Tiles, choose_clip, tables};
use super::region::Which;
use crate::data::{Cells, Character, Regions, Table, TableColumn};

/// Puts measures before and after a change side by side.
///
/// Takes two characters, and measures edge stretch and bone distance of both over the same regions and times; or two
/// tables of any kind. Each number of the inputs becomes a row: what it is of, before, after and the difference. Rows of
/// two tables belong together if their text is the same; what only one of them has is left blank in the other. A character
/// without clips is measured by bone distance alone.
#[node(id = "measure.compare", revision = 1)]
pub fn compare(
    /// A character or a table.
    before: &Value,
    /// The same of a later state.
    after: &Value,
    /// The regions to measure on both characters, found on the first.
    regions: Option<&Regions>,
    /// The clip to measure; empty for the walk, or the first clip. For characters only.
    #[param(default = String::new())]
    clip: String,
    /// How many times of the clip to sample. For characters only.
    #[param(default = 24, range = 1..=1000)]
    samples: u32,
    /// Which regions. For characters only.
    #[param(default = Which::Treated)]
    measured: Which,
    cx: &Cx,
) -> Result<Table> {
    if let (Some(before), Some(after)) = (before.get::<Table>(), after.get::<Table>()) {
        return Ok(join("compare", &long(before), &long(after)));
    }
    let (Some(before), Some(after)) = (before.get::<Character>(), after.get::<Character>()) else {
        return Err(NodeError::new(format!(
            "{} cannot be compared with {}",
            before.data_type().label,
            after.data_type().label
        ))
        .at("after")
        .help("connect two characters, or two tables"));
    };
    // Both are measured over the clip of one name, so that a changed order of clips compares no walk with a run.
    // A character without clips has nothing to stretch it; that is told, and the bone distance is measured all the same.
    let name = if before.clips.clips.is_empty() && clip.is_empty() {
        cx.warn_at("before", "the character has no clips: edge stretch is not measured");
        None
    } else {
        Some(choose_clip(&before.clips, &clip).map_err(|error| rename(error, "before"))?.name.to_string())
    };
    let at = |socket: &'static str| move |error| rename(error, socket);
    let mut cells = [Vec::new(), Vec::new()];
    if let Some(name) = &name {
        let subject = |character, socket| Subject::new(character, name, samples).map_err(at(socket));
        let tiles = Tiles::new(before, regions, measured, cx).map_err(at("before"))?;
        let first = subject(before, "before")?;
        // A later state mostly shares the mesh of the first, and so its edges.
        let [first, second] = if tiles.are_of(after) {
            tables(&tiles, [&first, &subject(after, "after")?], cx)?
        } else {
            let [first] = tables(&tiles, [&first], cx)?;
            drop(tiles);
            let tiles = Tiles::new(after, regions, measured, cx).map_err(at("after"))?;
            let [second] = tables(&tiles, [&subject(after, "after")?], cx)?;
            [first, second]
        };
        cells = [long(&first), long(&second)];
    }
    for (cells, (character, socket)) in cells.iter_mut().zip([(before, "before"), (after, "after")]) {
        cells.extend(long(&bone_distance(character, regions, measured, cx).map_err(at(socket))?));
    }
    let [before, after] = cells;
    Ok(join("compare", &before, &after))
}

/// An error of a measure names its `character`; here that is another socket.
fn rename(mut error: NodeError, socket: &str) -> NodeError {
    if error.at.as_ref().is_some_and(|at| *at == "character") {
        error.at = Some(socket.into());
    }
    error
}

/// A number of a table: what row it is of, its column and unit.
struct Cell {
    of: Arc<str>,
    /// How many rows above have the same text.
    repeat: usize,
    column: TableColumn,
    value: f64,
}

/// Every number of a table, row by row.
fn long(table: &Table) -> Vec<Cell> {
    let text = |column: &&TableColumn| matches!(column.cells, Cells::Text(_));
    let mut seen: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let mut cells = Vec::new();
    for row in 0..table.rows() {
        let words: Vec<String> = table.columns.iter().filter(text).map(|column| column.cells.show(row)).collect();
        let of: Arc<str> = words.join(", ").into();
        let repeats = seen.entry(Arc::clone(&of)).or_default();
        for column in table.columns.iter().filter(|column| !text(column)) {
            let value = match &column.cells {
                Cells::Number(v) => v[row],
                Cells::Integer(v) => v[row].into(),
                Cells::Text(_) => continue,
            };
            let head = TableColumn { cells: Cells::Integer(Arc::from([])), ..column.clone() };
            cells.push(Cell { of: Arc::clone(&of), repeat: *repeats, column: head, value });
        }
        *repeats += 1;
    }
    cells
}

/// Cells of the same row, column and unit side by side, in the order of the first table.
fn join(title: &str, before: &[Cell], after: &[Cell]) -> Table {
    let key = |cell: &Cell| (cell.of.clone(), cell.repeat, cell.column.name.clone(), cell.column.unit.clone());
    let later: BTreeMap<_, f64> = after.iter().map(|cell| (key(cell), cell.value)).collect();
    let earlier: BTreeMap<_, f64> = before.iter().map(|cell| (key(cell), cell.value)).collect();
    let added = after.iter().filter(|cell| !earlier.contains_key(&key(cell)));
    let rows: Vec<(&Cell, f64, f64)> = before
        .iter()
        .map(|cell| (cell, cell.value, later.get(&key(cell)).copied().unwrap_or(f64::NAN)))
        .chain(added.map(|cell| (cell, f64::NAN, cell.value)))
        .collect();
    Table::new(title)
        .texts("of", rows.iter().map(|row| Arc::clone(&row.0.of)))
        .texts("measure", rows.iter().map(|row| Arc::clone(&row.0.column.name)))
        .texts("unit", rows.iter().map(|row| Arc::clone(&row.0.column.unit)))
        .numbers("before", "", rows.iter().map(|row| row.1))
        .numbers("after", "", rows.iter().map(|row| row.2))
        .numbers("change", "", rows.iter().map(|row| row.2 - row.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::edge_stretch::tests::{arm, regions_of};

    fn run(before: Value, after: Value, regions: Option<&Regions>) -> Result<Table> {
        compare(&before, &after, regions, String::new(), 2, Which::Treated, &Cx::detached())
    }

    fn rows(table: &Table) -> Vec<String> {
        (0..table.rows())
            .map(|row| table.columns.iter().map(|c| c.cells.show(row)).collect::<Vec<_>>().join("|"))
            .collect()
    }

    #[test]
    fn rows_of_two_tables_meet_by_their_text() {
        let before = Table::new("a").texts("region", ["Tail", "body"]).numbers("p99", "ratio", [2.5, 1.25]);
        let after =
            Table::new("a").texts("region", ["body", "Ear", "Tail"]).numbers("p99", "ratio", [1.25, 1.0, 1.125]);
        let table = run(Value::new(before), Value::new(after), None).unwrap();
        assert_eq!(
            rows(&table),
            ["Tail|p99|ratio|2.5|1.125|-1.375", "body|p99|ratio|1.25|1.25|0", "Ear|p99|ratio|–|1|–",]
        );
    }

    #[test]
    fn rows_with_the_same_text_meet_in_order() {
        let table = |values: [f64; 2]| Value::new(Table::new("a").texts("x", ["s", "s"]).numbers("n", "", values));
        let out = run(table([1.0, 2.0]), table([10.0, 20.0]), None).unwrap();
        assert_eq!(rows(&out), ["s|n||1|10|9", "s|n||2|20|18"]);
    }

    #[test]
    fn a_rigid_region_tears_no_more() {
        let before = arm();
        let mut after = arm();
        after.skin.joints = Arc::from([0u16; 12]);
        after.skin.weights = [1.0f32, 0.0].repeat(6).into();
        let regions = regions_of(&before, &[2, 3, 4, 5]);
        let table = run(Value::new(before), Value::new(after), Some(&regions)).unwrap();
        let rows = rows(&table);
        assert!(rows.contains(&"Tail, Arm|Walk_Bent|torn|%|10|0|-10".into()), "{rows:#?}");
        assert!(rows.iter().any(|row| row.starts_with("Tail|distance|file units|")), "{rows:#?}");
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let error = run(Value::new(arm()), Value::new(Table::new("a")), None).unwrap_err().to_string();
        assert_eq!(error, "after: Character cannot be compared with Table; connect two characters, or two tables");
    }

    #[test]
    fn a_character_without_clips_is_measured_by_bone_distance_alone() {
        let mut still = arm();
        still.clips.clips.clear();
        let (before, after) = (Value::new(still), Value::new(arm()));
        let cx = Cx::detached();
        let table = compare(&before, &after, None, String::new(), 24, Which::Treated, &cx).unwrap();
        let rows = rows(&table);
        assert_eq!(rows.len(), 3, "{rows:#?}");
        assert!(rows.contains(&"all|vertices||6|6|0".into()), "{rows:#?}");
        assert!(cx.warnings()[0].what.starts_with("the character has no clips"));
        let error = compare(&before, &after, None, "walk".into(), 24, Which::Treated, &cx).unwrap_err();
        assert!(error.to_string().starts_with("clip: there is no clip \"walk\""), "{error}");
    }
}
