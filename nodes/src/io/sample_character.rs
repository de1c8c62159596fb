//! Characters made without a file.

use sinew_graph::Choice;

/// Which character.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// A fox whose tail, two shells, hangs on its left shin and its thighs.
    #[default]
    Fox,
    /// A rat with a long thin tail curled to one side, without tail bones; saved with a hand turned by 28 degrees.
    Rat,
    /// The rat with a chain of tail bones, the last of them saved turned by 28 degrees.
    RatRigged,
    /// A human figure without a tail.
    Biped,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sample;
    #[test]
    fn dump() {
        let t = std::time::Instant::now();
        let b = sample::glb(Sample::Fox, sample::Detail(1.0), &sinew_graph::Cx::detached()).unwrap();
        println!("{:?}", t.elapsed());
        std::fs::write("/tmp/validator/fox.glb", b).unwrap();
    }
}
