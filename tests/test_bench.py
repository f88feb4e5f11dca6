"""The benches run and report; what they measure is no business of a test."""

import json
import math

import pytest

from bench import table
from bench.formulation_rows import FORMULATIONS
from bench.measure import limit, row
from bench.run import cases, main, rows

KEYS = {"bench", "model", "ours_ns", "peer", "peer_ns", "ratio"}


def test_a_comparison_gives_rows_with_finite_numbers():
    pytest.importorskip("pinocchio")
    found = rows(quick=True, only="aba.Z1")
    assert {r["peer"] for r in found} == {"Pinocchio, Python call", "Pinocchio, pool"}
    for r in found:
        assert set(r) >= KEYS
        assert math.isfinite(r["ratio"]) and r["ratio"] > 0
        assert r["met"] == (r["ratio"] >= r["target"])


def test_json_of_nothing_is_an_empty_list(capsys):
    assert main(["--quick", "--json", "--only", "no such comparison"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_names_of_comparisons_are_different():
    names = [case.name for case in cases()]
    assert len(names) == len(set(names))


def test_the_table_replaces_what_stands_between_the_marks(tmp_path):
    file = tmp_path / "README.md"
    file.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    found = [row("aba", "Z1", 50.0, "Pinocchio", 2500.0, target=35), limit("import", "", 4e8, 3e8)]
    for _ in range(2):
        table.write_readme(found, file)
    text = file.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert text.count("| aba | Z1 | 50 ns | Pinocchio | 2.5 µs | 50× | ≥ 35× |") == 1
    assert "missed" in text


def test_formulations_are_compared_with_our_own_default():
    found = rows(quick=True, only="formulations.rods 10")
    assert {r["bench"] for r in found} == set(FORMULATIONS)
    assert all(r["peer"] == "our aba" and r["model"] == "rods 10" and r["ratio"] > 0 for r in found), found
