//! Times our way beside a plain way in one run, and tells the ratio: absolute figures drift with the machine.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rows of figures under a title, printed as they come.
#[derive(Debug)]
pub struct Stopwatch {
    rounds: usize,
    /// Only rows with this in their name; empty for all.
    only: String,
}

impl Stopwatch {
    /// A stopwatch that takes the best of `rounds` runs: others share the machine, and they only ever add. Prints the heading. A word on the command line keeps the rows
    /// that have it in their name: `cargo bench --bench pipeline -- weld`.
    #[allow(clippy::print_stdout, reason = "a bench prints its figures")]
    pub fn new(title: &str, rounds: usize) -> Self {
        println!("\n{title}");
        println!("{:<46} {:>12} {:>14} {:>8} {:>12}", "", "ours", "plain", "ratio", "target");
        Self { rounds, only: std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default() }
    }

    /// Whether a row of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Times `ours` and `plain` in turn over `items` items each and prints a row: time per item in `unit`.
    pub fn row<A, B>(
        &self,
        name: &str,
        items: usize,
        unit: Unit,
        target: f64,
        mut ours: impl FnMut() -> A,
        mut plain: impl FnMut() -> B,
    ) {
        if !self.wants(name) {
            return;
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        black_box(ours());
        for _ in 0..self.rounds {
            a.push(time(&mut ours));
            b.push(time(&mut plain));
        }
        self.figures(name, unit.of(best(a), items), unit.of(best(b), items), unit, target);
    }

    /// Prints a row of figures that were measured elsewhere, in `unit`.
    #[allow(clippy::print_stdout, reason = "a bench prints its figures")]
    pub fn figures(&self, name: &str, ours: f64, plain: f64, unit: Unit, target: f64) {
        if !self.wants(name) {
            return;
        }
        let mut row = String::new();
        let _ =
            write!(row, "{name:<46} {ours:>9.2} {u} {plain:>11.2} {u} {r:>7.2}x", u = unit.label(), r = plain / ours);
        let _ = write!(row, " {target:>9.2} {}{}", unit.label(), if ours <= target { "" } else { "  MISSED" });
        println!("{row}");
    }
}

/// What a figure is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds an item.
    Nanoseconds,
    /// Milliseconds for all.
    Milliseconds,
    /// So many times what is given.
    Times,
}

impl Unit {
    /// A time in this unit; of `items` items if the unit is one item's.
    pub fn of(self, time: Duration, items: usize) -> f64 {
        match self {
            Self::Nanoseconds => time.as_secs_f64() * 1e9 / items.max(1) as f64,
            Self::Milliseconds => time.as_secs_f64() * 1e3,
            Self::Times => time.as_secs_f64(),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
            Self::Times => "x ",
        }
    }
}

/// How long one run takes.
pub fn time<T>(run: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

fn best(times: Vec<Duration>) -> Duration {
    times.into_iter().min().unwrap_or_default()
}

/// The median of some times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
