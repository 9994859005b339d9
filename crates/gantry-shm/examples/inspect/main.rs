//! `cargo run -p gantry-shm --example inspect [DOMAIN…]`: prints the processes, endpoints, holders and problems of a domain.
//!
//! Without a domain it shows all domains of this user under `GANTRY_SHM_DIR` (`/dev/shm` if unset). It only reads.

#![expect(clippy::print_stdout, reason = "a report for people")]

mod text;

use std::process::ExitCode;

fn main() -> ExitCode {
    match show(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inspect: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let number = |word: &String| word.parse().map_err(|_| format!("{word} is no domain; a domain is a number"));
    let domains = match arguments {
        [] => gantry_shm::domains()?,
        words => words.iter().map(number).collect::<Result<Vec<u32>, _>>()?,
    };
    if domains.is_empty() {
        println!("No process of this user is in any domain.");
    }
    for domain in domains {
        match gantry_shm::inspect(domain)? {
            Some(report) => print!("{}", text::text_of(&report)?),
            None => println!("No process is in domain {domain}."),
        }
    }
    Ok(())
}
