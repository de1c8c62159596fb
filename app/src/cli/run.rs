//! `sinew run`: evaluates a graph and writes the files it yields.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sinew_graph::document::Document;
use sinew_graph::evaluate::{DiskOptions, Event, NodePath, NodeState, Options, Outcome, OutputPath, Request, Status};
use sinew_graph::registry::SocketType;
use sinew_graph::{Data, Evaluator, Registry};
use sinew_nodes::data::{File, Files, Table};

use super::progress::Progress;
use super::source::{self, Source};
use super::{CliError, RunArgs, inputs, print, summary, write};

pub fn run(args: &RunArgs, registry: &Arc<Registry>) -> Result<(), CliError> {
    let Some(graph) = &args.graph else {
        print(&source::list(registry)?)?;
        return Err(CliError::Usage("name a graph to run".into()));
    };
    let source = Source::find(graph)?;
    let mut document = source.load_telling(registry, args.json)?;
    for text in &args.input {
        inputs::input(&mut document, registry, text)?;
    }
    if let Some(file) = &args.file {
        inputs::first_input(&mut document, registry, file)?;
    }
    for text in &args.set {
        inputs::set(&mut document, registry, text)?;
    }
    let goals = Goals::of(&document, registry);
    if goals.files.is_empty() && goals.shown.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: the graph has no outputs and yields no files: promote an output or add an export node",
            source.name
        )));
    }

    let mut options = Options::default();
    if let Some(workers) = args.workers.and_then(|workers| NonZeroUsize::new(workers.into())) {
        options.workers = workers;
    }
    // Who asks for a cache folder wants everything kept, however quickly it was made.
    options.disk = args.cache.as_ref().map(|folder| DiskOptions { least: Duration::ZERO, ..DiskOptions::new(folder) });
    let evaluator = Evaluator::new(Arc::clone(registry), options).map_err(|e| CliError::Failed(e.to_string()))?;
    let mut request = Request::new(document).ask(goals.all());
    if let Some(folder) = &source.folder {
        request = request.in_folder(folder);
    }
    let status = watch(&evaluator, request.clone(), args.json)?;
    let impure = if args.checked { evaluator.evaluate(request.checked()).impure } else { Vec::new() };

    let files: Vec<&File> =
        goals.files.iter().filter_map(|goal| value::<Files>(&status, goal)).flat_map(|files| &files.files).collect();
    let tables: Vec<&Table> = goals.shown.iter().filter_map(|goal| value::<Table>(&status, goal)).collect();
    let failed: Vec<String> = status
        .nodes
        .iter()
        .filter_map(|(node, status)| match &status.state {
            NodeState::Failed(error) => Some(format!("{node}: {error}")),
            _ => None,
        })
        .collect();
    let complete = goals.all().all(|goal| matches!(status.outputs.get(&goal), Some(Ok(_))));
    let written = if complete && impure.is_empty() { Some(write::write_all(&args.out, files)) } else { None };

    if args.json {
        print(&format!("{}\n", result_line(&status, &tables, written.as_ref(), &impure)))?;
    } else {
        print(&report(&status, &tables, written.as_ref()))?;
    }
    let impure: Vec<String> = impure.iter().map(ToString::to_string).collect();
    match written {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error),
        None if !failed.is_empty() => Err(CliError::Failed(format!("{}\nnothing was written", failed.join("\n")))),
        None if !impure.is_empty() => Err(CliError::Failed(format!("{}\nnothing was written", impure.join("\n")))),
        None => {
            let missing = goals.all().filter_map(|goal| match status.outputs.get(&goal) {
                Some(Err(why)) => Some(why.to_string()),
                _ => None,
            });
            Err(CliError::Failed(format!("{}\nnothing was written", missing.collect::<Vec<_>>().join("\n"))))
        }
    }
}

/// The outputs that a run is for.
struct Goals {
    /// Every output of files in the main graph.
    files: Vec<OutputPath>,
    /// What the graph itself gives.
    shown: Vec<OutputPath>,
}

