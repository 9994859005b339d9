//! As a user's.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
