//! Annotation layers that are computed from annotated documents.

pub mod quotations;
