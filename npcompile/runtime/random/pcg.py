"""PCG64's stream as LLVM text: functions that fill memory with numbers, the state in registers.

O'Neill, PCG: a family of simple fast space-efficient statistically good algorithms for random
number generation, 2014 (XSL-RR 128/64); Doornik, An improved ziggurat method to generate normal
random samples, 2005; Lemire, Fast random integer generation in an interval, 2019.  Which numbers
of the stream make which result is NumPy's choice.
"""

from __future__ import annotations

from npcompile.core.records import record

_STEP = 2549297995355413924 << 64 | 4865540595714422341  # state * step + increment
_ALL = (1 << 128) - 1
_LANES = 4  # states side by side, each so many steps ahead of itself
_EACH = range(1, _LANES + 1)
LAST = 3.6541528853610088  # where the ziggurat's tail begins
_LAST_INVERSE = 0.27366123732975828


def _word(name: str, state: str) -> str:
    """The 64 bits that a state gives."""
    return f"""
  %{name}.high128 = lshr i128 %{state}, 64
  %{name}.high = trunc i128 %{name}.high128 to i64
  %{name}.low = trunc i128 %{state} to i64
  %{name}.xor = xor i64 %{name}.high, %{name}.low
  %{name}.by = lshr i64 %{name}.high, 58
  %{name} = call i64 @llvm.fshr.i64(i64 %{name}.xor, i64 %{name}.xor, i64 %{name}.by)"""


def _fraction(name: str, state: str) -> str:
    """The number in [0, 1) that a state gives."""
    return f"""{_word(f"{name}.word", state)}
  %{name}.top = lshr i64 %{name}.word, 11
  %{name}.whole = uitofp i64 %{name}.top to double
  %{name} = fmul double %{name}.whole, {2.0**-53!r}"""


def _next(name: str, state: str) -> str:
    return f"""
  %{name}.product = mul i128 %{state}, {_STEP}
  %{name} = add i128 %{name}.product, %increment"""


def _between(name: str, of: str, place: str) -> str:
    """Stores a number of a range."""
    return f"""
  %{name}.part = fmul double %range, %{of}
  %{name}.sum = fadd double %lower, %{name}.part
  %{name}.at = getelementptr double, ptr %out, i64 %{place}
  store double %{name}.sum, ptr %{name}.at"""


_ENTRY = """
entry:
  %first = load i128, ptr %pcg, align 8
  %increment.at = getelementptr i8, ptr %pcg, i64 16
  %increment = load i128, ptr %increment.at, align 8"""


_FAR = pow(_STEP, _LANES, 1 << 128)  # several steps at once: state * far + increment * together
_TOGETHER = sum(pow(_STEP, k, 1 << 128) for k in range(_LANES)) & _ALL
_WORDS = f"<{_LANES} x i64>"


def _begin(state: str) -> str:
    """The first states of all lanes, from the one before them."""
    return "".join(_next(f"begin{k}", f"begin{k - 1}" if k > 1 else state) for k in _EACH)


def _phis(begin: str, iteration: str) -> str:
    return "".join(
        f"\n  %s{k} = phi i128 [ %begin{k}, %{begin} ], [ %far{k}, %{iteration} ]" for k in _EACH)


def _words() -> str:
    """The words of all lanes as a vector, and each lane's next state."""
    words = "".join(
        _word(f"w{k}", f"s{k}") + f"\n  %words{k} = insertelement {_WORDS} "
        f"{f'%words{k - 1}' if k > 1 else 'poison'}, i64 %w{k}, i64 {k - 1}" for k in _EACH)
    return words + "".join(
        f"\n  %far{k}.product = mul i128 %s{k}, {_FAR}"
        f"\n  %far{k} = add i128 %far{k}.product, %ahead" for k in _EACH
    ) + f"\n  %words = freeze {_WORDS} %words{_LANES}"


def _everywhere(name: str, count: int, dtype: str) -> str:
    """A vector of one number."""
    kind = f"<{count} x {dtype}>"
    return f"""
  %{name}.one = insertelement {kind} poison, {dtype} %{name}, i64 0
  %{name}.all = shufflevector {kind} %{name}.one, {kind} poison, <{count} x i32> zeroinitializer"""


