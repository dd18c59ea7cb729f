//! Storage of weight tables: one row per feature, one 8-bit weight per tag or value.
//!
//! Nine of ten weights are zero. Each column is stored as a bitmap of its non-zero weights followed
//! by those weights, which compresses 5 to 14 % better than storing every weight.

use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;

/// Writes the first `columns` weights of every row.
pub fn write(columns: usize, rows: &[Vec<i8>], out: &mut Vec<u8>) {
    let mut weights = Vec::new();
    for column in 0..columns {
        for eight in rows.chunks(8) {
            let mut bits = 0;
            for (bit, row) in eight.iter().enumerate() {
                if row[column] != 0 {
                    bits |= 1 << bit;
                    weights.push(row[column] as u8);
                }
            }
            out.push(bits);
        }
    }
    out.extend(weights);
}

/// Reads the output of [`write()`].
pub fn read<const WIDTH: usize>(
    columns: usize,
    count: usize,
    reader: &mut Reader<'_>,
) -> Result<Vec<[i8; WIDTH]>, ModelError> {
    if columns > WIDTH {
        return Err(ModelError::Damaged("a weight table has too many columns"));
    }
    let stride = count.div_ceil(8);
    let bits = reader.take(stride * columns)?;
    let taken: usize = bits.iter().map(|byte| byte.count_ones() as usize).sum();
    let mut weights = reader.take(taken)?.iter();
    let mut rows = vec![[0; WIDTH]; count];
    for column in 0..columns {
        for (byte, eight) in bits[column * stride..][..stride].iter().zip(rows.chunks_mut(8)) {
            // Most bytes are zero. Bits beyond the last row also have a weight; it is skipped.
            let mut left = *byte;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let weight = weights.next().ok_or(ModelError::Truncated)?;
                if let Some(row) = eight.get_mut(bit) {
                    row[column] = *weight as i8;
                }
            }
        }
    }
    Ok(rows)
}

/// Reads columns without bitmaps, the format of version 1.
pub fn read_dense<const WIDTH: usize>(
    columns: usize,
    count: usize,
    reader: &mut Reader<'_>,
) -> Result<Vec<[i8; WIDTH]>, ModelError> {
    let mut rows = vec![[0; WIDTH]; count];
    for column in 0..columns.min(WIDTH) {
        for (row, weight) in rows.iter_mut().zip(reader.take(count)?) {
            row[column] = *weight as i8;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let rows: Vec<Vec<i8>> = (0..13).map(|row| vec![row % 3 - 1, 0, -row]).collect();
        let mut bytes = Vec::new();
        write(3, &rows, &mut bytes);
        let found: Vec<[i8; 4]> = read(3, rows.len(), &mut Reader::new(&bytes)).unwrap();
        for (found, row) in found.iter().zip(&rows) {
            assert_eq!((&found[..3], found[3]), (row.as_slice(), 0));
        }
        assert!(read::<2>(3, rows.len(), &mut Reader::new(&bytes)).is_err());
        assert!(read::<4>(3, rows.len(), &mut Reader::new(&bytes[..bytes.len() - 1])).is_err());
    }
}
