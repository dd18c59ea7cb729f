"""Wrong programs: each call is an error for mypy, which `warn_unused_ignores` proves (test_typing.py)."""

import tidings

tidings.extract(7)  # type: ignore[arg-type]
tidings.extract("<p>", favour_precision=True)  # type: ignore[call-arg]
tidings.bare_extraction("<p>").title  # type: ignore[union-attr]
tidings.identify(b"text")  # type: ignore[arg-type]
tidings.mask("text", rules=7)  # type: ignore[arg-type]
tidings.extract_batch([], threads="2")  # type: ignore[arg-type]
tidings.Corpus("news").timeline("storm", by=3)  # type: ignore[arg-type]
tidings.Corpus("news").trends(direction="sideways")  # type: ignore[arg-type]
tidings.Corpus("news").concordance()  # type: ignore[call-arg]
tidings.Corpus("news").count("storm")[0]["hitz"]  # type: ignore[typeddict-item]
tidings.Home("news").run(progress="bar")  # type: ignore[arg-type]
