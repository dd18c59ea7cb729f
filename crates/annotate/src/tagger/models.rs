//! Model files: a list of languages, followed by their compressed models. A *pack* is a model file of one
//! language; `models/registry.tsv` names the packs of the repository, and features of the crate choose
//! which of them are embedded.
//!
//! Only the list is read at startup; a model is decompressed on first use and kept.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::codes;
use crate::embedded;
use crate::tagger::bytes::{Reader, put_number, put_text};
use crate::tagger::info::ModelInfo;
use crate::tagger::{ModelError, Tagger, VERSION, pack_folder};

/// Magic bytes, followed by the version digit and a line feed.
const MAGIC: &[u8] = b"tidings-tags ";

/// Maximum size of a decompressed model.
const MAX_BYTES: usize = 64 << 20;

/// Models of several languages.
#[derive(Debug, Clone, Default)]
pub struct Models {
    models: Vec<Arc<StoredModel>>,
}

#[derive(Debug)]
struct StoredModel {
    /// Description without the digest, which reads the whole model.
    listed: ModelInfo,
    /// Digest that the file states; empty in files before packs.
    digest: String,
    info: OnceLock<ModelInfo>,
    version: u8,
    packed: Cow<'static, [u8]>,
    tagger: OnceLock<Option<Arc<Tagger>>>,
}

/// Models of this program: those embedded in it, and packs of [`pack_folder::pack_folders`], which have priority.
pub fn models() -> &'static Models {
    static MODELS: OnceLock<Models> = OnceLock::new();
    MODELS.get_or_init(|| {
        let packs = embedded::TAGS.iter().filter_map(|(_, bytes)| Models::from_bytes(Cow::Borrowed(*bytes)).ok());
        let embedded = Models { models: packs.flat_map(|pack| pack.models).collect() };
        pack_folder::with_packs_of(&pack_folder::pack_folders(), embedded)
    })
}

impl Models {
    /// Reads a model file. Models are decompressed and validated on first use.
    pub fn from_bytes(bytes: Cow<'static, [u8]>) -> Result<Models, ModelError> {
        let (version, list) = match bytes.strip_prefix(MAGIC) {
            Some([digit @ b'1'..=b'9', b'\n', list @ ..]) if digit - b'0' <= VERSION => (digit - b'0', list),
            Some([digit @ b'1'..=b'9', b'\n', ..]) => return Err(ModelError::Newer { found: digit - b'0' }),
            _ => return Err(ModelError::NotAModel),
        };
        let mut reader = Reader::new(list);
        let count = reader.count()?;
        let mut listed = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            let mut info = ModelInfo::from_line(reader.text()?)?;
            info.bytes = reader.number()? as usize;
            listed.push(info);
        }
        let mut models = Vec::with_capacity(listed.len());
        for mut listed in listed {
            let start = bytes.len() - reader.left();
            reader.take(listed.bytes)?;
            let part = start..start + listed.bytes;
            let packed = match &bytes {
                Cow::Borrowed(all) => Cow::Borrowed(&all[part]),
                Cow::Owned(all) => Cow::Owned(all[part].to_vec()),
            };
            let digest = std::mem::take(&mut listed.digest);
            let (info, tagger) = (OnceLock::new(), OnceLock::new());
            models.push(Arc::new(StoredModel { listed, digest, info, version, packed, tagger }));
        }
        reader.end()?;
        Ok(Models { models })
    }

    /// Serialises each model as a pack, with its digest and in its own format version.
    pub fn packs(&self) -> impl Iterator<Item = (&ModelInfo, Vec<u8>)> {
        self.models.iter().map(|model| (model.info(), write(model.version, &[(model.info(), model.packed.as_ref())])))
    }

    /// Serialises compressed models (see [`Models::pack`]) to a model file.
    pub fn write(models: &[(&ModelInfo, &[u8])]) -> Vec<u8> {
        write(VERSION, models)
    }

    /// Returns true if all models have the current format version.
    pub fn are_current(&self) -> bool {
        self.models.iter().all(|model| model.version == VERSION)
    }

    /// Compressed models, as input of [`Models::write`].
    pub fn packed(&self) -> impl Iterator<Item = (&ModelInfo, &[u8])> {
        self.models.iter().map(|model| (model.info(), model.packed.as_ref()))
    }

    /// Compresses a model.
    pub fn pack(model: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(model, 19).expect("compression into memory does not fail")
    }

    /// Descriptions of the models, in file order.
    pub fn languages(&self) -> impl Iterator<Item = &ModelInfo> {
        self.models.iter().map(|model| model.info())
    }

    /// Merges two sets; for a language in both, the model of `others` is used.
    pub fn with(&self, others: Models) -> Models {
        let mut models = others.models;
        let own = self.models.iter().filter(|own| !models.iter().any(|one| one.listed.language == own.listed.language));
        let own: Vec<Arc<StoredModel>> = own.cloned().collect();
        models.extend(own);
        models.sort_by(|one, other| one.listed.language.cmp(&other.listed.language));
        Models { models }
    }

    /// Returns the tagger of a language by any of its codes; `None` if there is no model or it is
    /// damaged (see [`Models::check`]).
    ///
    /// The first call for a language decompresses its model, which takes milliseconds.
    pub fn tagger(&self, language: &str) -> Option<Arc<Tagger>> {
        let code = codes::short_code(language);
        let model = self.models.iter().find(|model| model.listed.language == code)?;
        model.tagger.get_or_init(|| model.unpack().ok().map(Arc::new)).clone()
    }

    /// Decompresses and validates every model; returns the first error.
    pub fn check(&self) -> Result<(), ModelError> {
        self.models.iter().try_for_each(|model| model.unpack().map(drop))
    }
}

fn write(version: u8, models: &[(&ModelInfo, &[u8])]) -> Vec<u8> {
    let mut bytes = [MAGIC, &[b'0' + version, b'\n']].concat();
    put_number(models.len() as u32, &mut bytes);
    for (info, packed) in models {
        put_text(&info.to_line(), &mut bytes);
        put_number(packed.len() as u32, &mut bytes);
    }
    models.iter().for_each(|(_, packed)| bytes.extend(*packed));
    bytes
}

impl StoredModel {
    /// Description with the digest, which is computed on first use.
    fn info(&self) -> &ModelInfo {
        let digest = || format!("{:016x}", xxh3_64(&self.packed));
        self.info.get_or_init(|| ModelInfo { digest: digest(), ..self.listed.clone() })
    }

    fn unpack(&self) -> Result<Tagger, ModelError> {
        if !self.digest.is_empty() && self.digest != self.info().digest {
            return Err(ModelError::Damaged("a model has another digest than the file states"));
        }
        let damaged = |_| ModelError::Damaged("a model cannot be decompressed");
        let model = zstd::bulk::decompress(&self.packed, MAX_BYTES).map_err(damaged)?;
        Tagger::read_version(self.info().clone(), &model, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_model_is_valid_and_names_its_treebanks() {
        assert_eq!(models().check(), Ok(()));
        let count = models().languages().count();
        assert!(if cfg!(feature = "models-all") { count >= 50 } else { count < 50 }, "{count}");
        for info in models().languages() {
            assert!(!info.treebanks.is_empty() && !info.licence().contains("NC"), "{info:?}");
            assert!(info.bytes <= 500_000, "{info:?} is larger than 500 kB");
        }
        if cfg!(feature = "models-all") {
            let norwegian = models().tagger("nob").expect("three-letter codes are mapped");
            assert_eq!(norwegian.info().language, "nb");
        }
    }
}
