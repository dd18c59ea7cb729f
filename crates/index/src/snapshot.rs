//! Snapshots: one generation of the index, for readers.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use tidings_mapped::FileState;
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, LayerColumn, Token, TokenSpan, TokenText};

use crate::codec::{BitSet, bit};
use crate::error::{Error, Result, damaged};
use crate::lexicon::{DeclaredLayer, DeclaredLayers, Layer, Lexicon, LexiconSegment};
use crate::manifest::{Input, Manifest};
use crate::sections::{FileKind, SectionWriter, Sections};
use crate::segment::Segment;

/// Attempts to open a generation: a writer may publish a newer one and remove its files in between.
const TRIES: usize = 20;

/// One generation of the index. It never changes: files that a writer removes stay mapped.
#[derive(Debug, Clone)]
pub struct Snapshot {
    generation: u64,
    behaviour: u32,
    lexicon: Lexicon,
    segments: Vec<LiveSegment>,
    inputs: Arc<Vec<Input>>,
    lexicon_files: Vec<(String, Stamp)>,
}

/// Modification time and length, which distinguish files of the same name in a rebuilt index.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// A segment and which of its documents are deleted.
#[derive(Debug, Clone)]
pub struct LiveSegment {
    file: String,
    stamp: Stamp,
    deleted_file: Option<String>,
    segment: Arc<Segment>,
    deleted: Arc<BitSet>,
    deleted_documents: u32,
    deleted_tokens: u32,
}

impl LiveSegment {
    /// The segment.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Deleted documents; hits in them do not count.
    pub fn deleted(&self) -> &BitSet {
        &self.deleted
    }

    /// Returns true if any document is deleted.
    pub fn has_deleted(&self) -> bool {
        self.deleted_documents > 0
    }

    /// Tokens of documents that are not deleted.
    pub fn tokens(&self) -> u64 {
        u64::from(self.segment.tokens() - self.deleted_tokens)
    }

    /// Documents that are not deleted.
    pub fn documents(&self) -> u64 {
        u64::from(self.segment.meta().documents - self.deleted_documents)
    }

