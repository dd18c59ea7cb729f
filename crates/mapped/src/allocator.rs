//! Settings of the system's allocator.
//!
//! glibc returns the end of the heap to the kernel whenever 128 KiB of it are free, and takes it back in steps of that
//! size. A round allocates and frees buffers of such sizes all the time, so that a tenth of its CPU time went into page
//! faults.

/// The free end of a heap that is kept.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: i32 = 8 << 20;
/// The step by which a heap grows.
#[cfg(target_env = "gnu")]
const STEP_BYTES: i32 = 1 << 20;
/// Larger blocks have a mapping of their own, which is returned when they are freed.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES: i32 = 4 << 20;

/// Makes the allocator keep some freed memory for later allocations. Other allocators than that of glibc are not changed.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    for (setting, bytes) in
        [(libc::M_TRIM_THRESHOLD, KEPT_BYTES), (libc::M_TOP_PAD, STEP_BYTES), (libc::M_MMAP_THRESHOLD, MAPPED_BYTES)]
    {
        // SAFETY: `mallopt` takes two numbers and locks the allocator. A setting that it refuses stays as it was.
        unsafe { libc::mallopt(setting, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_can_be_allocated_and_freed_after_a_change_of_settings() {
        keep_freed_memory();
        let blocks: Vec<Vec<u8>> = [1 << 10, 1 << 20, 16 << 20].map(|bytes| vec![1; bytes]).into();
        assert_eq!(
            blocks.iter().map(|block| block.iter().filter(|byte| **byte == 1).count()).sum::<usize>(),
            17_826_816
        );
    }
}
