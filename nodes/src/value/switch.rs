//! `value.switch`.

use sinew_graph::{NodeError, Result, Value, node};

/// Passes one of two values of any type.
#[node(id = "value.switch", revision = 1)]
pub fn switch(
    /// Which: off passes the first, on the second.
    #[param(default = false)]
    on: bool,
    /// Passed while the switch is off.
    if_off: Option<&Value>,
    /// Passed while the switch is on.
    if_on: Option<&Value>,
) -> Result<Value> {
    let (chosen, socket) = if on { (if_on, "if_on") } else { (if_off, "if_off") };
    chosen.cloned().ok_or_else(|| {
        let state = if on { "on" } else { "off" };
        NodeError::new("nothing is connected")
            .at(socket)
            .help(format!("the switch is {state}: connect what it passes then"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_graph::basic::{Number, Text};

    #[test]
    fn a_switch_passes_the_chosen_value_only() {
        let (off, on) = (Value::new(Number(1.0)), Value::new(Text("on".into())));
        assert_eq!(switch(false, Some(&off), Some(&on)).unwrap().get(), Some(&Number(1.0)));
        assert_eq!(switch(true, Some(&off), Some(&on)).unwrap().get(), Some(&Text("on".into())));
        assert!(switch(false, Some(&off), None).is_ok());
        let error = switch(true, Some(&off), None).unwrap_err().to_string();
        assert_eq!(error, "if_on: nothing is connected; the switch is on: connect what it passes then");
    }
}