impl Goals {
    fn of(document: &Document, registry: &Registry) -> Self {
        let mut goals = Self { files: Vec::new(), shown: Vec::new() };
        let Some(graph) = document.main_graph() else { return goals };
        for node in graph.nodes.keys() {
            let Some(sockets) = document.sockets(&document.main, node, registry) else { continue };
            for output in sockets.outputs() {
                if matches!(output.socket_type, SocketType::Of(data_type) if data_type.id == Files::TYPE.id) {
                    goals.files.push(OutputPath::new(NodePath::new([node.clone()]), output.id.clone()));
                }
            }
        }
        for output in graph.outputs.values() {
            let goal = OutputPath::new(NodePath::new([output.source.node.clone()]), output.source.socket.clone());
            if !goals.files.contains(&goal) && !goals.shown.contains(&goal) {
                goals.shown.push(goal);
            }
        }
        goals
    }

    fn all(&self) -> impl Iterator<Item = OutputPath> + '_ {
        self.files.iter().chain(&self.shown).cloned()
    }
}

/// Evaluates, showing events as they come, until all that is wanted is settled.
fn watch(evaluator: &Evaluator, request: Request, json: bool) -> Result<Status, CliError> {
    let events = evaluator.events();
    let generation = evaluator.submit(request);
    let mut progress = Progress::new(json);
    for event in events.iter().flatten() {
        progress.show(&event)?;
        if matches!(event, Event::Finished(finished) if finished == generation) {
            break;
        }
    }
    progress.end();
    Ok(evaluator.status())
}

fn value<'a, T: Data>(status: &'a Status, goal: &OutputPath) -> Option<&'a T> {
    status.outputs.get(goal)?.as_ref().ok()?.get::<T>()
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ran => "miss",
        Outcome::Memory | Outcome::Disk => "hit",
        Outcome::Passed => "muted",
    }
}

fn report(status: &Status, tables: &[&Table], written: Option<&Result<Vec<PathBuf>, CliError>>) -> String {
    let mut grid = summary::grid(["node", "cache", "time", "memory", ""]);
    for (node, status) in &status.nodes {
        let Some(why) = &status.explanation else {
            if !matches!(status.state, NodeState::Idle) {
                grid.add_row([node.to_string(), String::new(), String::new(), String::new(), status.state.to_string()]);
            }
            continue;
        };
        let mut notes = match &status.state {
            NodeState::Done => String::new(),
            state => state.to_string(),
        };
        for warning in &status.warnings {
            notes.push_str(if notes.is_empty() { "" } else { "\n" });
            notes.push_str(&warning.what);
        }
        grid.add_row([
            node.to_string().into(),
            outcome(why.outcome).into(),
            summary::number(format!("{:.1} ms", why.time.as_secs_f64() * 1e3)),
            summary::number(summary::bytes(why.bytes)),
            comfy_table::Cell::new(notes),
        ]);
    }
    let mut text = format!("{grid}\n");
    let meter = &status.meter;
    text.push_str(&format!(
        "in memory: {} of {} allowed (columns that nodes share count once)\n",
        summary::bytes(meter.bytes),
        summary::bytes(meter.budget)
    ));
    for table in tables {
        text.push('\n');
        text.push_str(&summary::table(table));
    }
    if let Some(Ok(written)) = written {
        text.push('\n');
        for path in written {
            text.push_str(&format!("wrote {}\n", path.display()));
        }
    }
    text
}

fn result_line(
    status: &Status,
    tables: &[&Table],
    written: Option<&Result<Vec<PathBuf>, CliError>>,
    impure: &[sinew_graph::evaluate::Impurity],
) -> serde_json::Value {
    let nodes: Vec<_> = status
        .nodes
        .iter()
        .map(|(node, status)| {
            let why = status.explanation.as_ref();
            json!({
                "node": node.to_string(),
                "state": status.state.to_string(),
                "cache": why.map(|why| outcome(why.outcome)),
                "why": why.map(ToString::to_string),
                "explanation": why,
                "seconds": why.map(|why| why.time.as_secs_f64()),
                "bytes": why.map(|why| why.bytes),
                "warnings": status.warnings,
                "error": status.error().map(ToString::to_string),
            })
        })
        .collect();
    let tables: serde_json::Map<String, serde_json::Value> =
        tables.iter().map(|table| (table.title.to_string(), sinew_nodes::export::report::rows(table))).collect();
    let written = match written {
        Some(Ok(paths)) => json!(paths),
        _ => json!([]),
    };
    json!({
        "event": "result",
        "nodes": nodes,
        "tables": tables,
        "written": written,
        "impure": impure.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "memory": {"bytes": status.meter.bytes, "budget": status.meter.budget},
    })
}
