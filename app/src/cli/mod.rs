//! The command line. Exit codes: 0 done, 1 a node failed or a check found something, 2 a wrong call.

mod check;
mod inputs;
mod nodes;
mod progress;
mod run;
mod source;
mod summary;
mod write;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use sinew_graph::Registry;

/// Builds rig pipelines as graphs of nodes: finds, bones, weights, measures and exports what a rigger left out.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Evaluates a graph and writes the files it yields.
    Run(RunArgs),
    /// Prints the catalogue of nodes: sockets, knobs and help.
    Nodes(NodesArgs),
    /// Checks graphs without running them: format, types, wires, knobs.
    Check(CheckArgs),
}

/// Arguments of `sinew run`.
#[derive(Args, Debug)]
struct RunArgs {
    /// The name of a template that ships with Sinew, or the path of a graph file. Without one, the templates are listed.
    graph: Option<String>,
    /// A file for the first file input of the graph: `sinew run tail-rig fox.glb`.
    file: Option<PathBuf>,
    /// Sets a knob: `--set regions.far=0.08`. Repeatable.
    #[arg(long, value_name = "NODE.KNOB=VALUE")]
    set: Vec<String>,
    /// Gives a file to an input of the graph: `--input character=fox.glb`. Repeatable.
    #[arg(long, value_name = "NAME=FILE")]
    input: Vec<String>,
    /// The folder that the files are written to; it is made if it is not there.
    #[arg(long, short, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Prints events and results as JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Computes every node a second time and names any that gives another result.
    #[arg(long)]
    checked: bool,
    /// Worker threads; as many as the machine has cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// A folder that keeps results between runs, so that a second run computes only what changed.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Arguments of `sinew nodes`.
#[derive(Args, Debug)]
struct NodesArgs {
    /// Only nodes whose id begins with this: `rig` or `rig.collar`.
    prefix: Option<String>,
    /// Prints the catalogue as JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `sinew check`.
#[derive(Args, Debug)]
struct CheckArgs {
    /// Template names or graph files; all templates if none is given.
    graphs: Vec<String>,
    /// Saves graph files in Sinew's own layout, so that version control shows only what changed. Comments are not kept.
    #[arg(long)]
    write: bool,
    /// Prints what was found as JSON.
    #[arg(long)]
    json: bool,
}

/// Why a command stopped before or after its work.
#[derive(Debug, thiserror::Error)]
enum CliError {
    /// The call was wrong: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The work failed: exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl CliError {
    fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        }
    }
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_env("SINEW_LOG").unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let result = registry().and_then(|registry| match &cli.command {
        Command::Run(args) => run::run(args, &registry),
        Command::Nodes(args) => nodes::nodes(args, &registry),
        Command::Check(args) => check::check(args, &registry),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut err = std::io::stderr().lock();
            // Nothing is left to tell anyone if the standard error is closed.
            let _ = writeln!(err, "{}: {error}", if err.is_terminal() { "\x1b[31merror\x1b[0m" } else { "error" });
            ExitCode::from(error.code())
        }
    }
}

fn registry() -> Result<Arc<Registry>, CliError> {
    let mut registry = Registry::default();
    sinew_nodes::register(&mut registry).map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(Arc::new(registry))
}

/// Prints to the standard output; a closed pipe ends the program quietly, as `head` expects.
fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::Failed(format!("cannot write to the standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints to the standard error.
fn note(text: &str) {
    // Nothing is left to tell anyone if the standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
