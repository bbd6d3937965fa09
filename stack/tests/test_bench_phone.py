"""A machine of any speed becomes the same phone."""

from hypothesis import given
from hypothesis import strategies as st

from stack.bench.phone import MIDDLE_POINTS, NEAR, slowed_to


@given(st.floats(1_060, 5_000), st.floats(0.7, 1.2))
def test_a_machine_that_is_faster_than_the_phone_gets_its_points(own: float, bend: float) -> None:
    phone = slowed_to(MIDDLE_POINTS, lambda slower: own / slower**bend)
    assert abs(phone.points / MIDDLE_POINTS - 1) <= NEAR


@given(st.floats(50, MIDDLE_POINTS))
def test_a_machine_that_is_slower_is_left_as_it_is_and_says_so(own: float) -> None:
    phone = slowed_to(MIDDLE_POINTS, lambda slower: own / slower)
    assert phone.slower == 1
    assert own >= MIDDLE_POINTS or f"not slowed, for it has only {own:,.0f} points itself" in str(phone)
