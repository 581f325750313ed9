"""Functions that a compiler can hardly help, with arguments that change at each call.

The standard library's, in Python where there is a version in C as well; SciPy's and NumPy's own
Python; and some that users write.
"""

from __future__ import annotations

import ast
import calendar
import collections
import colorsys
import copy
import csv
import difflib
import email.utils
import fnmatch
import fractions
import html
import importlib
import inspect
import io
import ipaddress
import itertools
import json
import json.encoder
import keyword
import math
import mimetypes
import ntpath
import posixpath
import pprint
import random
import re
import reprlib
import shlex
import statistics
import string
import sys
import textwrap
import tokenize
import types
import urllib.parse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.optimize
import scipy.signal as signal
import scipy.stats
from numpy.polynomial import chebyshev, legendre, polynomial
from scipy.optimize import _linesearch, _optimize
from scipy.signal import _arraytools, windows
from scipy.stats import _stats_py
from test.support.import_helper import import_fresh_module  # type: ignore[import-not-found]

#: a function, and its arguments at the k-th call
Case = tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]

_R = random.Random(3)
_BISECT = import_fresh_module("bisect", blocked=["_bisect"])
_HEAPQ = import_fresh_module("heapq", blocked=["_heapq"])
_OPERATOR = import_fresh_module("operator", blocked=["_operator"])
_DATETIME: Any = (
    import_fresh_module("datetime", fresh=["_strptime"], blocked=["_datetime"])
    if sys.version_info < (3, 12) else importlib.import_module("_pydatetime"))
_WORDS = sorted(f"{_R.randrange(9999):04d}" for _ in range(300))
_TEXTS = [" ".join(_R.choice("abcdefgh") * _R.randrange(1, 4) for _ in range(30))
          for _ in range(200)]
_NUMBERS = [[_R.random() for _ in range(20 + k % 7)] for k in range(100)]
_ARRAYS = [np.linspace(0.1, 2.0 + k / 10, 40 + k % 3) for k in range(100)]
_FRACTION = fractions.Fraction


def _words(k: int) -> tuple[Any, ...]:
    return _WORDS, _WORDS[k % 300]


def _text(k: int) -> tuple[str]:
    return (_TEXTS[k % 200],)


def _numbers(k: int) -> tuple[list[float]]:
    return (_NUMBERS[k % 100],)


def _heap(k: int) -> list[float]:
    return _HEAPQ.heapify(held := list(_NUMBERS[k % 100])) or held


def _array(k: int) -> tuple[Any]:
    return (_ARRAYS[k % 100],)


def _path(k: int) -> tuple[str]:
    return (f"/usr/{_WORDS[k % 300]}/../lib//{_WORDS[(k * 7) % 300]}.tar.gz",)


def _url(k: int) -> tuple[str]:
    return (f"https://user@example.org:80{k % 90}/a/{_WORDS[k % 300]}?x={k}&y=b%20c#top",)


def _complex(k: int) -> tuple[Any, ...]:
    return tuple(k / 3000 + j / 10 for j in range(3))


def _of(*values: Any) -> Callable[[int], tuple[Any, ...]]:
    """Always the same arguments but for the last, a number that changes."""
    return lambda k: (*values, k / 7 + 1.0)


_DATES = [_DATETIME.date.fromordinal(730000 + 37 * k) for k in range(300)]
_TIMES = [_DATETIME.datetime(2000 + k % 30, 1 + k % 12, 1 + k % 28, k % 24, k % 60)
          for k in range(300)]
_DELTAS = [_DATETIME.timedelta(days=k, seconds=3 * k, microseconds=k) for k in range(300)]
_CALENDAR, _TEXT_CALENDAR = calendar.Calendar(), calendar.TextCalendar()
_TREES = [ast.parse(f"x = {k} + y * {k % 7}\nif x > {k}: y = f(x)") for k in range(20)]
_WRAPPERS = [textwrap.TextWrapper(width=30 + k) for k in range(10)]
_MATCHERS = [difflib.SequenceMatcher(None, _TEXTS[k], _TEXTS[k + 1]) for k in range(20)]
_NORMALS = [statistics.NormalDist(k, 1 + k / 10) for k in range(50)]
_RANDOMS = [random.Random(k) for k in range(20)]
_ADDRESSES = [ipaddress.ip_address(3232235520 + 17 * k) for k in range(300)]
_NETWORKS = [ipaddress.ip_network(f"10.{k}.0.0/16") for k in range(100)]
_FORMATTER, _TEMPLATE = string.Formatter(), string.Template("$who likes $what, $$ and ${more}")

