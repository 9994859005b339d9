//! Messages of DDS-XRCE, read in place and written into the memory of the caller.