def _uniform() -> str:
    """Numbers between two, a word each."""
    floats = f"<{_LANES} x double>"
    wide = "".join(_everywhere(name, _LANES, "double") for name in ("lower", "range"))
    return f"""
define void @npc_uniform(ptr %pcg, i64 %n, ptr %out, double %lower, double %range) {{{_ENTRY}
  %ahead = mul i128 %increment, {_TOGETHER}{wide}{_begin("first")}
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k.next, %several ]
  %before = phi i128 [ %first, %entry ], [ %s{_LANES}, %several ]{_phis("entry", "several")}
  %k.next = add i64 %k, {_LANES}
  %more = icmp sle i64 %k.next, %n
  br i1 %more, label %several, label %rest
several:{_words()}
  %tops = lshr {_WORDS} %words, splat (i64 11)
  %wholes = uitofp {_WORDS} %tops to {floats}
  %fractions = fmul {floats} %wholes, splat (double {2.0**-53!r})
  %parts = fmul {floats} %range.all, %fractions
  %sums = fadd {floats} %lower.all, %parts
  %k.at = getelementptr double, ptr %out, i64 %k
  store {floats} %sums, ptr %k.at, align 8
  br label %test
rest:
  %r = phi i64 [ %k, %test ], [ %r.next, %single ]
  %s = phi i128 [ %before, %test ], [ %t, %single ]
  %some = icmp slt i64 %r, %n
  br i1 %some, label %single, label %done
single:{_next("t", "s")}{_fraction("u", "t")}{_between("x", "u", "r")}
  %r.next = add i64 %r, 1
  br label %rest
done:
  store i128 %s, ptr %pcg, align 8
  ret void
}}
"""


_NORMAL = f"""
define void @npc_normal(ptr %pcg, i64 %n, ptr %out, double %lower, double %range,
                        ptr %tables) {{{_ENTRY}
  %wi = getelementptr i64, ptr %tables, i64 256
  %fi = getelementptr i64, ptr %tables, i64 512
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k.next, %found ]
  %s = phi i128 [ %first, %entry ], [ %after, %found ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %draw, label %done
draw:
  %old = phi i128 [ %s, %test ], [ %t1, %wedge ]{_next("t", "old")}{_word("r", "t")}
  %layer = and i64 %r, 255
  %bits = lshr i64 %r, 9
  %size = and i64 %bits, {(1 << 52) - 1}
  %wi.at = getelementptr double, ptr %wi, i64 %layer
  %unit = load double, ptr %wi.at
  %number = uitofp i64 %size to double
  %above = fmul double %number, %unit
  %minus = shl i64 %r, 55
  %sign = and i64 %minus, {-(1 << 63)}
  %above.bits = bitcast double %above to i64
  %x.bits = xor i64 %above.bits, %sign
  %x = bitcast i64 %x.bits to double
  %ki.at = getelementptr i64, ptr %tables, i64 %layer
  %limit = load i64, ptr %ki.at
  %inside = icmp ult i64 %size, %limit
  br i1 %inside, label %found, label %seldom, !prof !0
seldom:
  %lowest = icmp eq i64 %layer, 0
  br i1 %lowest, label %tail, label %wedge
wedge:{_next("t1", "t")}{_fraction("u1", "t1")}
  %fi.at = getelementptr double, ptr %fi, i64 %layer
  %height = load double, ptr %fi.at
  %upper.at = getelementptr double, ptr %fi.at, i64 -1
  %upper = load double, ptr %upper.at
  %thick = fsub double %upper, %height
  %part = fmul double %thick, %u1
  %y = fadd double %part, %height
  %half = fmul double %x, -0.5
  %square = fmul double %half, %x
  %density = call double @exp(double %square)
  %under = fcmp olt double %y, %density
  br i1 %under, label %found, label %draw
tail:
  %t2 = phi i128 [ %t, %seldom ], [ %t4, %tail ]{_next("t3", "t2")}{_fraction("u3", "t3")}
  %u3.minus = fneg double %u3
  %log3 = call double @log1p(double %u3.minus)
  %beyond = fmul double %log3, {-_LAST_INVERSE!r}{_next("t4", "t3")}{_fraction("u4", "t4")}
  %u4.minus = fneg double %u4
  %log4 = call double @log1p(double %u4.minus)
  %yy = fneg double %log4
  %twice = fadd double %yy, %yy
  %beyond.square = fmul double %beyond, %beyond
  %good = fcmp ogt double %twice, %beyond.square
  %outside = fadd double %beyond, {LAST!r}
  %outside.bits = bitcast double %outside to i64
  %other = shl i64 %size, 55
  %other.sign = and i64 %other, {-(1 << 63)}
  %signed.bits = xor i64 %outside.bits, %other.sign
  %signed = bitcast i64 %signed.bits to double
  br i1 %good, label %found, label %tail
found:
  %z = phi double [ %x, %draw ], [ %x, %wedge ], [ %signed, %tail ]
  %after = phi i128 [ %t, %draw ], [ %t1, %wedge ], [ %t4, %tail ]{_between("e", "z", "k")}
  %k.next = add i64 %k, 1
  br label %test
done:
  store i128 %s, ptr %pcg, align 8
  ret void
}}
"""