STANDARD: dict[str, Case] = {
    "bisect.bisect_left": (_BISECT.bisect_left, _words),
    "bisect.bisect_right": (_BISECT.bisect_right, _words),
    "bisect.insort": (_BISECT.insort_right, lambda k: (list(_NUMBERS[k % 100]), k / 3000)),
    "heapq.heappush": (_HEAPQ.heappush, lambda k: (_heap(k), k / 3000)),
    "heapq.heappop": (_HEAPQ.heappop, lambda k: (_heap(k),)),
    "heapq.heapify": (_HEAPQ.heapify, lambda k: (list(_NUMBERS[k % 100]),)),
    "heapq.heapreplace": (_HEAPQ.heapreplace, lambda k: (_heap(k), 0.5)),
    "heapq.nlargest": (_HEAPQ.nlargest, lambda k: (3, _NUMBERS[k % 100])),
    "heapq.nsmallest": (_HEAPQ.nsmallest, lambda k: (3, _NUMBERS[k % 100], abs)),
    "heapq.merge": (lambda a, b: list(_HEAPQ.merge(a, b)),
                    lambda k: (sorted(_NUMBERS[k % 100]), sorted(_NUMBERS[k % 99]))),
    "statistics.mean": (statistics.mean, _numbers),
    "statistics.fmean": (statistics.fmean, _numbers),
    "statistics.median": (statistics.median, _numbers),
    "statistics.median_low": (statistics.median_low, _numbers),
    "statistics.median_grouped": (statistics.median_grouped, lambda k: (list(range(k % 9 + 3)),)),
    "statistics.mode": (statistics.mode, lambda k: (_TEXTS[k % 200],)),
    "statistics.multimode": (statistics.multimode, lambda k: (_TEXTS[k % 200],)),
    "statistics.variance": (statistics.variance, lambda k: ([1.0, 2.5, k],)),
    "statistics.pstdev": (statistics.pstdev, lambda k: ([1.0, 2.5, k / 3],)),
    "statistics.quantiles": (statistics.quantiles, _numbers),
    "statistics.harmonic_mean": (statistics.harmonic_mean, _numbers),
    "statistics.geometric_mean": (statistics.geometric_mean, _numbers),
    "statistics.correlation": (
        statistics.correlation, lambda k: (_NUMBERS[k % 100][:20], _NUMBERS[k % 99][:20])),
    "statistics.linear_regression": (
        statistics.linear_regression, lambda k: (_NUMBERS[k % 100][:20], _NUMBERS[k % 99][:20])),
    "statistics.NormalDist.pdf": (
        statistics.NormalDist.pdf, lambda k: (_NORMALS[k % 50], k / 300)),
    "statistics.NormalDist.cdf": (
        statistics.NormalDist.cdf, lambda k: (_NORMALS[k % 50], k / 300)),
    "statistics.NormalDist.overlap": (
        statistics.NormalDist.overlap, lambda k: (_NORMALS[k % 50], _NORMALS[(k + 1) % 50])),
    "fractions a * b + a": (lambda a, b: a * b + a, lambda k: (_FRACTION(k, 7), _FRACTION(3, 5))),
    "fractions a < b": (lambda a, b: a < b, lambda k: (_FRACTION(k, 7), _FRACTION(3, 5))),
    "Fraction.limit_denominator": (
        _FRACTION.limit_denominator, lambda k: (_FRACTION(k + 1, 3007), 50)),
    "Fraction.__hash__": (_FRACTION.__hash__, lambda k: (_FRACTION(k, 7),)),
    "Fraction.__str__": (_FRACTION.__str__, lambda k: (_FRACTION(k, 7),)),
    "Fraction.__round__": (_FRACTION.__round__, lambda k: (_FRACTION(k, 7), 2)),
    "colorsys.rgb_to_hls": (colorsys.rgb_to_hls, _complex),
    "colorsys.hls_to_rgb": (colorsys.hls_to_rgb, _complex),
    "colorsys.rgb_to_hsv": (colorsys.rgb_to_hsv, _complex),
    "colorsys.hsv_to_rgb": (colorsys.hsv_to_rgb, _complex),
    "colorsys.rgb_to_yiq": (colorsys.rgb_to_yiq, _complex),
    "textwrap.wrap": (textwrap.wrap, lambda k: (_TEXTS[k % 200], 20 + k % 30)),
    "textwrap.dedent": (textwrap.dedent, lambda k: (f"  a{k}\n    b\n  c",)),
    "textwrap.indent": (textwrap.indent, lambda k: (f"a{k}\nb\n\nc", "> ")),
    "textwrap.shorten": (textwrap.shorten, lambda k: (_TEXTS[k % 200], 30 + k % 9)),
    "TextWrapper.wrap": (
        textwrap.TextWrapper.wrap, lambda k: (_WRAPPERS[k % 10], _TEXTS[k % 200])),
    "difflib.get_close_matches": (
        difflib.get_close_matches, lambda k: (_WORDS[k % 300], _WORDS[:10])),
    "difflib.IS_CHARACTER_JUNK": (difflib.IS_CHARACTER_JUNK, lambda k: (" a\tb"[k % 4],)),
    "difflib.ndiff": (lambda a, b: list(difflib.ndiff(a, b)),
                      lambda k: ([f"a{k}\n", "b\n"], ["a\n", "b\n"])),
    "difflib.unified_diff": (lambda a, b: list(difflib.unified_diff(a, b)),
                             lambda k: ([f"a{k}\n", "b\n"], ["a\n", "b\n"])),
    "SequenceMatcher.quick_ratio": (
        difflib.SequenceMatcher.quick_ratio, lambda k: (_MATCHERS[k % 20],)),
    "SequenceMatcher.find_longest_match": (
        difflib.SequenceMatcher.find_longest_match,
        lambda k: (_MATCHERS[k % 20], 0, 20 + k % 5, 0, 20)),
    "json.dumps": (json.dumps, lambda k: ({"a": k, "b": [1, 2.5, None]},)),
    "json.loads": (json.loads, lambda k: (f'{{"a": {k}, "b": [1, 2.5]}}',)),
    "json.py_encode_basestring": (json.encoder.py_encode_basestring, _text),
    "json.py_encode_basestring_ascii": (
        json.encoder.py_encode_basestring_ascii, lambda k: (f"é{k}\n",)),
    "json.decoder.py_scanstring": (
        json.decoder.py_scanstring, lambda k: (f'"abc{k}\\n" rest', 1)),
    "json.JSONEncoder.encode": (
        json.JSONEncoder.encode, lambda k: (json.JSONEncoder(indent=2), {"a": [k, 1]})),
    "calendar.isleap": (calendar.isleap, lambda k: (1900 + k % 300,)),
    "calendar.leapdays": (calendar.leapdays, lambda k: (1900, 1900 + k % 300)),
    "calendar.weekday": (calendar.weekday, lambda k: (1900 + k % 300, 1 + k % 12, 1 + k % 28)),
    "calendar.monthrange": (calendar.monthrange, lambda k: (1900 + k % 300, 1 + k % 12)),
    "Calendar.itermonthdays": (
        lambda c, y, m: list(c.itermonthdays(y, m)),
        lambda k: (_CALENDAR, 1900 + k % 300, 1 + k % 12)),
    "Calendar.monthdayscalendar": (
        calendar.Calendar.monthdayscalendar, lambda k: (_CALENDAR, 1900 + k % 300, 1 + k % 12)),
    "TextCalendar.formatmonth": (
        calendar.TextCalendar.formatmonth,
        lambda k: (_TEXT_CALENDAR, 1900 + k % 300, 1 + k % 12)),
    "calendar.timegm": (
        calendar.timegm, lambda k: ((1970 + k % 60, 1 + k % 12, 1 + k % 28, k % 24, 0, 0),)),
    "datetime.date.weekday": (_DATETIME.date.weekday, lambda k: (_DATES[k % 300],)),
    "datetime.date.isoformat": (_DATETIME.date.isoformat, lambda k: (_DATES[k % 300],)),
    "datetime.date.toordinal": (_DATETIME.date.toordinal, lambda k: (_DATES[k % 300],)),
    "datetime.date.isocalendar": (_DATETIME.date.isocalendar, lambda k: (_DATES[k % 300],)),
    "datetime.date.replace": (
        _DATETIME.date.replace, lambda k: (_DATES[k % 300], 1900 + k % 99, 2, 3)),
    "datetime.date.timetuple": (_DATETIME.date.timetuple, lambda k: (_DATES[k % 300],)),
    "datetime.datetime.isoformat": (_DATETIME.datetime.isoformat, lambda k: (_TIMES[k % 300],)),
    "datetime a - b": (lambda a, b: a - b, lambda k: (_TIMES[k % 300], _TIMES[(k + 7) % 300])),
    "datetime a + delta": (lambda a, b: a + b, lambda k: (_TIMES[k % 300], _DELTAS[k % 300])),
    "timedelta a * 3 + b": (
        lambda a, b: a * 3 + b, lambda k: (_DELTAS[k % 300], _DELTAS[(k + 1) % 300])),
    "timedelta.total_seconds": (
        _DATETIME.timedelta.total_seconds, lambda k: (_DELTAS[k % 300],)),
    "timedelta.__str__": (_DATETIME.timedelta.__str__, lambda k: (_DELTAS[k % 300],)),
    "Random.randrange": (random.Random.randrange, lambda k: (_RANDOMS[k % 20], k + 1)),
    "Random.choice": (random.Random.choice, lambda k: (_RANDOMS[k % 20], _WORDS)),
    "Random.shuffle": (random.Random.shuffle, lambda k: (_RANDOMS[k % 20], list(range(20)))),
    "Random.sample": (random.Random.sample, lambda k: (_RANDOMS[k % 20], _WORDS, 5)),
    "Random.choices": (random.Random.choices, lambda k: (_RANDOMS[k % 20], _WORDS)),
    "Random.gauss": (random.Random.gauss, lambda k: (_RANDOMS[k % 20], k, 1.0)),
    "Random.triangular": (random.Random.triangular, lambda k: (_RANDOMS[k % 20], 0.0, k + 1.0)),
    "Random.gammavariate": (
        random.Random.gammavariate, lambda k: (_RANDOMS[k % 20], 1.0 + k % 5, 1.0)),
    "Random.expovariate": (random.Random.expovariate, lambda k: (_RANDOMS[k % 20], 1.0 + k)),
    "string.capwords": (string.capwords, _text),
    "string.Formatter.format": (
        string.Formatter.format, lambda k: (_FORMATTER, "{} and {:>5}", k, "b")),
    "string.Template.substitute": (
        string.Template.substitute, lambda k: (_TEMPLATE, {"who": k, "what": "b", "more": "c"})),
    "copy.copy": (copy.copy, lambda k: ([k, 2],)),
    "copy.deepcopy list": (copy.deepcopy, lambda k: ([k, [2, 3], {"a": 1}],)),
    "copy.deepcopy dict": (copy.deepcopy, lambda k: ({"a": k, "b": (1, [2])},)),
    "ast.dump": (ast.dump, lambda k: (_TREES[k % 20],)),
    "ast.walk": (lambda t: sum(1 for _ in ast.walk(t)), lambda k: (_TREES[k % 20],)),
    "ast.literal_eval": (ast.literal_eval, lambda k: (f"[{k}, (1, 'a')]",)),
    "ast.get_docstring": (ast.get_docstring, lambda k: (_TREES[k % 20],)),
    "tokenize.generate_tokens": (
        lambda s: list(tokenize.generate_tokens(io.StringIO(s).readline)),
        lambda k: (f"x = {k} + y",)),
    "csv.DictReader": (
        lambda s: list(csv.DictReader(io.StringIO(s))), lambda k: (f"a,b\n1,{k}\n",)),
    "csv.DictWriter": (
        lambda r: csv.DictWriter(io.StringIO(), ["a", "b"]).writerow(r),
        lambda k: ({"a": k, "b": 2},)),
    "csv.Sniffer": (csv.Sniffer().has_header.__func__,
                    lambda k: (csv.Sniffer(), f"a,b\n1,{k}\n2,3\n")),
    "html.escape": (html.escape, lambda k: (f"<a href='{k}'>&</a>",)),
    "html.unescape": (html.unescape, lambda k: (f"&lt;{k}&gt; &amp; &eacute;",)),
    "urllib.parse.urlsplit": (urllib.parse.urlsplit.__wrapped__, _url),
    "urllib.parse.urlparse": (urllib.parse.urlparse, _url),
    "urllib.parse.urljoin": (urllib.parse.urljoin, lambda k: (_url(k)[0], f"../b{k}")),
    "urllib.parse.quote": (urllib.parse.quote, lambda k: (f"a b/{k}?é",)),
    "urllib.parse.unquote": (urllib.parse.unquote, lambda k: (f"a%20b/{k}%C3%A9",)),
    "urllib.parse.parse_qs": (urllib.parse.parse_qs, lambda k: (f"a=1&b={k}&a=3",)),
    "urllib.parse.urlencode": (urllib.parse.urlencode, lambda k: ({"a": k, "b": "c d"},)),
    "posixpath.join": (posixpath.join, lambda k: ("/usr", _WORDS[k % 300], "x.py")),
    "posixpath.splitext": (posixpath.splitext, _path),
    "posixpath.split": (posixpath.split, _path),
    "posixpath.basename": (posixpath.basename, _path),
    "posixpath.dirname": (posixpath.dirname, _path),
    "posixpath.relpath": (posixpath.relpath, lambda k: (_path(k)[0], "/usr/lib")),
    "posixpath.commonpath": (posixpath.commonpath, lambda k: ([_path(k)[0], "/usr/lib"],)),
    "posixpath.expandvars": (posixpath.expandvars, lambda k: (f"$HOME/{k}",)),
    "ntpath.splitdrive": (ntpath.splitdrive, lambda k: (f"c:\\a\\{k}",)),
    "ntpath.join": (ntpath.join, lambda k: ("c:\\a", f"b{k}")),
    "operator.concat": (_OPERATOR.concat, lambda k: ([k], [2])),
    "operator.countOf": (_OPERATOR.countOf, lambda k: (_TEXTS[k % 200], "a")),
    "operator.indexOf": (_OPERATOR.indexOf, lambda k: (_WORDS, _WORDS[k % 300])),
    "operator.length_hint": (_OPERATOR.length_hint, lambda k: (_NUMBERS[k % 100],)),
    "fnmatch.fnmatch": (fnmatch.fnmatch, lambda k: (f"a{k}.py", "a*.py")),
    "fnmatch.translate": (fnmatch.translate, lambda k: (f"[a-c]{k}*.p?",)),
    "shlex.split": (shlex.split, lambda k: (f"ls -l 'a {k}' b",)),
    "shlex.quote": (shlex.quote, lambda k: (f"a {k}",)),
    "pprint.pformat": (pprint.pformat, lambda k: ({"a": k, "b": [1, 2, 3]},)),
    "reprlib.repr": (reprlib.Repr.repr, lambda k: (reprlib.Repr(), [k, "a" * 60, {1: 2}],)),
    "re.escape": (re.escape, lambda k: (f"a.{k}*",)),
    "keyword in a sentence": (
        lambda s: [w for w in s.split() if keyword.iskeyword(w)],
        lambda k: (f"if {k} in a for b",)),
    "mimetypes.guess_type": (mimetypes.guess_type, _path),
    "email.utils.parseaddr": (email.utils.parseaddr, lambda k: (f"A B <a{k}@b.org>",)),
    "email.utils.formatdate": (email.utils.formatdate, lambda k: (1e9 + 1000 * k,)),
    "ipaddress.ip_address": (ipaddress.ip_address, lambda k: (f"10.0.{k % 256}.7",)),
    "IPv4Address.__str__": (ipaddress.IPv4Address.__str__, lambda k: (_ADDRESSES[k % 300],)),
    "IPv4Address.__lt__": (
        ipaddress.IPv4Address.__lt__, lambda k: (_ADDRESSES[k % 300], _ADDRESSES[7])),
    "ip_address in network": (
        lambda a, n: a in n, lambda k: (_ADDRESSES[k % 300], _NETWORKS[k % 100])),
    "inspect.signature": (inspect.signature, lambda k: ((posixpath.join, html.escape)[k % 2],)),
    "inspect.cleandoc": (inspect.cleandoc, lambda k: (f"a{k}\n   b\n   c",)),
    "collections.Counter": (collections.Counter.most_common,
                            lambda k: (collections.Counter(_TEXTS[k % 200]), 2)),
    "collections.OrderedDict": (
        lambda n: list(collections.OrderedDict((j, j) for j in range(n))), lambda k: (k % 9,)),
    "UserDict.__setitem__": (
        collections.UserDict.__setitem__, lambda k: (collections.UserDict(), "a", k)),
    "ChainMap.__getitem__": (
        collections.ChainMap.__getitem__, lambda k: (collections.ChainMap({}, {"a": k}), "a")),
    "types.SimpleNamespace": (
        lambda n: n.a + len(vars(n)), lambda k: (types.SimpleNamespace(a=k, b=2),)),
}


