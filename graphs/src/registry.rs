//! What node types there are: their sockets, knobs, help and function; and what converts into what.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::column::{ColumnError, Columns};
use crate::cx::Cx;
use crate::error::{NodeError, Result};
use crate::ids::{KnobId, NodeTypeId, SocketId};
use crate::knob::{Knob, KnobSpec, KnobValue};
use crate::value::{Data, DataType, DataTypeId, Value};

/// What a socket takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketType {
    /// Any value.
    Any,
    /// Values of one type, and what converts into it.
    Of(&'static DataType),
}

impl SocketType {
    /// The type's label, or `Any`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Any => "Any",
            Self::Of(data_type) => data_type.label,
        }
    }
}

/// How many wires an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number, in the order of the wires.
    Many,
}

/// An input of a node type.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// The stable id.
    pub id: SocketId,
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text.
    pub help: Arc<str>,
    /// What it takes.
    pub socket_type: SocketType,
    /// How many wires it takes.
    pub arity: Arity,
}

/// An output of a node type.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSpec {
    /// The stable id.
    pub id: SocketId,
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text.
    pub help: Arc<str>,
    /// What it gives.
    pub socket_type: SocketType,
}

/// The function behind a node type, over values in the order of the specs.
pub type RunFn = Arc<dyn Fn(&Call, &Cx) -> Result<Vec<Value>> + Send + Sync>;

/// Makes a value from its columns, for what comes from disk.
pub type DecodeFn = fn(&Columns) -> Result<Value, ColumnError>;

/// The decoder of a data type.
pub fn decoder<T: Data>() -> (DataTypeId, DecodeFn) {
    (T::TYPE.id, |columns| T::from_columns(columns).map(Value::new))
}

/// Brings what was saved by an older revision to the current one.
pub type UpgradeFn = fn(from: u32, saved: &mut SavedNode);

/// A node as it was saved, for [`UpgradeFn`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedNode {
    /// Its knobs.
    pub knobs: BTreeMap<KnobId, KnobValue>,
    /// Old names of inputs to new ones; wires follow.
    pub renamed_inputs: BTreeMap<SocketId, SocketId>,
    /// Old names of outputs to new ones; wires follow.
    pub renamed_outputs: BTreeMap<SocketId, SocketId>,
}

/// A node type. Made by `#[node]` from a function, or by a plugin at run time.
#[derive(Clone)]
pub struct NodeType {
    /// The stable id: `mesh.weld`.
    pub id: NodeTypeId,
    /// Raised whenever the same inputs give another result, so that no old result is taken for a new one.
    pub revision: u32,
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text.
    pub help: Arc<str>,
    /// Its inputs, in order.
    pub inputs: Vec<InputSpec>,
    /// Its parameters, in order.
    pub knobs: Vec<KnobSpec>,
    /// Its outputs, in order.
    pub outputs: Vec<OutputSpec>,
    /// Whether its outputs are digested, so that equal outputs stop a recomputation downstream.
    pub cut_off: bool,
    /// How its outputs are made from columns; those of unknown type are left to the node types that name theirs.
    pub decoders: Vec<(DataTypeId, DecodeFn)>,
    /// How older saved nodes become current ones.
    pub upgrade: Option<UpgradeFn>,
    /// The function.
    pub run: RunFn,
}

impl NodeType {
    /// The knob called `id`.
    pub fn knob(&self, id: &str) -> Option<&KnobSpec> {
        self.knobs.iter().find(|knob| knob.id == *id)
    }

    /// The input called `id`.
    pub fn input(&self, id: &str) -> Option<&InputSpec> {
        self.inputs.iter().find(|input| input.id == *id)
    }

    /// The output called `id`.
    pub fn output(&self, id: &str) -> Option<&OutputSpec> {
        self.outputs.iter().find(|output| output.id == *id)
    }
}

impl fmt::Debug for NodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeType({} r{})", self.id, self.revision)
    }
}

/// The arguments of one run, in the order of the node type's specs.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Per input: no, one or many values, already converted to its type.
    pub inputs: Vec<Vec<Value>>,
    /// Per knob: its value, set, driven or default.
    pub knobs: Vec<KnobValue>,
}

