//! What a run shows while it lasts: bars on a terminal, one JSON object a line with `--json`, nothing otherwise.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;
use sinew_graph::evaluate::{Event, NodePath};

use super::{CliError, print};

/// Where events go.
pub enum Progress {
    /// Bars on the standard error.
    Bars(Bars),
    /// Lines of JSON on the standard output.
    Lines,
    /// Nowhere.
    Quiet,
}

/// A bar for the whole run, and one for each node that runs.
pub struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    running: BTreeMap<NodePath, ProgressBar>,
    queued: u64,
    settled: u64,
}

impl Progress {
    /// What fits the call and the terminal.
    pub fn new(json: bool) -> Self {
        if json {
            return Self::Lines;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Quiet;
        }
        let all = MultiProgress::new();
        let total = all.add(ProgressBar::new(0));
        total.set_style(style("{bar:40} {pos}/{len} nodes  {elapsed}"));
        Self::Bars(Bars { all, total, running: BTreeMap::new(), queued: 0, settled: 0 })
    }

    /// Shows an event.
    pub fn show(&mut self, event: &Event) -> Result<(), CliError> {
        match self {
            Self::Quiet => Ok(()),
            Self::Lines => print(&format!("{}\n", line(event))),
            Self::Bars(bars) => {
                bars.show(event);
                Ok(())
            }
        }
    }

    /// Takes the bars away.
    pub fn end(self) {
        if let Self::Bars(bars) = self {
            for bar in bars.running.values() {
                bar.finish_and_clear();
            }
            bars.total.finish_and_clear();
        }
    }
}

impl Bars {
    fn show(&mut self, event: &Event) {
        match event {
            Event::Queued(..) => {
                self.queued += 1;
                self.total.set_length(self.queued);
            }
            Event::Running(_, node) => {
                let bar = self.all.add(ProgressBar::new(1000));
                bar.set_style(style("  {bar:38} {msg}  {elapsed}"));
                bar.set_message(node.to_string());
                bar.enable_steady_tick(Duration::from_millis(100));
                self.running.insert(node.clone(), bar);
            }
            Event::Progress(_, node, fraction) => {
                if let Some(bar) = self.running.get(node) {
                    bar.set_position((fraction * 1000.0) as u64);
                }
            }
            Event::Done(_, node)
            | Event::Failed(_, node, _)
            | Event::Blocked(_, node, _)
            | Event::Cancelled(_, node) => {
                if let Some(bar) = self.running.remove(node) {
                    bar.finish_and_clear();
                    self.all.remove(&bar);
                }
                self.settled += 1;
                self.total.set_length(self.queued.max(self.settled));
                self.total.set_position(self.settled);
            }
            Event::Finished(_) => {}
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants of this file, so the fallback is never seen.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn line(event: &Event) -> serde_json::Value {
    match event {
        Event::Queued(_, node) => json!({"event": "queued", "node": node.to_string()}),
        Event::Running(_, node) => json!({"event": "running", "node": node.to_string()}),
        Event::Progress(_, node, fraction) => {
            json!({"event": "progress", "node": node.to_string(), "fraction": fraction})
        }
        Event::Done(_, node) => json!({"event": "done", "node": node.to_string()}),
        Event::Failed(_, node, error) => {
            json!({"event": "failed", "node": node.to_string(), "error": error.to_string()})
        }
        Event::Blocked(_, node, by) => {
            json!({"event": "blocked", "node": node.to_string(), "by": by.to_string()})
        }
        Event::Cancelled(_, node) => json!({"event": "cancelled", "node": node.to_string()}),
        Event::Finished(_) => json!({"event": "finished"}),
    }
}
