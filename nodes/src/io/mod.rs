//! Files and generated samples become characters.
