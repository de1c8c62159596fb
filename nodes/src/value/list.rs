//! `value.list`.

use std::sync::Arc;

use sinew_graph::basic::{File, Integer, Number, Text, Toggle, Vector};
use sinew_graph::{NodeError, Outputs, Result, Value, node};

use crate::data::{Cells, Table, TableColumn};

/// What [`list`] gives.
#[derive(Clone, Debug, Outputs)]
pub struct Listed {
    /// The value with the chosen number.
    pub item: Value,
    /// How many values there are.
    pub count: Integer,
    /// All values as one table: tables one below the other, others a row each.
    pub table: Table,
}

/// Gathers values in the order of their wires; picks one by number and joins all to a table.
#[node(id = "value.list", revision = 1)]
pub fn list(
    /// The values, of any types.
    values: &[&Value],
    /// Which one to pick: 0 is the first, -1 the last.
    #[param(default = 0)]
    index: i32,
) -> Result<Listed> {
    let count = values.len() as i64;
    if count == 0 {
        return Err(NodeError::new("nothing is connected").at("values").help("connect one value or more"));
    }
    let place = if index < 0 { count + i64::from(index) } else { i64::from(index) };
    let item = usize::try_from(place).ok().and_then(|place| values.get(place)).ok_or_else(|| {
        NodeError::new(format!("there is no value {index}: {count} are connected")).at("index").help(format!(
            "give a number from {} to {}",
            -count,
            count - 1
        ))
    })?;
    Ok(Listed { item: (*item).clone(), count: Integer(count), table: table(values)? })
}

fn table(values: &[&Value]) -> Result<Table> {
    let tables: Vec<&Table> = values.iter().filter_map(|value| value.get()).collect();
    if tables.len() == values.len() {
        return stack(&tables);
    }
    let rows = || values.iter().enumerate();
    let table = Table::new("list")
        .integers("index", rows().map(|(k, _)| k as i32))
        .texts("type", rows().map(|(_, value)| value.data_type().label));
    let numbers: Vec<f64> = rows().map(|(_, value)| number(value)).collect();
    Ok(if numbers.iter().all(|number| !number.is_nan()) {
        table.numbers("value", "", numbers)
    } else {
        table.texts("value", rows().map(|(_, value)| text(value)))
    })
}

/// Tables with the same columns, one below the other.
fn stack(tables: &[&Table]) -> Result<Table> {
    let first = tables[0];
    let same = |a: &TableColumn, b: &TableColumn| {
        a.name == b.name && a.unit == b.unit && std::mem::discriminant(&a.cells) == std::mem::discriminant(&b.cells)
    };
    for (k, table) in tables.iter().enumerate() {
        let fits = table.columns.len() == first.columns.len()
            && table.columns.iter().zip(&first.columns).all(|(a, b)| same(a, b));
        if !fits {
            return Err(NodeError::new(format!("table {k} ({:?}) has other columns than the first", table.title))
                .at("values")
                .help("join tables of one kind, or report them side by side with export.report"));
        }
    }
    let column = |k: usize| {
        let cells = tables.iter().map(|table| &table.columns[k].cells);
        let joined = match &first.columns[k].cells {
            Cells::Number(_) => Cells::Number(cells.flat_map(numbers_of).collect()),
            Cells::Integer(_) => Cells::Integer(cells.flat_map(integers_of).collect()),
            Cells::Text(_) => Cells::Text(cells.flat_map(texts_of).collect()),
        };
        TableColumn { cells: joined, ..first.columns[k].clone() }
    };
    Ok(Table { title: Arc::clone(&first.title), columns: (0..first.columns.len()).map(column).collect() })
}

fn numbers_of(cells: &Cells) -> Vec<f64> {
    if let Cells::Number(v) = cells { v.to_vec() } else { Vec::new() }
}

fn integers_of(cells: &Cells) -> Vec<i32> {
    if let Cells::Integer(v) = cells { v.to_vec() } else { Vec::new() }
}

fn texts_of(cells: &Cells) -> Vec<Arc<str>> {
    if let Cells::Text(v) = cells { v.to_vec() } else { Vec::new() }
}

/// A value as a number, NaN for what is none.
fn number(value: &Value) -> f64 {
    None.or_else(|| value.get::<Number>().map(|v| v.0))
        .or_else(|| value.get::<Integer>().map(|v| v.0 as f64))
        .or_else(|| value.get::<Toggle>().map(|v| f64::from(u8::from(v.0))))
        .unwrap_or(f64::NAN)
}

/// A value in words; larger values by the length of their columns.
fn text(value: &Value) -> String {
    if let Some(v) = value.get::<Vector>() {
        return format!("{} {} {}", v.0.x, v.0.y, v.0.z);
    }
    None.or_else(|| value.get::<Text>().map(|v| v.0.to_string()))
        .or_else(|| value.get::<File>().map(|v| v.0.to_string()))
        .or_else(|| value.get::<Integer>().map(|v| v.0.to_string()))
        .or_else(|| value.get::<Toggle>().map(|v| if v.0 { "on" } else { "off" }.into()))
        .or_else(|| value.get::<Number>().map(|v| v.0.to_string()))
        .unwrap_or_else(|| {
            let rows = value.columns().iter().map(|column| column.rows()).max().unwrap_or(0);
            format!("{rows} rows")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(values: &[Value], index: i32) -> Result<Listed> {
        list(&values.iter().collect::<Vec<_>>(), index)
    }

    #[test]
    fn one_is_picked_and_all_are_counted() {
        let values = [Value::new(Number(0.5)), Value::new(Integer(7)), Value::new(Toggle(true))];
        let out = listed(&values, 1).unwrap();
        assert_eq!((out.item.get::<Integer>(), out.count), (Some(&Integer(7)), Integer(3)));
        assert_eq!(out.table.column("value").unwrap().cells, Cells::Number(Arc::from([0.5, 7.0, 1.0])));
        assert_eq!(listed(&values, -1).unwrap().item.get(), Some(&Toggle(true)));
        let error = listed(&values, 3).unwrap_err().to_string();
        assert_eq!(error, "index: there is no value 3: 3 are connected; give a number from -3 to 2");
        assert!(listed(&[], 0).unwrap_err().to_string().starts_with("values: nothing is connected"));
    }

    #[test]
    fn mixed_values_are_told_in_words() {
        let values = [Value::new(Text("a".into())), Value::new(Toggle(false)), Value::new(Number(0.1))];
        let table = listed(&values, 0).unwrap().table;
        let words: Vec<_> = (0..3).map(|row| table.column("value").unwrap().cells.show(row)).collect();
        assert_eq!(words, ["a", "off", "0.1"]);
        assert_eq!(table.column("type").unwrap().cells.show(1), "Toggle");
    }

    #[test]
    fn tables_stand_one_below_the_other_if_their_columns_agree() {
        let table = |rows: &[f64]| Table::new("t").numbers("x", "m", rows.iter().copied());
        let values = [Value::new(table(&[1.0, 2.0])), Value::new(table(&[3.0]))];
        assert_eq!(listed(&values, 0).unwrap().table, table(&[1.0, 2.0, 3.0]));
        let other = Value::new(Table::new("t").numbers("x", "cm", [1.0]));
        assert!(listed(&[values[0].clone(), other], 0).unwrap_err().to_string().contains("table 1 (\"t\") has other"));
    }
}
