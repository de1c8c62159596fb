//! What one node of the plan is to do: its type, its knobs as they stand, and where its inputs come from.

use std::path::Path;
use std::sync::Arc;

use super::groups::{Groups, KnobSource, Leaf, Origin};
use super::knobs::adapt;
use super::path::NodePath;
use crate::document::{InputEnd, NodeKind};
use crate::error::NodeError;
use crate::ids::SocketId;
use crate::key::KeyWriter;
use crate::knob::KnobValue;
use crate::registry::{Arity, NodeType, Registry};
use crate::value::Digest;

/// What a worker needs to run a node, apart from its inputs.
#[derive(Debug)]
pub(super) struct Recipe {
    pub node_type: Arc<NodeType>,
    /// In the order of the type's knobs; driven ones hold their default.
    pub knobs: Vec<KnobValue>,
    /// Per input of the type, how many of the feeds are its own, in order.
    pub counts: Vec<u32>,
    /// The knobs that the remaining feeds drive, in order.
    pub driven: Vec<u32>,
    /// Per feed, the node that it comes from.
    pub sources: Vec<NodePath>,
    /// Type, revision, knobs and the layout of the feeds: all of the key but the inputs' keys.
    pub fixed: Digest,
}

/// How a node comes by its outputs.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// By running.
    Run(Arc<Recipe>),
    /// Muted: per output, the feed that it passes through.
    Pass(Arc<[Option<u32>]>),
    /// Not at all.
    Broken(Arc<NodeError>),
}

/// A node's definition: its work, and the outputs that feed it in the order of [`Recipe::counts`].
#[derive(Debug)]
pub(super) struct Definition {
    pub work: Work,
    pub feeds: Vec<Origin>,
}

impl Definition {
    fn broken(error: NodeError) -> Self {
        Self { work: Work::Broken(Arc::new(error)), feeds: Vec::new() }
    }
}

/// Works out a leaf's definition. An error in it is the node's own and stays there.
pub(super) fn define(groups: &Groups, registry: &Registry, folder: Option<&Path>, leaf: &Leaf) -> Definition {
    if let Some(error) = &leaf.broken {
        return Definition::broken(error.clone());
    }
    try_define(groups, registry, folder, leaf).unwrap_or_else(Definition::broken)
}

fn try_define(
    groups: &Groups,
    registry: &Registry,
    folder: Option<&Path>,
    leaf: &Leaf,
) -> Result<Definition, NodeError> {
    let gone = || NodeError::new("the node is not in the document");
    let node = groups.node(&leaf.instance, &leaf.path).ok_or_else(gone)?;
    let id = leaf.path.node().ok_or_else(gone)?;
    let NodeKind::Type { id: type_id, .. } = &node.kind else { return Err(gone()) };
    let node_type = registry.node(type_id).ok_or_else(|| {
        NodeError::new(format!("the node type {type_id} is not known"))
            .help("install the plugin that has it, or replace the node")
    })?;
    let input = |socket: &SocketId| -> Result<Vec<Origin>, NodeError> {
        let end = InputEnd { node: id.clone(), socket: socket.clone() };
        let origins = groups.input(&leaf.instance, &end).into_iter();
        origins.collect::<Result<_, _>>().map_err(|error| error.at(socket.as_str()))
    };
    if node.muted {
        return pass(registry, node_type, input);
    }
    let (mut counts, mut feeds) = (Vec::with_capacity(node_type.inputs.len()), Vec::new());
    for spec in &node_type.inputs {
        let origins = input(&spec.id)?;
        if spec.arity != Arity::Many && origins.len() > 1 {
            return Err(NodeError::new(format!("takes one wire but has {}", origins.len()))
                .at(spec.id.as_str())
                .help("remove all wires but one"));
        }
        counts.push(origins.len() as u32);
        feeds.extend(origins);
    }
    let (mut knobs, mut driven) = (Vec::with_capacity(node_type.knobs.len()), Vec::new());
    let mut key = KeyWriter::new("recipe");
    key.add(&node_type.id);
    key.add(&node_type.revision);
    for (spec, count) in node_type.inputs.iter().zip(&counts) {
        key.add(&spec.id);
        key.add(count);
    }
    for (k, spec) in node_type.knobs.iter().enumerate() {
        key.add(&spec.id);
        let at_knob = |reason: String| {
            NodeError::new(reason).at(spec.id.as_str()).help("set another value or reset the parameter to its default")
        };
        let value = match groups.knob(&leaf.instance, id, &spec.id) {
            Some(KnobSource::Wire(origin)) => {
                feeds.push(origin.map_err(|error| error.at(spec.id.as_str()))?);
                driven.push(k as u32);
                key.add(&true);
                knobs.push(spec.default.clone());
                continue;
            }
            Some(KnobSource::Set(value)) => adapt(&spec.kind, value).map_err(at_knob)?,
            None => spec.default.clone(),
        };
        key.add(&false);
        key.add(&value);
        knobs.push(in_folder(value, folder));
    }
    let fixed = key.finish().map_err(|error| {
        NodeError::new(format!("a parameter: {error}")).help("reset the parameters to their defaults")
    })?;
    let sources = feeds.iter().map(|origin: &Origin| origin.path.clone()).collect();
    let recipe = Recipe { node_type: Arc::clone(node_type), knobs, counts, driven, sources, fixed };
    Ok(Definition { work: Work::Run(Arc::new(recipe)), feeds })
}

fn pass(
    registry: &Registry,
    node_type: &NodeType,
    input: impl Fn(&SocketId) -> Result<Vec<Origin>, NodeError>,
) -> Result<Definition, NodeError> {
    let mut feeds = Vec::new();
    let mut passes = Vec::new();
    for output in &node_type.outputs {
        let fitting = node_type.inputs.iter().filter(|spec| registry.fits(spec.socket_type, output.socket_type));
        let mut feed = None;
        for spec in fitting {
            if let Some(origin) = input(&spec.id)?.into_iter().next() {
                feed = Some(feeds.len() as u32);
                feeds.push(origin);
                break;
            }
        }
        passes.push(feed);
    }
    Ok(Definition { work: Work::Pass(passes.into()), feeds })
}

/// A file knob's path as it is to be opened: relative ones start at the document's folder.
pub(super) fn in_folder(value: KnobValue, folder: Option<&Path>) -> KnobValue {
    match (value, folder) {
        (KnobValue::File(path), Some(folder)) if !path.is_empty() => {
            KnobValue::File(folder.join(&*path).to_string_lossy().into())
        }
        (value, _) => value,
    }
}
