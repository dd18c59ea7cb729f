//! A file of models: a list of what is in it, then one packed model after the other.
//!
//! Reading the list costs nothing; a language is unpacked when it is asked for, and stays.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::codes;
use crate::tagger::about::About;
use crate::tagger::bytes::{Reader, put_number, put_text};
use crate::tagger::{ModelError, Tagger, VERSION};

/// The first bytes of a file of models, before the number of its version and a line feed.
const MAGIC: &[u8] = b"tidings-tags ";

/// No model may be larger than this when it is unpacked.
const MOST_BYTES: usize = 64 << 20;

/// Models of several languages.
#[derive(Debug, Clone, Default)]
pub struct Models {
    places: Vec<Arc<Place>>,
}

#[derive(Debug)]
struct Place {
    about: About,
    version: u8,
    packed: Cow<'static, [u8]>,
    tagger: OnceLock<Option<Arc<Tagger>>>,
}

/// All models that ship with the binary.
pub fn models() -> &'static Models {
    static MODELS: OnceLock<Models> = OnceLock::new();
    MODELS.get_or_init(|| Models::from_bytes(Cow::Borrowed(SHIPPED)).unwrap_or_default())
}

/// The file that ships with the binary.
pub(crate) const SHIPPED: &[u8] = include_bytes!("../../models/tags.bin");

impl Models {
    /// The models of a file. Each is checked against its digest when it is first used.
    pub fn from_bytes(bytes: Cow<'static, [u8]>) -> Result<Models, ModelError> {
        let (version, list) = match bytes.strip_prefix(MAGIC) {
            Some([digit @ b'1'..=b'9', b'\n', list @ ..]) if digit - b'0' <= VERSION => (digit - b'0', list),
            Some([digit @ b'1'..=b'9', b'\n', ..]) => return Err(ModelError::Newer { found: digit - b'0' }),
            _ => return Err(ModelError::Foreign),
        };
        let mut reader = Reader::new(list);
        let count = reader.count()?;
        let mut listed = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            let mut about = About::from_line(reader.text()?)?;
            about.bytes = reader.number()? as usize;
            listed.push(about);
        }
        let mut places = Vec::with_capacity(listed.len());
        for mut about in listed {
            let start = bytes.len() - reader.left();
            about.digest = format!("{:016x}", xxh3_64(reader.take(about.bytes)?));
            let part = start..start + about.bytes;
            let packed = match &bytes {
                Cow::Borrowed(all) => Cow::Borrowed(&all[part]),
                Cow::Owned(all) => Cow::Owned(all[part].to_vec()),
            };
            places.push(Arc::new(Place { about, version, packed, tagger: OnceLock::new() }));
        }
        reader.end()?;
        Ok(Models { places })
    }

    /// A file of these models, each as [`Models::pack`] gave it.
    pub fn write(models: &[(&About, &[u8])]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[b'0' + VERSION, b'\n']].concat();
        put_number(models.len() as u32, &mut bytes);
        for (about, packed) in models {
            put_text(&about.to_line(), &mut bytes);
            put_number(packed.len() as u32, &mut bytes);
        }
        models.iter().for_each(|(_, packed)| bytes.extend(*packed));
        bytes
    }

    /// Whether all of them are of the version that is written.
    pub fn are_current(&self) -> bool {
        self.places.iter().all(|place| place.version == VERSION)
    }

    /// What [`Models::write`] writes: each model as it lies in its file.
    pub fn packed(&self) -> impl Iterator<Item = (&About, &[u8])> {
        self.places.iter().map(|place| (&place.about, place.packed.as_ref()))
    }

    /// A model packed for a file.
    pub fn pack(model: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(model, 19).expect("memory takes everything that is written to it")
    }

    /// What is known of each model, in the order of the file.
    pub fn languages(&self) -> impl Iterator<Item = &About> {
        self.places.iter().map(|place| &place.about)
    }

    /// These models and others, which win where both know a language.
    pub fn with(&self, others: Models) -> Models {
        let mut places = others.places;
        let own = self.places.iter().filter(|own| !places.iter().any(|one| one.about.language == own.about.language));
        let own: Vec<Arc<Place>> = own.cloned().collect();
        places.extend(own);
        places.sort_by(|one, other| one.about.language.cmp(&other.about.language));
        Models { places }
    }

    /// The tagger of a language, by whatever code it goes; none if there is no model of it.
    ///
    /// The first call for a language unpacks its model, which takes milliseconds. A model that is
    /// damaged is none; [`Models::check`] tells why.
    pub fn tagger(&self, language: &str) -> Option<Arc<Tagger>> {
        let code = codes::plain(language);
        let place = self.places.iter().find(|place| place.about.language == code)?;
        place.tagger.get_or_init(|| place.unpack().ok().map(Arc::new)).clone()
    }

    /// Unpacks every model once and says which cannot be used.
    pub fn check(&self) -> Result<(), ModelError> {
        self.places.iter().try_for_each(|place| place.unpack().map(drop))
    }
}

impl Place {
    fn unpack(&self) -> Result<Tagger, ModelError> {
        let damaged = |_| ModelError::Odd("a model cannot be unpacked");
        let model = zstd::bulk::decompress(&self.packed, MOST_BYTES).map_err(damaged)?;
        Tagger::read_version(self.about.clone(), &model, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_that_ships_can_be_used_and_says_whose_it_is() {
        assert_eq!(models().check(), Ok(()));
        assert!(models().languages().count() >= 45);
        for about in models().languages() {
            assert!(!about.treebanks.is_empty() && !about.licence().contains("NC"), "{about:?}");
            assert!(about.bytes <= 500_000, "{about:?} is large");
        }
        let norwegian = models().tagger("nob").expect("codes of three letters are understood");
        assert_eq!(norwegian.about().language, "nb");
    }
}
