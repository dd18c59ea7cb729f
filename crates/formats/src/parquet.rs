//! A Parquet writer for tables with lists.
//!
//! Supports flat tables with lists of strings, numbers and records: one row group per file, one page per column, plain encoding, zstd
//! compression. The format (parquet-format, with Thrift's compact protocol for metadata) fits into this file without
//! dependencies; docs/notes/export.md compares it with the usual library.

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Required text.
    Text,
    /// Optional text.
    OptionalText,
    /// A list of texts, possibly empty.
    Texts,
    /// A list of numbers, possibly empty.
    Numbers,
    /// An optional number.
    OptionalFloat,
    /// An optional date as days since 1970.
    OptionalDay,
    /// An optional time in microseconds since 1970, UTC.
    OptionalTime,
}

/// A value of a column.
#[derive(Debug, Clone, Copy)]
pub enum Value<'v> {
    /// A text, for the two kinds of texts.
    Text(&'v str),
    /// A list of texts.
    Texts(&'v [String]),
    /// A list of numbers.
    Numbers(&'v [u32]),
    /// A number.
    Float(f32),
    /// Days since 1970.
    Day(i32),
    /// Microseconds since 1970.
    Time(i64),
    /// A null value.
    Nothing,
}

/// A table in progress, which becomes one file.
pub struct Table {
    columns: Vec<Column>,
    rows: u64,
    bytes: usize,
}

/// A field of a table.
#[derive(Debug, Clone)]
pub enum Field {
    /// A column.
    Column(String, Type),
    /// A list of records with these fields, which are lists of the same length.
    Records(String, Vec<(&'static str, Type)>),
}

/// The list of records that a column is a field of.
struct RecordField {
    list: String,
    /// The number of fields of a record.
    fields: usize,
    /// True for the first field, which also writes the schema of the list.
    is_first: bool,
}

struct Column {
    name: String,
    kind: Type,
    of_records: Option<RecordField>,
    /// Definition levels: 1 for a value of an optional column.
    definition: Vec<u8>,
    /// Repetition levels: 0 starts a row, 1 continues its list.
    repetition: Vec<u8>,
    values: Vec<u8>,
    rows: u64,
    nulls: u64,
    /// The minimum and maximum, which let readers skip whole files.
    range: Option<(i64, i64)>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(columns: &[(&'static str, Type)]) -> Table {
        Table::of(columns.iter().map(|(name, kind)| Field::Column((*name).to_owned(), *kind)))
    }

    /// An empty table with these fields. A row has a value for each column, and for each field of records.
    pub fn of(fields: impl IntoIterator<Item = Field>) -> Table {
        let mut columns = Vec::new();
        for field in fields {
            match field {
                Field::Column(name, kind) => columns.push(Column::new(name, kind, None)),
                Field::Records(list, fields) => {
                    for (at, (name, kind)) in fields.iter().enumerate() {
                        assert!(kind.is_list(), "a field of records is a list");
                        let of_records = RecordField { list: list.clone(), fields: fields.len(), is_first: at == 0 };
                        columns.push(Column::new((*name).to_owned(), *kind, Some(of_records)));
                    }
                }
            }
        }
        Table { columns, rows: 0, bytes: 0 }
    }

    /// Adds a row: a value for each column.
    pub fn push(&mut self, row: &[Value<'_>]) {
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        for (column, value) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(*value);
        }
        self.rows += 1;
    }

    /// The rest of the names of columns that begin with a prefix.
    pub fn columns_with_prefix(&self, prefix: &str) -> Vec<String> {
        self.columns.iter().filter_map(|column| column.name.strip_prefix(prefix)).map(str::to_owned).collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Its size in memory, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The file, passed to `write` in pieces.
    pub fn finish<E>(self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut packer = zstd::bulk::Compressor::new(LEVEL).expect("the level exists");
        write(MAGIC)?;
        let mut at = MAGIC.len() as u64;
        let mut chunks = Vec::new();
        for column in &self.columns {
            let data = column.page();
            let packed = packer.compress(&data).expect("memory suffices");
            let mut header = Thrift::default();
            header.i32(1, 0); // a page of data
            header.i32(2, data.len() as i32);
            header.i32(3, packed.len() as i32);
            header.inside(5, |page| {
                page.i32(1, column.levels() as i32);
                page.i32(2, PLAIN);
                page.i32(3, RLE);
                page.i32(4, RLE);
            });
            let header = header.done();
            write(&header)?;
            write(&packed)?;
            let bytes = (header.len() + packed.len()) as u64;
            chunks.push(Chunk { at, bytes, unpacked: (header.len() + data.len()) as u64 });
            at += bytes;
        }
        let footer = self.footer(&chunks);
        write(&footer)?;
        write(&(footer.len() as u32).to_le_bytes())?;
        write(MAGIC)
    }

    fn footer(&self, chunks: &[Chunk]) -> Vec<u8> {
        let mut footer = Thrift::default();
        footer.i32(1, 1);
        let is_field = |column: &&Column| column.of_records.as_ref().is_none_or(|records| records.is_first);
        let mut schema = vec![root(self.columns.iter().filter(is_field).count())];
        self.columns.iter().for_each(|column| column.schema(&mut schema));
        footer.structs(2, &schema);
        footer.i64(3, self.rows as i64);
        let mut group = Thrift::default();
        let columns: Vec<Vec<u8>> =
            self.columns.iter().zip(chunks).map(|(column, chunk)| column.chunk(chunk)).collect();
        group.structs(1, &columns);
        group.i64(2, chunks.iter().map(|chunk| chunk.unpacked as i64).sum());
        group.i64(3, self.rows as i64);
        footer.structs(4, &[group.done()]);
        footer.text(6, concat!("tidings version ", env!("CARGO_PKG_VERSION")));
        footer.done()
    }
}

const MAGIC: &[u8] = b"PAR1";
const LEVEL: i32 = 3;
/// Encodings, codec and types by their numbers in the format.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const ZSTD: i32 = 6;
/// Repetition types of schema elements.
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;

struct Chunk {
    at: u64,
    bytes: u64,
    unpacked: u64,
}

impl Type {
    /// The physical type's number.
    fn physical(self) -> i32 {
        match self {
            Type::OptionalDay | Type::Numbers => 1,
            Type::OptionalTime => 2,
            Type::OptionalFloat => 4,
            Type::Text | Type::OptionalText | Type::Texts => 6,
        }
    }

    fn is_list(self) -> bool {
        matches!(self, Type::Texts | Type::Numbers)
    }

    /// The highest level of definition.
    fn depth(self) -> u8 {
        match self {
            Type::Text => 0,
            // A list is always present; the definition level tells whether it has an element.
            _ => 1,
        }
    }
}

impl Column {
    fn new(name: String, kind: Type, of_records: Option<RecordField>) -> Column {
        Column {
            name,
            kind,
            of_records,
            definition: Vec::new(),
            repetition: Vec::new(),
            values: Vec::new(),
            rows: 0,
            nulls: 0,
            range: None,
        }
    }

    /// Writes the levels of a list of this length.
    fn list(&mut self, len: usize) {
        for at in 0..len {
            self.repetition.push(u8::from(at > 0));
            self.definition.push(1);
        }
        if len == 0 {
            self.repetition.push(0);
            self.definition.push(0);
            self.nulls += 1;
        }
    }

    fn push(&mut self, value: Value<'_>) -> usize {
        let before = self.values.len() + self.definition.len();
        self.rows += 1;
        match (self.kind, value) {
            (Type::Text, Value::Text(text)) => self.text(text),
            (Type::OptionalText, Value::Text(text)) => {
                self.definition.push(1);
                self.text(text);
            }
            (Type::Texts, Value::Texts(texts)) => {
                self.list(texts.len());
                texts.iter().for_each(|text| self.text(text));
            }
            (Type::Numbers, Value::Numbers(numbers)) => {
                self.list(numbers.len());
                numbers.iter().for_each(|number| self.values.extend(number.to_le_bytes()));
            }
            (Type::OptionalFloat, Value::Float(number)) => {
                self.definition.push(1);
                self.values.extend(number.to_le_bytes());
            }
            (Type::OptionalDay, Value::Day(day)) => {
                self.definition.push(1);
                self.widen(day.into());
                self.values.extend(day.to_le_bytes());
            }
            (Type::OptionalTime, Value::Time(time)) => {
                self.definition.push(1);
                self.widen(time);
                self.values.extend(time.to_le_bytes());
            }
            (Type::Text, Value::Nothing) => self.text(""),
            (_, Value::Nothing) => {
                if self.kind.is_list() {
                    self.repetition.push(0);
                }
                self.definition.push(0);
                self.nulls += 1;
            }
            (kind, value) => panic!("{value:?} is not of type {kind:?}"),
        }
        self.values.len() + self.definition.len() - before
    }

    fn text(&mut self, text: &str) {
        self.values.extend((text.len() as u32).to_le_bytes());
        self.values.extend_from_slice(text.as_bytes());
    }

    fn widen(&mut self, number: i64) {
        let (least, greatest) = self.range.unwrap_or((number, number));
        self.range = Some((least.min(number), greatest.max(number)));
    }

    /// The number of values and nulls, which the format calls the number of values.
    fn levels(&self) -> u64 {
        if self.kind == Type::Text { self.rows } else { self.definition.len() as u64 }
    }

    fn page(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(self.values.len() + self.definition.len() / 4 + 64);
        if self.kind.is_list() {
            levels(&self.repetition, &mut page);
        }
        if self.kind.depth() > 0 {
            levels(&self.definition, &mut page);
        }
        page.extend_from_slice(&self.values);
        page
    }

    /// Its schema elements in depth-first order.
    fn schema(&self, schema: &mut Vec<Vec<u8>>) {
        match (&self.of_records, self.kind) {
            (Some(records), _) => {
                if records.is_first {
                    let mut element = Thrift::default();
                    element.i32(3, REQUIRED);
                    element.text(4, "element");
                    element.i32(5, records.fields as i32);
                    schema.extend(list_schema(&records.list));
                    schema.push(element.done());
                }
                schema.push(self.leaf(&self.name, REQUIRED));
            }
            (None, Type::Text) => schema.push(self.leaf(&self.name, REQUIRED)),
            (None, Type::Texts | Type::Numbers) => {
                schema.extend(list_schema(&self.name));
                schema.push(self.leaf("element", REQUIRED));
            }
            (None, _) => schema.push(self.leaf(&self.name, OPTIONAL)),
        }
    }

    /// The schema element of its values.
    fn leaf(&self, name: &str, repetition: i32) -> Vec<u8> {
        let mut leaf = Thrift::default();
        leaf.i32(1, self.kind.physical());
        leaf.i32(3, repetition);
        leaf.text(4, name);
        // The old and the new name of the logical type.
        match self.kind {
            Type::Text | Type::OptionalText | Type::Texts => {
                leaf.i32(6, 0);
                leaf.inside(10, |logical| logical.inside(1, |_| ()));
            }
            Type::OptionalDay => {
                leaf.i32(6, 6);
                leaf.inside(10, |logical| logical.inside(6, |_| ()));
            }
            Type::OptionalTime => {
                leaf.i32(6, 10);
                leaf.inside(10, |logical| {
                    logical.inside(8, |time| {
                        time.bool(1, true);
                        time.inside(2, |unit| unit.inside(2, |_| ()));
                    });
                });
            }
            Type::OptionalFloat | Type::Numbers => {}
        }
        leaf.done()
    }

    fn chunk(&self, chunk: &Chunk) -> Vec<u8> {
        let mut out = Thrift::default();
        out.i64(2, chunk.at as i64);
        out.inside(3, |meta| {
            meta.i32(1, self.kind.physical());
            meta.i32s(2, &[PLAIN, RLE]);
            match &self.of_records {
                Some(records) => meta.texts(3, &[&records.list, "list", "element", &self.name]),
                None if self.kind.is_list() => meta.texts(3, &[&self.name, "list", "element"]),
                None => meta.texts(3, &[&self.name]),
            }
            meta.i32(4, ZSTD);
            meta.i64(5, self.levels() as i64);
            meta.i64(6, chunk.unpacked as i64);
            meta.i64(7, chunk.bytes as i64);
            meta.i64(9, chunk.at as i64);
            if !self.kind.is_list() {
                meta.inside(12, |statistics| {
                    statistics.i64(3, self.nulls as i64);
                    if let Some((least, greatest)) = self.range {
                        let width = if self.kind == Type::OptionalDay { 4 } else { 8 };
                        statistics.bytes(5, &greatest.to_le_bytes()[..width]);
                        statistics.bytes(6, &least.to_le_bytes()[..width]);
                    }
                });
            }
        });
        out.done()
    }
}

/// The schema elements of a list, which the element of the list follows.
fn list_schema(name: &str) -> [Vec<u8>; 2] {
    let mut list = Thrift::default();
    list.i32(3, REQUIRED);
    list.text(4, name);
    list.i32(5, 1);
    list.i32(6, 3);
    list.inside(10, |logical| logical.inside(3, |_| ()));
    let mut group = Thrift::default();
    group.i32(3, REPEATED);
    group.text(4, "list");
    group.i32(5, 1);
    [list.done(), group.done()]
}

/// Levels of one bit in run-length encoding, after their length.
fn levels(levels: &[u8], page: &mut Vec<u8>) {
    let start = page.len();
    page.extend([0; 4]);
    for run in levels.chunk_by(|a, b| a == b) {
        varint((run.len() as u64) << 1, page);
        page.push(run[0]);
    }
    let len = (page.len() - start - 4) as u32;
    page[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

fn root(columns: usize) -> Vec<u8> {
    let mut root = Thrift::default();
    root.text(4, "schema");
    root.i32(5, columns as i32);
    root.done()
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// A struct in Thrift's compact protocol; fields must be written in ascending order.
#[derive(Default)]
struct Thrift {
    out: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, number: u8, kind: u8) {
        self.out.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn bool(&mut self, number: u8, value: bool) {
        self.field(number, if value { 1 } else { 2 });
    }

    fn i32(&mut self, number: u8, value: i32) {
        self.field(number, 5);
        varint(zigzag(value.into()), &mut self.out);
    }

    fn i64(&mut self, number: u8, value: i64) {
        self.field(number, 6);
        varint(zigzag(value), &mut self.out);
    }

    fn bytes(&mut self, number: u8, value: &[u8]) {
        self.field(number, 8);
        varint(value.len() as u64, &mut self.out);
        self.out.extend_from_slice(value);
    }

    fn text(&mut self, number: u8, value: &str) {
        self.bytes(number, value.as_bytes());
    }

    fn list(&mut self, number: u8, kind: u8, len: usize) {
        self.field(number, 9);
        match len {
            0..15 => self.out.push((len as u8) << 4 | kind),
            _ => {
                self.out.push(0xF0 | kind);
                varint(len as u64, &mut self.out);
            }
        }
    }

    fn i32s(&mut self, number: u8, values: &[i32]) {
        self.list(number, 5, values.len());
        values.iter().for_each(|value| varint(zigzag((*value).into()), &mut self.out));
    }

    fn texts(&mut self, number: u8, values: &[&str]) {
        self.list(number, 8, values.len());
        for value in values {
            varint(value.len() as u64, &mut self.out);
            self.out.extend_from_slice(value.as_bytes());
        }
    }

    fn structs(&mut self, number: u8, values: &[Vec<u8>]) {
        self.list(number, 12, values.len());
        values.iter().for_each(|value| self.out.extend_from_slice(value));
    }

    fn inside(&mut self, number: u8, fill: impl FnOnce(&mut Thrift)) {
        self.field(number, 12);
        let mut inner = Thrift::default();
        fill(&mut inner);
        self.out.extend(inner.done());
    }

    fn done(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(table: Table) -> Vec<u8> {
        let mut file = Vec::new();
        table
            .finish(|bytes| {
                file.extend_from_slice(bytes);
                Ok::<(), std::convert::Infallible>(())
            })
            .unwrap();
        file
    }

    #[test]
    fn a_file_has_its_magic_numbers_and_footer() {
        let mut table = Table::new(&[("id", Type::Text), ("tags", Type::Texts), ("date", Type::OptionalDay)]);
        table.push(&[Value::Text("a"), Value::Texts(&["x".into(), "y".into()]), Value::Day(20_000)]);
        table.push(&[Value::Text("b"), Value::Texts(&[]), Value::Nothing]);
        assert_eq!(table.rows(), 2);
        let file = file(table);
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let len = u32::from_le_bytes(*file[..file.len() - 4].last_chunk::<4>().unwrap()) as usize;
        let footer = &file[file.len() - 8 - len..file.len() - 8];
        // Version 1, then the list of six elements: the root, id, three for tags, date.
        assert_eq!(footer[..4], [0x15, 2, 0x19, 0x6C]);
    }

    #[test]
    fn records_are_lists_of_the_same_length_below_one_group() {
        let fields = vec![("name", Type::Texts), ("start", Type::Numbers)];
        let mut table =
            Table::of([Field::Column("id".to_owned(), Type::Text), Field::Records("spans".to_owned(), fields)]);
        table.push(&[Value::Text("a"), Value::Texts(&["ne".into(), "q".into()]), Value::Numbers(&[3, 300])]);
        table.push(&[Value::Text("b"), Value::Texts(&[]), Value::Numbers(&[])]);
        let start = &table.columns[2];
        assert_eq!((&start.repetition[..], &start.definition[..]), (&[0, 1, 0][..], &[1, 1, 0][..]));
        assert_eq!(start.values, [3, 0, 0, 0, 44, 1, 0, 0]);
        let mut schema = Vec::new();
        table.columns.iter().for_each(|column| column.schema(&mut schema));
        let names = |element: &Vec<u8>, name: &str| element.windows(name.len()).any(|part| part == name.as_bytes());
        let expected = ["id", "spans", "list", "element", "name", "start"];
        assert_eq!(schema.len(), expected.len());
        assert!(schema.iter().zip(expected).all(|(element, name)| names(element, name)));
        // Version 1, the list of seven elements, and the root with its name and two fields.
        let file = file(table);
        let len = u32::from_le_bytes(*file[..file.len() - 4].last_chunk::<4>().unwrap()) as usize;
        let footer = &file[file.len() - 8 - len..file.len() - 8];
        assert_eq!(footer[..4], [0x15, 2, 0x19, 0x7C]);
        assert_eq!(footer[4..14], [&[0x48, 6][..], b"schema", &[0x15, 4][..]].concat());
    }

    #[test]
    fn levels_are_run_length_encoded() {
        let mut page = Vec::new();
        levels(&[1, 1, 1, 0], &mut page);
        assert_eq!(page, [4, 0, 0, 0, 6, 1, 2, 0]);
        assert_eq!((zigzag(0), zigzag(-1), zigzag(1), zigzag(-2)), (0, 1, 2, 3));
    }
}