impl Call {
    /// Input `k` as `T`; an error if nothing is connected.
    pub fn one<T: Data>(&self, k: usize, id: &str) -> Result<&T> {
        self.optional(k, id)?.ok_or_else(|| missing(id, T::TYPE.label))
    }

    /// Input `k` as `T` if something is connected.
    pub fn optional<T: Data>(&self, k: usize, id: &str) -> Result<Option<&T>> {
        self.optional_any(k).map(|value| typed(value, id)).transpose()
    }

    /// All values of input `k` as `T`.
    pub fn many<T: Data>(&self, k: usize, id: &str) -> Result<Vec<&T>> {
        self.many_any(k).into_iter().map(|value| typed(value, id)).collect()
    }

    /// Input `k` whatever its type; an error if nothing is connected.
    pub fn one_any(&self, k: usize, id: &str) -> Result<&Value> {
        self.optional_any(k).ok_or_else(|| missing(id, "any value"))
    }

    /// Input `k` whatever its type, if something is connected.
    pub fn optional_any(&self, k: usize) -> Option<&Value> {
        self.inputs.get(k).and_then(|values| values.first())
    }

    /// All values of input `k`, whatever their types.
    pub fn many_any(&self, k: usize) -> Vec<&Value> {
        self.inputs.get(k).map(|values| values.iter().collect()).unwrap_or_default()
    }

    /// Knob `k` as `T`.
    pub fn knob<T: Knob>(&self, k: usize, id: &str) -> Result<T> {
        let value = self.knobs.get(k).ok_or_else(|| NodeError::new("no value was given").at(id))?;
        T::read(value).ok_or_else(|| {
            NodeError::new(format!("{value:?} is of the wrong kind")).at(id).help("reset the parameter to its default")
        })
    }
}

fn missing(id: &str, what: &str) -> NodeError {
    NodeError::new("nothing is connected").at(id).help(format!("connect an output of type {what}"))
}

fn typed<'a, T: Data>(value: &'a Value, id: &str) -> Result<&'a T> {
    value.get::<T>().ok_or_else(|| {
        NodeError::new(format!("takes {} but was given {}", T::TYPE.label, value.data_type().label)).at(id)
    })
}

/// What a node function returns: one value, or a struct of several that derives `Outputs`.
pub trait Outputs {
    /// The outputs, in order.
    fn specs() -> Vec<OutputSpec>;

    /// How values of these outputs are made from columns.
    fn decoders() -> Vec<(DataTypeId, DecodeFn)>;

    /// The values, in the same order.
    fn into_values(self) -> Vec<Value>;
}

impl<T: Data> Outputs for T {
    fn specs() -> Vec<OutputSpec> {
        vec![OutputSpec {
            id: T::TYPE.id.0.into(),
            label: T::TYPE.label.into(),
            help: T::TYPE.help.into(),
            socket_type: SocketType::Of(&T::TYPE),
        }]
    }

    fn decoders() -> Vec<(DataTypeId, DecodeFn)> {
        vec![decoder::<T>()]
    }

    fn into_values(self) -> Vec<Value> {
        vec![Value::new(self)]
    }
}

impl Outputs for Value {
    fn specs() -> Vec<OutputSpec> {
        vec![OutputSpec {
            id: "value".into(),
            label: "Value".into(),
            help: "The value.".into(),
            socket_type: SocketType::Any,
        }]
    }

    fn decoders() -> Vec<(DataTypeId, DecodeFn)> {
        Vec::new()
    }

    fn into_values(self) -> Vec<Value> {
        vec![self]
    }
}

/// A conversion between two data types.
#[derive(Clone, Copy)]
pub struct Conversion {
    /// What it takes.
    pub from: DataTypeId,
    /// What it gives.
    pub to: DataTypeId,
    /// How.
    pub convert: fn(&Value) -> Result<Value>,
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conversion({} -> {})", self.from, self.to)
    }
}

