//! The table of interrupt handlers. Because no interrupt handler ever runs, the table has one entry, and not the 240
//! entries of cortex-m-rt.

unsafe extern "C" {
    fn DefaultHandler();
}

/// The table. Its entry belongs to the UART's receive interrupt, which is the only enabled interrupt.
// SAFETY: cortex-m-rt, with its feature `device`, expects the table under this name in this section.
#[unsafe(link_section = ".vector_table.interrupts")]
// SAFETY: as above; no other symbol has this name.
#[unsafe(no_mangle)]
static __INTERRUPTS: [unsafe extern "C" fn(); 1] = [DefaultHandler];
