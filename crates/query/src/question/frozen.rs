//! The frozen state of a corpus that an answer is from.

answer! {
    /// A state of the corpus that is kept under a name, so that it can be cited and asked again.
    #[derive(Default)]
    pub struct FrozenState {
        /// The name, which `as_of` takes.
        pub name: String,
        /// The time at which it was frozen.
        pub frozen: String,
        /// The state of the corpus then.
        pub generation: u64,
        /// The checksum of the text then (`tidings digest --lang`); null if it was not known.
        pub digest: Option<String>,
        /// Documents then.
        pub documents: u64,
        /// Tokens then.
        pub tokens: u64,
        /// The documents that takedowns took out since, one row for each takedown. Answers are without them.
        pub withdrawn: Vec<WithdrawnDocuments>,
        /// Documents that the client may not read now or might not read then. Answers are without them.
        pub withheld_documents: u64,
    }

    /// What one takedown took out of a frozen state.
    pub struct WithdrawnDocuments {
        /// The time of the takedown.
        pub time: String,
        /// Documents.
        pub documents: u64,
        /// Their tokens.
        pub tokens: u64,
    }
}

impl FrozenState {
    /// The documents that takedowns took out since.
    pub fn withdrawn_documents(&self) -> u64 {
        self.withdrawn.iter().map(|row| row.documents).sum()
    }

    /// The sentence that tells readers what is missing; `None` if the state is as it was.
    pub fn caution(&self) -> Option<String> {
        let counts = [
            (self.withdrawn_documents(), "were removed since by takedowns"),
            (self.withheld_documents, "may not be read without a token that allows it"),
        ];
        let missing = counts.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
        let missing: Vec<String> = missing.collect();
        let documents = self.documents;
        (!missing.is_empty())
            .then(|| format!("of the {documents} documents of the state {}, {}", self.name, missing.join(", and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_of_a_state_is_said() {
        let state = FrozenState { name: "spring".into(), documents: 20, ..FrozenState::default() };
        assert_eq!(state.caution(), None);
        let row = |documents| WithdrawnDocuments { time: String::new(), documents, tokens: 7 };
        let state = FrozenState { withdrawn: vec![row(1), row(2)], withheld_documents: 4, ..state };
        let caution = "of the 20 documents of the state spring, 3 were removed since by takedowns, and 4 may not be read \
                       without a token that allows it";
        assert_eq!(state.caution().as_deref(), Some(caution));
    }
}