def _window(m: int, a: Any) -> Any:
    if windows._windows._len_guards(m):
        return np.ones(m)
    fac = np.linspace(-np.pi, np.pi, m)
    w = np.zeros(m)
    for k in range(a.shape[0]):
        w += a[k] * np.cos(k * fac)
    return w


def _length(k: int) -> tuple[int]:
    return (31 + k % 20,)


_BA = [signal.butter(3, 0.1 + k / 1000) for k in range(100)]
_ZPK = [signal.butter(3, 0.1 + k / 1000, output="zpk") for k in range(100)]
_SPLINES = [scipy.interpolate.splrep(np.arange(9.0), np.sin(np.arange(9.0) + k))
            for k in range(20)]


def _filter(k: int) -> tuple[Any, ...]:
    return _BA[k % 100]


def _impl(function: Any) -> Any:
    """NumPy's Python function behind the one that looks for ``__array_function__``."""
    return getattr(function, "_implementation", function)


SCIENTIFIC: dict[str, Case] = {
    "signal.firwin": (signal.firwin, lambda k: (11, 0.3 + k / 9000)),
    "signal.firwin2": (signal.firwin2, lambda k: (15, [0.0, 0.5, 1.0], [1.0, 0.9, k / 9000])),
    "signal.firls": (signal.firls, lambda k: (9, [0.0, 0.3 + k / 9000, 0.7, 1.0], [1, 1, 0, 0])),
    "signal.kaiserord": (signal.kaiserord, lambda k: (60.0 + k % 9, 0.1)),
    "signal.kaiser_beta": (signal.kaiser_beta, lambda k: (15.0 + k % 50,)),
    "signal.kaiser_atten": (signal.kaiser_atten, lambda k: (15 + k % 50, 0.1)),
    "signal.buttap": (signal.buttap, lambda k: (1 + k % 5,)),
    "signal.cheb1ap": (signal.cheb1ap, lambda k: (1 + k % 5, 1.0)),
    "signal.buttord": (signal.buttord, lambda k: (0.2, 0.3 + k / 9000, 3.0, 40.0)),
    "signal.butter": (signal.butter, lambda k: (3, 0.2 + k / 9000)),
    "signal.lp2lp": (signal.lp2lp, lambda k: ([1.0], [1.0, 1.4, 1.0], 1.0 + k / 100)),
    "signal.lp2hp": (signal.lp2hp, lambda k: ([1.0], [1.0, 1.4, 1.0], 1.0 + k / 100)),
    "signal.lp2bp_zpk": (signal.lp2bp_zpk, lambda k: (*_ZPK[k % 100], 1.0, 0.5)),
    "signal.zpk2tf": (signal.zpk2tf, lambda k: _ZPK[k % 100]),
    "signal.tf2zpk": (signal.tf2zpk, _filter),
    "signal.normalize": (signal.normalize, _filter),
    "signal.tf2ss": (signal.tf2ss, _filter),
    "signal.unique_roots": (signal.unique_roots, lambda k: ([1.0, 1.0001, 2.0 + k % 5],)),
    "signal.freqz": (signal.freqz, lambda k: (*_BA[k % 100], 16)),
    "signal.findfreqs": (signal.findfreqs, lambda k: (*_BA[k % 100], 16)),
    "signal.lfilter_zi": (signal.lfilter_zi, _filter),
    "signal.sawtooth": (signal.sawtooth, _array),
    "signal.square": (signal.square, _array),
    "signal.chirp": (signal.chirp, lambda k: (_ARRAYS[k % 100], 1.0, 2.0, 5.0 + k % 7)),
    "signal.gausspulse": (signal.gausspulse, lambda k: (_ARRAYS[k % 100], 5.0 + k % 7)),
    "signal.detrend": (signal.detrend, _array),
    "signal.savgol_coeffs": (signal.savgol_coeffs, lambda k: (5 + 2 * (k % 5), 2)),
    "signal.correlation_lags": (signal.correlation_lags, lambda k: (10 + k % 9, 5)),
    "signal.argrelmax": (signal.argrelmax, _array),
    "signal.axis_slice": (_arraytools.axis_slice, lambda k: (_ARRAYS[k % 100], 1 + k % 5, -1)),
    "signal.odd_ext": (_arraytools.odd_ext, lambda k: (_ARRAYS[k % 100], 1 + k % 5)),
    "signal.unit_impulse": (signal.unit_impulse, lambda k: (10 + k % 9, 2)),
    "signal.vectorstrength": (signal.vectorstrength, lambda k: (_ARRAYS[k % 100], 0.7)),
    "windows.general_cosine": (
        windows.general_cosine, lambda k: (51 + k % 9, [0.42, 0.5, 0.08])),
    "windows.hann": (windows.hann, _length),
    "windows.hamming": (windows.hamming, _length),
    "windows.blackman": (windows.blackman, _length),
    "windows.bartlett": (windows.bartlett, _length),
    "windows.bohman": (windows.bohman, _length),
    "windows.parzen": (windows.parzen, _length),
    "windows.tukey": (windows.tukey, _length),
    "windows.triang": (windows.triang, _length),
    "windows.nuttall": (windows.nuttall, _length),
    "windows.flattop": (windows.flattop, _length),
    "windows.kaiser": (windows.kaiser, lambda k: (31 + k % 20, 8.0)),
    "windows.gaussian": (windows.gaussian, lambda k: (31 + k % 20, 5.0)),
    "windows.exponential": (windows.exponential, _length),
    "windows.cosine": (windows.cosine, _length),
    "windows.taylor": (windows.taylor, _length),
    "windows.get_window": (windows.get_window, lambda k: ("hann", 31 + k % 20)),
    "stats.skew": (scipy.stats.skew, _array),
    "stats.zscore": (scipy.stats.zscore, _array),
    "stats.sem": (scipy.stats.sem, _array),
    "stats.gmean": (scipy.stats.gmean, _array),
    "stats.percentileofscore": (
        scipy.stats.percentileofscore, lambda k: (_ARRAYS[k % 100], k / 3000)),
    "stats.trim_mean": (scipy.stats.trim_mean, lambda k: (_ARRAYS[k % 100], 0.1)),
    "stats.rankdata": (scipy.stats.rankdata, _array),
    "stats.norm.pdf": (scipy.stats.norm.pdf.__func__, lambda k: (scipy.stats.norm, k / 3000)),
    "stats._contains_nan": (_stats_py._contains_nan, _array),
    "interpolate.pade": (scipy.interpolate.pade, lambda k: ([1.0, 1.0, 0.5, k / 6], 1)),
    "interpolate.splev": (scipy.interpolate.splev, lambda k: (k / 400, _SPLINES[k % 20])),
    "interpolate.splder": (scipy.interpolate.splder, lambda k: (_SPLINES[k % 20],)),
    "interpolate.pchip_interpolate": (
        scipy.interpolate.pchip_interpolate, lambda k: (np.arange(5.0), np.arange(5.0) + k, 2.5)),
    "optimize.rosen": (scipy.optimize.rosen, _array),
    "optimize.rosen_der": (scipy.optimize.rosen_der, _array),
    "optimize.rosen_hess": (scipy.optimize.rosen_hess, lambda k: (_ARRAYS[k % 100][:5],)),
    "optimize.brentq": (scipy.optimize.brentq, lambda k: (math.cos, 1.0, 2.0 + k / 9000)),
    "optimize.newton": (scipy.optimize.newton, lambda k: (math.cos, 1.0 + k / 9000)),
    "optimize.bracket": (scipy.optimize.bracket, lambda k: (abs, 1.0, 2.0 + k / 9000)),
    "optimize.approx_fprime": (
        scipy.optimize.approx_fprime, lambda k: (np.array([1.0, k]), scipy.optimize.rosen)),
    "optimize._cubicmin": (
        _linesearch._cubicmin, lambda k: (0.0, 1.0, -1.0, 1.0, 0.5 + k / 9000, 2.0, 1.5)),
    "optimize._quadmin": (_linesearch._quadmin, lambda k: (0.0, 1.0, -1.0, 1.0, 0.5 + k / 9000)),
    "optimize.is_finite_scalar": (_optimize.is_finite_scalar, lambda k: (k / 7,)),
    "np.rot90": (_impl(np.rot90), lambda k: (np.arange(6.0).reshape(2, 3), k % 4)),
    "np.roll": (_impl(np.roll), lambda k: (_ARRAYS[k % 100], k % 7)),
    "np.tile": (_impl(np.tile), lambda k: (_ARRAYS[k % 100][:4], 1 + k % 3)),
    "np.kron": (_impl(np.kron), lambda k: (np.eye(2), np.array([[1.0, k]]))),
    "np.pad": (_impl(np.pad), lambda k: (_ARRAYS[k % 100][:5], 1 + k % 3)),
    "np.apply_along_axis": (
        _impl(np.apply_along_axis), lambda k: (np.sort, 0, _ARRAYS[k % 100].reshape(-1, 1))),
    "np.polyfit": (_impl(np.polyfit), lambda k: (np.arange(6.0), np.arange(6.0) * k, 2)),
    "np.poly": (_impl(np.poly), lambda k: ([1.0, 2.0, k / 7],)),
    "np.roots": (_impl(np.roots), lambda k: ([1.0, 2.0, k / 7],)),
    "np.polydiv": (_impl(np.polydiv), lambda k: ([1.0, 2.0, k / 7], [1.0, 1.0])),
    "np.setdiff1d": (_impl(np.setdiff1d), lambda k: (_ARRAYS[k % 100], _ARRAYS[0])),
    "np.unwrap": (_impl(np.unwrap), _array),
    "np.broadcast_shapes": (np.broadcast_shapes, lambda k: ((1 + k % 7, 1), (1, 3))),
    "np.ix_": (_impl(np.ix_), lambda k: ([0, 1 + k % 7], [1, 2])),
    "np.array_split": (_impl(np.array_split), lambda k: (_ARRAYS[k % 100], 3)),
    "np.triu_indices": (np.triu_indices, lambda k: (3 + k % 4,)),
    "np.fft.fftshift": (_impl(np.fft.fftshift), _array),
    "polynomial.polymul": (polynomial.polymul, lambda k: ([1.0, k], [2.0, 1.0])),
    "polynomial.polyval": (polynomial.polyval, lambda k: (k / 7, [1.0, 2.0, 3.0])),
    "polynomial.polyder": (polynomial.polyder, lambda k: ([1.0, 2.0, k / 7],)),
    "polynomial.polyfromroots": (polynomial.polyfromroots, lambda k: ([1.0, 2.0, k / 7],)),
    "chebyshev.chebval": (chebyshev.chebval, lambda k: (k / 3000, [1.0, 2.0, 3.0, 1.0])),
    "chebyshev.chebmul": (chebyshev.chebmul, lambda k: ([1.0, k], [2.0, 1.0])),
    "legendre.legval": (legendre.legval, lambda k: (k / 3000, [1.0, 2.0, 3.0, 1.0])),
}


