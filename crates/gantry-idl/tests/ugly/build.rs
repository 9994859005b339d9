//! The build script, which generates code for the messages of this crate.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
