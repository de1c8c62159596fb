//! Older formats, brought to the current one step by step.
//!
//! A format change adds one file here, `NNN_what_changed.rs`: the shapes of format NNN that changed, frozen, a function
//! from its text to the text of format NNN + 1, and a fixture of each. It then has one line in [`CHAIN`] and is never
//! touched again. Texts, not parsed values, are handed on: RON values forget the names of enum variants.

use std::borrow::Cow;

use super::LoadError;

/// One step.
pub(super) struct Migration {
    /// The format that it takes; it gives the next one.
    pub from: u32,
    /// What it does to a text.
    pub migrate: fn(&str) -> Result<String, LoadError>,
}

/// All steps, by the format that they take.
pub(super) const CHAIN: &[Migration] = &[];

/// The text in the format `current`.
pub(super) fn to_current<'a>(
    text: &'a str,
    version: u32,
    chain: &[Migration],
    current: u32,
) -> Result<Cow<'a, str>, LoadError> {
    if version > current {
        return Err(LoadError::Newer { version });
    }
    let mut text = Cow::Borrowed(text);
    for from in version..current {
        let step = chain.iter().find(|step| step.from == from).ok_or(LoadError::Older { version })?;
        text = Cow::Owned((step.migrate)(&text)?);
    }
    Ok(text)
}
