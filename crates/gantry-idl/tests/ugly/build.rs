//! The build script of a crate with its own messages.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