_ITERATIONS = 64  # numbers that are drawn one after the other where one of several was refused
_HALF = (1 << 32) - 1


def _scaled(name: str, half: str) -> str:
    """Half a word times the range: the number in its upper half, what decides in the lower one."""
    return f"""
  %{name}.product = mul i64 %{half}, %range
  %{name}.left = and i64 %{name}.product, {_HALF}
  %{name}.refused = icmp ult i64 %{name}.left, %least
  %{name} = lshr i64 %{name}.product, 32"""


def _place(name: str, of: str, place: str, dtype: str) -> str:
    """Stores a whole number of a range."""
    cast = f"trunc i64 %{name}.sum to i32" if dtype == "i32" else f"or i64 %{name}.sum, 0"
    return f"""
  %{name}.sum = add i64 %lower, %{of}
  %{name} = {cast}
  %{name}.at = getelementptr {dtype}, ptr %out, i64 %{place}
  store {dtype} %{name}, ptr %{name}.at"""


def _halves(name: str, state: str) -> str:
    """The two numbers that a state gives."""
    return f"""{_word(name, state)}
  %{name}.first = and i64 %{name}, {_HALF}
  %{name}.second = lshr i64 %{name}, 32"""


def _integers(name: str, dtype: str) -> str:
    """Whole numbers of a range below 2**32, a product of half a word each, the lower half first.

    The upper half of the last word is kept, and whether it is still to be used.  Several words at
    a time where nothing is kept and none of the products is refused, else one after the other.
    """
    whole, half = f"<{2 * _LANES} x i64>", f"<{2 * _LANES} x i32>"
    wide = "".join(_everywhere(of, 2 * _LANES, "i64") for of in ("range", "lower", "least"))
    narrow = f"trunc {whole} %sums to <{2 * _LANES} x {dtype}>" if dtype == "i32" else (
        f"or {whole} %sums, zeroinitializer")
    return f"""
define void @{name}(ptr %pcg, ptr %half, i64 %n, ptr %out, i64 %lower, i64 %range) {{{_ENTRY}
  %kept.at = getelementptr i8, ptr %half, i64 4
  %held = load i32, ptr %half
  %held.value = load i32, ptr %kept.at
  %kept.first = zext i32 %held.value to i64
  %has.first = icmp ne i32 %held, 0
  %rest.range = sub i64 {1 << 32}, %range
  %least = urem i64 %rest.range, %range
  %ahead = mul i128 %increment, {_TOGETHER}{wide}
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %i.next, %store ], [ %j.next, %placed ]
  %s = phi i128 [ %first, %entry ], [ %s{_LANES}, %store ], [ %t, %placed ]
  %has = phi i1 [ %has.first, %entry ], [ false, %store ], [ %has.next, %placed ]
  %kept = phi i64 [ %kept.first, %entry ], [ %kept.store, %store ], [ %kept.next, %placed ]
  %k.several = add i64 %k, {2 * _LANES}
  %room = icmp sle i64 %k.several, %n
  %free = xor i1 %has, true
  %good = and i1 %room, %free
  %k.next = add i64 %k, 1
  br i1 %good, label %begin, label %some
begin:{_begin("s")}
  br label %several
several:
  %i = phi i64 [ %k, %begin ], [ %i.next, %store ]
  %before = phi i128 [ %s, %begin ], [ %s{_LANES}, %store ]{_phis("begin", "store")}{_words()}
  %halves = bitcast {_WORDS} %words to {half}
  %wide = zext {half} %halves to {whole}
  %products = mul {whole} %wide, %range.all
  %left = and {whole} %products, splat (i64 {_HALF})
  %bad = icmp ult {whole} %left, %least.all
  %any = call i1 @llvm.vector.reduce.or.v{2 * _LANES}i1(<{2 * _LANES} x i1> %bad)
  br i1 %any, label %refused, label %store, !prof !1
store:
  %numbers = lshr {whole} %products, splat (i64 32)
  %sums = add {whole} %numbers, %lower.all
  %narrow = {narrow}
  %i.at = getelementptr {dtype}, ptr %out, i64 %i
  store <{2 * _LANES} x {dtype}> %narrow, ptr %i.at, align {4 if dtype == "i32" else 8}
  %kept.store = lshr i64 %w{_LANES}, 32
  %i.next = add i64 %i, {2 * _LANES}
  %i.several = add i64 %i.next, {2 * _LANES}
  %further = icmp sle i64 %i.several, %n
  br i1 %further, label %several, label %test
refused:
  %i.far = add i64 %i, {_ITERATIONS}
  br label %some
some:
  %j.first = phi i64 [ %k, %test ], [ %i, %refused ]
  %s.first = phi i128 [ %s, %test ], [ %before, %refused ]
  %has.some = phi i1 [ %has, %test ], [ false, %refused ]
  %kept.some = phi i64 [ %kept, %test ], [ 0, %refused ]
  %far = phi i64 [ %k.next, %test ], [ %i.far, %refused ]
  %far.small = icmp slt i64 %far, %n
  %stop = select i1 %far.small, i64 %far, i64 %n
  %nothing = icmp sge i64 %j.first, %n
  br i1 %nothing, label %done, label %single
single:
  %j = phi i64 [ %j.first, %some ], [ %j, %half.refused ], [ %j.next, %again ]
  %old = phi i128 [ %s.first, %some ], [ %t, %half.refused ], [ %t, %again ]
  %has.old = phi i1 [ %has.some, %some ], [ %has.next, %half.refused ], [ %has.next, %again ]
  %kept.old = phi i64 [ %kept.some, %some ], [ %kept.next, %half.refused ], [ %kept.next, %again ]
  br i1 %has.old, label %draw, label %step
step:{_next("u", "old")}{_halves("v", "u")}
  br label %draw
draw:
  %t = phi i128 [ %old, %single ], [ %u, %step ]
  %word = phi i64 [ %kept.old, %single ], [ %v.first, %step ]
  %kept.next = phi i64 [ %kept.old, %single ], [ %v.second, %step ]
  %has.next = xor i1 %has.old, true{_scaled("z", "word")}
  br i1 %z.refused, label %half.refused, label %placed
half.refused:
  br label %single
placed:{_place("e", "z", "j", dtype)}
  %j.next = add i64 %j, 1
  %going = icmp slt i64 %j.next, %stop
  br i1 %going, label %again, label %test
again:
  br label %single
done:
  store i128 %s.first, ptr %pcg, align 8
  %has.last = zext i1 %has.some to i32
  %kept.last = trunc i64 %kept.some to i32
  store i32 %has.last, ptr %half
  store i32 %kept.last, ptr %kept.at
  ret void
}}
"""


