"""Figures of answers, with matplotlib and the conventions of the web page."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any, Literal

from . import _tidings

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

    from .answer import Answer

#: The colours of the web page.
COLOURS = ("#12577a", "#b5470f", "#8a6d00", "#5b3d8f", "#2c6e3f", "#6b7078")
#: Coverage from little to complete, and where nothing was collected.
COVERAGE = ("#d9e4ea", "#b0c9d6", "#84abbf", "#4f86a3", "#12577a")
INK, FAINT, LINE = "#1b1d20", "#585d64", "#dedad2"

#: The column that is drawn as a bar, by question, and its label.
BARS: dict[str, tuple[str, str]] = {
    "freq": ("hits", "hits"),
    "group": ("hits", "hits"),
    "thesaurus": ("similarity", "similarity"),
    "words": ("hits", "hits"),
    "colloc": ("together", "co-occurrences"),
    "keywords": ("score", "score"),
    "terms": ("score", "score"),
    "meaning": ("distance", "distance of the collocates"),
    "bursts": ("score", "score of the burst"),
    "new_words": ("documents", "documents"),
    "names": ("mentions", "mentions"),
    "quotes": ("quotes", "quotations"),
    "sketch": ("score", "score"),
}


def plot(
    answer: Answer[Any],
    *,
    figsize: tuple[float, float] | None = None,
    rows: int = 20,
    title: str | None = None,
) -> matplotlib.figure.Figure:
    """Draws an answer. See ``Answer.plot``."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        message = "plot() needs matplotlib; install it with: pip install matplotlib"
        raise ImportError(message, name="matplotlib") from error
    kind = answer.question
    if kind == "timeline":
        figure = _timeline(answer, figsize)
    elif kind == "trends":
        figure = _small_multiples(answer, figsize, rows)
    elif kind == "compare":
        figure = _changes(answer, figsize, rows)
    elif kind == "dispersion":
        figure = _parts(answer, figsize)
    elif kind in BARS:
        figure = _bars(answer, figsize, rows)
    else:
        raise TypeError(f"there is no figure of {kind}; timeline, freq, trends, keywords and other lists have one")
    if title != "":
        figure.suptitle(title or answer._heading(), fontsize=10, color=INK, x=0.01, ha="left")
    if not answer.is_exact:
        figure.text(0.99, 0.01, answer._exactness(), ha="right", fontsize=8, color=COLOURS[1])
    return figure


def _figure(figsize: tuple[float, float]) -> matplotlib.figure.Figure:
    # pyplot shows the figure in notebooks and is not there without a backend for windows.
    import matplotlib.pyplot as pyplot

    return pyplot.figure(figsize=figsize, layout="constrained")


def _plain(axes: matplotlib.axes.Axes, grid: Literal["x", "y"]) -> None:
    """Axes with faint grid lines and no frame."""
    for side in ("top", "right", "left" if grid == "y" else "bottom"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(LINE)
    axes.grid(axis=grid, color=LINE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=FAINT, labelsize=8, length=0)
    numbers = axes.yaxis if grid == "y" else axes.xaxis
    numbers.set_major_formatter("{x:,g}")


def first_day(step: str) -> datetime.date:
    """The first day of a time step such as ``2026-W05``."""
    day = _tidings.first_day(step)
    if day is None:
        raise ValueError(f"{step} is no time step")
    return datetime.date.fromisoformat(day)


def _known(number: float | None) -> float:
    return math.nan if number is None else number


def _timeline(answer: Answer[Any], figsize: tuple[float, float] | None) -> matplotlib.figure.Figure:
    import matplotlib.dates

    figure = _figure(figsize or (8, 4.6))
    rate, hits, strip = figure.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": [12, 4, 1]})
    series: dict[str, list[Any]] = {}
    for point in answer:
        series.setdefault(point.get("query", ""), []).append(point)
    # The steps and their volume are those of every query.
    points = next(iter(series.values()), [])
    edges = [first_day(point["bin"]) for point in points]
    widths = [datetime.timedelta(days=point["days"]) for point in points]
    middles = [matplotlib.dates.date2num(edge) + width.days / 2 for edge, width in zip(edges, widths)]
    top = 0.0
    below = [0] * len(points)
    for number, (query, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        values = [_known(point["per_million"]) for point in line]
        highest = max((value for value in values if not math.isnan(value)), default=1.0) or 1.0
        if len(series) == 1:
            bands = [point["band"] or {} for point in line]
            low, high = ([_known(band.get(end)) for band in bands] for end in ("low", "high"))
            rate.fill_between(middles, low, high, color=colour, alpha=0.18, linewidth=0)
            # Rates set the scale: the band of an interval with little text may exceed it.
            end = max((end for end in high if not math.isnan(end)), default=0.0)
            highest = max(highest, min(end, 1.6 * highest))
        top = max(top, highest)
        marker = "o" if len(line) <= 80 else ""
        rate.plot(middles, values, color=colour, linewidth=1.6, marker=marker, markersize=3.5, label=_label(query))
        counted = [point["hits"] or 0 for point in line]
        hits.bar(middles, counted, bottom=below, width=[0.8 * width.days for width in widths], color=colour, alpha=0.75)
        below = [under + here for under, here in zip(below, counted)]
    if len(series) > 1:
        rate.legend(fontsize=8, frameon=False, labelcolor=INK)
    rate.set_ylim(0, 1.06 * (top or 1.0))
    if points:
        rate.set_xlim(middles[0] - widths[0].days / 2, middles[-1] + widths[-1].days / 2)
    rate.set_ylabel("per million tokens", fontsize=8, color=FAINT)
    hits.set_ylabel("hits", fontsize=8, color=FAINT)
    hits.locator_params(axis="y", nbins=3, integer=True)
    for middle, width, point in zip(middles, widths, points):
        left, wide = middle - width.days / 2, width.days * 0.96
        if point["tokens"] == 0:
            strip.barh(0, wide, left=left, height=1, facecolor="none", edgecolor=FAINT, hatch="////", linewidth=0.4)
        else:
            level = COVERAGE[min(4, int(point["health"] * 4.999))]
            strip.barh(0, wide, left=left, height=1, color=level)
    for axes in (rate, hits):
        _plain(axes, "y")
    _plain(strip, "y")
    strip.grid(False)
    strip.set_yticks([])
    strip.spines["bottom"].set_visible(False)
    strip.set_ylabel("coverage", fontsize=7, color=FAINT, rotation=0, ha="right", va="center")
    strip.xaxis_date()
    locator = matplotlib.dates.AutoDateLocator(minticks=3, maxticks=9)
    strip.xaxis.set_major_locator(locator)
    strip.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))
    figure.align_ylabels([rate, hits])
    return figure


