//! A node's panic as its error: caught, told with its place, and kept off the terminal.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs what may panic; gives what the panic said and where it was. A panic on another thread that `run` waits for is
/// caught too, but is also printed by that thread.
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                others(info);
            }
        }));
    });
    CATCHING.set(true);
    // Callers hand in only shared, immutable values and a context of the run, which no panic can leave half-changed.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    CATCHING.set(false);
    result.map_err(|panic| {
        let what = message(&*panic);
        match PLACE.take() {
            Some(place) => format!("{what} ({place})"),
            None => what.into(),
        }
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
