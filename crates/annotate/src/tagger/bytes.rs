//! Reading and writing of model files: varints and strings, with bounds checks against damaged
//! files.

use crate::tagger::ModelError;

/// Reader over the rest of a model's bytes.
#[derive(Debug)]
pub struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Reads from these bytes.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes }
    }

    /// Reads `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], ModelError> {
        self.rest.split_off(..count).ok_or(ModelError::Truncated)
    }

    /// Reads a byte.
    pub fn u8(&mut self) -> Result<u8, ModelError> {
        Ok(self.take(1)?[0])
    }

    /// Reads a LEB128 varint.
    #[inline]
    pub fn number(&mut self) -> Result<u32, ModelError> {
        // Most numbers are differences of one byte.
        if let [byte @ ..128, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u32::from(*byte));
        }
        let (mut number, mut shift) = (0u32, 0);
        loop {
            let byte = self.u8()?;
            number |= u32::from(byte & 127)
                .checked_shl(shift)
                .ok_or(ModelError::Damaged("a number does not fit into 32 bits"))?;
            shift += 7;
            if byte < 128 {
                return Ok(number);
            }
        }
    }

    /// Reads the number of following items of at least one byte each; limits what a damaged file
    /// can make the caller allocate.
    pub fn count(&mut self) -> Result<usize, ModelError> {
        let count = self.number()? as usize;
        if count > self.rest.len() { Err(ModelError::Truncated) } else { Ok(count) }
    }

    /// Reads a string with a length prefix.
    pub fn text(&mut self) -> Result<&'b str, ModelError> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).map_err(|_| ModelError::Damaged("a string is not UTF-8"))
    }

    /// Number of bytes not yet read.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns an error unless everything was read.
    pub fn end(&self) -> Result<(), ModelError> {
        if self.rest.is_empty() { Ok(()) } else { Err(ModelError::Damaged("there is data after the end")) }
    }
}

/// Writes a LEB128 varint for [`Reader::number`].
pub fn put_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a string for [`Reader::text`].
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u32, out);
    out.extend(text.as_bytes());
}