    /// File name.
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl Snapshot {
    /// A snapshot without documents, for a corpus whose documents are elsewhere.
    pub fn empty() -> Snapshot {
        Snapshot {
            generation: 0,
            behaviour: 0,
            lexicon: Lexicon::new(Vec::new(), DeclaredLayers::default()),
            segments: Vec::new(),
            inputs: Arc::default(),
            lexicon_files: Vec::new(),
        }
    }

    /// Opens the newest generation of an index.
    pub fn open(folder: &Path) -> Result<Snapshot> {
        Snapshot::open_from(folder, None)
    }

    /// Opens the newest generation; reuses files that this one has open.
    pub fn refresh(&self, folder: &Path) -> Result<Snapshot> {
        Snapshot::open_from(folder, Some(self))
    }

    /// Returns true if no newer generation was published; cheaper than [`Snapshot::refresh`].
    pub fn is_newest(&self, folder: &Path) -> Result<bool> {
        let files = self.segments.iter().map(|live| (&live.file, &live.stamp));
        let files = files.chain(self.lexicon_files.iter().map(|(name, stamp)| (name, stamp)));
        let is_same = |(name, known): (&String, &Stamp)| stamp(&folder.join(name)) == *known;
        let newest = Manifest::read(folder)?;
        Ok(newest.is_some_and(|manifest| manifest.generation == self.generation) && files.into_iter().all(is_same))
    }

    /// The state of the open files on disk, with the name of the first file that is not intact. Reading the missing part
    /// of a truncated memory map would kill the process, so servers ask before every use; it costs a look at each file.
    pub fn file_state(&self) -> (FileState, &str) {
        let segments = self.segments.iter().map(|live| (live.file.as_str(), live.segment.state()));
        let parts = self.lexicon.segments().iter().map(|part| part.state());
        let lexicon = self.lexicon_files.iter().map(|(file, _)| file.as_str()).zip(parts);
        let mut worst = (FileState::Intact, "");
        for (file, state) in segments.chain(lexicon) {
            match state {
                FileState::Truncated => return (state, file),
                FileState::Replaced => worst = (state, file),
                FileState::Intact => {}
            }
        }
        worst
    }

    fn open_from(folder: &Path, known: Option<&Snapshot>) -> Result<Snapshot> {
        for _ in 0..TRIES {
            let manifest = Manifest::read(folder)?.ok_or_else(|| Error::NoIndex { folder: folder.to_owned() })?;
            match Snapshot::of(folder, &manifest, known) {
                Err(error) if is_gone(&error) && Manifest::read(folder)?.as_ref() != Some(&manifest) => {}
                result => return result,
            }
        }
        damaged(&folder.join("MANIFEST"), "files keep disappearing while they are opened")
    }

    pub(crate) fn of(folder: &Path, manifest: &Manifest, known: Option<&Snapshot>) -> Result<Snapshot> {
        let open_segment = |name: &String| {
            let written = stamp(&folder.join(name));
            let is_same = |(known, stamp): &(String, Stamp)| known == name && *stamp == written;
            let same = known.and_then(|known| known.lexicon_files.iter().position(is_same));
            match same.zip(known) {
                Some((index, known)) => Ok(known.lexicon.segments()[index].clone()),
                None => LexiconSegment::open(&folder.join(name), &manifest.layers).map(Arc::new),
            }
        };
        let lexicon_files = manifest.lexicon.iter().map(|name| (name.clone(), stamp(&folder.join(name)))).collect();
        let lexicon_segments = manifest.lexicon.iter().map(open_segment).collect::<Result<_>>()?;
        let lexicon = Lexicon::new(lexicon_segments, manifest.layers.clone());
        let mut segments = Vec::new();
        for listed in &manifest.segments {
            let stamp = stamp(&folder.join(&listed.file));
            let is_same = |live: &&LiveSegment| live.file == listed.file && live.stamp == stamp;
            let old = known.and_then(|known| known.segments.iter().find(is_same));
            if let Some(old) = old.filter(|old| old.deleted_file == listed.deleted) {
                segments.push(old.clone());
                continue;
            }
            let path = folder.join(&listed.file);
            let segment = match old {
                Some(old) => old.segment.clone(),
                None => Arc::new(Segment::open(&path)?),
            };
            if segment.meta().lexeme_bound > lexicon.lexemes() {
                return damaged(&path, "it has more lexemes than the lexicon");
            }
            let deleted = match &listed.deleted {
                Some(name) => read_deleted(&folder.join(name), segment.meta().documents)?,
                None => BitSet::new(segment.meta().documents as usize),
            };
            let deleted_tokens = deleted.iter().map(|document| segment.tokens_of(document).len() as u32).sum();
            segments.push(LiveSegment {
                file: listed.file.clone(),
                stamp,
                deleted_file: listed.deleted.clone(),
                deleted_documents: deleted.count() as u32,
                deleted_tokens,
                deleted: Arc::new(deleted),
                segment,
            });
        }
        Ok(Snapshot {
            generation: manifest.generation,
            lexicon,
            segments,
            behaviour: manifest.behaviour,
            inputs: Arc::new(manifest.inputs.clone()),
            lexicon_files,
        })
    }

    /// Number of changes of the index.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The lexicon.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Segments in the order in which they were written.
    pub fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// The [behaviour version](crate::BEHAVIOUR_VERSION) that built the index.
    pub fn behaviour(&self) -> u32 {
        self.behaviour
    }

    /// The same generation without some documents of each segment, as if they were deleted.
    pub fn without(&self, documents: &[BitSet]) -> Snapshot {
        let mut snapshot = self.clone();
        for (live, hidden) in snapshot.segments.iter_mut().zip(documents) {
            let mut deleted = (*live.deleted).clone();
            for document in hidden.iter().filter(|document| *document < live.segment.meta().documents) {
                if !deleted.get(document) {
                    deleted.set(document);
                    live.deleted_documents += 1;
                    live.deleted_tokens += live.segment.tokens_of(document).len() as u32;
                }
            }
            live.deleted = Arc::new(deleted);
        }
        snapshot
    }

    /// Input files.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Tokens that are not deleted.
    pub fn tokens(&self) -> u64 {
        self.segments.iter().map(LiveSegment::tokens).sum()
    }

    /// Documents that are not deleted.
    pub fn documents(&self) -> u64 {
        self.segments.iter().map(LiveSegment::documents).sum()
    }

    /// Size of all files except the manifest.
    pub fn bytes_on_disk(&self) -> u64 {
        let segments: u64 = self.segments.iter().map(|live| live.segment.bytes_on_disk()).sum();
        segments + self.lexicon.segments().iter().map(|segment| segment.bytes_on_disk()).sum::<u64>()
    }

    /// Returns an error if bytes were read that differ from their digests. Readers check each block of a file when they
    /// first read it and go on; ask before an answer is given away, because it may be made of damaged bytes.
    pub fn intact(&self) -> Result<()> {
        self.lexicon.intact()?;
        self.segments.iter().try_for_each(|live| live.segment.intact())
    }

    /// Forgets which blocks were checked, so that they are checked again when they are next read. For processes that live
    /// long enough for the disk to be read again.
    pub fn forget_checks(&self) {
        self.lexicon.segments().iter().for_each(|segment| segment.forget_checks());
        self.segments.iter().for_each(|live| live.segment.forget_checks());
    }

    /// Verifies the files without digests of their blocks and writes these. Files of older versions have none, nor those
    /// of a writer that was interrupted; reading them is slower, because whole sections are checked.
    pub fn write_missing_sums(&self) -> Result<()> {
        self.lexicon.segments().iter().try_for_each(|segment| segment.write_missing_sums())?;
        self.segments.iter().try_for_each(|live| live.segment.write_missing_sums())
    }

    /// Names and sizes of the files of the lexicon and of the segments.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        let lexicon = self.lexicon_files.iter().zip(self.lexicon.segments());
        let lexicon = lexicon.map(|((file, _), segment)| (file.as_str(), segment.bytes_on_disk()));
        lexicon.chain(self.segments.iter().map(|live| (live.file.as_str(), live.segment.bytes_on_disk())))
    }

