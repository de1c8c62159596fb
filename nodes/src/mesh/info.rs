//! `mesh.info`.

mod defects;

use std::sync::Arc;

use sinew_graph::{Cx, Result, Value, node};

use crate::data::{Chains, Character, Clips, Mesh, Regions, Skeleton, Skin, Table};
pub use defects::{Defects, defects};

/// Tells what a value holds: counts, extents and columns; for a character also joints, clips, and what is wrong with
/// its mesh and weights.
#[node(id = "mesh.info", revision = 1)]
pub fn info(
    /// Any value.
    value: &Value,
    cx: &Cx,
) -> Result<Table> {
    let mut rows = Rows::default();
    let kind = value.data_type();
    rows.note("type", kind.label, kind.help);
    if let Some(character) = value.get::<Character>() {
        rows.note("character", &character.name, "");
        skeleton(&character.skeleton, Some(&character.skin), &mut rows);
        clips(&character.clips, &mut rows);
        mesh(&character.mesh, Some((&character.skeleton, &character.skin)), &mut rows, cx)?;
        let repaired = character.source.repaired.iter().filter(|&&repaired| repaired != 0).count();
        rows.count("parts with repaired weights", repaired, "as the importer told");
    } else if let Some(value) = value.get::<Mesh>() {
        mesh(value, None, &mut rows, cx)?;
    } else if let Some(value) = value.get::<Skeleton>() {
        skeleton(value, None, &mut rows);
    } else if let Some(value) = value.get::<Clips>() {
        clips(value, &mut rows);
    } else if let Some(value) = value.get::<Skin>() {
        rows.count("vertices", value.len(), "");
        rows.count("influences per vertex", value.width, "");
    } else if let Some(value) = value.get::<Regions>() {
        rows.count("regions", value.regions.len(), "");
        for region in &value.regions {
            let note = format!("{:?}, {:?}: {}", region.finding.kind, region.finding.treatment, region.finding.reason);
            rows.count(&format!("region {} welded vertices", region.number), region.vertices.len(), &note);
        }
    } else if let Some(value) = value.get::<Chains>() {
        for chain in &value.chains {
            let bones = chain.joints.len().saturating_sub(1);
            rows.count(&format!("bones of {}", chain.name), bones, &format!("from region {}", chain.region));
        }
    } else if let Some(value) = value.get::<Table>() {
        rows.count("rows", value.rows(), &value.title);
    }
    for column in value.columns() {
        cx.check()?;
        let note = format!("{} x {}", column.elements.type_name(), column.arity);
        rows.number(&format!("column {}", column.name), column.rows() as f64, "rows", &note);
    }
    rows.number("memory", Value::memory([value]) as f64, "bytes", "what other values share counts here too");
    Ok(rows.table())
}

fn skeleton(skeleton: &Skeleton, skin: Option<&Skin>, rows: &mut Rows) {
    rows.count("joints", skeleton.joints.len(), "");
    let added = skeleton.joints.iter().filter(|joint| joint.node.is_none()).count();
    rows.count("added joints", added, "");
    rows.count("root joints", skeleton.joints.iter().filter(|joint| joint.parent.is_none()).count(), "");
    let without = skeleton.joints.iter().filter(|joint| !joint.has_bind).count();
    rows.count("joints without inverse bind matrix", without, "the identity is used");
    rows.count("nodes of the file", skeleton.node_parents.len(), "");
    if let Some(skin) = skin {
        let mut used = vec![false; skeleton.joints.len()];
        for (&joint, &weight) in skin.joints.iter().zip(skin.weights.iter()) {
            if let Some(used) = used.get_mut(usize::from(joint)).filter(|_| weight > 0.0) {
                *used = true;
            }
        }
        let names: Vec<&str> =
            skeleton.joints.iter().zip(&used).filter(|&(_, &used)| !used).map(|(joint, _)| &*joint.name).collect();
        rows.count("joints without skin", names.len(), &names.join(", "));
    }
}

fn clips(clips: &Clips, rows: &mut Rows) {
    rows.count("clips", clips.clips.len(), "");
    for clip in &clips.clips {
        let keys: usize = clip.channels.iter().map(|channel| channel.times.len()).sum();
        let note = format!("{} channels, {keys} keys", clip.channels.len());
        rows.number(&format!("clip {}", clip.name), f64::from(clip.duration), "seconds", &note);
    }
}

