//! The name under which programs load `libgantry.so`. The name changes with each version that breaks the ABI.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgantry.so.0");
    // The library is never unloaded, because a thread of the library may still run when a program closes it
    // (`dlclose`).
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
