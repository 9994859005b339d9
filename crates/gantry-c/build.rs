//! Sets the soname of `libgantry.so`, by which programs load it. The number changes with each version that breaks the
//! ABI.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgantry.so.0");
    // `nodelete` keeps the library loaded after `dlclose`, because a thread of the library may still run.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