fn mesh(mesh: &Mesh, rigged: Option<(&Skeleton, &Skin)>, rows: &mut Rows, cx: &Cx) -> Result<()> {
    rows.count("vertices", mesh.positions.len(), "");
    rows.count("triangles", mesh.triangles.len(), "");
    rows.count("parts", mesh.parts.len(), "");
    for part in mesh.parts.iter() {
        let note = format!("{} triangles", part.triangles.len());
        rows.count(&format!("vertices of {}, primitive {}", part.name, part.primitive), part.vertices.len(), &note);
    }
    let (low, high) = mesh.bounds();
    for (axis, (low, high)) in ["x", "y", "z"].into_iter().zip(low.to_array().into_iter().zip(high.to_array())) {
        let note = format!("from {low} to {high}, bind space");
        rows.number(&format!("extent {axis}"), f64::from(high) - f64::from(low), "file units", &note);
    }
    let found = defects(mesh, rigged, cx)?;
    rows.count("places", found.places, "vertices that share a position are one");
    rows.count("shells", found.shells, "connected over shared places");
    rows.count("degenerate triangles", found.degenerate, "two corners at one place, or no area");
    rows.count("repeated triangles", found.repeated, "the same three places as one before");
    rows.count("open edges", found.open, "one triangle only");
    rows.count("non-manifold edges", found.non_manifold, "more than two triangles");
    rows.count("vertices without triangle", found.loose, "");
    rows.count("positions that are no number", found.not_finite, "");
    if rigged.is_some() {
        rows.count("vertices without weight", found.unweighted, "they stay where the bind pose has them");
        rows.count("vertices whose weights do not sum to 1", found.unnormalised, "by more than 0.001");
        rows.count("vertices of unknown joints", found.unknown_joints, "joint numbers beyond the skeleton");
        rows.count("most influences of a vertex", found.most_influences, "");
    }
    Ok(())
}

/// Rows in the making.
#[derive(Default)]
struct Rows(Vec<(String, f64, &'static str, String)>);

impl Rows {
    fn number(&mut self, what: &str, value: f64, unit: &'static str, note: &str) {
        self.0.push((what.into(), value, unit, note.into()));
    }

    fn count(&mut self, what: &str, count: usize, note: &str) {
        self.number(what, count as f64, "", note);
    }

    /// A row that is text only.
    fn note(&mut self, what: &str, text: &str, help: &str) {
        let note = if help.is_empty() { text.to_owned() } else { format!("{text}: {help}") };
        self.0.push((what.into(), f64::NAN, "", note));
    }

    fn table(self) -> Table {
        Table::new("info")
            .texts("what", self.0.iter().map(|row| Arc::from(&*row.0)))
            .numbers("value", "", self.0.iter().map(|row| row.1))
            .texts("unit", self.0.iter().map(|row| row.2))
            .texts("note", self.0.iter().map(|row| Arc::from(&*row.3)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Cells;
    use crate::measure::edge_stretch::tests::arm;

    fn value(table: &Table, what: &str) -> (f64, String) {
        let column = table.column("what").unwrap();
        let row = (0..table.rows()).find(|&row| column.cells.show(row) == what).unwrap_or_else(|| panic!("no {what}"));
        match &table.column("value").unwrap().cells {
            Cells::Number(v) => (v[row], table.column("note").unwrap().cells.show(row)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_character_is_counted_and_judged() {
        let table = info(&Value::new(arm()), &Cx::detached()).unwrap();
        for (what, expected) in [
            ("vertices", 6.0),
            ("triangles", 4.0),
            ("joints", 2.0),
            ("root joints", 1.0),
            ("clips", 2.0),
            ("clip Turn", 2.0),
            ("extent x", 2.0),
            ("extent y", 1.0),
            ("shells", 1.0),
            ("open edges", 6.0),
            ("non-manifold edges", 0.0),
            ("vertices without weight", 0.0),
            ("most influences of a vertex", 2.0),
            ("joints without skin", 0.0),
            ("column mesh.position", 6.0),
        ] {
            assert_eq!(value(&table, what).0, expected, "{what}");
        }
    }

    #[test]
    fn any_value_lists_its_columns() {
        let table = info(&Value::new(sinew_graph::basic::Number(1.0)), &Cx::detached()).unwrap();
        assert_eq!(value(&table, "column value"), (1.0, "f64 x 1".into()));
        assert_eq!(value(&table, "memory").0, 8.0);
        assert!(value(&table, "type").0.is_nan());
    }
}
