//! Sets the linker flags of `librmw_gantry.so`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // `nodelete` keeps the library loaded after `dlclose`: its signal handler and its threads may still run.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
