//! `motion.select_clips`.

use sinew_graph::{Cx, NodeError, Result, node};

use crate::data::Clips;

/// Chooses clips by name.
///
/// Names are patterns apart from case: `*` stands for any text, `?` for one character. A clip is chosen if one of the
/// patterns fits its whole name, or what is behind its last `|`, which exporters put before the name proper.
#[node(id = "motion.select_clips", revision = 1)]
pub fn select_clips(
    /// The clips to choose from.
    clips: &Clips,
    /// Patterns, apart by commas: `walk*, run`. Empty for all.
    #[param(default = String::new())]
    names: String,
    /// Choose those that no pattern fits.
    #[param(default = false)]
    others: bool,
    _cx: &Cx,
) -> Result<Clips> {
    let patterns: Vec<Vec<char>> = names.split(',').map(str::trim).filter(|p| !p.is_empty()).map(lower).collect();
    let fits = |name: &str| {
        let proper = name.rsplit('|').next().unwrap_or(name);
        patterns.is_empty() || patterns.iter().any(|p| fit(p, &lower(name)) || fit(p, &lower(proper)))
    };
    let chosen: Vec<_> = clips.clips.iter().filter(|clip| fits(&clip.name) != others).cloned().collect();
    if chosen.is_empty() && !clips.clips.is_empty() {
        let all: Vec<&str> = clips.clips.iter().map(|clip| &*clip.name).collect();
        return Err(NodeError::new(format!("no clip is called {names:?}"))
            .at("names")
            .help(format!("choose among {}", all.join(", "))));
    }
    Ok(Clips { clips: chosen })
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a pattern fits a whole text. Goes back to the last `*` only, so that no pattern takes more than the product of
/// both lengths.
fn fit(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Clip;

    fn chosen(names: &str, others: bool) -> Result<Vec<String>> {
        let clip = |name: &str| Clip { name: name.into(), duration: 1.0, channels: vec![] };
        let clips = Clips { clips: ["Armature|Walk", "Walk_Gun", "Run", "Läufer"].map(clip).to_vec() };
        let chosen = select_clips(&clips, names.into(), others, &Cx::detached())?;
        Ok(chosen.clips.iter().map(|clip| clip.name.to_string()).collect())
    }

    #[test]
    fn patterns_choose_clips() {
        assert_eq!(chosen("walk", false).unwrap(), ["Armature|Walk"]);
        assert_eq!(chosen("walk*, r?n", false).unwrap(), ["Armature|Walk", "Walk_Gun", "Run"]);
        assert_eq!(chosen("*walk*", true).unwrap(), ["Run", "Läufer"]);
        assert_eq!(chosen("LÄU*", false).unwrap(), ["Läufer"]);
        assert_eq!(chosen(" , ", false).unwrap().len(), 4);
        let error = chosen("swim", false).unwrap_err().to_string();
        assert_eq!(error, "names: no clip is called \"swim\"; choose among Armature|Walk, Walk_Gun, Run, Läufer");
        assert!(select_clips(&Clips::default(), "x".into(), false, &Cx::detached()).unwrap().clips.is_empty());
    }

    #[test]
    fn a_long_pattern_takes_no_time() {
        let (pattern, text) = ("*a".repeat(200) + "b", "a".repeat(2_000));
        assert!(!fit(&lower(&pattern), &lower(&text)));
    }
}
