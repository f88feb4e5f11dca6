"""`verify` sees every one of thirty deliberate sign and index errors in each formulation's file."""

import mutations
import pytest
from mutation_subjects import SUBJECTS


@pytest.mark.slow
@pytest.mark.parametrize("formulation", SUBJECTS)
def test_verify_catches_every_deliberate_error(formulation, figures):
    found = mutations.study(formulation)
    missed = [str(site) for site, how in found.items() if how is None]
    caught = f"{len(found) - len(missed)} of {len(found)}"
    figures("deliberate sign and index errors that verify catches", formulation, caught=caught)
    assert len(found) == mutations.COUNT and not missed, "not caught: " + "; ".join(missed)


@pytest.mark.parametrize("formulation", SUBJECTS)
def test_there_are_enough_places_to_go_wrong_and_the_drawn_ones_are_always_the_same(formulation):
    drawn = mutations.chosen(SUBJECTS[formulation])
    assert len(drawn) == len(set(drawn)) == mutations.COUNT and drawn == mutations.chosen(SUBJECTS[formulation])
