//! Chains as they are seen: what the model and the curves of a chain have to agree in.

use std::collections::BTreeSet;
use std::sync::Arc;

use sinew_graph::{NodeError, Result};

use super::view::{Screen, angle, wrap};
use crate::data::{Motion, MovedChain, Track};

/// A link that is seen shorter than this share of its length has no direction on screen.
const END_ON: f64 = 1e-3;

/// The longest id that the format holds.
const LONGEST_ID: usize = 63;

/// A chain at rest, link by link.
pub struct SeenRest {
    /// Ids of its parameters.
    pub parameters: Vec<Arc<str>>,
    /// Where each link points relative to the one before; the first relative to the screen. Degrees.
    pub angles: Vec<f64>,
    /// How long each link is seen, file units.
    pub lengths: Vec<f64>,
}

/// What became of the links of a chain, as it is seen.
pub struct SeenTrack {
    /// Degrees per link and sample, relative to the link before and to the rest, running on beyond 180.
    pub angles: Vec<Vec<f64>>,
    /// Per link, at how many samples it had no direction on screen.
    pub end_on: Vec<usize>,
    /// Per link, the least share of its length that was seen.
    pub least: Vec<f64>,
}

/// All chains of a motion at rest.
pub fn rests(motion: &Motion, screen: &Screen, prefix: &str) -> Result<Vec<SeenRest>> {
    let mut taken = BTreeSet::new();
    motion.chains.iter().map(|chain| rest(chain, screen, prefix, &mut taken)).collect()
}

fn rest(chain: &MovedChain, screen: &Screen, prefix: &str, taken: &mut BTreeSet<Arc<str>>) -> Result<SeenRest> {
    let (name, count) = (&chain.name, chain.lengths.len());
    let fits = count > 0
        && chain.rest.len() == count
        && chain.rest.iter().all(|direction| direction.is_normalized())
        && chain.lengths.iter().all(|length| length.is_finite() && *length >= 0.0);
    if !fits {
        return Err(NodeError::new(format!("the chain {name} has no links, or not a length and a direction for each"))
            .at("motion")
            .help("look at the node that made the motion"));
    }
    let mut seen =
        SeenRest { parameters: parameter_ids(name, count, prefix, taken)?, angles: Vec::new(), lengths: Vec::new() };
    let mut before = 0.0;
    for (link, (direction, length)) in chain.rest.iter().zip(chain.lengths.iter()).enumerate() {
        let flat = screen.see(*direction);
        if flat.length() < END_ON {
            return Err(NodeError::new(format!("link {} of {name} points at the viewer while it rests", link + 1))
                .at("view")
                .help("choose another view"));
        }
        let degrees = angle(flat);
        seen.angles.push(wrap(degrees - before));
        seen.lengths.push(flat.length() * length);
        before = degrees;
    }
    Ok(seen)
}

/// `ParamTail1` to `ParamTailN`; `ParamTail2_1` for a chain whose name ends in a number.
fn parameter_ids(chain: &str, count: usize, prefix: &str, taken: &mut BTreeSet<Arc<str>>) -> Result<Vec<Arc<str>>> {
    let plain: String = chain.chars().filter(|&c| c.is_ascii_alphanumeric() || c == '_').collect();
    let gap = if plain.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let prefix = prefix.trim();
    let start_fits = prefix.starts_with(|c: char| c.is_ascii_alphabetic());
    if plain.is_empty() || !start_fits || prefix.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        return Err(NodeError::new(format!("{prefix:?} before {chain:?} makes no id of a parameter"))
            .at("prefix")
            .help("ids are of ASCII letters, digits and _ and begin with a letter; rename the chain or the prefix"));
    }
    let id = |k: usize| -> Result<Arc<str>> {
        let id: Arc<str> = format!("{prefix}{plain}{gap}{k}").into();
        if id.len() > LONGEST_ID {
            return Err(NodeError::new(format!("the id {id} is longer than {LONGEST_ID} characters"))
                .at("prefix")
                .help("give a shorter prefix or name of the chain"));
        }
        if !taken.insert(Arc::clone(&id)) {
            return Err(NodeError::new(format!("two chains give a parameter the id {id}"))
                .at("motion")
                .help("give every chain its own name"));
        }
        Ok(id)
    };
    (1..=count).map(id).collect()
}

/// What became of a chain in a take. `whose` names chain and take in errors.
pub fn track(chain: &MovedChain, track: &Track, rest: &SeenRest, screen: &Screen, whose: &str) -> Result<SeenTrack> {
    let (links, samples) = (chain.lengths.len(), track.roots.len());
    if track.points.len() != links * samples || track.turns.len() != samples || samples == 0 {
        return Err(NodeError::new(format!("{whose} has no samples, or not a place for each of its {links} links"))
            .at("motion")
            .help("look at the node that made the motion"));
    }
    let mut seen = SeenTrack {
        angles: vec![Vec::with_capacity(samples); links],
        end_on: vec![0; links],
        least: vec![f64::INFINITY; links],
    };
    for sample in 0..samples {
        let back = track.turn(sample).normalize().conjugate();
        let mut line = track.line(sample);
        let (mut head, mut before) = (line.next().unwrap_or_default(), 0.0);
        for (link, end) in line.enumerate() {
            let way = back * (end - head);
            if !way.is_finite() {
                return Err(NodeError::new(format!("{whose}: link {} is nowhere at sample {sample}", link + 1))
                    .at("motion")
                    .help("look at the node that made the motion: a place there is not a finite number"));
            }
            let flat = screen.see(way);
            let share = flat.length() / way.length();
            let last = seen.angles[link].last().copied().unwrap_or(0.0);
            // A joint on top of another, or one that points at the viewer, keeps its bend.
            let bend = if chain.lengths[link] <= 0.0 || share.is_nan() || share < END_ON {
                seen.end_on[link] += usize::from(chain.lengths[link] > 0.0);
                last
            } else {
                last + wrap(angle(flat) - before - rest.angles[link] - last)
            };
            if !share.is_nan() {
                seen.least[link] = seen.least[link].min(share);
            }
            seen.angles[link].push(bend);
            before += rest.angles[link] + bend;
            head = end;
        }
    }
    Ok(seen)
}