def _small_multiples(answer: Answer[Any], figsize: tuple[float, float] | None, rows: int) -> matplotlib.figure.Figure:
    shown = list(answer)[:rows]
    across = min(4, max(1, len(shown)))
    down = max(1, math.ceil(len(shown) / across))
    figure = _figure(figsize or (2.3 * across + 0.6, 1.35 * down + 0.7))
    days = [first_day(step) for step in answer.bins]
    grid = figure.subplots(down, across, squeeze=False)
    for number, axes in enumerate(grid.flat):
        if number >= len(shown):
            axes.set_visible(False)
            continue
        row = shown[number]
        colour = COLOURS[4] if (row["log_ratio"] or 0) >= 0 else COLOURS[1]
        axes.plot(days, row["per_million"], color=colour, linewidth=1.5)
        axes.fill_between(days, row["per_million"], color=colour, alpha=0.12, linewidth=0)
        axes.set_ylim(bottom=0)
        axes.set_title(_label(row["value"]), fontsize=9, color=INK, loc="left", pad=2)
        _plain(axes, "y")
        axes.locator_params(axis="y", nbins=2)
        axes.set_xticks([days[0], days[-1]], [answer.bins[0], answer.bins[-1]], fontsize=7)
        for label, side in zip(axes.get_xticklabels(), ("left", "right"), strict=False):
            label.set_ha(side)
            # The lowest of each column has the labels.
            label.set_visible(number + across >= len(shown))
    figure.supylabel("per million tokens", fontsize=8, color=FAINT)
    return figure


def _changes(answer: Answer[Any], figsize: tuple[float, float] | None, rows: int) -> matplotlib.figure.Figure:
    shown = list(answer)[:rows][::-1]
    figure = _figure(figsize or (6.5, 0.26 * len(shown) + 1.2))
    axes = figure.subplots()
    for place, row in enumerate(shown):
        ratio, band = row["log_ratio"] or 0.0, row["band"] or {}
        colour = COLOURS[4] if ratio >= 0 else COLOURS[1]
        ends = [ratio if band.get(end) is None else band[end] for end in ("low", "high")]
        axes.plot(ends, [place, place], color=colour, linewidth=4, alpha=0.3, solid_capstyle="butt")
        axes.plot([ratio], [place], color=colour, marker="o", markersize=5)
    axes.axvline(0, color=FAINT, linewidth=0.8)
    axes.set_yticks(range(len(shown)), [_label(row["value"]) for row in shown])
    axes.set_xlabel("binary logarithm of the change, with its confidence interval", fontsize=8, color=FAINT)
    _plain(axes, "x")
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9)
    return figure


def _bars(answer: Answer[Any], figsize: tuple[float, float] | None, rows: int) -> matplotlib.figure.Figure:
    column, unit = BARS[answer.question]
    shown = list(answer)[:rows][::-1]
    if answer.question == "freq" and all(row.get("per_million") is not None for row in shown):
        # Sites and days differ in size: rates compare, hits do not.
        column, unit = "per_million", "hits per million tokens"
    if answer.question == "colloc":
        measure = answer.order.replace("-", "_")
        values = [row["scores"].get(measure) or 0.0 for row in shown]
        unit = answer.order
    else:
        values = [row.get(column) or 0.0 for row in shown]
    figure = _figure(figsize or (6.5, 0.26 * len(shown) + 1.2))
    axes = figure.subplots()
    axes.barh(range(len(shown)), values, height=0.7, color=COLOURS[0])
    labels = [_label(row.get("value", row.get("name", ""))) for row in shown]
    if answer.question == "group":
        labels = [_label(" · ".join(row["values"])) for row in shown]
    if answer.question == "sketch":
        labels = [f"{row['relation']}: {_label(row['value'])}" for row in shown]
    axes.set_yticks(range(len(shown)), labels)
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlabel(unit, fontsize=8, color=FAINT)
    _plain(axes, "x")
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9)
    return figure


def _parts(answer: Answer[Any], figsize: tuple[float, float] | None) -> matplotlib.figure.Figure:
    """The hits in equal parts of the corpus, from its first day to its last."""
    figure = _figure(figsize or (6.5, 2.6))
    axes = figure.subplots()
    shown = list(answer)
    axes.bar(range(len(shown)), [row["hits"] or 0 for row in shown], width=0.9, color=COLOURS[0])
    step = max(1, len(shown) // 6)
    axes.set_xticks(range(0, len(shown), step), [row["first"] or "" for row in shown[::step]])
    axes.set_ylabel("hits", fontsize=8, color=FAINT)
    _plain(axes, "y")
    return figure


def _label(text: str, most: int = 32) -> str:
    # A dollar sign would begin a formula.
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")
