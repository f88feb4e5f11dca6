"""What every formulation promises about its results, and how one refuses."""

import pytest
from mechanisms import random_mechanism

import linkwork as lw
from linkwork.dynamics.formulation import gives


@gives("v_dot", "M", refuses={"coupled joint": "there is no tree of such bodies"})
def through_the_mass_matrix(model, q, v, tau, f_ext=None, t=None):
    return {"v_dot": lw.forward(model, q, v, tau, f_ext, t), "M": lw.crba(model, q)}


def test_a_formulation_gives_accelerations_and_on_request_more():
    model = random_mechanism(3)
    alone = lw.equations(model, through_the_mass_matrix)
    assert [p.name for p in alone.outputs] == ["v_dot"]
    more = lw.equations(model, through_the_mass_matrix, give=["M", "v_dot"])
    assert [p.name for p in more.outputs] == ["M", "v_dot"] and [p.name for p in more.inputs] == ["q", "v", "tau"]
    with pytest.raises(lw.ModelError, match="'through_the_mass_matrix' gives no 'N'"):
        lw.equations(model, through_the_mass_matrix, give="N")
    with pytest.raises(lw.ModelError, match="'crba' gives only M"):
        lw.equations(model, lw.crba, give="M")


def test_what_a_formulation_does_not_take_is_refused_by_name():
    model = next(
        m for m in (random_mechanism(k, n=6, kinds=("revolute",), coupled=True) for k in range(20)) if m.coupled
    )
    name = model.joint(model.coupled[0]).name
    with pytest.raises(lw.ModelError, match=f"joint '{name}': 'through_the_mass_matrix' takes no coupled joint: there"):
        lw.equations(model, through_the_mass_matrix)
