//! The complete build script: it writes Rust code for the packages in `packages`.

fn main() -> Result<(), gantry_idl::Errors> {
    gantry_idl::compile("packages").map(drop)
}
