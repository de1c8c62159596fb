//! Finding appendages and giving them bones.