    /// Reads every byte of one file, checks its digests, and writes those of its blocks if they are missing. A file that
    /// this generation does not have is sound.
    pub fn verify_file(&self, name: &str) -> Result<()> {
        if let Some(index) = self.lexicon_files.iter().position(|(file, _)| file == name) {
            let segment = &self.lexicon.segments()[index];
            segment.verify()?;
            segment.write_missing_sums()?;
        }
        if let Some(live) = self.segments.iter().find(|live| live.file == name) {
            live.segment.verify()?;
            live.segment.write_missing_sums()?;
        }
        Ok(())
    }

    /// Reads every byte of every file and checks all digests.
    pub fn verify(&self) -> Result<()> {
        self.lexicon.verify()?;
        self.segments.iter().try_for_each(|live| live.segment.verify())
    }

    /// Returns a document as it was added, except for the kinds of its paragraphs.
    pub fn annotated(&self, segment_index: usize, document: u32) -> Result<Annotated> {
        let segment = self.segments[segment_index].segment();
        let about = segment.document(document)?;
        let tokens = segment.tokens_of(document);
        let mut paragraph_starts = Vec::new();
        segment.paragraphs().read(tokens.start, tokens.end, &mut paragraph_starts);
        let mut paragraphs: Vec<AnnotatedParagraph> = Vec::new();
        for position in tokens {
            if paragraph_starts.binary_search(&position).is_ok() || paragraphs.is_empty() {
                paragraphs.push(AnnotatedParagraph::default());
            }
            let sentences = &mut paragraphs.last_mut().expect("just pushed").sentences;
            if bit(segment.sentence_bits(), position) || sentences.is_empty() {
                sentences.push(Vec::new());
            }
            let sentence = sentences.last_mut().expect("just pushed");
            if let Some(before) = sentence.last_mut() {
                before.space_after = !segment.no_space_before(position);
            }
            let lexeme = segment.lexeme_at(position);
            let [word, lemma, tag, feats] = Layer::BASE.map(|layer| TokenText::from(self.lexicon.text(lexeme, layer)));
            sentence.push(Token { word, lemma, tag, feats, space_after: true });
        }
        let about = Attributes {
            id: about.id,
            url: about.url,
            title: about.title,
            date: about.day.to_string(),
            seen: about.seen.to_string(),
            fields: about.fields,
        };
        let spans = self.spans_of(segment_index, document)?;
        Ok(Annotated { about, paragraphs, columns: self.columns_of(segment, document), spans })
    }

