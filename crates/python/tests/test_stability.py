"""Memory stays flat over many calls, and wrong arguments never end the interpreter."""

from __future__ import annotations

import inspect
import os
import sys
import warnings

import leaks
import pyarrow
import pytest
import weather
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from leaks import FEED, PAGE, TABLE
from tidings import _tidings
from tidings._questions import QUESTIONS

import tidings

#: Calls of each function: a few in CI; `leaks.py --calls 1000000` for a release.
CALLS = int(os.environ.get("TIDINGS_PYTHON_CALLS", "400"))
#: Drawn arguments of each function; more of them, and other ones each time, for a release.
EXAMPLES = int(os.environ.get("TIDINGS_PYTHON_EXAMPLES", "0"))

fuzzed = settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    # Fixtures are the same for all examples, and a page takes as long as it takes.
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use is read from /proc")
@pytest.mark.parametrize("name", leaks.CALLABLES)
def test_memory_stays_flat(name):
    measured = leaks.measure(name, CALLS)
    assert measured["growth_kib"] * 1024 < leaks.GROWTH_BYTES, measured


FUNCTIONS = [name for name in tidings.__all__ if callable(getattr(tidings, name)) and name[0].islower()]


def test_every_function_is_called_for_leaks():
    assert set(FUNCTIONS) <= leaks.CALLABLES.keys()


class Odd:
    """An object whose every method fails."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __len__(self):
        return -1

    def __iter__(self):
        raise RuntimeError("iter")

    def __bool__(self):
        raise RuntimeError("bool")


class FalseArrow:
    """An object that promises Arrow and gives something else."""

    def __init__(self, value):
        self.value = value

    def __arrow_c_array__(self, requested_schema=None):
        return self.value

    def __arrow_c_stream__(self, requested_schema=None):
        return self.value


def capsules():
    """Capsules that are none of Arrow's, that are swapped, and that were used before."""
    import datetime

    schema, array = pyarrow.array(["a"]).__arrow_c_array__()
    used = TABLE.__arrow_c_stream__()
    pyarrow.RecordBatchReader._import_from_c_capsule(used)
    return [datetime.datetime_CAPI, (array, schema), (schema, schema), (schema,), used, (used, used), TABLE.__arrow_c_stream__()]


ARROW = [
    *(pyarrow.array(values) for values in ([], ["a", None], [b"\xff"], [1], [[1]], [None], [PAGE] * 3)),
    pyarrow.array(["a", "b", "a"]).dictionary_encode(),
    pyarrow.array(["a", "long enough to be out of line"], pyarrow.string_view()),
    pyarrow.array([PAGE.encode(), b"%PDF-"], pyarrow.large_binary()),
    pyarrow.chunked_array([["a"], ["b", None]]),
    TABLE,
    TABLE.slice(1, 1),
    TABLE.slice(0, 0),
    pyarrow.table({"html": pyarrow.array([{"a": 1}])}),
    pyarrow.table({"line": ["{}"], "text": [b"\xff"]}),
    pyarrow.table({"id": [None, 1.5], "text": ["a", "b"], "lang": [b"\xff", b"en"], "url": [None, "x"]}),
    pyarrow.table([["a"], ["b"]], names=["text", "text"]),
    pyarrow.table({}),
]
WORDS = ["en", "de", "und", "txt", "xml", "markdown", "balanced", "all", "30d", "\ud800", "storm", "[", '[lemma="storm"]',
         "date>=2026-03", "site", "2026-06", "month", "PER", "0" * 32, PAGE, FEED, '{"url": "u", "body": 1}']  # fmt: skip

simple = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.sampled_from([2**31, 2**63, 2**64, -(2**70)]),
    st.floats(),
    st.text(max_size=200) | st.text("<>&a é\u0000\u200b雨\U0001f327'\"/=\n", max_size=200),
    st.text("\ud800\udfffa", max_size=4),
    st.sampled_from(WORDS),
    st.binary(max_size=200) | st.sampled_from([PAGE.encode("utf-16"), FEED.encode()]),
    st.builds(bytearray, st.binary(max_size=20)),
    st.builds(memoryview, st.binary(max_size=20)),
    st.dates() | st.datetimes(),
    st.builds(object),
    st.builds(Odd),
    st.builds(FalseArrow, st.sampled_from([None, (), (1, 2), 7])),
    st.integers(0, 6).map(lambda number: FalseArrow(capsules()[number])),
    st.integers(0, len(ARROW) - 1).map(ARROW.__getitem__),
    st.text(max_size=20).map(lambda text: type("Str", (str,), {})(text)),
    st.just(lambda *_: None),
)
values = st.recursive(
    st.deferred(lambda: simple),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=10), inner, max_size=4),
        st.fixed_dictionaries({"paragraphs": inner, "date": inner}),
        st.sets(st.sampled_from(["a", 1, None]), max_size=3),
    ),
    max_leaves=6,
)


