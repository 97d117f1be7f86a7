#pragma once

// Names for clang's thread safety analysis (-Wthread-safety, the `tidy` preset); nothing elsewhere.
#if defined(__clang__)
#define PENSTOCK_ANNOTATE(attribute) __attribute__((attribute))
#else
#define PENSTOCK_ANNOTATE(attribute)
#endif

#define PENSTOCK_CAPABILITY(name) PENSTOCK_ANNOTATE(capability(name))
#define PENSTOCK_SCOPED_CAPABILITY PENSTOCK_ANNOTATE(scoped_lockable)
#define PENSTOCK_GUARDED_BY(lock) PENSTOCK_ANNOTATE(guarded_by(lock))
#define PENSTOCK_REQUIRES(...) PENSTOCK_ANNOTATE(requires_capability(__VA_ARGS__))
#define PENSTOCK_ACQUIRE(...) PENSTOCK_ANNOTATE(acquire_capability(__VA_ARGS__))
#define PENSTOCK_TRY_ACQUIRE(...) PENSTOCK_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define PENSTOCK_RELEASE(...) PENSTOCK_ANNOTATE(release_capability(__VA_ARGS__))
#define PENSTOCK_NO_THREAD_SAFETY_ANALYSIS PENSTOCK_ANNOTATE(no_thread_safety_analysis)
