//! Times our way beside a plain way in one run, and tells the ratio: absolute figures drift with the machine.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rows of figures under a title, printed as they come.
#[derive(Debug)]
pub struct Stopwatch {
    rounds: usize,
}

impl Stopwatch {
    /// A stopwatch that takes the median of `rounds` runs. Prints the heading.
    #[allow(clippy::print_stdout, reason = "a bench prints its figures")]
    pub fn new(title: &str, rounds: usize) -> Self {
        println!("\n{title}");
        println!("{:<46} {:>12} {:>14} {:>8} {:>12}", "", "ours", "plain", "ratio", "target");
        Self { rounds }
    }

    /// Times `ours` and `plain` in turn over `items` items each and prints a row: time per item in `unit`.
    #[allow(clippy::print_stdout, reason = "a bench prints its figures")]
    pub fn row<A, B>(
        &self,
        name: &str,
        items: usize,
        unit: Unit,
        target: f64,
        mut ours: impl FnMut() -> A,
        mut plain: impl FnMut() -> B,
    ) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        black_box(ours());
        for _ in 0..self.rounds {
            a.push(time(&mut ours));
            b.push(time(&mut plain));
        }
        let (a, b) = (unit.of(median(a), items), unit.of(median(b), items));
        let mut row = String::new();
        let _ = write!(row, "{name:<46} {a:>9.2} {u} {b:>11.2} {u} {r:>7.2}x", u = unit.label(), r = b / a);
        let _ = write!(row, " {target:>9.2} {}{}", unit.label(), if a <= target { "" } else { "  MISSED" });
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
}

impl Unit {
    fn of(self, time: Duration, items: usize) -> f64 {
        match self {
            Self::Nanoseconds => time.as_secs_f64() * 1e9 / items.max(1) as f64,
            Self::Milliseconds => time.as_secs_f64() * 1e3,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
        }
    }
}

/// How long one run takes.
pub fn time<T>(run: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

/// The median of some times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