/// All node types, data types and conversions that a program knows.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    nodes: BTreeMap<NodeTypeId, Arc<NodeType>>,
    data_types: BTreeMap<DataTypeId, &'static DataType>,
    decoders: BTreeMap<&'static str, DecodeFn>,
    conversions: BTreeMap<(DataTypeId, DataTypeId), Conversion>,
    renamed: BTreeMap<NodeTypeId, NodeTypeId>,
}

impl Registry {
    /// Adds a node type. Refused, with the reason, if the id is taken or the type contradicts itself.
    pub fn add(&mut self, node: NodeType) -> Result<(), RegistryError> {
        let id = node.id.clone();
        if self.nodes.contains_key(&id) {
            return Err(RegistryError::Taken { id });
        }
        let mut names: Vec<&str> = node.inputs.iter().map(|input| input.id.as_str()).collect();
        names.extend(node.knobs.iter().map(|knob| knob.id.as_str()));
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(RegistryError::Twice { id, name: twice[0].into() });
        }
        for knob in &node.knobs {
            knob.kind.check(&knob.default).map_err(|reason| RegistryError::Default {
                id: id.clone(),
                name: knob.id.to_string(),
                reason,
            })?;
        }
        let inputs = node.inputs.iter().map(|input| input.socket_type);
        for socket_type in inputs.chain(node.outputs.iter().map(|output| output.socket_type)) {
            if let SocketType::Of(data_type) = socket_type {
                self.data_types.insert(data_type.id, data_type);
            }
        }
        self.decoders.extend(node.decoders.iter().map(|&(id, decode)| (id.0, decode)));
        self.nodes.insert(id, Arc::new(node));
        Ok(())
    }

    /// Adds a conversion; a later one for the same pair replaces an earlier one.
    pub fn add_conversion(&mut self, conversion: Conversion) {
        self.conversions.insert((conversion.from, conversion.to), conversion);
    }

    /// Says that a node type has a new id; saved graphs follow.
    pub fn rename(&mut self, old: impl Into<NodeTypeId>, new: impl Into<NodeTypeId>) {
        self.renamed.insert(old.into(), new.into());
    }

    /// The node type called `id`, under its old name or its new one.
    pub fn node(&self, id: &NodeTypeId) -> Option<&Arc<NodeType>> {
        self.nodes.get(id).or_else(|| self.nodes.get(self.renamed.get(id)?))
    }

    /// All node types in order of id.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<NodeType>> {
        self.nodes.values()
    }

    /// All data types in order of id.
    pub fn data_types(&self) -> impl Iterator<Item = &'static DataType> {
        self.data_types.values().copied()
    }

    /// How values of a data type are made from columns, if any node gives such values.
    pub fn decoder(&self, data_type: &str) -> Option<DecodeFn> {
        self.decoders.get(data_type).copied()
    }

    /// The conversion from one type to another.
    pub fn conversion(&self, from: DataTypeId, to: DataTypeId) -> Option<&Conversion> {
        self.conversions.get(&(from, to))
    }

    /// Whether an output of one type may be wired to an input of another, as it is or converted.
    pub fn fits(&self, from: SocketType, to: SocketType) -> bool {
        match (from, to) {
            (SocketType::Of(from), SocketType::Of(to)) => from.id == to.id || self.conversion(from.id, to.id).is_some(),
            // A value of unknown type is checked when it arrives.
            (SocketType::Any, _) | (_, SocketType::Any) => true,
        }
    }

    /// A value as a socket takes it.
    pub fn convert(&self, value: &Value, to: SocketType) -> Result<Value> {
        let SocketType::Of(to) = to else { return Ok(value.clone()) };
        let from = value.data_type();
        if from.id == to.id {
            return Ok(value.clone());
        }
        match self.conversion(from.id, to.id) {
            Some(conversion) => (conversion.convert)(value),
            None => Err(NodeError::new(format!("takes {} but was given {}", to.label, from.label))
                .help("connect an output of a fitting type")),
        }
    }
}

