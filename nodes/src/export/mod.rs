//! Values become files.