# ------------------------------------------------------------------ what users write


class _Artist:
    def __init__(self) -> None:
        self.xy: Any = None

    def set_data(self, x: Any, y: Any) -> None:
        self.xy = x, y


class _Particle:
    def __init__(self, mass: float) -> None:
        self._mass, self.log = mass, collections.deque(maxlen=5)

    @property
    def mass(self) -> float:
        return self._mass

    @mass.setter
    def mass(self, value: float) -> None:
        if value < 0:
            raise ValueError(value)
        self._mass = value

    def grow(self, by: float) -> float:
        self.mass = self.mass + by
        self.log.append(self.mass)
        return self.mass


class _Stack:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def push_and_peek(self, item: Any) -> Any:
        self.items.append(item)
        if len(self.items) > 50:
            self.items.clear()
        return self.items[-1] if self.items else None


class _Network:
    """Parallel lists, one element of each read in a call."""

    def __init__(self, n: int) -> None:
        r = random.Random(1)
        self.w = [r.randrange(50) for _ in range(6 * n)]
        self.f = [r.randrange(2) for _ in self.w]
        self.p = [r.randrange(99) for _ in range(n)]
        self.s = [r.randrange(n) for _ in self.w]
        self.t = [r.randrange(n) for _ in self.w]

    def cost(self, i: int) -> int:
        c = self.w[i] - self.p[self.s[i]] + self.p[self.t[i]]
        return c if self.f[i] == 0 else -c


