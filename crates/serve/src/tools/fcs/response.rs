//! The forms of responses in SRU 2.0 and 1.2, which differ in name spaces and in the names of some elements.

use super::super::xml::Xml;
use super::Diagnostic;

/// A version of SRU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V12,
    V20,
}

impl Version {
    pub fn name(self) -> &'static str {
        if self == Version::V12 { "1.2" } else { "2.0" }
    }

    /// The name space of responses.
    pub fn name_space(self) -> &'static str {
        match self {
            Version::V12 => "http://www.loc.gov/zing/srw/",
            Version::V20 => "http://docs.oasis-open.org/ns/search-ws/sruResponse",
        }
    }

    fn diagnostic_name_space(self) -> &'static str {
        match self {
            Version::V12 => "http://www.loc.gov/zing/srw/diagnostic/",
            Version::V20 => "http://docs.oasis-open.org/ns/search-ws/diagnostic",
        }
    }

    /// The element that says that records are XML and not escaped text.
    fn packing(self) -> &'static str {
        if self == Version::V12 { "sru:recordPacking" } else { "sru:recordXMLEscaping" }
    }
}

/// Opens a record.
pub(super) fn open_record(xml: &mut Xml, version: Version, schema: &str) {
    xml.open("sru:record", &[]);
    xml.leaf("sru:recordSchema", &[], schema);
    xml.leaf(version.packing(), &[], "xml");
    xml.open("sru:recordData", &[]);
}

/// Writes the diagnostics, if there are any.
pub(super) fn diagnostics(xml: &mut Xml, version: Version, diagnostics: &[Diagnostic]) {
    if diagnostics.is_empty() {
        return;
    }
    xml.open("sru:diagnostics", &[]);
    for diagnostic in diagnostics {
        xml.open("diag:diagnostic", &[("xmlns:diag", version.diagnostic_name_space())]);
        xml.leaf("diag:uri", &[], &diagnostic.uri);
        xml.leaf("diag:details", &[], &diagnostic.details);
        xml.leaf("diag:message", &[], &diagnostic.message);
        xml.close();
    }
    xml.close();
}

/// A response to a search that was not made.
pub(super) fn diagnostics_only(version: Version, all: &[Diagnostic]) -> String {
    let mut xml = Xml::new();
    xml.open("sru:searchRetrieveResponse", &[("xmlns:sru", version.name_space())]);
    xml.leaf("sru:version", &[], version.name());
    xml.leaf("sru:numberOfRecords", &[], "0");
    diagnostics(&mut xml, version, all);
    xml.finish()
}
