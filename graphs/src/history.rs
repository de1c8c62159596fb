//! Undo and redo: one step per gesture, each with a name, none of them a preview.
//!
//! A step keeps what the edit changed, not the document, and unchanged parts are shared: a history of ten thousand
//! moves is small. Edits that change nothing make no step.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::document::Document;
use crate::edit::{Edit, EditError};
use crate::registry::Registry;

/// What was done to one document, and how to go back and forth. Every edit of the document must come through here.
#[derive(Clone, Debug, Default)]
pub struct History {
    steps: VecDeque<Step>,
    /// How many steps are done; those behind were undone.
    done: usize,
    /// The position that is on the disk; `None` if no step leads back to it.
    saved: Option<usize>,
    limit: Option<usize>,
}

#[derive(Clone, Debug)]
struct Step {
    name: Arc<str>,
    /// Undoes it while it is done, redoes it while it is undone.
    turn: Edit,
}

impl History {
    /// The history of a document as it is on the disk.
    pub fn new() -> Self {
        Self { saved: Some(0), ..Self::default() }
    }

    /// The history of a document that is not on the disk as it is: recovered, or brought up to date while loading.
    pub fn unsaved() -> Self {
        Self::default()
    }

    /// Lets go of the oldest steps beyond `steps`.
    pub fn with_limit(self, steps: usize) -> Self {
        Self { limit: Some(steps), ..self }
    }

    /// Makes an edit and notes it as one step. False if it changed nothing; nothing is noted then.
    pub fn apply(&mut self, document: &mut Document, edit: &Edit, registry: &Registry) -> Result<bool, EditError> {
        self.apply_named(document, edit, &edit.name(document), registry)
    }

    /// The same, under a name of the caller's.
    pub fn apply_named(
        &mut self,
        document: &mut Document,
        edit: &Edit,
        name: &str,
        registry: &Registry,
    ) -> Result<bool, EditError> {
        let turn = document.apply(edit, registry)?;
        if matches!(&turn, Edit::Changes(changes) if changes.is_empty()) {
            return Ok(false);
        }
        self.steps.truncate(self.done);
        self.saved = self.saved.filter(|saved| *saved <= self.done);
        self.steps.push_back(Step { name: name.into(), turn });
        self.done += 1;
        while self.limit.is_some_and(|limit| self.steps.len() > limit) {
            self.steps.pop_front();
            self.done -= 1;
            self.saved = self.saved.and_then(|saved| saved.checked_sub(1));
        }
        Ok(true)
    }

    /// Takes the last step back and gives its name; `None` if there is none.
    pub fn undo(&mut self, document: &mut Document, registry: &Registry) -> Result<Option<Arc<str>>, EditError> {
        let Some(before) = self.done.checked_sub(1) else { return Ok(None) };
        let name = self.turn(before, document, registry)?;
        self.done = before;
        Ok(name)
    }

    /// Makes the next step again and gives its name; `None` if there is none.
    pub fn redo(&mut self, document: &mut Document, registry: &Registry) -> Result<Option<Arc<str>>, EditError> {
        let name = self.turn(self.done, document, registry)?;
        if name.is_some() {
            self.done += 1;
        }
        Ok(name)
    }

    /// Goes to where `done` steps are done, or as far as there are steps.
    pub fn jump(&mut self, document: &mut Document, done: usize, registry: &Registry) -> Result<(), EditError> {
        while self.done > done && self.undo(document, registry)?.is_some() {}
        while self.done < done && self.redo(document, registry)?.is_some() {}
        Ok(())
    }

    /// The names of all steps, done and undone, oldest first.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.steps.iter().map(|step| &*step.name)
    }

    /// How many of [`names`](Self::names) are done.
    pub fn position(&self) -> usize {
        self.done
    }

    /// The name of what undo would take back.
    pub fn undo_name(&self) -> Option<&str> {
        self.done.checked_sub(1).and_then(|k| self.steps.get(k)).map(|step| &*step.name)
    }

    /// The name of what redo would make again.
    pub fn redo_name(&self) -> Option<&str> {
        self.steps.get(self.done).map(|step| &*step.name)
    }

    /// Notes that the document is on the disk as it is now.
    pub fn mark_saved(&mut self) {
        self.saved = Some(self.done);
    }

    /// Whether the document differs from the disk.
    pub fn is_dirty(&self) -> bool {
        self.saved != Some(self.done)
    }

    /// Forgets all steps, and keeps whether the document is on the disk.
    pub fn clear(&mut self) {
        let saved = (!self.is_dirty()).then_some(0);
        *self = Self { saved, limit: self.limit, ..Self::default() };
    }

    fn turn(&mut self, at: usize, document: &mut Document, registry: &Registry) -> Result<Option<Arc<str>>, EditError> {
        let Some(step) = self.steps.get_mut(at) else { return Ok(None) };
        step.turn = document.apply(&step.turn, registry)?;
        Ok(Some(Arc::clone(&step.name)))
    }
}
