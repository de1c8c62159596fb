//! What ids may look like. A wire is written `node.socket -> node.socket`, so a node id holds no dot and no id any
//! white space; everything else, any script included, is allowed.

/// Checks the id of a node.
pub(crate) fn check_node_id(id: &str) -> Result<(), String> {
    if id.contains('.') {
        return Err(format!("{id:?} has a dot: a node id is a word without dots, such as \"weld2\""));
    }
    check_id(id)
}

/// Checks the id of a graph, frame, socket, knob or node type.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    if id.is_empty() {
        return Err("an id is empty: give it a name".into());
    }
    match id.chars().find(|c| c.is_whitespace() || c.is_control()) {
        Some(c) => Err(format!("{id:?} has {c:?} in it: an id is one word without spaces")),
        None => Ok(()),
    }
}