/// Why a node type was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Another node type has the id.
    #[error("there already is a node type {id}: choose another id")]
    Taken {
        /// The id.
        id: NodeTypeId,
    },
    /// Two sockets or knobs have the same name.
    #[error("{id} has two sockets or knobs called {name:?}: rename one")]
    Twice {
        /// The node type.
        id: NodeTypeId,
        /// The name.
        name: String,
    },
    /// A default does not fit its own kind or range.
    #[error("{id}: the default of {name:?} does not fit: {reason}")]
    Default {
        /// The node type.
        id: NodeTypeId,
        /// The knob.
        name: String,
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::{Integer, Number};
    use crate::{Choice, node};

    /// What to do.
    #[derive(Choice, Clone, Copy, Debug, Default, PartialEq)]
    enum Rule {
        /// Adds.
        #[default]
        Add,
        /// Multiplies.
        TimesThis,
    }

    /// Combines two numbers.
    ///
    /// With a rule.
    #[node(id = "test.combine", revision = 3)]
    fn combine(
        /// The first.
        a: &Number,
        /// The others.
        others: &[&Number],
        /// Which rule.
        #[param(default = Rule::Add)]
        rule: Rule,
        /// Added at the end.
        #[param(default = 0.1, range = 0.0..=1.0, unit = "heights")]
        offset: f32,
    ) -> Result<Number> {
        let others = others.iter().map(|n| n.0);
        let sum = match rule {
            Rule::Add => a.0 + others.sum::<f64>(),
            Rule::TimesThis => a.0 * others.product::<f64>(),
        };
        if sum.is_finite() { Ok(Number(sum + f64::from(offset))) } else { Err(NodeError::new("too large").at("a")) }
    }

    #[test]
    fn a_documented_function_is_a_node_type() {
        let node = node();
        assert_eq!((node.id.as_str(), node.revision, &*node.label), ("test.combine", 3, "Combine"));
        assert_eq!(&*node.help, "Combines two numbers.\n\nWith a rule.");
        assert_eq!((node.inputs[0].id.as_str(), node.inputs[0].arity), ("a", Arity::One));
        assert_eq!((&*node.inputs[1].help, node.inputs[1].arity), ("The others.", Arity::Many));
        assert_eq!(node.knobs[0].default, KnobValue::Choice("add".into()));
        assert_eq!(node.knobs[1].default, KnobValue::Number(0.1));
        assert!(node.knobs[1].kind.parse("1.5").is_err());
        assert_eq!(node.knobs[0].kind.parse("times_this"), Ok(KnobValue::Choice("times_this".into())));
        assert_eq!(node.outputs[0].id, "number");
    }

    #[test]
    fn a_node_type_runs_over_values_in_order() {
        let call = Call {
            inputs: vec![vec![Value::new(Number(2.0))], vec![Value::new(Number(3.0)), Value::new(Number(4.0))]],
            knobs: vec![KnobValue::Choice("times_this".into()), KnobValue::Number(0.5)],
        };
        let out = (node().run)(&call, &Cx::detached()).unwrap();
        assert_eq!(out[0].get::<Number>(), Some(&Number(24.5)));
        let none = Call { inputs: vec![vec![], vec![]], knobs: call.knobs.clone() };
        let error = (node().run)(&none, &Cx::detached()).unwrap_err();
        assert_eq!(error.to_string(), "a: nothing is connected; connect an output of type Number");
        assert_eq!(combine(&Number(1.0), &[], Rule::Add, 0.0), Ok(Number(1.0)));
    }

    #[test]
    fn an_id_belongs_to_one_node_type() {
        let mut registry = Registry::default();
        registry.add(node()).unwrap();
        assert_eq!(registry.add(node()), Err(RegistryError::Taken { id: "test.combine".into() }));
        let unfit = NodeType { id: "test.unfit".into(), ..node() };
        let unfit =
            NodeType { knobs: vec![KnobSpec { default: KnobValue::Number(7.0), ..unfit.knobs[1].clone() }], ..unfit };
        assert!(matches!(registry.add(unfit), Err(RegistryError::Default { .. })));
        assert!(!registry.fits(SocketType::Of(&Integer::TYPE), SocketType::Of(&Number::TYPE)));
    }
}
