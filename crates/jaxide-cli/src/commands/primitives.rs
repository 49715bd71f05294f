//! `jaxide primitives`: lists the primitives, as people or programs read them.

use std::fmt::Write;

use clap::{ArgMatches, Command};
use jaxide_core::Cancel;
use jaxide_core::prims::{ParamInfo, Prim, PrimInfo, Printed};
use serde_json::{Value, json};

use crate::arguments::flag;
use crate::failure::Failure;
use crate::output;

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    command
        .after_help("A primitive is a line: its name, the numbers of operands and results, its parameters, what it computes.")
        .arg(flag("json", "Print a JSON array with what the table knows of each"))
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    Ok(output::print(if matches.get_flag("json") {
        let list: Vec<Value> = Prim::ALL.iter().map(object).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        table()
    })?)
}

fn table() -> String {
    let mut text = String::new();
    let mut family = None;
    for info in Prim::ALL {
        if family.replace(info.family) != Some(info.family) {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{:?}", info.family);
        }
        let printed = info.params.iter().filter(|p| p.printed != Printed::Never);
        let names: Vec<&str> = printed.map(|param| param.name).collect();
        let parameters = match names[..] {
            [] => String::new(),
            _ => format!(" [{}]", names.join(" ")),
        };
        let _ = writeln!(
            text,
            "  {:<28} {:<7} {}{parameters}",
            info.name,
            info.arity,
            info.doc.trim(),
        );
    }
    text
}

fn object(info: &PrimInfo) -> Value {
    let parameter = |param: &ParamInfo| {
        json!({
            "name": param.name,
            "kind": param.kind,
            "printed": match param.printed {
                Printed::Always => "always",
                Printed::NonDefault => "non-default",
                Printed::Never => "never",
            },
            "doc": param.doc.trim(),
        })
    };
    let (operands, results) = info.arity.split_once("->").unwrap_or((info.arity, ""));
    json!({
        "name": info.name,
        "family": format!("{:?}", info.family).to_lowercase(),
        "operands": operands.trim(),
        "results": results.trim(),
        "parameters": info.params.iter().map(parameter).collect::<Vec<_>>(),
        "doc": info.doc.trim(),
    })
}