CODE = f"""
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i1 @llvm.vector.reduce.or.v{2 * _LANES}i1(<{2 * _LANES} x i1>)
declare double @exp(double)
declare double @log1p(double)
{_uniform()}{_NORMAL}{_integers("npc_int64", "i64")}{_integers("npc_int32", "i32")}
!0 = !{{!"branch_weights", i32 2000, i32 20}}
!1 = !{{!"branch_weights", i32 1, i32 2000}}
"""


# ------------------------------------------------------------------ one number


#: parameters up to it, and down to 1 over it, raise no flag of which NumPy tells
_FAR_AWAY = 2.0**900


@record
class Fields:
    """Where generators keep what is needed, in bytes from where they are."""

    interface: int  #: the addresses of the state and of four functions, the third for doubles
    lock: int  #: the lock's object
    held: int  #: in the lock's object a word that is 0 where nobody holds it


def one(fields: Fields) -> str:
    """``i1 draw.*(generator, place, a, b)``: a number into a place, if the generator is one of
    PCG64 whose lock is free and the parameters are in order, and whether it is there."""
    return f"""
@npc.generator = external global i8
@npc.next_double = external global i8
@npc.tables = external global i8
declare void @npc_normal(ptr, i64, ptr, double, double, ptr)
declare void @npc_int64(ptr, ptr, i64, ptr, i64, i64)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare double @llvm.fabs.f64(double)
define internal i1 @near(double %x) {{
  %size = call double @llvm.fabs.f64(double %x)
  %near = fcmp ole double %size, {_FAR_AWAY!r}
  ret i1 %near
}}
define internal ptr @state(ptr %generator) {{
  %type.at = getelementptr i8, ptr %generator, i64 {object.__basicsize__ - 8}
  %type = load ptr, ptr %type.at
  %known = icmp eq ptr %type, @npc.generator
  br i1 %known, label %look, label %no
look:
  %state.at = getelementptr i8, ptr %generator, i64 {fields.interface}
  %state = load ptr, ptr %state.at
  %double.at = getelementptr i8, ptr %generator, i64 {fields.interface + 24}
  %double = load ptr, ptr %double.at
  %pcg = icmp eq ptr %double, @npc.next_double
  %lock.at = getelementptr i8, ptr %generator, i64 {fields.lock}
  %lock = load ptr, ptr %lock.at
  %held.at = getelementptr i8, ptr %lock, i64 {fields.held}
  %held = load i64, ptr %held.at
  %free = icmp eq i64 %held, 0
  %good = and i1 %pcg, %free
  br i1 %good, label %yes, label %no
yes:
  ret ptr %state
no:
  ret ptr null
}}
define i1 @draw.uniform(ptr %generator, ptr %place, double %a, double %b) {{
  %near.a = call i1 @near(double %a)
  %near.b = call i1 @near(double %b)
  %near = and i1 %near.a, %near.b
  %state = call ptr @state(ptr %generator)
  %known = icmp ne ptr %state, null
  %both = and i1 %near, %known
  br i1 %both, label %some, label %no
some:
  %range = fsub double %b, %a
  %fine = fcmp oge double %range, {1 / _FAR_AWAY!r}
  br i1 %fine, label %go, label %no
go:
  %pcg = load ptr, ptr %state
  %old = load i128, ptr %pcg, align 8
  %increment.at = getelementptr i8, ptr %pcg, i64 16
  %increment = load i128, ptr %increment.at, align 8{_next("t", "old")}{_fraction("u", "t")}
  store i128 %t, ptr %pcg, align 8
  %part = fmul double %range, %u
  %sum = fadd double %a, %part
  store double %sum, ptr %place
  ret i1 true
no:
  ret i1 false
}}
define i1 @draw.normal(ptr %generator, ptr %place, double %a, double %b) {{
  %near.a = call i1 @near(double %a)
  %near.b = call i1 @near(double %b)
  %wide = fcmp oge double %b, {1 / _FAR_AWAY!r}
  %near = and i1 %near.a, %near.b
  %fine = and i1 %near, %wide
  %state = call ptr @state(ptr %generator)
  %known = icmp ne ptr %state, null
  %both = and i1 %fine, %known
  br i1 %both, label %go, label %no
go:
  %pcg = load ptr, ptr %state
  call void @npc_normal(ptr %pcg, i64 1, ptr %place, double %a, double %b, ptr @npc.tables)
  ret i1 true
no:
  ret i1 false
}}
define i1 @draw.int64(ptr %generator, ptr %place, i64 %a, i64 %b) {{
  %above = icmp sgt i64 %b, %a
  %range = sub i64 %b, %a
  %less = sub i64 %range, 2
  %some = icmp ult i64 %less, {(1 << 32) - 2}
  %fine = and i1 %above, %some
  %state = call ptr @state(ptr %generator)
  %known = icmp ne ptr %state, null
  %both = and i1 %fine, %known
  br i1 %both, label %go, label %no
go:
  %pcg = load ptr, ptr %state
  %half = getelementptr i8, ptr %state, i64 8
  call void @npc_int64(ptr %pcg, ptr %half, i64 1, ptr %place, i64 %a, i64 %range)
  ret i1 true
no:
  ret i1 false
}}
"""


#: the same where NumPy's fields are not known
NONE = "".join(
    f"define i1 @draw.{name}(ptr %generator, ptr %place, {elem} %a, {elem} %b) {{\n"
    "  ret i1 false\n}\n"
    for name, elem in (("uniform", "double"), ("normal", "double"), ("int64", "i64")))