    /// Further attributes of the tokens of a document, as far as one of them has a value.
    fn columns_of(&self, segment: &Segment, document: u32) -> Vec<LayerColumn> {
        let value = |position, layer| self.lexicon.text(segment.lexeme_at(position), layer).to_owned();
        let column = |(layer, declared): (Layer, &DeclaredLayer)| {
            let values = segment.tokens_of(document).map(|position| value(position, layer)).collect();
            LayerColumn { layer: declared.declaration(), values }
        };
        let columns = self.lexicon.declared().iter().map(column);
        columns.filter(|column| column.values.iter().any(|value| !value.is_empty())).collect()
    }

    /// Names of the spans in the index with their attributes, both sorted.
    pub fn span_names(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for spans in self.segments.iter().flat_map(|live| live.segment.all_spans()) {
            names.entry(spans.name()).or_default().extend(spans.attribute_names());
        }
        names
    }

    /// Spans of a document, in [file order](TokenSpan::file_order). Attributes are sorted by name.
    pub fn spans_of(&self, segment: usize, document: u32) -> Result<Vec<TokenSpan>> {
        let segment = self.segments[segment].segment();
        let tokens = segment.tokens_of(document);
        let mut found = spans_of(segment, &tokens, &tokens)?;
        for span in &mut found {
            span.start -= tokens.start;
            span.end -= tokens.start;
        }
        Ok(found)
    }

    /// Spans that have a token in a range of positions, in [file order](TokenSpan::file_order). Starts and ends are
    /// positions in the segment; a span may begin before the range and end after it.
    pub fn spans_in(&self, segment: usize, positions: Range<u32>) -> Result<Vec<TokenSpan>> {
        let segment = self.segments[segment].segment();
        let mut found = Vec::new();
        let mut at = positions.start;
        while at < positions.end {
            let tokens = segment.tokens_of(segment.document_at(at));
            let end = tokens.end.min(positions.end);
            if end <= at {
                break;
            }
            found.extend(spans_of(segment, &tokens, &(at..end))?);
            at = end;
        }
        Ok(found)
    }

    /// Segment and number of the documents with an id, without deleted ones.
    pub fn find_document(&self, id: u128) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for (index, live) in self.segments.iter().enumerate() {
            let documents = live.segment.ids().all().iter().enumerate().filter(|(_, known)| **known == id);
            let documents = documents.map(|(document, _)| document as u32);
            found.extend(documents.filter(|document| !live.deleted.get(*document)).map(|document| (index, document)));
        }
        found
    }
}

/// Spans of the document with some tokens that have a token in a range.
fn spans_of(segment: &Segment, tokens: &Range<u32>, range: &Range<u32>) -> Result<Vec<TokenSpan>> {
    let mut found = Vec::new();
    let mut listed = Vec::new();
    for spans in segment.all_spans() {
        listed.clear();
        spans.of_document(tokens, &mut listed);
        listed.retain(|span| span.start < range.end && span.end > range.start);
        if listed.is_empty() {
            continue;
        }
        let mut attributes: Vec<_> = spans
            .attribute_names()
            .filter_map(|name| Some((name, spans.attribute(name)?, HashMap::<u32, String>::new())))
            .collect();
        attributes.sort_unstable_by_key(|(name, ..)| *name);
        for span in &listed {
            let mut read = TokenSpan::new(spans.name(), span.start, span.end);
            for (name, attribute, known) in &mut attributes {
                let code = attribute.code(span.index);
                // Values repeat in a document, and each takes the decompression of a block.
                let value = match known.entry(code) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(attribute.value(code)?),
                };
                read = read.with(name, value);
            }
            found.push(read);
        }
    }
    found.sort_by(TokenSpan::file_order);
    Ok(found)
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}

/// Writes the deleted documents of a segment.
pub(crate) fn write_deleted(path: &Path, deleted: &BitSet) -> Result<()> {
    let mut file = SectionWriter::create(path, FileKind::Deleted)?;
    file.section("documents", deleted.words())?;
    file.publish().map(drop)
}

fn read_deleted(path: &Path, documents: u32) -> Result<BitSet> {
    let file = Sections::open(path, FileKind::Deleted)?;
    let section = file.find_numbers::<u64>("documents", (documents as usize).div_ceil(64))?;
    Ok(BitSet::from_words(file.whole(section)?.to_vec()))
}

#[cfg(test)]
mod tests;
