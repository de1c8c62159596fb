//! Wires as text: `weld.weld -> regions.weld`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::document::names::{check_id, check_node_id};
use crate::document::{InputEnd, OutputEnd};
use crate::ids::{NodeId, SocketId};

/// One end of a wire: `weld.mesh`.
#[derive(Debug)]
pub(super) struct End {
    pub node: NodeId,
    pub socket: SocketId,
}

/// A wire: `weld.weld -> regions.weld`.
#[derive(Debug)]
pub(super) struct Wire {
    pub from: End,
    pub to: End,
}

impl End {
    fn parse(text: &str) -> Result<Self, String> {
        let (node, socket) =
            text.split_once('.').ok_or_else(|| format!("{text:?} names no socket: write it as \"node.socket\""))?;
        check_node_id(node)?;
        check_id(socket)?;
        Ok(Self { node: node.into(), socket: socket.into() })
    }
}

impl Wire {
    fn parse(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once(" -> ")
            .ok_or_else(|| format!("{text:?} is not a wire: write it as \"node.output -> node.input\""))?;
        Ok(Self { from: End::parse(from)?, to: End::parse(to)? })
    }
}

impl From<End> for InputEnd {
    fn from(end: End) -> Self {
        Self { node: end.node, socket: end.socket }
    }
}

impl From<End> for OutputEnd {
    fn from(end: End) -> Self {
        Self { node: end.node, socket: end.socket }
    }
}

/// Text that is parsed where it stands, so that an error tells the line.
struct Parsed<T> {
    parse: fn(&str) -> Result<T, String>,
    what: &'static str,
}

impl<T> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parsed { parse: Self::parse, what: "a socket such as \"weld.mesh\"" })
    }
}

impl<'de> Deserialize<'de> for Wire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parsed { parse: Self::parse, what: "a wire such as \"a.mesh -> b.mesh\"" })
    }
}
