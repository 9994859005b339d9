//! The flags of `librmw_gantry.so`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A handler of signals and threads of the library stay when a program closes the library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
