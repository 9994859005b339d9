//! The memory of a linked program, computed from its ELF file as the tool `size` does.

use std::path::Path;

use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind};
use serde::Serialize;

/// The sizes of the sections that are loaded, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Code and constants.
    pub text_bytes: u64,
    /// Variables with an initial value, as in the section `.data`.
    pub data_bytes: u64,
    /// Variables that are initially zero, as in the section `.bss`.
    pub bss_bytes: u64,
}

/// The address range of a board's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackArea {
    /// The end of the static variables.
    pub bottom: u64,
    /// The address at which the stack starts; it grows down.
    pub top: u64,
}

/// Reads the sizes of a program, and the area of its stack if the program has symbols for it.
///
/// # Errors
/// The reason, as a sentence: the file cannot be read, or is no ELF file.
pub fn read(path: &Path) -> Result<(Sizes, Option<StackArea>), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&bytes).map_err(|error| format!("{} is not a program: {error}", path.display()))
}

fn parse(bytes: &[u8]) -> object::Result<(Sizes, Option<StackArea>)> {
    let file = object::File::parse(bytes)?;
    let mut sizes = Sizes::default();
    for section in file.sections() {
        // This section has no variables: it only aligns the sections that become read-only after the start.
        if section.name() == Ok(".relro_padding") {
            continue;
        }
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let is_zero = matches!(section.kind(), SectionKind::UninitializedData | SectionKind::UninitializedTls);
        let part = match (sh_flags.contains(SHF_ALLOC), is_zero, sh_flags.contains(SHF_WRITE)) {
            (false, ..) => continue,
            (true, true, _) => &mut sizes.bss_bytes,
            (true, false, true) => &mut sizes.data_bytes,
            (true, false, false) => &mut sizes.text_bytes,
        };
        *part += section.size();
    }
    let address = |name| file.symbol_by_name(name).map(|symbol| symbol.address());
    let area = address("_stack_end").zip(address("_stack_start")).map(|(bottom, top)| StackArea { bottom, top });
    Ok((sizes, area.filter(|area| area.bottom < area.top)))
}
