//! What a node says when it cannot do its work: what is wrong, where, and what the user can do next.

use std::fmt;

use crate::ids::SocketId;

/// A node's failure. It belongs to that node alone; what does not depend on it still computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    /// What happened.
    pub kind: ErrorKind,
    /// What is wrong, in a sentence.
    pub what: String,
    /// The socket or knob it is about.
    pub at: Option<SocketId>,
    /// The next step for the user.
    pub help: Option<String>,
}

/// How a node ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// It said so.
    Failed,
    /// It panicked: a bug of the node, caught.
    Panicked,
    /// It was cancelled; nobody wants its result any more.
    Cancelled,
}

impl NodeError {
    /// A failure with its reason.
    pub fn new(what: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Failed, what: what.into(), at: None, help: None }
    }

    /// Names the socket or knob at fault.
    pub fn at(mut self, socket: impl Into<SocketId>) -> Self {
        self.at = Some(socket.into());
        self
    }

    /// Says what the user can do next.
    pub fn help(mut self, next: impl Into<String>) -> Self {
        self.help = Some(next.into());
        self
    }

    /// The answer to a cancelled [`crate::Cx`].
    pub fn cancelled() -> Self {
        Self { kind: ErrorKind::Cancelled, ..Self::new("cancelled") }
    }

    /// A caught panic.
    pub fn panicked(message: &str) -> Self {
        Self {
            kind: ErrorKind::Panicked,
            ..Self::new(format!("the node panicked: {message}"))
                .help("this is a bug of the node: please report it with the graph and its input")
        }
    }

    /// Whether this is the answer to a cancellation.
    pub fn is_cancelled(&self) -> bool {
        self.kind == ErrorKind::Cancelled
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.what)?;
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NodeError {}

/// What a node function returns when it can fail.
pub type Result<T, E = NodeError> = std::result::Result<T, E>;
