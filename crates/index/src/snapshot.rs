//! Snapshots: one generation of the index, for readers.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};

use crate::codec::{BitSet, bit};
use crate::error::{Error, Result, damaged};
use crate::lexicon::{Layer, Lexicon, LexiconSegment};
use crate::manifest::{Input, Manifest};
use crate::sections::{FileKind, SectionWriter, Sections};
use crate::segment::Segment;

/// Attempts to open a generation: a file may be gone because a writer has published a newer one meanwhile.
const TRIES: usize = 20;

/// One generation of the index. It does not change whatever writers do: files that they remove stay mapped.
#[derive(Debug, Clone)]
pub struct Snapshot {
    generation: u64,
    behaviour: u32,
    lexicon: Lexicon,
    segments: Vec<LiveSegment>,
    inputs: Arc<Vec<Input>>,
    parts: Vec<(String, Stamp)>,
}

/// Modification time and length, which tell a file from another of the same name in an index that was made anew.
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

    /// The documents that are deleted; hits in them do not count.
    pub fn deleted(&self) -> &BitSet {
        &self.deleted
    }

    /// Whether any document is deleted.
    pub fn has_deleted(&self) -> bool {
        self.deleted_documents > 0
    }

    /// Tokens of documents that are still there.
    pub fn tokens(&self) -> u64 {
        u64::from(self.segment.tokens() - self.deleted_tokens)
    }

    /// Documents that are still there.
    pub fn documents(&self) -> u64 {
        u64::from(self.segment.meta().documents - self.deleted_documents)
    }

    /// The name of its file.
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl Snapshot {
    /// Opens the newest generation of an index.
    pub fn open(folder: &Path) -> Result<Snapshot> {
        Snapshot::open_from(folder, None)
    }

    /// The newest generation; what this one has open already is not opened again.
    pub fn refresh(&self, folder: &Path) -> Result<Snapshot> {
        Snapshot::open_from(folder, Some(self))
    }

    /// Whether no newer generation was published; cheaper than [`Snapshot::refresh`].
    pub fn is_newest(&self, folder: &Path) -> Result<bool> {
        let files = self.segments.iter().map(|live| (&live.file, &live.stamp));
        let files = files.chain(self.parts.iter().map(|(name, stamp)| (name, stamp)));
        let is_same = |(name, known): (&String, &Stamp)| stamp(&folder.join(name)) == *known;
        let newest = Manifest::read(folder)?;
        Ok(newest.is_some_and(|manifest| manifest.generation == self.generation) && files.into_iter().all(is_same))
    }

    fn open_from(folder: &Path, known: Option<&Snapshot>) -> Result<Snapshot> {
        for _ in 0..TRIES {
            let manifest = Manifest::read(folder)?.ok_or_else(|| Error::NoIndex { folder: folder.to_owned() })?;
            match Snapshot::of(folder, &manifest, known) {
                Err(error) if is_gone(&error) && Manifest::read(folder)?.as_ref() != Some(&manifest) => {}
                result => return result,
            }
        }
        damaged(&folder.join("MANIFEST"), "its files are never there when they are opened")
    }

    pub(crate) fn of(folder: &Path, manifest: &Manifest, known: Option<&Snapshot>) -> Result<Snapshot> {
        let part = |name: &String| {
            let written = stamp(&folder.join(name));
            let is_same = |(known, stamp): &(String, Stamp)| known == name && *stamp == written;
            let same = known.and_then(|known| known.parts.iter().position(is_same));
            match same.zip(known) {
                Some((index, known)) => Ok(known.lexicon.parts()[index].clone()),
                None => LexiconSegment::open(&folder.join(name)).map(Arc::new),
            }
        };
        let parts = manifest.lexicon.iter().map(|name| (name.clone(), stamp(&folder.join(name)))).collect();
        let lexicon = Lexicon::new(manifest.lexicon.iter().map(part).collect::<Result<_>>()?);
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
                return damaged(&path, "it knows more lexemes than the lexicon");
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
            parts,
        })
    }

    /// Counts the changes of the index.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The lexicon.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The segments, in the order in which they were written.
    pub fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// The [behaviour](crate::BEHAVIOUR_VERSION) that made it.
    pub fn behaviour(&self) -> u32 {
        self.behaviour
    }

    /// What was read to make it.
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

    /// The bytes of all its files but the manifest.
    pub fn bytes_on_disk(&self) -> u64 {
        let segments: u64 = self.segments.iter().map(|live| live.segment.bytes_on_disk()).sum();
        segments + self.lexicon.parts().iter().map(|part| part.bytes_on_disk()).sum::<u64>()
    }

    /// Reads every byte of every file and compares it with what was written.
    pub fn verify(&self) -> Result<()> {
        self.lexicon.verify()?;
        self.segments.iter().try_for_each(|live| live.segment.verify())
    }

    /// A document as it was added. Kinds of paragraphs are not kept.
    pub fn annotated(&self, segment: usize, document: u32) -> Result<Annotated> {
        let segment = self.segments[segment].segment();
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
            let [word, lemma, tag, feats] = Layer::ALL.map(|layer| self.lexicon.text(lexeme, layer).to_owned());
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
        Ok(Annotated { about, paragraphs })
    }

    /// Where documents with an id lie: segment and document; deleted ones do not count.
    pub fn find_document(&self, id: u128) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for (index, live) in self.segments.iter().enumerate() {
            let places = live.segment.ids().iter().enumerate().filter(|(_, known)| **known == id);
            let places = places.map(|(document, _)| document as u32);
            found.extend(places.filter(|document| !live.deleted.get(*document)).map(|document| (index, document)));
        }
        found
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}

/// Writes which documents of a segment are deleted.
pub(crate) fn write_deleted(path: &Path, deleted: &BitSet) -> Result<()> {
    let mut file = SectionWriter::create(path, FileKind::Deleted)?;
    file.section("documents", deleted.words())?;
    file.publish().map(drop)
}

fn read_deleted(path: &Path, documents: u32) -> Result<BitSet> {
    let file = Sections::open(path, FileKind::Deleted)?;
    let range = file.find_numbers::<u64>("documents", (documents as usize).div_ceil(64))?;
    file.check("documents")?;
    Ok(BitSet::from_words(file.numbers(&range).to_vec()))
}

#[cfg(test)]
mod tests;
