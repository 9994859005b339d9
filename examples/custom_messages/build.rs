//! Writes Rust code for the packages in `packages`: all that there is to do.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
