//! Upper percentiles of many numbers, of which only the highest are kept.

/// The numbers above a level. They are not negative; what is none is not counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct High {
    /// Only greater numbers are kept.
    pub level: f32,
    /// The kept ones, in any order.
    pub values: Vec<f32>,
    /// How many equal the level.
    pub equal: u64,
}

impl High {
    /// Nothing yet. Above a negative level everything is kept.
    pub fn above(level: f32) -> Self {
        Self { level, values: Vec::new(), equal: 0 }
    }
}

/// Percentiles of `length` numbers, those of all parts together: each between the two numbers nearest to its place in their
/// order, as numpy has it by default; `map` is applied to the numbers before. NaN for no numbers; `None` if one of the
/// places is below the level of a part.
///
/// The numbers are counted by the upper half of their bits, and only those that share it with one that is asked for are put
/// in order.
pub(super) fn percentiles<const N: usize>(
    parts: &[&High],
    length: usize,
    shares: [f64; N],
    map: impl Fn(f64) -> f64,
) -> Option<[f64; N]> {
    let level = parts.iter().map(|part| part.level).fold(f32::NEG_INFINITY, f32::max);
    let values = || parts.iter().flat_map(|part| &part.values).copied().filter(|&value| value > level);
    let equal: u64 = parts.iter().filter(|part| part.level == level).map(|part| part.equal).sum::<u64>()
        + parts.iter().flat_map(|part| &part.values).filter(|&&value| value == level).count() as u64;
    // Numbers that are not negative have no sign in their bits.
    let mut counts = vec![0u32; 1 << 15];
    values().for_each(|value| counts[upper(value)] += 1);
    let kept: usize = counts.iter().map(|&count| count as usize).sum();
    if length == 0 || kept + equal as usize == 0 {
        return Some([f64::NAN; N]);
    }

    // Places from the top, of the two numbers of each share.
    let places = shares.map(|share| {
        let place = share * (length - 1) as f64;
        let below = place.floor() as usize;
        ([below, (below + 1).min(length - 1)].map(|place| length - 1 - place), place - place.floor())
    });
    let everything = level < 0.0;
    let rest = if everything { f32::NAN } else { level };
    let mut found: Vec<(usize, f32)> =
        places.iter().flat_map(|(places, _)| *places).map(|place| (place, rest)).collect();
    if !everything && found.iter().any(|&(place, _)| place >= kept + equal as usize) {
        return None;
    }
    found.sort_unstable_by_key(|&(place, _)| place);
    let mut above = 0;
    for (bucket, count) in
        counts.into_iter().map(|count| count as usize).enumerate().rev().filter(|&(_, count)| count > 0)
    {
        if found.iter().any(|(place, _)| (above..above + count).contains(place)) {
            let mut of: Vec<f32> = values().filter(|&value| upper(value) == bucket).collect();
            of.sort_unstable_by(|a, b| b.total_cmp(a));
            for (place, value) in &mut found {
                if (above..above + count).contains(place) {
                    *value = of[*place - above];
                }
            }
        }
        above += count;
    }
    let at = |place: usize| {
        let known = found.binary_search_by_key(&place, |&(place, _)| place);
        map(f64::from(known.map_or(f32::NAN, |k| found[k].1)))
    };
    Some(places.map(|([low, high], between)| {
        let (low, high) = (at(low), at(high));
        low + (high - low) * between
    }))
}

/// The upper half of the bits, which rises with the number.
fn upper(value: f32) -> usize {
    (value.to_bits() >> 16 & 0x7fff) as usize
}

/// A level that some share of a sample of the numbers is above; below all numbers if the sample is too small to tell.
pub(super) fn level(sample: &mut [f32], share: f64) -> f32 {
    let place = (share * sample.len() as f64).ceil() as usize;
    if place >= sample.len() {
        return -1.0;
    }
    *sample.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(values: &[f32], share: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let place = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        f64::from(low) + (f64::from(high) - f64::from(low)) * place.fract()
    }

    fn high(values: &[f32], level: f32) -> High {
        let equal = values.iter().filter(|&&value| value == level).count() as u64;
        High { level, values: values.iter().copied().filter(|&value| value > level).collect(), equal }
    }

    fn shares(parts: &[&High], length: usize) -> Option<[f64; 3]> {
        percentiles(parts, length, [0.95, 0.99, 1.0], |v| v)
    }

    #[test]
    fn percentiles_of_one_to_a_hundred_are_known() {
        let values: Vec<f32> = (1..=101).map(|k| k as f32).collect();
        assert_eq!(shares(&[&high(&values, -1.0)], 101), Some([96.0, 100.0, 101.0]));
        assert_eq!(shares(&[&high(&values, 95.0)], 101), Some([96.0, 100.0, 101.0]));
        assert_eq!(shares(&[&high(&values, 97.0)], 101), None, "96 was not kept");
        assert_eq!(shares(&[&high(&[7.0], -1.0)], 1), Some([7.0; 3]));
        assert!(shares(&[&high(&[], -1.0)], 0).unwrap()[0].is_nan());
    }

    #[test]
    fn any_order_level_and_division_gives_what_sorting_gives() {
        let count = 40_000;
        let mixed = |k: u32| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6;
        let rising: Vec<f32> = (0..count).map(|k| k as f32 * 0.5).collect();
        let falling: Vec<f32> = rising.iter().rev().copied().collect();
        let random: Vec<f32> = (0..count).map(mixed).collect();
        let few: Vec<f32> = (0..count).map(|k| (k % 3) as f32).collect();
        let same = vec![1.0; count as usize];
        for values in [rising, falling, random, few, same] {
            let expected = [0.95, 0.99, 1.0].map(|share| plain(&values, share));
            let guess = level(&mut values.clone(), 0.07);
            for (a, b) in [(-1.0, -1.0), (guess, guess), (guess, -1.0), (-1.0, guess)] {
                let (left, right) = values.split_at(12_345);
                let (left, right) = (high(left, a), high(right, b));
                assert_eq!(shares(&[&left, &right], values.len()), Some(expected), "levels {a} and {b}");
            }
        }
    }

    #[test]
    fn a_level_of_a_small_sample_keeps_everything() {
        assert_eq!(level(&mut [], 0.07), -1.0);
        assert_eq!(level(&mut [3.0], 0.07), -1.0);
        assert_eq!(level(&mut [3.0, 1.0, 2.0, 4.0], 0.5), 2.0);
    }
}
