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

#[cfg(test)]
mod tests {
    use super::*;

    fn append(word: &'static str) -> fn(&str) -> Result<String, LoadError> {
        match word {
            "one" => |text| Ok(format!("{text} one")),
            _ => |text| Ok(format!("{text} two")),
        }
    }

    #[test]
    fn an_old_text_takes_every_step_in_order_and_a_current_one_none() {
        let chain = [Migration { from: 2, migrate: append("two") }, Migration { from: 1, migrate: append("one") }];
        let run = |version| to_current("text", version, &chain, 3).map(Cow::into_owned);
        assert_eq!(run(1), Ok("text one two".into()));
        assert_eq!(run(2), Ok("text two".into()));
        assert_eq!(run(3), Ok("text".into()));
        assert_eq!(run(4), Err(LoadError::Newer { version: 4 }));
        assert_eq!(run(0), Err(LoadError::Older { version: 0 }));
    }

    #[test]
    fn the_chain_leads_from_every_format_to_the_current_one() {
        let formats: Vec<u32> = CHAIN.iter().map(|step| step.from).collect();
        assert_eq!(formats, (1..super::super::VERSION).collect::<Vec<u32>>());
    }
}
