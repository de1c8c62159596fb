//! The program `sinew`: the command line over graphs of rig nodes.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
