//! Passes the linker the script `device.x`, which has the names of the interrupts.

fn main() {
    println!("cargo::rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=device.x");
}
