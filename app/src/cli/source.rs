//! Where a graph comes from: a template that ships with the program, or a file.

use std::path::{Path, PathBuf};

use sinew_graph::Registry;
use sinew_graph::document::{Document, Severity};
use sinew_graph::file::{self, Loaded};

use super::{CliError, note};

/// A graph that ships with the program.
pub struct Template {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The graphs that ship with the program.
pub const TEMPLATES: &[Template] = &[
    Template { name: "tail-rig", text: include_str!("../../../graphs/templates/tail-rig.ron") },
    Template { name: "tail-motion3", text: include_str!("../../../graphs/templates/tail-motion3.ron") },
    Template { name: "tail-rigid", text: include_str!("../../../graphs/templates/tail-rigid.ron") },
];

/// A graph, where it came from, and its text.
pub struct Source {
    /// How messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The folder that relative paths in it start from; none for templates.
    pub folder: Option<PathBuf>,
}

impl Source {
    /// Finds a graph by template name or path. A name with a separator or the extension `.ron` is a path.
    pub fn find(graph: &str) -> Result<Self, CliError> {
        let path = Path::new(graph);
        let is_path = path.components().count() > 1 || path.extension().is_some_and(|e| e == "ron");
        if let Some(template) = TEMPLATES.iter().find(|template| !is_path && template.name == graph) {
            return Ok(Self { name: graph.into(), text: template.text.into(), folder: None });
        }
        if !is_path && !path.exists() {
            let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
            return Err(CliError::Usage(format!(
                "{graph:?} is neither a template ({}) nor a file: check the name",
                names.join(", ")
            )));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| CliError::Usage(format!("cannot read {graph}: {error}: check the path")))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            CliError::Usage(format!("{graph} is not text: a graph file begins with \"// sinew graph\""))
        })?;
        let folder = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        Ok(Self { name: graph.into(), text, folder: folder.map(Path::to_owned) })
    }

    /// The document in it. What was brought up to date or does not fit is in the problems.
    pub fn load(&self, registry: &Registry) -> Result<Loaded, CliError> {
        file::load(&self.text, registry).map_err(|error| CliError::Usage(format!("{}: {error}", self.name)))
    }

    /// The document in it; tells the problems on the standard error.
    pub fn load_telling(&self, registry: &Registry, quiet: bool) -> Result<Document, CliError> {
        let loaded = self.load(registry)?;
        for problem in &loaded.problems {
            if !quiet || problem.severity == Severity::Fault {
                note(&format!("{}: {problem}", self.name));
            }
        }
        Ok(loaded.document)
    }
}

/// The templates with what each does, for people.
pub fn list(registry: &Registry) -> Result<String, CliError> {
    let mut text = String::from("Templates: `sinew run NAME`\n\n");
    for template in TEMPLATES {
        let source = Source { name: template.name.into(), text: template.text.into(), folder: None };
        let document = source.load(registry)?.document;
        let Some(graph) = document.main_graph() else { continue };
        text.push_str(&format!("  {:<12} {}\n", template.name, graph.help));
        for (id, input) in &graph.inputs {
            text.push_str(&format!("  {:<12}   --input {id}=FILE: {}\n", "", input.help));
        }
        for (id, knob) in &graph.knobs {
            text.push_str(&format!("  {:<12}   --set {id}=VALUE: {}\n", "", knob.label));
        }
    }
    Ok(text)
}
