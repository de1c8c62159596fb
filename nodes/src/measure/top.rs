//! Upper percentiles of a stream, without keeping it.

/// Keeps the largest values of a stream of known length: enough for exact percentiles at and above a share. Memory is
/// twice the kept part; time per value is constant on average, whatever their order.
#[derive(Debug)]
pub(super) struct Top {
    /// How many values the whole stream has.
    length: usize,
    /// How many of the largest are needed.
    keep: usize,
    kept: Vec<f32>,
    /// No smaller value can be among the largest.
    least: f32,
}

impl Top {
    /// For percentiles of `share` (0 to 1) and above over a stream of `length` values.
    pub fn new(length: usize, share: f64) -> Self {
        let below = (share * length.saturating_sub(1) as f64).floor() as usize;
        Self { length, keep: length.saturating_sub(below).max(1), kept: Vec::new(), least: f32::NEG_INFINITY }
    }

    /// Values up to this one need not be added.
    pub fn least(&self) -> f32 {
        self.least
    }

    /// Adds values; none may be NaN.
    pub fn extend(&mut self, values: &[f32]) {
        for &value in values {
            if value > self.least {
                self.kept.push(value);
                if self.kept.len() >= 2 * self.keep.max(512) {
                    self.cut();
                }
            }
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.keep {
            self.kept.select_nth_unstable_by(self.keep - 1, |a, b| b.total_cmp(a));
            self.kept.truncate(self.keep);
            self.least = self.kept[self.keep - 1];
        }
    }

    /// Percentiles, each between the two values nearest to its place in the sorted stream, as numpy has it by default;
    /// `map` is applied to the values before. `shares` must rise and be no less than the share announced. NaN for an
    /// empty stream.
    pub fn percentiles<const N: usize>(mut self, shares: [f64; N], map: impl Fn(f64) -> f64) -> [f64; N] {
        if self.length == 0 || self.kept.is_empty() {
            return [f64::NAN; N];
        }
        // Equal values beyond the least are not kept, so what is missing at the end equals it.
        self.kept.sort_unstable_by(|a, b| b.total_cmp(a));
        let at = |place: usize| {
            let from_top = self.length - 1 - place;
            map(f64::from(self.kept.get(from_top).copied().unwrap_or(self.least)))
        };
        shares.map(|share| {
            let place = share * (self.length - 1) as f64;
            let below = place.floor() as usize;
            let (low, high) = (at(below), at((below + 1).min(self.length - 1)));
            low + (high - low) * (place - place.floor())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(values: &[f32], share: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let place = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        f64::from(low) + f64::from(high - low) * place.fract()
    }

    fn streamed(values: &[f32]) -> [f64; 3] {
        let mut top = Top::new(values.len(), 0.95);
        values.chunks(1000).for_each(|chunk| top.extend(chunk));
        top.percentiles([0.95, 0.99, 1.0], |v| v)
    }

    #[test]
    fn percentiles_of_one_to_a_hundred_are_known() {
        let values: Vec<f32> = (1..=101).map(|k| k as f32).collect();
        assert_eq!(streamed(&values), [96.0, 100.0, 101.0]);
        assert_eq!(streamed(&[7.0]), [7.0; 3]);
        assert!(streamed(&[])[0].is_nan());
    }

    #[test]
    fn any_order_gives_what_sorting_gives() {
        let count = 40_000;
        let mixed = |k: u32| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6;
        let rising: Vec<f32> = (0..count).map(|k| k as f32 * 0.5).collect();
        let falling: Vec<f32> = rising.iter().rev().copied().collect();
        let random: Vec<f32> = (0..count).map(mixed).collect();
        let few: Vec<f32> = (0..count).map(|k| (k % 3) as f32).collect();
        let same = vec![1.0; count as usize];
        for values in [rising, falling, random, few, same] {
            let expected = [0.95, 0.99, 1.0].map(|share| plain(&values, share));
            for (found, expected) in streamed(&values).iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found} is not {expected}");
            }
        }
    }
}
