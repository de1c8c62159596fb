//! Small values for driving knobs, and arithmetic on them.
