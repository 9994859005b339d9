//! The build script of a crate with messages of its own.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
