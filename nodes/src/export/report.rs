//! `export.report`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use sinew_graph::{Cx, NodeError, Result, node};

use crate::data::{Cells, File, Files, Table};

/// The key under which a report tells the units of its columns.
const UNITS: &str = "units";

/// Writes tables as one JSON report: a key per table with its rows as objects, and `units` with the unit of each column.
///
/// The reasons of detection are the table `appendages`. Numbers that are none become null. Tables that share a title get
/// a number behind it. The same tables always give the same bytes.
#[node(id = "export.report", revision = 1)]
pub fn report(
    /// The tables, in the order in which they shall stand.
    tables: &[&Table],
    /// The name of the file, without extension; `/` makes folders.
    #[param(default = String::from("report"))]
    name: String,
    /// Also write each table as CSV, for spreadsheets: `report.title.csv`.
    #[param(default = false)]
    csv: bool,
    cx: &Cx,
) -> Result<Files> {
    let name = checked(&name)?;
    if tables.is_empty() {
        return Err(NodeError::new("nothing is connected").at("tables").help("connect one table or more"));
    }
    let (mut report, mut units) = (Map::new(), Map::new());
    let (mut files, mut titles, mut file_names) = (Vec::new(), BTreeSet::from([UNITS.to_owned()]), BTreeSet::new());
    for table in tables {
        cx.check()?;
        let title = unique(if table.title.is_empty() { "table" } else { &table.title }, &mut titles);
        let columns = column_names(table);
        let unit = |(k, name): (usize, &String)| (name.clone(), Json::from(&*table.columns[k].unit));
        let used = columns.iter().enumerate().filter(|&(k, _)| !table.columns[k].unit.is_empty());
        units.insert(title.clone(), Json::Object(used.map(unit).collect()));
        let row = |row| {
            Json::Object(columns.iter().cloned().zip(table.columns.iter().map(|c| cell(&c.cells, row))).collect())
        };
        report.insert(title.clone(), (0..table.rows()).map(row).collect());
        if csv {
            let plain: String = title.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
            let file = format!("{name}.{}.csv", unique(&plain, &mut file_names));
            files.push(File { name: file.into(), bytes: Arc::from(lines(table, &columns).into_bytes()) });
        }
    }
    report.insert(UNITS.into(), Json::Object(units));
    let mut text = serde_json::to_string_pretty(&report)
        .map_err(|error| NodeError::new(format!("the tables cannot be written as JSON: {error}")).at("tables"))?;
    text.push('\n');
    files.insert(0, File { name: format!("{name}.json").into(), bytes: Arc::from(text.into_bytes()) });
    Ok(Files { files })
}

/// A name for files below the folder that the user chooses later.
fn checked(name: &str) -> Result<&str> {
    let name = name.trim();
    let name = name.strip_suffix(".json").unwrap_or(name);
    let good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':']);
    if name.split('/').all(|part| good(part) && !part.chars().any(char::is_control)) {
        return Ok(name);
    }
    Err(NodeError::new(format!("{name:?} is no name for a file"))
        .at("name")
        .help("give a name such as report or fox/report: no absolute path, no .., no empty part"))
}

/// The name, with a number behind it if it was used before.
fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2;
    while !used.insert(candidate.clone()) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    candidate
}

fn column_names(table: &Table) -> Vec<String> {
    let mut used = BTreeSet::new();
    table.columns.iter().map(|column| unique(&column.name, &mut used)).collect()
}

fn cell(cells: &Cells, row: usize) -> Json {
    match cells {
        // Not finite becomes null.
        Cells::Number(v) => v.get(row).map_or(Json::Null, |&number| Json::from(number)),
        Cells::Integer(v) => v.get(row).map_or(Json::Null, |&number| Json::from(number)),
        Cells::Text(v) => v.get(row).map_or(Json::Null, |text| Json::from(&**text)),
    }
}

/// A table as CSV (RFC 4180, lines end with a line feed): units in brackets behind the column's name, empty for none.
fn lines(table: &Table, columns: &[String]) -> String {
    let quoted = |text: &str| {
        if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let head = table.columns.iter().zip(columns).map(|(column, name)| match &*column.unit {
        "" => quoted(name),
        unit => quoted(&format!("{name} [{unit}]")),
    });
    let mut text = head.collect::<Vec<_>>().join(",");
    text.push('\n');
    for row in 0..table.rows() {
        let cells = table.columns.iter().map(|column| match cell(&column.cells, row) {
            Json::Null => String::new(),
            Json::String(text) => quoted(&text),
            number => number.to_string(),
        });
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons() -> Table {
        Table::new("appendages").texts("kind", ["Tail", "Ear, \"left\""]).integers("vertices", [414, 20]).numbers(
            "extent",
            "heights",
            [0.5, f64::NAN],
        )
    }

    fn text(files: &Files, k: usize) -> &str {
        std::str::from_utf8(&files.files[k].bytes).unwrap()
    }

    fn run(tables: &[&Table], name: &str, csv: bool) -> Result<Files> {
        report(tables, name.into(), csv, &Cx::detached())
    }

    #[test]
    fn rows_are_objects_under_the_title_and_nan_is_null() {
        let files = run(&[&reasons()], "fox/report.json", false).unwrap();
        assert_eq!((files.files.len(), &*files.files[0].name), (1, "fox/report.json"));
        let expected = r#"{
  "appendages": [
    {
      "kind": "Tail",
      "vertices": 414,
      "extent": 0.5
    },
    {
      "kind": "Ear, \"left\"",
      "vertices": 20,
      "extent": null
    }
  ],
  "units": {
    "appendages": {
      "extent": "heights"
    }
  }
}
"#;
        assert_eq!(text(&files, 0), expected);
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let files = run(&[&reasons()], "report", true).unwrap();
        assert_eq!(&*files.files[1].name, "report.appendages.csv");
        assert_eq!(text(&files, 1), "kind,vertices,extent [heights]\nTail,414,0.5\n\"Ear, \"\"left\"\"\",20,\n");
    }

    #[test]
    fn tables_of_one_title_and_columns_of_one_name_are_told_apart() {
        let twice = Table::new("units").numbers("x", "m", [1.0]).numbers("x", "s", [2.0]);
        let files = run(&[&reasons(), &reasons(), &twice], "report", true).unwrap();
        let json: Json = serde_json::from_str(text(&files, 0)).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["appendages", "appendages_2", "units_2", "units"]);
        assert_eq!(json["units_2"][0], serde_json::json!({ "x": 1.0, "x_2": 2.0 }));
        assert_eq!(json["units"]["units_2"], serde_json::json!({ "x": "m", "x_2": "s" }));
        let names: Vec<_> = files.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names[1..], ["report.appendages.csv", "report.appendages_2.csv", "report.units_2.csv"]);
    }

    #[test]
    fn names_stay_below_the_chosen_folder() {
        for name in ["", "../x", "/etc/x", "a//b", "a/./b", "c:x", "a\\b", "a\nb"] {
            let error = run(&[&reasons()], name, false).unwrap_err();
            assert_eq!(error.at.unwrap().as_str(), "name", "{name}");
        }
        assert!(run(&[], "report", false).unwrap_err().to_string().starts_with("tables: nothing is connected"));
    }
}