_LINE, _XS = _Artist(), np.linspace(0, 6, 50)
_PARTICLE, _STACK, _NETWORK = _Particle(1.0), _Stack(), _Network(250)
_MEMO: dict[int, int] = {}
_SEEN: set[int] = set()
_HISTORY: list[float] = []


def _update(frame: int) -> Any:
    _LINE.set_data(_XS, np.sin(_XS + frame))
    return (_LINE,)


def _lorenz(y: Any, t: float) -> list[float]:
    return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]


def _pendulum(t: float, y: Any, g: float) -> Any:
    theta, omega = y
    return np.array([omega, -g * math.sin(theta)])


def _count(text: str) -> dict[str, int]:
    d: dict[str, int] = {}
    for w in text.split():
        d[w] = d.get(w, 0) + 1
    return d


def _grid(h: int, w: int) -> Any:
    y, x = np.ogrid[0:h, 0:w]
    return (x * x + y * y).sum()


def _fibonacci(n: int) -> int:
    if n < 2:
        return n
    if n not in _MEMO:
        _MEMO[n] = _fibonacci(n - 1) + _fibonacci(n - 2)
    return _MEMO[n]


def _depth(tree: Any) -> int:
    return 1 + max(map(_depth, tree), default=0) if isinstance(tree, (list, tuple)) else 0


