// Included before everything in builds with the thread sanitizer (the preset `tsan`).
//
// protobuf's map_field.h adds two members to MapFieldBase where __SANITIZE_THREAD__ is defined.
// Debian's libprotobuf is built without them, so a message with a map has two layouts and the
// program crashes. The standard library has read the macro by then, which keeps its shared_ptr
// visible to the sanitizer.
#pragma once

#include <memory>

#undef __SANITIZE_THREAD__
#define PENSTOCK_THREAD_SANITIZER 1
