//! Transcendental functions as expressions of lane operations.