def _flatten(tree: Any) -> Iterator[Any]:
    for item in tree:
        if isinstance(item, list):
            yield from _flatten(item)
        else:
            yield item


def _anagrams(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for word in words:
        found["".join(sorted(word))].append(word)
    return dict(found)


def _roman(n: int) -> str:
    out = ""
    for value, sign in ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"),
                        (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out


def _caesar(text: str, shift: int) -> str:
    return "".join(chr((ord(c) - 97 + shift) % 26 + 97) if c.isalpha() else c for c in text)


def _parse(line: str) -> dict[str, float]:
    fields = {}
    for part in line.split(";"):
        key, _, value = part.partition("=")
        try:
            fields[key.strip()] = float(value)
        except ValueError:
            fields[key.strip()] = math.nan
    return fields


def _logged(x: float) -> float:
    _HISTORY.append(x)
    if len(_HISTORY) > 100:
        del _HISTORY[:50]
    return sum(_HISTORY[-5:]) / 5


def _new(k: int) -> bool:
    if k % 500 in _SEEN:
        return False
    _SEEN.add(k % 500)
    return True


def _primes(n: int) -> list[int]:
    found: list[int] = []
    for k in range(2, n):
        if all(k % p for p in found):
            found.append(k)
    return found


def _average(**scores: float) -> float:
    return sum(scores.values()) / len(scores)


def _tokens(text: str) -> list[tuple[str, int]]:
    return [(m.group(), m.start()) for m in re.finditer(r"[a-z]{2,}", text)]


def _render(rows: list[dict[str, Any]]) -> str:
    return "\n".join(f"{row['name']:<8}{row['value']:>8.2f}" for row in rows)


def _frame(k: int) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f"frame {k:04d}"


def _big(n: int) -> int:
    total = 1
    for k in range(1, n):
        total *= k
    return total


def _scaled(values: list[float], how: str) -> list[float]:
    match how:
        case "unit":
            top = max(values)
            return [v / top for v in values]
        case "mean":
            mean = sum(values) / len(values)
            return [v - mean for v in values]
    return values


def _events(queue: list[tuple[float, str]]) -> list[str]:
    done = []
    while queue:
        when, what = _HEAPQ.heappop(queue)
        done.append(f"{what}@{when:.1f}")
    return done


USERS: dict[str, Case] = {
    "a view of cosines": (_window, lambda k: (51, np.array([0.42, 0.5, 0.08]))),
    "an update of a plot": (_update, lambda k: (k,)),
    "Lorenz's equations as a list": (_lorenz, lambda k: (np.array([1.0, 2.0, 3.0 + k]), 0.0)),
    "a pendulum for solve_ivp": (_pendulum, lambda k: (k / 7, np.array([0.1, k / 3000]), 9.81)),
    "words counted": (_count, _text),
    "np.ogrid": (_grid, lambda k: (30 + k % 3, 40)),
    "Fibonacci with a dictionary": (_fibonacci, lambda k: (k % 80,)),
    "depth of a tree": (_depth, lambda k: ([k, [1, [2, [3]], ()], [4]],)),
    "a tree made flat": (lambda t: list(_flatten(t)), lambda k: ([k, [1, [2, [3]]], [4]],)),
    "anagrams": (_anagrams, lambda k: (_TEXTS[k % 200].split(),)),
    "Roman numbers": (_roman, lambda k: (k % 150,)),
    "Caesar's cipher": (_caesar, lambda k: (_TEXTS[k % 200], k % 26)),
    "fields of a line": (_parse, lambda k: (f"a = {k}; b=2.5; c = x",)),
    "a history that grows": (_logged, lambda k: (k / 7,)),
    "a set that remembers": (_new, lambda k: (k,)),
    "primes": (_primes, lambda k: (20 + k % 30,)),
    "keywords": (lambda k: _average(a=k, b=2.0, c=3.0), lambda k: (k / 7,)),
    "matches of an expression": (_tokens, _text),
    "rows of a table": (_render, lambda k: ([{"name": f"a{k}", "value": k / 7}] * 3,)),
    "warnings caught": (_frame, lambda k: (k,)),
    "wide integers": (_big, lambda k: (30 + k % 9,)),
    "match on a text": (
        _scaled, lambda k: (_NUMBERS[k % 100], ("unit", "mean", "none")[k % 3])),
    "a queue of events": (
        _events, lambda k: (sorted((v, f"e{k % 7}") for v in _NUMBERS[k % 100][:6]),)),
    "a property that is set": (_Particle.grow, lambda k: (_PARTICLE, k / 7)),
    "a stack": (_Stack.push_and_peek, lambda k: (_STACK, k)),
    "parallel lists": (_Network.cost, lambda k: (_NETWORK, k % 1500)),
    "pairs": (lambda words: list(itertools.pairwise(words)), lambda k: (_WORDS[:k % 9],)),
}

CASES: dict[str, Case] = {**STANDARD, **SCIENTIFIC, **USERS}
