//! `#[node]`, `#[derive(Outputs)]` and `#[derive(Choice)]`: a documented function becomes a node type.

mod choice;
mod docs;
mod node;
mod outputs;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemFn, parse_macro_input};

/// Makes a node type of a function: beside it appears `pub fn node() -> NodeType`.
///
/// `#[node(id = "mesh.weld", revision = 1)]`, and optionally `label = "…"`, `cut_off` (digest the outputs so that equal
/// ones stop a recomputation) and `upgrade = path` (an `UpgradeFn`). The function stays callable as it is. Its doc
/// comment is the node's help, its parameters are, by type:
///
/// - `&T`: an input; `Option<&T>`: one that may stay open; `&[&T]`: one that takes many wires; `Value` for `T`: any type.
/// - `#[param(default = …, range = a..=b, unit = "…", extensions("glb", "gltf"))]`: a knob.
/// - `&Cx`: the context.
#[proc_macro_attribute]
pub fn node(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let attributes = parse_macro_input!(attributes as node::Attributes);
    let item = parse_macro_input!(item as ItemFn);
    node::expand(attributes, item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct of values the several outputs of a node. Each field's doc comment is the output's help.
#[proc_macro_derive(Outputs)]
pub fn outputs(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    outputs::expand(item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes an enum without fields a knob. Each variant's doc comment is the choice's help, its name in snake case the id.
#[proc_macro_derive(Choice)]
pub fn choice(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    choice::expand(item).unwrap_or_else(|error| error.to_compile_error()).into()
}