def names(function):
    """The parameters of a function, without those that take any number of arguments."""
    kinds = inspect.signature(function).parameters.values()
    return [row.name for row in kinds if row.kind not in (row.VAR_POSITIONAL, row.VAR_KEYWORD)]


def few_threads(arguments):
    """The arguments with no more threads than a test may start."""
    threads = arguments.get("threads")
    return arguments if not isinstance(threads, int) or threads <= 16 else {**arguments, "threads": 3}


def arguments(function, drawn=values):
    """Some arguments of a function, the first one nearly always."""
    first, *further = names(function)
    optional = {name: drawn for name in further}
    return st.fixed_dictionaries({first: drawn}, optional=optional).map(few_threads)


def attempt(function, *positional, **keywords):
    """The result of a call; its exception is not a bug of the package."""
    try:
        return function(*positional, **keywords)
    except Exception as error:
        assert not isinstance(error, tidings.InternalError), (function, positional, keywords)
        return None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_exceptions(name):
    function = getattr(tidings, name)

    @fuzzed
    @given(arguments(function))
    def call(drawn):
        # An address is fetched.
        assume(name != "find_feeds" or not str(drawn["html"])[:4].lower() == "http")
        result = attempt(function, **drawn)
        if isinstance(result, tidings.Document):
            attempt(result.write, drawn.get("output_format"))
        if isinstance(result, tidings.Table):
            pyarrow.table(result).validate(full=True)

    call()


#: Functions of the module that the package calls with checked arguments. Not here: what runs commands, sends requests,
#: panics or makes files.
INTERNALS = ["_document", "find_feeds", "first_day", "home_call", "identify", "indexed_languages", "mask", "parse_feed",
             "read_page", "table_arrow", "table_columns", "table_values", "tag", "tokenize"]  # fmt: skip


@pytest.mark.parametrize("name", INTERNALS)
def test_wrong_arguments_of_the_module_are_exceptions(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(_tidings, name)

    @fuzzed
    @given(arguments(function, values | st.sampled_from(["timeline", "concordance", "status", "plain"])))
    def call(drawn):
        attempt(function, **drawn)

    call()


def test_wrong_arguments_of_the_deduper_are_exceptions():
    @fuzzed
    @given(arguments(tidings.Deduper))
    def make(drawn):
        memory = drawn.get("memory_mib")
        assume(not isinstance(memory, int) or memory <= 4)
        deduper = attempt(tidings.Deduper, **drawn)
        if deduper is not None:
            attempt(deduper.judge, drawn["rule"])

    deduper = tidings.Deduper(memory_mib=1)

    @fuzzed
    @given(arguments(deduper.judge))
    def judge(drawn):
        attempt(deduper.judge, **drawn)

    make()
    judge()
    assert deduper.judge("The river came into the town on Monday night.").words == 9


@pytest.mark.parametrize("method", QUESTIONS)
def test_wrong_arguments_of_questions_are_exceptions(method):
    corpus = tidings.Corpus(weather.home(), time_limit=0.2)
    function = getattr(corpus, method)

    @settings(fuzzed, max_examples=EXAMPLES or 40)
    @given(st.fixed_dictionaries({}, optional={name: st.sampled_from(WORDS) | values for name in names(function)}), values)
    def ask(drawn, at):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tidings.CutOffWarning)
            answer = attempt(function, **drawn)
            if answer is not None:
                repr(answer), answer._repr_html_()
                attempt(lambda: answer[at])

    ask()


def paths_inside(drawn):
    """Whether no path among drawn values leaves the folder of the test."""
    if isinstance(drawn, (str, bytes)):
        text = os.fsdecode(drawn) if isinstance(drawn, bytes) else drawn
        return not text.startswith(("/", "~")) and ".." not in text and text.strip(". \n\0/") != ""
    if isinstance(drawn, (list, tuple, set)):
        return all(map(paths_inside, drawn))
    return not isinstance(drawn, dict) or all(map(paths_inside, drawn.values()))


def test_wrong_arguments_of_homes_and_corpora_are_exceptions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tidings.Home.create(tmp_path / "home")
    inside = values.filter(paths_inside)
    # Without a contact no request is sent.
    calls = {
        "Home": tidings.Home,
        "Corpus": tidings.Corpus,
        "add_feeds": home.add_feeds,
        "discover": home.discover,
        "why": home.why,
        "remove": home.remove,
        "export": home.export,
        "import_": home.import_,
        "run": home.run,
    }

    @fuzzed
    @given(st.data())
    def call(data):
        function = calls[data.draw(st.sampled_from(list(calls)))]
        drawn = data.draw(arguments(function, inside))
        assume(not any(str(value).lower().startswith("http") for value in drawn.values()))
        attempt(function, **drawn)

    call()
    assert home.status()["done"]
