//! Reading and writing of model files: numbers, texts, and limits that no file can talk its way around.

use crate::tagger::ModelError;

/// What is left of a model's bytes.
#[derive(Debug)]
pub struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// All of these bytes.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes }
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], ModelError> {
        self.rest.split_off(..count).ok_or(ModelError::Truncated)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, ModelError> {
        Ok(self.take(1)?[0])
    }

    /// A number in as few bytes as it needs.
    pub fn number(&mut self) -> Result<u32, ModelError> {
        let (mut number, mut shift) = (0u32, 0);
        loop {
            let byte = self.u8()?;
            number |= u32::from(byte & 127).checked_shl(shift).ok_or(ModelError::Damaged("a number is too long"))?;
            shift += 7;
            if byte < 128 {
                return Ok(number);
            }
        }
    }

    /// A count of things that take at least a byte each, so that nobody reserves room for more than there is.
    pub fn count(&mut self) -> Result<usize, ModelError> {
        let count = self.number()? as usize;
        if count > self.rest.len() { Err(ModelError::Truncated) } else { Ok(count) }
    }

    /// A text with its length before it.
    pub fn text(&mut self) -> Result<&'b str, ModelError> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).map_err(|_| ModelError::Damaged("a text is not UTF-8"))
    }

    /// How many bytes there are still.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Whether all has been read.
    pub fn end(&self) -> Result<(), ModelError> {
        if self.rest.is_empty() { Ok(()) } else { Err(ModelError::Damaged("there are bytes after the end")) }
    }
}

/// Writes what [`Reader::number`] reads.
pub fn put_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes what [`Reader::text`] reads.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u32, out);
    out.extend(text.as_bytes());
}
