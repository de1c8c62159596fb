//! `sinew check`: what is wrong with a graph, without running it.

use std::path::Path;

use serde_json::json;
use sinew_graph::Registry;
use sinew_graph::document::Severity;
use sinew_graph::file;

use super::source::{Source, TEMPLATES};
use super::{CheckArgs, CliError, print};

pub fn check(args: &CheckArgs, registry: &Registry) -> Result<(), CliError> {
    let graphs: Vec<&str> = if args.graphs.is_empty() {
        TEMPLATES.iter().map(|template| template.name).collect()
    } else {
        args.graphs.iter().map(String::as_str).collect()
    };
    let mut faults = 0;
    for name in graphs {
        let source = Source::find(name)?;
        let (problems, nodes, same) = match file::load(&source.text, registry) {
            Ok(loaded) => {
                let nodes = loaded.document.graphs.values().map(|graph| graph.nodes.len()).sum::<usize>();
                let same = file::save(&loaded.document, registry) == source.text;
                let problems = loaded.problems.iter().map(|p| (p.severity, p.to_string())).collect();
                (problems, nodes, same)
            }
            Err(error) => (vec![(Severity::Fault, error.to_string())], 0, true),
        };
        let same = same || rewritten(args, &source, registry)?;
        let bad = problems.iter().filter(|(severity, _)| *severity == Severity::Fault).count();
        faults += bad;
        if args.json {
            let list: Vec<_> = problems
                .iter()
                .map(|(severity, what)| json!({"fault": *severity == Severity::Fault, "what": what}))
                .collect();
            print(&format!("{}\n", json!({"graph": name, "nodes": nodes, "canonical": same, "problems": list})))?;
            continue;
        }
        let verdict = if bad == 0 { "good" } else { "bad " };
        print(&format!("{verdict} {name}: {nodes} nodes\n"))?;
        for (severity, what) in &problems {
            let kind = if *severity == Severity::Fault { "fault" } else { "notice" };
            print(&format!("  {kind}: {what}\n"))?;
        }
        if !same {
            print("  notice: saving it from Sinew would lay it out anew (comments and spacing are not kept)\n")?;
        }
    }
    if faults > 0 {
        return Err(CliError::Failed(format!("{faults} faults were found")));
    }
    Ok(())
}

/// Saves a graph file in the program's own layout, if that was asked for.
fn rewritten(args: &CheckArgs, source: &Source, registry: &Registry) -> Result<bool, CliError> {
    if !args.write || source.folder.is_none() {
        return Ok(false);
    }
    let document = source.load(registry)?.document;
    file::write(Path::new(&source.name), file::save(&document, registry).as_bytes())
        .map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(true)
}
