"""Scripts with objects, compiled and plain: what they showed once by going wrong."""

from tests.support.scripts import differs


def test_a_property_reads_a_slot_in_which_nothing_is():
    assert not differs('''
class Base:
    __slots__ = ("x",)
    @property
    def y(self):
        return 2
class Held(Base):
    __slots__ = ("z",)
    @property
    def y(self):
        return super().y + self.z
@jit
def f(held):
    return held.y
def script(go):
    held = Held()
    go(f, held)
    for held.z in (1, 2.5, 3):
        go(f, held)
    del held.z
    go(f, held)
''')
