//! The table of interrupt handlers. No interrupt is taken, so the table has one entry instead of cortex-m-rt's 240.

unsafe extern "C" {
    fn DefaultHandler();
}

/// The table, with the entry of the UART's receive interrupt, the only enabled interrupt.
// SAFETY: cortex-m-rt, with its feature `device`, expects the table under this name in this section.
#[unsafe(link_section = ".vector_table.interrupts")]
// SAFETY: as above; no other symbol has this name.
#[unsafe(no_mangle)]
static __INTERRUPTS: [unsafe extern "C" fn(); 1] = [DefaultHandler];
