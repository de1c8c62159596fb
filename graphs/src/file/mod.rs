//! Documents as files: RON behind a first line that tells the format, the same bytes for the same document.
//!
//! What a file says is never lost: unknown node types become placeholders, wires that no longer fit are kept and told
//! as problems. Only comments and layout by hand are, because they are not part of the document.

mod disk;
mod entries;
mod migrate;
mod resolve;
mod shape;
mod text;
mod wire;

use crate::document::{Document, Problem};
use crate::registry::Registry;

pub use disk::{WriteError, write};

/// The format version that this program writes.
pub const VERSION: u32 = 1;

const HEADER: &str = "// sinew graph ";

/// A document from a file, and what there is to tell about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The document, brought up to date.
    pub document: Document,
    /// What was brought up to date, and what does not fit.
    pub problems: Vec<Problem>,
}

/// Why a text is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is another kind of file.
    #[error("this is not a Sinew graph: the first line must be \"{HEADER}{VERSION}\", but it is {first:?}")]
    NotAGraph {
        /// The beginning of the first line.
        first: String,
    },
    /// It was written by a newer program.
    #[error("the file has format {version}, and this program reads up to {VERSION}: open it with a newer Sinew")]
    Newer {
        /// Its format.
        version: u32,
    },
    /// It was written by a program so old that no migration leads here.
    #[error("the file has format {version}, which this program no longer reads: open and save it with an older Sinew")]
    Older {
        /// Its format.
        version: u32,
    },
    /// The text does not have the right form.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// The parts do not make a document.
    #[error("{0}")]
    Content(String),
}

/// The document that a text tells, brought up to date with the node types of the registry.
///
/// ```
/// use sinew_graph::{Registry, file};
///
/// let text = "// sinew graph 1\n(\n  main: \"main\",\n  graphs: {\n    \"main\": (\n    ),\n  },\n)\n";
/// let loaded = file::load(text, &Registry::default())?;
/// assert_eq!(file::save(&loaded.document, &Registry::default()), text);
/// # Ok::<(), file::LoadError>(())
/// ```
pub fn load(text: &str, registry: &Registry) -> Result<Loaded, LoadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let current = migrate::to_current(text, version(text)?, migrate::CHAIN, VERSION)?;
    let file: shape::FileDocument = ron::Options::default().from_str(&current).map_err(syntax)?;
    let mut document = Document::try_from(file).map_err(LoadError::Content)?;
    let mut problems = document.resolve(registry);
    problems.extend(document.problems(registry));
    Ok(Loaded { document, problems })
}

/// The text of a document. The registry tells the sockets of the node types, which the file remembers.
pub fn save(document: &Document, registry: &Registry) -> String {
    format!("{HEADER}{VERSION}\n{}", text::write(document, registry))
}

fn version(text: &str) -> Result<u32, LoadError> {
    let first = text.lines().next().unwrap_or_default().trim_end();
    first
        .strip_prefix(HEADER)
        .and_then(|version| version.parse().ok())
        .ok_or_else(|| LoadError::NotAGraph { first: first.chars().take(60).collect() })
}

fn syntax(error: ron::error::SpannedError) -> LoadError {
    let ron::error::SpannedError { code, span } = error;
    LoadError::Syntax { line: span.end.line, column: span.end.col, what: code.to_string() }
}
