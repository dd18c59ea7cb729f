//! Batches of documents that are annotated together.
//!
//! A batch depends on the documents alone, so that the input of a tool does not depend on the number of threads.

/// The memory for annotating a document, relative to the size of its text.
const EXPANSION: usize = 12;
/// The minimum memory of a document.
const LEAST_WEIGHT: usize = 64 << 10;
/// The documents of a batch at most, if the text of most of them is kept.
const MOST_DOCUMENTS: usize = 4096;
/// About the bytes of a document.
const DOCUMENT_BYTES: usize = 2 << 10;

/// A batch that documents are added to until it is full.
pub(super) struct Batch<D> {
    limit_bytes: usize,
    documents: Vec<D>,
    bytes: usize,
    new: usize,
}

impl<D> Batch<D> {
    /// An empty batch of this size, in bytes of text.
    pub(super) fn new(limit_bytes: usize) -> Batch<D> {
        Batch { limit_bytes, documents: Vec::new(), bytes: 0, new: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= self.limit_bytes
            || self.new >= self.limit_bytes / DOCUMENT_BYTES
            || self.documents.len() >= MOST_DOCUMENTS
    }

    /// Adds a document with the size of its text, and whether its text is made.
    pub(super) fn push(&mut self, document: D, bytes: usize, is_new: bool) {
        self.documents.push(document);
        self.bytes += bytes;
        self.new += usize::from(is_new);
    }

    /// The documents with the memory that they need; `None` if there are none.
    pub(super) fn finish(self) -> Option<(Vec<D>, usize)> {
        let weight = self.bytes * EXPANSION + self.new * LEAST_WEIGHT;
        (!self.documents.is_empty()).then_some((self.documents, weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_full_by_bytes_new_documents_or_documents() {
        let mut batch = Batch::new(2 * DOCUMENT_BYTES);
        batch.push((), 1, true);
        assert!(!batch.is_full());
        batch.push((), 1, true);
        assert!(batch.is_full(), "new documents");
        let mut batch = Batch::new(2 * DOCUMENT_BYTES);
        batch.push((), 2 * DOCUMENT_BYTES, false);
        assert!(batch.is_full(), "bytes");
        assert_eq!(batch.finish(), Some((vec![()], 2 * DOCUMENT_BYTES * EXPANSION)));
        let mut batch = Batch::new(usize::MAX);
        (0..MOST_DOCUMENTS).for_each(|_| batch.push((), 0, false));
        assert!(batch.is_full(), "documents");
        assert!(Batch::<()>::new(1).finish().is_none());
    }
}
